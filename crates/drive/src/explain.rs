//! One command as a timeline: what the mechanism and the bus did, step by step.

use crate::command::{Background, BusTiming, Command, Outcome, Work};
use crate::drive::Drive;
use crate::mechanics::Epoch;
use crate::mechanism::Pass;
use crate::model::DriveModel;
use crate::spec::Carrier;
use crate::transfer::Narrative;
use headstack_units::{Angle, Nanos, Op};

/// One step of a command's way.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// What happens: `queue`, `overhead`, `wait`, `seek`, `rotation`, `transfer`, `bus`.
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
    pub start_revolutions: f64,
    /// The spindle's angle at the end, in turns.
    pub end_revolutions: f64,
    /// For people: distances, sectors, what was just missed.
    pub note: String,
}

impl Drive {
    /// Serves one command as [`Drive::serve`] does, and tells what happened on the way.
    ///
    /// # Panics
    /// As [`Drive::serve`].
    pub fn explain(&mut self, at: Nanos, command: Command, bus: &BusTiming) -> (Outcome, Vec<Step>) {
        self.listen(command.id);
        let turned = self.controller_free_at().map_or(at, |free| free.max(at));
        self.parts_mut().turn_to(command.id, turned);
        let mut background: Vec<Background> = Vec::new();
        let outcome = self.serve(at, command, bus, &mut background);
        let model = std::sync::Arc::clone(self.model());
        self.parts_mut().see(&model);
        let steps = self.timeline(&outcome, command.op).unwrap_or_default();
        (outcome, steps)
    }

    /// Listens to the next command of this number, for [`Drive::timeline`].
    pub fn listen(&mut self, id: u64) {
        self.parts_mut().log.listen(id);
    }

    /// How a command went that was listened to, once it is announced as done: step by step, in the order of time. `None` if nobody
    /// listened.
    pub fn timeline(&mut self, outcome: &Outcome, op: Op) -> Option<Vec<Step>> {
        let narrative = self.parts_mut().log.heard(outcome.id)?;
        let model = std::sync::Arc::clone(self.model());
        let mechanism = &self.parts().mechanism;
        let (epoch, heads) = match narrative.seen {
            Some(seen) => (seen.epoch, seen.heads),
            None => (mechanism.present_media(&model).epoch, mechanism.heads_at_work()),
        };
        let from = narrative.from.unwrap_or(narrative.at);
        let seen_by = heads_at_work(&model, heads);
        let works = |since, until| {
            let between = mechanism.diary().map(|diary| diary.between(since, until).collect());
            let mut works: Vec<_> = between.unwrap_or_default();
            works.sort_by_key(|&(_, from, _)| from);
            works
        };
        let by_itself = works(outcome.submitted, narrative.put_off);
        let works = works(narrative.decoded, narrative.media_base);
        let (model, since, steps) = (&*model, outcome.submitted, Vec::new());
        let mut timeline = Timeline { model, epoch, from, since, seen_by, works, by_itself, steps };
        timeline.tell(&narrative, outcome, op);
        Some(timeline.steps)
    }
}

/// Steps as they are put together.
struct Timeline<'a> {
    model: &'a DriveModel,
    epoch: Epoch,
    /// The track under the head before the command.
    from: (u32, u32),
    since: Nanos,
    /// The heads that the disk is seen from, where there is a choice of them.
    seen_by: Option<String>,
    /// What the mechanism did while the command waited for it.
    works: Vec<(Work, Nanos, Nanos)>,
    /// What it did while the command was put off for what came before.
    by_itself: Vec<(Work, Nanos, Nanos)>,
    steps: Vec<Step>,
}

