//! The order in which waiting commands are served, in the drive and in the host's driver.
//!
//! A [`Queue`] holds what waits in one place and chooses by a [`Policy`]: a scheduler with its parameter, and what
//! modifies it. What it may look at depends on the place ([`Knowledge`]): addresses; the cylinders they lie in; or the
//! whole layout and the rotation, by which [`Estimate`] tells when a command's first sector could come under the head.
//!
//! One scheduler is one file.

mod ages;
mod asptf;
mod axis;
mod batch_fcfs;
mod by_address;
mod c_look;
mod c_scan;
mod candidates;
mod estimate;
mod fcfs;
mod group;
mod hits;
mod knowledge;
mod line;
mod list;
mod look;
mod ncq;
mod occupied;
mod order;
mod places;
mod policy;
mod positional;
mod queue;
mod satf;
mod scan;
mod shortlist;
mod sptf;
mod sstf;
mod stream;
mod taken;
mod vscan;
mod waiting;
mod wstf;

pub use estimate::Estimate;
pub(crate) use estimate::{SeekPath, data_from, from_rest, overhead, soonest};
pub use knowledge::Knowledge;
pub(crate) use places::{Places, Reach};
pub use policy::{MODIFIERS, Needs, Parameter, Policy, PolicyError, SCHEDULERS, SchedulerInfo};
pub use queue::Queue;
pub use taken::{Held, Taken};
pub use waiting::{Target, Waiting};
