//! A read once the controller has turned to it: sectors come off the media (or lie in the buffer already) and leave over
//! the bus; producer and consumer around the buffer.

use crate::command::{BusTiming, Busy, CacheResult, Command, Phases, SectorPassed};
use crate::mechanics::Epoch;
use crate::media::{Arm, Media, Pass};
use crate::model::DriveModel;
use headstack_units::{Lba, Nanos, Op};

/// Everything about a read that is known before the bus is granted.
#[derive(Clone, Debug)]
pub(crate) struct ReadPlan {
    pub(crate) command: Command,
    /// Sectors at the front that lie in the buffer already.
    pub(crate) cached: u64,
    /// Media work, in the order of time.
    pub(crate) passes: Vec<Pass>,
    /// When the command is decoded.
    pub(crate) decoded: Nanos,
    /// Phases from submission to `decoded`: the path that needs no mechanism.
    pub(crate) lead: Phases,
    /// Where the media's path begins, and the phases from submission to there.
    pub(crate) media_base: Nanos,
    pub(crate) media_lead: Phases,
    /// The rotation the plan was made with.
    pub(crate) epoch: Epoch,
    /// When the bus is wanted, and the sector it waited for.
    pub(crate) bus_at: Nanos,
    pub(crate) fence_sector: Option<u64>,
    /// The sector, counted from the request's first, that came off the media just then, and no later.
    pub(crate) fence_arrival: Option<u64>,
    /// Gross arm movement that the passes do not show (under the overhead).
    pub(crate) hidden_seek: Nanos,
    pub(crate) cache: CacheResult,
}

/// How a read ends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReadEnd {
    /// The last byte has left.
    pub(crate) finish: Nanos,
    pub(crate) phases: Phases,
    pub(crate) busy: Busy,
    /// The last sector on the critical path.
    pub(crate) passed: Option<SectorPassed>,
}

impl ReadPlan {
    fn sectors(&self) -> u64 {
        u64::from(self.command.sectors)
    }

    /// The end of the media work.
    pub(crate) fn media_end(&self) -> Nanos {
        self.passes.iter().map(|pass| pass.end).max().unwrap_or(self.decoded)
    }

    /// First and last sector of a pass that belong to the request and are not in the buffer, counted from the request's
    /// first; `None` where the pass has none.
    fn share(&self, pass: &Pass) -> Option<(u64, u64)> {
        let first = (self.command.lba.0 + self.cached).max(pass.lba());
        let end = (self.command.lba.0 + self.sectors()).min(pass.lba() + u64::from(pass.sectors));
        (first < end).then(|| (first - self.command.lba.0, end - 1 - self.command.lba.0))
    }

    /// When sector `index` of the request has come off the media in this pass.
    #[inline]
    fn arrival(&self, media: &Media<'_>, pass: &Pass, index: u64) -> Nanos {
        let within = self.command.lba.0 + index - pass.lba();
        pass.sector_end(&media.epoch, within as u32 + 1)
    }

    /// The media work without what read-ahead does behind the request's last sector.
    pub(crate) fn own_passes(&self) -> Vec<Pass> {
        let end = self.command.lba.0 + self.sectors();
        let mut own = self.passes.clone();
        for pass in &mut own {
            let beyond = (pass.lba() + u64::from(pass.sectors)).saturating_sub(end) as u32;
            if (1..pass.sectors).contains(&beyond) {
                pass.end = pass.sector_end(&self.epoch, pass.sectors - beyond);
                pass.sectors -= beyond;
            }
        }
        own
    }

