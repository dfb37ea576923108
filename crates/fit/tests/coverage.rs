//! Do the intervals hold the truth? Drives with planted values, noise and late completions, fitted with everything free.

#![expect(clippy::print_stdout, reason = "what a slow test measured is worth reading")]

mod common;

use common::{MIXED, Noise, file, measured, random};
use headstack_fit::{
    Calibration, Interval, Known, Monitor, Number, Options, Parameter, ParameterTable, Row, Values, calibrate,
};
use rand::RngExt;
use rand_pcg::Pcg64;
use std::collections::BTreeMap;
use std::fmt::Write;

const DRIVES: [&str; 6] =
    ["hp-c2247a", "hp-97560", "cheetah-9lp", "dec-rz26", "atlas-10k", "seagate-st32171w"];
const NOISE: Noise = Noise { sigma_ms: 0.03, late: 0.01 };
const PLANTED: usize = 4;

/// A drive, some of whose numbers are not as in its file.
struct Trial {
    drive: &'static str,
    planted: Vec<String>,
    truth: Values,
    found: Calibration,
}

impl Trial {
    fn new(seed: u64, requests: u64) -> Self {
        let drive = DRIVES[seed as usize % DRIVES.len()];
        let spec = file(drive);
        let numbers = ParameterTable::of(&spec).numbers;
        let mut random = random(seed);
        let mut truth = Values::of(&spec);
        let mut planted: Vec<String> = Vec::new();
        while planted.len() < PLANTED {
            let number = &numbers[random.random_range(0..numbers.len())];
            // The curve is a dozen values of one cause: planted elsewhere.
            if number.at_cylinders.is_some() || planted.contains(&number.name()) {
                continue;
            }
            let size = number.steps[0] * random.random_range(2.0..10.0);
            let step = if random.random_bool(0.5) { size } else { -size };
            let Some(moved) = number.moved(&truth, step).or_else(|| number.moved(&truth, -step)) else {
                continue;
            };
            truth = moved;
            planted.push(number.name());
        }
        let trace = measured(drive, &truth.overrides(), MIXED, requests, NOISE, seed);
        let options = Options { name: drive.to_owned(), ..Options::default() };
        let found = calibrate(&spec, &trace, &options, &Monitor::default()).unwrap();
        Self { drive, planted, truth, found }
    }

    /// Each number, its interval, and what it really is.
    fn numbers(&self) -> impl Iterator<Item = (&Row, &Number, Interval, f64)> {
        self.found.rows.iter().filter_map(|row| match (&row.parameter, &row.known) {
            (Parameter::Number(number), Known::Number(known)) => {
                Some((row, number, known.joint, number.value(&self.truth)))
            }
            _ => None,
        })
    }
}

fn holds(interval: &Interval, truth: f64) -> bool {
    let (low, high) = (interval.low.value(), interval.high.value());
    low.is_none_or(|low| low <= truth) && high.is_none_or(|high| truth <= high)
}

