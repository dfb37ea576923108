//! Which of the rules a description chooses: asked for every command.

use crate::spec::{
    Appends, CachedPart, DriveSpec, DuringEarlyWrite, HitDuringReadAhead, LookUp, ReadAheadRoom,
    ReadAheadStop, WritePolicy,
};

/// Rules that are not the usual ones.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    /// It is decided when a command is received whether the cache holds it.
    pub(crate) looks_up_received: bool,
    /// Read-ahead lets go of the arm when a sector has been read.
    pub(crate) stops_after_sector: bool,
    /// Read-ahead goes on by hits in its own segment, and ends with a hit in another.
    pub(crate) follows_own_hits: bool,
    /// Read-ahead waits for room until data have been sent.
    pub(crate) keeps_unsent: bool,
    /// The cached part of a read waits for the overhead of a hit.
    pub(crate) cached_part_as_hit: bool,
    /// Commands wait for early writes.
    pub(crate) waits_for_early_writes: bool,
    /// Appended data go to the media twice.
    pub(crate) appends_twice: bool,
}

impl Rules {
    /// From a checked description.
    pub(super) fn new(spec: &DriveSpec) -> Self {
        let cache = spec.cache.as_ref();
        let (waits, twice) = match spec.write_policy {
            WritePolicy::ImmediateReporting { during_early_write, appends, .. } => {
                (during_early_write == DuringEarlyWrite::Waits, appends == Appends::Twice)
            }
            _ => (false, false),
        };
        Self {
            looks_up_received: cache.is_some_and(|cache| cache.look_up == LookUp::WhenReceived),
            stops_after_sector: cache
                .is_some_and(|cache| cache.read_ahead_stop == ReadAheadStop::AfterSector),
            follows_own_hits: cache
                .is_some_and(|cache| cache.hit_during_read_ahead == HitDuringReadAhead::OwnSegment),
            keeps_unsent: cache.is_some_and(|cache| cache.read_ahead_room == ReadAheadRoom::Sent),
            cached_part_as_hit: spec.controller.cached_part == CachedPart::HitOverhead,
            waits_for_early_writes: waits,
            appends_twice: twice,
        }
    }
}
