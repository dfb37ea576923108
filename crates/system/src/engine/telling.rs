//! How the commands of some requests go, step by step, for one who asked.

use std::collections::BTreeSet;

use headstack_drive::Step;
use headstack_drive::command::{Command, Outcome};
use headstack_units::Nanos;

use super::Engine;
use super::requests::Sender;

/// A command of a drive, and what happened on its way.
#[derive(Clone, Debug)]
pub struct CommandTold {
    /// The requests it was for: several, where the driver joined their commands; none, where a layer sent it by itself.
    pub requests: Vec<u64>,
    /// The drive.
    pub drive: u32,
    /// When it was sent to the driver's queue.
    pub sent: Nanos,
    /// As the drive got it: by the addresses of one actuator.
    pub command: Command,
    /// How it went…
    pub outcome: Outcome,
    /// …and step by step.
    pub steps: Vec<Step>,
}

/// What is asked for, under way and told.
#[derive(Clone, Debug, Default)]
pub(super) struct Telling {
    wanted: BTreeSet<u64>,
    /// The commands at the drives, by their units.
    under_way: Vec<(usize, CommandTold)>,
    told: Vec<CommandTold>,
}

impl Engine {
    /// Drives remember what their mechanisms do.
    pub(crate) fn keep_diaries(&mut self) {
        self.units.iter_mut().for_each(|unit| unit.drive.keep_diary());
    }

    /// Listens to the commands of a request that is yet to come.
    pub(crate) fn listen(&mut self, id: u64) {
        self.telling.get_or_insert_default().wanted.insert(id);
    }

    /// The commands listened to that were complete since this was asked last.
    pub(crate) fn take_told(&mut self) -> Vec<CommandTold> {
        self.telling.as_mut().map(|telling| std::mem::take(&mut telling.told)).unwrap_or_default()
    }

    /// A drive is about to get a command: somebody may want to hear of it.
    #[cold]
    pub(super) fn listen_to_command(&mut self, unit: usize, command: &Command) {
        let requests = self.requests_of(command.id as usize);
        let sent = self.subs[command.id as usize].sent;
        let Some(telling) = &mut self.telling else { return };
        let is_of_a_layer = requests.is_empty();
        let requests: Vec<u64> = requests.into_iter().filter(|id| telling.wanted.contains(id)).collect();
        if requests.is_empty() && !is_of_a_layer {
            return;
        }
        self.units[unit].drive.listen(command.id);
        let drive = self.system.units[unit].drive as u32;
        let (outcome, steps) = Default::default();
        telling
            .under_way
            .push((unit, CommandTold { requests, drive, sent, command: *command, outcome, steps }));
    }

    /// A drive has announced how a command goes.
    #[cold]
    pub(super) fn hear_of_command(&mut self, unit: usize, outcome: &Outcome) {
        let Some(telling) = &mut self.telling else { return };
        let is_it = |(at, told): &(usize, CommandTold)| (*at, told.command.id) == (unit, outcome.id);
        let Some(index) = telling.under_way.iter().position(is_it) else { return };
        let (_, mut told) = telling.under_way.swap_remove(index);
        told.steps = self.units[unit].drive.timeline(outcome, told.command.op).unwrap_or_default();
        told.outcome = *outcome;
        telling.told.push(told);
    }

    /// The host's requests for which a command is, with those that were joined with it.
    fn requests_of(&self, first: usize) -> Vec<u64> {
        let mut next = Some(first);
        let subs = std::iter::from_fn(|| {
            let sub = &self.subs[next?];
            next = sub.joined;
            Some(sub.call)
        });
        subs.filter_map(|call| self.request_above(call?)).collect()
    }

    /// The host's request for which a layer has a request.
    fn request_above(&self, mut number: usize) -> Option<u64> {
        loop {
            let request = &self.requests[number];
            match request.sender {
                Sender::Host { .. } | Sender::Raw { .. } => return Some(request.id),
                Sender::Layer { call, .. } | Sender::Above { call, .. } => number = call?,
            }
        }
    }
}
