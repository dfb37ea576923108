//! Whether what a processor told behind its last event is missing, and from where on.
//!
//! Running numbers tell of events that are missing between others, and of none behind the last one; and text has no file for each
//! processor that would be seen to end early. One that tells nothing any more had nothing more to tell, or it lost its end. Then there are,
//! from its last event on, completions that were never dispatched and dispatches that were never queued, of which there were none
//! before, or few. Where processors serve what they queue themselves, requests are lost as a whole: then what was open there goes on
//! elsewhere, as what is asked of its place is taken for it. That is known to have lost its end ([`super::own_steps`]).

use std::collections::{BTreeMap, VecDeque};

use headstack_units::Nanos;

use super::own_steps::OwnSteps;
use super::pairing::LostEnd;
use super::{Action, Event, Side};

/// So many signs,
const FEW: u64 = 2;

/// and so many times as many as before for each event, tell of a loss.
const MANY: u64 = 3;

/// Processors serve their own requests if one step in so many is told elsewhere.
const SELDOM: u64 = 32;

/// Of so many places it is known at once where they are served.
const MOST: usize = 1 << 16;

/// What was told so far.
#[derive(Clone, Copy, Debug, Default)]
struct Told {
    events: u64,
    /// Ends without a begin.
    alone: u64,
    /// Steps of a request that another processor told than the one before.
    elsewhere: u64,
    /// Of these the ones that go before a request of their own: what processors began that are still heard, and others.
    before_own: [u64; 2],
    /// Steps with nothing of their own processor to go on with.
    strays: u64,
    /// When the last of these events was.
    at: Nanos,
}

impl Told {
    /// Whether processors serve what they queue themselves.
    fn serves_own(self) -> bool {
        self.strays * SELDOM <= self.events
    }

    /// Whether what is told from here on, until `end`, has signs of a loss that it had not before.
    /// What it began and left without an end tells that the rest may have gone on elsewhere by mistake.
    fn is_loss(self, end: Self, leaves_some: bool) -> bool {
        let after = end.events - self.events;
        let are_many = |signs: u64, all: u64| {
            let since = all - signs;
            since >= FEW && since * self.events >= MANY * (signs + 1) * after
        };
        let before_own = |told: Self| told.before_own[0] + if leaves_some { told.before_own[1] } else { 0 };
        let serves_own = self.elsewhere * SELDOM <= self.events;
        are_many(self.alone, end.alone) || serves_own && are_many(before_own(self), before_own(end))
    }
}

/// Processors that tell nothing at the end of a trace, while it is read.
#[derive(Debug)]
pub(super) struct Cuts {
    now: Told,
    /// What had been told when each told something last.
    last: Vec<(u16, Told)>,
    steps: Steps,
    own: OwnSteps,
}

/// Where a trace was cut.
#[derive(Debug)]
pub(super) struct Cut {
    /// The processors that lost their ends.
    pub(super) cpus: Vec<u32>,
    /// So many events lie before the first of the ends.
    pub(super) events: u64,
    /// So many behind it.
    pub(super) behind: u64,
}

impl Cuts {
    pub(super) fn new(cpus: &[u32]) -> Self {
        let last = cpus.iter().filter_map(|cpu| u16::try_from(*cpu).ok()).map(|cpu| (cpu, Told::default()));
        Self { now: Told::default(), last: last.collect(), steps: Steps::default(), own: OwnSteps::default() }
    }

    /// Takes an event, with which pairing has seen so many ends without a begin.
    pub(super) fn push(&mut self, event: &Event, alone: u64) {
        self.now.events += 1;
        self.now.alone = alone;
        self.own.push(event);
        (self.now.strays, self.now.at) = (self.own.strays, event.time);
        if let Some((begun_on, is_before_own)) = self.steps.go_elsewhere(event) {
            let is_silent = self.last.iter().any(|(cpu, _)| *cpu == begun_on);
            self.now.elsewhere += 1;
            self.now.before_own[usize::from(is_silent)] += u64::from(is_before_own);
        }
        if let Some((_, told)) = self.last.iter_mut().find(|(cpu, _)| *cpu == event.cpu) {
            *told = self.now;
        }
    }

    /// Where the first end was lost, if one was.
    pub(super) fn cut(&self) -> Option<Cut> {
        let lost: Vec<_> = self
            .last
            .iter()
            .filter(|(cpu, told)| told.is_loss(self.now, self.steps.is_open_on(*cpu)))
            .collect();
        let events = lost.iter().map(|(_, told)| told.events).min()?;
        let cpus = lost.iter().map(|(cpu, _)| u32::from(*cpu)).collect();
        Some(Cut { cpus, events, behind: self.now.events - events })
    }

