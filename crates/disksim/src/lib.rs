//! Drive parameter files of DiskSim 4.0, read into drive files.
//!
//! DiskSim describes a drive in up to three files: `.diskspecs` (controller, cache, bus side), `.model` (geometry and
//! mechanics) and `.seek` (measured seek times); a simulation's `.parv` adds the bus. [`import`] reads them and gives a
//! [`DriveSpec`](headstack_drive::spec::DriveSpec) with the provenance of every value, and a [`Report`] of what was
//! carried over, what was not and why, and what is doubtful. [`import_simulation`] makes a whole `.parv` a system file, the
//! files of its drives, and a workload file.
//!
//! Nothing is dropped in silence: a parameter is carried, listed as not carried, or an error. Errors name file and line.
//!
//! Not read: what a `.parv` says of statistics, and the layout maps of second-generation layouts. A third generation of
//! layouts does not exist; of the fourth, heads are counted and skews assumed, since its files have neither.

mod absent;
mod controller;
mod electronics;
mod error;
mod fields;
mod g4_tracks;
mod g4_tree;
mod geometry;
mod import;
mod layout;
mod layout_g2;
mod layout_g4;
mod lexer;
mod meaning;
mod mechanics;
mod original;
mod parameters;
mod parser;
mod queue;
mod report;
mod seek_file;
mod simulation;
mod sources;
mod spares;
mod tree;
mod uses;
mod write;

pub use error::ImportError;
pub use import::{Import, Options, import};
pub use meaning::Meaning;
pub use report::{Carried, NotCarried, Report, Warning};
pub use simulation::{DriveFile, Simulation, SimulationOptions, import_simulation};
