//! What completions come to: of two stretches it adds up, but for the times noted of single ones.

use headstack_drive::command::CacheResult;
use headstack_stats::{Moments, Sums, Timeline};
use headstack_units::{Nanos, Op};

use crate::record::CompletionRow;
use crate::summary::classes::Classes;
use crate::system::System;

/// Sums over the requests of one direction.
#[derive(Clone, Debug, Default)]
pub(crate) struct OpSums {
    pub(super) response: Moments,
    pub(super) service: Moments,
    /// Seven phases, four kinds of gross work, sectors: together, for all of them are added in one go.
    amounts: Sums<12>,
}

impl OpSums {
    pub(super) fn phases(&self) -> [u128; 7] {
        let [queue, overhead, seek, rotation, transfer, bus, other, ..] = self.amounts.totals();
        [queue, overhead, seek, rotation, transfer, bus, other]
    }

    /// Seek, rotation, transfer, bus.
    pub(super) fn busy(&self) -> [u128; 4] {
        let [.., seek, rotation, transfer, bus, _] = self.amounts.totals();
        [seek, rotation, transfer, bus]
    }

    pub(super) fn sectors(&self) -> u128 {
        let [.., sectors] = self.amounts.totals();
        sectors
    }

    #[expect(clippy::inline_always, reason = "as [`Statistics::record`]")]
    #[inline(always)]
    fn record(&mut self, row: &CompletionRow, response: Nanos, service: Nanos) {
        self.response.record(response);
        self.service.record(service);
        let [queue, overhead, seek, rotation, transfer, bus, other] =
            row.phases.as_array().map(|phase| phase.0);
        let busy = &row.busy;
        let (busy_seek, busy_rotation) = (busy.seek.0, busy.rotation.0);
        let (busy_transfer, busy_bus) = (busy.transfer.0, busy.bus.0);
        let sectors = u64::from(row.sectors);
        self.amounts.add([
            queue,
            overhead,
            seek,
            rotation,
            transfer,
            bus,
            other,
            busy_seek,
            busy_rotation,
            busy_transfer,
            busy_bus,
            sectors,
        ]);
    }

    fn add(&mut self, later: &Self) {
        self.response.merge(&later.response);
        self.service.merge(&later.service);
        self.amounts.merge(&later.amounts);
    }
}

/// What completions that count come to.
#[derive(Clone, Debug)]
pub(crate) struct Statistics {
    /// Reads, writes.
    pub(super) ops: [OpSums; 2],
    /// Reads and writes by what the cache did for them: miss, hit, partial hit, reported early.
    cache: [[u64; 4]; 2],
    /// Completed requests per drive.
    pub(super) per_drive: Vec<u64>,
    pub(super) over_time: Timeline,
    /// Per device.
    pub(super) over_lba: Vec<Timeline>,
    /// Where drives know duration limits.
    pub(super) classes: Option<Box<Classes>>,
    pub(super) noted: Noted,
}

/// The last requests and their times, until somebody takes them who keeps them.
#[derive(Clone, Debug, Default)]
pub(super) struct Noted {
    /// Twice the number of each, and 1 more for a write.
    pub(super) keys: Vec<u64>,
    pub(super) responses: Vec<Nanos>,
    pub(super) services: Vec<Nanos>,
}

impl Noted {
    pub(super) fn clear(&mut self) {
        let Self { keys, responses, services } = self;
        keys.clear();
        responses.clear();
        services.clear();
    }
}

impl Statistics {
    /// Of no requests of a run on `system`.
    pub(crate) fn new(system: &System) -> Self {
        Self {
            ops: Default::default(),
            cache: Default::default(),
            per_drive: vec![0; system.config().drives.len()],
            over_time: Timeline::new(),
            over_lba: vec![Timeline::new(); system.config().volumes.len()],
            classes: Classes::new(system),
            noted: Noted::default(),
        }
    }

