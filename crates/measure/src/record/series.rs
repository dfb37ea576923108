//! What the series of a probe's samples mean: the part of a record's language that whoever takes samples and whoever reads
//! them must share. Probes whose series only count have none here.

/// Of the probe `cache`.
pub(crate) mod cache {
    /// The same sector again, after a random pause.
    pub(crate) const AGAIN: u32 = 0;
    /// The same with a write elsewhere between.
    pub(crate) const AGAIN_AFTER_WRITE: u32 = 1;
    /// `step` sectors farther on, after a pause long enough to read ahead.
    pub(crate) const AHEAD: u32 = 2;
    /// The same behind two reads that continue each other.
    pub(crate) const AHEAD_SEQUENTIAL: u32 = 3;
    /// The sector before, after a pause: a drive that reads whole tracks has it.
    pub(crate) const BEFORE: u32 = 4;
    /// The first of `step` places, after all of them were read.
    pub(crate) const SEGMENTS: u32 = 5;
    /// Block after block at the end of the device: how fast what is read ahead comes off the media, at least.
    pub(crate) const PACE: u32 = 6;
    /// The first unit of the device's last `step` sectors, once these were read at once: nothing lies behind them to be read ahead.
    pub(crate) const WHOLE: u32 = 7;
    /// The last unit of a read of `step` sectors elsewhere.
    pub(crate) const WHOLE_END: u32 = 8;
    /// The next sector, after a random pause: where what was asked for makes room for what is read ahead.
    pub(crate) const NEXT: u32 = 9;
    /// Reads of `step` sectors, each right behind the one before.
    pub(crate) const SEQUENTIAL: u32 = 10;
    /// Reads of `step` sectors here and there.
    pub(crate) const SIZES: u32 = 11;
}

/// Of the probe `overhead`.
pub(crate) mod overhead {
    /// Reads that the cache answers.
    pub(crate) const FROM_CACHE: u32 = 0;
    /// Reads from the media.
    pub(crate) const FROM_MEDIA: u32 = 1;
    /// Reads within a track, each followed by one of the sector before: those of a drive with a cache.
    pub(crate) const ALONG_TRACKS: u32 = 2;
}

/// Of the probe `write-cache`, behind those that show whether writes are complete early.
pub(crate) mod write_cache {
    /// Writes at two places in turn.
    pub(crate) const TWO_PLACES: u32 = 4;
    /// Writes of one unit, until they wait, and some more.
    pub(crate) const SMALL: u32 = 5;
    /// The same with large ones.
    pub(crate) const LARGE: u32 = 6;
    /// Writes of several sizes into an empty cache; `step` is the sectors.
    pub(crate) const SIZES: u32 = 7;
    /// Large writes into an empty cache, one of which fills it: `step` is the sectors.
    pub(crate) const WHOLE: u32 = 8;
    /// A read, a few writes, a pause of `step` ms, and a flush; a series for each pause, which is compared with none.
    pub(crate) const DRAINED: u32 = 9;
}

/// Of the probe `random`; `step` counts the accesses of a series.
pub(crate) mod random {
    /// So many are asked for at once; between them and the next nothing is outstanding.
    pub(crate) const CHUNK: usize = 100;
}

/// Of the probe `zones`: a series for each place, or, where each head has a density of its own, for the tracks at the beginning of
/// each zone.
pub(crate) mod zones {
    /// The series of such a zone's angles farther on, and of those of a zone without skews; `step` tells what a sector is.
    pub(crate) const WALK: u32 = 10_000;
    /// The first sector of the zone, and its last.
    pub(crate) const BEGINS: i64 = -2;
    pub(crate) const ENDS: i64 = -3;
    /// The first sector of its second track, where tracks have no skews.
    pub(crate) const TRACK: i64 = -4;
}

/// Of the probe `tracks`: a series for each place where tracks were looked for.
pub(crate) mod tracks {
    /// Tracks without skews.
    pub(crate) const NO_SKEWS: u32 = 8;
}