    /// Sets when the bus is wanted: the fence is in the buffer, or the first track where that counts, or everything.
    pub(crate) fn set_fence(&mut self, media: &Media<'_>) {
        let spec = media.model.spec();
        let fence = media.model.sizes.read_fence_of(self.sectors());
        if fence <= self.cached {
            self.bus_at = self.decoded;
            return;
        }
        let mut reached = self.decoded;
        self.fence_sector = None;
        self.fence_arrival = None;
        for pass in &self.passes {
            if let Some((first, last)) = self.share(pass)
                && first < fence
            {
                let index = last.min(fence - 1);
                let arrived = self.arrival(media, pass, index);
                if arrived > reached {
                    reached = arrived;
                    self.fence_sector = Some(self.command.lba.0 + index);
                    self.fence_arrival = Some(index);
                }
            }
        }
        if spec.buffer.read_fence_at_track_end
            && let Some(first) = self.passes.first()
        {
            let track_end = self
                .passes
                .iter()
                .take_while(|pass| Arm::over(&pass.extent) == Arm::over(&first.extent))
                .map(|pass| pass.end)
                .max();
            let track_end = track_end.unwrap_or(reached).max(self.decoded);
            if track_end < reached {
                reached = track_end;
                self.fence_arrival = None;
                self.fence_sector = Some(first.lba() + u64::from(first.sectors) - 1);
            }
        }
        self.bus_at = reached;
    }

    /// Phases of the media's path up to `until`: what the mechanism did in each stretch of it.
    pub(crate) fn media_path(&self, until: Nanos) -> Phases {
        path(&self.passes, self.media_base, until, self.media_lead)
    }

    /// The end of the read when the bus is granted at `granted` and the buffer holds all of it.
    pub(crate) fn end(&self, media: &Media<'_>, granted: Nanos, bus: &BusTiming) -> ReadEnd {
        let bytes = u64::from(media.model.sector_bytes());
        let rest = |from: u64| bus.transfer(Op::Read, (self.sectors() - from) * bytes);
        let setup = self.bus_setup(media.model, bus);
        // The path by the grant: its latest input is the fence, or nothing but the decoding.
        let passed = self
            .fence_sector
            .filter(|_| granted == self.bus_at)
            .map(|lba| SectorPassed { lba: Lba(lba), at: self.bus_at });
        let mut last_byte = LastByte { finish: granted + setup + rest(0), binding: None, passed };
        for pass in &self.passes {
            let Some((first, last)) = self.share(pass) else { continue };
            for index in [first, last] {
                // The fence's has been worked out before.
                let arrived = if self.fence_arrival == Some(index) {
                    self.bus_at
                } else {
                    self.arrival(media, pass, index).max(self.decoded)
                };
                last_byte.wait_for(self.command.lba.0 + index, arrived, rest(index), self.decoded);
            }
        }
        let LastByte { finish, binding, passed } = last_byte;
        let mut phases = match binding {
            Some(arrived) => {
                let mut phases = self.media_path(arrived);
                phases.bus += finish - arrived;
                phases
            }
            None => self.path_by_bus(granted, finish),
        };
        let completion = media.model.overhead.read_completion;
        phases.overhead += completion;
        let busy = self.busy(setup + rest(0));
        ReadEnd { finish: finish + completion, phases, busy, passed }
    }

    /// The path of a read whose last byte was limited by the grant of the bus.
    pub(crate) fn path_by_bus(&self, granted: Nanos, finish: Nanos) -> Phases {
        let mut phases = if self.bus_at > self.decoded { self.media_path(self.bus_at) } else { self.lead };
        phases.queue += granted - self.bus_at;
        phases.bus += finish - granted;
        phases
    }

    /// What a transfer costs before its first byte.
    pub(crate) fn bus_setup(&self, model: &DriveModel, bus: &BusTiming) -> Nanos {
        let reconnect = !self.passes.is_empty() && bus.disconnects;
        bus.arbitration + model.overhead.preparation + if reconnect { bus.reconnect } else { Nanos::ZERO }
    }

    /// Gross work.
    pub(crate) fn busy(&self, bus: Nanos) -> Busy {
        let mut busy = busy_of(&self.passes, self.decoded);
        busy.seek += self.hidden_seek;
        busy.bus = bus;
        busy
    }
}

