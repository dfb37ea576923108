//! Finding speed, skews and zone offsets of the drives of a system.

use std::sync::Arc;

use headstack_drive::spec::DriveSpec;
use headstack_phase::{Geometry, Misfit, Observation, PhaseFit, Source, ZoneFit};
use headstack_trace::RequestSource;
use headstack_units::Nanos;

use crate::SystemError;
use crate::record::{CompletionRow, CompletionSink};
use crate::run::{Input, Replay, RunOptions, run};
use crate::spec::SystemConfig;
use crate::system::System;

/// How often the replay and the fit are repeated: with better angles the model knows better which sectors it was that
/// passed.
const ROUNDS: usize = 2;

/// What was found for one drive.
#[derive(Clone, Debug)]
pub struct DriveFit {
    /// The fit against the drive's file.
    pub fit: PhaseFit,
    /// Numbers of the zones whose angles nothing was seen of: to be learnt on the way.
    pub unseen_zones: Vec<u32>,
    /// What was fitted, and to what.
    file: Arc<DriveSpec>,
    observations: Arc<[Observation]>,
}

impl DriveFit {
    /// What speaks against the geometry of the file: a search of its own, worth its time where it is told.
    pub fn misfit(&self) -> Misfit {
        Misfit::new(&self.file, &self.observations, &self.fit)
    }
}

/// The drives of a system as a trace shows them.
#[derive(Clone, Debug)]
pub struct Fitted {
    /// The system with the fitted drives.
    pub config: SystemConfig,
    /// One for each drive of the system, in order; `None` for drives with several actuators or arms, which are not fitted.
    pub drives: Vec<Option<DriveFit>>,
}

/// Fits the drives of `system` to the first requests of a trace: as many as `options.requests` says, all if it says
/// nothing. `open` opens the trace anew.
///
/// # Errors
/// As [`run()`](crate::run()); [`SystemError::Request`] for requests without measured times.
pub fn fit(
    system: &Arc<System>,
    options: &RunOptions,
    mut open: impl FnMut() -> Result<Box<dyn RequestSource>, SystemError>,
) -> Result<Fitted, SystemError> {
    let mut system = Arc::clone(system);
    let mut drives: Vec<Option<DriveFit>> = vec![None; system.config().drives.len()];
    for round in 0..ROUNDS {
        let seen = observe(&system, options, open()?)?;
        let mut config = system.config().clone();
        for (number, observations) in seen.iter().enumerate() {
            let spec = &config.drives[number].spec;
            if spec.actuators != 1 || !spec.arms.is_one() {
                continue;
            }
            let geometry = Geometry::new(&spec.layout);
            let fit = PhaseFit::new(observations, &geometry, spec.rotation_rpm);
            let unseen_zones = unseen_zones(&fit);
            // What the file said and what became of it shows in the first round.
            let (fitted, found) = match drives[number].take() {
                Some(first) if round > 0 => (fit.apply(spec), DriveFit { unseen_zones, ..first }),
                _ => {
                    let (file, observations) = (Arc::new(spec.clone()), observations.as_slice().into());
                    (fit.apply(spec), DriveFit { fit, unseen_zones, file, observations })
                }
            };
            config.drives[number].spec = fitted;
            drives[number] = Some(found);
        }
        system = Arc::new(System::new(config)?);
    }
    Ok(Fitted { config: system.config().clone(), drives })
}

/// Zones whose angles against the others are unknown; none where there are no others to measure against.
fn unseen_zones(fit: &PhaseFit) -> Vec<u32> {
    let is_unseen = |zone: &&ZoneFit| zone.first_sector.source == Source::None;
    if fit.zones.iter().all(|zone| is_unseen(&zone)) {
        return Vec::new();
    }
    fit.zones.iter().filter(is_unseen).map(|zone| zone.zone as u32).collect()
}

/// Replays a trace on the measured clock; for each drive, which sector must have passed when.
///
/// # Errors
/// As [`run()`](crate::run()).
pub fn observe(
    system: &Arc<System>,
    options: &RunOptions,
    source: Box<dyn RequestSource>,
) -> Result<Vec<Vec<Observation>>, SystemError> {
    let options = RunOptions { replay: Replay::Measured, phase_lock: None, ..options.clone() };
    let mut seen = Sightings { drives: vec![Vec::new(); system.config().drives.len()] };
    run(system, Input::Source(source), &options, &mut seen, &mut |_| {})?;
    Ok(seen.drives)
}

/// Which sectors passed when, if the model is right about how long the rest of each request takes.
struct Sightings {
    drives: Vec<Vec<Observation>>,
}

impl CompletionSink for Sightings {
    fn push(&mut self, rows: &[CompletionRow]) -> Result<(), SystemError> {
        for row in rows {
            let (Some(passed), Some(finish)) = (row.passed, row.measured_finish.present()) else { continue };
            let rest = row.finish.saturating_sub(passed.at);
            let at = Nanos(finish.0.saturating_sub(rest.0));
            self.drives[row.drive as usize].push(Observation { index: row.id, at, lba: passed.lba.0 });
        }
        Ok(())
    }
}
