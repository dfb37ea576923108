//! One round of a fit: which lines are searched, in which order.

use crate::FitError;
use crate::evaluate::{Evaluator, Point};
use crate::parameter::Number;
use crate::search::{Line, choose, descend, descend_curve, is_better, is_worth_a_curve};
use crate::seeks::proposed;
use crate::table::{
    AHEAD, BURST, CURVE, DISCONNECTS, FENCE, GATHERED, ParameterTable, READ_AHEAD, SEEK_EXTRA_MS, SEEKS,
    SEGMENT, SEGMENTS, TIMES_MS, TRANSFERS,
};
use crate::values::{Values, real};
use headstack_units::Op;
use std::collections::BTreeMap;
use toml::Value;

/// Where else a search begins: this much taken from before the media work to behind it, and this fence.
const ROOM_MS: f64 = 0.2;
const FENCE_KIB: f64 = 8.0;
/// So few numbers are searched with all steps in each round, and farther ones: that costs little.
const FEW_NUMBERS: usize = 6;
/// So many lines are followed, the one that gains most first, and each must gain this share of what is left.
const MOST_LINES: u32 = 8;
const LEAST_SHARE_OF_A_LINE: f64 = 0.05;
/// What bursts, and what gathers before them, may come to.
const BURSTS_KIB: [f64; 4] = [2.0, 4.0, 8.0, 16.0];

/// Searches every line once; `small` is for rounds that begin near the best.
pub(crate) fn fit_round(
    evaluator: &Evaluator<'_>,
    start: &Point,
    table: &ParameterTable,
    small: bool,
) -> Result<Point, FitError> {
    let alone = table.alone_in(&start.values);
    let are_few = table.numbers.len() <= FEW_NUMBERS;
    let small = small && !are_few;
    let singles: Vec<Line> = alone.iter().map(if are_few { Line::far } else { Line::single }).collect();
    let mut point = start.clone();
    let pairs = if are_few { pairs(&alone) } else { Vec::new() };
    for line in singles.iter().chain(&exchanges(&alone)).chain(&pairs) {
        point = descend(evaluator, &point, line, small)?;
    }
    point = seeks_by_distance(evaluator, point, table, (SEEKS, None))?;
    // Twice: what is read ahead and what a hit does to it, for one, depend on each other.
    for choice in table.choices.iter().chain(&table.choices) {
        point = choose(evaluator, &point, choice)?;
    }
    point = larger_segments(evaluator, point, table)?;
    let curve = table.curve(CURVE);
    if !curve.is_empty() {
        point = descend_curve(evaluator, &point, &curve)?;
    }
    // What depends on what was found since: with small steps once more, and along the whole way of the round.
    for line in &singles {
        point = descend(evaluator, &point, line, true)?;
    }
    along(evaluator, start, point, &alone)
}

/// Times that move together, and against each other: one may have grown where another is too short.
fn pairs(numbers: &[Number]) -> Vec<Line> {
    let times: Vec<&Number> = numbers.iter().filter(|number| !number.relative).collect();
    let mut lines = Vec::new();
    for (at, &one) in times.iter().enumerate() {
        for &other in &times[at + 1..] {
            lines
                .extend([-1.0, 1.0].map(|share| Line::new(vec![(one.clone(), 1.0), (other.clone(), share)])));
        }
    }
    lines
}

/// The curve of a table as lost revolutions tell it, where that is clearly better.
fn seeks_by_distance(
    evaluator: &Evaluator<'_>,
    point: Point,
    table: &ParameterTable,
    (path, only): (&str, Option<Op>),
) -> Result<Point, FitError> {
    if table.curve(path).is_empty() {
        return Ok(point);
    }
    let found = proposed(evaluator, &point, (path, only), SEEK_EXTRA_MS)?;
    Ok(found.filter(|found| is_worth_a_curve(&point, found)).unwrap_or(point))
}

