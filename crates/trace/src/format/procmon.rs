//! Process Monitor (Windows) as CSV: the columns `Time of Day`, `Operation`, `Path`, `Detail`, and `Duration` where it is shown.
//!
//! Requests are the operations ReadFile and WriteFile whose detail says `Non-cached`: what the cache of the system answers
//! does not reach a disk. Addresses are those in files, which are placed by the model of [`placing`](super::placing).
//! It shows times of day to 100 ns, without a date: one that goes back by over half a day is of the next.

use headstack_units::{Lba, Nanos};

use crate::format::completions::{Asked, Completions, Parse};
use crate::format::csv::Cells;
use crate::format::placing::Placing;
use crate::format::{Decoder, Format};
use crate::input::Input;
use crate::number::{self, Problem};
use crate::process_names::ProcessNames;
use crate::text::sectors_of;
use crate::{Io, Op, OpenOptions, Request, TraceError};
use std::collections::BTreeMap;

pub(crate) static FORMAT: Format = Format {
    name: "procmon",
    about: "Process Monitor as CSV: non-cached ReadFile and WriteFile; files placed by a model",
    sniff: |sample| sample.lines().next().is_some_and(|line| Columns::of(line).is_some()),
    open,
};

const HOUR: u64 = 3_600_000_000_000;
const DAY: u64 = 24 * HOUR;

/// Where the columns stand.
struct Columns {
    time: usize,
    operation: usize,
    path: usize,
    detail: usize,
    duration: Option<usize>,
    process: Option<usize>,
    name: Option<usize>,
}

impl Columns {
    fn of(header: &[u8]) -> Option<Self> {
        let names: Vec<&[u8]> = Cells::new(header, b',').collect();
        let at = |name: &str| names.iter().position(|cell| *cell == name.as_bytes());
        Some(Self {
            time: at("Time of Day")?,
            operation: at("Operation")?,
            path: at("Path")?,
            detail: at("Detail")?,
            duration: at("Duration"),
            process: at("PID"),
            name: at("Process Name"),
        })
    }
}

fn open(input: Input, options: &OpenOptions) -> Result<Box<dyn Decoder>, TraceError> {
    Ok(Box::new(lines(input, options)?))
}

/// The lines of a file, with the processes they name.
pub(crate) fn lines(input: Input, options: &OpenOptions) -> Result<Completions<Box<dyn Parse>>, TraceError> {
    let header = input.sample().lines().next().and_then(Columns::of);
    let columns = header.ok_or_else(|| {
        TraceError::unusable(
            format!("`{}` does not begin with Process Monitor's header", input.path().display()),
            "the columns Time of Day, Operation, Path and Detail are needed; save as CSV".into(),
        )
    })?;
    let sector_bytes = options.sector_bytes_or(512);
    let (files, processes) = (Placing::default(), ProcessNames::default());
    let parser = Parser { columns, files, processes, sector_bytes, days: 0, last: 0, headed: false };
    let parser: Box<dyn Parse> = Box::new(parser);
    Ok(Completions::new(input, sector_bytes, parser))
}

struct Parser {
    columns: Columns,
    files: Placing,
    processes: ProcessNames,
    sector_bytes: u32,
    days: u64,
    last: u64,
    headed: bool,
}

impl Parse for Parser {
    fn processes(&self) -> BTreeMap<u32, String> {
        self.processes.all()
    }

    fn parse(&mut self, line: &[u8]) -> Result<Option<Asked>, Problem> {
        if !std::mem::replace(&mut self.headed, true) {
            return Ok(None);
        }
        let cells: Vec<&[u8]> = Cells::new(line, b',').collect();
        let cell = |at: usize| {
            cells.get(at).copied().ok_or_else(|| Problem(format!("the line has only {} cells", cells.len())))
        };
        let arrival = self.instant(time_of_day(cell(self.columns.time)?)?)?;
        let op = match cell(self.columns.operation)? {
            b"ReadFile" => Op::Read,
            b"WriteFile" => Op::Write,
            _ => return Ok(None),
        };
        let detail = cell(self.columns.detail)?;
        if memchr::memmem::find(detail, b"Non-cached").is_none() {
            return Ok(None);
        }
        let (Some(offset), Some(length)) = (detailed(detail, b"Offset: ")?, detailed(detail, b"Length: ")?)
        else {
            return Ok(None);
        };
        let at = self.files.address(cell(self.columns.path)?, offset)?;
        let (lba, sectors) = sectors_of(at, length, self.sector_bytes)?;
        let request = Request::new(arrival, op, Lba(lba), sectors);
        let pid = self.process(&cells);
        let Some(column) = self.columns.duration else { return Ok(Some((request, pid))) };
        let duration = cell(column)?;
        if duration.is_empty() {
            return Ok(Some((request, pid)));
        }
        let duration = number::fixed(duration, 9, "Duration")?;
        Ok(Some((Request { finish: Nanos(arrival.0.saturating_add(duration)), ..request }, pid)))
    }
}

impl Parser {
    /// The number of the process of a line, whose name is kept.
    fn process(&mut self, cells: &[&[u8]]) -> u32 {
        let cell = |column: Option<usize>| column.and_then(|column| cells.get(column).copied());
        let pid = cell(self.columns.process).map_or(Io::NO_PID, number::process);
        self.processes.learn(pid, || cell(self.columns.name).unwrap_or_default());
        pid
    }

