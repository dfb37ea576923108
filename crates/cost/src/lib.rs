//! What a drive costs to make: the bill of materials of a design, for any number of actuators and platters, and systems of
//! such drives held against each other at equal performance.
//!
//! Modelled: the price of each component, as a range, times how many of it the drive has. Not modelled: labour, yield,
//! overheads, volume, the maker's margin. A design's prices are those of one year and one class of drives.
//!
//! ```
//! use headstack_cost::Design;
//!
//! let design = Design::load("four-platter")?;
//! let bill = design.bill(2, None)?;
//! assert_eq!(bill.total.to_string(), "100.40–116.60");
//! # Ok::<(), headstack_system::SystemError>(())
//! ```

mod bill;
mod compare;
mod design;
mod money;

pub use bill::{Bill, Item};
pub use compare::{Comparison, CostOfSystem, SystemOfDrives};
pub use design::{ComponentSpec, Design, DesignSpec, IsoPerformanceSpec, Per};
pub use money::{Range, Usd};

/// Most actuators a design can have.
pub const MOST_ACTUATORS: u32 = 16;
/// Most platters a design can have; the first drive, of 1956, had 50.
pub const MOST_PLATTERS: u32 = 64;
/// Most drives a system that is compared can have.
pub const MOST_DRIVES: u32 = 1_000_000;
