//! What became of drives that failed.

use headstack_units::Nanos;
use schemars::JsonSchema;
use serde::Serialize;

use crate::engine::{RebuildUse, VolumeRepairs};
use crate::layer::{Loss, MARKS};
use crate::spec::SystemConfig;

/// How a failed drive was rebuilt. Rates are in 10⁶ bytes per second.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct RebuildSummary {
    /// The volume's name.
    pub volume: String,
    /// The failed drive.
    pub drive: String,
    /// The spare that took its place; `null` where the room is distributed over the drives, or where there was none.
    pub onto: Option<String>,
    /// When it failed, in s.
    pub failed_s: f64,
    /// When its rebuild began; `null` where there was no spare for it.
    pub began_s: Option<f64>,
    /// When all that it held was there again; `null` where the run ended before.
    pub finished_s: Option<f64>,
    /// From beginning to end, in hours.
    pub hours: Option<f64>,
    /// What of the volume lay on the drive, in 10⁶ bytes; more than is written where room for it was on another drive that failed.
    pub held_mb: f64,
    /// What of that was rebuilt before the run, in 10⁶ bytes.
    pub done_before_mb: f64,
    /// Written onto the spare during the run, in 10⁶ bytes.
    pub rebuilt_mb: f64,
    /// Mean rate from the beginning to the end, or to the end of the run.
    pub mb_per_s: Option<f64>,
    /// The share of what it held that was through at the end of the run: there again, or passed over for want of room.
    pub progress: f64,
    /// `[share, s since it began]`, every twentieth.
    pub progress_s: Vec<[f64; 2]>,
    /// Requests of the volume that were completed meanwhile.
    pub requests: u64,
    /// Their response.
    pub response_ms: MeanwhileTimes,
}

/// Responses during a rebuild, in ms; `null` without requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct MeanwhileTimes {
    /// Mean.
    pub mean: Option<f64>,
    /// Median.
    pub p50: Option<f64>,
    /// 99 % quantile.
    pub p99: Option<f64>,
    /// Longest.
    pub max: Option<f64>,
}

/// Data that no drives of a volume tell any more: more drives failed than its level survives. The run ends there.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct DataLossSummary {
    /// The volume's name.
    pub volume: String,
    /// When, in s.
    pub at_s: f64,
    /// The drives that were missing then.
    pub drives: Vec<String>,
    /// Lost sectors of the volume.
    pub lost_sectors: u64,
    /// The same in 10⁶ bytes.
    pub lost_mb: f64,
    /// The share of the volume's data.
    pub lost_share: f64,
    /// The first lost sector.
    pub first_lba: u64,
    /// The last one.
    pub last_lba: u64,
}

/// The rebuilds of all volumes, in a run that ended at `end_s`.
pub(super) fn rebuilds(
    config: &SystemConfig,
    sector_bytes: u32,
    repairs: &[VolumeRepairs],
    end_s: f64,
) -> Vec<RebuildSummary> {
    let of_volume = |repairs: &VolumeRepairs| {
        let volume = &config.volumes[repairs.volume];
        let name = |drive: usize| {
            let all = volume.drives.iter().chain(&volume.spares);
            all.copied().nth(drive).map(|drive| config.drives[drive].name.clone())
        };
        let summary = |RebuildUse { record, meanwhile }: &RebuildUse| {
            let (began_s, finished_s) = (record.began.map(Nanos::as_s), record.finished.map(Nanos::as_s));
            let span_s = began_s.map(|began| finished_s.unwrap_or(end_s) - began);
            let mb = |sectors: u64| sectors as f64 * f64::from(sector_bytes) / 1e6;
            let rebuilt_mb = mb(record.sectors);
            let marks = record.marks.iter().enumerate().map(|(index, at)| {
                [(index + 1) as f64 / MARKS as f64, at.as_s() - began_s.unwrap_or_default()]
            });
            let quantiles = meanwhile.quantiles.clone().summary();
            RebuildSummary {
                volume: volume.name.clone(),
                drive: name(record.drive).unwrap_or_default(),
                onto: record.onto.and_then(name),
                failed_s: record.failed.as_s(),
                began_s,
                finished_s,
                hours: finished_s.and(span_s).map(|span| span / 3600.0),
                held_mb: mb(record.held),
                done_before_mb: mb(record.before),
                rebuilt_mb,
                mb_per_s: span_s.filter(|&span| span > 0.0).map(|span| rebuilt_mb / span),
                progress: record.progress_ppm as f64 / 1e6,
                progress_s: marks.collect(),
                requests: meanwhile.moments.count(),
                response_ms: MeanwhileTimes {
                    mean: meanwhile.moments.mean_ms(),
                    p50: quantiles.as_ref().map(|quantiles| quantiles.p50.as_ms()),
                    p99: quantiles.as_ref().map(|quantiles| quantiles.p99.as_ms()),
                    max: quantiles.as_ref().map(|quantiles| quantiles.max.as_ms()),
                },
            }
        };
        repairs.rebuilds.iter().map(summary).collect::<Vec<_>>()
    };
    repairs.iter().flat_map(of_volume).collect()
}

/// The first loss of data, if there was one.
pub(super) fn data_loss(
    config: &SystemConfig,
    sectors: impl Fn(usize) -> u64,
    sector_bytes: u32,
    repairs: &[VolumeRepairs],
) -> Option<DataLossSummary> {
    let losses = repairs.iter().filter_map(|repairs| Some((repairs.volume, repairs.loss.as_ref()?)));
    let (number, loss) = losses.min_by_key(|(_, loss)| loss.at)?;
    let Loss { at, drives, sectors: lost, first, last } = loss;
    let volume = &config.volumes[number];
    Some(DataLossSummary {
        volume: volume.name.clone(),
        at_s: at.as_s(),
        drives: drives.iter().map(|&drive| config.drives[volume.drives[drive]].name.clone()).collect(),
        lost_sectors: *lost,
        lost_mb: *lost as f64 * f64::from(sector_bytes) / 1e6,
        lost_share: *lost as f64 / sectors(number) as f64,
        first_lba: *first,
        last_lba: *last,
    })
}
