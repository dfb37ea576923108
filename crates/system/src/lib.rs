//! The system: what stands between a workload and its drives, and the runs of it.
//!
//! ```text
//! library / file ─► SystemConfig ─► System ─┐
//! trace or WorkloadSpec ─► Input ───────────┴─► run ─► completions (sink), Summary
//! ```
//!
//! # A run
//!
//! A [`System`] is built once, from a name of the library or a file, and shared by any number of runs. [`run()`] pushes
//! requests through it. Completions go to a [`CompletionSink`] as they come; what is kept is the [`Summary`].
//!
//! ```
//! use headstack_system::record::Keep;
//! use headstack_system::{Input, RunOptions, System, WorkloadSpec, run};
//! use std::sync::Arc;
//!
//! let system = Arc::new(System::load("hp-97560", &[])?);
//! let (_, workload) = WorkloadSpec::load("unix-like", &[])?;
//! let generator = workload.generate(&system.devices(), None, Some(1_000))?;
//! let mut kept = Keep::default();
//! let summary =
//!     run(&system, Input::Generator(generator), &RunOptions::default(), &mut kept, &mut |_| {})?;
//! assert_eq!((summary.requests, kept.rows.len()), (1_000, 1_000));
//!
//! // Where the time of each request went, to the nanosecond.
//! assert!(kept.rows.iter().all(|row| row.phases.total() == row.response()));
//! // Rows and the ledger of the bus tell the same.
//! let held: f64 = kept.rows.iter().map(|row| row.busy.bus.as_s()).sum();
//! assert!((held - summary.buses[0].utilisation * summary.simulated_s).abs() < 1e-9);
//! # Ok::<(), headstack_system::SystemError>(())
//! ```
//!
//! # Layers
//!
//! Between the host and the drives stand layers: the host's buffer cache, and the volumes. Each is told of requests, of
//! completions of its sub-requests and of timers, and answers with sub-requests and completions. A system file names them:
//!
//! ```
//! use headstack_system::library::Source;
//! use headstack_system::record::Discard;
//! use headstack_system::{Input, RunOptions, System, SystemConfig, run};
//! use headstack_trace::{InMemory, Op, Request};
//! use headstack_units::{Lba, Nanos};
//! use std::sync::Arc;
//!
//! let text = r#"
//!     [volume.data]
//!     level = "mirror"
//!     drives = ["hp-97560", "hp-97560"]
//! "#;
//! let (name, origin) = ("pair".to_owned(), "pair.toml".to_owned());
//! let source = Source { name, origin, directory: None, text: text.to_owned() };
//! let system = Arc::new(System::new(SystemConfig::from_source(&source, &[])?)?);
//! let request = |op| Request::new(Nanos::ZERO, op, Lba(5_000), 16);
//! let requests = vec![request(Op::Write), request(Op::Read)];
//! let input = Input::Source(Box::new(InMemory::new(requests)));
//! let summary = run(&system, input, &RunOptions::default(), &mut Discard, &mut |_| {})?;
//! // The write went to both drives, the read to one of them.
//! assert_eq!(summary.drives.iter().map(|drive| drive.commands).sum::<u64>(), 3);
//! # Ok::<(), headstack_system::SystemError>(())
//! ```
//!
//! # Three ways through, one ledger
//!
//! The event path is the general case: requests, layers, driver queues, buses and drives over one calendar. Drives that do not
//! depend on each other are served in closed form, by several threads if there are; replays serve one request after the
//! other. All three fan out by the same layers and book in the same ledger: their records and summaries are equal where they
//! overlap.
//!
//! # Another clock
//!
//! A [`Stepper`] is the event path driven from outside, for other simulators:
//!
//! ```
//! use headstack_system::{Stepper, System};
//! use headstack_trace::{Op, Request};
//! use headstack_units::{Lba, Nanos};
//! use std::sync::Arc;
//!
//! let system = Arc::new(System::load("hp-97560", &[])?);
//! let mut stepper = Stepper::new(&system, 1);
//! stepper.submit(Request::new(Nanos::ZERO, Op::Read, Lba(0), 8))?;
//! let mut done = Vec::new();
//! while let Some(at) = stepper.next_event() {
//!     done.extend(stepper.advance(at));
//! }
//! assert_eq!((done.len(), stepper.in_flight()), (1, 0));
//! # Ok::<(), headstack_system::SystemError>(())
//! ```

pub mod bus;
pub mod calendar;
mod engine;
mod error;
pub mod gauge;
pub mod host;
mod layer;
pub mod library;
mod narrator;
mod overrides;
pub mod phase;
pub mod power;
pub mod random;
pub mod record;
pub mod run;
mod slab;
pub mod spec;
mod stepper;
pub mod summary;
mod system;
mod targets;
pub mod workload;

pub use engine::CommandTold;
pub use error::SystemError;
pub use narrator::{Narrator, Told};
pub use record::{CompletionRow, CompletionSink, DriverRow};
pub use run::fleet::{FleetOptions, FleetPart, run_fleet};
pub use run::{Input, Progress, Replay, RunOptions, Warmup, WorkloadLabel, run};
pub use spec::{SystemConfig, SystemSpec};
pub use stepper::Stepper;
pub use summary::Summary;
pub use system::System;
pub use workload::{Generator, LATEST, WorkloadSpec};
