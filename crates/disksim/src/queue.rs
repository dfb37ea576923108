//! `disksim_ioqueue`: an order of service, in the drive or in the host's driver.

use crate::error::ImportError;
use crate::fields::Fields;
use crate::meaning::Meaning;
use crate::report::Report;
use crate::tree::Block;
use headstack_system::spec::HostKnowledge;

const POLICY: &str = "Scheduling policy";
const MAPPING: &str = "Cylinder mapping strategy";
const STREAMS: &str = "Sequential stream scheme";
const CONCAT: &str = "Maximum concat size";
const OVERLAP: &str = "Overlapping request scheme";
const TIMEOUT: &str = "Scheduling timeout scheme";
const TIME: &str = "Timeout time/weight";
const TIMEOUT_POLICY: &str = "Timeout scheduling";
const PRIORITY: &str = "Scheduling priority scheme";
const PRIORITY_POLICY: &str = "Priority scheduling";

const ALL: [&str; 13] = [
    POLICY,
    MAPPING,
    "Write initiation delay",
    "Read initiation delay",
    STREAMS,
    CONCAT,
    OVERLAP,
    "Sequential stream diff maximum",
    TIMEOUT,
    TIME,
    TIMEOUT_POLICY,
    PRIORITY,
    PRIORITY_POLICY,
];

/// Where the queue is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Drive,
    Host,
}

/// The order of service of a queue.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Order {
    /// As a drive or system file names it.
    pub(crate) scheduler: String,
    /// In the host: what the driver goes by, if not what is usual for the scheduler.
    pub(crate) knowledge: Option<HostKnowledge>,
}

/// What a policy goes by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Goes {
    Anyhow,
    ByAddress,
    ByCylinder,
    ByPosition,
    /// By position, and by what the buffer holds.
    ByCache,
}

/// A policy that has its like here.
struct Known {
    code: u64,
    name: &'static str,
    /// What becomes of [`TIME`], if it belongs to the policy.
    weight: Weight,
    goes: Goes,
    /// How the like differs.
    but: &'static str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Weight {
    None,
    /// In seconds: the longest wait permitted.
    Limit,
    /// ms of positioning for each second of waiting.
    Age,
}

const fn known(code: u64, name: &'static str, weight: Weight, goes: Goes, but: &'static str) -> Known {
    Known { code, name, weight, goes, but }
}

const VSCAN: &str =
    "how much what lies behind counts as farther away is not in the file: 0.2 is the usual share";
const NO_CACHE: &str = "what the buffer holds is not asked";
const NO_TRANSFER: &str = "the time of the transfer is left out";

const POLICIES: [Known; 18] = [
    known(1, "fcfs", Weight::None, Goes::Anyhow, ""),
    known(2, "look", Weight::None, Goes::ByAddress, ""),
    known(3, "c-look", Weight::None, Goes::ByAddress, ""),
    known(4, "sstf", Weight::None, Goes::ByAddress, ""),
    known(5, "look", Weight::None, Goes::ByCylinder, ""),
    known(6, "c-look", Weight::None, Goes::ByCylinder, ""),
    known(7, "sstf", Weight::None, Goes::ByCylinder, ""),
    known(8, "sptf", Weight::None, Goes::ByPosition, ""),
    known(9, "spctf", Weight::None, Goes::ByCache, ""),
    known(10, "satf", Weight::None, Goes::ByPosition, ""),
    known(11, "wstf", Weight::Limit, Goes::ByPosition, ""),
    known(12, "wstf", Weight::Limit, Goes::ByPosition, NO_CACHE),
    known(13, "wstf", Weight::Limit, Goes::ByPosition, NO_TRANSFER),
    known(14, "asptf", Weight::Age, Goes::ByPosition, ""),
    known(15, "aspctf", Weight::Age, Goes::ByCache, ""),
    known(16, "asptf", Weight::Age, Goes::ByPosition, NO_TRANSFER),
    known(17, "vscan", Weight::None, Goes::ByAddress, VSCAN),
    known(18, "vscan", Weight::None, Goes::ByCylinder, VSCAN),
];

/// Reads the block of a queue.
pub(crate) fn read(block: &Block, place: Place, report: &mut Report) -> Result<Order, ImportError> {
    let fields = Fields::new(block, ALL, report)?;
    let mut queue = Reader { fields, place, report, uses_time: false };
    let mut order = queue.policy()?;
    queue.streams(&mut order)?;
    queue.priority(&mut order)?;
    queue.timeout(&mut order)?;
    queue.rest()?;
    Ok(order)
}

