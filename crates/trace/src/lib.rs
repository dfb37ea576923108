//! Block traces: the request, one module per format, and the shaping that fits a trace to a drive.

pub mod error;
pub mod request;
pub mod source;

pub use error::TraceError;
pub use request::{Op, Request, RequestFlags};
pub use source::{InMemory, RequestSource};
