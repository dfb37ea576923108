//! Which files the probe `stream` reads and writes: sizes of files times sizes of records, and how often.

use crate::MeasureError;
use crate::device::{DeviceInfo, Mode};
use serde::{Deserialize, Serialize};

/// Most repeats of a file: series are numbered by it.
const MOST_REPEATS: u32 = 1000;
/// Most sizes of files, and of records.
const MOST_SIZES: usize = 100;
/// Most transfers: each leaves a sample.
const MOST_TRANSFERS: u64 = 25_000_000;

/// The sizes, and how often each file is read or written. MB = 10⁶ bytes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StreamGrid {
    /// Sizes of files, in 10⁶ bytes.
    pub file_mb: Vec<f64>,
    /// Sizes of records, in KiB.
    pub record_kib: Vec<f64>,
    /// How often each file is read or written.
    pub repeats: u32,
}

impl Default for StreamGrid {
    /// The paper's.
    fn default() -> Self {
        Self {
            file_mb: vec![30.0, 100.0, 300.0, 1000.0, 2000.0],
            record_kib: vec![8.0, 32.0, 128.0, 512.0, 2048.0, 8192.0, 32_768.0, 131_072.0],
            repeats: 15,
        }
    }
}

/// Files of one size in records of one size, read or written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Cell {
    pub(crate) number: u32,
    pub(crate) mode: Mode,
    pub(crate) file_mb: f64,
    pub(crate) record_kib: f64,
    pub(crate) record_sectors: u32,
    /// Records of a file: as many as hold it.
    pub(crate) records: u64,
}

impl Cell {
    pub(crate) fn file_sectors(&self) -> u64 {
        self.records.saturating_mul(u64::from(self.record_sectors))
    }

    /// Whether two cells read and write the same files.
    pub(crate) fn shares_files(&self, other: &Self) -> bool {
        self.number / 2 == other.number / 2
    }
}

/// The series of a repeat of a cell.
pub(crate) fn series_of(cell: u32, repeat: u32) -> u32 {
    cell * MOST_REPEATS + repeat
}

/// The cell of a series.
pub(crate) fn cell_of(series: u32) -> u32 {
    series / MOST_REPEATS
}

impl StreamGrid {
    /// The cells that a device allows: records that its sectors divide, not larger than the file, files that it holds; reads,
    /// and writes where it may be written.
    pub(crate) fn cells(&self, device: &DeviceInfo) -> Vec<Cell> {
        let modes: &[Mode] = if device.writable { &[Mode::Write, Mode::Read] } else { &[Mode::Read] };
        let mut cells = Vec::new();
        for (file, &file_mb) in self.file_mb.iter().enumerate() {
            for (record, &record_kib) in self.record_kib.iter().enumerate() {
                for (op, &mode) in [Mode::Write, Mode::Read].iter().enumerate() {
                    let number = ((file * self.record_kib.len() + record) * 2 + op) as u32;
                    let cell = cell(number, mode, (file_mb, record_kib), device);
                    cells.extend(cell.filter(|cell| modes.contains(&cell.mode)));
                }
            }
        }
        cells
    }

    /// Whether there is anything to do on a device, and not too much.
    ///
    /// # Errors
    /// [`MeasureError::Refused`].
    pub(crate) fn check(&self, device: &DeviceInfo) -> Result<(), MeasureError> {
        let refused = |problem: String, hint: &str| {
            Err(MeasureError::Refused { device: device.name.clone(), problem, hint: hint.to_owned() })
        };
        let (files, records) = (&self.file_mb, &self.record_kib);
        let is_size = |size: &f64, most: f64| (0.001..=most).contains(size);
        if !files.iter().all(|size| is_size(size, 1e9))
            || !records.iter().all(|size| is_size(size, 1_048_576.0))
        {
            return refused(
                "sizes of streams must be numbers above 0".to_owned(),
                "files: 0.001 to 1000000000 MB; records: 0.001 to 1048576 KiB",
            );
        }
        if files.len().max(records.len()) > MOST_SIZES || !(1..=MOST_REPEATS).contains(&self.repeats) {
            return refused(
                "too many sizes or repeats of streams".to_owned(),
                "at most 100 sizes of files, 100 of records, and 1 to 1000 repeats",
            );
        }
        for sizes in [files, records] {
            if let Some(twice) = (1..sizes.len()).find(|&place| sizes[..place].contains(&sizes[place])) {
                return refused(
                    format!("the size {} of streams is named twice", sizes[twice]),
                    "name it once",
                );
            }
        }
        let cells = self.cells(device);
        if cells.is_empty() {
            return refused(
                format!(
                    "no stream fits: the device holds {:.1} MB in sectors of {} bytes",
                    device.bytes() as f64 / 1e6,
                    device.physical_sector_bytes
                ),
                "name files that the device holds, and records that its sectors divide and the files hold",
            );
        }
        let transfers = cells.iter().map(|cell| cell.records).sum::<u64>() * u64::from(self.repeats);
        if transfers > MOST_TRANSFERS {
            return refused(
                format!("{transfers} transfers are more than {MOST_TRANSFERS}"),
                "take fewer repeats, larger records or smaller files",
            );
        }
        Ok(())
    }
}