impl Timeline<'_> {
    fn tell(&mut self, narrative: &Narrative, outcome: &Outcome, op: Op) {
        // A command that the controller never turned to has but waited.
        let turned = narrative.turned.unwrap_or(outcome.finish).clamp(self.since, outcome.finish);
        let ready = narrative.put_off.clamp(turned, outcome.finish);
        let decoded = narrative.decoded.clamp(ready, outcome.finish);
        let note = "in the drive's queue";
        self.add("queue", self.since, turned, self.from, note.into());
        self.put_off(turned, ready);
        self.add("overhead", ready, decoded, self.from, "command decoded".into());
        self.add("wait", decoded, narrative.room, self.from, "for room in the write cache".into());
        self.wait_for_mechanism(narrative);
        let mut at = self.from;
        for (index, pass) in narrative.passes.iter().enumerate() {
            let track = (pass.extent.cylinder, pass.extent.head);
            let again = narrative.reads_first && index > 0 && narrative.passes[0].lba() == pass.lba();
            // Of read-ahead that the command took over, what came before is none of its time.
            let since = narrative.media_base;
            self.add("seek", pass.begin.max(since), pass.ready, track, move_note(self.model, at, track));
            let wait = if again {
                "the whole physical sectors have been read; they come around again to be written".into()
            } else {
                wait_note(self.model, pass, self.epoch.angle(pass.ready), op)
            };
            let wait = match &self.seen_by {
                Some(heads) if index == 0 => format!("{heads}: {wait}"),
                _ => wait,
            };
            self.add("rotation", pass.ready.max(since), pass.start, track, wait);
            let gone = u64::from(pass.passed(&self.epoch, since)).min(u64::from(pass.sectors.max(1)) - 1);
            let note = format!("LBA {} to {}", pass.lba() + gone, pass.end_lba() - 1);
            self.add("transfer", pass.start.max(since), pass.end, track, note);
            at = track;
        }
        let note = match op {
            Op::Read => "data from the buffer to the host",
            Op::Write => "data from the host into the buffer",
        };
        for &(start, end) in &narrative.waits_for_bus {
            let track = self.track_at(start, &narrative.passes);
            self.add("queue", start, end, track, "the bus was busy with other commands".into());
        }
        for &(start, end) in &narrative.transfers {
            let track = self.track_at(start, &narrative.passes);
            self.add("bus", start, end, track, note.into());
        }
        for kept in &narrative.kept {
            self.add(kept.label, kept.start, kept.end, kept.track.unwrap_or(at), kept.note.into());
            at = kept.track.unwrap_or(at);
        }
        self.complete(outcome);
        self.fill(outcome, decoded);
        self.steps.sort_by_key(|step| step.start);
    }

    /// What the controller takes to complete the command, once all that the command waits for is done.
    fn complete(&mut self, outcome: &Outcome) {
        let (finish, done) = (outcome.finish, self.steps.iter().filter(|step| step.end <= outcome.finish));
        let Some((at, track)) = done.map(|step| (step.end, (step.cylinder, step.head))).max() else { return };
        if finish - at <= outcome.phases.overhead {
            self.add("overhead", at, finish, track, "command completed".into());
        }
    }

    /// What came before has to be through, and the drive may have something to do for itself in the meantime.
    fn put_off(&mut self, turned: Nanos, ready: Nanos) {
        let note = "commands and cached writes before it have to be through first";
        let mut since = turned;
        for (work, from, to) in std::mem::take(&mut self.by_itself) {
            if matches!(work, Work::Recalibration | Work::Wake) && to > since {
                self.add("wait", since, from, self.from, note.into());
                self.add("wait", from.max(since), to, self.from, waited_for(work).into());
                since = to;
            }
        }
        self.add("wait", since, ready, self.from, note.into());
    }

    /// A command is decoded, and the mechanism has something else to do: one thing after the other, as far as that is remembered.
    fn wait_for_mechanism(&mut self, narrative: &Narrative) {
        let (mut since, until) = (narrative.decoded, narrative.media_base);
        let works = std::mem::take(&mut self.works);
        for &(work, from, to) in &works {
            self.add("wait", since, from, self.from, waited_for(narrative.waited_for).into());
            self.add("wait", from.max(since), to, self.from, waited_for(work).into());
            since = since.max(to);
        }
        self.add("wait", since, until, self.from, waited_for(narrative.waited_for).into());
    }

    /// A command that neither the media nor the bus had part in is all overhead behind its decoding.
    fn fill(&mut self, outcome: &Outcome, decoded: Nanos) {
        let told_until = self.steps.iter().map(|step| step.end).max().unwrap_or(self.since);
        if told_until <= decoded {
            let (label, note) = match outcome.ended {
                Some(_) => ("wait", "until its time was up"),
                None if outcome.phases.overhead > Nanos::ZERO => {
                    ("overhead", "command decoded and completed")
                }
                None => ("wait", "the constant time of the drive"),
            };
            self.add(label, told_until, outcome.finish, self.from, note.into());
        }
    }

    /// Where the arm is at an instant.
    fn track_at(&self, at: Nanos, passes: &[Pass]) -> (u32, u32) {
        let under = passes.iter().rev().find(|pass| pass.ready <= at);
        under.map_or(self.from, |pass| (pass.extent.cylinder, pass.extent.head))
    }

    fn add(&mut self, label: &'static str, start: Nanos, end: Nanos, track: (u32, u32), note: String) {
        // Read-ahead under way began before the command came.
        let start = start.max(self.since);
        if end > start {
            self.steps.push(Step {
                label,
                start,
                end,
                cylinder: track.0,
                head: track.1,
                start_revolutions: self.epoch.angle(start).as_turns(),
                end_revolutions: self.epoch.angle(end).as_turns(),
                note,
            });
        }
    }
}

