//! One drive: its description ([`spec`]), and the model built from it.
//!
//! The model does no I/O and owns no clock: it is entered with an instant and answers with effects ([`command`]).
//! [`Drive::serve`] is the closed form for a drive that has its bus to itself.

mod buffer;
pub mod command;
mod drive;
mod explain;
pub mod layout;
pub mod mechanics;
mod mechanism;
mod model;
mod positioning;
pub mod power;
pub mod scheduler;
pub mod spec;
mod transfer;

pub use drive::{Drive, Lateness};
pub use explain::Step;
pub use mechanism::BusyTimes;
pub use model::DriveModel;
