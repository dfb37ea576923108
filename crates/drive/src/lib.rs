//! One drive: its description ([`spec`]), and the model built from it.
//!
//! The model does no I/O and owns no clock: it is entered with an instant and answers with effects ([`command`]).

pub mod command;
pub mod layout;
pub mod mechanics;
pub mod spec;
