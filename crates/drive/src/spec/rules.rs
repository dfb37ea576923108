//! Words for what drives do differently in details: when a cache is looked up, what stops read-ahead, what waits.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the cached part of a read waits for, of which the media bring the rest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CachedPart {
    /// The overhead of a read from the media.
    #[default]
    MissOverhead,
    /// The overhead of a read that the buffer holds.
    HitOverhead,
}

/// How a share of a command is rounded to sectors; at least one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Rounding {
    /// To the next whole sector.
    #[default]
    Up,
    /// To the last whole sector.
    Down,
}

/// When it is decided whether the cache holds a read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LookUp {
    /// When the command is decoded: what is read ahead in the meantime counts, and a read that goes on right behind it
    /// waits for its data there.
    #[default]
    WhenDecoded,
    /// When the controller turns to the command: its first sector must be there by then. A read that is not there stops
    /// read-ahead at once; what that still takes comes on top of the overhead.
    WhenReceived,
}

/// When read-ahead that is in the way lets go of the arm.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ReadAheadStop {
    /// At once; a head switch or seek under way is finished.
    #[default]
    AtOnce,
    /// When the sector under the head has gone by, which is not kept; after a switch the head also waits for the first
    /// sector.
    AfterSector,
}

/// What a hit means for read-ahead under way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum HitDuringReadAhead {
    /// What any hit means (`read_ahead_on_hit`); read-ahead for another segment goes on.
    #[default]
    AsAtRest,
    /// In the segment that is being filled, read-ahead goes on to where it would end behind this read; a hit in another
    /// segment ends it.
    OwnSegment,
}

/// Whether read-ahead waits for data that the host has not got yet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ReadAheadRoom {
    /// It takes the place of the segment's oldest data, whatever becomes of them.
    #[default]
    Any,
    /// A segment keeps what a read has not sent yet: if it is full of that, the next sector has to come around again.
    Sent,
}

/// Which segment makes room.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Replacement {
    /// The least recently used one. A write that continues the last one goes on in its segment.
    #[default]
    LeastRecentlyUsed,
    /// The least recently used one, but the one whose read-ahead this command stopped last of all. A write goes on in the
    /// last one's segment while that is still on its way to the media.
    SpareReadAhead,
}

/// What happens to other commands while writes that were reported early are on their way to the media.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DuringEarlyWrite {
    /// What does not need the arm is served: cached reads, and writes as far as `pending_writes` goes.
    #[default]
    Serves,
    /// All but a write that continues the last one waits until they are on the media; a read waits even for cached data.
    Waits,
}

/// How often data that continue an early write go to the media.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Appends {
    /// Once, behind the write that they continue.
    #[default]
    Once,
    /// With the write that they continue, and again by themselves after it.
    Twice,
}
