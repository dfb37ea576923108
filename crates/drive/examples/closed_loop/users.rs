//! So many users of one drive, each of whom asks again as soon as the answer has come.

use headstack_drive::command::{Command, Effect, Outcome, Ticket};
use headstack_drive::{Drive, DriveModel};
use headstack_units::{Lba, Nanos, Op, RequestFlags};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

/// What a user asks for.
#[derive(Clone, Copy)]
pub(crate) struct Load {
    pub(crate) op: Op,
    pub(crate) sequential: bool,
    /// All sequential users go on with one stream.
    pub(crate) together: bool,
    /// So many sectors beside where multiples of the size lie.
    pub(crate) offset: u64,
    pub(crate) sectors: u32,
    /// So many of a hundred requests are marked as limited.
    pub(crate) limited_percent: u64,
}

/// A request that was answered.
pub(crate) struct Answer {
    #[allow(dead_code, reason = "not everybody asks")]
    pub(crate) user: usize,
    pub(crate) is_limited: bool,
    pub(crate) outcome: Outcome,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Ask(usize),
    Grant(Ticket),
    Wake,
}

/// The calendar, the bus, and the users.
struct Users<'a> {
    drive: Drive,
    loads: &'a [Load],
    events: BinaryHeap<Reverse<(Nanos, u64, Event)>>,
    sequence: u64,
    state: u64,
    /// Where each sequential user is.
    next: Vec<u64>,
    /// Who asked for each, and whether it is limited.
    asked: Vec<(usize, bool)>,
}

impl Users<'_> {
    fn schedule(&mut self, at: Nanos, event: Event) {
        self.sequence += 1;
        self.events.push(Reverse((at, self.sequence, event)));
    }

    fn draw(&mut self) -> u64 {
        self.state =
            self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.state >> 33
    }

    fn command(&mut self, user: usize) -> Command {
        let Load { op, sequential, together, offset, sectors, limited_percent } = self.loads[user];
        let places = (self.drive.capacity_sectors() - offset) / u64::from(sectors);
        let stream = if together { 0 } else { user };
        let place = if sequential { self.next[stream] } else { (self.draw() << 31) + self.draw() } % places;
        self.next[stream] += 1;
        let id = self.asked.len() as u64;
        let is_limited = limited_percent > 0 && self.draw() % 100 < limited_percent;
        self.asked.push((user, is_limited));
        let flags = if is_limited { RequestFlags::LIMITED } else { RequestFlags::default() };
        Command { id, op, lba: Lba(place * u64::from(sectors) + offset), sectors, flags }
    }
}

/// Serves `count` requests, of one user for each load; the answers in the order of completion.
pub(crate) fn serve(model: &Arc<DriveModel>, loads: &[Load], count: usize) -> Vec<Answer> {
    let bus = model.bus();
    let mut users = Users {
        drive: Drive::new(Arc::clone(model), 1),
        loads,
        events: BinaryHeap::new(),
        sequence: 0,
        state: 1,
        next: vec![0; loads.len()],
        asked: Vec::new(),
    };
    let (mut bus_free, mut effects, mut done) = (Nanos::ZERO, Vec::new(), Vec::new());
    (0..loads.len()).for_each(|user| users.schedule(Nanos::ZERO, Event::Ask(user)));
    while let Some(Reverse((now, _, event))) = users.events.pop() {
        match event {
            Event::Ask(user) => {
                let command = users.command(user);
                users.drive.submit(now, command, &mut effects);
            }
            Event::Grant(ticket) if now < bus_free => users.schedule(bus_free, Event::Grant(ticket)),
            Event::Grant(ticket) => users.drive.bus_granted(now, ticket, &bus, &mut effects),
            Event::Wake => users.drive.advance(now, &mut effects),
        }
        for effect in effects.drain(..) {
            match effect {
                Effect::NeedBus { ticket, at, .. } => users.schedule(at, Event::Grant(ticket)),
                Effect::ReleaseBus { at, .. } => bus_free = at,
                Effect::WakeAt(at) => users.schedule(at, Event::Wake),
                Effect::Background(_) => {}
                Effect::Done(outcome) => {
                    let (user, is_limited) = users.asked[outcome.id as usize];
                    done.push(Answer { user, is_limited, outcome });
                    if done.len() + loads.len() <= count {
                        users.schedule(outcome.finish, Event::Ask(user));
                    }
                }
            }
        }
    }
    done.sort_by_key(|answer| answer.outcome.finish);
    done
}

/// Rate and response of what was served after the first quarter.
pub(crate) struct Summary {
    pub(crate) iops: f64,
    /// Responses in ms, in order.
    pub(crate) responses: Vec<f64>,
}

impl Summary {
    pub(crate) fn of(done: &[Answer]) -> Self {
        Self::of_those(done, |_| true)
    }

    /// Of those answers that are `wanted`.
    pub(crate) fn of_those(done: &[Answer], wanted: impl Fn(&Answer) -> bool) -> Self {
        let (before, rows) = done.split_at(done.len() / 4);
        let span = rows[rows.len() - 1].outcome.finish - before[before.len() - 1].outcome.finish;
        let rows = rows.iter().filter(|answer| wanted(answer));
        let mut responses: Vec<f64> = rows.map(|answer| answer.outcome.phases.total().as_ms()).collect();
        responses.sort_by(f64::total_cmp);
        Self { iops: responses.len() as f64 / (span.as_ms() / 1e3), responses }
    }

    pub(crate) fn quantile(&self, share: f64) -> f64 {
        self.responses[((self.responses.len() - 1) as f64 * share) as usize]
    }
}