struct Reader<'a, 'r> {
    fields: Fields<'a>,
    place: Place,
    report: &'r mut Report,
    uses_time: bool,
}

impl Reader<'_, '_> {
    fn policy(&mut self) -> Result<Order, ImportError> {
        let code = match self.place {
            Place::Host => self.fields.need_whole(POLICY, 1, 1000)?,
            Place::Drive => self.fields.whole(POLICY, 0, 1000)?.unwrap_or(1),
        };
        let Some(known) = POLICIES.iter().find(|known| known.code == code) else {
            let reason = "there is no such order here; the queue is served first come, first served";
            self.warn(POLICY, format!("scheduling policy {code}: {reason}"));
            self.report.not_carried(POLICY, code.to_string(), reason);
            return Ok(Order { scheduler: "fcfs".to_owned(), knowledge: None });
        };
        let mut name = known.name.to_owned();
        if known.goes == Goes::ByCache && self.place == Place::Host {
            name = name.replace("pctf", "ptf");
            self.warn(
                POLICY,
                format!("scheduling policy {code}: a host cannot see the drive's buffer; {name} is taken"),
            );
        }
        if !known.but.is_empty() {
            self.warn(POLICY, format!("scheduling policy {code} becomes {name}: {}", known.but));
        }
        let scheduler = match known.weight {
            Weight::None => name,
            Weight::Limit => format!("{name}({} ms)", 1000.0 * self.time(0.000_001)?),
            Weight::Age => format!("{name}({})", self.time(0.0)? / 1000.0),
        };
        let (path, knowledge) = match self.place {
            Place::Drive => ("controller.scheduler", None),
            Place::Host => ("host.scheduler", self.knowledge(known.goes)?),
        };
        self.report.carried(POLICY, format!("{path}: {scheduler}"));
        Ok(Order { scheduler, knowledge })
    }

    /// A time, or a weight, that belongs to the policy.
    fn time(&mut self, least: f64) -> Result<f64, ImportError> {
        self.uses_time = true;
        let value = self.fields.need_real(TIME)?;
        if !(least..=1e6).contains(&value) {
            let message = format!("`{TIME}` is {value}, but must be from {least} to 1000000");
            return Err(ImportError::at(self.fields.at(TIME), message));
        }
        self.report.carried(TIME, "part of the scheduler");
        Ok(value)
    }

    /// What the driver goes by. Our map of the drive is whole: some, or all, of it cannot be left out.
    fn knowledge(&mut self, goes: Goes) -> Result<Option<HostKnowledge>, ImportError> {
        let mapping = self.fields.whole(MAPPING, 0, 6)?.unwrap_or(1);
        Ok(match (goes, mapping) {
            (Goes::Anyhow, _) => None,
            (Goes::ByAddress, _) | (Goes::ByCylinder, 0 | 5 | 6) => {
                self.report.carried(MAPPING, "host.knowledge: addresses");
                Some(HostKnowledge::Addresses)
            }
            (Goes::ByCylinder, _) => {
                self.report.carried(MAPPING, "host.knowledge: cylinders, all of the map");
                Some(HostKnowledge::Cylinders)
            }
            (Goes::ByPosition | Goes::ByCache, _) => {
                self.report.carried(MAPPING, "host.knowledge: layout, all of the map");
                Some(HostKnowledge::Layout)
            }
        })
    }

    /// Bits 0 and 1: reads, writes one behind the other are joined; 2 and 3: they are served together.
    fn streams(&mut self, order: &mut Order) -> Result<(), ImportError> {
        let scheme = self.fields.whole(STREAMS, 0, 1000)?.unwrap_or(0);
        if scheme == 0 {
            return self.unused(CONCAT, "nothing is joined");
        }
        let blocks = self.fields.real(CONCAT)?.unwrap_or(0.0);
        if scheme & 3 != 3 || blocks < 1.0 {
            let reason = "reads and writes are joined, up to a size, or neither is";
            self.report.not_carried(STREAMS, scheme.to_string(), reason);
            return self.unused(CONCAT, "nothing is joined");
        }
        if scheme > 3 {
            let message =
                format!("sequential stream scheme {scheme}: what is joined is all that goes together here");
            self.warn(STREAMS, message);
        }
        // Blocks of 512 bytes.
        order.scheduler = format!("{}+concatenate({} KiB)", order.scheduler, blocks / 2.0);
        self.report.carried(STREAMS, "part of the scheduler: concatenate");
        self.report.carried(CONCAT, "part of the scheduler: concatenate");
        Ok(())
    }

