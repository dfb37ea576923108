//! `disksim_iodriver`: the host's driver.

use super::only;
use crate::error::ImportError;
use crate::fields::Fields;
use crate::queue::{self, Place};
use crate::report::Report;
use crate::tree::Item;
use headstack_system::spec::{HostKnowledge, HostSpec};

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
        let order = queue::read(fields.need_block("Scheduler")?, Place::Host, report)?;
        host.spec.scheduler = order.scheduler;
        host.spec.knowledge = order.knowledge.filter(|&known| known != HostKnowledge::Addresses);
    }
    Ok(host)
}