/// What the mechanism did while a command waited for it.
fn waited_for(work: Work) -> &'static str {
    match work {
        Work::Command => "the mechanism was busy with the command before",
        Work::EarlyWrite => "the mechanism was busy with a write reported complete before",
        Work::Destage => "the mechanism was busy writing buffered data to the media (destage)",
        Work::ReadAhead => "the mechanism was changing tracks to read ahead, which cannot be broken off",
        Work::Recalibration => "the mechanism was busy with a recalibration",
        Work::Wake => "the drive had to come back from a power condition",
    }
}

fn move_note(model: &DriveModel, from: (u32, u32), to: (u32, u32)) -> String {
    match model.arm_track(from).0.abs_diff(model.arm_track(to).0) {
        0 if from.0 != to.0 => {
            format!("to another head on the arm's radial line, cylinder {} → {}", from.0, to.0)
        }
        0 => format!("head switch {} → {}", from.1, to.1),
        1 => format!("one cylinder, {} → {}", from.0, to.0),
        distance => format!("{distance} cylinders, {} → {}", from.0, to.0),
    }
}

/// Which heads serve, where there is a choice.
fn heads_at_work(model: &DriveModel, index: usize) -> Option<String> {
    let set = (model.head_sets.len() > 1).then(|| model.head_sets[index])?;
    Some(match set.carrier {
        Carrier::Arm(arm) if model.spec().arms.heads_per_surface > 1 => {
            format!("head {} of arm {arm}", set.head)
        }
        Carrier::Arm(arm) => format!("arm {arm}"),
        Carrier::Fixed(number) => format!("fixed heads {number}"),
    })
}

/// Which sector was under the head on arrival, and whether the wanted one was just missed.
fn wait_note(model: &DriveModel, pass: &Pass, on_arrival: Angle, op: Op) -> String {
    let turns = (pass.start - pass.ready).0 / model.revolution().0.max(1);
    if turns > 0 {
        let why = match op {
            _ if model.spec().soft_errors.is_some() => {
                "sectors were tried again, or their data were not there in time"
            }
            Op::Read => "there was no room in the buffer for the data, or they were read again",
            Op::Write => "the data from the host had not come",
        };
        let revolutions = if turns == 1 { "revolution" } else { "revolutions" };
        return format!("{turns} full {revolutions} and a part: {why}");
    }
    let width = pass.extent.slot_width.0.max(1);
    let first = pass.extent.slot_start(pass.offset);
    let to_go = on_arrival.until(first).0 / width;
    let passed = (on_arrival - first).0 / width;
    let ago = passed + 1;
    let sectors = |count: u64| if count == 1 { "1 sector".to_owned() } else { format!("{count} sectors") };
    let (missed, left) = (sectors(ago), sectors(to_go));
    if passed < to_go && passed < 4 {
        format!("the first sector had just passed, {missed} ago; almost a full revolution")
    } else if passed < to_go {
        format!("the first sector was missed by {missed}: {left} to go")
    } else {
        format!("{left} to go before the first one comes")
    }
}
