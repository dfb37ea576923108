//! Phase-locked replay: where the drives' spindles really are, from the measured times of requests already seen.
//!
//! [`fit`] replays the first part of a trace on the measured clock, notes when which sector must have passed under its
//! head, and lets `headstack-phase` find speed, skews and zone offsets. A run with [`phase_lock`](crate::RunOptions::phase_lock) then keeps
//! the spindle on the measured clock, and a [`Lock`] for each drive follows what is left of its phase: each request is
//! predicted from those completed before it. [`decide_gap`] tells the two readings of a trace's gaps apart.

mod fit;
mod gap;
mod lock;
#[cfg(test)]
mod tests;

pub use fit::{DriveFit, Fitted, fit, observe};
pub use gap::decide_gap;
pub(crate) use lock::Lock;
