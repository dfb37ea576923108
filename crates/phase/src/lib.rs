//! Where the spindle and the tracks of a real drive are, from the instants at which measured requests ended.
//!
//! A drive file gives a nominal speed and skews in whole sectors. A real spindle is a few tenths of a percent off, real
//! skews are fractions of a sector, and over a thousand cylinders the fractions add up to whole turns. Individual
//! requests become predictable once both are known.
//!
//! - [`PhaseFit`] fits the period, the skews and the zones' first sectors to [`Observation`]s, keeps what the file says
//!   where the evidence does not speak against it, and writes a drive file.
//! - [`Tracker`] follows the spindle's phase from request to request, and finds it again after a jump.
//! - [`gap::decide`] tells whether the gaps of a trace come before or after their requests.
//!
//! All angles are in turns, as real numbers: the noise of a measured instant (tens of microseconds, some 10^-2 turns)
//! is far above what an `f64` rounds away. Everything here is computation on slices: no I/O, no clock, no random numbers.

pub mod gap;

mod alteration;
mod apply;
mod disagree;
mod evidence;
mod fit;
mod geometry;
mod kernel;
mod listed;
mod misfit;
mod model;
mod observation;
mod offset;
mod pairs;
mod passed;
mod period;
mod rescue;
mod search;
mod skew;
mod skip;
mod speed;
mod tracker;

pub use alteration::Alteration;
pub use disagree::Disagreement;
pub use fit::{Coherence, Estimate, Hypotheses, PhaseFit, Source, SpareTracks, ZoneFit};
pub use geometry::{Geometry, Site};
pub use misfit::{Mend, Misfit};
pub use observation::Observation;
pub use skip::SkippedTrack;
pub use tracker::{Judgement, Tracker, TrackerDiagnostics, TrackerOptions};
