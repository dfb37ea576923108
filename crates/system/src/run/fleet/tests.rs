//! A fleet gives what runs of its devices give, one by one.

use headstack_trace::InMemory;
use headstack_units::{Lba, Nanos, Op};

use super::*;
use crate::record::Keep;
use crate::run::{Input, RunOptions, run};

const DEVICES: u32 = 12;

fn system(name: &str, pairs: &[(&str, &str)]) -> Arc<System> {
    let pairs: Vec<_> = pairs.iter().map(|&(path, value)| (path.to_owned(), value.to_owned())).collect();
    Arc::new(System::load(name, &pairs).unwrap_or_else(|error| panic!("{error}")))
}

/// Requests of devices whose numbers are far apart, in order of arrival.
fn requests(capacity: u64, count: u64) -> Vec<Request> {
    let draw = |number: u64| number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 16;
    (0..count)
        .map(|number| {
            let op = if draw(number).is_multiple_of(3) { Op::Write } else { Op::Read };
            let lba = Lba(draw(number + 1) % (capacity - 64));
            let mut request = Request::new(Nanos(number * 700_000), op, lba, 1 + (number % 32) as u32);
            request.device = 1_000 * (draw(number + 2) % u64::from(DEVICES)) as u32 + 7;
            request
        })
        .collect()
}

fn fleet(system: &Arc<System>, requests: &[Request], options: &FleetOptions) -> FleetPart {
    let source = Box::new(InMemory::new(requests.to_vec()));
    run_fleet(system, source, options, &mut |_| {}).unwrap_or_else(|error| panic!("{error}"))
}

fn of(threads: usize) -> FleetOptions {
    FleetOptions { seed: 5, threads: Some(threads), ..FleetOptions::default() }
}

fn check_against_single_runs(system: &Arc<System>) {
    let requests = requests(system.devices()[0].sectors, 6000);
    let part = fleet(system, &requests, &of(2));
    assert_eq!(part.devices.len(), DEVICES as usize);
    let mut all = Quantiles::with_limit(0);
    for row in &part.devices {
        let own = requests.iter().filter(|request| request.device == row.device);
        let own: Vec<Request> = own.map(|&request| Request { device: 0, ..request }).collect();
        let options = RunOptions { seed: 5 + u64::from(row.device), ..RunOptions::default() };
        let mut kept = Keep::default();
        let input = Input::Source(Box::new(InMemory::new(own)));
        let summary = run(system, input, &options, &mut kept, &mut |_| {}).unwrap();
        assert_eq!((row.requests, row.reads), (summary.requests, summary.reads.requests));
        assert_eq!(row.mean_ms(), summary.response_ms.mean);
        assert_eq!(Nanos(row.max_ns).as_ms(), summary.response_ms.max.unwrap());
        let p99 = summary.response_ms.p99.unwrap();
        assert!((Nanos(row.p99_ns).as_ms() - p99).abs() <= 0.005 * p99);
        let finish = kept.rows.iter().map(|row| row.finish.0).max().unwrap();
        assert_eq!(row.end_ns, finish);
        let busy = row.busy_ns as f64 / 1e9;
        assert!((busy - summary.drives[0].utilisation * summary.simulated_s).abs() < 1e-6 * busy);
        kept.rows.iter().for_each(|row| all.record(row.response()));
    }
    let (summary, found) = (part.summary(3), all.summary().unwrap());
    assert_eq!(summary.requests, 6000);
    assert_eq!(summary.response_ms.p99, Some(found.p99.as_ms()));
    assert_eq!(summary.response_ms.max, Some(found.max.as_ms()));
    assert_eq!(summary.worst.len(), 3);
    assert!(summary.worst[0].response_ms.p99 >= summary.worst[1].response_ms.p99);
}

#[test]
fn a_fleet_gives_what_runs_of_its_devices_give() {
    check_against_single_runs(&system("cheetah-9lp", &[("host.outstanding_per_drive", "1")]));
    // Drives recalibrate by themselves, the last time after their last request.
    let often = "{mode=\"by-drive\",interval_s=0.2,duration_ms=20.0}";
    for depth in ["1", "4"] {
        let pairs = [("recalibration", often), ("controller.queue_depth", depth)];
        check_against_single_runs(&system("hp-97560", &pairs));
    }
    // With a queue in the drive, and in the driver.
    check_against_single_runs(&system("nearline-18tb", &[]));
    check_against_single_runs(&system("hp-97560", &[("host.scheduler", "c-look")]));
}

#[test]
fn threads_and_parts_change_nothing() {
    let system = system("hp-97560", &[]);
    let requests = requests(system.devices()[0].sectors, 3000);
    let whole = fleet(&system, &requests, &of(1));
    assert_eq!(whole, fleet(&system, &requests, &of(3)));
    let parts: Vec<FleetPart> = (0..3)
        .map(|part| fleet(&system, &requests, &FleetOptions { share: Some((part, 3)), ..of(2) }))
        .collect();
    let merged = FleetPart::merged(&parts).unwrap();
    assert_eq!(merged, whole);
    assert_eq!(merged.summary(5), whole.summary(5));
    let packed = serde_json::to_string(&merged).unwrap();
    assert_eq!(serde_json::from_str::<FleetPart>(&packed).unwrap(), merged);
    let twice = FleetPart::merged(&[whole.clone(), whole]).unwrap_err().to_string();
    assert!(twice.contains("device 7 has requests in two parts"), "{twice}");
}

#[test]
fn what_cannot_be_is_told_with_its_device() {
    let system = system("hp-97560", &[]);
    let mut requests = requests(system.devices()[0].sectors, 40);
    requests[30].lba = Lba(u64::MAX / 2);
    let source = Box::new(InMemory::new(requests.clone()));
    let error = run_fleet(&system, source, &of(2), &mut |_| {}).unwrap_err().to_string();
    assert!(error.contains(&format!("(of device {})", requests[30].device)), "{error}");
    requests.swap(0, 1);
    let source = Box::new(InMemory::new(requests));
    let error = run_fleet(&system, source, &of(2), &mut |_| {}).unwrap_err().to_string();
    assert!(error.contains("before the request ahead of it"), "{error}");
    let raid = Arc::new(System::load("raid5-4x-cheetah-9lp", &[]).unwrap());
    assert_eq!(raid.devices().len(), 1, "an array is one volume");
}
