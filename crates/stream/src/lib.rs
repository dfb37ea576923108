//! Sequential streams, by a model of three parts (Vickovic, Celar & Mudnic 2010): a server that writes or reads records of a
//! fixed size, the disk's cache as a queue with so much free space, and a mechanism whose rate falls by the same amount from
//! each track to the next.
//!
//! ```text
//! write:  server ── interface ─► cache (first in, first out) ── delay ─► mechanism
//! read:   server ◄─ interface ── cache (first in, first out) ◄─ delay ── mechanism
//! ```
//!
//! Modelled: the interface's rate, free space, switches of heads and cylinders, service-time delays drawn from a law in the
//! server or between cache and mechanism. Not modelled: seeks within a stream, revolutions lost, zones, what a cache knows
//! of addresses. The delays stand for all that is left out: they must be calibrated before absolute numbers mean anything.
//! What the full drive model (`headstack-drive`) gives for the same stream is the check.
//!
//! It is a crate of its own because it is another model of a drive than `headstack-drive`, not a part of it: it takes a drive
//! file's figures and nothing of its machinery.
//!
//! ```
//! use headstack_stream::{Model, ModelSpec, Repeats, Start, StreamRun};
//! use headstack_units::Op;
//!
//! let (_, drive) = headstack_stream::drive_of("maxtor-maxline-plus-ii")?;
//! let model = Model::new(ModelSpec::of_drive(&drive))?;
//! let run = StreamRun { op: Op::Write, file_bytes: 2_000_000_000, record_bytes: 512 << 10, ..StreamRun::default() };
//! let outer = model.run(&run)?;
//! let inner = model.run(&StreamRun { start: Start::AtPercent(90.0), ..run })?;
//! assert!(inner.mb_per_s < 0.7 * outer.mb_per_s);
//! let full = model.run(&StreamRun { repeats: Repeats::UntilFull, ..run })?;
//! assert_eq!(full.files.len(), (model.capacity_bytes() / full.files[0].bytes) as usize);
//! # Ok::<(), headstack_system::SystemError>(())
//! ```

mod analytic;
mod check;
mod descent;
mod fit;
mod law;
mod least_squares;
mod model;
mod of_drive;
mod parameter;
mod pipe;
mod profile;
mod run;
mod search;
mod spec;
mod tracks;

pub use fit::{Fitted, StreamFit, Throughput, differences, fit};
pub use law::Law;
pub use model::Model;
pub use of_drive::{drive_of, model_of};
pub use parameter::Parameter;
pub use run::{FileTime, Repeats, Start, StreamResult, StreamRun};
pub use spec::{CacheSpec, MechanismSpec, ModelSpec, ServerSpec};
