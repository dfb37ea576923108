//! Where the requests of a made trace begin: where those of the original do, or beside; and as often where one began before.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use rand::RngExt;
use rand_pcg::Pcg64;

use super::{DeviceModel, Place, Sample};

/// Runs that are followed at a time.
const RUNS: usize = 32;
/// Places that are tried to find one where nothing began yet, the first within so many times the request's size, each other
/// within twice as many. Farther away than need be, they would change distances to what is not moved.
const TRIES: u32 = 16;
const BESIDE: i64 = 4;
/// Starts that are remembered to go back to.
const HISTORY: usize = 1 << 20;

/// The made places of one device.
#[derive(Default)]
pub(super) struct Places {
    /// A start of the original, and the last that was made of it.
    made: BTreeMap<u64, u64>,
    /// Where the last requests ended, in the original and here, the last one first.
    ends: VecDeque<(u64, u64)>,
    /// Starts of the last requests, and the same in their order.
    begun: BTreeSet<u64>,
    order: VecDeque<u64>,
    /// Requests that should have begun, and did begin, where none did before.
    fresh_wanted: u64,
    fresh: u64,
    /// How far beside its original the last place lies that is of a second copy, in sectors.
    beside: i64,
}

impl Places {
    /// Where the request begins that `sample` stands for.
    /// `shift` sectors from its own if it is new and its block stands for another.
    pub(super) fn begin(
        &mut self,
        device: &DeviceModel,
        sample: &Sample,
        shift: i64,
        random: &mut Pcg64,
    ) -> u64 {
        let returns = match sample.place {
            Place::Fresh => false,
            Place::Again => true,
            Place::Unknown => {
                let [fresh, again] = device.fresh_and_again;
                random.random_range(0..(fresh + again).max(1)) < again
            }
        };
        self.fresh_wanted += u64::from(!returns);
        let start = match self.goes_on(device, sample, returns) {
            Some(end) => end,
            None => self.place(device, sample, returns, shift, random),
        };
        self.made.insert(sample.lba, start);
        self.fresh += u64::from(self.remember(start));
        let size = u64::from(sample.sectors);
        self.ends.truncate(RUNS - 1);
        self.ends.push_front((sample.lba.saturating_add(size), start.saturating_add(size)));
        start
    }

    /// The end of the run that the request goes on with. Among many runs one ends there by chance; a return is the better
    /// reason.
    fn goes_on(&mut self, device: &DeviceModel, sample: &Sample, returns: bool) -> Option<u64> {
        let depth = self.ends.iter().position(|&(original, _)| original == sample.lba)?;
        let end = self.ends[depth].1;
        // Another copy of the run may have been here before.
        let taken = !returns && self.fresh < self.fresh_wanted && self.begun.contains(&end);
        if (depth > 0 && returns) || end > device.last_lba || taken {
            return None;
        }
        self.ends.remove(depth).map(|(_, here)| here)
    }

    fn place(
        &mut self,
        device: &DeviceModel,
        sample: &Sample,
        returns: bool,
        shift: i64,
        random: &mut Pcg64,
    ) -> u64 {
        // A stream that returns goes on, too, where that is a return here, or returns are enough.
        let goes_on = |place: &u64| !returns || self.begun.contains(place) || self.fresh < self.fresh_wanted;
        let shifted = Some(shift).filter(|&by| by != 0).and_then(|by| moved(device, sample.lba, by));
        let shifted = shifted.filter(goes_on);
        let usual = shifted.or_else(|| self.made.get(&sample.lba).copied()).unwrap_or(sample.lba);
        let again = self.begun.contains(&usual);
        if returns || !again || self.fresh >= self.fresh_wanted {
            return usual;
        }
        // Twice the same excerpt: another place beside, at the distance of the last such one, so that distances are kept.
        for turn in 0..=TRIES {
            if turn > 0 {
                self.beside = beside(sample, turn, random);
            }
            let place = moved(device, shifted.unwrap_or(sample.lba), self.beside)
                .filter(|place| !self.begun.contains(place));
            if let Some(place) = place {
                return place;
            }
        }
        usual
    }

    /// Whether it is new.
    fn remember(&mut self, start: u64) -> bool {
        let new = self.begun.insert(start);
        if new {
            self.order.push_back(start);
            if self.order.len() > HISTORY
                && let Some(oldest) = self.order.pop_front()
            {
                self.begun.remove(&oldest);
            }
        }
        new
    }
}

/// A distance in sectors, up or down.
fn beside(sample: &Sample, turn: u32, random: &mut Pcg64) -> i64 {
    let most = (i64::from(sample.sectors) * BESIDE) << turn;
    random.random_range(-most..=most)
}

/// A place that is so far away, on the grid of the device and within it.
fn moved(device: &DeviceModel, place: u64, by: i64) -> Option<u64> {
    let grid = i128::from(device.grid_sectors);
    let place = u64::try_from(i128::from(place) + i128::from(by) / grid * grid).ok()?;
    (device.first_lba..=device.last_lba).contains(&place).then_some(place)
}
