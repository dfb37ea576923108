//! What it takes to reach a waiting command from where the mechanism is.

use crate::command::{BusTiming, Command};
use crate::mechanics::Epoch;
use crate::mechanism::{Arm, Media, Other, Rests};
use crate::model::DriveModel;
use crate::scheduler::Target;
use crate::spec::Carrier;
use headstack_units::{Angle, Nanos, Op, RequestFlags};

/// The mechanism at an instant of decision: when the first sector of any command would come under the head, if that
/// command were chosen now.
///
/// Overheads, the wait for the mechanism, seek, head switch, settle, the data of a write on their way over a free bus,
/// and rotation are in it; what the cache might save is not.
#[derive(Clone, Copy, Debug)]
pub struct Estimate<'a> {
    model: &'a DriveModel,
    epoch: Epoch,
    /// For reads, for writes.
    seek_paths: [SeekPath; 2],
    supply: Supply,
    /// Sectors of a write that goes into the buffer at once, at most.
    room: u64,
    /// Waits for a first sector are scaled.
    scales: bool,
}

/// How the arm sets out for a direction of transfer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SeekPath {
    /// The arm starts here,
    pub(crate) from: Nanos,
    /// and counts as on track no sooner than this.
    pub(crate) not_before: Nanos,
    /// Where it is when it starts.
    pub(crate) arm: Arm,
}

/// How the data of a write come.
#[derive(Clone, Copy, Debug)]
struct Supply {
    bus: BusTiming,
    /// The first byte comes here, if the bus need not wait for the arm.
    begin: Nanos,
    /// Otherwise this long after the arm is on track.
    after_arm: Option<Nanos>,
    /// From the data's being there to the media's readiness.
    start: Nanos,
    sector_bytes: u64,
}

impl<'a> Estimate<'a> {
    /// From the seek paths of reads and writes. The data of a write are asked for at `data_from`.
    pub(crate) fn new(
        model: &'a DriveModel,
        epoch: Epoch,
        seek_paths: [SeekPath; 2],
        data_from: Nanos,
    ) -> Self {
        let bus = model.bus();
        let setup = bus.arbitration + model.overhead.preparation;
        let beside_arm = model.spec().buffer.write_overlaps_seek && model.sizes.buffer > 0;
        let supply = Supply {
            bus,
            begin: data_from + setup,
            after_arm: (!beside_arm)
                .then_some(setup + if bus.disconnects { bus.reconnect } else { Nanos::ZERO }),
            start: model.overhead.write_start,
            sector_bytes: u64::from(model.sector_bytes()),
        };
        let seek_paths = seek_paths
            .map(|seek_path| SeekPath { arm: Arm::on(model.arm_track(seek_path.arm.track())), ..seek_path });
        Self { model, epoch, seek_paths, supply, room: 0, scales: model.scales_rotation() }
    }

    /// The same for other heads of the drive: they set out when these could, from where they rest.
    pub(crate) fn of_arm(&self, other: &Other) -> Self {
        let moved = match self.rests(other) {
            None => *self,
            Some(arm) => self.starting_at(self.model.arm_track(arm.track())),
        };
        moved.of_heads(other)
    }

    /// Where the arm of other heads rests; `None` where it is where the heads put to work last are.
    pub(crate) fn rests(&self, other: &Other) -> Option<Arm> {
        match other.rests {
            Rests::Here => None,
            Rests::At(arm) => Some(arm),
            Rests::UnlessLeft(fixed, arm) => {
                let at = self.cylinder(Op::Read);
                self.model.reach.fixed_over(fixed).contains(&at).then_some(arm)
            }
        }
    }

    /// Of these heads, the arm being where it is.
    pub(crate) fn of_heads(&self, other: &Other) -> Self {
        let estimate = match other.carrier {
            Carrier::Arm(_) => *self,
            Carrier::Fixed(number) => self.starting_at(self.model.reach.fixed(number)),
        };
        estimate.seen_from(other.later)
    }

    fn starting_at(&self, track: (u32, u32)) -> Self {
        let arm = Arm::on(track);
        Self { seek_paths: self.seek_paths.map(|seek_path| SeekPath { arm, ..seek_path }), ..*self }
    }