fn cell(number: u32, mode: Mode, (file_mb, record_kib): (f64, f64), device: &DeviceInfo) -> Option<Cell> {
    let record_bytes = record_kib * 1024.0;
    let sectors = record_bytes / f64::from(device.sector_bytes);
    let is_whole = sectors >= 1.0 && sectors.fract() == 0.0 && (sectors as u64).is_multiple_of(device.unit());
    let records = (file_mb * 1e6 / record_bytes).ceil() as u64;
    let found = Cell { number, mode, file_mb, record_kib, record_sectors: sectors as u32, records };
    (is_whole && record_bytes <= file_mb * 1e6 && found.file_sectors() <= device.sectors).then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn device(sectors: u64, writable: bool) -> DeviceInfo {
        DeviceInfo {
            name: "disk".to_owned(),
            kind: "simulated".to_owned(),
            sectors,
            sector_bytes: 512,
            physical_sector_bytes: 4096,
            writable,
            queue_depth: 1,
            rotational: None,
            overhead_ns: 0,
        }
    }

    #[test]
    fn the_papers_grid_has_its_crosses() {
        let grid = StreamGrid::default();
        let cells = grid.cells(&device(490_000_000, false));
        // 30 MB: no record of 32 MiB or more; 100 MB: none of 128 MiB.
        assert_eq!(cells.len(), 5 * 8 - 3);
        assert_eq!(grid.cells(&device(490_000_000, true)).len(), 2 * 37);
        let large = cells.iter().find(|cell| (cell.file_mb, cell.record_kib) == (2000.0, 131_072.0)).unwrap();
        // Whole records until the size is reached.
        assert_eq!((large.records, large.file_sectors()), (15, 15 << 18));
        assert_eq!(grid.cells(&device(1 << 20, false)).iter().filter(|cell| cell.file_mb > 300.0).count(), 0);
    }

    #[test]
    fn what_cannot_be_streamed_is_refused() {
        let disk = device(1 << 20, false);
        let problem = |grid: StreamGrid| grid.check(&disk).unwrap_err().to_string();
        let paper = StreamGrid::default();
        assert!(paper.check(&disk).is_ok());
        assert!(problem(StreamGrid { file_mb: vec![-1.0], ..paper.clone() }).contains("above 0"));
        assert!(problem(StreamGrid { record_kib: vec![f64::NAN], ..paper.clone() }).contains("above 0"));
        assert!(problem(StreamGrid { repeats: 0, ..paper.clone() }).contains("repeats"));
        assert!(
            problem(StreamGrid { record_kib: vec![8.0, 4.0, 8.0], ..paper.clone() })
                .contains("size 8 of streams is named twice")
        );
        // Half a physical sector; a file larger than the device.
        assert!(problem(StreamGrid { record_kib: vec![2.0], ..paper.clone() }).contains("no stream fits"));
        assert!(problem(StreamGrid { file_mb: vec![1e4], ..paper.clone() }).contains("no stream fits"));
        // Whoever asks how long it takes, asks before anything was checked.
        assert!(StreamGrid { file_mb: vec![1e308, f64::NAN], ..paper.clone() }.cells(&disk).is_empty());
        assert!(problem(StreamGrid { record_kib: vec![4.0], repeats: 1000, ..paper }).contains("transfers"));
    }
}
