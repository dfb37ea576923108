//! Devices that misbehave: each is told of clearly, and what was measured is kept.

use headstack_measure::device::{
    self, Access, Device, DeviceInfo, MockDisk, MockParameters, Noise, OpenOptions, Window, WriteConsent,
};
use headstack_measure::extract::{Warning, extract};
use headstack_measure::record::{ProbeName, Record, Role, Sample, store};
use headstack_measure::{MeasureError, Options, measure};
use headstack_units::Nanos;

fn sim(name: &str) -> Box<dyn Device + Send> {
    device::open(&format!("sim:{name}"), &OpenOptions::default()).unwrap()
}

fn only(probes: &[&str]) -> Options {
    Options { probes: probes.iter().map(|&name| name.to_owned()).collect(), ..Options::default() }
}

fn refusal(path: &std::path::Path, consent: WriteConsent) -> String {
    let options = OpenOptions { consent, ..OpenOptions::default() };
    let error = device::open(path.to_str().unwrap(), &options).err().expect("refused");
    format!("{error}; {}", error.hint().unwrap_or_default())
}

/// A directory on a disk; the target directory is one, `/tmp` need not be.
fn on_disk() -> tempfile::TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap()
}

/// A flush is a read of the sector accessed last: of those asked for together, too, or what follows depends on what came long before.
#[test]
fn a_flush_leaves_the_arm_where_the_last_access_was() {
    let after = |together: bool| {
        let mut device = sim("cheetah-9lp");
        let [far, near] = [9_000_000, 1_000].map(|lba| Access { mode: device::Mode::Read, lba, sectors: 8 });
        if together {
            device.queued(&[far], 1).unwrap();
        } else {
            device.access(far).unwrap();
        }
        device.flush().unwrap();
        device.access(near).unwrap()
    };
    assert_eq!(after(true), after(false));
}

#[test]
fn the_formula_gives_the_papers_points() {
    let mut disk = MockDisk::new(MockParameters::default()).unwrap();
    let done = measure(&mut disk, &only(&["skippy-write"]), &mut |_| true).unwrap();
    let latencies: Vec<f64> = done
        .record
        .of(ProbeName::SkippyWrite)
        .filter(|s| s.role == Role::Measure)
        .map(Sample::latency_ms)
        .collect();
    for (step, ms) in [(0, 8.389), (35, 10.333), (36, 2.056), (37, 2.111)] {
        assert!((latencies[step] - ms).abs() < 0.0006, "step {step}: {} instead of {ms}", latencies[step]);
    }
    let found = extract(&done.record).unwrap();
    let close = |name: &str, truth: f64, slack: f64| {
        let value = found.value(name).unwrap_or_else(|| panic!("{name} was not found"));
        assert!((value - truth).abs() <= slack, "{name}: {value} instead of {truth}");
    };
    close("rotation_ms", 8.3333, 0.001);
    close("sectors_per_track", 150.0, 0.01);
    close("heads", 15.0, 0.0);
    close("head_switch_ms", 0.7, 0.001);
    close("cylinder_switch_ms", 2.1, 0.001);
    close("mtm_ms", 2.0, 0.001);
    assert!(found.skippy[0].head_positioning_ms.is_none(), "the formula has no downward spikes");
}

#[test]
fn the_97560_row_is_the_papers() {
    let done = measure(sim("hp-97560").as_mut(), &only(&["skippy-write"]), &mut |_| true).unwrap();
    let found = extract(&done.record).unwrap();
    let (naive, sawtooth) = (found.naive.unwrap(), &found.skippy[0]);
    assert!(
        (naive.rotation_ms - 14.784).abs() < 0.001 && (naive.sectors_per_track - 71.0).abs() < 0.02,
        "{naive:?}"
    );
    assert!(
        (sawtooth.rotation_ms - 14.993).abs() < 0.001 && (sawtooth.sectors_per_track - 72.0).abs() < 0.01
    );
    assert_eq!(sawtooth.heads, Some(19));
    assert!((sawtooth.head_switch_ms.unwrap() - 1.666).abs() < 0.002);
    assert!((sawtooth.cylinder_switch_ms.unwrap() - 3.748).abs() < 0.002);
    // Skippy shows skews; the switches that they hide are bounds.
    let head = found.parameter("head_switch_ms").unwrap();
    let same = found.parameters.iter().find(|p| p.name == "head_switch_ms").unwrap();
    assert_eq!(head, same);
    assert!(
        !head.observable
            && head.value.is_none()
            && head.upper.is_some_and(|upper| (upper - 1.666).abs() < 0.002)
    );
}

