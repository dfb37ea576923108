//! The fast path: first come, first served, one command at a time, every drive with a bus to itself.
//!
//! Then a command starts when it has arrived and the one before it is complete, and the drive's closed form tells the
//! rest. The event path gives the same records.

use std::collections::VecDeque;
use std::sync::Arc;

use headstack_drive::Drive;
use headstack_drive::command::{Background, Command, Outcome};
use headstack_trace::{Request, RequestSource};
use headstack_units::Nanos;

use super::arrivals::Arrivals;
use super::{Output, RunEnd, RunOptions};
use crate::SystemError;
use crate::bus::BusUse;
use crate::engine::{UnitUse, background, recalibration_interval, row};
use crate::record::BackgroundRow;
use crate::system::System;

/// How many requests pass between two looks at the stop flag.
const REQUESTS_PER_LOOK: u32 = 4096;

/// Whether the closed form holds for a system.
pub(super) fn applies(system: &System) -> bool {
    let units = &system.units;
    let is_alone = |bus: usize| units.iter().filter(|unit| unit.bus == bus).count() == 1;
    system.cpu_cost() == Nanos::ZERO
        && system.policy().is_fcfs()
        && system.config().host.queue_limit.is_none()
        && units.iter().all(|unit| {
            unit.limit == 1 && is_alone(unit.bus) && recalibration_interval(system, unit.drive).is_none()
        })
}

/// A drive and its queue, of which only the instants matter.
struct Lane {
    drive: Drive,
    bus: usize,
    /// When the last command is complete.
    free_at: Nanos,
    /// Commands not known to be complete at the last arrival, in order.
    ahead: VecDeque<Ahead>,
    used: UnitUse,
    bus_used: BusUse,
    /// Work of the mechanism up to the last known completion, and up to the last restart of the statistics.
    busy_at_done: Nanos,
    busy_before: Nanos,
}

/// A command on its way.
#[derive(Clone, Copy)]
struct Ahead {
    finish: Nanos,
    /// Work of the mechanism up to its completion.
    busy: Nanos,
    /// Its request is complete with it.
    is_last: bool,
}

impl Lane {
    /// Forgets which commands are complete at `now`.
    #[inline]
    fn pass(&mut self, now: Nanos) {
        while let Some(ahead) = self.ahead.front()
            && ahead.finish <= now
        {
            self.busy_at_done = ahead.busy;
            self.ahead.pop_front();
        }
    }

    #[inline]
    fn serve(
        &mut self,
        arrival: Nanos,
        command: Command,
        system: &System,
        background: &mut Vec<Background>,
    ) -> Outcome {
        let outcome =
            self.drive.serve(arrival.max(self.free_at), command, &system.timings[self.bus], background);
        self.free_at = outcome.finish;
        outcome
    }

    /// Notes a command in the statistics; `is_last` if its request is complete with it.
    #[inline]
    fn note(&mut self, arrival: Nanos, outcome: &Outcome, is_last: bool) {
        let busy = self.drive.mechanism_busy();
        self.ahead.push_back(Ahead { finish: outcome.finish, busy, is_last });
        self.used.commands += 1;
        self.used.load_area += u128::from((outcome.finish - arrival).0);
        self.used.load_max = self.used.load_max.max(self.ahead.len() as u64);
        self.bus_used.grants += 1;
        self.bus_used.busy_ns += u128::from(outcome.busy.bus.0);
    }

    /// Statistics begin at `now`, but for what is on its way.
    fn restart(&mut self, now: Nanos) {
        self.pass(now);
        let load_area = self.ahead.iter().map(|ahead| u128::from((ahead.finish - now).0)).sum();
        self.used = UnitUse { load_area, load_max: self.ahead.len() as u64, ..UnitUse::default() };
        self.bus_used = BusUse::default();
        self.busy_before = self.busy_at_done;
    }
}

