//! The workload file.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::law::{CountLaw, SizeLaw, TimeLaw, lasts};
use super::popularity::PopularitySpec;
use super::processes::ProcessesSpec;
use super::region::StrideSpec;
use super::shift::ShiftLaw;

/// A workload, as in its file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WorkloadSpec {
    /// One line on what it stands for.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub summary: String,
    /// Seed of every random stream; `--seed` replaces it.
    #[serde(default = "one")]
    pub seed: u64,
    /// How many requests in all; absent: until every stream has ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requests: Option<u64>,
    /// The streams are processes that share processors, as in DiskSim; absent: each keeps its own pace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub processes: Option<ProcessesSpec>,
    /// The generators.
    pub stream: Vec<StreamSpec>,
}

/// One generator.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StreamSpec {
    /// Names its random streams; absent: its position in the file, from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The volume it goes to, by number…
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<u32>,
    /// …or by name. Neither: device 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub volume: Option<String>,
    /// …or several volumes by name, of which each request that is neither sequential nor local takes one at random.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub volumes: Vec<String>,
    /// How many requests this stream issues at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requests: Option<u64>,
    /// Its first request comes one inter-arrival time (or think time, or burst interval) after this, in s.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub start_s: f64,
    /// It issues nothing after this, in s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end_s: Option<f64>,
    /// Share of reads among requests that are not sequential (those repeat the direction of the one before,
    /// unless `separate_directions`).
    pub read_fraction: f64,
    /// Share of requests that begin where the one before ended.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub sequential_fraction: f64,
    /// Reads go on where the last read ended, and writes where the last write did; the direction of each is drawn. Absent:
    /// all go on where the one before ended.
    #[serde(default, skip_serializing_if = "is_false")]
    pub separate_directions: bool,
    /// Where a sequential request begins that has nothing to go on from: the first one, and one that would leave its range.
    #[serde(default, skip_serializing_if = "RunStart::is_anywhere")]
    pub run_start: RunStart,
    /// Share of requests that lie `local_distance` away from the one before, up or down.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub local_fraction: f64,
    /// How far local requests lie from the one before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub local_distance: Option<SizeLaw>,
    /// How far local requests lie from the one before, and which way (up if positive), instead of `local_distance`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub local_shift: Option<ShiftLaw>,
    /// Sizes: multiples of a sector; those drawn from a range are rounded up to some, at least one.
    pub size: SizeLaw,
    /// Sizes are rounded up to multiples of this, in KiB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size_step_kib: Option<f64>,
    /// Requests that are not sequential begin at multiples of this, counted from the range's beginning, in KiB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub align_kib: Option<f64>,
    /// The part of the volume it uses, in percent from its beginning: `[from, to]`…
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub range_percent: Option<[f64; 2]>,
    /// …or in the host's sectors: `[first, last]`. Neither: all of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub range_lba: Option<[u64; 2]>,
    /// Several parts of the volume instead, such as the i-lists of its file systems, in percent…
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ranges_percent: Vec<[f64; 2]>,
    /// …or in the host's sectors. Each request that is neither sequential nor local takes one of them at random; the
    /// others stay in that of the one before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ranges_lba: Vec<[u64; 2]>,
    /// Some blocks (of `align_kib`) of its range are asked for more often than others, by requests that are neither
    /// sequential nor local; absent: all as often.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub popularity: Option<PopularitySpec>,
    /// It works through its range part by part, and from the end begins again; sequential requests begin anew in each.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stride: Option<StrideSpec>,
    /// Share of writes that must not be reported complete before they are on the media.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub force_media_fraction: f64,
    /// Share of writes before which all that the drive has acknowledged goes to the media (a journal's commits).
    #[serde(default, skip_serializing_if = "is_zero")]
    pub flush_fraction: f64,
    /// Share of requests for which a duration limit of the drive holds (`controller.duration_limit_ms`)…
    #[serde(default, skip_serializing_if = "is_zero")]
    pub duration_limit_fraction: f64,
    /// …and which of its limits (`controller.duration_limits`), counted from 1.
    #[serde(default = "first", skip_serializing_if = "is_first")]
    pub duration_limit: u32,
    /// Share of writes that are discards (TRIM): nothing is transferred.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub discard_fraction: f64,
    /// Share of writes that write one sector's data to all of theirs (WRITE SAME).
    #[serde(default, skip_serializing_if = "is_zero")]
    pub write_same_fraction: f64,
    /// Its requests go around the host's buffer cache, as those of a character device or direct I/O.
    #[serde(default, skip_serializing_if = "is_false")]
    pub raw: bool,
    /// Open stream: from one request to the next; within a burst, if there are bursts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inter_arrival: Option<TimeLaw>,
    /// Requests come in bursts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub burst: Option<BurstSpec>,
    /// Closed stream: from a completion to the user's next request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub think: Option<TimeLaw>,
    /// Closed stream: the time before a sequential request, if another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sequential_think: Option<TimeLaw>,
    /// Closed stream: the time before a local request, if another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub local_think: Option<TimeLaw>,
    /// Closed stream: share of requests whose completion the user waits for before thinking on (all if absent). After
    /// the others it thinks on at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waits_fraction: Option<f64>,
    /// Closed stream: share of requests that the user comes to wait for when `time_limit` has passed and they are not
    /// complete; what was left of its thinking comes after.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub limited_fraction: f64,
    /// Closed stream: how long the user goes on without such a request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_limit: Option<TimeLaw>,
    /// Closed stream: how many users (1 if absent).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub users: Option<u32>,
    /// Closed stream: how many requests each user keeps under way (1 if absent). A user has one place: its next
    /// sequential request goes on where the last one ended that it asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue_depth: Option<u32>,
}