/// Fewer and larger segments, of the same buffer, as much more read ahead where a segment was the limit, and any rule of
/// reading ahead: values of which none can change alone, since a rule that reads on needs room for what it reads.
fn larger_segments(
    evaluator: &Evaluator<'_>,
    point: Point,
    table: &ParameterTable,
) -> Result<Point, FitError> {
    let of = |values: &Values, path: &str| values.get(path).map_or(0.0, real);
    let choice = |path: &str| table.choices.iter().find(|choice| choice.path == path);
    let Some(sizes) = choice(SEGMENT) else { return Ok(point) };
    let (size, all) = (of(&point.values, SEGMENT), of(&point.values, "buffer.size_kib"));
    let resized = |option: &Value| {
        let segments = (all / real(option)).floor().max(1.0) as i64;
        let values = point.values.with(SEGMENT, option.clone()).with(SEGMENTS, Value::Integer(segments));
        let is_whole = of(&values, AHEAD) >= size;
        if is_whole { values.with(AHEAD, option.clone()) } else { values }
    };
    let larger = sizes.options.iter().filter(|option| real(option) > size).map(resized);
    let by_rule = |values: Values| -> Vec<Option<Values>> {
        let others = choice(READ_AHEAD).into_iter().flat_map(|rule| rule.others(&values));
        let others: Vec<_> = others.map(|(_, values)| Some(values)).collect();
        [vec![Some(values)], others].concat()
    };
    let points = evaluator.points(larger.flat_map(by_rule).collect())?.into_iter().flatten();
    let best = points.min_by(|a, b| a.ms().total_cmp(&b.ms()));
    Ok(best.filter(|best| is_better(&point, best)).unwrap_or(point))
}

/// Drives to begin with that no line leads to: with room below the completions, with a fence or without, and with data that
/// go over the bus in bursts.
///
/// The first changes no time by itself; what it allows is found afterwards.
pub(crate) fn other_starts(
    evaluator: &Evaluator<'_>,
    start: &Point,
    numbers: &[Number],
) -> Result<Vec<Point>, FitError> {
    let Some(shifted) = gauge(numbers).last().and_then(|line| line.at(&start.values, ROOM_MS)) else {
        return Ok(Vec::new());
    };
    let fences = numbers.iter().filter(|it| it.path == FENCE && it.high >= FENCE_KIB);
    let fenced: Vec<_> = fences.map(|fence| Some(fence.put(&shifted, FENCE_KIB))).collect();
    let tried = std::iter::once(Some(shifted.clone())).chain(fenced).collect();
    let mut starts: Vec<Point> = evaluator.points(tried)?.into_iter().flatten().collect();
    starts.extend(in_bursts(evaluator, &[&start.values, &shifted], numbers)?);
    Ok(starts)
}

/// The drive that the file's becomes when the line that gains most is followed first, then that which gains most then, and so on;
/// none where no line gains much.
///
/// A round takes its lines in turn: what one value has wrong, those before it in the table make up for, each a little, and then it
/// gains nothing itself any more. Files are more often wrong in few values than in many.
pub(crate) fn most_first(
    evaluator: &Evaluator<'_>,
    file: Point,
    numbers: &[Number],
) -> Result<Option<Point>, FitError> {
    let singles = numbers.iter().map(Line::far);
    let buses = exchanges(numbers)
        .into_iter()
        .filter(|line| line.parts.iter().all(|it| it.0.path.starts_with("bus.")));
    let lines: Vec<Line> = singles.chain(buses).collect();
    let (mut point, mut followed) = (file, 0);
    while followed < MOST_LINES {
        let places: Vec<(usize, f64)> = (0..lines.len())
            .flat_map(|line| lines[line].steps.iter().flat_map(move |&step| [(line, -step), (line, step)]))
            .collect();
        let tried = places.iter().map(|&(line, step)| lines[line].at(&point.values, step)).collect();
        let found = evaluator.points(tried)?;
        let gains = places.iter().zip(found).filter_map(|(&(line, _), found)| Some((line, found?.ms())));
        let Some((line, _)) = gains.min_by(|a, b| a.1.total_cmp(&b.1)) else { break };
        let next = descend(evaluator, &point, &lines[line], false)?;
        if next.ms() > (1.0 - LEAST_SHARE_OF_A_LINE) * point.ms() {
            break;
        }
        (point, followed) = (next, followed + 1);
    }
    Ok((followed > 0).then_some(point))
}