    /// Scheme 1: time-critical and time-limited requests go before the others.
    fn priority(&mut self, order: &mut Order) -> Result<(), ImportError> {
        if self.fields.whole(PRIORITY, 0, 1000)?.unwrap_or(0) == 0 {
            return self.unused(PRIORITY_POLICY, "there are no priorities");
        }
        order.scheduler += "+priority-first";
        self.report.carried(PRIORITY, "part of the scheduler: priority-first");
        let own = self.fields.whole(PRIORITY_POLICY, 0, 1000)?.unwrap_or(0);
        if own == 0 || Some(own) == self.fields.whole(POLICY, 0, 1000)? {
            self.report.carried(PRIORITY_POLICY, "the scheduler of all");
        } else {
            let reason = "requests with priority are scheduled as the others";
            self.report.not_carried(PRIORITY_POLICY, own.to_string(), reason);
        }
        Ok(())
    }

    /// Scheme 1: what has waited for so many seconds goes before the rest.
    fn timeout(&mut self, order: &mut Order) -> Result<(), ImportError> {
        let scheme = self.fields.whole(TIMEOUT, 0, 1000)?.unwrap_or(0);
        if scheme == 0 {
            if !self.uses_time {
                self.unused(TIME, "neither the policy nor a timeout asks for it")?;
            }
            return self.unused(TIMEOUT_POLICY, "there are no timeouts");
        }
        if self.report.meaning == Meaning::Disksim {
            let reason = "DiskSim does not act on it";
            self.report.unused(TIMEOUT, scheme.to_string(), reason);
            if !self.uses_time {
                self.unused(TIME, reason)?;
            }
            return self.unused(TIMEOUT_POLICY, reason);
        }
        if scheme > 1 {
            let reason = "what has waited for too long goes first, without a queue for half the time";
            self.report.not_carried(TIMEOUT, scheme.to_string(), reason);
            return Ok(());
        }
        let limit = 1000.0 * self.time(0.0)?;
        order.scheduler = format!("{}+age-limit({limit} ms)", order.scheduler);
        self.report.carried(TIMEOUT, format!("part of the scheduler: age-limit({limit} ms)"));
        match self.fields.whole(TIMEOUT_POLICY, 0, 1000)?.unwrap_or(1) {
            0 | 1 => self.report.carried(TIMEOUT_POLICY, "what the model does anyway"),
            other => {
                let reason = "what has waited for too long goes in the order of its age";
                self.report.not_carried(TIMEOUT_POLICY, other.to_string(), reason);
            }
        }
        Ok(())
    }

    fn rest(&mut self) -> Result<(), ImportError> {
        if self.place == Place::Drive {
            self.unused(MAPPING, "the drive knows its layout")?;
        }
        for name in ["Write initiation delay", "Read initiation delay"] {
            self.unused(name, "an estimate has the drive's own overheads in it")?;
        }
        self.unused("Sequential stream diff maximum", "only what begins where another ends continues it")?;
        if let Some(value) = self.fields.real(OVERLAP)?.filter(|value| *value != 0.0) {
            self.report.not_carried(
                OVERLAP,
                value.to_string(),
                "a queue does not look for requests that overlap",
            );
        }
        Ok(())
    }

    /// A value that is there but asked for by nothing; 0 stands for none.
    fn unused(&mut self, name: &str, reason: &str) -> Result<(), ImportError> {
        if let Some(value) = self.fields.real(name)?.filter(|value| *value != 0.0) {
            self.report.unused(name, value.to_string(), reason);
        }
        Ok(())
    }

