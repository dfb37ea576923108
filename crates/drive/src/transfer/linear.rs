//! A transfer linear in length (the rungs M1 and M2): after positioning, media and bus move the data at the slower of
//! their rates, whatever the tracks between cost on top.

use super::approach::Approach;
use crate::command::{BusTiming, Busy, Phases};
use crate::layout::Extent;
use crate::mechanism::{Arm, Media, Pass};
use headstack_units::{Nanos, Op};

/// The media's part, known before the bus is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Linear {
    /// Seek and rotational delay.
    pub(super) position: Pass,
    /// Phases from submission to the first sector.
    pub(super) lead: Phases,
    /// Fixed costs of track changes.
    switches: Nanos,
    /// The media's time for the sectors.
    media_time: Nanos,
    /// The last extent.
    pub(super) last: Extent,
}

/// How it ended.
#[derive(Clone, Copy, Debug)]
pub(super) struct LinearEnd {
    pub(super) transferred: Nanos,
    pub(super) phases: Phases,
}

impl Linear {
    /// Over addresses `from..end`, whose first extent the arm approaches by `approach`; `position` is the pass over it.
    pub(super) fn new(media: &Media<'_>, approach: &Approach, position: Pass, end: u64, op: Op) -> Self {
        let mut lead = approach.media_lead.phases();
        lead.seek += position.ready - position.begin;
        lead.rotation += position.start - position.ready;
        let (mut turns, mut switches, mut last) = (0.0, Nanos::ZERO, position.extent);
        let mut next = position.lba();
        while next < end {
            let extent = media.extent(next, end - next);
            switches += media.switch(Arm::over(&last), Arm::over(&extent), op);
            last = extent;
            turns += f64::from(extent.sectors) * extent.slot_width.as_turns();
            next += u64::from(extent.sectors);
        }
        let media_time = Nanos((turns * media.epoch.period()).ceil() as u64);
        Self { position, lead, switches, media_time, last }
    }

    /// When the media are through, whatever the bus does.
    pub(super) fn media_end(&self) -> Nanos {
        self.position.start + self.switches + self.media_time
    }

    /// The bus, wanted since the first sector came around, is granted at `granted` for a transfer that takes it `on_bus`.
    pub(super) fn end(&self, granted: Nanos, bus: &BusTiming, on_bus: Nanos) -> LinearEnd {
        // A transfer linear in length knows no disconnects.
        let setup = bus.arbitration;
        let mut phases = self.lead;
        phases.queue += granted - self.position.start;
        phases.bus += setup;
        phases.seek += self.switches;
        if on_bus >= self.media_time {
            phases.bus += on_bus;
        } else {
            phases.transfer += self.media_time;
        }
        let transferred = granted + setup + self.switches + on_bus.max(self.media_time);
        LinearEnd { transferred, phases }
    }

    /// The mechanism's gross work.
    pub(super) fn busy(&self) -> Busy {
        Busy {
            seek: (self.position.ready - self.position.begin) + self.switches,
            rotation: self.position.start - self.position.ready,
            transfer: self.media_time,
            bus: Nanos::ZERO,
        }
    }
}
