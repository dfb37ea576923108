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

/// A recording, and as many requests made after it; `None` where the recording is not there.
fn both(name: &str) -> Option<(Likeness, Likeness)> {
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
    let (mut source, mut all, mut batch) = (model.generate(model.requests, 0), Vec::new(), Vec::new());
    loop {
        source.next_batch(&mut batch).unwrap();
        if batch.is_empty() {
            break;
        }
        all.append(&mut batch);
    }
    let made = likeness(&mut Made(InMemory::new(all), model.sector_bytes)).unwrap();
    Some((likeness(&mut open()).unwrap(), made))
}

#[test]
fn burstiness_seeks_and_returns_of_recordings_are_kept() {
    for name in ["hp/ajw.1week.srt", "blktrace/hadoop_eternity2", "traces/ssdsim_financial1_first10000.ascii"]
    {
        let Some((original, made)) = both(name) else { continue };
        let both = format!("{name}: {original:#?} {made:#?}");
        for (first, second) in original.dispersion.iter().zip(&made.dispersion) {
            let ratio = second.index / first.index;
            assert!((1.0 / 1.5..=1.5).contains(&ratio), "{} s: {ratio}\n{both}", first.scale_s);
        }
        assert!((original.hurst.unwrap() - made.hurst.unwrap()).abs() <= 0.05, "{both}");
        let off = (made.again_fraction - original.again_fraction).abs();
        assert!(off <= (0.1 * original.again_fraction).max(0.001), "{both}");
        // The last excerpt may stop before the last long gap.
        assert!((made.requests_per_s / original.requests_per_s - 1.0).abs() <= 0.1, "{both}");
        let seeks = made.seek_median_bytes.unwrap() / original.seek_median_bytes.unwrap();
        assert!((1.0 / 1.4..=1.4).contains(&seeks), "{seeks}\n{both}");
        assert!((made.sequential_fraction - original.sequential_fraction).abs() <= 0.01, "{both}");
    }
}
