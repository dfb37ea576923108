//! Fits: parameters of a drive found in measured times, with what the times can tell of each.
//!
//! A drive file is never quite right. A trace with measured service times shows where: replayed on the measured clock,
//! with the angle of the spindle followed from request to request, the model predicts each request, and the errors that
//! are left are those of parameters (and of what is not modelled). This crate looks for better parameters, and says
//! honestly how well each is known.
//!
//! ```text
//!           ParameterTable   what can be fitted, and within which bounds of physics
//!                 │
//! MeasuredTrace ──┼─ Split ──► what is fitted ──► search ──► corrected drive
//!                 │                    │             │ evidence, intervals
//!                 └────────────► what is scored ─────┴──► Calibration
//! ```
//!
//! - [`Objective`]: what is made small: the error per request, its root mean square, or the demerit. Losses are kept in
//!   contiguous blocks, so that a difference between two drives comes with its standard error.
//! - [`Split`]: the first part against the rest, or folds. Blocks are contiguous.
//! - The search goes along one parameter, or one exchange between parameters, at a time: first in large steps (a revolution
//!   that is missed makes the error jump), then in ever smaller ones. A change stays only where it gains more than noise.
//! - [`Interval`]: the values of a number that the fitted part cannot tell from the fitted one, *with the others free to
//!   make up for it*. An overhead before the media work and a completion behind it can often be told only together.
//! - [`Retries`]: how often the drive retries, by the requests that are whole revolutions late.
//! - Nothing stays changed that is not identifiable.
//!
//! # Example
//!
//! A drive whose arm takes longer inwards than its file says, and the times it would show:
//!
//! ```
//! use headstack_fit::{MeasuredTrace, Monitor, Options, calibrate};
//! use headstack_system::record::Keep;
//! use headstack_system::{Input, RunOptions, System, SystemConfig, WorkloadSpec, run};
//! use headstack_trace::Request;
//! use std::sync::Arc;
//!
//! let real = [("mechanics.inward_seek_extra_ms".to_owned(), "0.5".to_owned())];
//! let system = Arc::new(System::load("hp-c2247a", &real)?);
//! let workload = "requests = 800\n[[stream]]\nread_fraction = 0.6\nsize.fixed_kib = 4\ninter_arrival.exponential_ms = 40";
//! let workload = WorkloadSpec::from_toml("w", workload)?.generate(&system.devices(), None, None)?;
//! let mut kept = Keep::default();
//! run(&system, Input::Generator(workload), &RunOptions::default(), &mut kept, &mut |_| {})?;
//! let measured = kept.rows.iter().map(|row| Request {
//!     start: row.start,
//!     finish: row.finish,
//!     ..Request::new(row.arrival, row.op, row.lba, row.sectors)
//! });
//! let trace = MeasuredTrace::new("w", measured.collect())?;
//!
//! let file = &SystemConfig::load("hp-c2247a", &[])?.drives[0].spec;
//! let options = Options { parameters: vec!["mechanics.inward_seek_extra_ms".to_owned()], ..Options::default() };
//! let found = calibrate(file, &trace, &options, &Monitor::default())?;
//! assert!((found.drive.mechanics.inward_seek_extra_ms - 0.5).abs() < 0.02);
//! assert!(found.rows[0].known.is_identifiable());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What is not modelled
//!
//! Buffer sizes are taken as they are. Of the layout only speed, skews, zone angles and slipped tracks are
//! fitted. One drive at a time.

mod calibrate;
mod error;
mod evaluate;
mod evidence;
mod fit;
mod guard;
mod identify;
mod interval;
mod journal;
mod monitor;
mod objective;
mod parameter;
mod plan;
mod provenance;
mod retries;
mod search;
mod seeks;
mod split;
mod table;
mod trace;
mod tradeoff;
mod values;
mod words;

pub use calibrate::{Angles, BeforeAfter, Calibration, Options, calibrate};
pub use error::FitError;
pub use evidence::{Gain, Known, Row};
pub use interval::{End, Interval, Knowledge};
pub use monitor::Monitor;
pub use objective::{Improvement, Loss, Objective};
pub use parameter::{Choice, Number, Parameter};
pub use retries::{Estimate, FoundRetries, OfDirection, Retries};
pub use split::Split;
pub use table::ParameterTable;
pub use trace::MeasuredTrace;
pub use values::Values;
