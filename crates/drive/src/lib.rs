//! One drive: its description ([`spec`]), and the model built from it.
//!
//! The model does no I/O and owns no clock: it is entered with an instant and answers with effects ([`command`]).
//! [`Drive::serve`] is the closed form for a drive that has its bus to itself.

mod ahead;
mod begin;
mod begin_write;
mod cache;
pub mod command;
mod destage;
mod dirty;
mod drive;
mod end;
mod explain;
mod ladder;
pub mod layout;
pub mod mechanics;
mod mechanism;
mod media;
mod model;
mod outlook;
mod plain;
mod plan;
mod read;
pub mod scheduler;
pub mod spec;
mod stall;
mod stream;
mod write;

pub use drive::{Drive, Lateness};
pub use explain::Step;
pub use model::DriveModel;
