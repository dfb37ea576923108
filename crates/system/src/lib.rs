//! The system: host driver, buses, volumes and drives; the workloads that drive it; and the run.
//!
//! ```text
//! library / file ─► SystemConfig ─► System ─┐
//! trace or WorkloadSpec ─► Input ───────────┴─► run ─► completions (sink), Summary
//! ```
//!
//! A [`System`] is built once from a [`SystemConfig`] and shared by any number of runs. [`run()`] pushes requests
//! through it and hands completions to a [`CompletionSink`]; [`Stepper`] does the same one event at a time for other
//! simulators.

pub mod bus;
pub mod calendar;
mod engine;
mod error;
pub mod gauge;
pub mod host;
mod layer;
pub mod library;
mod overrides;
pub mod phase;
pub mod random;
pub mod record;
pub mod run;
mod slab;
pub mod spec;
mod stepper;
pub mod summary;
mod system;
pub mod workload;

pub use error::SystemError;
pub use record::{CompletionRow, CompletionSink, DriverRow};
pub use run::{Input, Progress, Replay, RunOptions, Warmup, WorkloadLabel, run};
pub use spec::{SystemConfig, SystemSpec};
pub use stepper::Stepper;
pub use summary::Summary;
pub use system::System;
pub use workload::{Generator, LATEST, WorkloadSpec};
