//! Drives whose every angle is known, and what would be measured on them.

use headstack_drive::layout::Layout;
use headstack_drive::spec::{LayoutSpec, Order, SpareGroup, SparesSpec, ZoneSpec};
use headstack_phase::Observation;
use headstack_units::Nanos;

/// Splitmix64: the tests' own stream.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Uniform in [0, 1).
    pub fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / 9_007_199_254_740_992.0
    }

    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    pub fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    /// Standard deviation 1, nearly normal.
    pub fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.unit()).sum::<f64>() - 6.0
    }
}

/// A drive as it is.
#[derive(Clone, Debug)]
pub struct Truth {
    /// Layout with the real skews and zone offsets.
    pub layout: LayoutSpec,
    /// Ranges of so many cylinders, and what each zone adds to the skew where a range begins, in turns.
    pub ranges: Option<(u32, Vec<f64>)>,
    pub period_ns: f64,
    /// Instants at which the phase jumps, and by how many turns.
    pub breaks: Vec<(u64, f64)>,
    /// Standard deviation of a measured instant.
    pub noise_ns: f64,
    /// Share of observations of any phase.
    pub outliers: f64,
}

/// What is measured: the observation, and whether it is a right one.
pub type Seen = (Observation, bool);

pub fn zone(first_cylinder: u32, cylinders: u32, sectors_per_track: u32) -> ZoneSpec {
    ZoneSpec {
        sectors_per_track_by_head: Vec::new(),
        first_cylinder,
        last_cylinder: first_cylinder + cylinders - 1,
        sectors_per_track,
        spare_sectors_per_track: 0,
        spare_tracks_per_cylinder: 0,
        spare_tracks_at_end: 0,
        empty_sectors_at_front: 0,
        track_skew_sectors: 0.0,
        cylinder_skew_sectors: 0.0,
        first_sector_revolutions: 0.0,
        spares: None,
    }
}

/// Forty spare sectors for every six cylinders.
pub fn spares() -> SparesSpec {
    SparesSpec {
        per: SpareGroup::Cylinders,
        cylinders: Some(6),
        sectors: 40,
        at_front: false,
        slipped_slots: Vec::new(),
        range_skew_sectors: 0.0,
    }
}

pub fn layout(order: Order, heads: u32, zone: Vec<ZoneSpec>) -> LayoutSpec {
    LayoutSpec {
        head_angle_revolutions: Vec::new(),
        order,
        heads,
        group_cylinders: (order == Order::SerpentineBySurface).then_some(40),
        cylinders: None,
        capacity_sectors: None,
        zone,
        run: Vec::new(),
        region: Vec::new(),
        slipped_sectors: Vec::new(),
        slipped_tracks: Vec::new(),
        remap: Vec::new(),
    }
}

impl Truth {
    /// Any drive: zones, heads, order, fractional skews, perhaps ranges and offsets, half a percent of speed, breaks.
    pub fn any(random: &mut Random) -> Self {
        let order = [Order::Classical, Order::SerpentineByZone, Order::SerpentineByCylinder]
            [random.below(3) as usize];
        let heads = 2 + random.below(11) as u32;
        let (track, cylinder) = (random.between(0.05, 0.45), random.unit());
        let offsets = random.below(2) == 1;
        let ranges = random.below(3) == 0;
        let mut first = 0;
        let zones = 1 + random.below(5);
        let zones = (0..zones).map(|number| {
            let cylinders = 200 + random.below(900) as u32;
            let mut zone = zone(first, cylinders, 250 - 20 * number as u32);
            first += cylinders + random.below(2) as u32;
            let slots = f64::from(zone.sectors_per_track);
            zone.track_skew_sectors = track * slots;
            zone.cylinder_skew_sectors = cylinder * slots;
            zone.first_sector_revolutions = if offsets { random.unit() } else { 0.0 };
            zone.spares = ranges.then(spares);
            zone
        });
        let layout = layout(order, heads, zones.collect());
        let extra = layout.zone.iter().map(|_| random.unit()).collect();
        let period_ns = 60e9 / 7200.0 * (1.0 + random.between(-0.005, 0.005));
        let breaks = (0..random.below(4)).map(|_| (random.below(200_000_000_000), random.unit()));
        Self {
            breaks: breaks.collect(),
            layout,
            ranges: ranges.then_some((6, extra)),
            period_ns,
            noise_ns: 50_000.0,
            outliers: random.between(0.1, 0.3),
        }
    }

    /// The drive as a file would have it: skews in whole sectors, no offsets.
    pub fn file(&self) -> LayoutSpec {
        let mut file = self.layout.clone();
        for zone in &mut file.zone {
            zone.track_skew_sectors = zone.track_skew_sectors.floor();
            zone.cylinder_skew_sectors = zone.cylinder_skew_sectors.floor();
            zone.first_sector_revolutions = 0.0;
        }
        file
    }

    /// The angle at which a sector ends, in turns.
    pub fn end_revolutions(&self, layout: &Layout, lba: u64) -> f64 {
        let place = layout.locate(lba);
        let extra = self.ranges.as_ref().map_or(0.0, |(length, extra)| {
            let first = self.layout.zone[place.zone as usize].first_cylinder;
            f64::from((place.cylinder - first) / length) * extra[place.zone as usize]
        });
        place.start.as_turns() + 1.0 / f64::from(place.slots) + extra
    }

    fn jumped(&self, ns: f64) -> f64 {
        self.breaks.iter().filter(|&&(at, _)| at as f64 <= ns).map(|&(_, turns)| turns).sum()
    }

    /// Half of the requests near the one before, half anywhere; 10 to 80 ms apart, and the wait for the sector.
    pub fn observe(&self, random: &mut Random, count: u64) -> Vec<Seen> {
        self.observe_where(random, count, |random| random.below(2) == 0)
    }

    /// The same, but that 49 of 50 requests are near the one before.
    pub fn observe_staying(&self, random: &mut Random, count: u64) -> Vec<Seen> {
        self.observe_where(random, count, |random| random.below(50) > 0)
    }

    fn observe_where(
        &self,
        random: &mut Random,
        count: u64,
        is_near: impl Fn(&mut Random) -> bool,
    ) -> Vec<Seen> {
        let layout = Layout::new(&self.layout);
        let mut ns = 0.0;
        let mut lba = 0;
        let mut seen = Vec::new();
        for index in 0..count {
            ns += random.between(10e6, 80e6);
            let near = (lba + random.below(8000)).saturating_sub(4000).min(layout.capacity() - 1);
            lba = if is_near(random) { near } else { random.below(layout.capacity()) };
            let wrong = random.unit() < self.outliers;
            let wait = if wrong {
                random.unit()
            } else {
                (self.end_revolutions(&layout, lba) - ns / self.period_ns - self.jumped(ns)).rem_euclid(1.0)
            };
            ns += wait * self.period_ns;
            let at = Nanos((ns + self.noise_ns * random.normal()).max(0.0) as u64);
            seen.push((Observation { index, at, lba }, !wrong));
        }
        seen
    }
}