/// Runs open arrivals in closed form.
pub(super) fn run(
    system: &Arc<System>,
    source: Box<dyn RequestSource>,
    options: &RunOptions,
    output: &mut Output<'_>,
) -> Result<RunEnd, SystemError> {
    let mut arrivals = Arrivals::new(source, options.requests);
    let mut lanes = lanes(system, options.seed);
    let mut run = FastRun {
        system,
        until: options.until.unwrap_or(Nanos::MAX),
        works: Vec::new(),
        rows: Vec::new(),
        children: Vec::new(),
        end: RunEnd::default(),
    };
    let mut next_id = 0;
    let mut last_arrival = Nanos::ZERO;
    let mut is_counting = false;
    let mut left_to_look = REQUESTS_PER_LOOK;
    while let Some(request) = arrivals.take()? {
        left_to_look -= 1;
        if left_to_look == 0 {
            left_to_look = REQUESTS_PER_LOOK;
            if output.is_stopped() {
                run.end.interrupted = true;
                break;
            }
        }
        if request.arrival > run.until {
            break;
        }
        last_arrival = request.arrival;
        if !is_counting && output.recorder.counts(next_id, request.arrival) {
            is_counting = true;
            run.end.counted_from = if next_id == 0 { Nanos::ZERO } else { request.arrival };
            for lane in &mut lanes {
                lane.restart(run.end.counted_from);
            }
        }
        run.serve(next_id, &request, &mut lanes, output)?;
        next_id += 1;
    }
    run.finish(last_arrival, lanes, output)
}

fn lanes(system: &System, seed: u64) -> Vec<Lane> {
    let lane = |(unit, drive): (usize, Drive)| Lane {
        drive,
        bus: system.units[unit].bus,
        free_at: Nanos::ZERO,
        ahead: VecDeque::new(),
        used: UnitUse::default(),
        bus_used: BusUse::default(),
        busy_at_done: Nanos::ZERO,
        busy_before: Nanos::ZERO,
    };
    system.new_drives(seed).into_iter().enumerate().map(lane).collect()
}

struct FastRun<'a> {
    system: &'a System,
    until: Nanos,
    works: Vec<Background>,
    rows: Vec<BackgroundRow>,
    children: Vec<(usize, Outcome)>,
    end: RunEnd,
}

impl FastRun<'_> {
    #[inline]
    fn serve(
        &mut self,
        id: u64,
        request: &Request,
        lanes: &mut [Lane],
        output: &mut Output<'_>,
    ) -> Result<(), SystemError> {
        let arrival = request.arrival;
        let (children, works, rows) = (&mut self.children, &mut self.works, &mut self.rows);
        children.clear();
        let system = self.system;
        system.volume_of(id, request)?.map(request.lba, request.sectors, |extent| {
            let command = Command {
                id,
                op: request.op,
                lba: extent.lba,
                sectors: extent.sectors,
                flags: request.flags,
            };
            let lane = &mut lanes[extent.unit];
            lane.pass(arrival);
            children.push((extent.unit, lane.serve(arrival, command, system, works)));
            rows.extend(works.drain(..).map(|work| background(system, extent.unit, work)));
        });
        // The last of those that finish last.
        let mut last = 0;
        for (index, (_, outcome)) in children.iter().enumerate() {
            if outcome.finish >= children[last].1.finish {
                last = index;
            }
        }
        for (index, (unit, outcome)) in children.iter().enumerate() {
            lanes[*unit].note(arrival, outcome, index == last);
        }
        let (unit, outcome) = children[last];
        if !rows.is_empty() {
            output.push_background(rows.drain(..))?;
        }
        if outcome.finish > self.until {
            self.end.cut += 1;
            return Ok(());
        }
        self.end.at = self.end.at.max(outcome.finish);
        output.push(row(system, id, request, &outcome, unit, arrival))
    }

    fn finish(
        mut self,
        last_arrival: Nanos,
        mut lanes: Vec<Lane>,
        output: &mut Output<'_>,
    ) -> Result<RunEnd, SystemError> {
        self.end.at = self.end.at.max(last_arrival);
        if self.end.cut > 0 {
            self.end.at = self.until;
        }
        self.end.buses = vec![BusUse::default(); self.system.timings.len()];
        for (unit, lane) in lanes.iter_mut().enumerate() {
            lane.pass(if self.end.cut == 0 { last_arrival } else { self.until });
            if self.end.cut == 0 {
                self.end.drained += lane.ahead.iter().filter(|ahead| ahead.is_last).count() as u64;
                lane.drive.drain(&mut self.works);
                lane.busy_at_done = lane.drive.mechanism_busy();
                let system = self.system;
                output.push_background(self.works.drain(..).map(|work| background(system, unit, work)))?;
            }
            lane.used.mechanism = lane.busy_at_done.saturating_sub(lane.busy_before);
            self.end.units.push(lane.used);
            self.end.buses[lane.bus] = lane.bus_used;
        }
        self.end.note_lateness(lanes.iter().map(|lane| &lane.drive));
        Ok(self.end)
    }
}
