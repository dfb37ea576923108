//! Keeping a drive's spindle in step with the measured times.

use headstack_drive::command::Outcome;
use headstack_drive::{Drive, Rebase};
use headstack_phase::{Tracker, TrackerDiagnostics, TrackerOptions};
use headstack_units::{Angle, Nanos};

/// One drive's spindle, and what is known of its phase.
#[derive(Clone, Debug)]
pub(crate) struct Lock {
    tracker: Tracker,
    /// The correction in force, in turns.
    applied: f64,
    period_ns: f64,
}

/// A turn, in units of an [`Angle`].
const TURN: f64 = 18_446_744_073_709_551_616.0;

impl Lock {
    /// For a drive whose spindle turns at a constant speed; the angles of `learn_zones` are learnt on the way.
    pub(crate) fn new(drive: &Drive, learn_zones: Vec<u32>) -> Self {
        let options = TrackerOptions { learn_zones, ..TrackerOptions::default() };
        let period_ns = 60e9 / drive.model().spec().rotation_rpm;
        Self { tracker: Tracker::new(options), applied: 0.0, period_ns }
    }

    /// Before a command at `at` for the sector `lba`: the spindle is where the requests so far say.
    pub(crate) fn steer(&mut self, drive: &mut Drive, at: Nanos, lba: u64) {
        let zone = drive.model().layout.locate(lba).zone;
        let wanted = self.tracker.predict(at, zone);
        let shift = wanted - self.applied;
        let shift = shift - shift.round();
        if shift != 0.0 {
            drive.relock(at, Angle((shift.rem_euclid(1.0) * TURN) as u64));
        }
        self.applied = wanted;
    }

    /// After a command, which was really complete at another instant than the model's.
    pub(crate) fn learn(&mut self, drive: &mut Drive, outcome: &Outcome, to: Rebase) {
        let late_ns = to.measured_finish.0 as f64 - outcome.finish.0 as f64;
        // A sector that comes late shows a disk that is behind.
        let seen = self.applied - late_ns / self.period_ns;
        if outcome.passed.is_some() && self.tracker.is_last_better() {
            // What it has in hand lies beside that sector, and where that is is known better than the rest.
            drive.rebase(to);
            self.applied = seen;
        } else {
            drive.rebase_on_clock(to);
        }
        let Some(passed) = outcome.passed else { return };
        let zone = drive.model().layout.locate(passed.lba.0).zone;
        self.tracker.observe(to.measured_finish, zone, seen);
    }

    /// How it went.
    pub(crate) fn diagnostics(&self) -> TrackerDiagnostics {
        self.tracker.diagnostics()
    }
}
