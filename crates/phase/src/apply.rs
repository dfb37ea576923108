//! Writing a fit into a drive file.

use crate::fit::{Estimate, PhaseFit, Source};
use headstack_drive::spec::{DriveSpec, Provenance, ProvenanceKind};

impl PhaseFit {
    /// The drive with the fitted speed, skews and first sectors; everything else is kept. What the fit took from the
    /// file stays as it was written there, to the last digit.
    #[must_use]
    pub fn apply(&self, spec: &DriveSpec) -> DriveSpec {
        let mut fitted = spec.clone();
        if !self.period_found {
            return fitted;
        }
        fitted.rotation_rpm = self.rpm;
        self.explain(&mut fitted, "rotation_rpm", "the period");
        for (number, (zone, fit)) in fitted.layout.zone.clone().iter().zip(&self.zones).enumerate() {
            let slots = f64::from(zone.sectors_per_track + zone.spare_sectors_per_track);
            let mut set = |key: &str, value: f64, story: &str| {
                let target = &mut fitted.layout.zone[number];
                match key {
                    "track_skew_sectors" => target.track_skew_sectors = value,
                    "cylinder_skew_sectors" => target.cylinder_skew_sectors = value,
                    _ => target.first_sector_turns = value,
                }
                self.explain(&mut fitted, &format!("layout.zone.{number}.{key}"), story);
            };
            if is_new(&fit.track_skew) {
                set("track_skew_sectors", fit.track_skew.turns * slots, story(fit.track_skew.source));
            }
            // The lag of a cylinder is what was fitted (or kept): the cylinder skew also moves with the track skew.
            if is_new(&fit.cylinder_skew) || is_new(&fit.track_skew) {
                set(
                    "cylinder_skew_sectors",
                    fit.cylinder_skew.turns * slots,
                    story(fit.cylinder_skew.source),
                );
            }
            if is_new(&fit.first_sector) {
                set("first_sector_turns", fit.first_sector.turns, "the zone's angle against the others");
            }
        }
        fitted
    }

    fn explain(&self, spec: &mut DriveSpec, path: &str, story: &str) {
        let source = format!(
            "fitted to {} measured instants ({story}); coherence of pairs {:.2}, {:.2} before",
            self.observations, self.coherence.fitted, self.coherence.file
        );
        spec.provenance.insert(path.to_owned(), Provenance { kind: ProvenanceKind::Fitted, source });
    }
}

fn is_new(estimate: &Estimate) -> bool {
    matches!(estimate.source, Source::Global | Source::Zone)
}

fn story(source: Source) -> &'static str {
    match source {
        Source::Global => "one value in turns for all zones",
        Source::Zone => "the zone's own value",
        Source::File | Source::None => "the lag from cylinder to cylinder as before, less the track skews",
    }
}
