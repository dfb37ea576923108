//! The naive twin of a drive of several arms: its heads and the sectors they see, worked out in floating point.

use crate::arms::TURN_MS;
use proptest::prelude::*;

/// What carries heads of the naive drive.
#[derive(Clone, Copy, Debug)]
pub(crate) enum On {
    Arm(usize),
    /// Nothing that moves: these cylinders are under them.
    Fixed(u64, u64),
}

/// The naive drive: where its heads stand and what carries them, where each arm is, and how many cylinders a head reaches.
#[derive(Clone, Debug)]
pub(crate) struct Naive {
    heads: Vec<(f64, On)>,
    arms: Vec<(u64, u64)>,
    band: u64,
}

impl Naive {
    /// Arms with one head.
    pub(crate) fn of_arms(angles: &[f64]) -> Self {
        let heads = angles.iter().enumerate().map(|(arm, &stands)| (stands, On::Arm(arm))).collect();
        Self { heads, arms: vec![(0, 0); angles.len()], band: 100 }
    }

    /// The plain drive's layout by its definition: where a sector begins, in turns, and its track.
    fn place(lba: u64) -> (f64, (u64, u64)) {
        let (track, slot) = (lba / 100, lba % 100);
        let cylinder = track / 4;
        let skew = 10 * (track - cylinder) + 20 * cylinder;
        (((slot + skew) % 100) as f64 / 100.0, (cylinder, track % 4))
    }

    /// How far the arm goes along its heads' bands; another head is another surface or another band.
    fn move_ms(&self, from: (u64, u64), to: (u64, u64)) -> f64 {
        let d = (from.0 % self.band).abs_diff(to.0 % self.band) as f64;
        let seek = if d > 0.0 { 2.0 + (d - 1.0) * 9.8 / 98.0 } else { 0.0 };
        let is_same = from.1 == to.1 && from.0 / self.band == to.0 / self.band;
        seek.max(if is_same { 0.0 } else { 1.0 })
    }

    /// When a head is on track for a sector, and when the sector comes there; a moment late is on time.
    fn reach(&self, head: usize, at: f64, lba: u64) -> (f64, f64) {
        let (stands, on) = self.heads[head];
        let (angle, target) = Self::place(lba);
        let ready = match on {
            On::Arm(arm) => at + self.move_ms(self.arms[arm], target),
            On::Fixed(first, last) if (first..=last).contains(&target.0) => at,
            On::Fixed(..) => return (f64::INFINITY, f64::INFINITY),
        };
        let wait = (angle + stands - ready / TURN_MS).rem_euclid(1.0) * TURN_MS;
        (ready, if TURN_MS - wait < 1e-4 { ready } else { ready + wait })
    }

    /// Whether rounding decides which pair is the best: two are there at the same time, or the arm of one is on track just when
    /// its sector begins.
    pub(crate) fn is_close(&self, at: f64, waiting: &[u64]) -> bool {
        let pairs = waiting.iter().flat_map(|&lba| (0..self.heads.len()).map(move |head| (lba, head)));
        let mut reached: Vec<(f64, f64)> = pairs.map(|(lba, head)| self.reach(head, at, lba)).collect();
        reached.sort_by(|a, b| a.1.total_cmp(&b.1));
        let soonest = reached[0].1;
        reached.windows(2).any(|pair| pair[1].1 - pair[0].1 < 1e-4)
            || reached.iter().any(|&(ready, start)| {
                let wait = start - ready;
                (wait < 1e-4 || TURN_MS - wait < 1e-4) && ready < soonest + 1e-4
            })
    }

    /// Of the sectors that wait, the best with its head: the soonest, then the oldest, then the first head.
    pub(crate) fn best(&self, at: f64, waiting: &[u64]) -> (usize, usize) {
        let pairs = (0..waiting.len()).flat_map(|i| (0..self.heads.len()).map(move |head| (i, head)));
        let start = |&(i, head): &(usize, usize)| self.reach(head, at, waiting[i]).1;
        pairs.min_by(|a, b| start(a).total_cmp(&start(b))).expect("something waits")
    }

