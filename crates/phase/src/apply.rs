//! Writing a fit into a drive file.

use crate::fit::{Estimate, PhaseFit, Source, ZoneFit};
use crate::listed::Listed;
use headstack_drive::spec::{DriveSpec, Provenance, ProvenanceKind, ZoneSpec};

impl PhaseFit {
    /// The drive with the fitted speed, skews and first sectors; everything else is kept. What the fit took from the
    /// file stays as it was written there, to the last digit.
    #[must_use]
    pub fn apply(&self, spec: &DriveSpec) -> DriveSpec {
        let mut fitted = spec.clone();
        if !self.period_found {
            return fitted;
        }
        // To the last digit, where it is that of the file.
        if (self.rpm / spec.rotation_rpm - 1.0).abs() > 1e-12 {
            fitted.rotation_rpm = self.rpm;
            self.explain(&mut fitted, "rotation_rpm", "the period");
        }
        self.skip(&mut fitted);
        for fit in &self.zones {
            let changed = fitted.layout.zone.get_mut(fit.zone).map(|zone| set(zone, fit));
            for (key, origin) in changed.into_iter().flatten() {
                self.explain(&mut fitted, &format!("layout.zone.{}.{key}", fit.zone), origin);
            }
        }
        fitted
    }

    /// Lists the tracks that are passed over; each takes one of its zone's spare tracks.
    fn skip(&self, spec: &mut DriveSpec) {
        if self.skipped.is_empty() && self.not_skipped.is_empty() {
            return;
        }
        let listed = Listed::new(&spec.layout);
        if let Some(listed) = &listed {
            spec.layout = listed.without(&self.listed_taken_from);
        }
        for track in &self.skipped {
            spec.layout.slipped_tracks.push([track.cylinder, track.head]);
            let Some(zone) = spec.layout.zone.get_mut(track.zone) else { continue };
            zone.spare_tracks_at_end = zone.spare_tracks_at_end.saturating_sub(1);
            let path = format!("layout.zone.{}.spare_tracks_at_end", track.zone);
            self.explain(spec, &path, "less those taken by tracks that are passed over");
        }
        let origin = if listed.is_some() {
            "those of the file that are there, and where else angles jump; each to within the observations around it"
        } else {
            "where angles jump; each to within the observations around it"
        };
        self.explain(spec, "layout.slipped_tracks", origin);
    }

    fn explain(&self, spec: &mut DriveSpec, path: &str, origin: &str) {
        let source = format!(
            "fitted to {} measured instants ({origin}); coherence of pairs {:.2}, {:.2} before",
            self.observations, self.coherence.fitted, self.coherence.file
        );
        spec.provenance.insert(path.to_owned(), Provenance { kind: ProvenanceKind::Fitted, source });
    }
}

/// Writes one zone's values; returns the keys that changed, and the origin of each.
fn set(zone: &mut ZoneSpec, fit: &ZoneFit) -> Vec<(&'static str, &'static str)> {
    let slots = f64::from(zone.sectors_per_track.saturating_add(zone.spare_sectors_per_track));
    let mut changed = Vec::new();
    if is_new(&fit.track_skew) {
        zone.track_skew_sectors = fit.track_skew.turns * slots;
        changed.push(("track_skew_sectors", origin(fit.track_skew.source)));
    }
    // The lag from cylinder to cylinder is what was fitted, or kept: the cylinder skew moves with the track skew, too.
    if is_new(&fit.cylinder_skew) || is_new(&fit.track_skew) {
        zone.cylinder_skew_sectors = fit.cylinder_skew.turns * slots;
        changed.push(("cylinder_skew_sectors", origin(fit.cylinder_skew.source)));
    }
    if let (Some(skew), Some(spares)) = (&fit.range_skew, &mut zone.spares)
        && is_new(skew)
    {
        spares.range_skew_sectors = skew.turns * slots;
        changed.push(("spares.range_skew_sectors", origin(skew.source)));
    }
    if is_new(&fit.first_sector) {
        zone.first_sector_revolutions = fit.first_sector.turns;
        changed.push(("first_sector_revolutions", "the zone's angle against the others"));
    }
    changed
}

fn is_new(estimate: &Estimate) -> bool {
    matches!(estimate.source, Source::Global | Source::Zone)
}

fn origin(source: Source) -> &'static str {
    match source {
        Source::Global => "one angle for all zones",
        Source::Zone => "the zone's own value",
        Source::File | Source::None => "the lag from cylinder to cylinder as before, less the track skews",
    }
}
