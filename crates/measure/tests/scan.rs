//! A scan of the surface: what fails is listed once, what takes long is counted, and it goes on where it ended.

use headstack_measure::device::{Access, Device, DeviceInfo, SimulatedDevice, Window};
use headstack_measure::extract::{Scan, extract};
use headstack_measure::record::Record;
use headstack_measure::{MeasureError, Options, Scope, measure};
use headstack_system::System;
use headstack_units::Nanos;
use std::sync::Arc;

/// A disk of which one sector cannot be read, and another one only after two seconds.
struct Damaged {
    disk: SimulatedDevice,
    unreadable: Option<u64>,
    slow: Option<u64>,
    /// Where the disk goes away.
    gone: Option<u64>,
}

fn damaged(unreadable: Option<u64>, slow: Option<u64>) -> Damaged {
    let system = System::load("mock-disk", &[]).unwrap();
    let disk = SimulatedDevice::new("sim:mock-disk", &Arc::new(system), 1).unwrap().read_only();
    Damaged { disk, unreadable, slow, gone: None }
}

impl Device for Damaged {
    fn info(&self) -> &DeviceInfo {
        self.disk.info()
    }

    fn now(&self) -> Nanos {
        self.disk.now()
    }

    fn wait_until(&mut self, at: Nanos) -> Result<(), MeasureError> {
        self.disk.wait_until(at)
    }

    fn access(&mut self, access: Access) -> Result<Window, MeasureError> {
        let holds = |lba: &u64| (access.lba..access.lba + u64::from(access.sectors)).contains(lba);
        if self.unreadable.as_ref().is_some_and(holds) {
            let device = "damaged".to_owned();
            let reason = "medium error".to_owned();
            let (lba, sectors) = (access.lba, access.sectors);
            return Err(MeasureError::Access { device, what: "read", lba, sectors, reason });
        }
        if self.gone.as_ref().is_some_and(holds) {
            return Err(MeasureError::Gone {
                device: "damaged".to_owned(),
                reason: "no such device".to_owned(),
            });
        }
        let mut window = self.disk.access(access)?;
        if self.slow.as_ref().is_some_and(holds) {
            window.end += Nanos::from_s(2.0);
            self.disk.wait_until(window.end)?;
        }
        Ok(window)
    }

    fn queued(&mut self, accesses: &[Access], _depth: u32) -> Result<Vec<Window>, MeasureError> {
        accesses.iter().map(|&access| self.access(access)).collect()
    }

    fn flush(&mut self) -> Result<(), MeasureError> {
        self.disk.flush()
    }
}

fn options(scan_share: f64) -> Options {
    let scope = Scope { scan_share, ..Scope::default() };
    Options { probes: vec!["scan".to_owned()], scope, ..Options::default() }
}

fn scanned(mut device: Damaged, share: f64) -> (Record, Scan) {
    let done = measure(&mut device, &options(share), &mut |_| true).unwrap();
    assert!(done.stopped.is_none(), "{:?}", done.stopped);
    let scan = extract(&done.record).unwrap().scan.unwrap();
    (done.record, scan)
}

#[test]
fn a_sound_surface_is_read_once_from_end_to_end() {
    let (record, scan) = scanned(damaged(None, None), 1.0);
    assert_eq!((scan.unreadable, scan.long, scan.parts.len()), (0, 0, 1000));
    assert!((scan.share - 1.0).abs() < 1e-12);
    let mut next = 0;
    for sample in &record.samples {
        assert_eq!(sample.lba, next);
        next += u64::from(sample.sectors);
    }
    assert_eq!(next, record.head.device.sectors);
    assert_eq!(scan.verdict, "the device is readable; no read took longer than 1,002 ms");
    // 150 sectors of 512 bytes in 8.33 ms, less what the skews pass over.
    let speed = scan.parts[500].mb_per_s.unwrap();
    assert!((3.0..9.2).contains(&speed), "{speed}");
}