/// Of the probe `switches`: each kind of way, for writes; those for reads follow at `READS`.
pub(crate) mod switches {
    /// To the same track.
    pub(crate) const SAME_TRACK: u32 = 0;
    /// To the next track where the skew is the more common one.
    pub(crate) const COMMON: u32 = 1;
    /// To the next track where the skew is the rarer one.
    pub(crate) const RARE: u32 = 2;
    /// Series of reads.
    pub(crate) const READS: u32 = 10;
    /// Series of writes that a cache brings to the media.
    pub(crate) const FLUSHED: u32 = 20;
    /// Where two skews come in turns: over an odd number of tracks, from behind the larger one (`step` 0) and the smaller one (1).
    pub(crate) const ODD: u32 = 30;
}

/// Of the probe `surfaces`.
pub(crate) mod surfaces {
    /// The tracks that were followed.
    pub(crate) const TRACKS: u32 = 0;
    /// `step` 0: to the next track; 1: to the last track before the next change of the rarer kind.
    pub(crate) const WAYS: u32 = 1;
    /// To the next track, from track `step` on: where skews do not tell one kind of change from another, their times may.
    pub(crate) const NEXT: u32 = 2;
    /// Over `step` tracks.
    pub(crate) const OVER: u32 = 3;
    /// From the first track to track `step`.
    pub(crate) const FROM_FIRST: u32 = 4;
    /// To track `step` from the one before, where that may lie in the same cylinder.
    pub(crate) const BESIDE: u32 = 5;
    /// The first tracks of a zone, of whose number this is the first series, and looks far behind them: whether they follow evenly.
    pub(crate) const EVEN: u32 = 10;
}

/// Of the probe `seek-curve`; `step` is the distance in cylinders.
pub(crate) mod seek_curve {
    /// Writes towards higher cylinders.
    pub(crate) const WRITES_INWARDS: u32 = 0;
    /// Writes towards lower cylinders.
    pub(crate) const WRITES_OUTWARDS: u32 = 1;
    /// Reads towards higher cylinders.
    pub(crate) const READS_INWARDS: u32 = 2;
    /// Reads towards lower cylinders.
    pub(crate) const READS_OUTWARDS: u32 = 3;
    /// From the last track along a surface to the first along the next, in the same cylinder; `step` counts them.
    pub(crate) const WRITES_TO_SURFACE: u32 = 4;
    /// The same with reads.
    pub(crate) const READS_TO_SURFACE: u32 = 5;
    /// Writes that a cache brings to the media, towards higher cylinders and towards lower ones.
    pub(crate) const FLUSHED_INWARDS: u32 = 6;
    pub(crate) const FLUSHED_OUTWARDS: u32 = 7;
    /// Here and there, two reads and a write in turns; `step` counts.
    pub(crate) const IN_TURNS: u32 = 8;
}

/// Of the probe `angles`: a series for each piece in which tracks follow each other evenly. `step` tells what a sector is.
pub(crate) mod angles {
    /// Tracks begin anew there; the angles of a piece are counted from it.
    pub(crate) const ANCHOR: i64 = -2;
    /// The first sector of the piece that was looked at, and the last.
    pub(crate) const FIRST: i64 = -3;
    pub(crate) const LAST: i64 = -4;
    /// Sectors were slipped just before it.
    pub(crate) const SLIPPED: i64 = -5;
    /// Several cylinders share spares: from the anchor to there.
    pub(crate) const ANEW: i64 = -6;
    /// The series of a sector that is measured now and then, all the time (`step` counts how often; 0 in records that have one access each
    /// time); those of pieces come before it, …
    pub(crate) const REFERENCE: u32 = 10_000;
    /// … and those of tracks that were followed to find an anchor from here on.
    pub(crate) const FINDING: u32 = 20_000;
}

/// Of the probes that follow tracks: the `step` of a sample that is part of a search, not of a track that was found.
pub(crate) const SEARCHING: i64 = -1;
/// Of any probe: the sector that the disk's clock is set by.
pub(crate) const SETTING_CLOCK: u32 = u32::MAX;
