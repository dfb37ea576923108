//! What sequential work gets from the media, and whether skews leave time for the switches they were made for.
//!
//! A skew that is shorter than the switch (and its settle) costs a revolution at the change of track it belongs to: the
//! first sector has just gone by. Such a drive works, but reads or writes long runs at half its rate or less, which is
//! hardly ever meant. Found by walking the tracks of each zone in the order of addresses.

use crate::layout::{Extent, Layout, ZoneSummary};
use crate::mechanics::{Mechanics, Reach};
use crate::spec::{DriveSpec, SwitchModel};
use headstack_units::{Op, Rpm};

/// Changes of track looked at in a zone: enough for every order of tracks that repeats.
const MOST_CHANGES: usize = 4096;
/// As above, where the layout is given run by run and need not repeat.
const MOST_CHANGES_OF_RUNS: usize = 100_000;
/// A loss at fewer changes than this share costs less than the model's other errors: once per group of cylinders.
const LEAST_SHARE: f64 = 0.01;

/// Which skew a change of track depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SkewKind {
    /// The head changes within a cylinder: `track_skew_sectors`.
    Track,
    /// The cylinder changes: `cylinder_skew_sectors`, or `skew_sectors` of a run.
    Cylinder,
}

/// A skew that is shorter than the switch it stands for.
#[derive(Clone, Debug, PartialEq)]
pub struct SkewWarning {
    /// Number of the zone, from 0.
    pub zone: usize,
    /// Which skew.
    pub kind: SkewKind,
    /// What loses revolutions.
    pub op: Op,
    /// From the last data sector of a track to the first of the next, in ms: the skew and what spares add to it.
    pub skew_ms: f64,
    /// What the switch takes, the settle included, in ms.
    pub switch_ms: f64,
    /// The share of the zone's changes of track that lose a revolution by this.
    pub share: f64,
    /// By how many sectors the skew has to grow, rounded up to whole physical sectors.
    pub missing_sectors: u32,
    /// Sequential rate of the zone as it is, in MB/s.
    pub rate_mb_per_s: f64,
    /// Sequential rate of the zone if nothing were lost, in MB/s.
    pub possible_mb_per_s: f64,
}

/// What the media of a zone give sequential work, in MB/s: data sectors over the time of their tracks and the changes
/// between them, with neither controller nor bus.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ZoneRate {
    /// If every first sector were met after its skew.
    pub possible_mb_per_s: f64,
    /// Reads, with the revolutions that they lose to short skews.
    pub read_mb_per_s: f64,
    /// Writes, with those that they lose.
    pub write_mb_per_s: f64,
}

/// The rates of the zones of a checked description, in order. Where `fidelity.switch` leaves skews out, the skews still
/// count here.
pub fn zone_rates(spec: &DriveSpec) -> Vec<ZoneRate> {
    let tables = Tables::new(spec);
    let walk = tables.walk(spec);
    let rate = |zone| {
        let changes = walk.changes(&zone);
        if changes.is_empty() {
            let rate = walk.of_one_track(&zone);
            return ZoneRate { possible_mb_per_s: rate, read_mb_per_s: rate, write_mb_per_s: rate };
        }
        let (read, write) = (walk.times(&changes, Op::Read), walk.times(&changes, Op::Write));
        ZoneRate {
            possible_mb_per_s: read.possible_rate(),
            read_mb_per_s: read.rate(),
            write_mb_per_s: write.rate(),
        }
    };
    tables.layout.zones().map(rate).collect()
}

/// Every skew of a checked description that loses a revolution at one change of track in a hundred or more.
pub fn skew_warnings(spec: &DriveSpec) -> Vec<SkewWarning> {
    if spec.fidelity.switch != SwitchModel::Skewed {
        return Vec::new();
    }
    let tables = Tables::new(spec);
    let walk = tables.walk(spec);
    let mut warnings = Vec::new();
    for (number, zone) in tables.layout.zones().enumerate() {
        let changes = walk.changes(&zone);
        for op in [Op::Read, Op::Write] {
            let times = walk.times(&changes, op);
            for kind in [SkewKind::Track, SkewKind::Cylinder] {
                warnings.extend(times.warning((number, kind, op), spec));
            }
        }
    }
    warnings
}

struct Tables {
    layout: Layout,
    mechanics: Mechanics,
    reach: Reach,
}

impl Tables {
    fn new(spec: &DriveSpec) -> Self {
        let spec = spec.joined();
        Self { layout: Layout::new(&spec.layout), mechanics: Mechanics::new(&spec), reach: Reach::new(&spec) }
    }

    fn walk<'a>(&'a self, spec: &'a DriveSpec) -> Walk<'a> {
        let period = Rpm(spec.rotation_rpm).period_ns();
        Walk { spec, tables: self, layout: &self.layout, period }
    }
}

/// A change of track between two runs of sectors that follow each other.
struct Change {
    from: Extent,
    to: Extent,
}

impl Change {
    fn kind(&self) -> SkewKind {
        if self.from.cylinder == self.to.cylinder { SkewKind::Track } else { SkewKind::Cylinder }
    }
}

