//! From a record to values. Nothing here touches a device: an old record gives the same values, or better ones.

mod assemble;
mod bus;
mod cache;
mod destage;
mod ends;
mod extraction;
mod history;
mod layout;
mod load;
mod parameters;
mod pieces;
mod scan;
mod seeks;
pub mod skippy;
mod straight;
mod stream;
mod times;
mod unfilled;
mod warning;
mod write_cache;
pub mod zoned;
mod zones;

pub use assemble::extract;
pub use cache::CacheFindings;
pub use extraction::{Extraction, Parameter, ZoneFindings};
pub(crate) use layout::layout;
pub use load::{LoadPoint, LoadTimes};
pub use pieces::PieceFindings;
pub use scan::{ReadTimes, Scan, ScanPart};
pub(crate) use seeks::law;
pub use seeks::{SeekPoint, SeekerPoint, Seeks, TwoPiece};
pub use stream::{StreamPoint, Streams, TransferTimes};
pub use warning::{Warning, WriteCase};
pub use write_cache::WriteCacheFindings;
