//! What a request and a drive command have in common: direction and marks.

/// Direction of a transfer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Op {
    /// Data go from the drive to the host.
    #[default]
    Read,
    /// Data go from the host to the drive.
    Write,
}

/// Marks a host may put on a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct RequestFlags(pub u16);

impl RequestFlags {
    /// Force unit access: a write must not be reported complete before it is on the media (S0: "must not be immediately reported"),
    /// and a read has to come from there.
    pub const FORCE_MEDIA: Self = Self(1);
    /// Nothing sent after this request may overtake it, and it overtakes nothing sent before (SCSI ordered tag).
    pub const ORDERED: Self = Self(2);
    /// Goes before everything already waiting (SCSI head-of-queue tag).
    pub const HEAD_OF_QUEUE: Self = Self(4);
    /// The host did not wait for it (asynchronous); information only.
    pub const ASYNC: Self = Self(8);
    /// Goes around the host's buffer cache (a character device of Unix, direct I/O).
    pub const RAW: Self = Self(16);

    /// What the drive has acknowledged before goes to the media first (a flush of its cache; with data, a preflush).
    pub const FLUSH: Self = Self(32);

    /// The first of the drive's duration limits holds for it, where the drive has one (a command duration limit).
    pub const LIMITED: Self = Self(64);

    /// The host needs these sectors no longer (DISCARD, TRIM, UNMAP): nothing is transferred. A write.
    pub const DISCARD: Self = Self(512);

    /// The data of one sector are written to all of them (WRITE SAME). A write.
    pub const WRITE_SAME: Self = Self(1024);

    /// A process waits for it, now or before long (DiskSim: time-critical or time-limited): a scheduler with `+priority-first`
    /// puts it before the others.
    pub const PRIORITY: Self = Self(2048);

    /// A completion's mark: the drive answered in time, but without the data (its duration limit had passed).
    pub const UNAVAILABLE: Self = Self(4096);

    /// A completion's mark: it ended with an error (its duration limit had passed).
    pub const ABORTED: Self = Self(8192);

    /// A trace's mark: when it arrived was not traced, and its dispatch stands for it. Its response is not known.
    pub const ARRIVAL_UNKNOWN: Self = Self(16384);

    /// Both marks of a completion without its data.
    pub const WITHOUT_DATA: Self = Self(4096 | 8192);

    /// The marks that say something of a trace or a completion, and nothing of what is asked of the drive.
    pub const NOT_OF_A_COMMAND: Self = Self(Self::WITHOUT_DATA.0 | Self::ARRIVAL_UNKNOWN.0);

    /// Whether every mark of `other` is set.
    pub fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Which of the drive's duration limits holds for it, counted from 1; 0 for none.
    pub const fn duration_limit(self) -> usize {
        (self.0 / Self::LIMITED.0 % 8) as usize
    }

    /// The mark of a duration limit, counted from 1 to 7.
    pub const fn limited_by(number: u16) -> Self {
        Self(number % 8 * Self::LIMITED.0)
    }

    /// Whether any mark of `other` is set.
    pub const fn has_any(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// The marks but for those of `other`.
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Both sets of marks.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}
