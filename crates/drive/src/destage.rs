//! Buffered writes on their way to the media, when nobody is waiting or room is needed.

use crate::begin_write::physical_range;
use crate::command::Background;
use crate::drive::Drive;
use crate::media::Arm;
use crate::read::{busy_of, passes_in_order};
use crate::spec::WritePolicy;
use headstack_units::{Nanos, Op};
use std::sync::Arc;

/// At most this many sectors go to the media in one piece, so that a waiting command does not wait for too much.
const LARGEST_PIECE: u64 = 2048;

impl Drive {
    /// What the drive did of its own accord before `until`: buffered writes in idle time.
    #[inline]
    pub(crate) fn run_background(&mut self, until: Nanos) {
        if !self.dirty.is_empty() {
            self.destage_when_idle(until);
        }
    }

    fn destage_when_idle(&mut self, until: Nanos) {
        let WritePolicy::WriteBack { idle_before_destage_ms, .. } = self.model.spec().write_policy else {
            return;
        };
        let idle = Nanos::from_ms(idle_before_destage_ms);
        while !self.dirty.is_empty() {
            let start = self.mechanism.free_at.max(self.idle_since + idle);
            if start >= until {
                return;
            }
            self.destage_one(start);
        }
    }

    /// The buffered run nearest to the arm goes to the media at or after `at`; returns when it is there.
    pub(crate) fn destage_one(&mut self, at: Nanos) -> Nanos {
        let run = self.dirty.nearest(self.last_lba, LARGEST_PIECE);
        run.map_or(at, |run| self.destage(run, at))
    }

    /// One buffered run goes to the media at or after `at`; returns when it is there.
    pub(crate) fn destage(&mut self, (start, end): (u64, u64), at: Nanos) -> Nanos {
        let model = Arc::clone(&self.model);
        let media = Self::media(&model, &mut self.spindle, at);
        let claim = self.mechanism.claim(&media, &mut self.cache, at);
        let (from, stop) = physical_range(&media, start, end);
        let target = model.layout.extent(from, stop - from);
        let mut passes = Vec::new();
        let mut arm = claim.arm;
        let mut begin = claim.at;
        let ops: &[Op] = if (from, stop) == (start, end) { &[Op::Write] } else { &[Op::Read, Op::Write] };
        for &op in ops {
            let seek = media.seek(arm, &target, op);
            let first = media.first_pass(begin, begin, seek, target);
            passes_in_order(&media, first, stop, op, &mut passes);
            let last = passes.last().expect("a run has sectors");
            (begin, arm) = (last.end, Arm::over(&last.extent));
        }
        self.mechanism.release(claim.at, begin, arm);
        self.dirty.remove(start, end);
        self.last_lba = end;
        self.background.push(Background {
            lba: headstack_units::Lba(start),
            sectors: (end - start) as u32,
            start: claim.at,
            finish: begin,
            busy: busy_of(&passes, Nanos::ZERO),
        });
        begin
    }
}
