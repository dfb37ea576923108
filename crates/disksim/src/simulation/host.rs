//! `disksim_iodriver`: the host's driver.

use super::only;
use crate::error::ImportError;
use crate::fields::Fields;
use crate::report::Report;
use crate::tree::{Block, Item};
use headstack_system::spec::HostSpec;

/// The host, and what its driver says of the drives.
#[derive(Clone, Debug)]
pub(super) struct Host {
    pub(super) spec: HostSpec,
    /// Every request takes this long once it is issued, in ms, whatever the drives are.
    pub(super) constant_ms: Option<f64>,
}

const CONSTANT: &str = "Constant access time";
const QUEUEING: &str = "Use queueing in subsystem";

pub(super) fn read(items: &[Item], report: &mut Report) -> Result<Host, ImportError> {
    let mut host = Host { spec: HostSpec::default(), constant_ms: None };
    let Some(block) = only(items, "disksim_iodriver")? else { return Ok(host) };
    let fields = Fields::new(block, ["type", CONSTANT, "Scheduler", QUEUEING], report)?;
    let constant = fields.real(CONSTANT)?.unwrap_or(0.0);
    if constant > 0.0 {
        host.constant_ms = Some(constant);
        report.carried(CONSTANT, "fidelity.constant_ms of every drive");
    } else if constant < 0.0 {
        let message = format!("`{CONSTANT}` is {constant}: times are those measured in a trace");
        let problem = ImportError::at(fields.at(CONSTANT), message).hint("use `--replay measured` instead");
        report.refuse(problem, "the drives' own times count")?;
        report.not_carried(CONSTANT, constant.to_string(), "measured times are a way to replay a trace");
    }
    if fields.real(QUEUEING)?.is_some_and(|used| used == 0.0) {
        host.spec.outstanding_per_drive = Some(1);
    }
    report.carried(QUEUEING, "host.outstanding_per_drive");
    if fields.find("Scheduler").is_some() {
        scheduler(fields.need_block("Scheduler")?, &mut host.spec, report)?;
    }
    Ok(host)
}

/// The policies that headstack has, by DiskSim's code.
const POLICIES: [(u64, &str); 3] = [(1, "fcfs"), (3, "c-look"), (4, "sstf")];

fn scheduler(block: &Block, host: &mut HostSpec, report: &mut Report) -> Result<(), ImportError> {
    let fields = Fields { block };
    let policy = fields.need_whole("Scheduling policy", 1, 1000)?;
    if let Some((_, name)) = POLICIES.iter().find(|(code, _)| *code == policy) {
        (*name).clone_into(&mut host.scheduler);
        report.carried("Scheduling policy", format!("host.scheduler: {name}"));
    } else {
        let reason = "the host's driver has no such order; it serves first come, first served";
        report.warn(fields.at("Scheduling policy"), format!("scheduling policy {policy}: {reason}"));
        report.not_carried("Scheduling policy", policy.to_string(), reason);
    }
    for (name, reason) in [
        ("Sequential stream scheme", "the driver does not join requests"),
        ("Overlapping request scheme", "the driver does not look for overlaps"),
        ("Scheduling timeout scheme", "the driver has one queue, whatever the age of a request"),
        ("Scheduling priority scheme", "the driver has one queue, whatever the priority of a request"),
    ] {
        if let Some(value) = fields.real(name)?.filter(|value| *value != 0.0) {
            report.not_carried(name, value.to_string(), reason);
        }
    }
    Ok(())
}
