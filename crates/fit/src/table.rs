//! The parameter table: what of a drive can be fitted, within which bounds of physics, and in which order.

use crate::FitError;
use crate::parameter::{Choice, Fallback, Number, Parameter};
use crate::values::{Values, real};
use headstack_drive::spec::DriveSpec;
use toml::Value;

/// What a search tries for a time, in ms, and for a share of a value; later rounds begin with the smaller ones.
pub(crate) const TIMES_MS: &[f64] = &[0.05, 0.2, 0.5, 1.0];
const SHARES: &[f64] = &[0.01, 0.05, 0.15, 0.3];
const SETTLES_MS: &[f64] = &[0.3, 1.0, 3.0, 6.0];
const FENCES_KIB: &[f64] = &[0.5, 1.0, 2.0, 4.0, 8.0];
/// Of writes, which may be longer than anything that reads wait for: else nothing rules out that all of them is waited for.
const WRITE_FENCES_KIB: &[f64] = &[0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0];
const FENCE_FRACTIONS: &[f64] = &[0.02, 0.05, 0.1, 0.25];
const LIMITS: &[f64] = &[0.1, 0.25, 0.5];
/// From none on: how long a stream may be waited for is known to no order of magnitude.
const STREAM_WAITS_MS: &[f64] = &[4.0, 8.0, 16.0, 32.0, 64.0, 128.0];

/// The curves among the parameters: the settle of writes by distance, and what all seeks take longer than the file says.
pub(crate) const CURVE: &str = "mechanics.write_settle_by_distance_ms";
pub(crate) const SEEKS: &str = "mechanics.seek_extra_by_distance_ms";
/// Where the points of the second are as long as nothing was found: at these shares of all cylinders.
const SEEKS_AT: [f64; 5] = [0.005, 0.03, 0.1, 0.3, 0.7];
/// Where its points are, in cylinders; beyond the drive's last cylinder there is nothing to fit.
const CURVE_AT: [u32; 12] = [1, 50, 100, 200, 300, 400, 500, 600, 700, 800, 1200, 2400];

/// Bounds of physics, in ms: an overhead is no more than a revolution or two of a slow drive; a settle may be negative
/// where the seek curve holds more than the operation needs.
const LONGEST_OVERHEAD_MS: f64 = 20.0;
const LONGEST_STEP_MS: f64 = 10.0;
const LONGEST_STREAM_WAIT_MS: f64 = 1000.0;
const LEAST_SETTLE_MS: f64 = -5.0;
/// How data go over the bus: whether the drive lets go of it, in one transfer or in bursts, of what size, and for how much
/// data it asks for the bus again.
pub(crate) const DISCONNECTS: &str = "bus.disconnects";
pub(crate) const TRANSFERS: &str = "buffer.bus_transfers";
pub(crate) const BURST: &str = "buffer.burst_kib";
pub(crate) const GATHERED: &str = "buffer.buffer_full_kib";
pub(crate) const FENCE: &str = "buffer.read_fence_kib";
const WRITE_FENCE: &str = "buffer.write_fence_kib";
/// Of a drive file that says nothing.
const DEFAULT_BURST_KIB: f64 = 64.0;
const LONGEST_BURST_KIB: f64 = 1024.0;
/// How the buffer is divided, and how much of a segment is read ahead.
pub(crate) const SEGMENTS: &str = "cache.segments";
pub(crate) const SEGMENT: &str = "cache.segment_kib";
pub(crate) const READ_AHEAD: &str = "cache.read_ahead";
pub(crate) const AHEAD: &str = "cache.read_ahead_limit_kib";
/// What a seek may take longer or shorter than its file says.
pub(crate) const SEEK_EXTRA_MS: [f64; 2] = [-5.0, 10.0];
const MOST_INWARD_MS: f64 = 5.0;
/// The table of a drive that reports writes before they are on the media.
const EARLY: &str = "write_policy.immediate-reporting";
/// Of a bus, in MB/s.
const SLOWEST_BUS: f64 = 0.1;
const FASTEST_BUS: f64 = 10_000.0;

