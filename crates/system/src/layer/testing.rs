//! Volumes that ask of the engine what arrays will ask: sub-requests at arbitrary places, several phases, timers.

use std::collections::BTreeMap;

use headstack_units::{Lba, Nanos, Op};

use super::{Below, Call, Completed, Effect, Layer, Members, UnitMap, Volume};
use crate::spec::ArrayOptions;

/// Sectors of a stripe unit.
pub(crate) const STRIPE_SECTORS: u64 = 8;

/// Goes round over the drives, one command for each stripe unit: a long request comes back to the first drive.
#[derive(Clone, Debug)]
pub(crate) struct Stripe {
    drives: Vec<UnitMap>,
}

impl Layer for Stripe {
    fn call(&mut self, _now: Nanos, call: &Call, _below: &dyn Below, effects: &mut Vec<Effect>) {
        let (mut from, end) = (call.lba.0, call.lba.0 + u64::from(call.sectors));
        while from < end {
            let (stripe, within) = (from / STRIPE_SECTORS, from % STRIPE_SECTORS);
            let count = (STRIPE_SECTORS - within).min(end - from);
            let drives = self.drives.len() as u64;
            let lba = Lba(stripe / drives * STRIPE_SECTORS + within);
            let drive = &self.drives[(stripe % drives) as usize];
            drive.map(lba, count as u32, |range| effects.push(call.send(range)));
            from += count;
        }
    }

    fn completed(&mut self, _now: Nanos, child: &Completed, _below: &dyn Below, effects: &mut Vec<Effect>) {
        effects.extend(child.done_with_all());
    }
}

impl Volume for Stripe {
    const IS_STATELESS: bool = true;

    fn check(_level: &str, _drives: usize, _options: &ArrayOptions) -> Option<String> {
        None
    }

    fn new(members: Members) -> Self {
        Self { drives: members.drives }
    }

    fn sectors(&self) -> u64 {
        let drive = self.drives.iter().map(UnitMap::sectors).min().unwrap_or(0);
        drive / STRIPE_SECTORS * STRIPE_SECTORS * self.drives.len() as u64
    }

    fn unit_of(&self, _lba: Lba) -> usize {
        0
    }
}

/// How long a read waits in [`Phased`] before it goes to its drive.
pub(crate) const PAUSE: Nanos = Nanos(3_000_000);

/// A write reads its sectors on all drives first, and then writes them there; a read waits for a while.
#[derive(Clone, Debug)]
pub(crate) struct Phased {
    drives: Vec<UnitMap>,
    /// Writes in their first phase.
    reading: BTreeMap<usize, Call>,
    paused: BTreeMap<u32, Call>,
    next_timer: u32,
}

impl Phased {
    fn send_all(&self, call: &Call, op: Op, effects: &mut Vec<Effect>) {
        let call = Call { op, ..*call };
        for drive in &self.drives {
            drive.map(call.lba, call.sectors, |range| effects.push(call.send(range)));
        }
    }
}

impl Layer for Phased {
    fn call(&mut self, now: Nanos, call: &Call, _below: &dyn Below, effects: &mut Vec<Effect>) {
        if call.op == Op::Write {
            self.reading.insert(call.number, *call);
            self.send_all(call, Op::Read, effects);
        } else {
            self.next_timer += 1;
            self.paused.insert(self.next_timer, *call);
            effects.push(Effect::TimerAt { at: now + PAUSE, tag: self.next_timer });
        }
    }

    fn completed(&mut self, _now: Nanos, child: &Completed, _below: &dyn Below, effects: &mut Vec<Effect>) {
        let Some(number) = child.call.filter(|_| child.left == 0) else { return };
        match self.reading.remove(&number) {
            Some(call) => self.send_all(&call, Op::Write, effects),
            None => effects.extend(child.done_with_all()),
        }
    }

    fn timer(&mut self, _now: Nanos, tag: u32, effects: &mut Vec<Effect>) {
        if let Some(call) = self.paused.remove(&tag) {
            self.drives[0].map(call.lba, call.sectors, |range| effects.push(call.send(range)));
        }
    }
}

impl Volume for Phased {
    fn check(_level: &str, _drives: usize, _options: &ArrayOptions) -> Option<String> {
        None
    }

    fn new(members: Members) -> Self {
        Self { drives: members.drives, reading: BTreeMap::new(), paused: BTreeMap::new(), next_timer: 0 }
    }

    fn sectors(&self) -> u64 {
        self.drives.iter().map(UnitMap::sectors).min().unwrap_or(0)
    }

    fn unit_of(&self, _lba: Lba) -> usize {
        0
    }
}
