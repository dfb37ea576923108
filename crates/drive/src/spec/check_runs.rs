//! Checks of `[[layout.run]]`: layouts that are given run by run.

use super::check::Findings;
use super::{LayoutSpec, Order, TrackRunSpec};

/// The tracks of all runs, to look them up.
pub(super) struct RunTracks<'a> {
    /// Head, lowest cylinder, highest cylinder and number of each run, ascending.
    tracks: Vec<(u32, u32, u32, usize)>,
    runs: &'a [TrackRunSpec],
}

impl<'a> RunTracks<'a> {
    pub(super) fn new(runs: &'a [TrackRunSpec]) -> Self {
        let mut tracks: Vec<_> = runs
            .iter()
            .enumerate()
            .map(|(number, run)| {
                let (low, high) = run.cylinder_range();
                (run.head, low, high, number)
            })
            .collect();
        tracks.sort_unstable();
        Self { tracks, runs }
    }

    /// Sectors of a track, those without data included.
    pub(super) fn sectors_at(&self, cylinder: u32, head: u32) -> Option<u32> {
        let after = self.tracks.partition_point(|&(of, low, ..)| (of, low) <= (head, cylinder));
        let (of, _, high, number) = self.tracks[after.checked_sub(1)?];
        (of == head && cylinder <= high).then(|| self.runs[number].sectors_per_track)
    }

    /// Reports two runs that share a track: for each run, the first such other.
    fn overlaps(&self, findings: &mut Findings) {
        // The run that reaches farthest on this head so far.
        let mut before: Option<(u32, u32, usize)> = None;
        for &(head, low, high, number) in &self.tracks {
            let farthest = before.filter(|&(of, ..)| of == head);
            if let Some((_, reach, other)) = farthest
                && low <= reach
            {
                let (first, second) = (number.min(other), number.max(other));
                findings.add(
                    format!("layout.run.{second}"),
                    format!(
                        "shares track {low}/{head} (cylinder/head) with run {first}: runs must not overlap"
                    ),
                );
            }
            if farthest.is_none_or(|(_, reach, _)| high > reach) {
                before = Some((head, high, number));
            }
        }
    }
}

/// Checks the runs; gives how many sectors hold data.
pub(super) fn runs(layout: &LayoutSpec, findings: &mut Findings) -> u64 {
    if layout.run.is_empty() {
        return 0;
    }
    without_zones(layout, findings);
    let mut sectors = 0_u64;
    for (index, run) in layout.run.iter().enumerate() {
        one_run(index, run, layout.heads, findings);
        let data = u64::from(run.cylinders) * u64::from(run.data_sectors());
        sectors = sectors.saturating_add(data);
    }
    RunTracks::new(&layout.run).overlaps(findings);
    sectors
}

/// What has a meaning only for zones.
fn without_zones(layout: &LayoutSpec, findings: &mut Findings) {
    if !layout.zone.is_empty() {
        let message = "a layout has either [[layout.zone]] or [[layout.run]], not both: remove one of them";
        findings.add("layout.run", message);
    }
    let meaningless = [
        ("layout.order", layout.order != Order::Classical, "the runs are the order of tracks"),
        (
            "layout.head_angle_revolutions",
            !layout.head_angle_revolutions.is_empty(),
            "`first_sector_revolutions` of the runs tells where each head's tracks begin",
        ),
        ("layout.region", !layout.region.is_empty(), "leave the tracks that hold no data out of the runs"),
        (
            "layout.slipped_tracks",
            !layout.slipped_tracks.is_empty(),
            "leave the slipped tracks out of the runs",
        ),
    ];
    for (path, given, instead) in meaningless {
        if given {
            findings.add(path, format!("does not go with [[layout.run]]: remove it, {instead}"));
        }
    }
}

fn one_run(index: usize, run: &TrackRunSpec, heads: u32, findings: &mut Findings) {
    let mut add = |key: &str, message: String| findings.add(format!("layout.run.{index}.{key}"), message);
    let slots = run.sectors_per_track;
    if run.head >= heads {
        add("head", format!("there is no head {}: {heads} heads, counted from 0", run.head));
    }
    if !matches!(run.step, -1 | 1) {
        add("step", format!("{} is neither 1 nor -1", run.step));
    }
    if run.cylinders == 0 {
        add("cylinders", "a run has at least one track".to_owned());
    }
    let more = u64::from(run.cylinders.saturating_sub(1));
    if run.step < 0 && more > u64::from(run.first_cylinder) {
        let (first, count) = (run.first_cylinder, run.cylinders);
        add("cylinders", format!("{count} cylinders from cylinder {first} on back go beyond cylinder 0"));
    }
    let last = u64::from(run.first_cylinder) + if run.step < 0 { 0 } else { more };
    if last > 100_000_000 {
        add("cylinders", "more than 100 million cylinders is beyond belief".to_owned());
    }
    if !(1..=1_000_000).contains(&slots) {
        add("sectors_per_track", format!("{slots} is not between 1 and 1000000"));
    }
    let end = u64::from(run.first_sector) + u64::from(run.data_sectors());
    if run.first_sector >= slots.max(1) {
        add("first_sector", format!("{}, but the track has {slots} sectors, from 0", run.first_sector));
    } else if end > u64::from(slots) {
        let data = run.data_sectors();
        let message = format!("{data} from sector {} on do not fit a track of {slots}", run.first_sector);
        add("data_sectors", message);
    }
    if !(run.skew_sectors >= 0.0 && run.skew_sectors < f64::from(slots)) {
        let skew = run.skew_sectors;
        add("skew_sectors", format!("a skew of {skew} sectors does not fit a track of {slots} sectors"));
    }
    let turns = run.first_sector_revolutions;
    findings.range(&format!("layout.run.{index}.first_sector_revolutions"), turns, 0.0, 1.0);
}
