//! What many accesses outstanding are worth: a drive that chooses among them, and one that does not.

use headstack_measure::device::{self, OpenOptions};
use headstack_measure::extract::{Extraction, Parameter, extract};
use headstack_measure::{Options, measure};

/// The probe `random` on a drive with another scheduler.
fn under_load(name: &str, scheduler: &str) -> Extraction {
    let overrides = vec![("controller.scheduler".to_owned(), scheduler.to_owned())];
    let mut device =
        device::open(&format!("sim:{name}"), &OpenOptions { overrides, ..OpenOptions::default() }).unwrap();
    let only = Options { probes: vec!["random".to_owned()], ..Options::default() };
    extract(&measure(device.as_mut(), &only, &mut |_| true).unwrap().record).unwrap()
}

/// The queue's worth for reads: IOPS over those one at a time, and its parameter.
fn gain(found: &Extraction) -> (f64, Parameter) {
    let gain = found.parameter("read_queue_gain").unwrap().clone();
    (gain.value.unwrap(), gain)
}

#[test]
fn a_drive_that_chooses_the_nearest_is_said_to_reorder() {
    let found = under_load("scsi-10k-19gb", "sptf");
    let (times, gain) = gain(&found);
    assert!(times - gain.ci95.unwrap() > 1.3, "{gain:?}");
    assert_eq!(gain.note, "32 outstanding, served in another order than issued");
    let of_depth = |depth: u32| found.random.iter().find(|load| (load.mode, load.depth) == ("read", depth));
    let (one, many) = (of_depth(1).unwrap(), of_depth(32).unwrap());
    assert_eq!(one.out_of_order_percent, 0.0);
    assert!(many.out_of_order_percent > 50.0, "{many:?}");
    assert!(
        one.response_ms.p50 < one.response_ms.p99 && one.response_ms.p99 < many.response_ms.p99,
        "{one:?} {many:?}"
    );
}

#[test]
fn a_drive_that_serves_as_issued_is_not_said_to_reorder() {
    let found = under_load("scsi-10k-19gb", "fcfs");
    let (times, gain) = gain(&found);
    assert_eq!(gain.note, "32 outstanding, served as issued");
    // All that overlaps with the media work before is the command's overhead.
    assert!((0.95..1.1).contains(&times), "{gain:?}");
    assert!(found.random.iter().all(|load| load.out_of_order_percent == 0.0), "{:?}", found.random);
}
