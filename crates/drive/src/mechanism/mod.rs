//! The arm at work and its disk, in motion: where the arm is, who has it, and since when the disk turns at its present
//! speed; and the arms beside it, where there are some.

mod arms;
mod channel;
mod media;
mod pass;
mod retries;
#[cfg(test)]
mod tests;
mod timeline;

pub(crate) use arms::{Other, Rests};
pub(crate) use media::{Media, Still};
pub(crate) use pass::{Arm, Pass};
pub use timeline::{BusyTimes, Worked};
pub(crate) use timeline::{Diary, Span};

use crate::command::Work;
use crate::mechanics::{Spindle, hash};
use crate::model::DriveModel;
use crate::power::Rest;
use crate::spec::{ArmDesign, RecalibrationMode, RecalibrationSpec};
use arms::Arms;
use channel::Channel;
use headstack_units::{Angle, Nanos, Op};
use retries::Retries;

/// An arm, free or at work, over a turning disk.
#[derive(Clone, Debug)]
pub(crate) struct Mechanism {
    /// As the arm at work sees it.
    spindle: Spindle,
    /// Where the arm is when it is free.
    arm: Arm,
    /// Free from here on (read-ahead can be stopped).
    free_at: Nanos,
    /// What it did up to then.
    last_work: Work,
    /// The next recalibration.
    recalibration_due: Nanos,
    /// Rests in power conditions that came to an end and were not asked for yet, where somebody keeps books of them.
    rests: Vec<Rest>,
    busy: BusyTimes,
    /// Work that was not asked for yet, where somebody keeps books of it.
    spans: Vec<Span>,
    /// So many of them have been told, and make room when the next comes.
    told_spans: usize,
    keeps_spans: bool,
    /// Kept where somebody asks what commands waited for.
    diary: Option<Box<Diary>>,
    /// Draws of the uniform rotational delay so far, and their seed.
    draws: u64,
    seed: u64,
    retries: Retries,
    /// The arm at work is one of these.
    arms: Arms,
    /// Several are at work at a time.
    overlap: bool,
    /// The one channel that they share, where there is but one.
    channel: Option<Channel>,
}

/// The mechanism, claimed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Claim {
    /// Ours from here on.
    pub(crate) at: Nanos,
    /// Where the arm is.
    pub(crate) arm: Arm,
    /// What it did before.
    pub(crate) after: Work,
}

/// Work that lets go of the arm when somebody else needs it.
pub(crate) trait GivesWay {
    /// Stops at or after `at`; `None` where nothing is under way.
    fn give_way(&mut self, media: &Media<'_>, at: Nanos) -> Option<Release>;
}

/// The arm, let go of.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Release {
    /// When the mechanism is free.
    pub(crate) at: Nanos,
    /// Where the arm is then.
    pub(crate) arm: Arm,
}

/// A move that is none, or that is told with other work.
const NOWHERE: (u32, u32) = (0, 0);

impl Mechanism {
    /// At rest over the first track of the layout. `seed` drives the spindle's drift and the uniform rotational delay.
    pub(crate) fn new(model: &DriveModel, seed: u64) -> Self {
        let spec = model.spec();
        let mut spindle = Spindle::new(spec.rotation_rpm, &spec.spindle, seed);
        spindle.see_from(model.arm_angles[0]);
        let arm = Arm::over(&model.layout.extent(0, 1));
        Self {
            spindle,
            arm,
            arms: Arms::new(model, arm),
            overlap: model.arms_overlap,
            channel: (spec.arms.design == ArmDesign::MultiMoving).then(Channel::default),
            free_at: Nanos::ZERO,
            last_work: Work::Command,
            recalibration_due: match spec.recalibration.mode {
                RecalibrationMode::None => Nanos::MAX,
                RecalibrationMode::ByDrive | RecalibrationMode::ByHost => {
                    Nanos::from_s(spec.recalibration.interval_s)
                }
            },
            rests: Vec::new(),
            busy: BusyTimes::default(),
            spans: Vec::new(),
            told_spans: 0,
            keeps_spans: false,
            diary: None,
            draws: 0,
            seed,
            retries: Retries::new(seed),
        }
    }

