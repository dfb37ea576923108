//! The names of probes, as records write them.

/// The probe that took a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ProbeName {
    /// `rotation`
    Rotation,
    /// `write-cache`
    WriteCache,
    /// `cache`
    Cache,
    /// `skippy-write`
    SkippyWrite,
    /// `skippy-read`
    SkippyRead,
    /// `skippy-backwards`
    SkippyBackwards,
    /// `tracks`
    Tracks,
    /// `zones`
    Zones,
    /// `switches`
    Switches,
    /// `surfaces`
    Surfaces,
    /// `zone-tracks`
    ZoneTracks,
    /// `seek-curve`
    SeekCurve,
    /// `seeker`
    Seeker,
    /// `zoned`
    Zoned,
    /// `overhead`
    Overhead,
    /// `random`
    Random,
    /// `stream`
    Stream,
    /// `scan`
    Scan,
    /// `angles`
    Angles,
}

impl ProbeName {
    /// All of them.
    pub const ALL: [Self; 19] = [
        Self::Rotation,
        Self::WriteCache,
        Self::Cache,
        Self::SkippyWrite,
        Self::SkippyRead,
        Self::SkippyBackwards,
        Self::Tracks,
        Self::Zones,
        Self::Switches,
        Self::Surfaces,
        Self::ZoneTracks,
        Self::SeekCurve,
        Self::Seeker,
        Self::Zoned,
        Self::Overhead,
        Self::Random,
        Self::Stream,
        Self::Scan,
        Self::Angles,
    ];

    /// The name in records and on the command line.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Rotation => "rotation",
            Self::WriteCache => "write-cache",
            Self::Cache => "cache",
            Self::SkippyWrite => "skippy-write",
            Self::SkippyRead => "skippy-read",
            Self::SkippyBackwards => "skippy-backwards",
            Self::Tracks => "tracks",
            Self::Zones => "zones",
            Self::Switches => "switches",
            Self::Surfaces => "surfaces",
            Self::ZoneTracks => "zone-tracks",
            Self::SeekCurve => "seek-curve",
            Self::Seeker => "seeker",
            Self::Zoned => "zoned",
            Self::Overhead => "overhead",
            Self::Random => "random",
            Self::Stream => "stream",
            Self::Scan => "scan",
            Self::Angles => "angles",
        }
    }

    /// The probe of a name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|probe| probe.as_str() == name)
    }

    /// Whether it is one of the three kinds of Skippy.
    pub const fn is_skippy(self) -> bool {
        matches!(self, Self::SkippyWrite | Self::SkippyRead | Self::SkippyBackwards)
    }
}

impl std::fmt::Display for ProbeName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}