#[test]
fn files_without_consent_are_read_only_and_files_in_memory_refused() {
    let directory = on_disk();
    let path = directory.path().join("disk");
    std::fs::write(&path, vec![7_u8; 8 << 20]).unwrap();
    let both = WriteConsent { write: true, yes_destroy: Some(path.clone()) };
    let half = WriteConsent { write: true, yes_destroy: None };
    assert!(refusal(&path, half).contains("--write --yes-destroy"));
    let other = WriteConsent { write: true, yes_destroy: Some("/dev/other".into()) };
    assert!(refusal(&path, other).contains("another device"));
    let mut reading = device::open(path.to_str().unwrap(), &OpenOptions::default()).unwrap();
    assert!(!reading.info().writable && reading.info().kind == "file" && reading.info().bytes() == 8 << 20);
    let error = measure(reading.as_mut(), &only(&["skippy-write"]), &mut |_| true).unwrap_err();
    assert!(matches!(error, MeasureError::Refused { .. }), "{error}");
    // Read, nothing changes; written, it does.
    measure(reading.as_mut(), &only(&["skippy-read"]), &mut |_| true).unwrap();
    assert!(std::fs::read(&path).unwrap().iter().all(|&byte| byte == 7));
    let options = OpenOptions { consent: both, ..OpenOptions::default() };
    let mut writing = device::open(path.to_str().unwrap(), &options).unwrap();
    let done = measure(writing.as_mut(), &only(&["rotation"]), &mut |_| true).unwrap();
    assert!(std::fs::read(&path).unwrap().contains(&0));
    // A file on whatever this is: nothing to measure a turn by, unless it truly turns.
    assert!(extract(&done.record).unwrap().rotating.is_some());

    let small = directory.path().join("small");
    std::fs::write(&small, vec![0_u8; 1 << 20]).unwrap();
    assert!(refusal(&small, WriteConsent::default()).contains("1,048,576 bytes"));
    assert!(refusal(&directory.path().join("none"), WriteConsent::default()).contains("cannot be opened"));
    assert!(refusal(directory.path(), WriteConsent::default()).contains("neither a block device nor a file"));
    if std::path::Path::new("/dev/shm").is_dir() {
        let file = tempfile::NamedTempFile::new_in("/dev/shm").unwrap();
        file.as_file().set_len(8 << 20).unwrap();
        assert!(refusal(file.path(), WriteConsent::default()).contains("tmpfs"));
    }
}

/// A simulated drive that fails in its own way.
struct Broken {
    inner: Box<dyn Device + Send>,
    /// Sectors that cannot be accessed.
    bad: std::ops::Range<u64>,
    /// Accesses until it disappears.
    left: u64,
    /// Every access takes this long, whatever the disk does.
    flat: Option<Nanos>,
}

impl Device for Broken {
    fn info(&self) -> &DeviceInfo {
        self.inner.info()
    }
    fn now(&self) -> Nanos {
        self.inner.now()
    }
    fn wait_until(&mut self, at: Nanos) -> Result<(), MeasureError> {
        self.inner.wait_until(at)
    }
    fn access(&mut self, access: Access) -> Result<Window, MeasureError> {
        let name = self.info().name.clone();
        self.left = self
            .left
            .checked_sub(1)
            .ok_or(MeasureError::Gone { device: name.clone(), reason: "ENODEV".to_owned() })?;
        if self.bad.contains(&access.lba) {
            return Err(MeasureError::Access {
                device: name,
                what: "read",
                lba: access.lba,
                sectors: access.sectors,
                reason: "EIO".to_owned(),
            });
        }
        if let Some(time) = self.flat {
            let start = self.now();
            self.inner.wait_until(start + time)?;
            return Ok(Window { start, end: self.now() });
        }
        self.inner.access(access)
    }
    fn queued(&mut self, accesses: &[Access], _depth: u32) -> Result<Vec<Window>, MeasureError> {
        accesses.iter().map(|&access| self.access(access)).collect()
    }
    fn flush(&mut self) -> Result<(), MeasureError> {
        self.inner.flush()
    }
}

