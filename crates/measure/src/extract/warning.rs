//! What the reader of a measurement must know beside its values.

use headstack_units::grouped;
use std::fmt;

/// What the probe `write-cache` does in one of its series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteCase {
    /// Writes the same sector again and again.
    SameSector,
    /// Writes a sector behind a write of the one before it.
    BehindWrite,
    /// Writes behind a read elsewhere.
    BehindRead,
    /// Writes a few sectors in any order.
    HereAndThere,
    /// Writes two places by turns.
    TwoPlaces,
}

impl WriteCase {
    /// The case of a series.
    pub(super) fn of_series(series: u32) -> Self {
        match series {
            0 => Self::SameSector,
            1 => Self::BehindWrite,
            2 => Self::BehindRead,
            3 => Self::HereAndThere,
            _ => Self::TwoPlaces,
        }
    }
}

impl fmt::Display for WriteCase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::SameSector => "the same sector again",
            Self::BehindWrite => "behind a write of the sector before",
            Self::BehindRead => "behind a read",
            Self::HereAndThere => "here and there",
            Self::TwoPlaces => "two places in alternation",
        })
    }
}

/// One warning; its sentence is its `Display`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Warning {
    /// Nothing rotates.
    NotRotating,
    /// Writes show no rotation, but reads do.
    OnlyReads,
    /// Writes are reported complete before they are on the media.
    EarlyWrites {
        /// Where that showed.
        cases: Vec<WriteCase>,
    },
    /// Tracks run along surfaces, so that Skippy cannot count heads.
    TracksAlongSurfaces,
    /// The speed changes.
    SpeedDrifts {
        /// By how much, in parts per million.
        ppm: u32,
        /// Whether angles were told by the disk's own clock.
        followed: bool,
    },
    /// Some accesses took so much longer than all others that the device stalls now and then.
    Stalls {
        /// How many accesses.
        count: usize,
        /// How long a stall lasts, in ms.
        length_ms: u64,
        /// From one to the next, in ms; `None` where no period shows.
        interval_ms: Option<u64>,
    },
    /// Surfaces differ in density.
    DensityPerHead {
        /// Sectors of each surface's tracks at the start; empty where only the zones show it.
        sectors: Vec<u64>,
        /// Zones of whole cylinders that make up the device; 0 where they were not found.
        zones: usize,
    },
    /// No second kind of skew recurs.
    SurfacesNotCounted {
        /// Zones that were found; without any, no drive file can be made.
        zones: usize,
    },
    /// Two tracks make a cylinder, and nothing tells which of its two skews is which.
    SkewsInTurns,
    /// Some accesses failed.
    FailedAccesses {
        /// How many.
        count: usize,
    },
}

impl Warning {
    /// A short name for programs.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::NotRotating => "not-rotating",
            Self::OnlyReads => "only-reads",
            Self::EarlyWrites { .. } => "early-writes",
            Self::TracksAlongSurfaces => "tracks-along-surfaces",
            Self::SpeedDrifts { .. } => "speed-drifts",
            Self::Stalls { .. } => "stalls",
            Self::DensityPerHead { .. } => "density-per-head",
            Self::SurfacesNotCounted { .. } => "surfaces-not-counted",
            Self::SkewsInTurns => "skews-in-turns",
            Self::FailedAccesses { .. } => "failed-accesses",
        }
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotRotating => f.write_str(
                "the device is not rotating: completions at one sector show no period. Only its latency was measured",
            ),
            Self::OnlyReads => f.write_str(
                "writes show no rotation, as where a cache on the media takes them wherever the head is, but reads do: all was \
                 measured by reads, as with `--read-only`, and nothing is known of writes",
            ),
            Self::EarlyWrites { cases } => {
                let cases: Vec<String> = cases.iter().map(ToString::to_string).collect();
                write!(
                    f,
                    "writes are complete before they are on the media ({}), so forced writes were used; where these are not \
                     possible, the probe `skippy-backwards` measures the media despite the cache",
                    cases.join(", ")
                )
            }
            Self::TracksAlongSurfaces => f.write_str(
                "tracks run along surfaces: Skippy cannot count the heads of such a drive; angles and seek times did",
            ),
            Self::SpeedDrifts { ppm, followed: true } => write!(
                f,
                "the speed drifts, by about {ppm} ppm: angles were told by one sector that was written before each of them. A drive \
                 file has a steady speed"
            ),
            Self::SpeedDrifts { ppm, followed: false } => write!(
                f,
                "the speed drifts, by about {ppm} ppm: angles stay comparable for too short a time to measure tracks, zones and \
                 seeks. No drive file is made"
            ),
            Self::Stalls { count, length_ms, interval_ms } => {
                let accesses = if *count == 1 { "access" } else { "accesses" };
                write!(f, "the device stalls: {count} {accesses} waited about {length_ms} ms, ")?;
                match interval_ms {
                    Some(ms) => write!(f, "every {:.1} s, as a drive does that recalibrates", *ms as f64 / 1e3),
                    None => f.write_str("at no regular interval"),
                }
            }
            Self::DensityPerHead { sectors, zones } => {
                f.write_str("surfaces differ in density")?;
                if !sectors.is_empty() {
                    let all: Vec<String> = sectors.iter().map(ToString::to_string).collect();
                    write!(f, ": {} sectors on their tracks at the start", all.join(", "))?;
                }
                f.write_str(if *zones > 0 {
                    "; the drive file says so, zone by zone"
                } else {
                    "; zones of whole cylinders do not tell where its sectors are, so that no switches and seeks are measured, and \
                     no drive file is made of it"
                })
            }
            Self::SurfacesNotCounted { zones } => {
                f.write_str(
                    "surfaces could not be counted: no second kind of skew recurs (equal skews, or tracks that cannot be told \
                     apart), and no time from track to track tells them. ",
                )?;
                f.write_str(if *zones > 0 {
                    "Skews and seeks are told from track to track, and in a drive file each track is a cylinder of its own"
                } else {
                    "Nor do zones of whole tracks tell where its sectors are, so that no seeks are measured, and no drive file is \
                     made of it"
                })
            }
            Self::SkewsInTurns => f.write_str(
                "two tracks make a cylinder, and neither times nor the beginnings of zones tell which of its two skews is the \
                 cylinder's: the larger one is taken for it, and switches and seeks with it. They may be swapped",
            ),
            Self::FailedAccesses { count: 1 } => f.write_str("1 access failed and was skipped"),
            Self::FailedAccesses { count } => write!(f, "{} accesses failed and were skipped", grouped(*count as u64)),
        }
    }
}
