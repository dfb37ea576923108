//! The host: its disk driver (CPU time per request, and a queue per drive in an order of its choice), and the buffer
//! cache above it.

pub(crate) mod buffer_cache;
mod cpu;
mod placement;

pub use buffer_cache::Origin;
pub use cpu::Cpu;
pub(crate) use placement::{check, policy, queue};