    /// Of no requests of the same run, in places as wide as they have become here.
    pub(crate) fn emptied(&self) -> Self {
        let Self { per_drive, over_time, over_lba, classes, .. } = self;
        let mut emptied = Self {
            ops: Default::default(),
            cache: Default::default(),
            per_drive: per_drive.clone(),
            over_time: over_time.clone(),
            over_lba: over_lba.clone(),
            classes: classes.clone(),
            noted: Noted::default(),
        };
        emptied.clear();
        emptied
    }

    /// Of how many requests the times are noted.
    pub(crate) fn noted(&self) -> usize {
        self.noted.keys.len()
    }

    /// There are to be so many more.
    pub(crate) fn make_room(&mut self, requests: usize) {
        let Noted { keys, responses, services } = &mut self.noted;
        keys.reserve_exact(requests);
        responses.reserve_exact(requests);
        services.reserve_exact(requests);
    }

    /// Forgets all, for requests of the same run.
    pub(crate) fn clear(&mut self) {
        self.ops = Default::default();
        self.cache = Default::default();
        self.per_drive.fill(0);
        self.over_time.clear();
        self.over_lba.iter_mut().for_each(Timeline::clear);
        self.classes.iter_mut().for_each(|classes| **classes = Classes::empty());
        self.noted.clear();
    }

    /// Reads by result (hit, partial hit, miss), and writes reported early.
    pub(super) fn by_cache(&self) -> [u64; 4] {
        let [reads, writes] = self.cache.map(|counts| move |result: CacheResult| counts[result as usize]);
        let misses = reads(CacheResult::Miss) + reads(CacheResult::ReportedEarly);
        [reads(CacheResult::Hit), reads(CacheResult::PartialHit), misses, writes(CacheResult::ReportedEarly)]
    }

    /// Response and service in both directions.
    pub(super) fn moments(&self) -> [Moments; 2] {
        let [reads, writes] = &self.ops;
        let (mut response, mut service) = (reads.response, reads.service);
        response.merge(&writes.response);
        service.merge(&writes.service);
        [response, service]
    }

    /// Takes a completion.
    #[expect(clippy::inline_always, reason = "where nobody sees the record, most of it need not be written")]
    #[inline(always)]
    pub(crate) fn record(&mut self, row: &CompletionRow) {
        let (response, service) = (row.response(), row.service());
        self.noted.keys.push(2 * row.id + u64::from(row.op == Op::Write));
        self.noted.responses.push(response);
        self.noted.services.push(service);
        self.ops[usize::from(row.op == Op::Write)].record(row, response, service);
        self.cache[usize::from(row.op == Op::Write)][row.cache as usize] += 1;
        if let Some(classes) = &mut self.classes {
            classes.record(row.op, row.flags, response);
        }
        if let Some(count) = self.per_drive.get_mut(row.drive as usize) {
            *count += 1;
        }
        self.over_time.record(row.arrival.0, response);
        if let Some(timeline) = self.over_lba.get_mut(row.device as usize) {
            timeline.record(row.lba.0, response);
        }
    }

    /// Takes what other completions come to, but for the times noted of them.
    pub(super) fn add(&mut self, later: &Self) {
        let Self { ops, cache, per_drive, over_time, over_lba, classes, noted: _ } = later;
        self.ops.iter_mut().zip(ops).for_each(|(sums, more)| sums.add(more));
        self.cache
            .as_flattened_mut()
            .iter_mut()
            .zip(cache.as_flattened())
            .for_each(|(count, more)| *count += more);
        if let Some((all, more)) = self.classes.as_mut().zip(classes.as_ref()) {
            all.add(more);
        }
        self.per_drive.iter_mut().zip(per_drive).for_each(|(count, more)| *count += more);
        self.over_time.merge(over_time);
        self.over_lba.iter_mut().zip(over_lba).for_each(|(timeline, more)| timeline.merge(more));
    }
}
