//! Measuring drives: probes on any device, and a drive file out of what they find (Talagala, Arpaci-Dusseau & Patterson
//! 1999: Skippy, Zoned, Seeker; and what modern drives need).
//!
//! ```text
//! device ─► probe ─► record (every sample, raw) ─► extract ─► Extraction ─► rebuild ─► drive file ─► replay
//! ```
//!
//! A [`device::Device`] is a disk, a file, a simulated system or the paper's formula. [`measure()`] runs [`probe`]s on it and
//! leaves a [`record::Record`]; [`extract::extract`] reads the record and nothing else, so that old records can be looked at
//! again; [`rebuild::rebuild`] makes a drive file of the result, and
//! [`replay::replay`] holds it against the random accesses of the record.

mod angles;
pub mod device;
mod early;
mod error;
pub mod extract;
mod filling;
mod memory;
pub mod probe;
mod progress;
mod read_cache;
mod reading;
mod reads;
pub mod rebuild;
pub mod record;
pub mod replay;
mod run;
mod served;
mod streams;

pub use error::MeasureError;
pub use progress::Progress;
pub use run::{Measured, Options, Scope, measure};
pub use streams::StreamGrid;
