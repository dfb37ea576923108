//! Schedulers in the driver: what the host knows, and what that is enough for.

use std::sync::Arc;

use headstack_drive::DriveModel;
use headstack_drive::scheduler::{Knowledge, Needs, Policy, Queue, SCHEDULERS};
use headstack_drive::spec::RotationModel;

use super::DriverQueue;
use crate::SystemError;
use crate::spec::{ArrayCacheSpec, HostKnowledge, HostSpec, SystemConfig};

/// The driver's order of service.
///
/// # Errors
/// [`SystemError::UnknownName`] for a scheduler that does not exist, [`SystemError::Scheduler`] for one with a value or
/// modifier that cannot be.
pub(crate) fn policy(host: &HostSpec) -> Result<Policy, SystemError> {
    host.scheduler.parse().map_err(|error| {
        let name = host.scheduler.split(['+', '(']).next().unwrap_or_default().trim();
        if SCHEDULERS.iter().any(|info| info.name == name) {
            return SystemError::Scheduler(error);
        }
        SystemError::unknown("host scheduler", name, SCHEDULERS.iter().map(|info| info.name.to_owned()))
    })
}

/// The order of service of a controller's own queues.
///
/// # Errors
/// As [`policy`].
pub(crate) fn controller_policy(host: &HostSpec, cache: &ArrayCacheSpec) -> Result<Policy, SystemError> {
    let scheduler = cache.scheduler.as_ref().unwrap_or(&host.scheduler);
    policy(&HostSpec { scheduler: scheduler.clone(), ..HostSpec::default() })
}

/// What a volume's controller lacks for its scheduler, if anything.
///
/// # Errors
/// As [`policy`].
pub(crate) fn controller_problem(
    config: &SystemConfig,
    volume: &str,
    cache: &ArrayCacheSpec,
) -> Result<Option<String>, SystemError> {
    let policy = controller_policy(&config.host, cache)?;
    let own = SystemConfig { host: HostSpec::default(), ..config.clone() };
    let problem = check(&own, &policy);
    Ok(problem.map(|problem| problem.replacen("`host.", &format!("`volume.{volume}.cache."), 1)))
}

/// What the host lacks for its scheduler, if anything.
pub(crate) fn check(config: &SystemConfig, policy: &Policy) -> Option<String> {
    let name = policy.info().name;
    match policy.needs() {
        Needs::Addresses => None,
        Needs::Cache => Some(format!(
            "`host.scheduler`: {name} must know what the drive's buffer holds, which a host cannot; put it into the \
             drive (`--scheduler drive:{name}`) or take {}",
            // The same by positioning time alone.
            if name.contains("pctf") { name.replace("pctf", "ptf") } else { "sptf".to_owned() }
        )),
        Needs::Rotation => {
            let known = config.host.knowledge.filter(|&known| known != HostKnowledge::Layout);
            if let Some(known) = known {
                return Some(format!(
                    "`host.scheduler`: {name} must know the layout and the rotation, but the host knows only {}; set \
                     `host.knowledge = \"layout\"`, put it into the drive (`--scheduler drive:{name}`), or take sstf",
                    known.as_str()
                ));
            }
            let blurred =
                config.drives.iter().find(|drive| drive.spec.fidelity.rotation != RotationModel::Tracked)?;
            Some(format!(
                "`host.scheduler`: {name} goes by the rotation, which drive {} leaves to chance (`fidelity.rotation`); \
                 take sstf",
                blurred.name
            ))
        }
    }
}

/// An empty queue of the driver for one actuator, under a policy that was checked.
pub(crate) fn queue(host: &HostSpec, policy: Policy, model: &Arc<DriveModel>) -> DriverQueue {
    let knowledge = match host.knowledge {
        None if policy.needs() > Needs::Addresses => HostKnowledge::Layout,
        None => HostKnowledge::Addresses,
        Some(knowledge) => knowledge,
    };
    let knowledge = match knowledge {
        HostKnowledge::Addresses => {
            Knowledge::Addresses { sectors: model.layout.capacity(), sector_bytes: model.sector_bytes() }
        }
        HostKnowledge::Cylinders => Knowledge::Cylinders(Arc::clone(model)),
        HostKnowledge::Layout => Knowledge::Layout(Arc::clone(model)),
    };
    DriverQueue::new(Queue::new(policy, knowledge, host.queue_limit), host.queue_limit.is_some())
}
