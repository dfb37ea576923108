//! Traces made after recorded ones, and how like they are. The recordings are not part of the repository.

use std::path::PathBuf;

use headstack_analysis::likeness::{Likeness, likeness};
use headstack_analysis::model::WorkloadModel;
use headstack_trace::event::open_ios;
use headstack_trace::{InMemory, Io, IoSource, Notes, OpenOptions, RequestSource, TraceError};

struct Made(InMemory, u32);

impl IoSource for Made {
    fn next_ios(&mut self, batch: &mut Vec<Io>) -> Result<(), TraceError> {
        let mut requests = Vec::new();
        self.0.next_batch(&mut requests)?;
        *batch = requests.into_iter().map(Io::new).collect();
        Ok(())
    }

    fn notes(&self) -> Notes {
        Notes::default()
    }

    fn sector_bytes(&self) -> u32 {
        self.1
    }
}

/// A recording and its model; `None` where the recording is not there.
fn recording(name: &str) -> Option<(Likeness, WorkloadModel)> {
    let beside = || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let path = std::env::var_os("HEADSTACK_DATA").map_or_else(beside, PathBuf::from).join(name);
    if !path.exists() {
        #[expect(clippy::print_stderr, reason = "a skipped test says so")]
        {
            eprintln!("skipped: no {}", path.display());
        }
        return None;
    }
    let open = || open_ios(&path, &OpenOptions { tolerant: true, ..OpenOptions::default() }).unwrap();
    let model = WorkloadModel::fit(&mut open()).unwrap();
    model.check().unwrap();
    Some((likeness(&mut open()).unwrap(), model))
}

/// Of so many times the original's requests.
fn made(model: &WorkloadModel, times: u64, seed: u64) -> Likeness {
    let (mut source, mut all, mut batch) =
        (model.generate(times * model.requests, seed), Vec::new(), Vec::new());
    loop {
        source.next_batch(&mut batch).unwrap();
        if batch.is_empty() {
            break;
        }
        all.append(&mut batch);
    }
    likeness(&mut Made(InMemory::new(all), model.sector_bytes)).unwrap()
}

fn near(original: f64, made: f64, by: f64) -> bool {
    (made / original - 1.0).abs() <= by
}

fn is_like(original: &Likeness, made: &Likeness, what: &str) {
    let both = format!("{what}: {original:#?} {made:#?}");
    for (first, second) in original.dispersion.iter().zip(&made.dispersion) {
        let ratio = second.index / first.index;
        assert!((1.0 / 1.5..=1.5).contains(&ratio), "{} s: {ratio}\n{both}", first.scale_s);
    }
    if let (Some(first), Some(second)) = (original.hurst, made.hurst) {
        assert!((first - second).abs() <= 0.05, "{both}");
    }
    assert!(near(original.seek_median_bytes.unwrap(), made.seek_median_bytes.unwrap(), 0.1), "{both}");
    assert!(near(original.again_fraction, made.again_fraction, 0.1), "{both}");
    assert!(near(original.requests_per_s, made.requests_per_s, 0.01), "{both}");
}

#[test]
fn burstiness_seeks_and_returns_of_recordings_are_kept() {
    for name in [
        "hp/ajw.1week.srt",
        "blktrace/keks",
        "blktrace/hadoop_eternity2",
        "traces/ssdsim_financial1_first10000.ascii",
    ] {
        let Some((original, model)) = recording(name) else { continue };
        for seed in 0..5 {
            let made = made(&model, 1, seed);
            assert_eq!(original.dispersion.len(), made.dispersion.len(), "{name}: {made:?}");
            is_like(&original, &made, &format!("{name}, seed {seed}"));
            assert!(
                (made.sequential_fraction - original.sequential_fraction).abs() <= 0.005,
                "{name}: {made:?}"
            );
        }
        is_like(&original, &made(&model, 3, 0), &format!("{name}, three times as long"));
    }
}
