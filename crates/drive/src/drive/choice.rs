//! Which of the waiting commands the controller turns to, and what the scheduler is told of the buffer for that.

use super::Drive;
use crate::scheduler::{Estimate, Held, Needs, Taken, Waiting, overhead};
use crate::transfer::{destage_until, share_before_choice};
use headstack_units::{Nanos, Op};

impl Drive {
    /// Takes the next command out of the queue, to which the controller can turn at `at`; or, if the choice can be put off
    /// beyond `now`, until when.
    pub(super) fn choose(&mut self, at: Nanos, now: Nanos) -> Option<Result<Waiting, Nanos>> {
        let needs = self.queue.policy().needs();
        if needs == Needs::Addresses {
            return self.queue.pop(at, &[], &[]).map(|taken| Ok(taken.waiting));
        }
        if self.model.write_back.is_some() {
            destage_until(&self.model, &mut self.parts, at);
            // One command alone gives the buffer its share when it is dispatched, if it needs the arm.
            if self.queue.len() > 1 {
                share_before_choice(&self.model, &mut self.parts, self.queue.reads(), at);
            }
        }
        // Which arm serves a command is chosen when it is dispatched, again.
        if self.model.arm_angles.len() == 1
            && let Some(only) = self.queue.pop_only()
        {
            return Some(Ok(only));
        }
        let [coming, read_on] = self.look_into_buffer(at);
        let now = if self.model.puts_choices_off { now } else { Nanos::MAX };
        let held = Held { buffered: &self.buffered, coming, read_on };
        let Self { model, parts, queue, endings, .. } = self;
        let mut pop = |arms: &[Estimate<'_>]| match queue.pop_by(at, now, arms, held) {
            // Nothing is put off that would end meanwhile.
            Some(Err(until)) if endings.next().is_some_and(|end| end <= until) => {
                queue.pop_by(at, Nanos::MAX, arms, held)
            }
            popped => popped,
        };
        let taken = if model.arm_angles.len() == 1 {
            pop(&[parts.estimate(model, at)])?
        } else {
            // Which arm serves the command follows from the command: the same that was best for it here.
            pop(&parts.estimates(model, at))?
        };
        // Nothing of the drive's own begins while a command that needs the arm waits for the last moment to be begun.
        if let Err(until) | Ok(Taken { put_off: Some(until), .. }) = taken {
            parts.buffer.keep_arm_until(until);
        }
        // Whatever goes first: the arm is wanted.
        if model.write_back.is_some() && queue.reads().any(|(start, end)| !parts.buffer.may_know(start, end))
        {
            parts.history.wanted_at(at);
        }
        Some(taken.map(|taken| taken.waiting))
    }

    /// What a scheduler that knows the cache is told, if that makes a difference at `at`: what it holds goes into `buffered`; what
    /// read-ahead under way may come to hold, and what of it will have been read when a read has been decoded.
    #[inline]
    pub(super) fn look_into_buffer(&mut self, at: Nanos) -> [Option<(u64, u64)>; 2] {
        self.buffered.clear();
        let policy = self.queue.policy();
        // Among one there is nothing to choose, unless it may be put off.
        if policy.needs() != Needs::Cache || (self.queue.len() == 1 && !policy.puts_choices_off()) {
            return [None; 2];
        }
        let media = self.parts.mechanism.media_ahead(&self.model, at);
        self.parts.buffer.held(&media, at, self.queue.reads(), &mut self.buffered);
        let decoded = at + overhead(&self.model, Op::Read, self.parts.history.after());
        [self.parts.buffer.coming(), self.parts.buffer.read_by(&media, decoded)]
    }
}
