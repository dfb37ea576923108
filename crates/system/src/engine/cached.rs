//! Requests that go through the host's buffer cache.

use headstack_drive::command::{Busy, CacheResult, Phases};
use headstack_trace::Request;
use headstack_units::{Lba, Nanos, Op, RequestFlags};

use super::{Engine, Event, Way};
use crate::host::buffer_cache::{BufferCache, Call, Effect};
use crate::record::CompletionRow;
use crate::spec::BufferCacheSpec;
use crate::summary::BufferCacheUse;
use crate::system::System;

/// The cache, and the requests that are in it.
#[derive(Clone, Debug)]
pub(super) struct HostCache {
    cache: BufferCache,
    /// Whose each call is, by its number.
    owners: Vec<Owner>,
    effects: Vec<Effect>,
    sync_every: Option<Nanos>,
    dribble_every: Option<Nanos>,
    copy_ns_per_sector: f64,
}

#[derive(Clone, Copy, Debug)]
struct Owner {
    id: u64,
    request: Request,
    user: Option<u32>,
}

impl HostCache {
    /// The system's cache, empty, if it has one.
    pub(super) fn new(system: &System) -> Option<Box<Self>> {
        let spec: &BufferCacheSpec = system.config().host.buffer_cache.as_ref()?;
        let block_sectors = spec.block_sectors(system.sector_bytes())?;
        Some(Box::new(Self {
            cache: BufferCache::new(spec, block_sectors),
            owners: Vec::new(),
            effects: Vec::new(),
            sync_every: spec.sync_every_s.map(Nanos::from_s),
            dribble_every: spec.dribble_every_s.map(Nanos::from_s),
            copy_ns_per_sector: spec.copy_us_per_kib * f64::from(system.sector_bytes()) * 1e3 / 1024.0,
        }))
    }

    /// The first of the periodic writes.
    pub(super) fn timers(&self) -> impl Iterator<Item = (Nanos, Event)> {
        let sync = self.sync_every.map(|at| (at, Event::Sync));
        sync.into_iter().chain(self.dribble_every.map(|at| (at, Event::Dribble)))
    }

    fn copy_time(&self, request: &Request) -> Nanos {
        Nanos((self.copy_ns_per_sector * f64::from(request.sectors)).round() as u64)
    }
}

impl Engine {
    /// Whether a request goes through a buffer cache.
    pub(super) fn is_cached(&self, request: &Request) -> bool {
        self.cache.is_some() && !request.flags.contains(RequestFlags::RAW)
    }

    /// The cache gets a request.
    pub(super) fn call_cache(&mut self, now: Nanos, id: u64, request: Request, user: Option<u32>) {
        let Some(host) = &mut self.cache else { return };
        let Request { device, lba, sectors, op, flags, .. } = request;
        let mut effects = std::mem::take(&mut host.effects);
        let number = host.cache.call(now, Call { device, lba, sectors, op, flags }, &mut effects);
        let owner = Owner { id, request, user };
        if number == host.owners.len() {
            host.owners.push(owner);
        } else {
            host.owners[number] = owner;
        }
        self.follow(now, effects, None);
    }

    /// A transfer of the cache is complete.
    pub(super) fn transfer_done(&mut self, now: Nanos, transfer: usize, row: &CompletionRow) {
        self.with_cache(now, Some(row), |cache, effects| cache.completed(now, transfer, effects));
    }

    /// The time of a sync has come.
    pub(super) fn sync(&mut self, now: Nanos) {
        self.with_cache(now, None, BufferCache::sync);
        if let Some(every) = self.cache.as_ref().and_then(|host| host.sync_every) {
            self.calendar.schedule(now.saturating_add(every), Event::Sync);
        }
    }

    /// The time of a dribble has come.
    pub(super) fn dribble(&mut self, now: Nanos) {
        self.with_cache(now, None, BufferCache::dribble);
        if let Some(every) = self.cache.as_ref().and_then(|host| host.dribble_every) {
            self.calendar.schedule(now.saturating_add(every), Event::Dribble);
        }
    }

    /// What the cache did since the last restart of the statistics.
    pub(crate) fn cache_use(&self) -> Option<BufferCacheUse> {
        let (counts, dirty, writing) = self.cache.as_ref()?.cache.counts();
        Some(BufferCacheUse { counts, dirty, writing })
    }

