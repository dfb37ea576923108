//! From single tracks to runs of tracks, with the heads and angles that a `dm_layout_g4` does not tell.

use crate::error::ImportError;
use crate::g4_tree::{Pattern, Track};
use crate::geometry::Geometry;
use crate::tree::At;
use headstack_drive::spec::TrackRunSpec;

/// More runs make a drive file that takes more than a second to read.
const MAX_RUNS: usize = 100_000;
/// More than any drive has.
const MAX_TRACKS: u64 = 20_000_000;

/// Skews from track to track, in sectors of the track that is reached.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Skews {
    /// Where the head changes and the cylinder does not.
    pub(crate) track: f64,
    /// Where the cylinder changes.
    pub(crate) cylinder: f64,
}

/// The runs so far.
pub(crate) struct Tracks<'a> {
    geometry: &'a Geometry,
    patterns: &'a [Pattern],
    skews: Skews,
    /// By cylinder: how many tracks have been on it.
    visits: Vec<u16>,
    count: u64,
    runs: Vec<TrackRunSpec>,
    last: Option<Last>,
}

/// The last track.
#[derive(Clone, Copy)]
struct Last {
    cylinder: u32,
    pattern: usize,
    /// Where its sector 0 begins.
    turns: f64,
}

impl<'a> Tracks<'a> {
    pub(crate) fn new(geometry: &'a Geometry, patterns: &'a [Pattern], skews: Skews) -> Self {
        Self { geometry, patterns, skews, visits: Vec::new(), count: 0, runs: Vec::new(), last: None }
    }

    /// The runs, in the order of blocks.
    pub(crate) fn runs(self) -> Vec<TrackRunSpec> {
        self.runs
    }

    /// Adds the next track: to the last run if it goes on there.
    pub(crate) fn add(&mut self, track: Track<'_>) -> Result<(), ImportError> {
        let Track { cylinder, pattern, head, at } = track;
        self.count += 1;
        if self.count > MAX_TRACKS {
            return Err(ImportError::at(at, format!("the tree has more than {MAX_TRACKS} tracks")));
        }
        let cylinder = self.cylinder(cylinder, at)?;
        let head = match head {
            Some(head) => self.told(head, at)?,
            None => self.visit(cylinder, at)?,
        };
        let slots = f64::from(self.patterns[pattern].slots);
        let turns = self.last.map_or(0.0, |last| {
            let changed = last.cylinder != cylinder;
            let skew = if changed { self.skews.cylinder } else { self.skews.track };
            (last.turns + skew / slots).rem_euclid(1.0)
        });
        if !self.goes_on(cylinder, head, pattern) {
            if self.runs.len() == MAX_RUNS {
                let message = format!(
                    "the tracks fall into more than {MAX_RUNS} runs along a surface: too many for a drive file"
                );
                return Err(ImportError::at(at, message)
                    .hint("a drive whose heads alternate in every cylinder is better described by zones"));
            }
            self.begin(cylinder, head, pattern, turns);
        }
        self.last = Some(Last { cylinder, pattern, turns });
        Ok(())
    }

    fn cylinder(&self, cylinder: i64, at: &At) -> Result<u32, ImportError> {
        let found = u32::try_from(cylinder).ok().filter(|&cylinder| cylinder < self.geometry.cylinders);
        found.ok_or_else(|| {
            let message = format!(
                "the tree leads to cylinder {cylinder}, but the drive has {} cylinders, counted from 0",
                self.geometry.cylinders
            );
            ImportError::at(at, message).hint("correct the entry or `Number of cylinders`")
        })
    }

    /// The head that a file tells.
    fn told(&self, head: u32, at: &At) -> Result<u32, ImportError> {
        if head < self.geometry.heads {
            return Ok(head);
        }
        let message =
            format!("head {head}, but the drive has {} surfaces, counted from 0", self.geometry.heads);
        Err(ImportError::at(at, message).hint("correct the row or `Number of data surfaces`"))
    }

    /// The head of a track where none is told: the first on a cylinder is on head 0, the next on head 1, and so on.
    fn visit(&mut self, cylinder: u32, at: &At) -> Result<u32, ImportError> {
        let index = cylinder as usize;
        if self.visits.len() <= index {
            self.visits.resize(index + 1, 0);
        }
        let head = u32::from(self.visits[index]);
        if head >= self.geometry.heads {
            let message = format!(
                "the tree has more than {} tracks on cylinder {cylinder}, but the drive has only that many surfaces",
                self.geometry.heads
            );
            return Err(ImportError::at(at, message).hint("correct the entry or `Number of data surfaces`"));
        }
        self.visits[index] += 1;
        Ok(head)
    }

    /// Whether the last run goes on with this track; then it is added.
    fn goes_on(&mut self, cylinder: u32, head: u32, pattern: usize) -> bool {
        let (Some(run), Some(last)) = (self.runs.last_mut(), self.last) else { return false };
        let step = i64::from(cylinder) - i64::from(last.cylinder);
        let straight = step.abs() == 1 && (run.cylinders == 1 || i64::from(run.step) == step);
        let goes_on = straight && run.head == head && last.pattern == pattern;
        if goes_on {
            run.step = step as i32;
            run.cylinders += 1;
            // Only now is there a next track to lag.
            run.skew_sectors = self.skews.cylinder.rem_euclid(f64::from(run.sectors_per_track));
        }
        goes_on
    }

    fn begin(&mut self, first_cylinder: u32, head: u32, pattern: usize, first_sector_revolutions: f64) {
        let Pattern { low, sectors, slots } = self.patterns[pattern];
        self.runs.push(TrackRunSpec {
            first_cylinder,
            head,
            cylinders: 1,
            step: 1,
            sectors_per_track: slots,
            first_sector: low,
            data_sectors: (low + sectors < slots).then_some(sectors),
            first_sector_revolutions,
            skew_sectors: 0.0,
        });
    }
}
