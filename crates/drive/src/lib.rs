//! One drive: its description ([`spec`]), and the model built from it.
//!
//! ```text
//! drive file ─► DriveSpec ─► DriveModel ─┐ (tables, shared)
//! Command ───────────────────────────────┴─► Drive ─► Outcome, Background
//! ```
//!
//! The model does no I/O and owns no clock: it is entered with an instant and answers with effects ([`command`]).
//!
//! # A drive file
//!
//! A [`spec::DriveSpec`] is a drive file: TOML, in which every value says where it comes from. What contradicts physics is
//! refused, all of it at once. A [`DriveModel`] holds the tables that follow from it; any number of drives share one.
//!
//! ```
//! use headstack_drive::DriveModel;
//! use headstack_drive::spec::DriveSpec;
//!
//! # let hp_97560 = concat!(env!("CARGO_MANIFEST_DIR"), "/../../drives/hp-97560.toml");
//! let text = std::fs::read_to_string(hp_97560)?;
//! let model = DriveModel::new(&DriveSpec::from_toml("hp-97560", &text)?)?;
//! assert_eq!(model.capacity_sectors(), 2_647_080);
//! assert_eq!(model.mechanics.curve.time(1).as_ms(), 3.64);
//!
//! let impossible = text.replace("rotation_rpm = 4002.0", "rotation_rpm = 4.0");
//! let refused = DriveSpec::from_toml("hp-97560", &impossible).unwrap_err();
//! assert!(refused.to_string().contains("`rotation_rpm`: 4 is not between 60 and 1000000"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # A command, in closed form
//!
//! [`Drive::serve`] is the closed form for a drive that has its bus to itself and holds one command at a time. An
//! [`Outcome`](command::Outcome) says when the command was complete and where its time went, to the nanosecond; what the drive
//! did for nobody in particular comes beside it ([`command::Background`]).
//!
//! ```
//! use headstack_drive::command::{CacheResult, Command};
//! use headstack_drive::{Drive, DriveModel};
//! use headstack_units::{Lba, Nanos, Op, RequestFlags};
//! use std::sync::Arc;
//!
//! # use headstack_drive::spec::DriveSpec;
//! # let hp_97560 = concat!(env!("CARGO_MANIFEST_DIR"), "/../../drives/hp-97560.toml");
//! # let text = std::fs::read_to_string(hp_97560)?;
//! # let model = Arc::new(DriveModel::new(&DriveSpec::from_toml("hp-97560", &text)?)?);
//! let bus = model.bus();
//! let mut drive = Drive::new(model, 1);
//! let mut background = Vec::new();
//! let read = |id, lba| {
//!     Command { id, op: Op::Read, lba: Lba(lba), sectors: 8, flags: RequestFlags::default() }
//! };
//! let first = drive.serve(Nanos::ZERO, read(0, 1_000_000), &bus, &mut background);
//! assert_eq!(first.phases.total(), first.finish - first.submitted);
//! assert!(first.phases.seek > Nanos::ZERO);
//!
//! // The drive read on behind it: the next sectors are in its cache soon after.
//! let next = drive.serve(first.finish + Nanos::from_ms(20.0), read(1, 1_000_008), &bus, &mut background);
//! assert_eq!((next.cache, next.phases.seek), (CacheResult::Hit, Nanos::ZERO));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Commands as events
//!
//! On a shared bus, or with several commands at once, the drive is entered by [`Drive::submit`], [`Drive::bus_granted`] and
//! [`Drive::advance`], and announces what is to happen. Whoever holds the calendar arbitrates; a late grant costs what it
//! costs. The transfers are those of the closed form. [`Drive::explain`] tells a command step by step.
//!
//! ```
//! use headstack_drive::command::{Command, Effect};
//! # use headstack_drive::{Drive, DriveModel, spec::DriveSpec};
//! use headstack_units::{Lba, Nanos, Op, RequestFlags};
//! # use std::sync::Arc;
//! # let hp_97560 = concat!(env!("CARGO_MANIFEST_DIR"), "/../../drives/hp-97560.toml");
//! # let text = std::fs::read_to_string(hp_97560)?;
//! # let model = Arc::new(DriveModel::new(&DriveSpec::from_toml("hp-97560", &text)?)?);
//!
//! let (bus, mut drive, mut effects) = (model.bus(), Drive::new(model, 1), Vec::new());
//! let flags = RequestFlags::default();
//! let write = Command { id: 7, op: Op::Write, lba: Lba(0), sectors: 16, flags };
//! drive.submit(Nanos::ZERO, write, &mut effects);
//! let Some(Effect::NeedBus { ticket, at, .. }) = effects.pop() else { panic!("data must come over the bus") };
//! // The bus is taken by others for five milliseconds.
//! drive.bus_granted(at + Nanos::from_ms(5.0), ticket, &bus, &mut effects);
//! let done = effects.iter().find_map(|effect| match effect {
//!     Effect::Done(outcome) => Some(*outcome),
//!     _ => None,
//! });
//! assert_eq!(done.unwrap().phases.queue, Nanos::from_ms(5.0));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Where things are
//!
//! | module | holds |
//! | --- | --- |
//! | [`spec`] | the drive file, its checks, the provenance of its values |
//! | [`layout`], [`mechanics`] | where the sectors are; what moves and revolutions take |
//! | [`scheduler`] | the order of what waits, here and in the host's driver |
//! | `model` | the tables of one drive, lent read-only to everything else |
//! | `mechanism` | one arm in motion over a turning disk |
//! | `buffer` | segments, read-ahead, data not written yet; `policy`: how the cache is divided |
//! | `transfer` | one state machine per command |
//! | [`Drive`] | queue and parts |
//!
//! What each rule must come to is worked out by hand in `tests/expectations.toml`.

mod buffer;
pub mod command;
mod drive;
mod endings;
mod explain;
mod foresight;
pub mod layout;
pub mod mechanics;
mod mechanism;
mod model;
mod positioning;
pub mod power;
mod rebase;
mod sameness;
pub mod scheduler;
mod sequential;
pub mod spec;
mod transfer;

pub use buffer::Relabelling;
pub use drive::{Drive, Lateness};
pub use explain::Step;
pub use mechanism::{BusyTimes, Worked};
pub use model::DriveModel;
pub use rebase::Rebase;
pub use sequential::{SkewKind, SkewWarning, ZoneRate, skew_warnings, zone_rates};
