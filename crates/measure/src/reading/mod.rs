//! What a record says so far: the rotation, the cache's answers, tracks, zones, surfaces and least times. Probes read it to
//! plan what comes next, extraction to tell what was found; neither knows the other.

pub(crate) mod ahead;
pub(crate) mod cylinders;
pub(crate) mod density;
pub(crate) mod drops;
pub(crate) mod fill;
pub(crate) mod head_zones;
pub(crate) mod hits;
pub(crate) mod idle;
pub(crate) mod known;
pub(crate) mod least;
pub(crate) mod no_skews;
pub(crate) mod order;
pub(crate) mod pieces;
pub(crate) mod rotation;
pub(crate) mod segment;
pub(crate) mod stalls;
pub(crate) mod tracks;
pub(crate) mod turns;
pub(crate) mod whole;
pub(crate) mod writes;
pub(crate) mod zones;
