//! The host: its disk driver (CPU time per request, and a queue per drive in an order of its choice). The buffer
//! cache above it is a layer.

mod cpu;
mod driver_queue;
mod placement;

pub use crate::layer::Origin;
pub use cpu::Cpu;
pub(crate) use driver_queue::DriverQueue;
pub(crate) use placement::{check, controller_policy, controller_problem, policy, queue};