/// The best of the drives whose data go over the bus in bursts, of what several sizes lead to along the lines nearest to
/// them; none where no drive can do that.
pub(crate) fn in_bursts(
    evaluator: &Evaluator<'_>,
    from: &[&Values],
    numbers: &[Number],
) -> Result<Option<Point>, FitError> {
    let sizes: Vec<Number> =
        numbers.iter().filter(|it| [FENCE, BURST, GATHERED].contains(&it.path.as_str())).cloned().collect();
    let [fence, ..] = sizes.as_slice() else { return Ok(None) };
    if sizes.len() < 3 {
        return Ok(None);
    }
    let bursts = |values: &Values, kib: f64| {
        let values = values.with(DISCONNECTS, true.into()).with(TRANSFERS, "bursts".into());
        Some(sizes.iter().fold(values, |values, size| size.put(&values, kib)))
    };
    let fitting = BURSTS_KIB.into_iter().filter(|&kib| 2.0 * kib <= fence.high);
    let tried = fitting.flat_map(|kib| from.iter().map(move |values| bursts(values, kib))).collect();
    let together = Line::new(sizes.iter().map(|size| (size.clone(), 1.0)).collect());
    // What completions of reads made up for comes off them again, with and without those that hit.
    let completion = numbers.iter().filter(|it| it.path == "controller.read_completion_ms").map(Line::single);
    let reads: Vec<Line> = std::iter::once(moved_behind(&Group::all(numbers), &HITS[..2]))
        .filter(|line| line.parts.len() > 1)
        .chain(completion)
        .chain([together])
        .collect();
    let mut best: Option<Point> = None;
    for mut point in evaluator.points(tried)?.into_iter().flatten() {
        for line in &reads {
            point = descend(evaluator, &point, line, false)?;
        }
        if best.as_ref().is_none_or(|best| point.ms() < best.ms()) {
            best = Some(point);
        }
    }
    Ok(best)
}

/// The numbers of a table by the path of their key.
struct Group<'a>(BTreeMap<&'a str, Vec<&'a Number>>);

impl<'a> Group<'a> {
    fn all(numbers: &'a [Number]) -> Self {
        let mut by_path: BTreeMap<&str, Vec<&Number>> = BTreeMap::new();
        for number in numbers {
            by_path.entry(&number.path).or_default().push(number);
        }
        Self(by_path)
    }

    fn has(&self, path: &str) -> bool {
        self.0.contains_key(path)
    }

    /// The numbers at some paths, each with the same share.
    fn parts<P: AsRef<str>>(&self, paths: impl IntoIterator<Item = P>, share: f64) -> Vec<(Number, f64)> {
        let found = paths.into_iter().flat_map(|path| self.0.get(path.as_ref()).cloned().unwrap_or_default());
        found.map(|number| (number.clone(), share)).collect()
    }
}

/// Lines along which the sum of the times stays, or a pair moves together.
///
/// Time before the media work and time after it add up alike, but only the first can miss a revolution: along the axes
/// alone the search would climb a ridge.
fn exchanges(numbers: &[Number]) -> Vec<Line> {
    let group = Group::all(numbers);
    let mut lines: Vec<Line> =
        ["read", "write"].iter().flat_map(|operation| exchanges_of(&group, operation)).collect();
    lines.extend(gauge(numbers));
    for pair in [
        ["bus.read_mb_per_s", "bus.write_mb_per_s"],
        ["mechanics.read_settle_ms", "mechanics.write_settle_ms"],
    ] {
        lines.push(Line::new(group.parts(pair, 1.0)));
    }
    lines.retain(|line| line.parts.len() > 1);
    lines
}

/// Lines on which drives lie that are hard to tell apart: the exchanges, and time of reads that hit moved behind them,
/// with or without that of the others.
pub(crate) fn look_alikes(numbers: &[Number]) -> Vec<Line> {
    let group = Group::all(numbers);
    let mut lines = exchanges(numbers);
    lines.extend((2..=HITS.len()).map(|count| moved_behind(&group, &HITS[..count])));
    lines.retain(|line| line.parts.len() > 1);
    lines
}

/// Lines of seeks that begin later and settle in as much less, by kind of request or all of them.
pub(crate) fn late_seeks(numbers: &[Number]) -> Vec<Line> {
    let group = Group::all(numbers);
    let settle = |operation: &str| format!("mechanics.{operation}_settle_ms");
    let late = |begin: String, settles: Vec<String>| {
        Line::new([group.parts([begin], -1.0), group.parts(settles, 1.0)].concat())
    };
    let of =
        |operation| late(format!("controller.by_history.{operation}_seek_after_ms"), vec![settle(operation)]);
    let all = late("controller.seek_after_ms".to_owned(), vec![settle("read"), settle("write")]);
    let mut lines = vec![of("read"), of("write"), all];
    lines.retain(|line| line.parts.len() > 1);
    lines
}

