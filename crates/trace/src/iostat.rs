//! Reports of `iostat -x` (sysstat): averages of an interval per device, as text or as its JSON (`-o JSON`).
//!
//! There are no requests in them; they say how busy a device was, for comparison with a trace or a simulation. Columns are
//! found by their headings, so old and new versions are read, and `-k`, `-m` and sectors:
//!
//! | field | headings |
//! | --- | --- |
//! | `reads_per_s`, `writes_per_s`, `discards_per_s`, `flushes_per_s` | `r/s` `w/s` `d/s` `f/s` |
//! | `read_kib_per_s`, `write_kib_per_s`, `discard_kib_per_s` | `rkB/s` `rMB/s` `rsec/s`, … |
//! | `read_merges_per_s`, `write_merges_per_s`, `discard_merges_per_s` | `rrqm/s` `wrqm/s` `drqm/s` |
//! | `read_wait_ms`, `write_wait_ms`, `discard_wait_ms`, `flush_wait_ms`, `wait_ms` | `r_await` …, and `await` of all |
//! | `queue_mean` | `aqu-sz`, before version 12 `avgqu-sz` |
//! | `utilisation_percent` | `%util` |
//!
//! The other columns follow from these. The first report covers the time since the system started, unless iostat ran with
//! `-y`.

use std::collections::BTreeMap;
use std::path::Path;

use crate::input::Input;
use crate::text::{Lines, trim};
use crate::{Notes, TraceError};

/// The fields, in the order of [`Row::values`].
pub const FIELDS: [&str; 17] = [
    "reads_per_s",
    "writes_per_s",
    "discards_per_s",
    "flushes_per_s",
    "read_kib_per_s",
    "write_kib_per_s",
    "discard_kib_per_s",
    "read_merges_per_s",
    "write_merges_per_s",
    "discard_merges_per_s",
    "read_wait_ms",
    "write_wait_ms",
    "discard_wait_ms",
    "flush_wait_ms",
    "wait_ms",
    "queue_mean",
    "utilisation_percent",
];

const QUEUE: usize = 15;
const UTILISATION: usize = 16;
/// Rates with their waits.
const WAITS: [(usize, usize); 4] = [(0, 10), (1, 11), (2, 12), (3, 13)];

/// Where a heading goes, and what makes it the unit of the field.
fn place(heading: &str) -> Option<(usize, f64)> {
    let exact = |heading: &str| {
        Some(match heading {
            "r/s" => 0,
            "w/s" => 1,
            "d/s" => 2,
            "f/s" => 3,
            "rrqm/s" => 7,
            "wrqm/s" => 8,
            "drqm/s" => 9,
            "r_await" => 10,
            "w_await" => 11,
            "d_await" => 12,
            "f_await" => 13,
            "await" => 14,
            "aqu-sz" | "avgqu-sz" => QUEUE,
            "%util" | "util" => UTILISATION,
            _ => return None,
        })
    };
    if let Some(place) = exact(heading) {
        return Some((place, 1.0));
    }
    let place = match heading.as_bytes().first()? {
        b'r' => 4,
        b'w' => 5,
        b'd' => 6,
        _ => return None,
    };
    let factor = match &heading[1..] {
        "kB/s" => 1.0,
        "MB/s" => 1024.0,
        "sec/s" => 0.5,
        _ => return None,
    };
    Some((place, factor))
}

/// What one report says of one device.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Which report, from 0.
    pub report: usize,
    /// The device's name.
    pub device: String,
    /// By [`FIELDS`]; `None` where the file has no such column.
    pub values: [Option<f64>; FIELDS.len()],
}

/// What the reports say of one device.
#[derive(Clone, Debug, PartialEq)]
pub struct DeviceSummary {
    /// Its name.
    pub device: String,
    /// How many reports.
    pub reports: usize,
    /// By [`FIELDS`]: means over the reports, waits weighted by their rates (`None` where nothing waited).
    pub mean: [Option<f64>; FIELDS.len()],
    /// By [`FIELDS`]: the largest.
    pub most: [Option<f64>; FIELDS.len()],
    /// What Little's law makes of rates and waits; to be compared with `queue_mean`.
    pub queue_by_little: Option<f64>,
}

