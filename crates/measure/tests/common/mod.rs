//! Measures a simulated drive and puts what was extracted beside the truth.

use headstack_measure::device::{self, Noise, OpenOptions};
use headstack_measure::extract::{Extraction, extract};
use headstack_measure::{Options, measure};

pub fn measured(name: &str, noise: Noise) -> (headstack_measure::record::Record, Extraction) {
    let options = OpenOptions { noise, seed: 1, ..OpenOptions::default() };
    let mut device = device::open(name, &options).unwrap();
    let verbose = std::env::var("LOOK").is_ok();
    let mut last = "";
    let begun = std::time::Instant::now();
    let done = measure(device.as_mut(), &Options::default(), &mut |progress| {
        if verbose && progress.probe != last {
            eprintln!("  {:.1}s {} (device {:.0}s)", begun.elapsed().as_secs_f64(), progress.probe, progress.expected_s);
            last = progress.probe;
        }
        true
    })
    .unwrap();
    assert!(done.stopped.is_none(), "{name}: {:?}", done.stopped);
    let found = extract(&done.record).unwrap();
    (done.record, found)
}

pub fn report(name: &str) {
    let begun = std::time::Instant::now();
    let noise = if std::env::var("NOISE").is_ok() {
        Noise { relative: 0.005, outlier_share: 0.01, outlier_ms: 20.0 }
    } else {
        Noise::NONE
    };
    let (record, found) = measured(&format!("sim:{name}"), noise);
    println!("=== {name}: {} samples, {:.1} s, writes {}", record.samples.len(), begun.elapsed().as_secs_f64(), record.head.writes);
    for p in &found.parameters {
        println!("  {} = {:?} {} ± {:?} [{:?}, {:?}]", p.name, p.value, p.unit, p.ci95, p.lower, p.upper);
    }
    println!("  order {:?} group {:?}", found.order, found.group_cylinders);
    for zone in &found.zones {
        println!("  zone {:?}", zone);
    }
    println!("  seek write {:?}", found.seek.write.iter().map(|p| (p.cylinders, (p.ms * 1e4).round() / 1e4)).collect::<Vec<_>>());
    println!("  seek read {:?}", found.seek.read.iter().map(|p| (p.cylinders, (p.ms * 1e4).round() / 1e4)).collect::<Vec<_>>());
    println!("  two {:?}", found.seek.two_piece);
    for s in &found.skippy {
        println!("  {} drop {} R {} slope {} intercept {} N {} mtm {} hs {:?} cs {:?} heads {:?} pos {:?}", s.probe, s.drop_step, s.rotation_ms, s.slope_ms, s.intercept_ms, s.sectors_per_track, s.mtm_ms, s.head_switch_ms, s.cylinder_switch_ms, s.heads, s.head_positioning_ms);
    }
    println!("  naive {:?}", found.naive);
    println!("  cache {:?}", found.cache);
    println!("  bandwidth {:?} {:?}", found.bandwidth.as_ref().map(|b| (b.outer_mib_per_s, b.inner_mib_per_s)), found.bandwidth.as_ref().map(|b| b.fits.iter().map(|f| (f.law, f.by, f.rms_mib_per_s)).collect::<Vec<_>>()));
    println!("  random {:?}", found.random.iter().map(|p| (p.mode, p.depth, p.iops.round())).collect::<Vec<_>>());
    println!("  warnings {:?}", found.warnings);
}
