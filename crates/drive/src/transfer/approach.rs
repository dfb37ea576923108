//! The arm on its way to a command's first sector.

use super::Parts;
use super::path::Beginning;
use crate::command::Work;
use crate::layout::Extent;
use crate::mechanism::{Arm, Claim, Media, Pass};
use crate::model::DriveModel;
use crate::spec::RotationModel;
use headstack_units::{Nanos, Op};

/// A command whose arm is on its way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Approach {
    /// The command is decoded.
    pub(crate) decoded: Nanos,
    /// The mechanism's path begins, and the phases from submission to there.
    pub(crate) base: Nanos,
    pub(crate) media_lead: Beginning,
    /// The arm counts as on track no sooner than this.
    pub(crate) not_before: Nanos,
    pub(crate) arm: Arm,
    /// When it sets out, and what moving it takes.
    set_out: Nanos,
    pub(crate) seek: Nanos,
    /// Arm movement hidden under the overhead.
    pub(crate) hidden_seek: Nanos,
    /// What the mechanism did before.
    pub(crate) after: Work,
    /// It is a write that goes straight on from an early one.
    pub(crate) goes_on: bool,
    /// Revolutions for which the media work is retried.
    pub(crate) retries: u32,
}

impl Approach {
    /// Claims the mechanism for a command of so many sectors whose media work begins with `target`. The controller turned to it at `at` and
    /// has it decoded at `decoded`; `lead` are the phases up to there. How much of the overhead the arm need not wait for
    /// is the model's to say. The arm is `held` that much longer. `PLAIN` where the model is: nothing is chosen or drawn on the way then.
    #[expect(clippy::inline_always, reason = "its two callers need what it returns in pieces")]
    #[inline(always)]
    pub(crate) fn new<const PLAIN: bool>(
        parts: &mut Parts,
        media: &Media<'_>,
        (target, op, sectors): (&Extent, Op, u32),
        lead: Beginning,
        (at, held): (Nanos, Nanos),
        decoded: Nanos,
    ) -> Self {
        let history = &parts.history;
        let continues = history.continues_write(target.lba);
        let (from, not_before) = media.model.arm_start(op, history.after(), continues, at, decoded);
        let from = from + held;
        let mut retries = 0;
        let under_heads;
        let mut media = media;
        if !PLAIN {
            // A copy: what is lent out lies in memory, and would also where it is not lent.
            let target = *target;
            parts.take_arm(media, (&target, op, sectors), at, from);
            retries = parts.mechanism.draw_retries(media.model, op);
            // Other heads may be at work now.
            under_heads = parts.mechanism.under_heads(media);
            media = &under_heads;
        }
        let behind = parts.mechanism.free_at();
        let claim = parts.mechanism.claim(media, &mut parts.buffer, from);
        let is_behind = media.model.takes_next_write
            && claim.after == Work::Command
            && claim.at == behind
            && behind > from;
        let mut seek = media.seek(claim.arm, target, op);
        let goes_on = op == Op::Write && continues && claim.after == Work::EarlyWrite && claim.at > from;
        if op == Op::Write && !goes_on {
            seek = seek.max(media.model.overhead.least_write_seek);
        }
        let lead = Beginning { overhead: lead.overhead + (not_before - decoded), ..lead };
        // What lies in the buffer does not wait for an arm that starts late.
        Self { decoded, goes_on, retries, ..Self::along(&claim, seek, lead, not_before, is_behind) }
    }

    /// Where the critical path to the first sector runs: through the overhead, through the wait for the mechanism, or
    /// through the seek that began beside the overhead. What `is_behind` a command that the media are not through with waits for it
    /// in the queue.
    #[inline]
    fn along(claim: &Claim, seek: Nanos, lead: Beginning, decoded: Nanos, is_behind: bool) -> Self {
        let mut media_lead = lead;
        let (base, hidden_seek) = if claim.at >= decoded {
            let wait = if is_behind { &mut media_lead.queue } else { &mut media_lead.other };
            *wait += claim.at - decoded;
            (claim.at, Nanos::ZERO)
        } else if claim.at + seek >= decoded {
            let saved = decoded - claim.at;
            media_lead.overhead = media_lead.overhead - saved;
            (claim.at, Nanos::ZERO)
        } else {
            (decoded, seek)
        };
        Self {
            decoded,
            base,
            media_lead,
            not_before: decoded,
            arm: claim.arm,
            set_out: claim.at,
            seek,
            hidden_seek,
            after: claim.after,
            goes_on: false,
            retries: 0,
        }
    }

