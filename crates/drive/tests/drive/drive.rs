//! The drive, asked from outside. The table of expectations has a binary of its own, which planted bugs are tried with.

mod always;
mod any;
mod arms;
mod aside;
mod choices;
#[path = "../common/mod.rs"]
mod common;
mod controller;
mod destage;
mod endings;
mod flush;
mod forced;
mod heads;
mod ncq;
mod next_write;
mod overrides;
mod physics;
mod sameness;
mod schedulers;
mod sequential_first;
mod skews;
mod timeline;
mod twin;
#[path = "../../examples/closed_loop/users.rs"]
mod users;