    /// Whether everything to come is the same with `other`. What it worked on before changes nothing.
    pub(crate) fn has_same_future(&self, other: &Self) -> bool {
        let Self {
            spindle,
            arm,
            free_at,
            last_work,
            recalibration_due,
            rests: _,
            busy: _,
            spans: _,
            told_spans: _,
            keeps_spans: _,
            diary: _,
            draws,
            seed,
            retries,
            arms,
            overlap,
            channel,
        } = self;
        *spindle == other.spindle
            && *arm == other.arm
            && *free_at == other.free_at
            && *last_work == other.last_work
            && *recalibration_due == other.recalibration_due
            && *draws == other.draws
            && *seed == other.seed
            && *retries == other.retries
            && arms.has_same_future(&other.arms)
            && *overlap == other.overlap
            && *channel == other.channel
    }

    /// Counts its work from here on.
    pub(crate) fn forget_busy(&mut self) {
        self.busy = BusyTimes::default();
    }

    /// Counts work done before, too.
    pub(crate) fn add_busy(&mut self, before: &BusyTimes) {
        self.busy.add_all(before);
    }

    /// Where the arm is when it is free.
    #[inline]
    pub(crate) fn arm(&self) -> Arm {
        self.arm
    }

    /// From when on it is free.
    #[inline]
    pub(crate) fn free_at(&self) -> Nanos {
        self.free_at
    }

    /// What it worked on last.
    #[inline]
    pub(crate) fn last_work(&self) -> Work {
        self.last_work
    }

    /// What it worked on, by kind.
    pub(crate) fn busy(&self) -> &BusyTimes {
        &self.busy
    }

