//! Tracks without skews: sectors follow each other over the turn as if there were no tracks. Where one ends, only a revolution shows
//! that an access over its end loses; where the sectors become wider, another zone begins.

use super::hits::hit_times;
use super::zones::Zone;
use crate::angles::sighting::{Sighting, angle_of};
use crate::angles::spindle::{Spindle, wrap};
use crate::record::series::tracks::NO_SKEWS;
use crate::record::series::zones::{BEGINS, ENDS, TRACK, WALK};
use crate::record::{ProbeName, Record, Role, Sample};

/// Whether the tracks at the start have none.
pub(crate) fn no_skews(record: &Record) -> bool {
    record.of(ProbeName::Tracks).any(|sample| sample.series == NO_SKEWS && sample.step > 0)
}

/// The zones of such a device, and at which angle each begins, in turns; none unless they make up the device.
pub(crate) fn zones(record: &Record, spindle: Spindle) -> Vec<(Zone, f64)> {
    let mut zones: Vec<(Zone, f64)> = Vec::new();
    let mut first_lba = 0;
    while let Some((zone, angle)) =
        zone(record, spindle, zones.len() as u32).filter(|(zone, _)| zone.first_lba == first_lba)
    {
        first_lba = zone.end_lba;
        zones.push((zone, angle));
        if first_lba == record.head.device.sectors {
            return zones;
        }
    }
    Vec::new()
}

fn zone(record: &Record, spindle: Spindle, number: u32) -> Option<(Zone, f64)> {
    let hits = hit_times(record);
    let of = |step: i64| {
        let noted = move |sample: &&Sample| {
            sample.series == WALK + number && sample.step == step && sample.role == Role::Measure && sample.ok
        };
        record.of(ProbeName::Zones).filter(noted).filter(|sample| hits.leave(sample))
    };
    let lba = |step: i64| of(step).last().map(|sample| sample.lba);
    let (first_lba, second, last) = (lba(BEGINS)?, lba(TRACK)?, lba(ENDS)?);
    let (unit, sectors_per_track) = (record.head.device.unit(), second.checked_sub(first_lba)?);
    let seen: Vec<Sighting> = of(BEGINS).map(|sample| Sighting::of(sample, spindle)).collect();
    let zone = Zone { first_lba, end_lba: last + unit, sectors_per_track };
    // Accesses show where a sector ends.
    let begins = wrap(angle_of(&seen) - unit as f64 / sectors_per_track as f64);
    (zone.end_lba > second).then_some((zone, begins))
}
