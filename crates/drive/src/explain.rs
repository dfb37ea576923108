//! The story of one command: what the mechanism did, step by step.

use crate::begin::Approach;
use crate::command::{Background, BusTiming, Command, Outcome};
use crate::drive::Drive;
use crate::media::Pass;
use crate::read::ReadPlan;
use crate::write::WritePlan;
use headstack_units::{Angle, Nanos};

/// One step of a command's way.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// What happens: `overhead`, `wait`, `seek`, `rotation`, `transfer`, `bus`.
    pub label: &'static str,
    /// When it begins.
    pub start: Nanos,
    /// When it ends.
    pub end: Nanos,
    /// The cylinder at the end of the step.
    pub cylinder: u32,
    /// The head at the end of the step.
    pub head: u32,
    /// The spindle's angle at the start, in turns.
    pub start_turns: f64,
    /// The spindle's angle at the end, in turns.
    pub end_turns: f64,
    /// For people: distances, sectors, what was just missed.
    pub note: String,
}

/// What the mechanism did for the last command.
#[derive(Clone, Debug, Default)]
pub(crate) struct Story {
    passes: Vec<Pass>,
    decoded: Nanos,
    media_base: Nanos,
    bus_at: Nanos,
    received: Option<Nanos>,
    from: Option<(u32, u32)>,
    /// Part of a physical sector is written: the whole of it is read before.
    reads_first: bool,
}

impl Drive {
    pub(crate) fn tell(&mut self, way: &Approach, passes: &[Pass], bus_at: Nanos) {
        if let Some(story) = &mut self.story {
            story.passes = passes.to_vec();
            story.decoded = way.decoded;
            story.media_base = way.base;
            story.bus_at = bus_at;
        }
    }

    #[inline]
    pub(crate) fn tell_plan(&mut self, plan: &ReadPlan) {
        if let Some(story) = &mut self.story {
            story.passes = plan.own_passes();
            // An arm that starts later than the command is decoded: overhead all the same.
            let later = plan.media_lead.overhead.saturating_sub(plan.lead.overhead);
            story.decoded = plan.decoded + later;
            story.media_base = plan.media_base;
            story.bus_at = plan.bus_at;
        }
    }

    #[inline]
    pub(crate) fn tell_write(&mut self, plan: &WritePlan, passes: &[Pass], received: Nanos) {
        if let Some(story) = &mut self.story {
            story.passes = passes.to_vec();
            story.decoded = plan.decoded;
            story.reads_first = plan.media_sectors != u64::from(plan.command.sectors);
            story.media_base = plan.media_base;
            story.bus_at = plan.bus_at;
            story.received = Some(received);
        }
    }

    /// Serves one command as [`Drive::serve`] does, and tells what happened on the way.
    ///
    /// # Panics
    /// As [`Drive::serve`].
    pub fn explain(&mut self, at: Nanos, command: Command, bus: &BusTiming) -> (Outcome, Vec<Step>) {
        let from = self.mechanism.arm.track();
        self.story = Some(Story { from: Some(from), ..Story::default() });
        let mut background: Vec<Background> = Vec::new();
        let outcome = self.serve(at, command, bus, &mut background);
        let story = self.story.take().unwrap_or_default();
        (outcome, self.steps(&story, &outcome))
    }

    fn steps(&mut self, story: &Story, outcome: &Outcome) -> Vec<Step> {
        let epoch = self.spindle.epoch_at(story.media_base.max(story.decoded));
        let turns = |at: Nanos| epoch.angle(at).as_turns();
        let mut at = story.from.unwrap_or_default();
        let mut steps = Vec::new();
        let mut add = |label, start: Nanos, end: Nanos, track: (u32, u32), note: String| {
            // Read-ahead under way began before the command came.
            let start = start.max(outcome.submitted);
            if end > start {
                steps.push(Step {
                    label,
                    start,
                    end,
                    cylinder: track.0,
                    head: track.1,
                    start_turns: turns(start),
                    end_turns: turns(end),
                    note,
                });
            }
        };
        add("overhead", outcome.submitted, story.decoded.min(outcome.finish), at, "command decoded".into());
        if story.media_base > story.decoded {
            let note = if story.reads_first {
                "the physical sectors around it are read first"
            } else {
                "the mechanism was busy with destage, read-ahead or recalibration"
            };
            add("wait", story.decoded, story.media_base, at, note.into());
        }
        for pass in &story.passes {
            let track = (pass.extent.cylinder, pass.extent.head);
            add("seek", pass.begin, pass.ready, track, move_note(at, track));
            add("rotation", pass.ready, pass.start, track, wait_note(pass, epoch.angle(pass.ready)));
            let note = format!("LBA {} to {}", pass.lba(), pass.lba() + u64::from(pass.sectors) - 1);
            add("transfer", pass.start, pass.end, track, note);
            at = track;
        }
        if let Some(received) = story.received {
            add("bus", story.bus_at, received, at, "data from the host into the buffer".into());
        } else if outcome.finish > story.bus_at {
            add("bus", story.bus_at, outcome.finish, at, "data from the buffer to the host".into());
        }
        steps.sort_by_key(|step| step.start);
        steps
    }
}

fn move_note(from: (u32, u32), to: (u32, u32)) -> String {
    match (from.0.abs_diff(to.0), from.1 == to.1) {
        (0, _) => format!("head switch {} → {}", from.1, to.1),
        (1, _) => format!("one cylinder, {} → {}", from.0, to.0),
        (distance, _) => format!("{distance} cylinders, {} → {}", from.0, to.0),
    }
}

/// Which sector was under the head on arrival, and whether the wanted one was just missed.
fn wait_note(pass: &Pass, on_arrival: Angle) -> String {
    let width = pass.extent.slot_width.0.max(1);
    let first = pass.extent.slot_start(pass.offset);
    let to_go = on_arrival.until(first).0 / width;
    let passed = (on_arrival - first).0 / width;
    if passed < to_go && passed < 4 {
        format!("the first sector had just passed, {} sectors ago; almost a full turn", passed + 1)
    } else {
        format!("{to_go} sectors to go before the first one comes")
    }
}