/// What can be fitted of a drive: numbers first, then choices, in the order in which they are best fitted.
#[derive(Clone, Debug)]
pub struct ParameterTable {
    /// The numbers.
    pub numbers: Vec<Number>,
    /// The words, switches and small whole numbers.
    pub choices: Vec<Choice>,
    /// How many cylinders the drive has.
    pub(crate) cylinders: u32,
}

impl ParameterTable {
    /// Everything that makes sense for a drive.
    ///
    /// ```
    /// use headstack_fit::ParameterTable;
    /// use headstack_system::SystemConfig;
    ///
    /// let drive = &SystemConfig::load("hp-97560", &[])?.drives[0].spec;
    /// let table = ParameterTable::of(drive);
    /// let settle = table.numbers.iter().find(|number| number.name() == "mechanics.read_settle_ms").unwrap();
    /// assert_eq!((settle.low, settle.high), (-5.0, 10.0));
    /// # Ok::<(), headstack_system::SystemError>(())
    /// ```
    pub fn of(drive: &DriveSpec) -> Self {
        let values = Values::of(drive);
        let cylinders = drive.layout.cylinders.unwrap_or(0).max(drive.layout.cylinders_with_tracks());
        let numbers = [overheads(&values), mechanics(&values, cylinders), transfers(&values)].concat();
        Self { numbers, choices: choices(&values), cylinders }
    }

