//! A read larger than the buffer: when the buffer is full the media wait, and the next sector comes around a revolution
//! later. Followed sector by sector; only such reads need it.

use crate::buffer::Passes;
use crate::command::BusTiming;
use crate::mechanism::{Arm, Media, Pass};
use headstack_units::{Nanos, Op};

/// The read, so far: sectors come off the media as there is room, and leave over the bus.
#[derive(Clone, Debug)]
pub(super) struct Stall {
    /// The pass under way or to come, and how many of its sectors have been read.
    pass: Pass,
    taken: u32,
    passes: Passes,
    /// When each sector came into the buffer, and when each left, from the command's first on.
    arrived: Vec<Nanos>,
    left: Vec<Nanos>,
    lba: u64,
    total: usize,
    buffer: usize,
}

impl Stall {
    /// Of `total` sectors from `lba` on the first `cached` are in the buffer; `first` is the first pass over the media.
    pub(super) fn new(first: Pass, lba: u64, total: u64, cached: u64, buffer: u64) -> Self {
        Self {
            pass: first,
            taken: 0,
            passes: Passes::new(),
            arrived: vec![Nanos::ZERO; cached as usize],
            left: Vec::new(),
            lba,
            total: total as usize,
            buffer: buffer as usize,
        }
    }

    /// Reads the next sector, for which there must be room by an instant that is known.
    fn read_one(&mut self, media: &Media<'_>) {
        let index = self.arrived.len();
        let room = index.checked_sub(self.buffer).map_or(Nanos::ZERO, |oldest| self.left[oldest]);
        let pass = self.pass;
        let begins = if self.taken == 0 { pass.start } else { pass.sector_end(&media.epoch, self.taken) };
        // As with sectors: missed by one tick is on time.
        if room > begins + Nanos(1) {
            self.stall(media, room);
        }
        self.taken += 1;
        self.arrived.push(self.pass.sector_end(&media.epoch, self.taken));
        if self.taken == self.pass.sectors {
            self.passes.push(self.pass);
            self.taken = 0;
            let index = self.arrived.len();
            if index < self.total {
                let (arm, next) = (Arm::over(&self.pass.extent), self.lba + index as u64);
                let left = (self.total - index) as u64;
                self.pass = media.next_pass(self.pass.end, arm, next, left, Op::Read);
            }
        }
    }

    /// The buffer is full until `room`: the pass ends here, and its rest waits.
    fn stall(&mut self, media: &Media<'_>, room: Nanos) {
        let pass = self.pass;
        let rest = pass.sectors - self.taken;
        let (begin, ready) = if self.taken == 0 {
            (pass.begin, pass.ready)
        } else {
            let end = pass.sector_end(&media.epoch, self.taken);
            self.passes.push(Pass { sectors: self.taken, end, ..pass });
            (end, end)
        };
        let wait = ready.max(room);
        self.pass = media.pass_from(pass.extent, pass.offset + self.taken, rest, begin, ready, wait);
        self.taken = 0;
    }

    /// How many sectors have left.
    pub(super) fn sent(&self) -> u64 {
        self.left.len() as u64
    }

    /// The bus is there from `begin` on. It is kept to the last sector, or, where the drive `lets_go`, until the next is not
    /// there in time or `most` have left; returns when the last of them has.
    pub(super) fn send(
        &mut self,
        media: &Media<'_>,
        begin: Nanos,
        bus: &BusTiming,
        lets_go: bool,
        most: u64,
    ) -> Nanos {
        let bytes = u64::from(media.model.sector_bytes());
        // Sectors leave back to back; times follow from where that began, so that roundings do not add up.
        let (mut from, mut count) = (begin, 0);
        let end = |from: Nanos, count: u64| from + bus.transfer(Op::Read, count * bytes);
        let first = self.left.len();
        let stop = if lets_go { self.total.min(first + most as usize) } else { self.total };
        while self.left.len() < stop {
            let index = self.left.len();
            if index == self.arrived.len() {
                self.read_one(media);
            }
            let arrived = self.arrived[index];
            if arrived > end(from, count) {
                if lets_go && index > first {
                    break;
                }
                (from, count) = (arrived, 0);
            }
            count += 1;
            self.left.push(end(from, count));
        }
        end(from, count)
    }

    /// The media go on as far as there is room; returns when the first `count` sectors, or as many as the buffer takes, are
    /// in it.
    pub(super) fn fill(&mut self, media: &Media<'_>, count: u64) -> Nanos {
        let most = self.total.min(self.left.len() + self.buffer);
        while self.arrived.len() < most {
            self.read_one(media);
        }
        let wanted = (count as usize).min(most);
        self.arrived[self.left.len().min(wanted)..wanted].iter().copied().fold(Nanos::ZERO, Nanos::max)
    }

    /// The media work so far.
    pub(super) fn passes(&self, media: &Media<'_>) -> Passes {
        let mut passes = self.passes.clone();
        if self.taken > 0 {
            let end = self.pass.sector_end(&media.epoch, self.taken);
            passes.push(Pass { sectors: self.taken, end, ..self.pass });
        }
        passes
    }
}
