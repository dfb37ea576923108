//! The order of a drive with native command queueing.

use super::estimate::Estimate;
use super::order::{Choice, Order, Pick};
use super::waiting::{Slot, Waiting};
use crate::command::Command;
use headstack_units::{Nanos, Op, RequestFlags};
use std::collections::BTreeMap;

/// What a limited command that is as old as its limit has ahead of others of its age. Fitted to the one drive of which both
/// classes were published, at one limit (50 ms).
const LIMIT_CREDIT: Nanos = Nanos(26_000_000);

/// Shortest positioning time first with ageing that counts in passes of the queue, not in milliseconds.
///
/// The *base* is the command of the older ones (fewer than half of the queue) with the least positioning time − W · age / n,
/// where n is the number of commands that wait: a command is passed over for about as many passes whether the queue is short
/// or long. On the way to it, what can be read without delaying it goes first, and so does what needs no arm: reads that the
/// buffer holds, writes that it takes, for at most a revolution between two that need it. The choice is put off as long as
/// the disk would not bring the sector any sooner, so that a command that comes in the meantime can join, or, if it needs no
/// arm and is through by then, go first. Whoever lets writes go into the cache so has the arm before any that finds no room there: it
/// would go to the media first, as a piece of the cache, and its successor would come while that goes on.
///
/// A command with a duration limit may always be the base, and gains on the others by the share of its limit that has passed.
///
/// Few commands wait in a drive, so all of them are looked at.
#[derive(Clone, Debug)]
pub(super) struct Ncq {
    /// W, in 2^-16.
    weight_q16: i128,
    by_age: BTreeMap<u64, Slot>,
    /// The base that others go before, by its sequence number.
    base: Option<u64>,
    /// What was chosen to go before a base, and that base.
    detour: Option<(u64, u64)>,
    /// When a command that needs the arm was taken last.
    arm_taken: Nanos,
    /// What was chosen last needs the arm.
    chose_arm: bool,
    /// What needs no arm went while the choice of one that does was put off: that is the next to have the arm.
    owed: bool,
}

impl Ncq {
    /// `weight`: W.
    pub(super) fn new(weight: f64) -> Self {
        let weight_q16 = (weight * 65_536.0).round() as i128;
        Self {
            weight_q16,
            by_age: BTreeMap::new(),
            base: None,
            detour: None,
            arm_taken: Nanos::ZERO,
            chose_arm: false,
            owed: false,
        }
    }

    /// Whether a command needs no arm: a read that the buffer holds, a write that it takes, a discard.
    fn needs_no_arm(choice: &Choice<'_>, slot: Slot) -> bool {
        let media = RequestFlags::FORCE_MEDIA.with(RequestFlags::FLUSH).with(RequestFlags::WRITE_SAME);
        let waiting = &choice.slots[slot];
        match waiting.command.op {
            Op::Read => {
                let is_held = |&(s, e): &(u64, u64)| s <= waiting.command.lba.0 && waiting.end() <= e;
                !waiting.command.is_forced_read() && choice.buffered.iter().any(is_held)
            }
            Op::Write => {
                let Command { flags, sectors, .. } = waiting.command;
                let is_taken = || choice.arms.iter().any(|estimate| estimate.takes_writes(sectors));
                flags.contains(RequestFlags::DISCARD) || (!flags.has_any(media) && is_taken())
            }
        }
    }

    /// Whether a command waits for the arm, and not for room in the cache.
    fn waits_for_arm(choice: &Choice<'_>, slot: Slot) -> bool {
        let command = &choice.slots[slot].command;
        let is_cached =
            command.op == Op::Write && choice.arms.first().is_some_and(|arm| arm.goes_into_cache(command));
        !is_cached && !Self::needs_no_arm(choice, slot)
    }

    /// When a command's first sector comes under the head: at once where it is being read ahead.
    fn start(choice: &Choice<'_>, estimate: &Estimate<'_>, waiting: &Waiting) -> Nanos {
        let Waiting { command, target, .. } = waiting;
        if choice.is_read_on(command) {
            return choice.now;
        }
        estimate.start(command.op, target, command.sectors)
    }

    /// The oldest that needs no arm.
    fn at_once(&self, choice: &Choice<'_>) -> Option<Slot> {
        self.by_age.values().copied().find(|&slot| Self::needs_no_arm(choice, slot))
    }

    /// Whether those that need the arm have let others go first for as long as they do: a revolution.
    fn arm_is_due(&self, choice: &Choice<'_>) -> bool {
        let Some(estimate) = choice.arms.first() else { return false };
        let oldest = self.by_age.values().copied().find(|&slot| !Self::needs_no_arm(choice, slot));
        let waited = |slot: Slot| choice.now.saturating_sub(self.arm_taken.max(choice.slots[slot].arrived));
        oldest.is_some_and(|slot| waited(slot) > estimate.revolution())
    }

