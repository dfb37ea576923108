//! What several test files need.
#![allow(dead_code, unreachable_pub, reason = "each test file uses a part")]

pub mod disksim;
pub mod synthetic;
