//! Closed loops: what asks, waits for completions, and asks again.

use headstack_trace::Request;
use headstack_units::Nanos;

use super::processes::Processes;
use super::users::Users;
use super::{DeviceShape, WorkloadSpec};
use crate::SystemError;

/// What comes of calling a user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    /// It issues this now.
    Issue(Request),
    /// It is to be called again then.
    Again(Nanos),
    /// It waits for a completion, or is through.
    Nothing,
}

/// The users of the closed streams of a workload; or its processes, where it is the processors that are called.
///
/// Whoever runs it calls a user at the instants it gets back, and tells it what became of its requests. No user has more
/// than one call outstanding.
#[derive(Clone, Debug)]
pub struct ClosedLoop(Kind);

#[derive(Clone, Debug)]
enum Kind {
    Users(Users),
    Processes(Processes),
}

impl ClosedLoop {
    /// The closed streams of `spec`, of which there may be none; at most `limit` requests in all.
    pub(crate) fn new(
        spec: &WorkloadSpec,
        devices: &[DeviceShape],
        seed: u64,
        limit: u64,
    ) -> Result<Option<Self>, SystemError> {
        Ok(match &spec.processes {
            None => Users::new(spec, devices, seed, limit)?.map(|users| Self(Kind::Users(users))),
            Some(processes) => {
                Some(Self(Kind::Processes(Processes::new(spec, processes, devices, seed, limit)?)))
            }
        })
    }

    /// How many users there are, counted over all closed streams from 0; one that keeps several requests under way counts
    /// as so many.
    pub fn users(&self) -> u32 {
        match &self.0 {
            Kind::Users(users) => users.users(),
            Kind::Processes(processes) => processes.processors(),
        }
    }

    /// When a user must be called first: after its first think time. `None` if it asks for nothing.
    pub fn start(&mut self, user: u32) -> Option<Nanos> {
        match &mut self.0 {
            Kind::Users(users) => users.start(user),
            Kind::Processes(processes) => processes.start(user),
        }
    }

    /// A user is called.
    pub fn call(&mut self, user: u32, now: Nanos) -> Call {
        match &mut self.0 {
            Kind::Users(users) => users.call(user, now),
            Kind::Processes(processes) => processes.call(user, now),
        }
    }

    /// What a user asked for is under way as request `id`: when to call it next, unless it waits.
    pub fn issued(&mut self, user: u32, id: u64, now: Nanos) -> Option<Nanos> {
        match &mut self.0 {
            Kind::Users(users) => users.issued(user, id, now),
            Kind::Processes(processes) => processes.issued(user, id, now),
        }
    }

    /// Request `id` of a user is complete: whom to call for that, and when.
    pub fn completed(&mut self, user: u32, id: u64, now: Nanos) -> Option<(u32, Nanos)> {
        match &mut self.0 {
            Kind::Users(users) => users.completed(user, id, now).map(|at| (user, at)),
            Kind::Processes(processes) => processes.completed(id, now),
        }
    }
}
