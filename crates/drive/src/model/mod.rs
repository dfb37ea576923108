//! The model of one drive: everything that follows from its description and never changes during a run.

mod bursts;
mod ladder;
mod limits;
mod moves;
mod rules;
mod store;
mod write_back;

use crate::command::BusTiming;
use crate::layout::Layout;
use crate::mechanics::{Mechanics, Reach};
use crate::power::{Conditions, RestTimes};
use crate::scheduler::{Needs, Policy};
use crate::spec::{
    CacheSpec, DriveSpec, HeadSet, OverheadsByHistory, ReadAhead, RecalibrationMode, RotationModel, Rounding,
    SpecError, TransferModel,
};
use bursts::Bursts;
use headstack_units::{Angle, Nanos, Op};
use limits::Limits;
use moves::Moves;
use rules::Rules;
use std::sync::OnceLock;
pub(crate) use store::{Flash, Log, Store};
pub(crate) use write_back::{Level, WriteBack};

/// 1 in 2^-32.
const ONE_Q32: u64 = 1 << 32;

/// One drive's description in the form the simulation works with: precomputed tables, times in ns, sizes in sectors.
#[derive(Debug)]
pub struct DriveModel {
    spec: DriveSpec,
    /// Where the sectors of one actuator are.
    pub layout: Layout,
    /// What moves cost.
    pub mechanics: Mechanics,
    /// The drive's own bus.
    bus: BusTiming,
    /// Times of the controller.
    pub(crate) overhead: Overheads,
    /// Sizes of buffer and cache.
    pub(crate) sizes: Sizes,
    pub(crate) bursts: Bursts,
    pub(crate) rules: Rules,
    pub(crate) limits: Limits,
    /// The write-back cache, where there is one.
    pub(crate) write_back: Option<WriteBack>,
    pub(crate) conditions: Conditions,
    /// How long the arm rests before the first of them begins.
    pub(crate) rests_after: Nanos,
    policy: Policy,
    /// Where each head set in use stands around the spindle: that of an arm, where each has one.
    pub(crate) arm_angles: Vec<Angle>,
    /// When each of them goes out of use.
    pub(crate) arm_ends: Vec<Nanos>,
    /// What each of them is.
    pub(crate) head_sets: Vec<HeadSet>,
    pub(crate) reach: Reach,
    moves: Moves,
    /// Changes of track within a transfer that are not far.
    near_switches: [Vec<[Nanos; 2]>; 2],
    /// Several arms are at work at a time.
    pub(crate) arms_overlap: bool,
    /// Nothing comes before a command but the commands before it: no write cache, no arm at other work, no recalibration of the drive's own,
    /// no constant time.
    pub(crate) goes_straight: bool,
    /// What is left of the wait for the first sector of a command, in 2^-32.
    rotation_q32: u64,
    /// One arm, and the rotation as it comes: nothing is to be chosen or drawn on the way to a sector.
    pub(crate) is_plain: bool,
    /// A choice may be put off as long as the chosen command waits for its sector: the wait hangs on nothing but the rotation,
    /// and what is in the buffer is asked when the command is decoded.
    pub(crate) puts_choices_off: bool,
    /// Writes that the cache takes do not wait for a command that has the arm.
    pub(crate) takes_aside: bool,
    /// Writes that continue the one on its way to the media may begin meanwhile.
    pub(crate) takes_next_write: bool,
    /// For reads and writes, the shortest move over at least so many cylinders, in ns; made when somebody asks.
    least_moves: OnceLock<[Vec<u64>; 2]>,
}

/// The controller's times.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Overheads {
    /// After a read, after a write.
    pub(crate) read: [Nanos; 2],
    pub(crate) hit: [Nanos; 2],
    /// After a read, when no read-ahead is under way for it.
    pub(crate) hit_at_rest: Nanos,
    /// How long a stream is waited for; `None`: while it is read ahead.
    pub(crate) stream_wait: Option<Nanos>,
    pub(crate) write: [Nanos; 2],
    pub(crate) append: [Nanos; 2],
    pub(crate) write_data: Option<Nanos>,
    /// Of reads, of writes.
    pub(crate) seek_after: [Option<[Nanos; 2]>; 2],
    pub(crate) write_after_write: Nanos,
    pub(crate) preparation: Nanos,
    pub(crate) write_start: Nanos,
    pub(crate) read_completion: Nanos,
    pub(crate) write_completion: Nanos,
    /// Of a write whose seek was delayed because it follows a write elsewhere.
    pub(crate) delayed_write_completion: Nanos,
    pub(crate) least_write_seek: Nanos,
    pub(crate) beside_seek: Nanos,
}