    pub(super) fn restart_cache(&mut self) {
        if let Some(host) = &mut self.cache {
            host.cache.restart_counts();
        }
    }

    fn with_cache(
        &mut self,
        now: Nanos,
        row: Option<&CompletionRow>,
        ask: impl FnOnce(&mut BufferCache, &mut Vec<Effect>),
    ) {
        let Some(host) = &mut self.cache else { return };
        let mut effects = std::mem::take(&mut host.effects);
        ask(&mut host.cache, &mut effects);
        self.follow(now, effects, row);
    }

    /// Does what the cache asks for; `row` tells of the transfer just completed.
    fn follow(&mut self, now: Nanos, mut effects: Vec<Effect>, row: Option<&CompletionRow>) {
        for effect in effects.drain(..) {
            match effect {
                Effect::Ready { call, by_transfer } => self.answer(now, call, row.filter(|_| by_transfer)),
                Effect::Queue(number) => self.queue_transfer(now, number),
            }
        }
        if let Some(host) = &mut self.cache {
            host.effects = effects;
        }
    }

    fn queue_transfer(&mut self, now: Nanos, number: usize) {
        let Some(host) = &self.cache else { return };
        let transfer = host.cache.transfer(number);
        let block_sectors = host.cache.block_sectors();
        let (device, block) = transfer.first;
        let begin = block * block_sectors;
        // The last block of a volume may be cut short by its end.
        let end = (begin + u64::from(transfer.blocks) * block_sectors)
            .min(self.system.volumes[device as usize].sectors());
        let mut request = Request::new(now, transfer.op, Lba(begin), (end - begin) as u32);
        (request.device, request.flags) = (device, transfer.flags);
        let way = Way::Transfer { number, origin: transfer.origin };
        let id = self.new_driver_id();
        self.issue(id, request, None, way);
    }

    /// A request has what it asked for, but for the copy.
    fn answer(&mut self, now: Nanos, call: usize, row: Option<&CompletionRow>) {
        let Some(host) = &self.cache else { return };
        let Owner { id, request, user } = host.owners[call];
        let copy = host.copy_time(&request);
        let mut answer = self.answer_row(now, id, &request, row);
        answer.finish = now.saturating_add(copy);
        answer.phases.overhead += copy;
        debug_assert_eq!(answer.phases.total(), answer.response(), "phases of request {id}");
        let number = self.answers.insert((answer, user));
        self.calendar.schedule(answer.finish, Event::Answered(number));
    }

    /// The completion of a request through the cache before the copy: that of the transfer it waited for last, if it was
    /// queued after the request came; what it waited for before is no work of its own.
    fn answer_row(
        &self,
        now: Nanos,
        id: u64,
        request: &Request,
        transfer: Option<&CompletionRow>,
    ) -> CompletionRow {
        let &Request { arrival, device, op, lba, sectors, .. } = request;
        let own = transfer.filter(|row| row.arrival >= arrival);
        let waited = own.map_or(now, |row| row.arrival) - arrival;
        let mut phases = own.map_or(Phases::default(), |row| row.phases);
        phases.other += waited;
        let result = match (op, own.or(transfer)) {
            (_, Some(row)) => row.cache,
            (Op::Read, None) => CacheResult::Hit,
            (Op::Write, None) => CacheResult::ReportedEarly,
        };
        CompletionRow {
            id,
            device,
            drive: transfer.map_or_else(|| self.drive_of(request), |row| row.drive),
            op,
            cache: result,
            sectors,
            lba,
            arrival,
            start: own.map_or(now, |row| row.start),
            finish: now,
            phases,
            busy: own.map_or(Busy::default(), |row| row.busy),
            passed: own.and_then(|row| row.passed),
            measured_start: request.start,
            measured_finish: request.finish,
        }
    }

    /// The drive on which a request begins.
    fn drive_of(&self, request: &Request) -> u32 {
        let mut drive = None;
        self.system.volumes[request.device as usize].map(request.lba, 1, |extent| {
            drive.get_or_insert(self.system.units[extent.unit].drive as u32);
        });
        drive.unwrap_or(0)
    }
}
