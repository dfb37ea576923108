//! Phase locks and gaps: fits to the measured clock, and what Python is told of them.

use crate::convert::dict;
use crate::error::{Error, guarded};
use crate::poll::{Poll, Polled};
use crate::system::System;
use crate::trace::Trace;
use crate::validate::Sample;
use headstack_drive::layout::Layout;
use headstack_drive::spec::LayoutSpec;
use headstack_phase::gap::{Gap as GapFound, GapVerdict};
use headstack_phase::{Estimate, Hypotheses, Misfit, PhaseFit, Source};
use headstack_system::phase::{Fitted, decide_gap, fit as fit_system};
use headstack_system::summary::PhaseSummary;
use headstack_system::{RunOptions, SystemError};
use headstack_trace::{Gap, RequestSource};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::{Value, json};

/// How many requests a decision about gaps looks at.
const GAP_REQUESTS: u64 = 6000;

/// How many of `requests` the fit gets.
pub(crate) fn first_part(requests: usize, share: f64) -> usize {
    ((requests as f64 * share) as usize).clamp(1, requests.saturating_sub(1).max(1))
}

/// Drives fitted to the beginning of a trace.
pub(crate) struct PhaseLock {
    fitted: Fitted,
}

/// Fits the drives of `system` to as many requests as the options say.
pub(crate) fn fit(
    system: &System,
    trace: &Trace,
    options: &RunOptions,
    poll: &Poll,
) -> Result<PhaseLock, Error> {
    let open = || -> Result<Box<dyn RequestSource>, SystemError> {
        let source = trace.shaped(system.targets(), options.requests)?;
        Ok(Box::new(Polled::new(source, poll.quiet())))
    };
    Ok(PhaseLock { fitted: fit_system(&system.system, options, open)? })
}

impl PhaseLock {
    /// Of drives that are fitted already.
    pub(crate) fn of(fitted: Fitted) -> Self {
        Self { fitted }
    }

    /// The system with the fitted drives.
    pub(crate) fn system(&self) -> Result<System, Error> {
        System::build(self.fitted.config.clone())
    }

    /// For each drive the zones whose angles are to be learnt.
    pub(crate) fn learn_zones(&self) -> Vec<Vec<u32>> {
        let zones = |drive: &Option<headstack_system::phase::DriveFit>| {
            drive.as_ref().map_or_else(Vec::new, |drive| drive.unseen_zones.clone())
        };
        self.fitted.drives.iter().map(zones).collect()
    }

    /// The fitted drive as a file, where the system is one drive.
    pub(crate) fn drive_file(&self) -> Option<String> {
        match self.fitted.config.drives.as_slice() {
            [only] => Some(only.spec.to_toml()),
            _ => None,
        }
    }

    /// For people and programs.
    pub(crate) fn value(&self, fitted_to: usize, tracking: &[PhaseSummary]) -> Value {
        let drives = self.fitted.config.drives.iter().zip(&self.fitted.drives).enumerate();
        let drives = drives.filter_map(|(number, (drive, fit))| {
            let found = fit.as_ref()?;
            Some(json!({
                "drive": drive.name,
                "fit": fit_value(&found.fit, &first_lbas(&drive.spec.layout)),
                "geometry": misfit_value(&found.misfit()),
                "tracking": tracking.get(number),
            }))
        });
        json!({ "fitted_to_requests": fitted_to, "drives": drives.collect::<Vec<_>>() })
    }
}

/// Where each zone begins.
fn first_lbas(layout: &LayoutSpec) -> Vec<u64> {
    Layout::new(layout).zones().map(|zone| zone.first_lba).collect()
}

fn fit_value(fit: &PhaseFit, first_lbas: &[u64]) -> Value {
    json!({
        "rotation_rpm": fit.rpm,
        "rotation_ms": fit.period_ns / 1e6,
        "period_found": fit.period_found,
        "observations": fit.observations,
        "pairs": fit.pairs,
        "coherence": {
            "file": fit.coherence.file,
            "period_only": fit.coherence.period_only,
            "fitted": fit.coherence.fitted,
            "held_out_before": fit.coherence.held_out_before,
            "held_out_after": fit.coherence.held_out_after,
        },
        "track_skew": hypotheses_value(&fit.inner),
        "cylinder_skew": hypotheses_value(&fit.outer),
        "range_skew": hypotheses_value(&fit.range),
        "zone_offsets": hypotheses_value(&fit.offsets),
        "zones": fit.zones.iter().map(|zone| json!({
            "zone": zone.zone,
            "first_lba": first_lbas.get(zone.zone),
            "pairs": zone.pairs,
            "track_skew": estimate_value(&zone.track_skew),
            "cylinder_skew": estimate_value(&zone.cylinder_skew),
            "range_skew": zone.range_skew.as_ref().map(estimate_value),
            "first_sector": estimate_value(&zone.first_sector),
            "coherence_before": zone.coherence_before,
            "coherence_after": zone.coherence_after,
        })).collect::<Vec<_>>(),
        "skipped_tracks": fit.skipped.iter().filter(|track| !track.listed).map(|track| json!({
            "zone": track.zone,
            "cylinder": track.cylinder,
            "head": track.head,
            "is_sure": track.is_sure,
            "between_lbas": [track.between.0, track.between.1],
        })).collect::<Vec<_>>(),
        "listed_not_skipped": fit.not_skipped.iter().map(|track| json!({
            "cylinder": track[0],
            "head": track[1],
            "is_sure": fit.surely_not_skipped.contains(track),
        })).collect::<Vec<_>>(),
        "spare_tracks": fit.spare_tracks.iter().map(|of| json!({
            "zone": of.zone,
            "file": of.file,
            "instead": of.instead,
        })).collect::<Vec<_>>(),
    })
}

