//! A user of a closed stream: what it will ask for next, and what it waits for.

use headstack_trace::Request;
use headstack_units::{Nanos, RequestFlags};

use super::addresses::{Addresses, Place};
use super::law::Law;
use super::{LATEST, StreamSpec, TimeLaw, later};
use crate::SystemError;
use crate::random::Stream;

/// How a user waits for a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Wait {
    #[default]
    Never,
    /// Once its time limit has passed.
    Limited,
    AtOnce,
}

/// Thinks, asks, and waits, or does not.
///
/// With every request it is drawn whether the user waits for it, comes to wait for it after a time limit, or goes on.
/// While it waits no time passes for it: the rest of its thinking, and of other limits, comes after.
#[derive(Clone, Debug)]
pub(super) struct User {
    /// Its stream, counted over the closed ones.
    pub(super) stream: usize,
    /// Which addresses it asks for, counted over all closed streams.
    pub(super) addresses: usize,
    think: Law,
    sequential_think: Option<Law>,
    local_think: Option<Law>,
    waits: f64,
    limited: f64,
    limit: Law,
    think_stream: Stream,
    wait_stream: Stream,
    /// Nothing before this.
    pub(super) start: Nanos,
    end: Nanos,
    /// What it asks for next, and when.
    next: Option<Request>,
    /// How it will wait for that.
    wait: Wait,
    /// It asks for nothing more.
    is_over: bool,
    /// What it waits for, and since when.
    waiting: Option<(u64, Nanos)>,
    /// Requests that are not complete, and when it will wait for them.
    limits: Vec<(Nanos, u64)>,
}

impl User {
    pub(super) fn new(
        spec: &StreamSpec,
        stream: usize,
        addresses: usize,
        component: &str,
        seed: u64,
    ) -> Result<Self, SystemError> {
        let law = |law: &Option<TimeLaw>| {
            let wrong = |problem| SystemError::Options { problem, hint: "change the workload".to_owned() };
            law.as_ref().map(TimeLaw::law).transpose().map_err(wrong)
        };
        let none = Law::Constant(0.0);
        Ok(Self {
            stream,
            addresses,
            think: law(&spec.think)?.unwrap_or(none.clone()),
            sequential_think: law(&spec.sequential_think)?,
            local_think: law(&spec.local_think)?,
            waits: spec.waits_fraction.unwrap_or(1.0),
            limited: spec.limited_fraction,
            limit: law(&spec.time_limit)?.unwrap_or(none),
            think_stream: Stream::new(seed, &format!("{component}.think")),
            wait_stream: Stream::new(seed, &format!("{component}.wait")),
            start: Nanos::from_s(spec.start_s),
            end: spec.end_s.map_or(Nanos::MAX, Nanos::from_s),
            next: None,
            wait: Wait::default(),
            is_over: false,
            waiting: None,
            limits: Vec::new(),
        })
    }

    /// Draws the next request and the time before it, if there is to be one and the user has not planned it yet; true
    /// if it was drawn now.
    pub(super) fn plan(&mut self, now: Nanos, may_ask: bool, addresses: &mut Addresses) -> bool {
        if self.is_over || self.next.is_some() {
            return false;
        }
        if !may_ask {
            self.is_over = true;
            return false;
        }
        let mut request = addresses.next(now);
        let law = match addresses.last_place() {
            Some(Place::Sequential) => self.sequential_think.as_ref(),
            Some(Place::Local) => self.local_think.as_ref(),
            _ => None,
        };
        request.arrival = later(now, law.unwrap_or(&self.think).time(&mut self.think_stream));
        if request.arrival > self.end {
            self.is_over = true;
            return false;
        }
        self.is_over = request.arrival > LATEST;
        self.next = Some(request);
        true
    }

    /// When it must be called next: for its next request, or because a limit has passed.
    pub(super) fn calls_at(&self) -> Option<Nanos> {
        if self.waiting.is_some() {
            return None;
        }
        let next = self.next.as_ref()?.arrival;
        Some(self.limits.iter().map(|(at, _)| *at).chain([next]).min().unwrap_or(next))
    }

    /// It is called; its request if the time for that has come. A limit that has passed makes it wait instead.
    pub(super) fn called(&mut self, now: Nanos) -> Option<Request> {
        if self.waiting.is_some() {
            return None;
        }
        if let Some(&(_, id)) = self.limits.iter().filter(|(at, _)| *at <= now).min() {
            self.waiting = Some((id, now));
            return None;
        }
        let mut request = self.next.take_if(|request| request.arrival <= now)?;
        self.wait = self.next_wait();
        // Where all are waited for, none goes before the others.
        if self.waits < 1.0 && self.wait != Wait::Never {
            request.flags = request.flags.with(RequestFlags::PRIORITY);
        }
        Some(request)
    }

    fn next_wait(&mut self) -> Wait {
        if self.waits >= 1.0 {
            return Wait::AtOnce;
        }
        let kind = self.wait_stream.unit();
        if kind < self.waits {
            Wait::AtOnce
        } else if kind < self.waits + self.limited {
            Wait::Limited
        } else {
            Wait::Never
        }
    }

    /// Its request is under way as number `id`; true if it goes on without waiting.
    pub(super) fn issued(&mut self, id: u64, now: Nanos) -> bool {
        match self.wait {
            Wait::Never => {}
            Wait::Limited => {
                self.limits.push((later(now, self.limit.time(&mut self.wait_stream)), id));
            }
            Wait::AtOnce => self.waiting = Some((id, now)),
        }
        self.wait != Wait::AtOnce
    }

    /// Request `id` is complete; true if it was what the user waited for.
    pub(super) fn completed(&mut self, id: u64, now: Nanos) -> bool {
        self.limits.retain(|(_, limited)| *limited != id);
        let Some((_, since)) = self.waiting.take_if(|(waited, _)| *waited == id) else { return false };
        let lost = now.saturating_sub(since);
        for (at, _) in &mut self.limits {
            *at = later(*at, lost);
        }
        if let Some(next) = &mut self.next {
            next.arrival = later(next.arrival, lost);
        }
        true
    }
}