struct Walk<'a> {
    spec: &'a DriveSpec,
    tables: &'a Tables,
    layout: &'a Layout,
    /// Of a revolution, in ns.
    period: f64,
}

impl Walk<'_> {
    /// The changes of track of a zone, in order of addresses.
    fn changes(&self, zone: &ZoneSummary) -> Vec<Change> {
        let most = if self.spec.layout.run.is_empty() { MOST_CHANGES } else { MOST_CHANGES_OF_RUNS };
        let end = zone.first_lba + zone.sectors;
        let mut changes = Vec::new();
        let mut next = zone.first_lba;
        let mut before: Option<Extent> = None;
        while next < end && changes.len() < most {
            let extent = self.layout.extent(next, end - next);
            next += u64::from(extent.sectors);
            if let Some(from) = before
                && (from.cylinder, from.head) != (extent.cylinder, extent.head)
            {
                changes.push(Change { from, to: extent });
            }
            before = Some(extent);
        }
        changes
    }

    /// From the end of a track's last data sector to the beginning of the next one's first, in ns: the skew, and the
    /// spares between, which may make it more than a revolution.
    fn gap(&self, change: &Change) -> f64 {
        let Change { from, to } = change;
        let last = self.layout.locate(from.lba + u64::from(from.sectors) - 1);
        let first = self.layout.locate(to.lba);
        let behind = from.span(last.slots - 1 - last.slot);
        let before = to.span(first.slot);
        // What is left of the angle between them when the spares are taken off is the skew: less than a revolution.
        let skew = to.start - from.slot_start(from.sectors) - behind - before;
        (behind.as_turns() + before.as_turns() + skew.as_turns()) * self.period
    }

    fn switch(&self, change: &Change, op: Op) -> f64 {
        let Change { from, to } = change;
        let Tables { mechanics, reach, .. } = self.tables;
        let (from, to) = (reach.of((from.cylinder, from.head)), reach.of((to.cylinder, to.head)));
        mechanics.switch(from, to, op).0 as f64
    }

    /// What the tracks of a zone and the changes between them take.
    fn times(&self, changes: &[Change], op: Op) -> Times {
        let mut times = Times { changes: changes.len(), ..Times::default() };
        for change in changes {
            let (gap, switch) = (self.gap(change), self.switch(change, op));
            let width = change.from.slot_width.as_turns() * self.period;
            times.bytes += f64::from(change.from.sectors) * f64::from(self.spec.sector_bytes);
            times.possible += f64::from(change.from.sectors) * width;
            // The first sector comes by once a revolution; missed by at most a tick it is on time, as in the model.
            let next_after = |time: f64| gap + ((time - gap - 1.0) / self.period).ceil() * self.period;
            if switch > gap + 1.0 {
                times.possible += gap;
                times.lost += next_after(switch) - gap;
                times.late[change.kind() as usize].push(Late { gap, switch, width });
            } else {
                times.possible += next_after(switch);
            }
        }
        times
    }

    /// The rate of a zone that is no more than a track.
    fn of_one_track(&self, zone: &ZoneSummary) -> f64 {
        let extent = self.layout.extent(zone.first_lba, zone.sectors.max(1));
        f64::from(self.spec.sector_bytes) / (extent.slot_width.as_turns() * self.period) * MB_PER_S
    }
}

/// Bytes in a nanosecond, in MB/s.
const MB_PER_S: f64 = 1e3;

/// What sequential work takes over some changes of track, in ns.
#[derive(Default)]
struct Times {
    bytes: f64,
    possible: f64,
    lost: f64,
    changes: usize,
    /// Those that come too late for their skew, by the kind of skew.
    late: [Vec<Late>; 2],
}

impl Times {
    fn possible_rate(&self) -> f64 {
        self.bytes / self.possible * MB_PER_S
    }

    fn rate(&self) -> f64 {
        self.bytes / (self.possible + self.lost) * MB_PER_S
    }

    /// The warning about the changes that come late, if they are more than a few; it goes by the latest but for those few.
    fn warning(&self, (zone, kind, op): (usize, SkewKind, Op), spec: &DriveSpec) -> Option<SkewWarning> {
        let mut late = self.late[kind as usize].clone();
        late.sort_by(|a, b| b.by().total_cmp(&a.by()));
        let latest = late.get((LEAST_SHARE * self.changes as f64) as usize)?;
        let physical = spec.physical_sector_bytes.unwrap_or(spec.sector_bytes) / spec.sector_bytes;
        let missing = ((latest.by() - 1.0) / latest.width).ceil() as u32;
        Some(SkewWarning {
            zone,
            kind,
            op,
            skew_ms: latest.gap / 1e6,
            switch_ms: latest.switch / 1e6,
            share: late.len() as f64 / self.changes as f64,
            missing_sectors: missing.next_multiple_of(physical),
            rate_mb_per_s: self.rate(),
            possible_mb_per_s: self.possible_rate(),
        })
    }
}

/// A change of track that takes longer than its skew allows: times in ns.
#[derive(Clone, Copy)]
struct Late {
    gap: f64,
    switch: f64,
    /// Of a sector.
    width: f64,
}

impl Late {
    fn by(&self) -> f64 {
        self.switch - self.gap
    }
}