fn broken(bad: std::ops::Range<u64>, left: u64, flat: Option<Nanos>) -> Broken {
    Broken { inner: sim("hp-97560"), bad, left, flat }
}

#[test]
fn read_errors_are_recorded_skipped_and_reported() {
    let mut device = broken(600_000..900_000, u64::MAX, None);
    let done = measure(&mut device, &only(&["zoned", "random", "skippy"]), &mut |_| true).unwrap();
    assert!(done.stopped.is_none(), "{:?}", done.stopped);
    let found = extract(&done.record).unwrap();
    assert!(found.failed > 100 && found.failed_lbas.iter().all(|lba| (600_000..900_000).contains(lba)));
    assert!(
        found
            .warnings
            .iter()
            .any(|w| matches!(w, Warning::FailedAccesses { count } if *count == found.failed))
    );
    assert!(found.bandwidth.unwrap().profile.len() > 150);
    let mut device = broken(0..u64::MAX, u64::MAX, None);
    let done = measure(&mut device, &only(&["zoned"]), &mut |_| true).unwrap();
    assert!(matches!(done.stopped, Some(MeasureError::Unreadable { .. })), "{:?}", done.stopped);
}

#[test]
fn what_was_measured_of_a_device_that_disappears_is_kept_and_continued() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("record.parquet");
    let mut options = only(&["rotation", "zoned"]);
    options.record = Some(path.clone());
    options.resume = true;
    let done = measure(&mut broken(0..0, 2_000, None), &options, &mut |_| true).unwrap();
    assert!(matches!(done.stopped, Some(MeasureError::Gone { .. })));
    assert_eq!(done.record.head.finished, ["rotation"]);
    let kept = store::read(&path).unwrap();
    assert_eq!(kept, done.record);
    let before = kept.of(ProbeName::Zoned).map(|sample| sample.series).max().unwrap();
    let whole = measure(&mut broken(0..0, u64::MAX, None), &options, &mut |_| true).unwrap();
    assert!(whole.stopped.is_none());
    // The last series may have been cut off: it is taken again; those before are not.
    let again = whole
        .record
        .of(ProbeName::Zoned)
        .filter(|sample| sample.session == 2)
        .map(|sample| sample.series)
        .min();
    assert_eq!(again, Some(before));
    assert_eq!(extract(&whole.record).unwrap().bandwidth.unwrap().profile.len(), 240);
    // Another device's record is not continued.
    let error = measure(sim("dec-rz26").as_mut(), &options, &mut |_| true).unwrap_err();
    assert!(error.to_string().contains("hp-97560"), "{error}");
}

#[test]
fn samples_of_an_unfinished_probe_stay_until_it_is_measured_again() {
    let directory = tempfile::tempdir().unwrap();
    let mut options = only(&["zones"]);
    let whole = measure(&mut broken(0..0, u64::MAX, None), &options, &mut |_| true).unwrap().record;
    let before = whole.samples.len() - whole.of(ProbeName::Zones).count();
    options.record = Some(directory.path().join("record.parquet"));
    options.resume = true;
    let cut = measure(&mut broken(0..0, before as u64 + 200, None), &options, &mut |_| true).unwrap().record;
    let of_zones = |record: &Record| record.of(ProbeName::Zones).copied().collect::<Vec<_>>();
    assert!(!cut.has_finished(ProbeName::Zones) && of_zones(&cut).len() > 100);
    // Another probe: nothing of the first is lost.
    options.probes = vec!["zoned".to_owned()];
    let other = measure(sim("hp-97560").as_mut(), &options, &mut |_| true).unwrap().record;
    assert_eq!(of_zones(&other), of_zones(&cut));
    // The probe again: it begins anew.
    options.probes = vec!["zones".to_owned()];
    let whole = measure(sim("hp-97560").as_mut(), &options, &mut |_| true).unwrap().record;
    assert!(of_zones(&whole).iter().all(|sample| sample.session == 3));
    assert_eq!(store::read(options.record.as_ref().unwrap()).unwrap(), whole);
}

