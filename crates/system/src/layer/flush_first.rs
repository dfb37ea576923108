//! A flush of a volume of several units: first the caches of all of them, whichever the request itself goes to.

use headstack_units::{Nanos, RequestFlags};

use super::{AnyVolume, Below, Call, Completed, Effect, Layer, Repair};

/// Names the flushes among the sub-requests of a request; volumes count theirs from 0.
const FLUSH: usize = usize::MAX;

/// A volume, some units of which have caches that hold what they have acknowledged. A request marked as a flush begins when
/// all of them have been flushed, and goes on without the mark; a flush alone is complete then. Where no unit has such a
/// cache, a flush alone goes to one of them.
#[derive(Clone, Debug)]
pub(crate) struct FlushFirst {
    volume: AnyVolume,
    /// The units that are flushed.
    units: Vec<usize>,
    /// The unit that answers a flush alone where none of them is.
    any: usize,
    waiting: Vec<Call>,
}

impl FlushFirst {
    pub(crate) fn new(volume: AnyVolume, units: Vec<usize>, any: usize) -> Self {
        Self { volume, units, any, waiting: Vec::new() }
    }

    /// As [`super::Volume::repair`].
    pub(super) fn repair(&self) -> Option<&Repair> {
        self.volume.repair()
    }
}

impl Layer for FlushFirst {
    fn start(&mut self, effects: &mut Vec<Effect>) {
        self.volume.start(effects);
    }

    fn call(&mut self, now: Nanos, call: &Call, below: &dyn Below, effects: &mut Vec<Effect>) {
        let units = match self.units.as_slice() {
            [] if call.sectors == 0 => std::slice::from_ref(&self.any),
            units => units,
        };
        if !call.flags.contains(RequestFlags::FLUSH) || units.is_empty() {
            return self.volume.call(now, call, below, effects);
        }
        self.waiting.push(*call);
        effects.extend(units.iter().map(|&unit| call.flush(unit, FLUSH)));
    }

    fn completed(&mut self, now: Nanos, child: &Completed, below: &dyn Below, effects: &mut Vec<Effect>) {
        if child.tag != FLUSH {
            return self.volume.completed(now, child, below, effects);
        }
        let number = child.call.filter(|_| child.left == 0);
        let Some(index) = self.waiting.iter().position(|call| Some(call.number) == number) else { return };
        let call = self.waiting.remove(index);
        if call.sectors == 0 {
            return effects.extend(child.done_with_all());
        }
        let call = Call { flags: call.flags.without(RequestFlags::FLUSH), ..call };
        self.volume.call(now, &call, below, effects);
    }

    fn timer(&mut self, now: Nanos, tag: u32, effects: &mut Vec<Effect>) {
        self.volume.timer(now, tag, effects);
    }
}