    /// The same, but sectors pass the arm later.
    pub(crate) fn seen_from(self, later: Angle) -> Self {
        Self { epoch: self.epoch.seen_from(later), ..self }
    }

    /// A write of at most `room` sectors goes into the buffer at once.
    pub(crate) fn with_room(self, room: u64) -> Self {
        Self { room, ..self }
    }

    /// The time of a revolution.
    pub(super) fn revolution(&self) -> Nanos {
        self.model.revolution()
    }

    /// What a command of this age should take at most.
    pub(super) fn duration_limit(&self, flags: RequestFlags, age: Nanos) -> Option<Nanos> {
        self.model.limits.of(flags, age)
    }

    /// Whether a write of so many sectors goes into the buffer at once.
    pub(super) fn takes_writes(&self, sectors: u32) -> bool {
        u64::from(sectors) <= self.room
    }

    /// Whether a write goes into the write-back cache, now or when there is room.
    pub(super) fn goes_into_cache(&self, command: &Command) -> bool {
        let past = RequestFlags::FLUSH.with(RequestFlags::DISCARD);
        let cache = self.model.write_back.as_ref();
        !command.flags.has_any(past)
            && cache.is_some_and(|cache| cache.admits(command.sectors, command.flags))
    }

    /// When the controller is through with a command that needs no arm, at the latest, if it turns to it at `at` and the bus is
    /// free.
    pub(super) fn served_by(&self, at: Nanos, op: Op, sectors: u32) -> Nanos {
        let Supply { bus, sector_bytes, .. } = self.supply;
        let overheads = &self.model.overhead;
        let completion = match op {
            Op::Read => overheads.read_completion,
            Op::Write => overheads.write_completion,
        };
        let decoded = at + overhead(self.model, op, 0).max(overhead(self.model, op, 1));
        let asked = decoded + bus.arbitration + overheads.preparation;
        asked + bus.transfer(op, u64::from(sectors) * sector_bytes) + completion
    }

    /// When the media are through with a command, and the mechanism then.
    pub(super) fn after(&self, command: &Command, target: &Target) -> (Nanos, Self) {
        let Command { op, lba, sectors, .. } = *command;
        let media = Media { model: self.model, epoch: self.epoch, still: None };
        let ready = self.ready(op, target, sectors);
        let (mut lba, end) = (lba.0, lba.0 + u64::from(sectors));
        let extent = self.model.layout.extent(lba, end - lba);
        let mut pass = media.pass_from(extent, 0, extent.sectors, ready, ready, ready);
        lba = pass.end_lba();
        while lba < end {
            pass = media.next_pass(pass.end, Arm::over(&pass.extent), lba, end - lba, op);
            lba = pass.end_lba();
        }
        (pass.end, from_rest(self.model, self.epoch, pass.end, op, Arm::over(&pass.extent)))
    }

    /// Of buffered writes: their data are there, and the arm is free at `from` where it is.
    pub(crate) fn of_buffered(model: &'a DriveModel, epoch: Epoch, from: Nanos, arm: Arm) -> Self {
        let estimate = Self::new(model, epoch, [SeekPath { from, not_before: from, arm }; 2], Nanos::ZERO);
        let supply = Supply { begin: Nanos::ZERO, after_arm: None, start: Nanos::ZERO, ..estimate.supply };
        Self { supply, ..estimate }
    }

    /// When the first sector of a command begins to pass under its head.
    #[inline]
    pub fn start(&self, op: Op, target: &Target, sectors: u32) -> Nanos {
        self.comes(self.ready(op, target, sectors), target.start)
    }

    /// When a command's first sector, which begins at `angle`, passes under a head that is ready for it at `ready`: grows, or
    /// stays, with `ready`.
    #[inline]
    pub(super) fn comes(&self, ready: Nanos, angle: Angle) -> Nanos {
        let start = self.epoch.next(ready, angle);
        if self.scales { ready + Nanos(self.model.scaled_wait((start - ready).0)) } else { start }
    }

    /// When the media take for `sectors` sectors, track changes left out.
    pub fn transfer(&self, target: &Target, sectors: u32) -> Nanos {
        Nanos((target.slot_width.as_turns() * f64::from(sectors) * self.epoch.period()) as u64)
    }

