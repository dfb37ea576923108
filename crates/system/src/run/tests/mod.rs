//! What must hold of every run, whatever the system: one file for each path, and what holds on all of them.

mod any;
mod endings;
mod events;
mod paths;
mod rests;
mod serial;
mod told;
mod whole;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};

use headstack_drive::scheduler::{Needs, SCHEDULERS};
use headstack_trace::{InMemory, Op, Request, RequestFlags, RequestSource, TraceError};
use headstack_units::{Lba, Nanos};
use proptest::prelude::*;

use super::*;
use crate::record::{Discard, Keep};
use crate::spec::SystemConfig;
use crate::workload::WorkloadSpec;

fn set(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|&(path, value)| (path.to_owned(), value.to_owned())).collect()
}

fn lone(drive: &str, pairs: &[(&str, &str)]) -> Arc<System> {
    Arc::new(System::load(drive, &set(pairs)).unwrap_or_else(|error| panic!("{error}")))
}

fn system(text: &str, pairs: &[(&str, &str)]) -> Arc<System> {
    let source = crate::library::Source {
        name: "test".to_owned(),
        origin: "test.toml".to_owned(),
        directory: None,
        text: text.to_owned(),
    };
    let config = SystemConfig::from_source(&source, &set(pairs)).unwrap_or_else(|error| panic!("{error}"));
    Arc::new(System::new(config).unwrap())
}

fn source(requests: &[Request]) -> Input {
    Input::Source(Box::new(InMemory::new(requests.to_vec())))
}

fn go(system: &Arc<System>, input: Input, options: &RunOptions) -> (Keep, Summary) {
    let mut kept = Keep::default();
    let summary =
        run(system, input, options, &mut kept, &mut |_| {}).unwrap_or_else(|error| panic!("{error}"));
    (kept, summary)
}

fn event_path() -> RunOptions {
    RunOptions { event_path: true, ..RunOptions::default() }
}

/// `(gap in µs, write?, sequential?, where of 2^16, sectors, forced?)`
type Draft = (u64, bool, bool, u16, u32, bool);

fn drafts(most: usize) -> impl Strategy<Value = Vec<Draft>> {
    let gap = prop_oneof![Just(0), 0..3_000_u64, 0..80_000_u64];
    let draft = (gap, any::<bool>(), any::<bool>(), any::<u16>(), 1..40_u32, prop::bool::weighted(0.2));
    prop::collection::vec(draft, 1..most)
}

fn requests(drafts: &[Draft], system: &System) -> Vec<Request> {
    let devices = system.devices();
    let mut arrival = 0;
    let mut ends = vec![0; devices.len()];
    drafts
        .iter()
        .map(|&(gap, is_write, is_sequential, place, sectors, is_forced)| {
            arrival += gap * 1_000;
            let device = usize::from(place) % devices.len();
            let last = devices[device].sectors - u64::from(sectors);
            let anywhere = u64::from(place) * devices[device].sectors / 65_536;
            let lba = if is_sequential { ends[device] } else { anywhere }.min(last);
            ends[device] = lba + u64::from(sectors);
            let op = if is_write { Op::Write } else { Op::Read };
            let mut request = Request::new(Nanos(arrival), op, Lba(lba), sectors);
            request.device = device as u32;
            match (is_forced, sectors % 3) {
                (true, 0) => {
                    let flush = Request { op: Op::Write, lba: Lba(0), sectors: 0, ..request };
                    request = Request { flags: RequestFlags::FLUSH, ..flush };
                }
                (true, _) => request.flags = RequestFlags::FORCE_MEDIA,
                (false, _) => {}
            }
            request
        })
        .collect()
}

fn by_id(mut kept: Keep) -> Keep {
    kept.rows.sort_by_key(|row| row.id);
    kept.background.sort_by_key(|row| (row.drive, row.work.start, row.work.lba));
    kept
}

/// Each request completes once, not before it arrives, and its phases are its response.
fn check_rows(requests: &[Request], rows: &[CompletionRow]) {
    assert_eq!(rows.len(), requests.len());
    assert!(rows.windows(2).all(|pair| pair[0].finish <= pair[1].finish), "rows come in order of completion");
    let mut seen = vec![false; requests.len()];
    for row in rows {
        let request = &requests[row.id as usize];
        assert!(!std::mem::replace(&mut seen[row.id as usize], true), "request {} completes twice", row.id);
        assert_eq!((row.arrival, row.lba, row.op), (request.arrival, request.lba, request.op));
        assert!(row.arrival <= row.start && row.start <= row.finish);
        assert_eq!(row.phases.total(), row.response());
    }
}

fn generated(system: &System, name: &str, count: u64) -> Vec<Request> {
    let (_, spec) = WorkloadSpec::load(name, &[]).unwrap();
    let mut open = spec.generate(&system.devices(), None, Some(count)).unwrap().open.unwrap();
    std::iter::from_fn(|| open.next_request()).collect()
}

const TWO_ON_ONE_BUS: &str = r#"
[bus.b]
read_mb_per_s = 1.0
write_mb_per_s = 1.2
[volume.one]
drives = ["hp-97560"]
bus = "b"
[volume.two]
drives = ["hp-97560"]
bus = "b"
"#;
