//! Who has the mechanism: foreground work, read-ahead, destage, recalibration; one at a time.

use crate::cache::Cache;
use crate::media::{Arm, Media};
use crate::spec::{RecalibrationMode, RecalibrationSpec};
use crate::stream::Stream;
use headstack_units::Nanos;

/// The mechanism between operations.
#[derive(Clone, Debug)]
pub(crate) struct Mechanism {
    /// Where the arm is when it is free.
    pub(crate) arm: Arm,
    /// Free from here on (read-ahead can be stopped).
    pub(crate) free_at: Nanos,
    /// Read-ahead under way.
    pub(crate) stream: Option<Stream>,
    /// The next recalibration.
    recalibration_due: Nanos,
    /// Time spent in foreground and background operations, for the utilisation.
    pub(crate) busy: Nanos,
}

/// The mechanism, claimed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Claim {
    /// Ours from here on.
    pub(crate) at: Nanos,
    /// Where the arm is.
    pub(crate) arm: Arm,
}

impl Mechanism {
    /// At rest over the first track of the layout.
    pub(crate) fn new(arm: Arm, recalibration: &RecalibrationSpec) -> Self {
        Self {
            arm,
            free_at: Nanos::ZERO,
            stream: None,
            recalibration_due: match recalibration.mode {
                RecalibrationMode::None => Nanos::MAX,
                RecalibrationMode::ByDrive | RecalibrationMode::ByHost => {
                    Nanos::from_s(recalibration.interval_s)
                }
            },
            busy: Nanos::ZERO,
        }
    }

    /// Brings read-ahead to `now`, and what it has read into its segment.
    #[inline]
    pub(crate) fn settle_stream(&mut self, media: &Media<'_>, cache: &mut Cache, now: Nanos) {
        if let Some(stream) = &mut self.stream
            && stream.falls_due(now)
        {
            stream.settle(media, cache, now);
        }
    }

    /// Takes the mechanism at or after `at`: read-ahead is stopped, other work and a recalibration that has fallen due
    /// are waited for.
    #[inline]
    pub(crate) fn claim(&mut self, media: &Media<'_>, cache: &mut Cache, at: Nanos) -> Claim {
        let recalibration = &media.model.spec().recalibration;
        if recalibration.mode == RecalibrationMode::ByDrive {
            while self.recalibration_due.max(self.free_at) <= at {
                let begin = self.recalibration_due.max(self.free_at);
                self.recalibrate(media, cache, recalibration, begin);
            }
        }
        let at = at.max(self.free_at);
        self.settle_stream(media, cache, at);
        if let Some(stream) = &self.stream {
            let release = stream.release(at);
            self.stream = None;
            self.arm = release.arm;
            return Claim { at: release.at, arm: release.arm };
        }
        Claim { at, arm: self.arm }
    }

    /// Recalibrates from `begin` on.
    pub(crate) fn recalibrate(
        &mut self,
        media: &Media<'_>,
        cache: &mut Cache,
        recalibration: &RecalibrationSpec,
        begin: Nanos,
    ) {
        let begin = begin.max(self.free_at);
        self.settle_stream(media, cache, begin);
        if let Some(stream) = self.stream.take() {
            self.arm = stream.release(begin).arm;
        }
        let duration = Nanos::from_ms(recalibration.duration_ms);
        self.free_at = begin + duration;
        self.busy += duration;
        self.recalibration_due = begin + Nanos::from_s(recalibration.interval_s);
    }

    /// Whether the host should let the drive recalibrate.
    pub(crate) fn recalibration_is_due(&self, now: Nanos) -> bool {
        now >= self.recalibration_due
    }

    /// Gives the mechanism back at `at`.
    pub(crate) fn release(&mut self, claimed: Nanos, at: Nanos, arm: Arm) {
        self.arm = arm;
        self.free_at = at;
        self.busy += at.saturating_sub(claimed);
    }
}