    /// When the mechanism and the data of a command are ready for its first sector.
    #[inline]
    pub(crate) fn ready(&self, op: Op, target: &Target, sectors: u32) -> Nanos {
        let seek_path = &self.seek_paths[usize::from(op == Op::Write)];
        let to = (target.cylinder, target.head);
        let on_track =
            (seek_path.from + self.model.reposition(seek_path.arm.track(), to, op)).max(seek_path.not_before);
        match op {
            Op::Write if sectors > 0 => on_track.max(self.data_ready(on_track, target, sectors)),
            Op::Read | Op::Write => on_track,
        }
    }

    /// When enough of a write's data are in the buffer for the media to begin.
    fn data_ready(&self, on_track: Nanos, target: &Target, sectors: u32) -> Nanos {
        let supply = &self.supply;
        let begin = supply.after_arm.map_or(supply.begin, |setup| supply.begin.max(on_track + setup));
        let arrival = |count: u64| begin + supply.bus.transfer(Op::Write, count * supply.sector_bytes);
        let sectors = u64::from(sectors);
        let needed = if let Some(fence) = self.model.sizes.write_fence_of(sectors) {
            arrival(fence.min(sectors))
        } else {
            let lead = self.transfer(target, sectors as u32 - 1);
            arrival(1).max(arrival(sectors).saturating_sub(lead))
        };
        needed + supply.start
    }

    /// No command of this direction at least `distance` cylinders away can be ready sooner.
    #[inline]
    pub(super) fn ready_at_least(&self, op: Op, distance: u32) -> Nanos {
        let seek_path = &self.seek_paths[usize::from(op == Op::Write)];
        let on_track = (seek_path.from + self.model.move_at_least(op, distance)).max(seek_path.not_before);
        match op {
            Op::Read => on_track,
            Op::Write => on_track.max(self.supply.begin + self.supply.start),
        }
    }

    /// No command of this direction in `cylinder` can be ready sooner; tighter than by the distance alone.
    #[inline]
    pub(super) fn ready_in(&self, op: Op, cylinder: u32) -> Nanos {
        let seek_path = &self.seek_paths[usize::from(op == Op::Write)];
        let (from, head) = seek_path.arm.track();
        // A change of head never makes a move shorter.
        let on_track = (seek_path.from + self.model.reposition((from, head), (cylinder, head), op))
            .max(seek_path.not_before);
        match op {
            Op::Read => on_track,
            Op::Write => on_track.max(self.supply.begin + self.supply.start),
        }
    }

    /// The cylinder from which the arm sets out.
    pub(super) fn cylinder(&self, op: Op) -> u32 {
        self.seek_paths[usize::from(op == Op::Write)].arm.cylinder
    }

    pub(super) fn epoch(&self) -> &Epoch {
        &self.epoch
    }
}

/// The arm that gets to a target soonest; among equals the one that moves least, then the first.
pub(crate) fn soonest(estimates: &[Estimate<'_>], op: Op, target: &Target, sectors: u32) -> usize {
    let merit = |&index: &usize| {
        let estimate = &estimates[index];
        (estimate.start(op, target, sectors), estimate.ready(op, target, sectors))
    };
    (0..estimates.len()).min_by_key(merit).unwrap_or(0)
}

/// The mechanism at rest, for a command that the controller turns to at `at` after one in direction `last`.
pub(crate) fn from_rest(model: &DriveModel, epoch: Epoch, at: Nanos, last: Op, arm: Arm) -> Estimate<'_> {
    let after = usize::from(last == Op::Write);
    let seek_paths = [Op::Read, Op::Write].map(|op| {
        let decoded = at + overhead(model, op, after);
        let (from, not_before) = model.arm_start(op, after, false, at, decoded);
        SeekPath { from, not_before, arm }
    });
    Estimate::new(model, epoch, seek_paths, data_from(model, at, after))
}

pub(crate) fn overhead(model: &DriveModel, op: Op, after: usize) -> Nanos {
    match op {
        Op::Read => model.overhead.read[after],
        Op::Write => model.overhead.write[after],
    }
}

/// When the data of a write are asked for.
pub(crate) fn data_from(model: &DriveModel, at: Nanos, after: usize) -> Nanos {
    at + model.overhead.write_data.unwrap_or(model.overhead.write[after])
}