/// Where angles are out of step with the file's geometry, and what mends it.
fn misfit_value(misfit: &Misfit) -> Value {
    json!({
        "out_of_step": misfit.ranges.iter().map(|range| json!({
            "begins_between_lbas": [range.begins_between.0, range.begins_between.1],
            "ends_between_lbas": [range.ends_between.0, range.ends_between.1],
            "observations": range.observations,
            "agreeing": range.agreeing,
            "log_odds": range.log_odds,
        })).collect::<Vec<_>>(),
        "mended_by": misfit.mends.iter().map(|mend| json!({
            "changes": mend.changes.iter().map(|(path, file, instead)| json!({
                "path": path,
                "file": file,
                "instead": instead,
            })).collect::<Vec<_>>(),
            "from_lba": mend.from_lba,
            "coherence_before": mend.coherence.0,
            "coherence_after": mend.coherence.1,
            "standard_errors_ahead": mend.ahead,
        })).collect::<Vec<_>>(),
    })
}

fn hypotheses_value(level: &Hypotheses) -> Value {
    json!({
        "pairs": level.pairs,
        "coherence_file": level.file,
        "coherence_one_value": level.global,
        "one_value_revolutions": level.global_turns,
        "coherence_chosen": level.chosen,
        "chosen": source_word(level.source),
    })
}

fn estimate_value(estimate: &Estimate) -> Value {
    json!({ "revolutions": estimate.turns, "from": source_word(estimate.source) })
}

fn source_word(source: Source) -> &'static str {
    match source {
        Source::File => "file",
        Source::Global => "one-value",
        Source::Zone => "zone",
        Source::None => "file-unseen",
    }
}

/// How far the arm goes for each request, from where the one before ended, in cylinders; `None` unless the system is one
/// drive with one arm whose sectors are the host's.
pub(crate) fn distances(system: &System, samples: &[Sample]) -> Option<Vec<u32>> {
    let model = system.system.model(0)?;
    let single = system.system.config().drives.len() == 1 && model.actuators() == 1;
    if !single || model.sector_bytes() != system.system.sector_bytes() {
        return None;
    }
    let mut arm = 0;
    let distance = |sample: &Sample| {
        let first = model.layout.locate(sample.lba).cylinder;
        let last = model.layout.locate(sample.lba + u64::from(sample.sectors) - 1).cylinder;
        let distance = first.abs_diff(arm);
        arm = last;
        distance
    };
    Some(samples.iter().map(distance).collect())
}

/// Which request the gaps of a disksim-validate trace belong to, as its measured times and the drive's rotation tell:
/// "after", "before" or "undecided", with the coherence of either reading.
#[pyfunction]
pub(crate) fn decide_trace_gap<'py>(
    py: Python<'py>,
    system: &Bound<'py, System>,
    trace: &Bound<'py, Trace>,
) -> PyResult<Bound<'py, PyDict>> {
    let (system, trace) = (system.get(), trace.get());
    let verdict = guarded(py, || {
        let options = RunOptions { requests: Some(GAP_REQUESTS), ..RunOptions::default() };
        let open = |gap: Gap| -> Result<Box<dyn RequestSource>, Error> {
            Ok(Box::new(trace.read_as(gap).shaped(system.targets(), options.requests)?))
        };
        Ok(decide_gap(&system.system, &options, open(Gap::After)?, open(Gap::Before)?)?)
    })?;
    dict(py, &verdict_value(&verdict))
}

fn verdict_value(verdict: &GapVerdict) -> Value {
    let gap = match verdict.gap {
        GapFound::After => "after",
        GapFound::Before => "before",
        GapFound::Undecided => "undecided",
    };
    json!({
        "gap": gap,
        "coherence_after": verdict.coherence_after,
        "coherence_before": verdict.coherence_before,
        "pairs": verdict.pairs,
        "confidence": verdict.confidence,
    })
}