/// Sizes in sectors; `u64::MAX` stands for "no bound".
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sizes {
    pub(crate) buffer: u64,
    pub(crate) read_fence: u64,
    /// The fence as a share of each read, in 2^-32.
    pub(crate) read_fence_q32: Option<u64>,
    pub(crate) write_fence: Option<u64>,
    /// The fence as a share of each write, in 2^-32.
    pub(crate) write_fence_q32: Option<u64>,
    /// What a read gathers between its bursts as a share of it, in 2^-32.
    pub(crate) gathered_q32: Option<u64>,
    /// Shares are rounded down.
    pub(crate) rounds_down: bool,
    /// The longest read whose sectors the media bring one behind the other, whatever the bus does.
    pub(crate) in_order: u64,
    pub(crate) segment: u64,
    /// How far is read ahead at most, where that is bounded.
    pub(crate) read_ahead: Option<u64>,
    pub(crate) bypass: u64,
    /// Logical sectors in a physical one.
    pub(crate) physical: u64,
}

impl Sizes {
    /// How much of a read must be in the buffer before it asks for the bus: no more than the buffer holds.
    #[inline]
    pub(crate) fn read_fence_of(&self, sectors: u64) -> u64 {
        match self.read_fence_q32 {
            None => self.read_fence.min(sectors),
            Some(share) => self.share_of(share, sectors).min(self.buffer.max(1)),
        }
    }

    /// How much of a write must be in the buffer before it goes to the media, where that is fixed.
    pub(crate) fn write_fence_of(&self, sectors: u64) -> Option<u64> {
        self.write_fence_q32.map(|share| self.share_of(share, sectors)).or(self.write_fence)
    }

    /// What a read gathers between its bursts.
    pub(crate) fn gathered_of(&self, sectors: u64) -> Option<u64> {
        self.gathered_q32.map(|share| self.share_of(share, sectors))
    }

    /// A share of a number of sectors, rounded; at least one sector.
    fn share_of(&self, share: u64, sectors: u64) -> u64 {
        let sectors_q32 = u128::from(share) * u128::from(sectors);
        let whole = if self.rounds_down { sectors_q32 >> 32 } else { sectors_q32.div_ceil(1 << 32) };
        (whole as u64).clamp(1, sectors)
    }
}

impl DriveModel {
    /// Builds the tables.
    ///
    /// # Errors
    /// [`SpecError::Physics`] with every contradiction in the description.
    pub fn new(spec: &DriveSpec) -> Result<Self, SpecError> {
        let problems = spec.check();
        if !problems.is_empty() {
            return Err(SpecError::Physics { name: spec.name.clone(), problems });
        }
        let spec = spec.switched();
        let spec = &*spec.joined();
        let (sizes, rules) = (sizes(spec), Rules::new(spec));
        let rotation_is_real =
            spec.fidelity.rotation == RotationModel::Tracked && spec.fidelity.rotation_scale == 1.0;
        let end = |set: HeadSet| set.fails_at_s.map_or(Nanos::MAX, Nanos::from_s);
        let arm_ends = spec.arms.head_sets().map(end).collect();
        let arm_angles: Vec<Angle> = spec.arms.head_sets().map(|set| Angle::from_turns(set.turns)).collect();
        let reach = Reach::new(spec);
        let layout = Layout::new(&spec.layout);
        let write_back = WriteBack::new(spec, &layout);
        let conditions = Conditions::new(spec);
        let policy: Policy = spec.controller.scheduler.parse().unwrap_or_else(|_| unreachable!("checked"));
        let is_taken_aside =
            |cache: &WriteBack| !cache.delays_overlaps && !matches!(cache.store, Store::Log(_));
        let mut model = Self {
            layout,
            mechanics: Mechanics::new(spec),
            bus: BusTiming::new(&spec.bus),
            overhead: overheads(spec),
            bursts: Bursts::new(spec),
            limits: Limits::new(&spec.controller),
            sizes,
            rotation_q32: (spec.fidelity.rotation_scale * ONE_Q32 as f64) as u64,
            is_plain: arm_angles.len() == 1 && rotation_is_real && spec.soft_errors.is_none(),
            puts_choices_off: rotation_is_real
                && !rules.looks_up_received
                && spec.soft_errors.is_none()
                && spec.fidelity.constant_ms.is_none(),
            rules,
            arms_overlap: spec.arms.moving() > 1,
            takes_next_write: spec.buffer.takes_next_write
                && spec.arms.moving() == 1
                && spec.fidelity.constant_ms.is_none()
                && spec.fidelity.transfer == TransferModel::Overlapped,
            takes_aside: policy.needs() != Needs::Addresses
                && spec.arms.moving() == 1
                && spec.fidelity.constant_ms.is_none()
                && write_back.as_ref().is_some_and(is_taken_aside),
            goes_straight: spec.arms.moving() == 1
                && spec.fidelity.constant_ms.is_none()
                && spec.recalibration.mode != RecalibrationMode::ByDrive
                && write_back.is_none(),
            write_back,
            rests_after: conditions.first_after(),
            conditions,
            arm_angles,
            arm_ends,
            head_sets: spec.arms.head_sets().collect(),
            moves: Moves::new(spec, &reach),
            near_switches: Default::default(),
            reach,
            policy,
            least_moves: OnceLock::new(),
            spec: spec.clone(),
        };
        model.near_switches = model.near_switches();
        Ok(model)
    }

