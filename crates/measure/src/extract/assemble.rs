//! Everything a record says, put together.

use super::destage::Destage;
use super::extraction::Extraction;
use super::history::History;
use super::layout::layout;
use super::parameters::Parameters;
use super::seeks::{AtRest, seeks};
use super::times::Times;
use super::warning::{Warning, WriteCase};
use super::zones::zone_findings;
use super::{cache, load, pieces, scan, skippy, stream, write_cache, zoned};
use crate::MeasureError;
use crate::early::reported_early;
use crate::reading::cylinders::CylinderMap;
use crate::reading::known::{Changes, Known};
use crate::reading::order::TrackOrder;
use crate::reading::rotation::{self, Rotation};
use crate::reading::stalls::{Stalls, stalls};
use crate::reading::writes;
use crate::record::{ProbeName, Record};
use headstack_drive::spec::Order;

/// Reads a record.
///
/// # Errors
/// [`MeasureError::Insufficient`] for a record without samples.
pub fn extract(record: &Record) -> Result<Extraction, MeasureError> {
    if record.samples.is_empty() {
        return Err(MeasureError::Insufficient {
            problem: "the record holds no samples".to_owned(),
            hint: "run at least one probe".to_owned(),
        });
    }
    let known = Known::of(record);
    let turn_ms = known.spindle.map(|spindle| spindle.ms(1.0));
    let sawtooths: Vec<skippy::Sawtooth> =
        [ProbeName::SkippyWrite, ProbeName::SkippyRead, ProbeName::SkippyBackwards]
            .into_iter()
            .filter_map(|probe| skippy::sawtooth(record, probe, turn_ms))
            .collect();
    let map = CylinderMap::of(record);
    let zones = zone_findings(record, &known, map.as_ref());
    let slope = |lba: u64| {
        let zone = zones.iter().rev().find(|zone| zone.first_lba <= lba);
        let by_head = known.sectors_by_head(lba).map(|sectors| sectors as f64);
        // Where no zones were found, that of the tracks at the start says what a transfer takes.
        let of_zone = zone.map(|zone| zone.sectors_per_revolution).or(known.sectors_per_track);
        by_head.or(of_zone).map_or(0.0, |sectors| 1.0 / sectors)
    };
    let times = known
        .spindle
        .map(|spindle| Times::of(record, known.sure_changes(), spindle, slope))
        .unwrap_or_default();
    let seek = known
        .spindle
        .map(|spindle| {
            let rest = AtRest { write: times.write.same, read: times.read.same };
            seeks(record, spindle, &rest, slope)
        })
        .unwrap_or_default();
    let cache = cache::cache(record, (known.spindle, known.sectors_per_track), slope);
    let history = History::of(record, &known, map.as_ref(), (&times, &seek), slope);
    let destage =
        known.spindle.map(|spindle| Destage::of(record, spindle, &times.write, slope)).unwrap_or_default();
    let mut found = Extraction {
        device: record.head.device.clone(),
        rotating: known.rotation.map(Rotation::rotates),
        parameters: Vec::new(),
        pieces: pieces::piece_findings(record, &known),
        order: known.order.as_ref().filter(|order| order.counted).map(TrackOrder::order),
        group_cylinders: known.order.as_ref().filter(|o| o.by_surface).map(|order| order.group_cylinders),
        naive: sawtooths.first().and_then(skippy::naive),
        bandwidth: zoned::bandwidth(record, |lba| zones.iter().filter(|zone| zone.first_lba <= lba).count()),
        random: load::load(record),
        write_cache: write_cache::write_cache(record, known.spindle),
        stream: stream::streams(record),
        scan: scan::scan(record),
        warnings: Vec::new(),
        samples: record.samples.len(),
        failed: record.failures().count(),
        failed_lbas: record.failures().take(100).map(|sample| sample.lba).collect(),
        finished: record.head.finished.clone(),
        skippy: sawtooths,
        seek,
        cache,
        zones,
    };
    count_cylinders(&mut found, known.order.as_ref());
    let stalls = stalls(record);
    let stalls = stalls.as_ref();
    let parameters = |found: &Extraction| {
        Parameters { record, known: &known, times: &times, history, destage, found, stalls }.all()
    };
    found.parameters = parameters(&found);
    found.warnings = warnings(record, &known, &found, stalls);
    // Of what no drive can be made, nothing more is told.
    if let Ok(Some(early)) = reported_early(record, &found) {
        found.write_cache = Some(early);
        found.parameters = parameters(&found);
    }
    Ok(found)
}

/// Cylinders of zones, as a drive file has them.
fn count_cylinders(found: &mut Extraction, order: Option<&TrackOrder>) {
    let Some(heads) = order.and_then(TrackOrder::surfaces) else { return };
    let (_, cylinders) = layout(found, heads);
    for (zone, [first, last]) in found.zones.iter_mut().zip(cylinders) {
        (zone.first_cylinder, zone.last_cylinder) = (Some(first), Some(last));
    }
}

/// The warnings of a record.
fn warnings(record: &Record, known: &Known, found: &Extraction, stalls: Option<&Stalls>) -> Vec<Warning> {
    let mut warnings = Vec::new();
    if found.rotating == Some(false) {
        warnings.push(Warning::NotRotating);
    }
    if rotation::only_reads_show_it(record) {
        warnings.push(Warning::OnlyReads);
    }
    if let Some(spindle) = known.spindle
        && record.head.writes == "write-forced"
    {
        let series = writes::writes_at_angle(record, spindle).into_iter();
        let hidden = series.filter(|(_, share)| *share < writes::ON_THE_MEDIA);
        warnings.push(Warning::EarlyWrites {
            cases: hidden.map(|(series, _)| WriteCase::of_series(series)).collect(),
        });
    }
    if found.order == Some(Order::SerpentineBySurface) {
        warnings.push(Warning::TracksAlongSurfaces);
    }
    if let Some(ppm) = known.drift_ppm {
        warnings.push(Warning::SpeedDrifts { ppm: ppm.round() as u32, followed: known.is_steady });
    }
    if let Some(stalls) = stalls {
        warnings.push(Warning::Stalls {
            count: stalls.count,
            length_ms: stalls.length.value.round() as u64,
            interval_ms: stalls.interval.map(|interval| (interval.value * 1e3).round() as u64),
        });
    }
    if let Some(sectors) = &known.densities {
        let zones = known.head_zones.len();
        warnings.push(Warning::DensityPerHead { sectors: sectors.clone(), zones });
    }
    if known.spindle.is_some()
        && known.has_zones()
        && known.order.as_ref().is_none_or(|order| !order.counted)
        && record.has_finished(ProbeName::Surfaces)
    {
        warnings.push(Warning::SurfacesNotCounted { zones: found.zones.len() });
    }
    if known.skews_unsure && known.has_zones() && known.changes() == Changes::HeadThenCylinder {
        warnings.push(Warning::SkewsInTurns);
    }
    if found.failed > 0 {
        warnings.push(Warning::FailedAccesses { count: found.failed });
    }
    warnings
}
