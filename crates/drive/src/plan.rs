//! A command that has been begun and waits for the bus.

use crate::command::{Command, Outcome, Phases};
use crate::media::Pass;
use crate::read::ReadPlan;
use crate::write::WritePlan;
use headstack_units::Nanos;

/// What is left to do when the bus is granted.
#[derive(Clone, Debug)]
pub(crate) enum Plan {
    /// Nothing: the outcome is fixed.
    Constant(Outcome),
    /// A read.
    Read(ReadPlan, ReadMode),
    /// A write that goes to the media.
    Write(WritePlan),
    /// A write into the write-back cache.
    Buffered { command: Command, bus_at: Nanos, lead: Phases },
    /// Positioned; transfer linear in length (M1, M2).
    Linear(LinearPlan),
}

/// What of a read's media work is settled before the bus is granted.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ReadMode {
    /// All of it: the buffer holds the whole read.
    Settled,
    /// Only the beginning: the read is larger than the buffer.
    Stalling { first: Pass },
    /// Only the position: there is no buffer, and the sectors pass when the bus is there.
    Unbuffered { first: Pass },
}

/// A positioned command with a transfer linear in length.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LinearPlan {
    pub(crate) command: Command,
    pub(crate) bus_at: Nanos,
    /// Phases from submission to `bus_at`.
    pub(crate) lead: Phases,
    pub(crate) position: Pass,
    /// Fixed costs of track changes.
    pub(crate) switches: Nanos,
    /// The media's time for the sectors.
    pub(crate) media_time: Nanos,
    pub(crate) arm: crate::media::Arm,
}

impl Plan {
    pub(crate) fn bus_at(&self) -> Nanos {
        match self {
            Self::Constant(outcome) => outcome.finish,
            Self::Read(plan, _) => plan.bus_at,
            Self::Write(plan) => plan.bus_at,
            Self::Buffered { bus_at, .. } => *bus_at,
            Self::Linear(plan) => plan.bus_at,
        }
    }

    pub(crate) fn command(&self) -> Command {
        match self {
            Self::Constant(_) => unreachable!("a constant plan needs no bus"),
            Self::Read(plan, _) => plan.command,
            Self::Write(plan) => plan.command,
            Self::Buffered { command, .. } => *command,
            Self::Linear(plan) => plan.command,
        }
    }

    /// A grant after this costs a revolution, where that is known beforehand.
    pub(crate) fn available_by(&self) -> Option<Nanos> {
        match self {
            Self::Read(_, ReadMode::Unbuffered { first }) => Some(first.start),
            _ => None,
        }
    }
}

/// A begun command.
#[derive(Clone, Debug)]
pub(crate) struct Begun {
    pub(crate) plan: Plan,
    /// When the controller can turn to the next command, if that does not depend on the bus.
    pub(crate) controller_free: Option<Nanos>,
}