    fn warn(&mut self, name: &str, message: String) {
        self.report.warn(self.fields.at(name), message);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::{At, Kind, Parameter, Value};
    use headstack_drive::scheduler::{Needs, Policy};

    fn block(values: &[(&str, f64)]) -> Block {
        let at = At { file: "x.parv".into(), line: 1 };
        let parameter = |&(name, value): &(&str, f64)| Parameter {
            name: name.to_owned(),
            at: at.clone(),
            value: Value { at: at.clone(), kind: Kind::Real(value) },
        };
        let parameters = values.iter().map(parameter).collect();
        Block { kind: "disksim_ioqueue".into(), name: String::new(), at: at.clone(), parameters }
    }

    fn order(place: Place, values: &[(&str, f64)]) -> (Order, Report) {
        let mut report = Report::default();
        let order = read(&block(values), place, &mut report).unwrap();
        (order, report)
    }

    #[test]
    fn every_policy_of_the_table_is_one_that_its_place_can_have() {
        for known in &POLICIES {
            for place in [Place::Drive, Place::Host] {
                let (order, report) = order(place, &[(POLICY, known.code as f64), (TIME, 6.0)]);
                let policy: Policy = order.scheduler.parse().unwrap();
                assert!(place == Place::Drive || policy.needs() < Needs::Cache, "{}", known.code);
                if place == Place::Host && policy.needs() == Needs::Rotation {
                    assert_eq!(order.knowledge, Some(HostKnowledge::Layout));
                }
                assert!(report.carried.iter().any(|one| one.parameter == POLICY));
                let uses = report.carried.iter().any(|one| one.parameter == TIME);
                assert_eq!(uses, known.weight != Weight::None, "{}", known.code);
            }
        }
    }

    #[test]
    fn weights_and_limits_have_their_units() {
        let of = |code| order(Place::Drive, &[(POLICY, code), (TIME, 6.0)]).0.scheduler;
        assert_eq!([of(11.0), of(14.0), of(15.0)], ["wstf(6000 ms)", "asptf(0.006)", "aspctf(0.006)"]);
    }

    #[test]
    fn a_map_of_cylinders_is_what_the_mapping_says() {
        let of = |code, mapping| order(Place::Host, &[(POLICY, code), (MAPPING, mapping)]).0.knowledge;
        assert_eq!(of(3.0, 4.0), Some(HostKnowledge::Addresses));
        assert_eq!(of(6.0, 4.0), Some(HostKnowledge::Cylinders));
        assert_eq!(of(6.0, 0.0), Some(HostKnowledge::Addresses));
        assert_eq!(of(1.0, 4.0), None);
    }

    #[test]
    fn streams_and_timeouts_modify_the_order() {
        let base = [(POLICY, 3.0), (STREAMS, 3.0), (CONCAT, 128.0), (TIMEOUT, 1.0), (TIME, 30.0)];
        let (joined, report) = order(Place::Host, &base);
        assert_eq!(joined.scheduler, "c-look+concatenate(64 KiB)+age-limit(30000 ms)");
        joined.scheduler.parse::<Policy>().unwrap();
        assert!(report.not_carried.is_empty(), "{:?}", report.not_carried);
    }

    #[test]
    fn a_timeout_is_what_disksim_makes_of_it_where_that_is_asked_for() {
        let mut report = Report { meaning: Meaning::Disksim, ..Report::default() };
        let found =
            read(&block(&[(POLICY, 3.0), (TIMEOUT, 1.0), (TIME, 30.0)]), Place::Host, &mut report).unwrap();
        assert_eq!(found.scheduler, "c-look");
    }

    #[test]
    fn what_has_no_like_is_named() {
        let values = [
            (POLICY, 3.0),
            (STREAMS, 1.0),
            (CONCAT, 128.0),
            (OVERLAP, 2.0),
            (TIMEOUT, 2.0),
            (PRIORITY, 1.0),
            (PRIORITY_POLICY, 3.0),
        ];
        let (plain, report) = order(Place::Host, &values);
        assert_eq!(plain.scheduler, "c-look+priority-first");
        let lost: Vec<_> =
            report.not_carried.iter().filter(|one| one.matters).map(|one| one.parameter.as_str()).collect();
        assert_eq!(lost, [STREAMS, TIMEOUT, OVERLAP]);
        let (_, report) = order(Place::Host, &[(POLICY, 3.0), (PRIORITY, 1.0), (PRIORITY_POLICY, 4.0)]);
        assert_eq!(report.not_carried.len(), 1);
        let (plain, report) = order(Place::Host, &[(POLICY, 27.0)]);
        assert_eq!((plain.scheduler.as_str(), report.warnings.len()), ("fcfs", 1));
    }

    #[test]
    fn a_weight_that_cannot_be_is_an_error() {
        let mut report = Report::default();
        for (code, time) in [(11.0, 0.0), (14.0, -1.0), (14.0, 1e9)] {
            let error = read(&block(&[(POLICY, code), (TIME, time)]), Place::Drive, &mut report).unwrap_err();
            assert!(error.to_string().contains(TIME), "{error}");
        }
    }
}