    /// The disk as it turns at `now`.
    #[inline]
    pub(crate) fn media<'a>(&mut self, model: &'a DriveModel, now: Nanos) -> Media<'a> {
        Media { model, epoch: self.spindle.epoch_at(now), still: self.still(model) }
    }

    /// The disk as it will turn at `at`, for one who only looks: the rotation stays as it was last asked for.
    #[inline]
    pub(crate) fn media_ahead<'a>(&self, model: &'a DriveModel, at: Nanos) -> Media<'a> {
        Media { model, epoch: self.spindle.epoch_ahead(at), still: self.still(model) }
    }

    /// The disk as it turned when it was last asked for.
    pub(crate) fn present_media<'a>(&self, model: &'a DriveModel) -> Media<'a> {
        Media { model, epoch: self.spindle.present_epoch(), still: self.still(model) }
    }

    /// The same disk under the heads that are at work now.
    pub(crate) fn under_heads<'a>(&self, media: &Media<'a>) -> Media<'a> {
        Media { still: self.still(media.model), ..*media }
    }

    /// The heads at work, if they stand still.
    #[inline]
    fn still(&self, model: &DriveModel) -> Option<Still> {
        if model.reach.has_fixed() { self.arms.still() } else { None }
    }

    /// Whether the disk turns at another speed at `at` than when it was last asked.
    #[inline]
    pub(crate) fn changes_speed_by(&self, at: Nanos) -> bool {
        self.spindle.changes_by(at)
    }

    /// Takes the mechanism at or after `at`: read-ahead is stopped; other work, a recalibration that has fallen due and a drive
    /// that must wake up first are waited for.
    #[expect(clippy::inline_always, reason = "every command comes here, and needs what it returns in pieces")]
    #[inline(always)]
    pub(crate) fn claim(&mut self, media: &Media<'_>, ahead: &mut impl GivesWay, at: Nanos) -> Claim {
        if self.recalibration_due <= at {
            self.catch_up(media, ahead, at);
        }
        if at.saturating_sub(self.free_at) >= media.model.rests_after {
            self.wake(media, ahead, at);
        }
        let at = at.max(self.free_at);
        match ahead.give_way(media, at) {
            Some(release) => {
                if release.at > at
                    && let Some(diary) = &mut self.diary
                {
                    diary.note(Work::ReadAhead, at, release.at);
                }
                self.arm = release.arm;
                Claim { at: release.at, arm: release.arm, after: Work::ReadAhead }
            }
            None => Claim { at, arm: self.arm, after: self.last_work },
        }
    }

    /// A recalibration has fallen due by `at`: the drive begins it where the mechanism is free by then.
    #[cold]
    pub(crate) fn catch_up(&mut self, media: &Media<'_>, ahead: &mut impl GivesWay, at: Nanos) {
        let recalibration = &media.model.spec().recalibration;
        if recalibration.mode != RecalibrationMode::ByDrive {
            return;
        }
        while self.recalibration_due.max(self.free_at) <= at {
            let begin = self.recalibration_due.max(self.free_at);
            // A drive in a power condition does not wake for it: it comes when the drive is awake.
            if begin.saturating_sub(self.all_free()) >= media.model.rests_after {
                return;
            }
            self.recalibrate(media, ahead, recalibration, begin);
        }
    }

    /// The arm, which has rested long enough for a power condition, is needed at `at`.
    #[cold]
    fn wake(&mut self, media: &Media<'_>, ahead: &mut impl GivesWay, at: Nanos) {
        // Other arms may have worked since, or do.
        let since = self.all_free();
        if at.saturating_sub(since) < media.model.rests_after {
            return;
        }
        if let Some(release) = ahead.give_way(media, at) {
            self.arm = release.arm;
        }
        self.free_at = media.model.conditions.awake(since, at);
        if self.keeps_spans {
            self.rests.push(Rest { since, woken: at, ready: self.free_at });
        }
        self.last_work = Work::Wake;
        self.note(Work::Wake, at, self.free_at, NOWHERE);
        self.arms.hold_until(self.free_at);
    }

    /// Arms that have failed by `now` are out of use from here on.
    pub(crate) fn retire_arms(&mut self, now: Nanos) {
        self.arms.retire(now);
    }

    /// The arms that can go to work at `at`, by number; where all are at work, the first that can.
    pub(crate) fn idle_arms(&self, at: Nanos) -> impl Iterator<Item = Other> + '_ {
        let from = at.max(self.next_free());
        self.arms.all(self.free_at).filter(move |arm| !self.overlap || arm.free_at <= from)
    }

    /// Which of the head sets in use was put to work last.
    pub(crate) fn heads_at_work(&self) -> usize {
        self.arms.at_work()
    }

    /// From when on an arm is free.
    pub(crate) fn next_free(&self) -> Nanos {
        if !self.overlap {
            return self.free_at;
        }
        self.arms.all(self.free_at).map(|arm| arm.free_at).min().unwrap_or(self.free_at)
    }

    /// From when on all arms are free, those that failed at their last work, too.
    pub(crate) fn all_free(&self) -> Nanos {
        if !self.overlap {
            return self.free_at;
        }
        self.arms.last_free(self.free_at)
    }

    /// The heads at `index` of those in use go to work at or after `at`; those that stand still are `over` the track that is
    /// wanted. Where only one arm moves at a time, it waits for a move of the one that worked before.
    pub(crate) fn put_to_work(
        &mut self,
        media: &Media<'_>,
        ahead: &mut impl GivesWay,
        at: Nanos,
        (index, over): (usize, Arm),
    ) {
        if index == self.arms.at_work() && !self.arms.stands_still(index) {
            return;
        }
        let at = at.max(self.free_at);
        if let Some(release) = ahead.give_way(media, at) {
            self.rest(media, release, at);
        }
        let (arm, free_at, later) = self.arms.change(self.arm, self.free_at, index);
        self.arm = if self.arms.stands_still(index) { over } else { arm };
        if self.overlap {
            self.free_at = free_at;
        }
        self.spindle.see_from(later);
    }

    /// The first pass of a transfer over all arms' one channel: it begins when no other transfer is in its way, and ends before
    /// one that is to come if it `ends` with this pass. Nothing that is asked for later begins before `at`.
    pub(crate) fn through_channel(
        &mut self,
        media: &Media<'_>,
        at: Nanos,
        mut pass: Pass,
        ends: bool,
    ) -> Pass {
        let Some(channel) = &mut self.channel else { return pass };
        let again = |pass: &Pass, from: Nanos| {
            media.pass_from(pass.extent, pass.offset, pass.sectors, pass.begin, pass.ready, from)
        };
        if !ends && channel.free_at() > pass.start {
            pass = again(&pass, channel.free_at());
        }
        while let Some(free) = channel.conflict(pass.start, pass.end) {
            pass = again(&pass, free);
        }
        channel.begin(at, pass.start);
        pass
    }

    /// The transfer that went through the channel last ends at `at`.
    pub(crate) fn leave_channel(&mut self, at: Nanos) {
        if let Some(channel) = &mut self.channel {
            channel.end(at);
        }
    }

    /// Recalibrates from `begin` on, or as soon as the mechanism is free.
    pub(crate) fn recalibrate(
        &mut self,
        media: &Media<'_>,
        ahead: &mut impl GivesWay,
        recalibration: &RecalibrationSpec,
        begin: Nanos,
    ) {
        let begin = begin.max(self.all_free());
        if let Some(release) = ahead.give_way(media, begin) {
            self.arm = release.arm;
        }
        let duration = Nanos::from_ms(recalibration.duration_ms);
        self.free_at = begin + duration;
        self.last_work = Work::Recalibration;
        self.note(Work::Recalibration, begin, self.free_at, NOWHERE);
        self.recalibration_due = begin + Nanos::from_s(recalibration.interval_s);
        self.arms.hold_until(self.free_at);
    }

    /// Whether the host should let the drive recalibrate.
    pub(crate) fn recalibration_is_due(&self, now: Nanos) -> bool {
        now >= self.recalibration_due
    }

    /// Gives the mechanism back at `at`, the arm being where the work ended.
    #[inline]
    pub(crate) fn release(&mut self, work: Work, claimed: Nanos, at: Nanos, arm: Arm) {
        let moved = (self.arms.sets_out(self.arm, arm), arm.cylinder);
        self.arm = arm;
        self.free_at = at;
        self.last_work = work;
        self.note(work, claimed, at, moved);
    }

    /// Read-ahead under way becomes the work of a command from `from` until `done`.
    pub(crate) fn take_over(&mut self, from: Nanos, done: Nanos) {
        self.note(Work::Command, from, done, NOWHERE);
        self.free_at = self.free_at.max(done);
        self.last_work = Work::Command;
    }

    /// Read-ahead stops at `now`: the arm is free. Reading ahead is rest: neither its clock nor a power condition ends with it.
    pub(crate) fn rest(&mut self, media: &Media<'_>, release: Release, now: Nanos) {
        self.arm = release.arm;
        let sleeps = release.at.saturating_sub(self.all_free()) >= media.model.rests_after;
        if release.at > self.free_at && release.at > now && !sleeps {
            // What follows waits for the arm to get to the next track, and not for the command that was done before.
            if let Some(diary) = &mut self.diary {
                diary.note(Work::ReadAhead, now.max(self.free_at), release.at);
            }
            (self.free_at, self.last_work) = (release.at, Work::ReadAhead);
        }
    }

    /// It is at work, and where the arm ends is told with other work or not at all (a command of constant duration).
    pub(crate) fn book(&mut self, from: Nanos, to: Nanos) {
        self.note(Work::Command, from, to, NOWHERE);
    }

    /// It is at work from `from` to `to`, and the arm moved between two cylinders.
    #[inline]
    fn note(&mut self, work: Work, from: Nanos, to: Nanos, moved: (u32, u32)) {
        self.busy.add(work, to.saturating_sub(from));
        if self.keeps_spans {
            if let Some(diary) = &mut self.diary {
                diary.note(work, from, to);
            }
            if self.told_spans == self.spans.len() {
                self.spans.clear();
                self.told_spans = 0;
            }
            self.spans.push(Span { from, to, moved });
        }
    }

    /// Keeps from when to when it works, for [`Mechanism::take_spans`] and [`Mechanism::take_rests`].
    pub(crate) fn keep_spans(&mut self) {
        self.keeps_spans = true;
    }

    /// Remembers what it does, too, for [`Mechanism::diary`].
    pub(crate) fn keep_diary(&mut self) {
        self.keeps_spans = true;
        self.diary.get_or_insert_default();
    }

    /// What it did last, if that is kept.
    pub(crate) fn diary(&self) -> Option<&Diary> {
        self.diary.as_deref()
    }

    /// From when to when it worked, or is known to work, since this was asked last; nothing where that is not kept.
    #[inline]
    pub(crate) fn take_spans(&mut self) -> impl Iterator<Item = Span> + '_ {
        let told = std::mem::replace(&mut self.told_spans, self.spans.len());
        self.spans[told..].iter().copied()
    }

    /// The rests in power conditions that came to an end since this was asked last; none where that is not kept.
    pub(crate) fn take_rests(&mut self) -> impl Iterator<Item = Rest> + '_ {
        self.rests.drain(..)
    }

    /// Whether there are some.
    #[inline]
    pub(crate) fn has_rested(&self) -> bool {
        !self.rests.is_empty()
    }

    /// Revolutions that the media work of the next command is retried for.
    pub(crate) fn draw_retries(&mut self, model: &DriveModel, op: Op) -> u32 {
        model.spec().soft_errors.as_ref().map_or(0, |spec| self.retries.draw(spec, op))
    }

    /// Draws the rotational delay of a command: the disk is shifted so that the drawn delay comes out for a head that
    /// is on track at `ready` and wants the sector at `target`.
    pub(crate) fn draw_rotation<'a>(
        &mut self,
        media: &Media<'a>,
        at: Nanos,
        ready: Nanos,
        target: Angle,
    ) -> Media<'a> {
        self.draws += 1;
        let wait = media.model.scaled_wait(hash(self.seed, self.draws));
        let wanted = target - Angle(wait);
        self.spindle.relock(at, wanted - media.epoch.angle(ready));
        self.media(media.model, at)
    }

    /// The wait of a head that is on track at `ready` for the sector at `target` is scaled as the model says: the disk jumps
    /// ahead at `at`.
    pub(crate) fn scale_rotation<'a>(
        &mut self,
        media: &Media<'a>,
        at: Nanos,
        ready: Nanos,
        target: Angle,
    ) -> Media<'a> {
        if !media.model.scales_rotation() || media.epoch.next(ready, target) == ready {
            return *media;
        }
        let wait = media.epoch.angle(ready).until(target);
        self.spindle.relock(at, Angle(wait.0 - media.model.scaled_wait(wait.0)));
        self.media(media.model, at)
    }

    /// The time of a turn, in ns.
    pub(crate) fn turn_ns(&self) -> f64 {
        self.spindle.nominal_period_ns()
    }

    /// Shifts the disk's angle from `now` on.
    pub(crate) fn relock(&mut self, now: Nanos, shift: Angle) {
        self.spindle.relock(now, shift);
    }

    /// The work in hand happens at another time.
    pub(crate) fn rebase(&mut self, moved: impl Fn(Nanos) -> Nanos) {
        self.free_at = moved(self.free_at);
        self.arms.rebase(&moved);
        if let Some(channel) = &mut self.channel {
            channel.rebase(&moved);
        }
    }
}
