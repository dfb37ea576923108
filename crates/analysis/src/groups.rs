//! Response times by a property of the request.

use std::collections::BTreeMap;

use headstack_units::Nanos;
use serde::Serialize;

use crate::batches::Batches;
use crate::times::{Times, TimesSummary};

/// Groups beyond so many go into one.
const MOST: usize = 1024;

/// Times by the value of a key.
#[derive(Debug, Default)]
pub(crate) struct Groups {
    by_key: BTreeMap<u64, Group>,
    others: Group,
    /// Whether it is asked how far their quantiles are left to chance.
    in_batches: bool,
}

#[derive(Debug)]
pub(crate) struct Group {
    requests: u64,
    reads: u64,
    bytes: u64,
    times: Times,
    batches: Option<Batches>,
}

impl Default for Group {
    fn default() -> Self {
        Self { requests: 0, reads: 0, bytes: 0, times: Times::of_group(), batches: None }
    }
}

/// What a group came to.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GroupSummary {
    /// What its requests have in common; `others` where there were too many groups.
    pub name: String,
    /// How many.
    pub requests: u64,
    /// Of them reads.
    pub reads: u64,
    /// Bytes moved.
    pub bytes: u64,
    /// Their response times, where measured.
    #[serde(rename = "response_ms")]
    pub response: Option<TimesSummary>,
    #[serde(skip)]
    pub(crate) batches: Option<Batches>,
}

impl Groups {
    /// Groups that are compared with each other.
    pub(crate) fn in_batches() -> Self {
        Self { in_batches: true, ..Self::default() }
    }

    pub(crate) fn record(&mut self, key: u64, read: bool, bytes: u64, response: Option<Nanos>) {
        let full = self.by_key.len() >= MOST && !self.by_key.contains_key(&key);
        let group = if full { &mut self.others } else { self.by_key.entry(key).or_default() };
        group.requests += 1;
        group.reads += u64::from(read);
        group.bytes += bytes;
        if let Some(response) = response {
            group.times.record(response);
            if self.in_batches {
                group.batches.get_or_insert_default().record(response);
            }
        }
    }

    /// The groups in order of their keys.
    pub(crate) fn finish(self, name: impl Fn(u64) -> String) -> Vec<GroupSummary> {
        let groups = self.by_key.into_iter().map(|(key, group)| (name(key), group));
        let others = (self.others.requests > 0).then_some(("others".to_owned(), self.others));
        groups
            .chain(others)
            .map(|(name, mut group)| GroupSummary {
                name,
                requests: group.requests,
                reads: group.reads,
                bytes: group.bytes,
                response: group.times.summary(),
                batches: group.batches,
            })
            .collect()
    }
}
