//! What many accesses outstanding are worth: a drive that chooses among them, and one that does not.

use headstack_measure::device::{self, Access, Mode, Noise, OpenOptions};
use headstack_measure::extract::{Extraction, Parameter, extract};
use headstack_measure::{Options, measure};

/// The probe `random` on a drive with another scheduler, seen by a host like this.
fn under_load(name: &str, scheduler: &str, noise: Noise) -> Extraction {
    let overrides = vec![("controller.scheduler".to_owned(), scheduler.to_owned())];
    let options = OpenOptions { overrides, noise, ..OpenOptions::default() };
    let mut device = device::open(&format!("sim:{name}"), &options).unwrap();
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
    let found = under_load("scsi-10k-19gb", "sptf", Noise::NONE);
    let (times, gain) = gain(&found);
    assert!(times - gain.ci95.unwrap() > 1.3, "{gain:?}");
    assert_eq!(gain.note, "32 outstanding, served in an order of the drive's choice");
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
    let found = under_load("scsi-10k-19gb", "fcfs", Noise::NONE);
    let (times, gain) = gain(&found);
    assert_eq!(gain.note, "32 outstanding, served in the order of arrival");
    // All that overlaps with the media work before is the command's overhead.
    assert!((0.95..1.1).contains(&times), "{gain:?}");
    assert!(found.random.iter().all(|load| load.out_of_order_percent == 0.0), "{:?}", found.random);
}

#[test]
fn late_completions_are_no_reordering() {
    let late = Noise { relative: 0.005, outlier_share: 0.05, outlier_ms: 30.0 };
    let (_, fcfs) = gain(&under_load("scsi-10k-19gb", "fcfs", late));
    assert_eq!(fcfs.note, "32 outstanding, served in the order of arrival");
    let (times, sptf) = gain(&under_load("scsi-10k-19gb", "sptf", late));
    assert_eq!(sptf.note, "32 outstanding, served in an order of the drive's choice");
    assert!(times > 1.2, "{sptf:?}");
}

/// A completion that the host sees late is late with many outstanding, too, and the next access waits for it.
#[test]
fn completions_of_a_queue_are_seen_late() {
    let accesses: Vec<Access> =
        (0..400).map(|n| Access { mode: Mode::Read, lba: n * 7_919 % 3_000_000, sectors: 8 }).collect();
    let windows = |noise: Noise, depth: u32| {
        let mut device =
            device::open("sim:scsi-10k-19gb", &OpenOptions { noise, ..OpenOptions::default() }).unwrap();
        device.queued(&accesses, depth).unwrap()
    };
    let mean_ms = |noise: Noise, depth: u32| {
        let windows = windows(noise, depth);
        windows.iter().map(|window| (window.end - window.start).as_ms()).sum::<f64>() / windows.len() as f64
    };
    // Every completion 20 ms late on average.
    let late = Noise { outlier_share: 1.0, outlier_ms: 20.0, ..Noise::NONE };
    let more_ms = mean_ms(late, 1) - mean_ms(Noise::NONE, 1);
    assert!((more_ms - 20.0).abs() < 3.0, "one at a time {more_ms} ms later");
    let windows = windows(late, 4);
    let mut ends: Vec<_> = windows.iter().map(|window| window.end).collect();
    ends.sort_unstable();
    // No more than four are outstanding: the fifth is issued when one was seen, not when it was complete.
    for (place, window) in windows.iter().enumerate().skip(4) {
        assert_eq!(window.start, ends[place - 4], "access {place}");
    }
}
