//! The host's disk driver: CPU time per request, and a queue per drive in an order of its choice.

mod cpu;
mod placement;

pub use cpu::Cpu;
pub(crate) use placement::{check, policy, queue};
