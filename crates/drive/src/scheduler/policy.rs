//! The name of an order of service, with its parameter and what modifies it: `sptf`, `vscan(0.2)`,
//! `asptf(0.01)+age-limit(500 ms)`.

use headstack_units::{Nanos, Op, RequestFlags};
use std::fmt;
use std::str::FromStr;

/// What a scheduler must know to choose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Needs {
    /// Addresses.
    Addresses,
    /// The layout, and where the disk is.
    Rotation,
    /// What the buffer holds, too.
    Cache,
}

/// A scheduler, as the list of all tells it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SchedulerInfo {
    /// Its name.
    pub name: &'static str,
    /// What it does, in one line.
    pub what: &'static str,
    /// The number in parentheses, where it takes one.
    pub parameter: Option<Parameter>,
    /// What it must know.
    pub needs: Needs,
}

/// The number in parentheses behind a name.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parameter {
    /// What it is.
    pub what: &'static str,
    /// Follows the number; empty for a plain one.
    pub unit: &'static str,
    /// If the parentheses are left out; `None` if they must not be.
    pub default: Option<f64>,
    /// Bounds, included.
    pub allowed: [f64; 2],
    /// Whole numbers only.
    pub whole: bool,
}

const fn plain(name: &'static str, needs: Needs, what: &'static str) -> SchedulerInfo {
    SchedulerInfo { name, what, parameter: None, needs }
}

const AGE_WEIGHT: Parameter = Parameter {
    what: "ms of positioning that a ms of waiting is worth",
    unit: "",
    default: Some(0.01),
    allowed: [0.0, 1000.0],
    whole: false,
};

macro_rules! kinds {
    ($($kind:ident = $info:expr;)+) => {
        /// A scheduler.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum Kind { $($kind),+ }

        const KINDS: &[Kind] = &[$(Kind::$kind),+];

        /// All schedulers.
        pub const SCHEDULERS: &[SchedulerInfo] = &[$($info),+];
    };
}

kinds! {
    Fcfs = plain("fcfs", Needs::Addresses, "first come, first served");
    Sstf = plain("sstf", Needs::Addresses, "shortest seek first: the nearest");
    Scan = plain("scan", Needs::Addresses, "up and down, from the end of the last command");
    Look = plain("look", Needs::Addresses, "up and down (the elevator), from the beginning of the last command");
    CScan = plain("c-scan", Needs::Addresses, "upwards, then from the bottom; from the end of the last command");
    CLook = plain("c-look", Needs::Addresses, "upwards, then back to the lowest; from the beginning of the last command");
    Vscan = SchedulerInfo {
        parameter: Some(Parameter {
            what: "share of the stroke by which what lies behind counts as farther away: 0 is sstf, 1 is scan",
            unit: "",
            default: Some(0.2),
            allowed: [0.0, 1.0],
            whole: false,
        }),
        ..plain("vscan", Needs::Addresses, "between sstf and scan")
    };
    BatchFcfs = SchedulerInfo {
        parameter: Some(Parameter {
            what: "size of a batch",
            unit: "commands",
            default: Some(16.0),
            allowed: [1.0, 1e9],
            whole: true,
        }),
        ..plain("batch-fcfs", Needs::Addresses, "batches first come, first served; each in one upward sweep")
    };
    Sptf = plain("sptf", Needs::Rotation, "shortest positioning time first");
    Satf = plain("satf", Needs::Rotation, "shortest access time first: positioning and transfer");
    Spctf = plain("spctf", Needs::Cache, "shortest positioning time first; what the buffer holds needs none");
    Asptf = SchedulerInfo {
        parameter: Some(AGE_WEIGHT),
        ..plain("asptf", Needs::Rotation, "aged sptf: positioning time less weight x time waited")
    };
    Aspctf = SchedulerInfo {
        parameter: Some(AGE_WEIGHT),
        ..plain("aspctf", Needs::Cache, "aged spctf")
    };
    Wstf = SchedulerInfo {
        parameter: Some(Parameter {
            what: "longest wait that is permitted",
            unit: "ms",
            default: Some(2000.0),
            allowed: [0.001, 1e9],
            whole: false,
        }),
        ..plain("wstf", Needs::Rotation, "weighted sptf: positioning time x share of the permitted wait that is left")
    };
    Ncq = SchedulerInfo {
        parameter: Some(Parameter {
            what: "positioning that a wait of one pass of the queue is worth, in passes",
            unit: "",
            default: Some(1.3),
            allowed: [0.0, 1000.0],
            whole: false,
        }),
        ..plain("ncq", Needs::Cache, "as drives order their own queue: aged by passes, what is on the way taken along")
    };
    Gsptf = SchedulerInfo {
        parameter: Some(Parameter {
            what: "size of a group",
            unit: "cylinders",
            default: Some(100.0),
            allowed: [1.0, 4e9],
            whole: true,
        }),
        ..plain("gsptf", Needs::Rotation, "sptf within a group of cylinders, group after group")
    };
}