    /// Only those that are named: by name, by the path of a list, or by the table they are in; all where nothing is.
    ///
    /// # Errors
    /// [`FitError::Input`] for a name that is none of the drive's, with those that are.
    pub fn chosen(mut self, names: &[String]) -> Result<Self, FitError> {
        if names.is_empty() {
            return Ok(self);
        }
        let covers = |word: &String, name: &str| {
            name.strip_prefix(word.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        let all: Vec<(String, String)> =
            self.parameters().map(|it| (it.name(), it.path().to_owned())).collect();
        for word in names {
            if !all.iter().any(|(name, _)| covers(word, name)) {
                // The elements of a list are told by the list's name: both can be asked for.
                let mut paths: Vec<&str> = all.iter().map(|(_, path)| path.as_str()).collect();
                paths.dedup();
                return Err(FitError::input(
                    format!("`{word}` is not a parameter that can be fitted in this drive"),
                    format!("known: {}", paths.join(", ")),
                ));
            }
        }
        let wanted = |name: &str| names.iter().any(|word| covers(word, name));
        self.numbers.retain(|number| wanted(&number.name()));
        self.choices.retain(|choice| wanted(choice.path));
        Ok(self)
    }

    /// The table without the numbers whose values are outside the bounds of physics, and a sentence on each of those.
    pub(crate) fn within_bounds(mut self, values: &Values) -> (Self, Vec<String>) {
        let mut outside = Vec::new();
        self.numbers.retain(|number| {
            let (value, name) = (number.value(values), number.name());
            let is_inside = (number.low..=number.high).contains(&value);
            if !is_inside {
                outside.push(format!(
                    "{name}: {value} is outside its bounds, {} to {}",
                    number.low, number.high
                ));
            }
            is_inside
        });
        (self, outside)
    }

    /// The table without the parameters at some paths.
    pub(crate) fn without(mut self, paths: &[String]) -> Self {
        self.numbers.retain(|number| !paths.contains(&number.path));
        self.choices.retain(|choice| !paths.iter().any(|path| path == choice.path));
        self
    }

    /// All of them, in order.
    pub fn parameters(&self) -> impl Iterator<Item = Parameter> + '_ {
        let numbers = self.numbers.iter().cloned().map(Parameter::Number);
        numbers.chain(self.choices.iter().cloned().map(Parameter::Choice))
    }

    /// Leaves a point of a curve out, in a drive and in the table; `None` where it was the last one.
    pub(crate) fn thin_curve(&mut self, path: &str, values: &Values, which: usize) -> Option<Values> {
        let mut points = values.get(path)?.as_array()?.clone();
        points.remove(which);
        let thinned = (!points.is_empty()).then(|| values.with(path, Value::Array(points)))?;
        self.set_curve(path, &thinned);
        Some(thinned)
    }

    /// Makes the curves what they are in a drive, and lets read-ahead go as far as its segments do.
    pub(crate) fn restore_curves(&mut self, values: &Values) {
        if let Some(segment_kib) = values.get(SEGMENT).map(real) {
            self.numbers.iter_mut().filter(|it| it.path == AHEAD).for_each(|it| it.high = segment_kib);
        }
        for path in [CURVE, SEEKS] {
            self.set_curve(path, values);
        }
    }

    fn set_curve(&mut self, path: &str, values: &Values) {
        let at = self.numbers.iter().position(|number| number.path == path);
        let Some(at) = at else { return };
        self.numbers.retain(|number| number.path != path);
        self.numbers.splice(at..at, curve(path, values, self.cylinders));
    }

    /// The points of a curve.
    pub(crate) fn curve(&self, path: &str) -> Vec<Number> {
        self.numbers.iter().filter(|number| number.path == path).cloned().collect()
    }

    /// The numbers that stand alone and have to do with how a drive works.
    pub(crate) fn alone_in(&self, values: &Values) -> Vec<Number> {
        let in_bursts = values.get(TRANSFERS).and_then(Value::as_str) == Some("bursts");
        let mut alone = self.alone();
        alone.retain(|number| in_bursts || ![BURST, GATHERED].contains(&number.path.as_str()));
        alone
    }

    /// The numbers that stand alone.
    pub(crate) fn alone(&self) -> Vec<Number> {
        self.numbers.iter().filter(|number| number.at_cylinders.is_none()).cloned().collect()
    }
}

fn number(path: impl Into<String>, low: f64, high: f64) -> Number {
    Number {
        path: path.into(),
        low,
        high,
        steps: TIMES_MS,
        relative: false,
        element: None,
        at_cylinders: None,
        digits: 3,
        fallback: Fallback::Constant(0.0),
    }
}

/// The two elements of a list: after a read, after a write.
fn pair(path: &str, fallback: &Fallback) -> [Number; 2] {
    let element = |index| Number {
        element: Some(index),
        fallback: fallback.clone(),
        ..number(path, 0.0, LONGEST_OVERHEAD_MS)
    };
    [element(0), element(1)]
}

fn overheads(values: &Values) -> Vec<Number> {
    let time = |path: &str| number(path, 0.0, LONGEST_OVERHEAD_MS);
    let has_cache = values.get("cache").is_some();
    let by_history = values.get("controller.by_history").is_some();
    let mut found = Vec::new();
    if by_history {
        for key in ["read_miss_ms", "write_miss_ms", "read_hit_ms", "write_hit_ms"] {
            found.extend(pair(&format!("controller.by_history.{key}"), &Fallback::Constant(0.0)));
        }
        for operation in ["read", "write"] {
            let miss = format!("controller.by_history.{operation}_miss_ms");
            let path = format!("controller.by_history.{operation}_seek_after_ms");
            found.extend(pair(&path, &Fallback::SeekAfter(miss)));
        }
        if has_cache {
            let fallback = Fallback::As("controller.by_history.read_hit_ms", 0.0);
            found.push(Number { fallback, ..time("controller.by_history.read_hit_at_rest_ms") });
            let wait = number("controller.by_history.stream_wait_ms", 0.0, LONGEST_STREAM_WAIT_MS);
            found.push(Number { steps: STREAM_WAITS_MS, digits: 1, fallback: Fallback::Rule, ..wait });
        }
    } else {
        found.extend([time("controller.read_overhead_ms"), time("controller.write_overhead_ms")]);
        if has_cache {
            let fallback = Fallback::As("controller.read_overhead_ms", 0.0);
            found.push(Number { fallback, ..time("controller.hit_overhead_ms") });
        }
    }
    found.extend([time("controller.read_completion_ms"), time("controller.write_completion_ms")]);
    if values.get("controller.seek_after_ms").is_some() || !by_history {
        let fallback = Fallback::SeekAfter("controller.read_overhead_ms".to_owned());
        found.push(Number { fallback, ..time("controller.seek_after_ms") });
    }
    found.push(time("controller.write_after_write_seek_delay_ms"));
    found
}

fn mechanics(values: &Values, cylinders: u32) -> Vec<Number> {
    let mut found = vec![
        number("mechanics.inward_seek_extra_ms", LEAST_SETTLE_MS, MOST_INWARD_MS),
        number("mechanics.write_settle_ms", LEAST_SETTLE_MS, LONGEST_STEP_MS),
        number("mechanics.read_settle_ms", LEAST_SETTLE_MS, LONGEST_STEP_MS),
        number("mechanics.head_switch_ms", 0.0, LONGEST_STEP_MS),
    ];
    found.extend(curve(SEEKS, values, cylinders));
    found.extend(curve(CURVE, values, cylinders));
    found
}

/// A curve: an element for each distance that it has, or else for some that the drive has.
fn curve(path: &str, values: &Values, cylinders: u32) -> Vec<Number> {
    let in_file = values.get(path).and_then(Value::as_array).filter(|points| !points.is_empty());
    let distances: Vec<u32> = match in_file {
        Some(points) => points.iter().map(|point| point.get(0).map_or(0, |at| real(at) as u32)).collect(),
        None if path == CURVE => CURVE_AT.into_iter().filter(|&at| at < cylinders).collect(),
        None => {
            let mut at: Vec<u32> =
                SEEKS_AT.iter().map(|share| (share * f64::from(cylinders)) as u32).collect();
            at.dedup();
            at
        }
    };
    let [low, high] = if path == CURVE { [0.0, LONGEST_STEP_MS] } else { SEEK_EXTRA_MS };
    let point = |(index, &at): (usize, &u32)| Number {
        steps: SETTLES_MS,
        element: Some(index),
        at_cylinders: Some(at),
        digits: 2,
        fallback: Fallback::Level(distances.clone()),
        ..number(path, low, high)
    };
    distances.iter().enumerate().map(point).collect()
}

fn transfers(values: &Values) -> Vec<Number> {
    let mut found = Vec::new();
    let size_kib = values.get("buffer.size_kib").map_or(64.0, real);
    if values.get("buffer.read_fence_fraction").is_some() {
        found.push(Number { steps: FENCE_FRACTIONS, ..number("buffer.read_fence_fraction", 0.0, 1.0) });
    } else if size_kib > 0.0 {
        let fence = number(FENCE, 0.0, size_kib);
        found.push(Number { steps: FENCES_KIB, digits: 2, ..fence });
    }
    if size_kib > 0.0 {
        let size = |path, fallback| Number {
            steps: FENCES_KIB,
            digits: 2,
            fallback,
            ..number(path, 0.0, LONGEST_BURST_KIB)
        };
        if values.get("buffer.write_fence_fraction").is_none() {
            let fence = number(WRITE_FENCE, 0.0, size_kib);
            found.push(Number { steps: WRITE_FENCES_KIB, digits: 2, ..fence });
        }
        found.push(size(BURST, Fallback::Constant(DEFAULT_BURST_KIB)));
        found.push(size(GATHERED, Fallback::As(BURST, DEFAULT_BURST_KIB)));
    }
    found.push(number("buffer.write_start_ms", 0.0, LONGEST_STEP_MS));
    for operation in ["read", "write"] {
        let path = format!("bus.{operation}_mb_per_s");
        // A file may stand for a bus that takes no time.
        let fastest = values.get(&path).map_or(FASTEST_BUS, real).max(FASTEST_BUS);
        let rate = number(path, SLOWEST_BUS, fastest);
        found.push(Number { steps: SHARES, relative: true, digits: 4, ..rate });
    }
    if let Some(segment_kib) = values.get(SEGMENT).map(real) {
        let limit = number(AHEAD, 0.5, segment_kib);
        let fallback = Fallback::Constant(segment_kib);
        found.push(Number { steps: LIMITS, relative: true, digits: 1, fallback, ..limit });
    }
    found
}

/// The size of a segment, up to all of the buffer; `None` where there is nothing larger than the file's.
fn segment_sizes(values: &Values) -> Option<Choice> {
    let own = values.get(SEGMENT)?;
    let (size, all) = (real(own), values.get("buffer.size_kib").map_or(64.0, real));
    let shares = [6.0, 4.0, 3.0, 2.0, 1.0].map(|segments| all / segments);
    let larger: Vec<Value> = shares.into_iter().filter(|&share| share > size).map(Value::Float).collect();
    let options = [vec![own.clone()], larger].concat();
    (size > 0.0 && options.len() > 1).then(|| Choice { path: SEGMENT, options, fallback: own.clone() })
}

fn choices(values: &Values) -> Vec<Choice> {
    let word = |path, options: &[&str]| Choice {
        path,
        options: options.iter().map(|&option| option.into()).collect(),
        fallback: options[0].into(),
    };
    let switch = |path, fallback: bool| Choice {
        path,
        options: vec![true.into(), false.into()],
        fallback: fallback.into(),
    };
    let mut buffer =
        vec![switch("buffer.write_overlaps_seek", true), switch("buffer.write_on_arrival", false)];
    if values.get("buffer.size_kib").map_or(64.0, real) > 0.0 {
        buffer.push(switch(DISCONNECTS, true));
        buffer.push(word(TRANSFERS, &["one", "bursts"]));
    }
    let Some(cache) = values.get("cache") else { return buffer };
    let ahead = cache.get("read_ahead").and_then(Value::as_str).unwrap_or("none");
    let reads_on = ["aggressive", "sequential-aware", "once-sequential"].contains(&ahead);
    let read_ahead = [
        "none",
        "to-track-end",
        "to-cylinder-end",
        "until-full",
        "aggressive",
        "sequential-aware",
        "once-sequential",
        "on-arrival",
        "track-ahead",
    ];
    let mut found = vec![
        word(READ_AHEAD, &read_ahead),
        switch("cache.read_ahead_over_requested", false),
        switch("cache.read_ahead_on_hit", reads_on),
        word("cache.written_data", &["dropped", "shared", "own-segment"]),
        switch("cache.zero_latency", false),
        switch("cache.whole_track", false),
        word("cache.write_overlap", &["keep-front", "drop-segment", "drop-at-rest", "update"]),
        word("cache.partial_hit", &["serve", "bypass"]),
        Choice {
            path: SEGMENTS,
            options: [1, 2, 3, 4, 6, 8, 10, 12, 16, 24, 32].map(Value::Integer).to_vec(),
            fallback: Value::Integer(1),
        },
    ];
    if let Some(sizes) = segment_sizes(values) {
        found.push(sizes);
    }
    // What a hit needs, what ends read-ahead, and which data make room.
    found.extend([
        word("cache.look_up", &["when-decoded", "when-received"]),
        word("cache.hit_during_read_ahead", &["as-at-rest", "own-segment"]),
        word("cache.read_ahead_stop", &["at-once", "after-sector"]),
        word("cache.read_ahead_room", &["any", "sent"]),
        word("cache.replacement", &["least-recently-used", "spare-read-ahead"]),
        word("controller.cached_part", &["miss-overhead", "hit-overhead"]),
    ]);
    if values.get(EARLY).is_some() {
        found.extend([
            word("write_policy.immediate-reporting.during_early_write", &["serves", "waits"]),
            word("write_policy.immediate-reporting.appends", &["once", "twice"]),
        ]);
    }
    found.extend(buffer);
    found
}