#[test]
#[ignore = "slow: a few dozen fits with everything free"]
fn nine_in_ten_intervals_hold_what_was_planted() {
    let trials: u64 = std::env::var("TRIALS").ok().and_then(|count| count.parse().ok()).unwrap_or(24);
    let [
        mut told,
        mut holding,
        mut changed,
        mut changed_holding,
        mut planted,
        mut planted_told,
        mut planted_holding,
    ] = [0_u32; 7];
    let mut missed = String::new();
    for seed in 0..trials {
        let trial = Trial::new(seed, 4000);
        for (row, number, interval, truth) in trial.numbers() {
            let is_planted = trial.planted.contains(&number.name());
            planted += u32::from(is_planted);
            if !interval.is_identifiable() {
                assert!(
                    !row.is_changed(),
                    "{}: {} was changed and is not identifiable",
                    trial.drive,
                    number.name()
                );
                continue;
            }
            let is_held = holds(&interval, truth);
            told += 1;
            holding += u32::from(is_held);
            changed += u32::from(row.is_changed());
            changed_holding += u32::from(row.is_changed() && is_held);
            planted_told += u32::from(is_planted);
            planted_holding += u32::from(is_planted && is_held);
            if !is_held {
                let _ = writeln!(
                    missed,
                    "{seed} {} {}{}: {truth} is not in {interval:?}, {} before, {} after",
                    trial.drive,
                    number.name(),
                    if is_planted { " (planted)" } else { "" },
                    row.before,
                    row.after
                );
            }
        }
        let (test, drive) = (&trial.found.test, trial.drive);
        let mae = |scores: &headstack_stats::Scores| scores.all.per_request.mae_ms;
        println!(
            "{seed} {drive}: {:.4} to {:.4} ms, {} drives",
            mae(&test.before),
            mae(&test.after),
            trial.found.evaluations
        );
    }
    println!("{missed}");
    println!("identifiable {told}, holding {holding}: {:.1} %", 100.0 * f64::from(holding) / f64::from(told));
    println!(
        "changed {changed}, holding {changed_holding}; planted {planted}, identifiable {planted_told}, holding {planted_holding}"
    );
    assert!(f64::from(holding) >= 0.9 * f64::from(told), "{holding} of {told}\n{missed}");
    assert!(
        10 * planted_holding >= 9 * planted_told,
        "of what was planted {planted_holding} of {planted_told}"
    );
    assert!(planted_told * 2 >= planted, "{planted_told} of {planted} planted values are identifiable");
}

/// What is planted in the trials of one kind: what the table calls so.
const KINDS: [(&str, &[&str]); 5] = [
    (
        "overhead",
        &[
            "controller.by_history",
            "controller.read_overhead_ms",
            "controller.write_overhead_ms",
            "controller.hit_overhead_ms",
            "controller.seek_after_ms",
            "controller.write_after_write_seek_delay_ms",
        ],
    ),
    ("completion", &["controller.read_completion_ms", "controller.write_completion_ms"]),
    (
        "mechanics",
        &[
            "mechanics.inward_seek_extra_ms",
            "mechanics.read_settle_ms",
            "mechanics.write_settle_ms",
            "mechanics.head_switch_ms",
        ],
    ),
    ("transfer", &["buffer", "bus", "cache.read_ahead_limit_kib"]),
    ("curve", &["mechanics.write_settle_by_distance_ms"]),
];
const RULES: &str = "rule";

/// How many planted values there were, how many were identifiable, and how many of those are in their intervals.
#[derive(Clone, Copy, Default)]
struct Tally {
    planted: u32,
    told: u32,
    holding: u32,
}

/// Values of one kind planted in a drive, fitted with as many others that are as in the file.
struct Planted {
    kind: &'static str,
    names: Vec<String>,
    truth: Values,
    found: Calibration,
}

impl Planted {
    fn new(seed: u64) -> Self {
        let drive = DRIVES[seed as usize % DRIVES.len()];
        let spec = file(drive);
        let table = ParameterTable::of(&spec);
        let mut random = random(1000 + seed);
        let which = (seed as usize / DRIVES.len()) % (KINDS.len() + 1);
        let (kind, names, truth) = if let Some(&(kind, paths)) = KINDS.get(which) {
            let own = |number: &&Number| paths.iter().any(|path| number.path.starts_with(path));
            let own: Vec<&Number> = table.numbers.iter().filter(own).collect();
            let plant = if kind == "curve" { curve } else { few };
            let (names, truth) = plant(&own, &Values::of(&spec), &mut random);
            (kind, names, truth)
        } else {
            let choice = &table.choices[random.random_range(0..table.choices.len())];
            let values = Values::of(&spec);
            let is_other = |option: &&toml::Value| *option != choice.value(&values);
            let others: Vec<_> = choice.options.iter().filter(is_other).collect();
            let option = others[random.random_range(0..others.len())].clone();
            (RULES, vec![choice.path.to_owned()], values.with(choice.path, option))
        };
        let alone: Vec<&Number> = table.numbers.iter().filter(|it| it.at_cylinders.is_none()).collect();
        let mut parameters = names.clone();
        for _ in 0..2 {
            let other = alone[random.random_range(0..alone.len())].name();
            if !parameters.contains(&other) {
                parameters.push(other);
            }
        }
        let trace = measured(drive, &truth.overrides(), MIXED, 3000, NOISE, seed);
        let options = Options { name: drive.to_owned(), parameters, rounds: 2, ..Options::default() };
        let found = calibrate(&spec, &trace, &options, &Monitor::default()).unwrap();
        Self { kind, names, truth, found }
    }

