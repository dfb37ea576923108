//! Closed loops: users who think, ask, and usually wait for the completion before they think on.

use headstack_trace::Request;
use headstack_units::Nanos;

use super::user::User;
use super::{DeviceShape, WorkloadSpec};
use crate::SystemError;

/// The users of the closed streams of a workload.
///
/// Whoever runs it calls a user at the instants it gets back, and tells it what became of its requests. No user has more
/// than one call outstanding.
#[derive(Clone, Debug)]
pub struct ClosedLoop {
    users: Vec<User>,
    /// What each closed stream may still issue.
    streams_left: Vec<u64>,
    left: u64,
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
        for (index, stream) in spec.stream.iter().enumerate().filter(|(_, stream)| stream.think.is_some()) {
            for number in 0..stream.users.unwrap_or(1) {
                let component = format!("{}.user.{number}", stream.component(index));
                users.push(User::new(stream, streams_left.len(), &component, devices, seed)?);
            }
            streams_left.push(stream.requests.unwrap_or(u64::MAX));
        }
        Ok((!users.is_empty()).then_some(Self { users, streams_left, left: limit }))
    }

    /// How many users there are, counted over all closed streams from 0.
    pub fn users(&self) -> u32 {
        self.users.len() as u32
    }

    /// When a user must be called first: after its first think time. `None` if it asks for nothing.
    pub fn start(&mut self, user: u32) -> Option<Nanos> {
        let start = self.users.get(user as usize)?.start;
        self.plan(user, start);
        self.users[user as usize].calls_at()
    }

    /// A user is called: the request it issues now, or else when to call it again (`None`: it waits, or is through).
    ///
    /// # Errors
    /// Not an error but the other outcome: the next call.
    pub fn call(&mut self, user: u32, now: Nanos) -> Result<Request, Option<Nanos>> {
        let Some(user) = self.users.get_mut(user as usize) else { return Err(None) };
        user.called(now).ok_or_else(|| user.calls_at())
    }

    /// What a user asked for is under way as request `id`: when to call it next, unless it waits.
    pub fn issued(&mut self, user: u32, id: u64, now: Nanos) -> Option<Nanos> {
        if self.users.get_mut(user as usize)?.issued(id, now) {
            self.plan(user, now);
        }
        self.users[user as usize].calls_at()
    }

    /// Request `id` of a user is complete: when to call the user, if it waited for that.
    pub fn completed(&mut self, user: u32, id: u64, now: Nanos) -> Option<Nanos> {
        if !self.users.get_mut(user as usize)?.completed(id, now) {
            return None;
        }
        self.plan(user, now);
        self.users[user as usize].calls_at()
    }

    /// Draws the user's next request, unless it has one, or has had its share.
    fn plan(&mut self, user: u32, now: Nanos) {
        let user = &mut self.users[user as usize];
        let stream_left = &mut self.streams_left[user.stream];
        if user.plan(now, self.left > 0 && *stream_left > 0) {
            self.left -= 1;
            *stream_left -= 1;
        }
    }
}
