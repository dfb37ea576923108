//! Users who think, ask, and usually wait for the completion before they think on.

use headstack_units::Nanos;

use super::addresses::Addresses;
use super::closed::Call;
use super::user::User;
use super::{DeviceShape, WorkloadSpec};
use crate::SystemError;

/// The users of the closed streams of a workload.
#[derive(Clone, Debug)]
pub(super) struct Users {
    all: Vec<User>,
    /// What the users ask for; those that keep several requests under way stand here once.
    addresses: Vec<Addresses>,
    /// What each closed stream may still issue.
    streams_left: Vec<u64>,
    left: u64,
}

impl Users {
    /// The closed streams of `spec`, of which there may be none; at most `limit` requests in all.
    pub(super) fn new(
        spec: &WorkloadSpec,
        devices: &[DeviceShape],
        seed: u64,
        limit: u64,
    ) -> Result<Option<Self>, SystemError> {
        let (mut users, mut addresses) = (Vec::new(), Vec::new());
        let mut streams_left = Vec::new();
        for (index, stream) in spec.stream.iter().enumerate().filter(|(_, stream)| stream.think.is_some()) {
            for number in 0..stream.users.unwrap_or(1) {
                let component = format!("{}.user.{number}", stream.component(index));
                let (of_stream, of_user) = (streams_left.len(), addresses.len());
                addresses.push(Addresses::new(stream, &component, devices, seed)?);
                users.push(User::new(stream, of_stream, of_user, &component, seed)?);
                for other in 1..stream.queue_depth.unwrap_or(1) {
                    users.push(User::new(stream, of_stream, of_user, &format!("{component}.{other}"), seed)?);
                }
            }
            streams_left.push(stream.requests.unwrap_or(u64::MAX));
        }
        Ok((!users.is_empty()).then_some(Self { all: users, addresses, streams_left, left: limit }))
    }

    /// How many users there are, counted over all closed streams from 0; one that keeps several requests under way counts
    /// as so many.
    pub(super) fn users(&self) -> u32 {
        self.all.len() as u32
    }

    /// When a user must be called first: after its first think time. `None` if it asks for nothing.
    pub(super) fn start(&mut self, user: u32) -> Option<Nanos> {
        let start = self.all.get(user as usize)?.start;
        self.plan(user, start);
        self.all[user as usize].calls_at()
    }

    /// A user is called.
    pub(super) fn call(&mut self, user: u32, now: Nanos) -> Call {
        let Some(user) = self.all.get_mut(user as usize) else { return Call::Nothing };
        match user.called(now) {
            Some(request) => Call::Issue(request),
            None => user.calls_at().map_or(Call::Nothing, Call::Again),
        }
    }

    /// What a user asked for is under way as request `id`: when to call it next, unless it waits.
    pub(super) fn issued(&mut self, user: u32, id: u64, now: Nanos) -> Option<Nanos> {
        if self.all.get_mut(user as usize)?.issued(id, now) {
            self.plan(user, now);
        }
        self.all[user as usize].calls_at()
    }

    /// Request `id` of a user is complete: when to call the user, if it waited for that.
    pub(super) fn completed(&mut self, user: u32, id: u64, now: Nanos) -> Option<Nanos> {
        if !self.all.get_mut(user as usize)?.completed(id, now) {
            return None;
        }
        self.plan(user, now);
        self.all[user as usize].calls_at()
    }