    fn tally(&self, missed: &mut String) -> Tally {
        let mut tally = Tally::default();
        for row in self.found.rows.iter().filter(|row| self.names.contains(&row.parameter.name())) {
            let (is_told, holds) = match (&row.parameter, &row.known) {
                (Parameter::Number(number), Known::Number(known)) => {
                    (known.joint.is_identifiable(), holds(&known.joint, number.value(&self.truth)))
                }
                (Parameter::Choice(choice), Known::Choice(as_good)) => {
                    let truth = choice.value(&self.truth);
                    (as_good.is_empty(), row.after == *truth || as_good.contains(truth))
                }
                _ => unreachable!("a row knows what it is about"),
            };
            tally.planted += 1;
            tally.told += u32::from(is_told);
            tally.holding += u32::from(is_told && holds);
            if is_told && !holds {
                let _ = writeln!(
                    missed,
                    "{}: {} {:?}, before {}, after {}",
                    self.kind,
                    row.parameter.name(),
                    row.known,
                    row.before,
                    row.after
                );
            }
        }
        tally
    }
}

/// One or two values of a kind, each a clear step away.
fn few(own: &[&Number], file: &Values, random: &mut Pcg64) -> (Vec<String>, Values) {
    let (mut truth, mut names) = (file.clone(), Vec::new());
    for _ in 0..8 {
        let number = own[random.random_range(0..own.len())];
        let size = number.steps[0] * random.random_range(2.0..10.0);
        let moved = number.moved(&truth, size).or_else(|| number.moved(&truth, -size));
        if let (Some(moved), false) = (moved, names.contains(&number.name())) {
            truth = moved;
            names.push(number.name());
        }
        if names.len() == 2 {
            break;
        }
    }
    (names, truth)
}

/// A settle of writes that is longer for seeks of up to some distance.
fn curve(own: &[&Number], file: &Values, random: &mut Pcg64) -> (Vec<String>, Values) {
    let (up_to, longer) = (random.random_range(own.len() / 2..=own.len()), random.random_range(0.5..3.0));
    let moved = |values: Values, number: &&Number| number.moved(&values, longer).unwrap_or(values);
    let truth = own[..up_to].iter().fold(file.clone(), moved);
    (own.iter().map(|number| number.name()).collect(), truth)
}

#[test]
#[ignore = "slow: 200 fits of a few values each"]
fn intervals_hold_planted_values_of_every_kind_in_95_of_100_trials() {
    let trials: u64 = std::env::var("TRIALS").ok().and_then(|count| count.parse().ok()).unwrap_or(200);
    let (mut missed, mut by_kind) = (String::new(), BTreeMap::<&str, Tally>::new());
    for seed in 0..trials {
        let trial = Planted::new(seed);
        let (own, sum) = (trial.tally(&mut missed), by_kind.entry(trial.kind).or_default());
        sum.planted += own.planted;
        sum.told += own.told;
        sum.holding += own.holding;
    }
    println!("{missed}");
    let mut all = Tally::default();
    for (kind, own) in &by_kind {
        println!("{kind}: planted {}, identifiable {}, holding {}", own.planted, own.told, own.holding);
        all.told += own.told;
        all.holding += own.holding;
        assert!(trials < 200 || own.told > 0, "no planted {kind} was identifiable");
    }
    println!(
        "all: identifiable {}, holding {} ({:.1} %)",
        all.told,
        all.holding,
        100.0 * f64::from(all.holding) / f64::from(all.told)
    );
    assert!(
        f64::from(all.holding) >= 0.95 * f64::from(all.told),
        "{} of {}\n{missed}",
        all.holding,
        all.told
    );
}
