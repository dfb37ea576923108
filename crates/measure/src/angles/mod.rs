//! How a probe sees a rotating device: it takes accesses at chosen phases, finds where tracks begin by the angles of their
//! sectors, and the least time from one place to another. Nothing here knows which probe asks, or what is made of the samples.

pub(crate) mod disk_clock;
mod downwards;
pub(crate) mod finder;
pub(crate) mod landing;
pub(crate) mod median;
pub(crate) mod session;
pub(crate) mod sighting;
pub(crate) mod spindle;
pub(crate) mod tolerance;
pub(crate) mod trial;
