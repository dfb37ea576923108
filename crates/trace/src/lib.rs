//! Block traces: the request, one module per format, and the shaping that fits a trace to a drive.

pub mod error;
pub mod format;
pub mod request;
pub mod source;

mod buffer;
mod gate;
mod input;
mod number;
mod open;
#[cfg(test)]
mod testing;
mod text;

pub use error::TraceError;
pub use format::columns::{record_batch, request_schema};
pub use format::{FORMATS, Format};
pub use open::{Gap, OpenOptions, TraceReader, open};
pub use request::{Op, Request, RequestFlags};
pub use source::{InMemory, RequestSource};
