//! Imports, asked from outside.

mod common;
mod drives;
mod errors;
mod generators;
mod layout_g4;
mod original_runs;
mod real_files;
mod simulation;
