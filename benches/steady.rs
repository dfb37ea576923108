//! A queue in a drive that stays as long as it is: each step chooses a command, serves it, and puts in another one.

use crate::{Random4k, drive};
use headstack_drive::command::{Background, BusTiming};
use headstack_drive::scheduler::{Knowledge, Queue};
use headstack_drive::{Drive, DriveModel};
use headstack_units::Nanos;
use std::sync::Arc;

/// A drive with commands that wait.
#[derive(Debug)]
pub struct Steady {
    drive: Drive,
    model: Arc<DriveModel>,
    bus: BusTiming,
    queue: Queue,
    commands: Random4k,
    background: Vec<Background>,
    at: Nanos,
}

impl Steady {
    /// `depth` random commands wait in a drive of the library, under a scheduler.
    ///
    /// # Panics
    /// If there is no such drive or scheduler.
    pub fn new(name: &str, scheduler: &str, depth: u64) -> Self {
        let drive = drive(name);
        let model = Arc::clone(drive.model());
        let policy = scheduler.parse().expect("a known scheduler");
        let mut queue = Queue::new(policy, Knowledge::Layout(Arc::clone(&model)), None);
        let mut commands = Random4k::new(&drive);
        for _ in 0..depth {
            queue.push(commands.command(), Nanos::ZERO);
        }
        Self { bus: model.bus(), drive, model, queue, commands, background: Vec::new(), at: Nanos::ZERO }
    }

    /// One command is served, and another one comes.
    ///
    /// # Panics
    /// If none waits.
    pub fn step(&mut self) -> Nanos {
        let estimate = self.drive.estimate(&self.model, self.at);
        let taken = self.queue.pop(self.at, &[estimate], &[]).expect("some wait");
        self.at = self.drive.serve(self.at, taken.waiting.command, &self.bus, &mut self.background).finish;
        self.background.clear();
        self.queue.push(self.commands.command(), self.at);
        self.at
    }
}
