//! What a run comes to: streaming statistics, and the summary made of them.

mod array_cache;
mod buffer_cache;
mod classes;
mod content;
mod phase;
mod power;
mod rebuild;
mod recorder;
mod report;
mod statistics;
mod write_back;

pub use array_cache::ArrayCacheSummary;
pub(crate) use array_cache::ArrayCacheUse;
pub use buffer_cache::BufferCacheSummary;
pub(crate) use buffer_cache::BufferCacheUse;
pub use classes::ClassSummary;
pub use content::{
    AddressBins, BusSummary, BusyMeans, CacheSummary, DriveSummary, LatenessSummary, MeanTime, OpSummary,
    ParallelSummary, PartTimes, PhaseMeans, Plots, ProvenanceSummary, Summary, TimeBin, TimeSummary,
    UnitWork, WaitTimes, WithoutDataSummary,
};
pub use phase::PhaseSummary;
pub use power::{ConditionSummary, PowerSummary};
pub use rebuild::{DataLossSummary, MeanwhileTimes, RebuildSummary};
pub use recorder::Recorder;
pub(crate) use statistics::Statistics;
pub use write_back::WriteBackSummary;