const AGE_LIMIT: Parameter = Parameter {
    what: "what has waited longer goes first, the oldest before the others",
    unit: "ms",
    default: None,
    allowed: [0.0, 1e9],
    whole: false,
};

const CONCATENATE: Parameter = Parameter {
    what: "most that is joined",
    unit: "KiB",
    default: Some(128.0),
    allowed: [0.5, 1e6],
    whole: false,
};

const SEQUENTIAL_FIRST: Parameter = Parameter {
    what: "no command waits longer for sequential reads",
    unit: "ms",
    default: Some(4000.0),
    allowed: [0.0, 1e9],
    whole: false,
};

/// What may follow a scheduler's name after a `+`: name, parameter, what it does.
pub const MODIFIERS: &[(&str, Option<Parameter>, &str)] = &[
    ("priority-first", None, "commands marked with priority before the others"),
    ("reads-first", None, "reads before writes, but no read before an older write to the same sectors"),
    ("age-limit", Some(AGE_LIMIT), "bounds the wait"),
    (
        "sequential-first",
        Some(SEQUENTIAL_FIRST),
        "reads that continue a sequential stream before all others; a drive also waits a revolution for the next of them",
    ),
    ("concatenate", Some(CONCATENATE), "what continues the last command in the same direction goes next"),
];

/// An order of service.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Policy {
    pub(super) kind: Kind,
    pub(super) value: f64,
    /// What has waited longer than this goes first.
    pub age_limit: Option<Nanos>,
    /// Commands marked with priority go before the others.
    pub priority_first: bool,
    /// Reads that continue a sequential stream go before all that has not waited longer than this.
    pub sequential_first: Option<Nanos>,
    /// Reads go before writes.
    pub reads_first: bool,
    /// Commands one behind the other go together, up to so many KiB.
    pub concatenate_kib: Option<f64>,
}

/// A policy that does not exist or cannot be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{problem}")]
pub struct PolicyError {
    /// What is wrong.
    pub problem: String,
    /// What would be right.
    pub hint: String,
}

impl Policy {
    /// How many kinds of commands there are of which one goes before the next.
    pub(super) fn classes(&self) -> usize {
        let halves = |is_asked: bool| if is_asked { 2 } else { 1 };
        halves(self.priority_first) * halves(self.reads_first)
    }

    /// Which of these kinds a command is of, the first served counted as 0.
    pub fn class(&self, op: Op, flags: RequestFlags) -> usize {
        let write = usize::from(self.reads_first && op == Op::Write);
        let is_last = self.priority_first && !flags.contains(RequestFlags::PRIORITY);
        let kinds = if self.reads_first { 2 } else { 1 };
        usize::from(is_last) * kinds + write
    }

    /// What it must know to choose.
    pub fn needs(&self) -> Needs {
        self.info().needs
    }