    /// Logical sectors of the whole drive, all actuators together.
    pub fn capacity_sectors(&self) -> u64 {
        self.layout.capacity() * u64::from(self.spec.actuators)
    }

    /// A nominal revolution.
    pub(crate) fn revolution(&self) -> Nanos {
        Nanos::from_s(60.0 / self.spec.rotation_rpm)
    }

    /// Bytes in a logical sector.
    pub fn sector_bytes(&self) -> u32 {
        self.spec.sector_bytes
    }

    /// Independent actuators, each with an equal, contiguous part of the addresses.
    pub fn actuators(&self) -> u32 {
        self.spec.actuators
    }

    /// Order in which the drive serves its queue.
    pub fn policy(&self) -> Policy {
        self.policy
    }

    /// Commands the drive accepts at a time.
    pub fn queue_depth(&self) -> u32 {
        self.spec.controller.queue_depth
    }

    /// The description this model was built from.
    pub fn spec(&self) -> &DriveSpec {
        &self.spec
    }

    /// How long it is in each of its power conditions between `from` and `to`, where its arms rest since `since` and one is needed at
    /// `woken`, if it is.
    pub fn rest_times(&self, since: Nanos, woken: Option<Nanos>, from: Nanos, to: Nanos) -> RestTimes {
        let until = |end| self.conditions.times(since, woken, end);
        until(to).since(&until(from))
    }

    /// The bus the drive came with.
    pub fn bus(&self) -> BusTiming {
        self.bus
    }

    /// Whether what was acknowledged may be lost with the power.
    pub(crate) fn loses_cached_writes(&self) -> bool {
        self.write_back.as_ref().is_none_or(|cache| cache.store.is_volatile())
    }

    /// Whether commands may end without their data, because a duration limit has passed. The closed form knows of none.
    pub fn ends_commands(&self) -> bool {
        self.limits.end_commands
    }

    /// Whether acknowledged writes stay in a cache, and would be lost there with the power.
    pub fn holds_writes(&self) -> bool {
        self.write_back.as_ref().is_some_and(|cache| cache.store.is_volatile())
    }

    /// The read cache, where there is one.
    pub(crate) fn cache(&self) -> Option<&CacheSpec> {
        self.spec.cache.as_ref()
    }

    /// Whether waits for the first sector of a command are not as the disk has them.
    pub(crate) fn scales_rotation(&self) -> bool {
        self.rotation_q32 != ONE_Q32
    }

    /// What is left of a wait for the first sector of a command, be it an angle or a time, where waits are scaled.
    #[inline]
    pub(crate) fn scaled_wait(&self, wait: u64) -> u64 {
        ((u128::from(wait) * u128::from(self.rotation_q32)) >> 32) as u64
    }