    /// Draws the user's next request, unless it has one, or has had its share.
    fn plan(&mut self, user: u32, now: Nanos) {
        let user = &mut self.all[user as usize];
        let stream_left = &mut self.streams_left[user.stream];
        if user.plan(now, self.left > 0 && *stream_left > 0, &mut self.addresses[user.addresses]) {
            self.left -= 1;
            *stream_left -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// When one user issues its requests, if each takes `service_ms`, in ms.
    fn issues(stream: &str, service_ms: f64, count: usize) -> Vec<f64> {
        let text = format!(
            "requests = {count}\n[[stream]]\nread_fraction = 1\nsize.fixed_kib = 4\nalign_kib = 4\n{stream}"
        );
        let spec = WorkloadSpec::from_toml("test", &text).unwrap_or_else(|error| panic!("{error}"));
        let devices = [DeviceShape { name: "a".to_owned(), sectors: 1 << 20, sector_bytes: 512 }];
        let mut users = spec.generate(&devices, None, None).unwrap().closed.unwrap();
        let mut found = Vec::new();
        let mut call = users.start(0);
        let mut under_way: Vec<(Nanos, u64)> = Vec::new();
        loop {
            let done = under_way.iter().min().copied();
            match (call, done) {
                (None, None) => return found,
                (Some(at), done) if done.is_none_or(|(done, _)| at < done) => {
                    call = match users.call(0, at) {
                        Call::Again(next) => Some(next),
                        Call::Nothing => None,
                        Call::Issue(request) => {
                            assert_eq!(request.arrival, at);
                            let id = found.len() as u64;
                            found.push(at.as_ms());
                            under_way.push((at + Nanos::from_ms(service_ms), id));
                            users.issued(0, id, at)
                        }
                    };
                }
                (_, Some((at, id))) => {
                    under_way.retain(|(_, other)| *other != id);
                    if let Some((_, next)) = users.completed(0, id, at) {
                        assert!(call.is_none(), "a user that waits is not called");
                        call = Some(next);
                    }
                }
                (Some(_), None) => unreachable!("no completion is before the call"),
            }
        }
    }

    #[test]
    fn a_user_waits_for_all_of_its_requests_or_for_none() {
        assert_eq!(issues("think.constant_ms = 50", 20.0, 3), [50.0, 120.0, 190.0]);
        assert_eq!(
            issues("think.constant_ms = 50\nwaits_fraction = 0.0", 70.0, 4),
            [50.0, 100.0, 150.0, 200.0]
        );
    }

    #[test]
    fn past_its_limit_a_request_is_waited_for_and_the_rest_of_the_thinking_comes_after() {
        let limited = "think.constant_ms = 50\nwaits_fraction = 0.0\nlimited_fraction = 1.0\ntime_limit.constant_ms = 30";
        assert_eq!(issues(limited, 20.0, 3), [50.0, 100.0, 150.0]);
        // 50, waits from 80 to 150, thinks on for 20.
        assert_eq!(issues(limited, 100.0, 3), [50.0, 170.0, 290.0]);
        // A limit beyond the next request: that one is issued at 100, and from 110 on the first is waited for.
        let late = limited.replace("time_limit.constant_ms = 30", "time_limit.constant_ms = 60");
        assert_eq!(issues(&late, 80.0, 3), [50.0, 100.0, 170.0]);
    }

    #[test]
    fn as_many_wait_as_the_share_says() {
        let stream = "think.constant_ms = 10\nwaits_fraction = 0.25";
        let times = issues(stream, 1000.0, 4_000);
        let waited = times.windows(2).filter(|pair| pair[1] - pair[0] > 500.0).count();
        assert!((waited as f64 / 4e3 - 0.25).abs() < 0.03, "{waited}");
    }

    #[test]
    fn sequential_and_local_requests_may_come_after_another_time() {
        let stream = "think.constant_ms = 50\nsequential_think.constant_ms = 5\nlocal_think.constant_ms = 7\n\
                      sequential_fraction = 0.2\nlocal_fraction = 0.3\nlocal_shift.fixed_kib = 8";
        let times = issues(stream, 0.0, 10_000);
        let share = |gap: f64| {
            times.windows(2).filter(|pair| (pair[1] - pair[0] - gap).abs() < 1e-6).count() as f64 / 1e4
        };
        assert!((share(5.0) - 0.2).abs() < 0.02 && (share(7.0) - 0.3).abs() < 0.02, "{}", share(5.0));
        assert!((share(50.0) - 0.5).abs() < 0.02);
    }
}