    /// The scheduler's entry in the list.
    pub fn info(&self) -> &'static SchedulerInfo {
        &SCHEDULERS[self.kind as usize]
    }

    /// Whether it regards limits on how long a command may take.
    pub fn regards_duration_limits(&self) -> bool {
        self.kind == Kind::Ncq
    }

    /// Whether it may put its choice off.
    pub(crate) fn puts_choices_off(&self) -> bool {
        self.kind == Kind::Ncq
    }

    /// Whether a command that waits alone is simply the next: the policy neither puts its choice off nor asks what continues a
    /// command or a stream.
    pub(super) fn leaves_one_alone(&self) -> bool {
        !self.puts_choices_off() && self.sequential_first.is_none() && self.concatenate_kib.is_none()
    }

    /// First come, first served, and nothing else.
    pub fn is_fcfs(&self) -> bool {
        self.kind == Kind::Fcfs
            && self.age_limit.is_none()
            && !self.priority_first
            && self.sequential_first.is_none()
            && !self.reads_first
            && self.concatenate_kib.is_none()
    }
}

impl FromStr for Policy {
    type Err = PolicyError;

    fn from_str(text: &str) -> Result<Self, PolicyError> {
        let mut parts = text.split('+').map(str::trim);
        let (name, argument) = split(parts.next().unwrap_or_default())?;
        let index = SCHEDULERS
            .iter()
            .position(|info| info.name == name)
            .ok_or_else(|| unknown("scheduler", name, SCHEDULERS.iter().map(|info| info.name)))?;
        let value = value_of(name, SCHEDULERS[index].parameter.as_ref(), argument)?;
        let mut policy = Self {
            kind: KINDS[index],
            value,
            age_limit: None,
            priority_first: false,
            sequential_first: None,
            reads_first: false,
            concatenate_kib: None,
        };
        for part in parts {
            policy.modify(part)?;
        }
        Ok(policy)
    }
}

impl Policy {
    fn modify(&mut self, part: &str) -> Result<(), PolicyError> {
        let (name, argument) = split(part)?;
        let Some((_, parameter, _)) = MODIFIERS.iter().find(|(known, ..)| *known == name) else {
            return Err(unknown("modifier of a scheduler", name, MODIFIERS.iter().map(|(name, ..)| *name)));
        };
        let value = value_of(name, parameter.as_ref(), argument)?;
        match name {
            "priority-first" => self.priority_first = true,
            "reads-first" => self.reads_first = true,
            "age-limit" => self.age_limit = Some(Nanos::from_ms(value)),
            "sequential-first" => self.sequential_first = Some(Nanos::from_ms(value)),
            _ => self.concatenate_kib = Some(value),
        }
        Ok(())
    }
}

/// `name(argument)` in its parts.
fn split(text: &str) -> Result<(&str, Option<&str>), PolicyError> {
    let Some((name, rest)) = text.split_once('(') else { return Ok((text, None)) };
    match rest.strip_suffix(')') {
        Some(argument) => Ok((name.trim(), Some(argument.trim()))),
        None => Err(PolicyError {
            problem: format!("`{text}` lacks its closing parenthesis"),
            hint: "write a scheduler as `name`, or `name(value)`".to_owned(),
        }),
    }
}

fn unknown<'a>(what: &str, name: &str, known: impl Iterator<Item = &'a str>) -> PolicyError {
    PolicyError {
        problem: format!("`{name}` is not a known {what}"),
        hint: format!("known are: {}", known.collect::<Vec<_>>().join(", ")),
    }
}

fn value_of(name: &str, parameter: Option<&Parameter>, argument: Option<&str>) -> Result<f64, PolicyError> {
    let Some(parameter) = parameter else {
        return match argument {
            None => Ok(0.0),
            Some(argument) => Err(PolicyError {
                problem: format!("`{name}` takes no value, but has `({argument})`"),
                hint: format!("write `{name}`"),
            }),
        };
    };
    let bad = |problem: String| PolicyError { problem, hint: parameter.form(name) };
    let Some(argument) = argument else {
        return parameter.default.ok_or_else(|| bad(format!("`{name}` needs a value")));
    };
    let number = argument
        .strip_suffix(parameter.unit)
        .ok_or_else(|| bad(format!("`{name}({argument})` lacks its unit, {}", parameter.unit)))?;
    let value: f64 =
        number.trim().parse().map_err(|_| bad(format!("`{argument}` in `{name}(…)` is not a number")))?;
    let [least, most] = parameter.allowed;
    if !(least..=most).contains(&value) || (parameter.whole && value.fract() != 0.0) {
        let kind = if parameter.whole { "a whole number" } else { "a number" };
        return Err(bad(format!("`{argument}` in `{name}(…)` is not {kind} from {least} to {most}")));
    }
    Ok(value)
}

