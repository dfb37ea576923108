//! Where the time of a transfer went: phases along the mechanism's time line, and gross work.

use crate::command::{Busy, Phases};
use crate::mechanism::Pass;
use headstack_units::Nanos;

/// How the time of a command begins: neither the mechanism nor the bus has a part in it yet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Beginning {
    pub(crate) queue: Nanos,
    pub(crate) overhead: Nanos,
    pub(crate) other: Nanos,
}

impl Beginning {
    /// As phases, of which the others are nothing.
    #[inline]
    pub(crate) fn phases(self) -> Phases {
        let Self { queue, overhead, other } = self;
        Phases { queue, overhead, other, ..Phases::default() }
    }
}

/// Phases along the mechanism's time line from `base` to `until`, those before `base` being `lead`.
#[inline]
pub(crate) fn path(passes: &[Pass], base: Nanos, until: Nanos, lead: Phases) -> Phases {
    let mut phases = lead;
    let between = |from: Nanos, to: Nanos| to.min(until).saturating_sub(from.max(base));
    for pass in passes {
        phases.seek += between(pass.begin, pass.ready);
        phases.rotation += between(pass.ready, pass.start);
        phases.transfer += between(pass.start, pass.end);
    }
    phases
}

/// Gross work of passes; of read-ahead under way only what came after `from` counts.
#[inline]
pub(crate) fn busy_of(passes: &[Pass], from: Nanos) -> Busy {
    let mut busy = Busy::default();
    for pass in passes {
        add_busy(&mut busy, pass, from);
    }
    busy
}

/// Adds the gross work of a pass.
#[inline]
pub(crate) fn add_busy(busy: &mut Busy, pass: &Pass, from: Nanos) {
    if pass.begin < from {
        return add_rest(busy, pass, from);
    }
    busy.seek += pass.ready.saturating_sub(pass.begin);
    busy.rotation += pass.start.saturating_sub(pass.ready);
    busy.transfer += pass.end.saturating_sub(pass.start);
}

/// Adds what came of it after `from`.
#[cold]
fn add_rest(busy: &mut Busy, pass: &Pass, from: Nanos) {
    busy.seek += pass.ready.saturating_sub(pass.begin.max(from));
    busy.rotation += pass.start.saturating_sub(pass.ready.max(from));
    busy.transfer += pass.end.saturating_sub(pass.start.max(from));
}
