//! What a trace tells: an analysis in one pass and bounded memory, and a compact model fitted to it that makes another
//! trace like it.
//!
//! | question | module |
//! | --- | --- |
//! | everything at once, in order of arrival | [`Analysis`] |
//! | how long, how often, in which groups | [`times`], [`histogram`] |
//! | what arrives when | [`arrivals`] |
//! | when and where requests are slow | [`heat`] |
//! | bursts of writes, and what they do to reads | [`bursts`], [`effect`] |
//! | what else delays reads | [`effect`] |
//! | which of several devices stands out | [`fleet`] |
//! | runs and strides | [`runs`] |
//! | a workload like this one | [`model`] |
//! | how like it is | [`likeness`] |

pub mod arrivals;
pub mod bursts;
pub mod effect;
pub mod fleet;
pub mod heat;
pub mod histogram;
pub mod likeness;
pub mod model;
pub mod order;
mod overload;
pub mod runs;
pub mod times;

mod analysis;
mod batches;
mod causes;
mod company;
#[cfg(test)]
mod counted;
mod depth;
mod extent;
mod groups;
mod late;
mod pauses;
mod peers;
mod period;
mod phases;
mod tail;

pub use analysis::{Analysis, AnalysisOptions, analyse};