/// Kinds of reads, those that hit first.
const HITS: [&str; 4] = ["hit", "hit_at_rest", "seek_after", "miss"];

/// Time before some kinds of reads, moved behind all reads.
fn moved_behind(group: &Group<'_>, kinds: &[&str]) -> Line {
    let paths = kinds.iter().map(|kind| format!("controller.by_history.read_{kind}_ms"));
    Line::new([group.parts(paths, -1.0), group.parts(["controller.read_completion_ms"], 1.0)].concat())
}

fn exchanges_of(group: &Group<'_>, operation: &str) -> Vec<Line> {
    let by_history = |kind: &str| format!("controller.by_history.{operation}_{kind}_ms");
    let (miss, hit, seek) = (by_history("miss"), by_history("hit"), by_history("seek_after"));
    let before = [miss.clone(), hit, format!("controller.{operation}_overhead_ms")];
    let together = |paths: &[&String]| group.parts(paths, 1.0);
    let mut groups =
        vec![together(&[&miss]), together(&[&seek]), together(&[&miss, &seek]), group.parts(&before, 1.0)];
    let after = group.parts([format!("controller.{operation}_completion_ms")], 1.0);
    if !after.is_empty() {
        let all: Vec<&String> = before.iter().chain([&seek]).collect();
        for paths in [before.iter().collect(), vec![&miss], all] {
            groups.push([group.parts(paths, -1.0), after.clone()].concat());
        }
    }
    let rate = group.parts([format!("bus.{operation}_mb_per_s")], 0.2);
    if !rate.is_empty() {
        // A bus that is a tenth faster, and overheads that make up for it on a transfer of a millisecond.
        groups.push([rate, group.parts(&before, 0.2)].concat());
    }
    groups.into_iter().map(Line::new).collect()
}

/// Lines that shift the angle of the whole drive.
///
/// Nobody sees the spindle: as much off everything before the media work, of reads and writes alike, as is put behind it
/// changes no time at all. It lets one completion grow against the other that is already 0.
pub(crate) fn gauge(numbers: &[Number]) -> Vec<Line> {
    let group = Group::all(numbers);
    let by_history = |kinds: &[&str]| -> Vec<String> {
        let of = |operation: &'static str| {
            kinds.iter().map(move |kind| format!("controller.by_history.{operation}_{kind}_ms"))
        };
        of("read").chain(of("write")).collect()
    };
    let every = by_history(&["miss", "hit", "seek_after"]);
    let overheads = ["read", "write"].map(|operation| format!("controller.{operation}_overhead_ms"));
    let completions = ["read", "write"].map(|operation| format!("controller.{operation}_completion_ms"));
    // Part of it would be no shift but a change.
    let whole = [&every[..], &overheads].iter().any(|paths| paths.iter().all(|path| group.has(path)));
    if !(whole && completions.iter().all(|path| group.has(path))) {
        return Vec::new();
    }
    let mut before = Vec::new();
    for operation in ["read", "write"] {
        for kind in ["miss", "hit", "seek_after"] {
            before.extend(group.parts([format!("controller.by_history.{operation}_{kind}_ms")], -1.0));
        }
        before.extend(group.parts([format!("controller.{operation}_overhead_ms")], -1.0));
    }
    before.extend(group.parts(["controller.by_history.read_hit_at_rest_ms"], -1.0));
    let behind = |paths: &[String]| {
        let parts = [before.clone(), group.parts(paths, 1.0)].concat();
        Line { parts, steps: TIMES_MS.to_vec() }
    };
    vec![behind(&completions[..1]), behind(&completions[1..]), behind(&completions)]
}

/// Searches along the way from one drive to another.
fn along(
    evaluator: &Evaluator<'_>,
    start: &Point,
    end: Point,
    numbers: &[Number],
) -> Result<Point, FitError> {
    let way = |number: &Number| {
        let (old, new) = (number.value(&start.values), number.value(&end.values));
        let way = if number.relative && old != 0.0 { new / old - 1.0 } else { new - old };
        (way != 0.0).then(|| (number.clone(), way))
    };
    let parts: Vec<(Number, f64)> = numbers.iter().filter_map(way).collect();
    if parts.len() < 2 {
        return Ok(end);
    }
    descend(evaluator, &end, &Line { parts, steps: vec![0.1, 0.3, 1.0] }, false)
}