#[test]
fn damage_is_listed_once_and_the_rest_is_read() {
    let (record, scan) = scanned(damaged(Some(100_000), Some(200_000)), 1.0);
    assert_eq!((scan.unreadable, scan.long), (1, 1));
    let tries = record.samples.iter().filter(|s| (s.lba..s.lba + u64::from(s.sectors)).contains(&100_000));
    assert_eq!(tries.count(), 1, "an unreadable sector is not tried again");
    let holds = |lbas: &[u64], lba: u64| (lbas[0]..lbas[0] + u64::from(scan.sectors_per_read)).contains(&lba);
    assert!(holds(&scan.unreadable_lbas, 100_000) && holds(&scan.long_lbas, 200_000), "{scan:?}");
    assert!(scan.verdict.contains("sectors there are unreadable"), "{}", scan.verdict);
    let (_, slow) = scanned(damaged(None, Some(200_000)), 1.0);
    assert!(
        slow.verdict.contains("1 read took longer than 1,002 ms, the first at sector")
            && !slow.verdict.contains("the device retries"),
        "{}",
        slow.verdict
    );
}

#[test]
fn a_share_is_spread_over_the_device() {
    let (record, scan) = scanned(damaged(None, None), 0.2);
    assert_eq!(scan.parts.len(), 1000);
    assert!((scan.share - 0.2).abs() < 1e-4, "{}", scan.share);
    assert!(record.samples.last().unwrap().lba > record.head.device.sectors / 1000 * 998);
    assert!(scan.verdict.ends_with("the rest was not read"), "{}", scan.verdict);
}

/// A small disk has but nine reads in a part: one of each was 11 % of it.
#[test]
fn a_small_share_of_a_small_disk_is_no_more_than_was_asked() {
    for share in [0.0001, 0.01, 0.05, 0.13] {
        let (record, scan) = scanned(damaged(None, None), share);
        assert!((share..share + 1.1e-4).contains(&scan.share), "{} for {share}", scan.share);
        let gaps = record.samples.windows(2).map(|two| two[1].lba - two[0].lba);
        let even = record.head.device.sectors as f64 / record.samples.len() as f64;
        assert!(gaps.max().is_none_or(|gap| (gap as f64) < 1.2 * even + 4096.0), "{share}");
    }
}

#[test]
fn a_scan_that_was_stopped_goes_on_where_it_ended() {
    let folder = tempfile::tempdir().unwrap();
    let record = Some(folder.path().join("scan.parquet"));
    let whole = scanned(damaged(None, None), 1.0).1;
    let mut device = damaged(None, None);
    device.gone = Some(1_500_000);
    let scan = Options { record, ..options(1.0) };
    let first = measure(&mut device, &scan, &mut |_| true).unwrap();
    assert!(matches!(first.stopped, Some(MeasureError::Gone { .. })), "{:?}", first.stopped);
    assert!(first.record.samples.len() < whole.reads);
    let again = Options { resume: true, ..scan };
    let done = measure(&mut damaged(None, None), &again, &mut |_| true).unwrap();
    assert!(done.stopped.is_none(), "{:?}", done.stopped);
    let found = extract(&done.record).unwrap().scan.unwrap();
    assert_eq!((found.reads, found.parts.len()), (whole.reads, whole.parts.len()));
    let second = done.record.samples.iter().filter(|sample| sample.session == 2).count();
    assert!(second < whole.reads * 3 / 4, "{second} of {} were read again", whole.reads);
}

#[test]
fn how_long_a_scan_takes_is_told_by_how_fast_the_device_reads() {
    let system = Arc::new(System::load("dec-rz26", &[]).unwrap());
    let mut device = SimulatedDevice::new("sim:dec-rz26", &system, 1).unwrap();
    let mut expected_s = 0.0;
    let done = measure(&mut device, &options(0.05), &mut |progress| {
        expected_s = progress.expected_s;
        true
    })
    .unwrap();
    let samples = &done.record.samples;
    let taken_s = (samples.last().unwrap().end - samples[0].start).as_s();
    assert!((taken_s / 1.5..taken_s * 1.5).contains(&expected_s), "{expected_s} s told, {taken_s} s taken");
}