/// The way of a read's last byte: when it has left, and what it waited for.
pub(crate) struct LastByte {
    pub(crate) finish: Nanos,
    /// When the sector came off the media on which that hangs; `None` where it hangs on the grant of the bus.
    pub(crate) binding: Option<Nanos>,
    pub(crate) passed: Option<SectorPassed>,
}

impl LastByte {
    /// Sector `lba` is in the buffer at `arrived`, and the bus takes `rest` from it on to the last.
    #[inline]
    pub(crate) fn wait_for(&mut self, lba: u64, arrived: Nanos, rest: Nanos, decoded: Nanos) {
        let candidate = arrived + rest;
        // Ties: media before bus, and the largest index.
        if candidate >= self.finish {
            self.finish = candidate;
            self.binding = Some(arrived);
            self.passed = (arrived > decoded).then_some(SectorPassed { lba: Lba(lba), at: arrived });
        }
    }
}

/// Phases along the mechanism's time line from `base` to `until`.
#[inline]
pub(crate) fn path(passes: &[Pass], base: Nanos, until: Nanos, lead: Phases) -> Phases {
    let mut phases = lead;
    let between = |from: Nanos, to: Nanos| to.min(until).saturating_sub(from.max(base));
    for pass in passes {
        phases.seek += between(pass.begin, pass.ready);
        phases.rotation += between(pass.ready, pass.start);
        phases.transfer += between(pass.start, pass.end);
    }
    phases
}

/// Gross work of passes; of read-ahead under way only what came after `from` counts.
#[inline]
pub(crate) fn busy_of(passes: &[Pass], from: Nanos) -> Busy {
    let mut busy = Busy::default();
    for pass in passes {
        add_busy(&mut busy, pass, from);
    }
    busy
}

/// Adds the gross work of a pass.
#[inline]
pub(crate) fn add_busy(busy: &mut Busy, pass: &Pass, from: Nanos) {
    busy.seek += pass.ready.saturating_sub(pass.begin);
    busy.rotation += pass.start.saturating_sub(pass.ready);
    busy.transfer += pass.end.saturating_sub(pass.start.max(from.min(pass.end)));
}

/// The media work up to address `end` in the order of addresses, the first pass being given; for a write, one whose data
/// are all in the buffer.
pub(crate) fn passes_in_order(media: &Media<'_>, first: Pass, end: u64, op: Op, passes: &mut Vec<Pass>) {
    let mut pass = first;
    loop {
        passes.push(pass);
        let next = pass.lba() + u64::from(pass.sectors);
        if next >= end {
            return;
        }
        pass = media.next_pass(pass.end, Arm::over(&pass.extent), next, end - next, op);
    }
}

/// The media work of a read that takes the sectors of each track as they come ("zero-latency read"). Returns the
/// address from which the first track was read into the buffer.
pub(crate) fn passes_on_arrival(media: &Media<'_>, first: Pass, end: u64, passes: &mut Vec<Pass>) -> u64 {
    let mut pass = first;
    let landed = landing(media, &first);
    loop {
        let extent = pass.extent;
        if let Some(late) = media.landed_inside(&pass) {
            let tail =
                media.pass_from(extent, late, extent.sectors - late, pass.begin, pass.ready, pass.ready);
            let head = media.pass_from(extent, 0, late, tail.end, tail.end, tail.end);
            passes.push(tail);
            pass = head;
        }
        passes.push(pass);
        let next = extent.lba + u64::from(extent.sectors);
        if next >= end {
            return landed;
        }
        pass = media.next_pass(pass.end, Arm::over(&extent), next, end - next, Op::Read);
    }
}

/// The first address that passes under the head on its way to the first extent.
fn landing(media: &Media<'_>, first: &Pass) -> u64 {
    let (track_start, _) = media.model.layout.track_range(first.lba());
    let ahead = media.epoch.angle(first.ready).until(first.extent.start);
    let whole = ahead.0 / first.extent.slot_width.0.max(1);
    first.lba() - whole.min(first.lba() - track_start)
}