    /// What lost its end with these processors, where they serve their own requests; the last to end first.
    pub(super) fn lost_ends(&self) -> Vec<LostEnd> {
        let own = self.last.iter().filter(|(_, told)| told.serves_own());
        let mut lost: Vec<LostEnd> = own.flat_map(|(cpu, told)| self.own.left_by(*cpu, told.at)).collect();
        lost.sort_by_key(|lost| std::cmp::Reverse(lost.at));
        lost
    }
}

/// Of each place the processors that told of what waits there and of what is at the device, in order.
#[derive(Debug, Default)]
struct Steps {
    open: BTreeMap<(u32, u64, Side), [VecDeque<u16>; 2]>,
    /// Whether queueing is traced.
    queues: bool,
}

impl Steps {
    /// Whether a processor began what did not go on.
    fn is_open_on(&self, cpu: u16) -> bool {
        self.open.values().flatten().any(|cpus| cpus.contains(&cpu))
    }

    /// The other processor that began what an event goes on with, and whether its own began a later one there.
    fn go_elsewhere(&mut self, event: &Event) -> Option<(u16, bool)> {
        let step = match event.action {
            Action::Queue => 0,
            Action::Issue => 1,
            Action::Complete => 2,
            _ => return None,
        };
        if self.open.len() > MOST {
            self.open.clear();
        }
        let key = (event.device, event.sector, event.marks.side());
        self.queues |= step == 0;
        let open = self.open.entry(key).or_default();
        let before = if step > 0 { open[step - 1].pop_front() } else { None };
        // Drivers that complete other sectors than they were given dispatch what nobody asked for, and that stays open for ever.
        let is_asked_for = step != 1 || before.is_some() || !self.queues;
        let before = before.filter(|cpu| *cpu != event.cpu);
        let elsewhere = before.map(|cpu| (cpu, open[step - 1].contains(&event.cpu)));
        if let Some(next) = open.get_mut(step).filter(|_| is_asked_for) {
            next.push_back(event.cpu);
        } else if open.iter().all(VecDeque::is_empty) {
            self.open.remove(&key);
        }
        elsewhere
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Marks;
    use headstack_units::Nanos;

    /// Whether an end is found to be lost of 400 requests of four places, of processors 0 to 2 in turn, of which 1 tells nothing
    /// from the 200th on: its requests are `elsewhere` then, or not there at all; of four requests this was told before, by a processor.
    fn is_cut(alone: fn(u64) -> u64, elsewhere: bool, open: Option<(Action, u16)>) -> bool {
        let mut cuts = Cuts::new(&[1]);
        let mut push = |n: u64, action, cpu| {
            let (time, marks) = (Nanos(n), Marks::READ);
            let (sector, bytes, pid, device) = (n % 4 * 8, 4096, 1, 7);
            cuts.push(&Event { time, sector, bytes, pid, device, cpu, action, marks }, alone(n));
        };
        for n in 0..400 {
            if let Some((action, cpu)) = open.filter(|_| n == 200) {
                (0..4).for_each(|n| push(n, action, cpu));
            }
            let cpu = match (n / 4 % 3) as u16 {
                1 if n >= 200 && elsewhere => 3,
                1 if n >= 200 => continue,
                cpu => cpu,
            };
            for action in [Action::Queue, Action::Issue, Action::Complete] {
                push(n, action, cpu);
            }
        }
        cuts.cut().is_some_and(|cut| cut.cpus == [1])
    }

    #[test]
    fn ends_alone_from_the_last_event_on_tell_of_a_loss() {
        assert!(is_cut(|n| n.saturating_sub(200) / 10, false, None));
        // None, or as many as before.
        assert!(!is_cut(|_| 0, false, None));
        assert!(!is_cut(|n| n / 10, false, None));
        assert!(!is_cut(|_| 0, true, None));
    }

    #[test]
    fn what_was_open_and_goes_on_elsewhere_tells_of_a_loss_of_whole_requests() {
        assert!(is_cut(|_| 0, false, Some((Action::Queue, 1))));
    }

    /// Of a trace of 18,312 requests 201 were left out.
    #[test]
    fn what_is_dispatched_and_was_never_asked_for_tells_of_no_loss() {
        assert!(!is_cut(|_| 0, false, Some((Action::Issue, 2))));
    }
}