    /// When the arm may start for a command that the controller turns to at `at` and has decoded at `decoded`, and the
    /// instant before which it does not count as on track: an arm that starts late holds everything up. `after`: 0 after
    /// a read, 1 after a write; `continues` if a write goes on where the one before ended.
    #[inline]
    pub(crate) fn arm_start(
        &self,
        op: Op,
        after: usize,
        continues: bool,
        at: Nanos,
        decoded: Nanos,
    ) -> (Nanos, Nanos) {
        let overhead = &self.overhead;
        let mut from = match overhead.seek_after[usize::from(op == Op::Write)] {
            Some(delays) => at + delays[after],
            None => decoded.saturating_sub(overhead.beside_seek.min(decoded - at)),
        };
        if op == Op::Write && after == 1 && !continues {
            from += overhead.write_after_write;
        }
        (from, decoded.max(from))
    }
}

fn overheads(spec: &DriveSpec) -> Overheads {
    let ms = Nanos::from_ms;
    let controller = &spec.controller;
    let both = |value: f64| [ms(value); 2];
    let hit = controller.hit_overhead_ms.unwrap_or(controller.read_overhead_ms);
    let of_history = |pick: fn(&OverheadsByHistory) -> [f64; 2], plain: f64| {
        controller.by_history.as_ref().map_or_else(|| both(plain), |history| pick(history).map(ms))
    };
    let seek_after = |pick: fn(&OverheadsByHistory) -> Option<[f64; 2]>| {
        let own = controller.by_history.as_ref().and_then(pick);
        own.or(controller.seek_after_ms.map(|value| [value; 2])).map(|values| values.map(ms))
    };
    Overheads {
        read: of_history(|history| history.read_miss_ms, controller.read_overhead_ms),
        hit: of_history(|history| history.read_hit_ms, hit),
        hit_at_rest: controller
            .by_history
            .map_or(ms(hit), |history| ms(history.read_hit_at_rest_ms.unwrap_or(history.read_hit_ms[0]))),
        stream_wait: controller.by_history.and_then(|history| history.stream_wait_ms).map(ms),
        write: of_history(|history| history.write_miss_ms, controller.write_overhead_ms),
        append: of_history(|history| history.write_hit_ms, controller.write_overhead_ms),
        write_data: controller.write_data_after_ms.map(ms),
        seek_after: [
            seek_after(|history| history.read_seek_after_ms),
            seek_after(|history| history.write_seek_after_ms),
        ],
        write_after_write: ms(controller.write_after_write_seek_delay_ms),
        preparation: ms(controller.data_preparation_ms),
        write_start: ms(spec.buffer.write_start_ms),
        read_completion: ms(controller.read_completion_ms),
        write_completion: ms(controller.write_completion_ms),
        delayed_write_completion: ms(controller
            .write_after_write_completion_ms
            .unwrap_or(controller.write_completion_ms)),
        least_write_seek: ms(controller.least_write_seek_ms),
        beside_seek: ms(controller.overhead_beside_seek_ms),
    }
}

/// A share of 1 in 2^-32.
fn q32(share: f64) -> u64 {
    (share * 4_294_967_296.0).round() as u64
}

fn sizes(spec: &DriveSpec) -> Sizes {
    let sectors = |kib: f64| (kib * 1024.0 / f64::from(spec.sector_bytes)).floor() as u64;
    let cache = spec.cache.as_ref();
    let buffer = sectors(spec.buffer.size_kib);
    let on_arrival =
        cache.is_some_and(|cache| cache.zero_latency || cache.read_ahead == ReadAhead::OnArrival);
    let linear = spec.fidelity.transfer == TransferModel::Linear;
    Sizes {
        buffer,
        in_order: if on_arrival || linear { 0 } else { buffer },
        read_fence: sectors(spec.buffer.read_fence_kib).max(1),
        read_fence_q32: spec.buffer.read_fence_fraction.map(q32),
        write_fence_q32: spec.buffer.write_fence_fraction.map(q32),
        gathered_q32: spec.buffer.buffer_full_fraction.map(q32),
        rounds_down: spec.buffer.fraction_rounding == Rounding::Down,
        write_fence: spec.buffer.write_fence_kib.map(|kib| sectors(kib).max(1)),
        segment: cache.map_or(0, |cache| sectors(cache.segment_kib).max(1)),
        read_ahead: cache.and_then(|cache| cache.read_ahead_limit_kib).map(sectors),
        bypass: cache.and_then(|cache| cache.bypass_above_kib).map_or(u64::MAX, sectors),
        physical: u64::from(spec.physical_sector_bytes.map_or(1, |bytes| bytes / spec.sector_bytes)),
    }
}