/// Where a run of sequential requests begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RunStart {
    /// Anywhere in its range.
    #[default]
    Anywhere,
    /// At the beginning of its range, as a program that reads a file.
    First,
}

impl RunStart {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
    fn is_anywhere(&self) -> bool {
        *self == Self::Anywhere
    }
}

/// Requests that come together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BurstSpec {
    /// From the beginning of one burst to the next, in s…
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub every_s: Option<f64>,
    /// …or distributed. A burst that would begin before the last one has ended begins after it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub every: Option<TimeLaw>,
    /// How many requests a burst has.
    pub requests: CountLaw,
    /// They come at even distances within this time, in ms; absent: `inter_arrival` apart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within_ms: Option<f64>,
}

/// Most requests that the users of a stream may keep under way.
const MOST_UNDER_WAY: u64 = 1 << 20;

fn one() -> u64 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_false(value: &bool) -> bool {
    !*value
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(value: &f64) -> bool {
    *value == 0.0
}

fn first() -> u32 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_first(value: &u32) -> bool {
    *value == first()
}

impl WorkloadSpec {
    /// Everything in the file that contradicts itself.
    pub fn check(&self) -> Vec<String> {
        let mut problems = Vec::new();
        if self.stream.is_empty() {
            problems.push("there must be at least one [[stream]]".to_owned());
        }
        if let Some(processes) = &self.processes {
            problems.extend(processes.problems(&self.stream));
        }
        for (index, stream) in self.stream.iter().enumerate() {
            stream.check(&format!("stream.{index}"), &mut problems);
            let endless = stream.requests.is_none() && stream.end_s.is_none() && self.requests.is_none();
            if endless {
                problems.push(format!(
                    "`stream.{index}` never ends: give `requests` (for the workload or the stream) or `end_s`"
                ));
            }
        }
        problems
    }
}

/// Most that a request, or a step of addresses or sizes, may have: more than any drive has.
const MOST_KIB: f64 = 1e12;

/// A number as it may have been typed: without a row of three hundred digits.
fn plain(value: f64) -> String {
    if value.abs() >= 1e15 { format!("{value:e}") } else { value.to_string() }
}

impl StreamSpec {
    /// The prefix of its random streams' names.
    pub(crate) fn component(&self, index: usize) -> String {
        self.name.as_ref().map_or_else(|| format!("stream.{index}"), |name| format!("stream.{name}"))
    }

    /// What it says that a process (`[processes]`) has no place for.
    pub(super) fn unknown_to_processes(&self) -> impl Iterator<Item = &'static str> {
        let is_other_step = self.size_step_kib.is_some_and(|step| Some(step) != self.align_kib);
        [
            ("requests", self.requests.is_some()),
            ("start_s", self.start_s != 0.0),
            ("separate_directions", self.separate_directions),
            ("run_start", self.run_start != RunStart::Anywhere),
            ("local_distance", self.local_distance.is_some()),
            ("size_step_kib", is_other_step),
            ("ranges_percent", !self.ranges_percent.is_empty()),
            ("ranges_lba", !self.ranges_lba.is_empty()),
            ("popularity", self.popularity.is_some()),
            ("stride", self.stride.is_some()),
            ("force_media_fraction", self.force_media_fraction > 0.0),
            ("flush_fraction", self.flush_fraction > 0.0),
            ("duration_limit_fraction", self.duration_limit_fraction > 0.0),
            ("discard_fraction", self.discard_fraction > 0.0),
            ("write_same_fraction", self.write_same_fraction > 0.0),
            ("raw", self.raw),
            ("users", self.users.is_some()),
            ("queue_depth", self.queue_depth.is_some()),
        ]
        .into_iter()
        .filter(|(_, is_given)| *is_given)
        .map(|(key, _)| key)
    }

    /// Shares, and which limit a share of the requests has.
    fn check_shares(&self, add: &mut impl FnMut(&str, String)) {
        for (key, fraction) in [
            ("read_fraction", self.read_fraction),
            ("sequential_fraction", self.sequential_fraction),
            ("local_fraction", self.local_fraction),
            ("force_media_fraction", self.force_media_fraction),
            ("flush_fraction", self.flush_fraction),
            ("duration_limit_fraction", self.duration_limit_fraction),
            ("discard_fraction", self.discard_fraction),
            ("write_same_fraction", self.write_same_fraction),
            ("waits_fraction", self.waits_fraction.unwrap_or(0.0)),
            ("limited_fraction", self.limited_fraction),
        ] {
            if !(0.0..=1.0).contains(&fraction) {
                add(key, format!("{fraction} is not between 0 and 1"));
            }
        }
        let (discards, same) = (self.discard_fraction, self.write_same_fraction);
        if discards <= 1.0 && same <= 1.0 && discards + same > 1.0 + 1e-9 {
            let message = format!(
                "{same} beside a discard_fraction of {discards}: a write is one or the other, so that together they are at most 1"
            );
            add("write_same_fraction", message);
        }
        if !(1..=7).contains(&self.duration_limit) {
            add("duration_limit", format!("{} is not between 1 and 7", self.duration_limit));
        }
    }

    /// Which blocks are popular, and the stride.
    fn check_places(&self, add: &mut impl FnMut(&str, String)) {
        let one = "goes with one range, not with several".to_owned();
        let is_many = !self.ranges_percent.is_empty() || !self.ranges_lba.is_empty();
        for (key, problems) in [
            ("popularity", self.popularity.as_ref().map(PopularitySpec::problems)),
            ("stride", self.stride.as_ref().map(StrideSpec::problems)),
        ] {
            if is_many && problems.is_some() {
                add(key, one.clone());
            }
            problems.into_iter().flatten().for_each(|(key, problem)| add(key, problem));
        }
        if self.popularity.is_some() && self.stride.is_some() {
            add("stride", "give `popularity` or `stride`, not both".to_owned());
        }
    }

    fn check(&self, path: &str, problems: &mut Vec<String>) {
        let mut add = |key: &str, message: String| problems.push(format!("`{path}.{key}`: {message}"));
        self.check_shares(&mut add);
        if self.sequential_fraction + self.local_fraction > 1.0 + 1e-9 {
            add("local_fraction", "sequential and local requests together are more than all".to_owned());
        }
        if self.local_distance.is_some() && self.local_shift.is_some() {
            add("local_shift", "give `local_distance` or `local_shift`, not both".to_owned());
        }
        if self.local_fraction > 0.0 && self.local_distance.is_none() && self.local_shift.is_none() {
            add(
                "local_fraction",
                "needs `local_distance`, such as local_distance.normal_kib = [0, 64]".into(),
            );
        }
        if [self.device.is_some(), self.volume.is_some(), !self.volumes.is_empty()]
            .iter()
            .filter(|is| **is)
            .count()
            > 1
        {
            add("device", "give one of `device`, `volume` and `volumes`".to_owned());
        }
        let ranges = [
            ("range_percent", self.range_percent.is_some()),
            ("range_lba", self.range_lba.is_some()),
            ("ranges_percent", !self.ranges_percent.is_empty()),
            ("ranges_lba", !self.ranges_lba.is_empty()),
        ];
        let given: Vec<&str> = ranges.iter().filter(|(_, is)| *is).map(|(key, _)| *key).collect();
        if let [first, second, ..] = given[..] {
            add(second, format!("give `{first}` or `{second}`, not both"));
        }
        self.check_places(&mut add);
        for (key, [from, to]) in self
            .range_percent
            .iter()
            .map(|range| ("range_percent", range))
            .chain(self.ranges_percent.iter().map(|range| ("ranges_percent", range)))
        {
            if !(*from >= 0.0 && from < to && *to <= 100.0) {
                add(key, format!("[{from}, {to}] must ascend within 0 to 100"));
            }
        }
        for (key, [first, last]) in self
            .range_lba
            .iter()
            .map(|range| ("range_lba", range))
            .chain(self.ranges_lba.iter().map(|range| ("ranges_lba", range)))
        {
            if first > last {
                add(key, format!("[{first}, {last}] must ascend"));
            }
        }
        for (key, step) in [("align_kib", self.align_kib), ("size_step_kib", self.size_step_kib)] {
            if let Some(step) = step
                && !(step > 0.0 && step <= MOST_KIB)
            {
                add(key, format!("{} is not above 0, and at most {MOST_KIB:e}", plain(step)));
            }
        }
        if let SizeLaw::Fixed(kib) = self.size
            && !(kib > 0.0 && kib <= MOST_KIB)
        {
            add("size.fixed_kib", format!("{} is not above 0, and at most {MOST_KIB:e}", plain(kib)));
        }
        if let Err(problem) = lasts(self.start_s * 1e3) {
            add("start_s", problem);
        }
        if let Some(end) = self.end_s
            && (end.is_nan() || end < self.start_s)
        {
            add("end_s", format!("{end} lies before start_s ({})", self.start_s));
        }
        let laws = [
            ("size", Some(self.size.law())),
            ("local_distance", self.local_distance.as_ref().map(SizeLaw::law)),
            ("local_shift", self.local_shift.as_ref().map(ShiftLaw::law)),
            ("sequential_think", self.sequential_think.as_ref().map(TimeLaw::law)),
            ("local_think", self.local_think.as_ref().map(TimeLaw::law)),
            ("time_limit", self.time_limit.as_ref().map(TimeLaw::law)),
            ("inter_arrival", self.inter_arrival.as_ref().map(TimeLaw::law)),
            ("think", self.think.as_ref().map(TimeLaw::law)),
            ("burst.every", self.burst.as_ref().and_then(|burst| burst.every.as_ref()).map(TimeLaw::law)),
            ("burst.requests", self.burst.as_ref().map(|burst| burst.requests.law())),
        ];
        for (key, law) in laws {
            if let Some(Err(message)) = law {
                add(key, message);
            }
        }
        for (key, message) in self.timing_problems() {
            add(key, message);
        }
    }

    /// What is wrong with the way its instants are given.
    fn timing_problems(&self) -> Vec<(&'static str, String)> {
        let mut found = Vec::new();
        let open = self.inter_arrival.is_some() || self.burst.is_some();
        match (open, self.think.is_some()) {
            (true, true) => {
                found.push((
                    "think",
                    "a stream is open (`inter_arrival`, `burst`) or closed (`think`)".into(),
                ));
            }
            (false, false) => found.push((
                "inter_arrival",
                "missing: an open stream needs `inter_arrival` or `burst`, a closed one `think`".to_owned(),
            )),
            _ => {}
        }
        if self.users.is_some() && self.think.is_none() {
            found.push(("users", "only closed streams (with `think`) have users".to_owned()));
        }
        let of_users = [
            ("queue_depth", self.queue_depth.is_some()),
            ("sequential_think", self.sequential_think.is_some()),
            ("local_think", self.local_think.is_some()),
            ("waits_fraction", self.waits_fraction.is_some()),
            ("limited_fraction", self.limited_fraction > 0.0),
            ("time_limit", self.time_limit.is_some()),
        ];
        if self.think.is_none() {
            let given = of_users.iter().filter(|(_, is_given)| *is_given);
            found.extend(
                given.map(|(key, _)| (*key, "only closed streams (with `think`) have it".to_owned())),
            );
        } else if (self.limited_fraction > 0.0) != self.time_limit.is_some() {
            found.push(("time_limit", "`limited_fraction` and `time_limit` belong together".to_owned()));
        } else if self.limited_fraction > 0.0
            && self.waits_fraction.unwrap_or(1.0) + self.limited_fraction > 1.0 + 1e-9
        {
            let all = "waits_fraction (1 if absent) and limited_fraction together are more than all";
            found.push(("limited_fraction", all.to_owned()));
        }
        for (key, count) in [("users", self.users), ("queue_depth", self.queue_depth)] {
            if count == Some(0) {
                found.push((key, "must be at least 1".to_owned()));
            }
        }
        let under_way = u64::from(self.users.unwrap_or(1)) * u64::from(self.queue_depth.unwrap_or(1));
        if under_way > MOST_UNDER_WAY {
            let much = format!("{under_way} requests under way are more than {MOST_UNDER_WAY}");
            found.push((if self.queue_depth.is_some() { "queue_depth" } else { "users" }, much));
        }
        if let Some(burst) = &self.burst {
            if burst.every_s.is_some() == burst.every.is_some() {
                found.push(("burst", "give `every_s` or `every`, one of them".to_owned()));
            }
            if burst.every_s == Some(0.0) {
                found.push(("burst.every_s", "must be positive".to_owned()));
            }
            if let Some(Err(problem)) = burst.every_s.map(|every| lasts(every * 1e3)) {
                found.push(("burst.every_s", problem));
            }
            if burst.within_ms.is_some() == self.inter_arrival.is_some() {
                found.push((
                    "burst.within_ms",
                    "a burst's requests come `within_ms`, or `inter_arrival` apart: give one of them"
                        .to_owned(),
                ));
            }
            if let Some(Err(problem)) = burst.within_ms.map(lasts) {
                found.push(("burst.within_ms", problem));
            }
        }
        found
    }
}
