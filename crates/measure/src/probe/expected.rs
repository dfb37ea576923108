//! How long probes take, roughly.

use super::zoned;
use crate::extract::known::Known;
use crate::record::Record;

/// Reads elsewhere for each read of the media, and zones, where neither is known yet.
const SOME_OTHERS: f64 = 4.0;
const SOME_ZONES: f64 = 8.0;
/// What a device streams of which no track is known, in bytes per second.
const SOME_RATE: f64 = 100e6;

/// How long a probe takes on the device's clock, roughly, in s.
pub fn expected_s(name: &str, record: &Record, whole_device: bool) -> f64 {
    let known = Known::of(record);
    let turn_s = known.spindle.map_or(0.0083, |spindle| spindle.period_ns / 1e9);
    if name == "zoned" {
        return zoned_s(record, &known, turn_s, whole_device);
    }
    let turns =
        if record.head.device.writable { turns(name, &known) } else { turns_of_reads(name, record, &known) };
    turns * turn_s
}

fn turns(name: &str, known: &Known) -> f64 {
    let angles = known.repetitions as f64;
    match name {
        "rotation" => 750.0,
        "write-cache" => 250.0,
        "skippy-write" | "skippy-read" | "skippy-backwards" => 500.0,
        "tracks" => 400.0 * angles,
        "zones" => 30_000.0 * angles,
        "switches" => 2_000.0,
        "surfaces" => 6_000.0 * angles,
        "zone-tracks" => 5_000.0 * angles,
        "seek-curve" => 30_000.0,
        "seeker" => 9_600.0,
        "cache" => 12_000.0,
        "overhead" => 1_000.0,
        _ => 2_400.0,
    }
}

/// Without writes: for each access to the media there are others that push out what the cache holds.
fn turns_of_reads(name: &str, record: &Record, known: &Known) -> f64 {
    let angles = known.repetitions as f64;
    let others = if record.has_finished("cache") { known.keeps.others as f64 } else { SOME_OTHERS };
    let zones = if record.has_finished("zones") { known.zones.len() as f64 } else { SOME_ZONES };
    match name {
        "tracks" => (200.0 + 8.0 * others) * angles,
        "zones" => (4_000.0 + 3_000.0 * others) * angles,
        "switches" => 350.0 + 200.0 * others,
        "surfaces" => (500.0 + 60.0 * others) * angles,
        "zone-tracks" => zones * (100.0 + 30.0 * others) * angles,
        "seek-curve" => 8_000.0 + 3_500.0 * others,
        _ => turns(name, known),
    }
}

fn zoned_s(record: &Record, known: &Known, turn_s: f64, whole_device: bool) -> f64 {
    let device = &record.head.device;
    let (all, places) = (device.bytes() as f64, zoned::LOCATIONS as f64);
    let bytes = if whole_device { all } else { all.min(places * zoned::SPAN_BYTES as f64) };
    let track_bytes = known.sectors_per_track.map(|sectors| sectors * f64::from(device.sector_bytes));
    // Not as fast in the middle, and the skews pass between the tracks.
    let rate = track_bytes.map_or(SOME_RATE, |bytes| 0.7 * bytes / turn_s);
    bytes / rate + 2.0 * places * turn_s
}