    /// The instant of a time of day, which may be of the next day.
    fn instant(&mut self, time: u64) -> Result<Nanos, Problem> {
        if self.last > time + DAY / 2 {
            self.days += 1;
        }
        self.last = time;
        let days = self.days.checked_mul(DAY).and_then(|days| days.checked_add(time));
        days.map(Nanos).ok_or_else(|| Problem("the trace is too long".into()))
    }
}

/// `10:15:30.1234567 AM` or `22:15:30,1234567`, in ns.
fn time_of_day(cell: &[u8]) -> Result<u64, Problem> {
    let wrong = || Problem::field("Time of Day", cell, "expected a time as 10:15:30.1234567 PM");
    let (clock, half) = match cell.iter().position(u8::is_ascii_whitespace) {
        Some(end) => (&cell[..end], Some(cell[end..].trim_ascii())),
        None => (cell, None),
    };
    let mut parts = clock.split(|&byte| byte == b':');
    let (Some(hours), Some(minutes), Some(seconds), None) =
        (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return Err(wrong());
    };
    let hours = number::integer(hours, "Time of Day")?;
    let minutes = number::integer(minutes, "Time of Day")?;
    let seconds: Vec<u8> = seconds.iter().map(|&byte| if byte == b',' { b'.' } else { byte }).collect();
    let ns = number::fixed(&seconds, 9, "Time of Day")?;
    let hours = match half {
        Some(half) if half.eq_ignore_ascii_case(b"AM") && hours <= 12 => hours % 12,
        Some(half) if half.eq_ignore_ascii_case(b"PM") && hours <= 12 => hours % 12 + 12,
        None if hours < 24 => hours,
        _ => return Err(wrong()),
    };
    if minutes >= 60 || ns >= 61_000_000_000 {
        return Err(wrong());
    }
    Ok(hours * HOUR + minutes * (HOUR / 60) + ns)
}

/// The number behind `name` in the detail, written with separators of thousands.
fn detailed(detail: &[u8], name: &[u8]) -> Result<Option<u64>, Problem> {
    let Some(at) = memchr::memmem::find(detail, name) else { return Ok(None) };
    let text = &detail[at + name.len()..];
    let is_separator = |at: usize| {
        matches!(text[at], b',' | b'.' | b'\'' | b' ')
            && text.get(at + 1..at + 4).is_some_and(|group| group.iter().all(u8::is_ascii_digit))
    };
    let mut digits = Vec::new();
    for (at, &byte) in text.iter().enumerate() {
        if byte.is_ascii_digit() {
            digits.push(byte);
        } else if !is_separator(at) {
            break;
        }
    }
    number::integer(&digits, "Detail").map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{read_text, read_text_of_processes};

    const HEADER: &str = "\u{feff}\"Time of Day\",\"Process Name\",\"PID\",\"Operation\",\"Path\",\"Result\",\"Detail\",\"Duration\"\n";

    fn line(time: &str, operation: &str, path: &str, detail: &str) -> String {
        format!(
            "\"{time}\",\"a.exe\",\"4\",\"{operation}\",\"{path}\",\"SUCCESS\",\"{detail}\",\"0.0005000\"\n"
        )
    }

    #[test]
    fn what_reaches_the_disk_is_read() {
        let detail = "Offset: 1,048,576, Length: 4,096, I/O Flags: Non-cached, Paging I/O, Priority: Normal";
        let text = HEADER.to_owned()
            + &line("11:59:59.9000000 PM", "ReadFile", "C:\\a", detail)
            + &line("11:59:59.9500000 PM", "CreateFile", "C:\\a", "Desired Access: Generic Read")
            + &line("11:59:59.9600000 PM", "ReadFile", "C:\\a", "Offset: 0, Length: 512")
            + &line(
                "12:00:00.1000000 AM",
                "WriteFile",
                "C:\\b",
                "Offset: 512, Length: 512, I/O Flags: Non-cached",
            );
        let requests = read_text(None, &text).unwrap();
        let first = Request { finish: Nanos(500_000), ..Request::new(Nanos(0), Op::Read, Lba(2048), 8) };
        assert_eq!(requests[0], first);
        let second = Request::new(Nanos(200_000_000), Op::Write, Lba((64 << 11) + 1), 1);
        assert_eq!(requests[1..], [Request { finish: Nanos(200_500_000), ..second }]);
    }

    #[test]
    fn processes_are_named() {
        let detail = "Offset: 512, Length: 512, I/O Flags: Non-cached";
        let text = HEADER.to_owned() + &line("10:00:00", "ReadFile", "C:\\a", detail);
        let (batch, names) = read_text_of_processes(&text);
        assert_eq!(batch[0].pid, 4);
        assert_eq!(names, BTreeMap::from([(4, "a.exe".to_owned())]));
    }

    #[test]
    fn times_of_day_are_of_12_or_24_hours() {
        assert_eq!(time_of_day(b"12:00:01.5 AM").unwrap(), 1_500_000_000);
        assert_eq!(time_of_day(b"1:00:00 PM").unwrap(), 13 * HOUR);
        assert_eq!(time_of_day(b"22:30:00,25").unwrap(), 22 * HOUR + HOUR / 2 + 250_000_000);
        for wrong in ["24:00:00", "13:00:00 PM", "1:60:00 AM", "1:00", "1:00:99", "x"] {
            assert!(time_of_day(wrong.as_bytes()).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_bad_line_is_named() {
        let text = HEADER.to_owned() + &line("25:00:00 XM", "ReadFile", "C:\\a", "");
        let error = read_text(None, &text).unwrap_err().to_string();
        assert!(error.contains("line 2: `Time of Day` is `25:00:00 XM`"), "{error}");
    }
}