    /// The base for an arm, and what it costs.
    fn base(
        &self,
        choice: &Choice<'_>,
        estimate: &Estimate<'_>,
        among: impl Fn(Slot) -> bool,
    ) -> Option<(i128, u64, Slot)> {
        let all = || self.by_age.iter().filter(|(_, slot)| among(**slot));
        let waiting = all().count();
        let age = |slot: Slot| choice.now.saturating_sub(choice.slots[slot].arrived);
        let limit = |slot: Slot| estimate.duration_limit(choice.slots[slot].command.flags, age(slot));
        let cost = |slot: Slot| {
            let arrived = choice.slots[slot].arrived;
            let start = Self::start(choice, estimate, &choice.slots[slot]);
            // Positioning less W · age / n, but for what is the same for all.
            let cost =
                i128::from(start.0) * 65_536 * waiting as i128 + self.weight_q16 * i128::from(arrived.0);
            let Some(limit) = limit(slot) else { return cost };
            let credit =
                i128::from(LIMIT_CREDIT.0) * 65_536 * i128::from(age(slot).0) / i128::from(limit.0.max(1));
            cost - credit * waiting as i128
        };
        let older = older(waiting);
        let in_window =
            |&(place, (_, &slot)): &(usize, (&u64, &Slot))| place < older || limit(slot).is_some();
        let window = all().enumerate().filter(in_window);
        window.map(|(_, (&sequence, &slot))| (cost(slot), sequence, slot)).min()
    }

    /// What can be served on the way to `base` without delaying it: the one that is done soonest.
    fn on_the_way(
        &self,
        choice: &Choice<'_>,
        estimate: &Estimate<'_>,
        base: Slot,
        among: impl Fn(Slot) -> bool,
    ) -> Option<Slot> {
        let goal = &choice.slots[base];
        let start = Self::start(choice, estimate, goal);
        let fits = |&slot: &Slot| {
            let Waiting { command, target, .. } = &choice.slots[slot];
            let soonest = estimate.start(command.op, target, command.sectors)
                + estimate.transfer(target, command.sectors);
            // As with sectors: missed by a tick is on time.
            let start = start + Nanos(1);
            if slot == base || soonest > start || !among(slot) {
                return None;
            }
            let (end, after) = estimate.after(command, target);
            (after.start(goal.command.op, &goal.target, goal.command.sectors) <= start).then_some((end, slot))
        };
        self.by_age.values().filter_map(fits).min().map(|(_, slot)| slot)
    }
}

/// How many of the oldest may be the base: fewer than half, but one.
fn older(waiting: usize) -> usize {
    (waiting.saturating_sub(1) / 2).max(1)
}

impl Order for Ncq {
    fn insert(&mut self, waiting: &Waiting, _at: u64, slot: Slot) {
        self.by_age.insert(waiting.sequence, slot);
    }

    fn remove(&mut self, waiting: &Waiting, _at: u64) {
        self.by_age.remove(&waiting.sequence);
        self.base = match self.detour.take() {
            Some((first, base)) if first == waiting.sequence => Some(base),
            _ => self.base.filter(|&base| base != waiting.sequence),
        };
    }

    fn choose(&mut self, choice: &Choice<'_>) -> Option<Pick> {
        let at_once = self.at_once(choice);
        let arm_only = at_once.is_some() && self.arm_is_due(choice);
        self.chose_arm = at_once.is_none() || arm_only;
        if let Some(slot) = at_once
            && !arm_only
        {
            return Some(Pick::of(slot));
        }
        let owed = self.owed && self.by_age.values().any(|&slot| Self::waits_for_arm(choice, slot));
        let among = |slot: Slot| match (owed, arm_only) {
            (true, _) => Self::waits_for_arm(choice, slot),
            (false, true) => !Self::needs_no_arm(choice, slot),
            (false, false) => true,
        };
        let kept = self.base.and_then(|sequence| Some((sequence, *self.by_age.get(&sequence)?)));
        let kept = kept.filter(|&(_, slot)| among(slot));
        let best = (0..)
            .zip(choice.arms)
            .filter_map(|(arm, estimate)| Some((self.base(choice, estimate, among)?, arm)))
            .min();
        let ((_, sequence, base), arm) = best?;
        let (sequence, base) = kept.unwrap_or((sequence, base));
        self.detour = None;
        if arm_only {
            return Some(Pick { slot: base, arm });
        }
        let slot = match self.on_the_way(choice, &choice.arms[arm as usize], base, among) {
            Some(slot) => {
                self.detour = Some((choice.slots[slot].sequence, sequence));
                slot
            }
            None => base,
        };
        Some(Pick { slot, arm })
    }

    fn taken(&mut self, choice: &Choice<'_>, _at: u64) {
        if self.chose_arm {
            (self.arm_taken, self.owed) = (choice.now, false);
        }
    }

    /// The oldest that needs no arm, if it is through by then: the sector for which the choice is put off comes no later.
    fn meanwhile(&mut self, choice: &Choice<'_>, from: Nanos, until: Nanos) -> Option<Pick> {
        let estimate = choice.arms.first()?;
        let slot = self.at_once(choice)?;
        let Command { op, sectors, .. } = choice.slots[slot].command;
        if estimate.served_by(from, op, sectors) > until {
            return None;
        }
        (self.chose_arm, self.owed) = (false, true);
        Some(Pick::of(slot))
    }

    fn decides_by(&self, choice: &Choice<'_>, pick: Pick) -> Nanos {
        let Waiting { command, target, .. } = &choice.slots[pick.slot];
        let Some(estimate) = choice.arms.get(pick.arm as usize) else { return choice.now };
        // The data of a write come while the arm moves, those of a read that the buffer holds in part, or may be filled with
        // while the choice is put off, may leave sooner: that must not begin later.
        let lba = command.lba.0;
        let mut held = choice.buffered.iter().copied().chain(choice.coming);
        if command.op == Op::Write || held.any(|(s, e)| s <= lba && lba <= e) {
            return choice.now;
        }
        let ready = estimate.ready(command.op, target, command.sectors);
        choice.now + (estimate.start(command.op, target, command.sectors).saturating_sub(ready))
    }
}