#[test]
fn a_caller_that_stops_keeps_the_record_and_a_torn_journal_is_read() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("record.parquet");
    let mut options = only(&["rotation", "skippy"]);
    options.record = Some(path.clone());
    let done =
        measure(sim("hp-97560").as_mut(), &options, &mut |progress| progress.probe != "skippy-read").unwrap();
    assert!(matches!(done.stopped, Some(MeasureError::Stopped)));
    assert!(extract(&store::read(&path).unwrap()).unwrap().value("rotation_ms").is_some());
    assert!(!store::journal_path(&path).exists());
    // As after a crash: a journal whose last batch is cut off.
    drop(store::Store::at(&path, &done.record).unwrap());
    let part = store::journal_path(&path);
    let bytes = std::fs::read(&part).unwrap();
    std::fs::write(&part, &bytes[..bytes.len() - 1_000]).unwrap();
    let torn = store::read(&path).unwrap();
    assert!(torn.samples.len() <= done.record.samples.len() && torn.head == done.record.head);
}

#[test]
fn what_is_no_record_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("record.parquet");
    assert!(store::read(&path).unwrap_err().hint().is_some());
    std::fs::write(&path, b"PAR1 and nothing else").unwrap();
    assert!(store::read(&path).unwrap_err().to_string().contains("record.parquet"));
    let error = measure(sim("hp-97560").as_mut(), &only(&["skipy"]), &mut |_| true).unwrap_err();
    assert!(error.hint().unwrap().contains("skippy-write"), "{error}");
}

#[test]
fn what_does_not_rotate_is_told_from_what_does() {
    let mut device = broken(0..0, u64::MAX, Some(Nanos(85_000)));
    let done = measure(&mut device, &only(&["rotation", "skippy", "zoned"]), &mut |_| true).unwrap();
    assert!(done.stopped.is_none(), "{:?}", done.stopped);
    let found = extract(&done.record).unwrap();
    assert_eq!(found.rotating, Some(false));
    assert!(found.value("rotation_ms").is_none() && found.warnings[0] == Warning::NotRotating);
    // Each access of this device takes as long.
    let latency = found.parameters.iter().find(|parameter| parameter.name.ends_with("_latency_ms")).unwrap();
    assert!((latency.value.unwrap() - 0.085).abs() < 1e-6, "{latency:?}");
    let noisy = OpenOptions {
        noise: Noise { relative: 0.005, outlier_share: 0.01, outlier_ms: 20.0 },
        ..OpenOptions::default()
    };
    let mut drive = device::open("sim:hp-97560", &noisy).unwrap();
    let done = measure(drive.as_mut(), &only(&["rotation"]), &mut |_| true).unwrap();
    assert_eq!(extract(&done.record).unwrap().rotating, Some(true));
}

#[test]
fn a_cache_that_hides_the_media_is_told_and_the_backwards_read_suggested() {
    let done = measure(sim("nearline-18tb").as_mut(), &only(&["write-cache"]), &mut |_| true).unwrap();
    assert_eq!(done.record.head.writes, "write-forced");
    let found = extract(&done.record).unwrap();
    assert!(
        found
            .warnings
            .iter()
            .any(|w| matches!(w, Warning::EarlyWrites { .. }) && w.to_string().contains("skippy-backwards"))
    );
    let done = measure(sim("hp-c2247a").as_mut(), &only(&["write-cache"]), &mut |_| true).unwrap();
    assert_eq!(done.record.head.writes, "write");
}

#[test]
fn a_device_that_must_not_be_written_is_measured_by_reading() {
    let options = OpenOptions { read_only: true, ..OpenOptions::default() };
    for (name, heads, sectors) in
        [("hp-c2247a", 13.0, 96.0), ("hp-c2200a", 8.0, 113.0), ("mock-disk", 15.0, 150.0)]
    {
        let mut drive = device::open(&format!("sim:{name}"), &options).unwrap();
        let done = measure(drive.as_mut(), &only(&["zone-tracks"]), &mut |_| true).unwrap();
        assert!(done.record.samples.iter().all(|sample| !sample.mode.is_write()));
        let found = extract(&done.record).unwrap();
        assert_eq!(
            (found.value("heads"), found.value("sectors_per_track")),
            (Some(heads), Some(sectors)),
            "{name}"
        );
    }
}
