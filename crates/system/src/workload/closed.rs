//! Closed loops: users who wait for a completion, think, and ask again.

use headstack_trace::Request;
use headstack_units::Nanos;

use super::addresses::Addresses;
use super::law::Law;
use super::{DeviceShape, StreamSpec, WorkloadSpec};
use crate::SystemError;
use crate::random::Stream;

/// A request and the user who waits for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Issue {
    /// The user, counted over all closed streams from 0.
    pub user: u32,
    /// The request; its arrival is the instant it is issued.
    pub request: Request,
}

/// The users of the closed streams of a workload.
#[derive(Clone, Debug)]
pub struct ClosedLoop {
    users: Vec<User>,
    /// What each closed stream may still issue.
    streams_left: Vec<u64>,
    left: u64,
}

#[derive(Clone, Debug)]
struct User {
    stream: usize,
    addresses: Addresses,
    think: Law,
    think_stream: Stream,
    start: Nanos,
    end: Nanos,
}

impl ClosedLoop {
    /// The closed streams of `spec`, of which there may be none; at most `limit` requests in all.
    pub(crate) fn new(
        spec: &WorkloadSpec,
        devices: &[DeviceShape],
        seed: u64,
        limit: u64,
    ) -> Result<Option<Self>, SystemError> {
        let mut users = Vec::new();
        let mut streams_left = Vec::new();
        for (index, stream) in spec.stream.iter().enumerate() {
            let Some(think) = &stream.think else { continue };
            let law = think.law().map_err(|problem| SystemError::Options {
                problem,
                hint: "change the workload".to_owned(),
            })?;
            for number in 0..stream.users.unwrap_or(1) {
                let component = format!("{}.user.{number}", stream.component(index));
                users.push(User::new(stream, streams_left.len(), &component, law.clone(), devices, seed)?);
            }
            streams_left.push(stream.requests.unwrap_or(u64::MAX));
        }
        Ok((!users.is_empty()).then_some(Self { users, streams_left, left: limit }))
    }

    /// How many users there are.
    pub fn users(&self) -> u32 {
        self.users.len() as u32
    }

    /// The first request of every user: each after its first think time.
    pub fn start(&mut self) -> Vec<Issue> {
        (0..self.users())
            .filter_map(|user| {
                let start = self.users[user as usize].start;
                self.on_completion(user, start).map(|request| Issue { user, request })
            })
            .collect()
    }

    /// The next request of a user whose last one completed at `now`; `None` when it issues no more.
    pub fn on_completion(&mut self, user: u32, now: Nanos) -> Option<Request> {
        let user = self.users.get_mut(user as usize)?;
        let stream_left = &mut self.streams_left[user.stream];
        if self.left == 0 || *stream_left == 0 {
            return None;
        }
        let at = now.saturating_add(user.think.time(&mut user.think_stream));
        if at > user.end {
            return None;
        }
        self.left -= 1;
        *stream_left -= 1;
        Some(user.addresses.next(at))
    }
}

impl User {
    fn new(
        spec: &StreamSpec,
        stream: usize,
        component: &str,
        think: Law,
        devices: &[DeviceShape],
        seed: u64,
    ) -> Result<Self, SystemError> {
        Ok(Self {
            stream,
            addresses: Addresses::new(spec, component, devices, seed)?,
            think,
            think_stream: Stream::new(seed, &format!("{component}.think")),
            start: Nanos::from_s(spec.start_s),
            end: spec.end_s.map_or(Nanos::MAX, Nanos::from_s),
        })
    }
}
