//! Responses by direction and duration limit, where the drives know limits: those of a limit are a class of their own.

use headstack_stats::{Moments, Quantiles};
use headstack_units::{Nanos, Op, RequestFlags};
use schemars::JsonSchema;
use serde::Serialize;

use crate::summary::content::PartTimes;
use crate::system::System;

/// No limit, and seven.
const LIMITS: usize = 8;

/// The requests of one direction under one limit, or under none.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ClassSummary {
    /// Reads or writes.
    pub op: &'static str,
    /// Which of the drive's limits holds for them, counted from 1; 0: none.
    pub duration_limit: usize,
    /// How many.
    pub requests: u64,
    /// Their response.
    pub response_ms: PartTimes,
}

#[derive(Clone, Debug, Default)]
struct Class {
    moments: Moments,
    quantiles: Quantiles,
}

/// All classes: reads without a limit and under each, and writes.
#[derive(Clone, Debug)]
pub(super) struct Classes(Vec<Class>);

impl Classes {
    /// Of no requests of a run on `system`, if a drive of it knows limits.
    pub(super) fn new(system: &System) -> Option<Box<Self>> {
        let knows = |drive: &crate::spec::DriveConfig| {
            let controller = &drive.spec.controller;
            controller.duration_limit_ms.is_some() || !controller.duration_limits.is_empty()
        };
        system.config().drives.iter().any(knows).then(|| Box::new(Self::empty()))
    }

    pub(super) fn empty() -> Self {
        Self(vec![Class::default(); 2 * LIMITS])
    }

    /// Takes a completion. (Not by its row: that would have to be written down for it.)
    #[cold]
    #[inline(never)]
    pub(super) fn record(&mut self, op: Op, flags: RequestFlags, response: Nanos) {
        let index = LIMITS * usize::from(op == Op::Write) + flags.duration_limit();
        self.0[index].moments.record(response);
        self.0[index].quantiles.record(response);
    }

    /// Takes what other completions come to.
    pub(super) fn add(&mut self, later: &Self) {
        for (class, more) in self.0.iter_mut().zip(&later.0) {
            class.moments.merge(&more.moments);
            class.quantiles.merge(&more.quantiles);
        }
    }

    /// Those that have requests.
    pub(super) fn summaries(&mut self) -> Vec<ClassSummary> {
        let summary = |(index, class): (usize, &mut Class)| {
            let requests = class.moments.count();
            (requests > 0).then(|| ClassSummary {
                op: if index < LIMITS { "read" } else { "write" },
                duration_limit: index % LIMITS,
                requests,
                response_ms: class.times(),
            })
        };
        self.0.iter_mut().enumerate().filter_map(summary).collect()
    }
}

impl Class {
    fn times(&mut self) -> PartTimes {
        PartTimes::new(&self.moments, self.quantiles.summary())
    }
}