/// All reports of a file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Iostat {
    /// In the order of the file.
    pub rows: Vec<Row>,
    /// How many reports.
    pub reports: usize,
    /// What could not be read.
    pub notes: Notes,
}

impl Iostat {
    /// Reads a file (plain, gz, bz2 or zst).
    ///
    /// # Errors
    /// [`TraceError::Io`]; [`TraceError::Unusable`] if there is no extended report in it; with `strict` also
    /// [`TraceError::Record`] for a line that makes no sense, which is counted otherwise.
    pub fn of_file(path: &Path, strict: bool) -> Result<Self, TraceError> {
        let mut reader = Reader { path, strict, read: Self::default(), columns: None };
        let mut lines = Lines::new(Input::open(path)?.into_buffer());
        let mut text = Vec::new();
        while let Some((line, number)) = lines.next()? {
            let line = trim(line);
            if text.is_empty() && line.first() != Some(&b'{') {
                reader.line(&String::from_utf8_lossy(line), number)?;
            } else {
                text.extend_from_slice(line);
                text.push(b'\n');
            }
        }
        if !text.is_empty() {
            reader.json(&text)?;
        }
        if reader.read.rows.is_empty() {
            return Err(TraceError::unusable(
                format!(
                    "`{}` has no extended report of iostat: no line begins with `Device`",
                    path.display()
                ),
                "write one with `iostat -x 1 60 > FILE` (`-d` leaves out the processors)".to_owned(),
            ));
        }
        Ok(reader.read)
    }

    /// What it says of each device, in order of their names. The first report is left out if there are others, unless
    /// `with_first`: it is an average since the system started.
    pub fn summaries(&self, with_first: bool) -> Vec<DeviceSummary> {
        let first = usize::from(!with_first && self.reports > 1);
        let mut devices: BTreeMap<&str, Vec<&Row>> = BTreeMap::new();
        for row in self.rows.iter().filter(|row| row.report >= first) {
            devices.entry(&row.device).or_default().push(row);
        }
        devices.into_iter().map(|(device, rows)| summary(device, &rows)).collect()
    }
}

fn summary(device: &str, rows: &[&Row]) -> DeviceSummary {
    let present = |field: usize| rows.iter().filter_map(move |row| row.values[field]);
    let mut mean = std::array::from_fn(|field| {
        let count = present(field).count();
        (count > 0).then(|| present(field).sum::<f64>() / count as f64)
    });
    let product = |rate: usize, wait: usize| {
        let pairs = rows.iter().filter_map(|row| Some((row.values[rate]?, row.values[wait]?)));
        pairs.fold((0.0, 0.0), |(rates, products), (rate, wait)| (rates + rate, products + rate * wait))
    };
    let mut waiting_ms = None;
    for (rate, wait) in WAITS {
        if mean[wait].is_some() {
            let (rates, products) = product(rate, wait);
            mean[wait] = (rates > 0.0).then(|| products / rates);
            waiting_ms = Some(waiting_ms.unwrap_or(0.0) + products);
        }
    }
    if mean[14].is_some() {
        let pairs = rows.iter().filter_map(|row| Some((row.values[0]? + row.values[1]?, row.values[14]?)));
        let (rates, products) =
            pairs.fold((0.0, 0.0), |(rates, products), (rate, wait)| (rates + rate, products + rate * wait));
        mean[14] = (rates > 0.0).then(|| products / rates);
        waiting_ms = waiting_ms.or(Some(products));
    }
    DeviceSummary {
        device: device.to_owned(),
        reports: rows.len(),
        mean,
        most: std::array::from_fn(|field| present(field).reduce(f64::max)),
        queue_by_little: waiting_ms.map(|waiting| waiting / rows.len() as f64 / 1000.0),
    }
}

struct Reader<'a> {
    path: &'a Path,
    strict: bool,
    read: Iostat,
    /// Columns of the table that is being read: where each goes. The name of the device is before them.
    columns: Option<Vec<Option<(usize, f64)>>>,
}

