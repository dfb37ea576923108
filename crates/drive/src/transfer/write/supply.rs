//! When the data of each sector of a write are in the buffer.

use crate::command::BusTiming;
use headstack_units::{Nanos, Op};

/// Sectors that came in one bus transfer.
#[derive(Clone, Copy, Debug)]
struct Burst {
    /// The first sector, counted from the command's first, and one after the last.
    first: u64,
    end: u64,
    /// The first byte came.
    begin: Nanos,
}

/// The data of a write on their way into the buffer.
#[derive(Clone, Debug, Default)]
pub(super) struct Supply {
    bursts: Vec<Burst>,
    sector_bytes: u64,
    bus: BusTiming,
    /// Sectors of the media's first physical sector that come from the media themselves, and sectors that come at all.
    lead_in: u64,
    count: u64,
    /// Sectors the buffer holds; where there is none, nothing waits for room.
    room: u64,
    /// Whether a transfer ends where the buffer is full. Otherwise the one transfer waits for room.
    lets_go: bool,
    /// In one transfer that waits for room: arrivals of the sectors that had to, of sector `room` and so on.
    waited: Vec<Nanos>,
    /// In bursts, when those written so far were on the media: room for as many.
    written: Vec<Nanos>,
}

impl Supply {
    /// Nothing has come yet of `count` sectors, the first `lead_in` sectors of the media work not counted.
    #[inline]
    pub(super) fn begin(
        &mut self,
        sector_bytes: u32,
        buffer: u64,
        bus: &BusTiming,
        lead_in: u64,
        count: u64,
    ) {
        self.bursts.clear();
        self.sector_bytes = u64::from(sector_bytes);
        self.bus = *bus;
        self.lead_in = lead_in;
        self.count = count;
        self.room = buffer;
        if buffer == 0 {
            // The host gives each sector as it passes, as it takes those of a read.
            (self.bus, self.room) = (self.bus.in_no_time(), u64::MAX >> 1);
        }
        self.lets_go = false;
        self.waited.clear();
        self.written.clear();
    }

    /// Sectors of the media work before the first that comes.
    pub(super) fn lead_in(&self) -> u64 {
        self.lead_in
    }

    /// `sectors` more come from `begin` on, and the bus is let go of after them where `lets_go`.
    #[inline]
    pub(super) fn add(&mut self, sectors: u64, begin: Nanos, lets_go: bool) {
        let first = self.bursts.last().map_or(0, |burst| burst.end);
        self.bursts.push(Burst { first, end: first + sectors, begin });
        self.lets_go = lets_go;
    }

    /// How many sectors have come or are coming.
    #[inline]
    pub(super) fn come(&self) -> u64 {
        self.bursts.last().map_or(0, |burst| burst.end)
    }

    /// How many sectors the buffer holds.
    pub(super) fn room(&self) -> u64 {
        self.room
    }

    /// How many sectors come in all.
    pub(super) fn count(&self) -> u64 {
        self.count
    }

    /// Which of the command's sectors sector `index` of the media work waits for.
    #[inline]
    pub(super) fn own_index(&self, index: u64) -> u64 {
        index.saturating_sub(self.lead_in).min(self.count - 1)
    }

    /// The burst with which the command's sector `own` comes.
    #[inline]
    fn burst_of(&self, own: u64) -> Option<&Burst> {
        // Mostly there is but one.
        let (first, more) = self.bursts.split_first()?;
        if own < first.end {
            return Some(first);
        }
        more.get(more.partition_point(|burst| burst.end <= own))
    }

    /// Sector `index` of the media work (0 for the first) is in the buffer; [`Nanos::MAX`] while that is not known.
    #[inline]
    pub(super) fn arrival(&self, index: u64) -> Nanos {
        let index = self.own_index(index);
        if !self.lets_go
            && let Some(waited) = index.checked_sub(self.room)
        {
            return self.waited.get(waited as usize).copied().unwrap_or(Nanos::MAX);
        }
        self.burst_of(index).map_or(Nanos::MAX, |burst| {
            burst.begin + self.bus.transfer(Op::Write, (index + 1 - burst.first) * self.sector_bytes)
        })
    }

    /// Whether a write of `total` sectors on the media, for which the buffer has room, is all there at `at`.
    #[inline]
    pub(super) fn has_all_by(&self, total: u64, at: Nanos) -> bool {
        !self.is_bounded(total) && self.arrival(total - 1) <= at
    }

    /// The last sector of the media work that can be counted on when sector `index` goes to the media: what the buffer
    /// holds, and in bursts, what comes with the same burst.
    #[inline]
    pub(super) fn counted_on(&self, index: u64) -> u64 {
        let held = index + self.room - 1;
        if !self.lets_go {
            return held;
        }
        let own = self.own_index(index);
        self.burst_of(own).map_or(held, |burst| held.min(burst.end - 1 + self.lead_in).max(index))
    }

    /// The next sector in order is on the media at `at`: there is room for another.
    pub(super) fn make_room(&mut self, at: Nanos) {
        if self.lets_go {
            self.written.push(at);
            return;
        }
        let before = self.arrival(self.lead_in + self.room + self.waited.len() as u64 - 1);
        self.waited.push(before.max(at) + self.bus.transfer(Op::Write, self.sector_bytes));
    }

    /// In bursts: when the media had taken `sectors` out of the buffer, as far as that is known.
    pub(super) fn room_for(&self, sectors: u64) -> Option<Nanos> {
        let last = (self.lead_in + sectors).checked_sub(1)?;
        self.written.get(last as usize).copied()
    }

    /// The media work is followed anew from where so many sectors had been written.
    pub(super) fn rewind_to(&mut self, written: usize) {
        self.written.truncate(written);
    }

    /// In bursts: how many sectors are known to be on the media.
    pub(super) fn written(&self) -> usize {
        self.written.len()
    }

    /// Whether a write of `total` sectors on the media needs more room than the buffer has.
    #[inline]
    pub(super) fn is_bounded(&self, total: u64) -> bool {
        total > self.room && self.count > 1
    }
}
