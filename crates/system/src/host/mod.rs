//! The host's disk driver: CPU time per request, and a queue per drive in an order of its choice.

mod c_look;
mod c_scan;
mod cpu;
mod fcfs;
mod queue;
mod sstf;

pub use c_look::CLook;
pub use c_scan::CScan;
pub use cpu::Cpu;
pub use fcfs::Fcfs;
pub use queue::DriverQueue;
pub use sstf::Sstf;

use headstack_drive::command::Command;

use crate::SystemError;

/// What a scheduler may look at when it chooses: where the last command that it chose began and ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Position {
    /// First sector of the last command.
    pub last_start: u64,
    /// The sector after its last.
    pub last_end: u64,
}

/// A command that waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// The command.
    pub command: Command,
    /// Ascending in order of arrival at this queue.
    pub sequence: u64,
}

/// One scheduler is one file and one line here.
macro_rules! schedulers {
    ($($variant:ident = $name:literal),+ $(,)?) => {
        /// The order in which a driver hands out what waits.
        #[derive(Clone, Debug)]
        pub enum Scheduler {
            $(#[doc = concat!("`", $name, "`")] $variant($variant)),+
        }

        impl Scheduler {
            /// The known names.
            pub const NAMES: &'static [&'static str] = &[$($name),+];

            /// An empty queue of the scheduler called `name`.
            ///
            /// # Errors
            /// [`SystemError::UnknownName`].
            pub fn named(name: &str) -> Result<Self, SystemError> {
                match name {
                    $($name => Ok(Self::$variant($variant::default())),)+
                    _ => Err(SystemError::unknown(
                        "host scheduler",
                        name,
                        Self::NAMES.iter().map(|&name| name.to_owned()),
                    )),
                }
            }

            /// Takes a command in.
            pub fn push(&mut self, waiting: Waiting) {
                match self {
                    $(Self::$variant(queue) => queue.push(waiting)),+
                }
            }

            /// Chooses the next command and takes it out.
            pub fn pop(&mut self, position: Position) -> Option<Waiting> {
                match self {
                    $(Self::$variant(queue) => queue.pop(position)),+
                }
            }

            /// How many wait.
            pub fn len(&self) -> usize {
                match self {
                    $(Self::$variant(queue) => queue.len()),+
                }
            }

            /// Whether none waits.
            pub fn is_empty(&self) -> bool {
                self.len() == 0
            }
        }
    };
}

schedulers! {
    Fcfs = "fcfs",
    CLook = "c-look",
    CScan = "c-scan",
    Sstf = "sstf",
}

#[cfg(test)]
mod tests {
    use super::*;
    use headstack_units::{Lba, Op, RequestFlags};
    use proptest::prelude::*;

    fn waiting(sequence: u64, lba: u64) -> Waiting {
        let command =
            Command { id: sequence, op: Op::Read, lba: Lba(lba), sectors: 4, flags: RequestFlags::default() };
        Waiting { command, sequence }
    }

    /// What the naive scheduler `name` would choose: an index into `queue`.
    fn naive(name: &str, queue: &[Waiting], position: Position) -> usize {
        let from = match name {
            "fcfs" => return 0,
            "sstf" => {
                let far = |i: &usize| queue[*i].command.lba.0.abs_diff(position.last_end);
                return (0..queue.len()).min_by_key(|i| (far(i), queue[*i].sequence)).expect("not empty");
            }
            "c-look" => position.last_start,
            _ => position.last_end,
        };
        let key = |i: &usize| (queue[*i].command.lba.0 < from, queue[*i].command.lba.0, queue[*i].sequence);
        (0..queue.len()).min_by_key(key).expect("not empty")
    }

    proptest! {
        #[test]
        fn every_scheduler_equals_its_naive_twin(steps in prop::collection::vec((any::<bool>(), 0..60_u64), 1..200)) {
            for &name in Scheduler::NAMES {
                let mut scheduler = Scheduler::named(name).unwrap();
                let mut queue: Vec<Waiting> = Vec::new();
                let mut position = Position::default();
                for (sequence, &(is_push, lba)) in steps.iter().enumerate() {
                    if is_push || queue.is_empty() {
                        queue.push(waiting(sequence as u64, lba));
                        scheduler.push(waiting(sequence as u64, lba));
                    } else {
                        let expected = queue.remove(naive(name, &queue, position));
                        prop_assert_eq!(scheduler.pop(position), Some(expected));
                        let start = expected.command.lba.0;
                        position = Position { last_start: start, last_end: start + 4 };
                    }
                    prop_assert_eq!(scheduler.len(), queue.len());
                }
            }
        }
    }

    #[test]
    fn unknown_schedulers_list_the_known() {
        let error = Scheduler::named("clook").unwrap_err();
        assert!(error.hint().unwrap().contains("c-look"), "{:?}", error.hint());
    }
}