impl Reader<'_> {
    fn line(&mut self, line: &str, number: u64) -> Result<(), TraceError> {
        let mut words = line.split_ascii_whitespace();
        let Some(first) = words.next() else { return Ok(()) };
        if first.trim_end_matches(':') == "Device" {
            let columns: Vec<_> = words.map(place).collect();
            if !columns.iter().flatten().any(|&(place, _)| place == UTILISATION) {
                return Err(TraceError::unusable(
                    format!("`{}`: line {number}: a report without `%util`", self.path.display()),
                    "only extended reports tell times: `iostat -x`".to_owned(),
                ));
            }
            self.columns = Some(columns);
            self.read.reports += 1;
            return Ok(());
        }
        if first == "Linux" || first.starts_with("avg-cpu") {
            self.columns = None;
            return Ok(());
        }
        let Some(columns) = &self.columns else { return Ok(()) };
        // The time of the next report (`-t`) stands between two tables.
        if first.contains('/') && line.contains(':') || first.contains('T') && first.contains(':') {
            self.columns = None;
            return Ok(());
        }
        let cells: Vec<&str> = words.collect();
        if cells.len() != columns.len() {
            let problem = format!("{} columns below a heading of {}", cells.len() + 1, columns.len() + 1);
            return self.bad(number, problem);
        }
        let mut values = [None; FIELDS.len()];
        for (cell, column) in cells.iter().zip(columns) {
            let Some((place, factor)) = column else { continue };
            match number_of(cell) {
                Some(value) => values[*place] = Some(value * factor),
                None => return self.bad(number, format!("`{cell}` is not a number of 0 or more")),
            }
        }
        let row = Row { report: self.read.reports - 1, device: first.to_owned(), values };
        self.read.rows.push(row);
        Ok(())
    }

    fn bad(&mut self, number: u64, problem: String) -> Result<(), TraceError> {
        let error = TraceError::Record {
            path: self.path.to_owned(),
            place: format!("line {number}"),
            problem,
            hint: None,
        };
        if self.strict {
            return Err(error);
        }
        self.read.notes.bad(&error);
        Ok(())
    }

    fn json(&mut self, text: &[u8]) -> Result<(), TraceError> {
        let unusable = |problem: String| {
            TraceError::unusable(
                format!("`{}` is not JSON of iostat: {problem}", self.path.display()),
                "write it with `iostat -x -o JSON 1 60 > FILE`, and let it come to its end".to_owned(),
            )
        };
        let all: serde_json::Value =
            serde_json::from_slice(text).map_err(|error| unusable(error.to_string()))?;
        let hosts =
            all["sysstat"]["hosts"].as_array().ok_or_else(|| unusable("no `sysstat.hosts`".to_owned()))?;
        let reports = hosts.iter().filter_map(|host| host["statistics"].as_array()).flatten();
        for disks in reports.filter_map(|report| report["disk"].as_array()) {
            for disk in disks {
                let Some(disk) = disk.as_object() else { continue };
                let mut values = [None; FIELDS.len()];
                for (heading, value) in disk {
                    if let (Some((place, factor)), Some(value)) = (place(heading), value.as_f64()) {
                        values[place] = Some(value * factor);
                    }
                }
                let device = disk.get("disk_device").and_then(serde_json::Value::as_str);
                if let (Some(device), Some(_)) = (device, values[UTILISATION]) {
                    let row = Row { report: self.read.reports, device: device.to_owned(), values };
                    self.read.rows.push(row);
                }
            }
            self.read.reports += 1;
        }
        Ok(())
    }
}