    /// The head serves so many sectors: seek and rotation in ms, and when they have passed. Within the cylinders of heads that stand
    /// still the next track is there at once; beyond them the first arm goes on.
    pub(crate) fn serve(&mut self, head: usize, at: f64, mut lba: u64, mut sectors: u64) -> (f64, f64, f64) {
        let (ready, mut start) = self.reach(head, at, lba);
        let (mut seek, mut rotation) = (ready - at, start - ready);
        let (mut stands, mut on) = self.heads[head];
        loop {
            let (_, track) = Self::place(lba);
            if let On::Arm(arm) = on {
                self.arms[arm] = track;
            }
            let here = sectors.min(100 - lba % 100);
            let end = start + here as f64 * TURN_MS / 100.0;
            (lba, sectors) = (lba + here, sectors - here);
            if sectors == 0 {
                return (seek, rotation, end);
            }
            let (angle, next) = Self::place(lba);
            let switch = match on {
                On::Fixed(first, last) if (first..=last).contains(&next.0) => 0.0,
                On::Arm(_) | On::Fixed(..) => self.move_ms(track, next),
            };
            if matches!(on, On::Fixed(first, last) if !(first..=last).contains(&next.0)) {
                (stands, on) = self.heads[0];
            }
            let wait = (angle + stands - (end + switch) / TURN_MS).rem_euclid(1.0) * TURN_MS;
            let wait = if TURN_MS - wait < 1e-4 { 0.0 } else { wait };
            (seek, rotation, start) = (seek + switch, rotation + wait, end + switch + wait);
        }
    }
}

pub(crate) fn any_angles() -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec((0_u32..1000).prop_map(|part| f64::from(part) / 1000.0), 1..5)
}

/// Arms, their heads and heads that stand still: as a drive file says it, and the naive drive.
pub(crate) fn any_heads() -> impl Strategy<Value = (String, Naive)> {
    let arms_alone = any_angles().prop_map(|angles| {
        (format!("count = {}, angles_revolutions = {angles:?}", angles.len()), Naive::of_arms(&angles))
    });
    // Where they stand unless something else is said: all at equal distances.
    let even = (1_usize..4, 2_usize..4).prop_map(|(arms, heads)| {
        let each = arms * heads;
        let stands = (0..each).map(|head| (head as f64 / each as f64, On::Arm(head / heads))).collect();
        let naive = Naive { heads: stands, ..Naive::of_arms(&vec![0.0; arms]) };
        (format!("count = {arms}, heads_per_surface = {heads}"), naive)
    });
    let uneven = (any_angles(), any_angles()).prop_map(|(arms, heads)| {
        let of_arm = |arm: usize| heads.iter().map(move |turns| (turns, On::Arm(arm)));
        let stands = (0..arms.len()).flat_map(|arm| {
            of_arm(arm).map({
                let angle = arms[arm];
                move |(turns, on)| (angle + turns, on)
            })
        });
        let text = format!(
            "count = {}, angles_revolutions = {arms:?}, heads_per_surface = {}, head_angles_revolutions = {heads:?}",
            arms.len(),
            heads.len()
        );
        (text, Naive { heads: stands.collect(), ..Naive::of_arms(&arms) })
    });
    let radial = (any_angles(), 2_u64..9).prop_map(|(angles, heads)| {
        let text = format!(
            "count = {}, angles_revolutions = {angles:?}, heads_per_surface = {heads}, head_placement = \"radial\"",
            angles.len()
        );
        (text, Naive { band: 100_u64.div_ceil(heads), ..Naive::of_arms(&angles) })
    });
    let range = (0_u64..90, 0_u64..40, 0_u32..1000);
    let fixed = (any_angles(), prop::collection::vec(range, 1..3)).prop_map(|(angles, ranges)| {
        let mut naive = Naive::of_arms(&angles);
        let mut texts = Vec::new();
        for (first, more, part) in ranges {
            let (last, angle) = ((first + more).min(99), f64::from(part) / 1000.0);
            naive.heads.push((angle, On::Fixed(first, last)));
            texts.push(format!(
                "{{ first_cylinder = {first}, last_cylinder = {last}, angle_revolutions = {angle} }}"
            ));
        }
        let fixed = texts.join(", ");
        (format!("count = {}, angles_revolutions = {angles:?}, fixed_heads = [{fixed}]", angles.len()), naive)
    });
    prop_oneof![arms_alone, even, uneven, radial, fixed]
}