    /// The same arm on its way elsewhere first, which takes `seek`.
    pub(crate) fn by_way_of(&self, seek: Nanos) -> Self {
        let Self { set_out, not_before, .. } = *self;
        let beside = not_before.saturating_sub(set_out);
        let was_hidden = self.hidden_seek > Nanos::ZERO;
        let is_hidden = seek < beside;
        let mut way = Self { seek, hidden_seek: if is_hidden { seek } else { Nanos::ZERO }, ..*self };
        if is_hidden && !was_hidden && self.base < not_before {
            way.base = not_before;
            way.media_lead.overhead += beside;
        } else if was_hidden && !is_hidden {
            way.base = set_out;
            way.media_lead.overhead = way.media_lead.overhead - beside;
        }
        way
    }

    /// The first pass of a transfer, over `extent`.
    #[expect(clippy::inline_always, reason = "most commands have no other pass")]
    #[inline(always)]
    pub(crate) fn first_pass(&self, media: &Media<'_>, extent: Extent) -> Pass {
        // An arm that is there before the command is decoded shows no seek on the path.
        let (seek, not_before) = if self.hidden_seek > Nanos::ZERO {
            (Nanos::ZERO, self.base)
        } else {
            (self.seek, self.not_before)
        };
        let mut pass = media.first_pass(self.base, not_before, seek, extent);
        if self.retries > 0 {
            (pass.start, pass.end) = media.retried(pass, self.retries);
        }
        pass
    }

    /// The disk as the arm that was put to work sees it, and shifted where the rotational delay is drawn or scaled; `None`
    /// where it is as it was. The head goes to `target` first, and does nothing there before `data_at`. `PLAIN`: as for
    /// [`Approach::new`].
    #[inline]
    pub(crate) fn rotate<'a, const PLAIN: bool>(
        &self,
        parts: &mut Parts,
        media: &Media<'a>,
        at: Nanos,
        (target, op): (Extent, Op),
        data_at: Nanos,
    ) -> Option<Media<'a>> {
        (!PLAIN).then(|| self.rotated(parts, media.model, at, (target, op), data_at))
    }

    /// It goes by value, as what stays with the caller can do without a place in memory.
    #[inline(never)]
    fn rotated<'a>(
        self,
        parts: &mut Parts,
        model: &'a DriveModel,
        at: Nanos,
        (target, op): (Extent, Op),
        data_at: Nanos,
    ) -> Media<'a> {
        let media = parts.mechanism.media(model, at);
        let Pass { ready, .. } =
            Self { seek: media.seek(self.arm, &target, op), ..self }.first_pass(&media, target);
        let ready = ready.max(data_at);
        match model.spec().fidelity.rotation {
            RotationModel::Tracked => parts.mechanism.scale_rotation(&media, at, ready, target.start),
            RotationModel::Uniform => parts.mechanism.draw_rotation(&media, at, ready, target.start),
        }
    }

    /// Tells a listener how the arm set out.
    #[inline]
    pub(crate) fn tell(&self, parts: &mut Parts) {
        parts.log.tell(|narrative| {
            // An arm that starts later than the command is decoded: overhead all the same.
            let beside = self.hidden_seek == Nanos::ZERO && self.base < self.not_before;
            narrative.decoded = if beside { self.decoded.max(self.base) } else { self.not_before };
            narrative.media_base = self.base;
            narrative.waited_for = self.after;
            narrative.from = Some(self.arm.track());
        });
    }
}
