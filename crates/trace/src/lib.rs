//! Block traces: the request, one module per format, and the shaping that fits a trace to a drive.

pub mod atomic_file;
#[cfg(target_os = "linux")]
pub mod capture;
pub mod error;
pub mod event;
pub mod filter;
pub mod format;
pub mod info;
pub mod io;
pub mod iostat;
pub mod join;
pub mod request;
pub mod shape;
pub mod source;
pub mod table;
pub mod tick;
pub mod write;

mod buffer;
mod distribution;
mod gate;
mod in_order;
mod input;
mod intervals;
mod number;
mod open;
mod process_names;
#[cfg(test)]
mod testing;
mod text;

pub use error::TraceError;
pub use filter::Filter;
pub use format::columns::{record_batch, request_schema};
pub use format::{FORMATS, Format, IologUnit};
pub use gate::Notes;
pub use info::TraceInfo;
pub use io::{Io, IoSource, Kind};
pub use open::{Gap, OpenOptions, TraceReader, open};
pub use request::{Op, Request, RequestFlags};
pub use shape::{Devices, FitLba, Shaped, Shaping, Target};
pub use source::{InMemory, RequestSource};
pub use write::{OutputFormat, WrittenIos, convert, convert_ios};