/// Some locales write a decimal comma.
fn number_of(cell: &str) -> Option<f64> {
    let value: f64 = cell.replacen(',', ".", 1).parse().ok()?;
    (value.is_finite() && value >= 0.0).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, strict: bool) -> Result<Iostat, TraceError> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        Iostat::of_file(file.path(), strict)
    }

    const NEW: &str = "Linux 6.1 (host) \t11/21/26 \t_x86_64_\t(2 CPU)\n\n\
        11/21/26 15:27:47\navg-cpu:  %user   %nice %system %iowait  %steal   %idle\n          1.00 0 0 0 0 99\n\n\
        Device r/s rkB/s rrqm/s %rrqm r_await rareq-sz w/s wkB/s wrqm/s %wrqm w_await wareq-sz aqu-sz %util\n\
        sda 900.00 1.00 0 0 9.00 4 0 0 0 0 0.00 0 9.00 99.0\n\n\
        11/21/26 15:27:48\nDevice r/s rkB/s rrqm/s %rrqm r_await rareq-sz w/s wkB/s wrqm/s %wrqm w_await wareq-sz aqu-sz %util\n\
        sda 10.00 40.00 1 0 2.00 4 30.00 120 0 0 4.00 4 0.14 20.00\n\
        sdb 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n\n\
        11/21/26 15:27:49\nDevice r/s rkB/s rrqm/s %rrqm r_await rareq-sz w/s wkB/s wrqm/s %wrqm w_await wareq-sz aqu-sz %util\n\
        sda 30.00 80.00 3 0 6.00 4 10,00 40 0 0 8,00 4 0.26 40.00\n";

    fn field(values: &[Option<f64>; FIELDS.len()], name: &str) -> f64 {
        values[FIELDS.iter().position(|field| *field == name).unwrap()].unwrap()
    }

    #[test]
    fn reports_are_averaged_without_the_first() {
        let read = read(NEW, true).unwrap();
        assert_eq!((read.reports, read.rows.len()), (3, 4));
        let summaries = read.summaries(false);
        let sda = &summaries[0];
        assert_eq!((sda.device.as_str(), sda.reports), ("sda", 2));
        // By hand: (10 · 2 + 30 · 6) / 40 and (30 · 4 + 10 · 8) / 40.
        let told = |name| field(&sda.mean, name);
        assert_eq!((told("reads_per_s"), told("read_wait_ms"), told("write_wait_ms")), (20.0, 5.0, 5.0));
        assert_eq!((told("read_kib_per_s"), told("utilisation_percent")), (60.0, 30.0));
        assert_eq!(field(&sda.most, "utilisation_percent"), 40.0);
        // Little: 20 + 120 and 180 + 80 ms a second, as the queue says.
        assert!((sda.queue_by_little.unwrap() - 0.2).abs() < 1e-12);
        assert!((told("queue_mean") - 0.2).abs() < 1e-12);
        // Nothing waited: there is no time.
        assert_eq!(summaries[1].mean[10], None);
        assert_eq!(read.summaries(true)[0].reports, 3);
    }

    #[test]
    fn old_headings_and_megabytes() {
        let old = "Device: rrqm/s wrqm/s r/s w/s rMB/s wsec/s avgrq-sz avgqu-sz await svctm %util\n\
                   hda 0.5 1.5 3 1 2 6 8 0.08 20 5 50\n";
        let read = read(old, true).unwrap();
        let told = |name| field(&read.rows[0].values, name);
        assert_eq!((told("read_kib_per_s"), told("write_kib_per_s")), (2048.0, 3.0));
        assert_eq!((told("wait_ms"), told("queue_mean"), told("read_merges_per_s")), (20.0, 0.08, 0.5));
        // The only report is kept.
        assert!((read.summaries(false)[0].queue_by_little.unwrap() - 0.08).abs() < 1e-12);
    }

    #[test]
    fn its_json() {
        let text = r#"{"sysstat": {"hosts": [{"nodename": "h", "statistics": [
            {"disk": [{"disk_device": "vda", "r/s": 4.5, "rkB/s": 9, "r_await": 2, "aqu-sz": 0.01, "util": 1.5}]},
            {"disk": [{"disk_device": "vda", "r/s": 5.5, "rkB/s": 9, "r_await": 2, "aqu-sz": 0.01, "util": 2.5}]}]}]}}"#;
        let read = read(text, true).unwrap();
        assert_eq!((read.reports, read.rows.len()), (2, 2));
        assert_eq!(field(&read.summaries(true)[0].mean, "reads_per_s"), 5.0);
    }

    #[test]
    fn what_makes_no_sense() {
        let garbage = NEW.replace("sdb 0 0 0", "sdb 0 0 x");
        assert_eq!(read(&garbage, false).unwrap().notes.bad_records, 1);
        assert!(read(&garbage, true).unwrap_err().to_string().contains("line 13: `x` is not a number"));
        let short = NEW.replace("sdb 0 0 0 0", "sdb");
        assert!(read(&short, true).unwrap_err().to_string().contains("11 columns below a heading of 15"));
        assert!(read("nothing\n", false).unwrap_err().to_string().contains("no extended report"));
        assert!(read("Device tps kB_read/s\nsda 1 2\n", false).unwrap_err().to_string().contains("%util"));
        assert!(read("{\"sysstat\": {", false).unwrap_err().to_string().contains("is not JSON of iostat"));
    }
}
