//! What drives drew during a run.

use headstack_drive::power::{ByState, ConditionWatts, Energy, RestTimes, Watts};
use schemars::JsonSchema;
use serde::Serialize;

use crate::engine::UnitUse;
use crate::spec::DriveConfig;

/// Energy of a drive or of all drives, over the counted time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PowerSummary {
    /// Mean power, in watts.
    pub average_w: f64,
    /// All of it, in joules.
    pub energy_j: f64,
    /// Of all drives, the same for each request, idle time between them included; absent without requests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub per_request_j: Option<f64>,
    /// Of all drives, what was drawn while an arm sought, waited for a sector or transferred, for each request; what drives did by
    /// themselves, and rebuilds, are in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at_work_per_request_j: Option<f64>,
    /// The mean power by what it was drawn for; the states add up to it.
    pub by_state_w: ByState,
}

impl PowerSummary {
    /// Of an energy used over `span_ns` for so many requests, 0 if they are nobody's alone; `None` where no time passed.
    pub(super) fn new(energy: &Energy, requests: u64, span_ns: u128) -> Option<Self> {
        let span_s = span_ns as f64 / 1e9;
        let at_rest = energy.by_state_j.idle + energy.by_state_j.resting;
        let each = |joules: f64| (requests > 0).then(|| joules / requests as f64);
        (span_ns > 0).then(|| Self {
            average_w: energy.total_j() / span_s,
            energy_j: energy.total_j(),
            per_request_j: each(energy.total_j()),
            at_work_per_request_j: each((energy.total_j() - at_rest).max(0.0)),
            by_state_w: energy.by_state_j.map(|joules| joules / span_s),
        })
    }
}

/// How long a drive was in one of its power conditions, over the counted time.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ConditionSummary {
    /// Its name.
    pub name: String,
    /// How often the drive began to enter it.
    pub entered: u64,
    /// On the way in.
    pub entering_s: f64,
    /// In it.
    pub within_s: f64,
    /// On the way back, while commands waited.
    pub recovering_s: f64,
}

/// The power conditions of a drive whose units were used as `units` tell.
pub(super) fn conditions<'a>(
    drive: &DriveConfig,
    units: impl Iterator<Item = &'a UnitUse>,
) -> Vec<ConditionSummary> {
    let rests = units.fold(RestTimes::default(), |rests, unit| rests.and(&unit.rests));
    let all = drive.spec.power.iter().flat_map(|power| &power.condition);
    all.zip(rests.0)
        .map(|(condition, times)| ConditionSummary {
            name: condition.name.clone(),
            entered: times.entered,
            entering_s: times.entering.as_s(),
            within_s: times.within.as_s(),
            recovering_s: times.recovering.as_s(),
        })
        .collect()
}

/// What a drive used whose units were used as `units` tell; `None` where its watts are not known.
pub(super) fn energy<'a>(
    drive: &DriveConfig,
    units: impl Iterator<Item = &'a UnitUse>,
    span_ns: u128,
) -> Option<Energy> {
    // With several arms at work at a time, each of them is idle when it does nothing.
    let at_a_time = drive.spec.arms.moving();
    // A drive that has failed draws nothing; its last unit at work keeps it on.
    let mut off_ns = span_ns;
    let units = units.inspect(|unit| off_ns = off_ns.min(unit.off.0.into()));
    let (units, rests): (Vec<_>, RestTimes) = units.fold(Default::default(), |(mut all, rests), unit| {
        all.push(unit);
        (all, rests.and(&unit.rests))
    });
    let arms: Vec<_> = units.into_iter().flat_map(|unit| unit.active().shared_by(at_a_time)).collect();
    let (watts, conditions) = (Watts::of(&drive.spec)?, ConditionWatts::all(&drive.spec));
    let on_ns = span_ns - off_ns;
    Some(Energy::new(&watts, &arms, on_ns).with_rests(&watts, &conditions, &rests))
}
