//! A bus that several drives share: one transfer at a time.
//!
//! The bus decides who gets it and when; what gaining it costs (arbitration, reconnection) is the drive's to add, from
//! the [`BusTiming`].

use std::collections::VecDeque;

use headstack_drive::command::{BusTiming, Ticket};
use headstack_units::{Nanos, Op};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::gauge::Gauge;

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
pub enum Purpose {
    /// A transfer of a drive.
    Transfer(Ticket, Op),
    /// A whole command, from submission to completion, of a drive that does not disconnect.
    Hold,
}

/// Someone who wants the bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Claim {
    /// Who: the position of the drive (actuator) in the system.
    pub unit: usize,
    /// What for.
    pub purpose: Purpose,
    /// Since when.
    pub since: Nanos,
}

/// A bus and its statistics.
#[derive(Clone, Debug)]
pub struct Bus {
    timing: BusTiming,
    arbitration: Arbitration,
    holder: Option<Claim>,
    waiting: VecDeque<Claim>,
    busy: Gauge,
    queue: Gauge,
    grants: u64,
    waited: u128,
    longest_wait: Nanos,
}

impl Bus {
    /// An idle bus.
    pub fn new(timing: BusTiming, arbitration: Arbitration) -> Self {
        Self {
            timing,
            arbitration,
            holder: None,
            waiting: VecDeque::new(),
            busy: Gauge::new(),
            queue: Gauge::new(),
            grants: 0,
            waited: 0,
            longest_wait: Nanos::ZERO,
        }
    }

    /// Rates and fixed costs.
    pub fn timing(&self) -> &BusTiming {
        &self.timing
    }

    /// Who has the bus.
    pub fn holder(&self) -> Option<&Claim> {
        self.holder.as_ref()
    }

    /// Asks for the bus; true if it is granted at once, otherwise the claim waits.
    pub fn claim(&mut self, now: Nanos, claim: Claim) -> bool {
        if self.holder.is_none() {
            self.grant(now, claim);
            true
        } else {
            self.waiting.push_back(claim);
            self.queue.rise(now);
            false
        }
    }

    /// The holder lets go; the claim that is granted now, if any waits.
    pub fn release(&mut self, now: Nanos) -> Option<Claim> {
        debug_assert!(self.holder.is_some(), "a free bus is released");
        self.holder = None;
        self.busy.set(now, 0);
        let next = match self.arbitration {
            Arbitration::Fifo => self.waiting.pop_front(),
            Arbitration::Priority => {
                let first = (0..self.waiting.len()).min_by_key(|&i| (self.waiting[i].unit, i));
                first.and_then(|i| self.waiting.remove(i))
            }
        }?;
        self.queue.fall(now);
        self.grant(now, next);
        Some(next)
    }

    fn grant(&mut self, now: Nanos, claim: Claim) {
        let waited = now.saturating_sub(claim.since);
        self.grants += 1;
        self.waited += u128::from(waited.0);
        self.longest_wait = self.longest_wait.max(waited);
        self.holder = Some(claim);
        self.busy.set(now, 1);
    }

    /// Forgets the statistics of the time before `now`.
    pub fn restart(&mut self, now: Nanos) {
        self.busy.restart(now);
        self.queue.restart(now);
        self.grants = 0;
        self.waited = 0;
        self.longest_wait = Nanos::ZERO;
    }

    /// The statistics since the last restart, up to `now`.
    pub fn use_until(&self, now: Nanos) -> BusUse {
        BusUse {
            busy_ns: self.busy.area_until(now),
            queue_area_ns: self.queue.area_until(now),
            queue_max: self.queue.max(),
            grants: self.grants,
            waited_ns: self.waited,
            longest_wait: self.longest_wait,
        }
    }
}

/// How a bus was used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BusUse {
    /// Time somebody had it.
    pub busy_ns: u128,
    /// Number waiting × time.
    pub queue_area_ns: u128,
    /// Most that waited at a time.
    pub queue_max: u64,
    /// How often it was granted.
    pub grants: u64,
    /// Sum of the times from claim to grant.
    pub waited_ns: u128,
    /// The longest such time.
    pub longest_wait: Nanos,
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

    fn claim(unit: usize, since: u64) -> Claim {
        Claim { unit, purpose: Purpose::Hold, since: Nanos(since) }
    }

    fn order(arbitration: Arbitration) -> Vec<usize> {
        let mut bus = bus(arbitration);
        assert!(bus.claim(Nanos(0), claim(1, 0)));
        for (unit, since) in [(2, 1), (0, 2), (2, 3)] {
            assert!(!bus.claim(Nanos(since), claim(unit, since)));
        }
        std::iter::successors(bus.release(Nanos(10)), |last| {
            let time = Nanos(20 + 10 * last.unit as u64);
            bus.release(time.max(Nanos(40)))
        })
        .map(|claim| claim.unit)
        .collect()
    }

    #[test]
    fn the_longest_waiting_or_the_first_attached_goes_next() {
        assert_eq!(order(Arbitration::Fifo), [2, 0, 2]);
        assert_eq!(order(Arbitration::Priority), [0, 2, 2]);
    }

    #[test]
    fn use_and_waits_add_up() {
        let mut bus = bus(Arbitration::Fifo);
        bus.claim(Nanos(5), claim(0, 5));
        bus.claim(Nanos(7), claim(1, 7));
        assert_eq!(bus.release(Nanos(15)).unwrap().unit, 1);
        assert_eq!(bus.release(Nanos(20)), None);
        let found = bus.use_until(Nanos(30));
        assert_eq!((found.busy_ns, found.queue_area_ns, found.queue_max), (15, 8, 1));
        assert_eq!((found.grants, found.waited_ns, found.longest_wait), (2, 8, Nanos(8)));
    }
}
