//! Units of headstack: newtypes with arithmetic and nothing else.
//!
//! Time is integer nanoseconds ([`Nanos`]), an angle is a fraction of a turn in 64 bits ([`Angle`]), addresses and
//! counts have a type of their own. Raw integers appear only inside leaf functions.

mod address;
mod angle;
mod grouped;
mod io;
mod nanos;

pub use address::{Cylinder, Head, Lba, Sectors};
pub use angle::Angle;
pub use grouped::grouped;
pub use io::{Op, RequestFlags};
pub use nanos::{Nanos, Rpm};