impl Parameter {
    /// How to write it: "write `wstf(2000 ms)`: longest wait that is permitted".
    fn form(&self, name: &str) -> String {
        let example = self.default.unwrap_or(500.0);
        let space = if self.unit.is_empty() { "" } else { " " };
        format!("write `{name}({example}{space}{})`: {}", self.unit, self.what)
    }

    fn show(&self, value: f64) -> String {
        if self.unit.is_empty() { format!("({value})") } else { format!("({value} {})", self.unit) }
    }
}

impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.info().name)?;
        if let Some(parameter) = &self.info().parameter {
            f.write_str(&parameter.show(self.value))?;
        }
        if self.priority_first {
            f.write_str("+priority-first")?;
        }
        if self.reads_first {
            f.write_str("+reads-first")?;
        }
        if let Some(limit) = self.age_limit {
            write!(f, "+age-limit{}", AGE_LIMIT.show(limit.as_ms()))?;
        }
        if let Some(limit) = self.sequential_first {
            write!(f, "+sequential-first{}", SEQUENTIAL_FIRST.show(limit.as_ms()))?;
        }
        if let Some(kib) = self.concatenate_kib {
            write!(f, "+concatenate{}", CONCATENATE.show(kib))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        for (text, shown) in [
            ("sptf", "sptf"),
            ("vscan", "vscan(0.2)"),
            ("vscan( 0.5 )", "vscan(0.5)"),
            ("wstf(300 ms)", "wstf(300 ms)"),
            ("wstf(300ms)", "wstf(300 ms)"),
            ("c-look + age-limit(250 ms) + reads-first", "c-look+reads-first+age-limit(250 ms)"),
            ("sptf+sequential-first", "sptf+sequential-first(4000 ms)"),
            ("batch-fcfs(8 commands)+concatenate", "batch-fcfs(8 commands)+concatenate(128 KiB)"),
        ] {
            let policy: Policy = text.parse().unwrap();
            assert_eq!(policy.to_string(), shown);
            assert_eq!(shown.parse::<Policy>().unwrap(), policy);
        }
    }

    #[test]
    fn every_scheduler_of_the_list_can_be_had() {
        for info in SCHEDULERS {
            assert_eq!(info.name.parse::<Policy>().unwrap().info(), info);
        }
    }

    #[test]
    fn what_cannot_be_says_what_can() {
        for (text, problem, hint) in [
            ("clook", "`clook` is not a known scheduler", "c-look"),
            ("", "`` is not a known scheduler", "fcfs"),
            ("sptf+hurry", "`hurry` is not a known modifier", "reads-first"),
            ("sptf(3)", "takes no value", "write `sptf`"),
            ("vscan(2)", "not a number from 0 to 1", "vscan(0.2)"),
            ("vscan(NaN)", "not a number from 0 to 1", "vscan(0.2)"),
            ("wstf(300)", "lacks its unit, ms", "wstf(2000 ms)"),
            ("gsptf(1.5 cylinders)", "not a whole number", "gsptf(100 cylinders)"),
            ("vscan(0.2", "closing parenthesis", "name(value)"),
            ("fcfs+age-limit", "needs a value", "age-limit(500 ms)"),
        ] {
            let error = text.parse::<Policy>().unwrap_err();
            assert!(error.problem.contains(problem), "{text}: {}", error.problem);
            assert!(error.hint.contains(hint), "{text}: {}", error.hint);
        }
    }
}
