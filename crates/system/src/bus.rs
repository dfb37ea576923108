//! A bus that several drives share: one transfer at a time.
//!
//! The bus decides who gets it and when; what gaining it costs (arbitration, reconnection) is the drive's to add, from
//! the [`BusTiming`].

use std::collections::VecDeque;

use headstack_drive::command::{BusTiming, Ticket};
use headstack_units::Nanos;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::engine::BusBook;

/// Who gets a bus that several wait for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Arbitration {
    /// Who has waited longest.
    #[default]
    Fifo,
    /// Who is attached first (lowest position on the bus), as SCSI's priorities do.
    Priority,
}

/// What the bus is wanted for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// A transfer of a drive.
    Transfer(Ticket),
    /// A whole command, from submission to completion, of a drive that does not disconnect.
    Hold,
}

/// Someone who wants the bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Contender {
    /// Who: the position of the drive (actuator) in the system.
    pub(crate) unit: usize,
    /// What for.
    pub(crate) purpose: Purpose,
    /// Since when.
    pub(crate) since: Nanos,
}

/// A bus: who has it, and who waits.
#[derive(Clone, Debug)]
pub(crate) struct Bus {
    timing: BusTiming,
    arbitration: Arbitration,
    holder: Option<Contender>,
    waiting: VecDeque<Contender>,
}

impl Bus {
    /// An idle bus.
    pub(crate) fn new(timing: BusTiming, arbitration: Arbitration) -> Self {
        Self { timing, arbitration, holder: None, waiting: VecDeque::new() }
    }

    /// Rates and fixed costs.
    pub(crate) fn timing(&self) -> &BusTiming {
        &self.timing
    }

    /// Whether nobody has it.
    pub(crate) fn is_free(&self) -> bool {
        self.holder.is_none()
    }

    /// Asks for the bus; true if it is granted at once, otherwise the contender waits.
    pub(crate) fn contend(&mut self, now: Nanos, contender: Contender, book: &mut BusBook) -> bool {
        let is_free = self.holder.is_none();
        if is_free {
            self.holder = Some(contender);
            book.grant(now);
        } else {
            self.waiting.push_back(contender);
            book.wait(now);
        }
        is_free
    }

    /// The holder lets go; the contender that is granted now, if any waits.
    pub(crate) fn release(&mut self, now: Nanos, book: &mut BusBook) -> Option<Contender> {
        debug_assert!(self.holder.is_some(), "a free bus is released");
        book.release(now);
        self.holder = match self.arbitration {
            Arbitration::Fifo => self.waiting.pop_front(),
            Arbitration::Priority => {
                let first = (0..self.waiting.len()).min_by_key(|&i| (self.waiting[i].unit, i));
                first.and_then(|i| self.waiting.remove(i))
            }
        };
        if let Some(next) = &self.holder {
            book.grant_after(next.since, now);
        }
        self.holder
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use headstack_drive::spec::BusSpec;

    fn bus(arbitration: Arbitration) -> Bus {
        let spec = BusSpec {
            kind: String::new(),
            read_mb_per_s: 10.0,
            write_mb_per_s: 10.0,
            arbitration_us: 0.0,
            reconnect_us: 0.0,
            disconnects: true,
        };
        Bus::new(BusTiming::new(&spec), arbitration)
    }

    fn contender(unit: usize, since: u64) -> Contender {
        Contender { unit, purpose: Purpose::Hold, since: Nanos(since) }
    }

    fn order(arbitration: Arbitration) -> Vec<usize> {
        let (mut bus, mut book) = (bus(arbitration), BusBook::default());
        assert!(bus.contend(Nanos(0), contender(1, 0), &mut book));
        for (unit, since) in [(2, 1), (0, 2), (2, 3)] {
            assert!(!bus.contend(Nanos(since), contender(unit, since), &mut book));
        }
        std::iter::successors(bus.release(Nanos(10), &mut book), |last| {
            let time = Nanos(20 + 10 * last.unit as u64);
            bus.release(time.max(Nanos(40)), &mut book)
        })
        .map(|contender| contender.unit)
        .collect()
    }

    #[test]
    fn the_longest_waiting_or_the_first_attached_goes_next() {
        assert_eq!(order(Arbitration::Fifo), [2, 0, 2]);
        assert_eq!(order(Arbitration::Priority), [0, 2, 2]);
    }

    #[test]
    fn use_and_waits_add_up() {
        let (mut bus, mut book) = (bus(Arbitration::Fifo), BusBook::default());
        bus.contend(Nanos(5), contender(0, 5), &mut book);
        bus.contend(Nanos(7), contender(1, 7), &mut book);
        assert_eq!(bus.release(Nanos(15), &mut book).unwrap().unit, 1);
        assert_eq!(bus.release(Nanos(20), &mut book), None);
        let found = book.used(Nanos(30));
        assert_eq!((found.held_ns, found.queue_area_ns, found.queue_max), (15, 8, 1));
        assert_eq!((found.grants, found.waited_ns, found.longest_wait), (2, 8, Nanos(8)));
    }
}
