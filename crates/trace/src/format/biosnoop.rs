//! biosnoop (bcc, bpftrace): one line a completion under a header that names the columns: `TIME(s) COMM PID DISK T SECTOR
//! BYTES [QUE(ms)] LAT(ms)`. The time is that of the completion; the latency is the device's, and `QUE` the time in the
//! queue before. Disks become devices, in the order of their appearance. iosnoop (perf-tools) names its columns otherwise:
//! `[STARTs] ENDs COMM PID TYPE DEV BLOCK BYTES LATms`, with `-t` or `-ts`, and says before and after them what it does.

use headstack_units::{Lba, Nanos};

use crate::format::completions::{Asked, Completions, Parse};
use crate::format::{Decoder, Format};
use crate::input::{Input, Sample};
use crate::number::{self, Problem};
use crate::process_names::ProcessNames;
use crate::text::sectors_of;
use crate::{Io, Op, OpenOptions, Request, TraceError};
use std::collections::BTreeMap;

pub(crate) static FORMAT: Format = Format {
    name: "biosnoop",
    about: "biosnoop: TIME(s) COMM PID DISK T SECTOR BYTES [QUE(ms)] LAT(ms), a line a completion; or iosnoop -t",
    sniff: |sample| header(sample).is_some(),
    open,
};

/// Lines above the header.
const MOST_ABOVE: usize = 4;

/// The columns that the header at the beginning names.
fn header(sample: Sample<'_>) -> Option<Vec<Column>> {
    sample.lines().take(MOST_ABOVE + 1).find_map(columns)
}

/// A line has at most so many words; the name of a command has 15 bytes.
const MOST_CELLS: usize = 32;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Column {
    Time(u32),
    Command,
    Process,
    Disk,
    Type,
    Sector,
    Bytes,
    Queue,
    Latency,
    Ignored,
}

/// The columns a header names; `None` if it is no header of biosnoop.
fn columns(header: &[u8]) -> Option<Vec<Column>> {
    let columns: Vec<Column> = header
        .split(u8::is_ascii_whitespace)
        .filter(|name| !name.is_empty())
        .map(|name| match name {
            b"TIME(s)" | b"ENDs" => Column::Time(9),
            b"TIME(ms)" => Column::Time(6),
            b"COMM" => Column::Command,
            b"PID" => Column::Process,
            b"DISK" | b"DEV" => Column::Disk,
            b"T" | b"TYPE" => Column::Type,
            b"SECTOR" | b"BLOCK" => Column::Sector,
            b"BYTES" => Column::Bytes,
            b"QUE(ms)" => Column::Queue,
            b"LAT(ms)" | b"LATms" => Column::Latency,
            _ => Column::Ignored,
        })
        .collect();
    let has = |column| columns.contains(&column);
    let timed = has(Column::Time(9)) || has(Column::Time(6));
    let needed = [Column::Type, Column::Sector, Column::Bytes, Column::Latency];
    (timed && needed.into_iter().all(has)).then_some(columns)
}

fn open(input: Input, options: &OpenOptions) -> Result<Box<dyn Decoder>, TraceError> {
    Ok(Box::new(lines(input, options)?))
}

/// The lines of a file, with the processes they name.
pub(crate) fn lines(input: Input, options: &OpenOptions) -> Result<Completions<Box<dyn Parse>>, TraceError> {
    let path = input.path().clone();
    let columns = header(input.sample()).ok_or_else(|| {
        TraceError::unusable(
            format!("`{}` does not begin with biosnoop's header", path.display()),
            "the columns TIME(s), T, SECTOR, BYTES and LAT(ms) are needed".into(),
        )
    })?;
    let sector_bytes = options.sector_bytes_or(512);
    let parser = Parser { columns, disks: Vec::new(), processes: ProcessNames::default(), sector_bytes };
    let parser: Box<dyn Parse> = Box::new(parser);
    Completions::new(input, sector_bytes, parser).below(|line| self::columns(line).is_some())
}

struct Parser {
    columns: Vec<Column>,
    disks: Vec<Vec<u8>>,
    processes: ProcessNames,
    sector_bytes: u32,
}

impl Parse for Parser {
    fn processes(&self) -> BTreeMap<u32, String> {
        self.processes.all()
    }

    fn parse(&mut self, line: &[u8]) -> Result<Option<Asked>, Problem> {
        if line.starts_with(b"Ending tracing") {
            return Ok(None);
        }
        let mut cells = [&[][..]; MOST_CELLS];
        let mut count = 0;
        for cell in line.split(u8::is_ascii_whitespace).filter(|cell| !cell.is_empty()) {
            *cells
                .get_mut(count)
                .ok_or_else(|| Problem(format!("the line has more than {MOST_CELLS} fields")))? = cell;
            count += 1;
        }
        let cells = &cells[..count];
        // The name of a command may hold blanks: what is too much belongs to it.
        let surplus = cells.len().checked_sub(self.columns.len()).ok_or_else(|| {
            Problem(format!("the line has {} fields, the header {}", cells.len(), self.columns.len()))
        })?;
        let command = self.columns.iter().position(|column| *column == Column::Command);
        let (mut time, mut latency, mut queue, mut device) = (0, 0, 0, 0);
        let (mut op, mut sector, mut bytes) = (None, 0, 0);
        let (mut pid, mut name) = (Io::NO_PID, 0);
        for (index, column) in self.columns.iter().enumerate() {
            let after = command.is_some_and(|command| index > command);
            let cell = cells[if after { index + surplus } else { index }];
            match column {
                Column::Time(decimals) => time = number::fixed(cell, *decimals, "TIME")?,
                Column::Disk => {
                    device = self.disks.iter().position(|disk| disk == cell).unwrap_or_else(|| {
                        self.disks.push(cell.to_vec());
                        self.disks.len() - 1
                    });
                }
                Column::Type => {
                    op = match cell.first() {
                        Some(b'R') => Some(Op::Read),
                        Some(b'W') => Some(Op::Write),
                        _ => None,
                    };
                }
                Column::Sector => sector = number::integer(cell, "SECTOR").unwrap_or(0),
                Column::Bytes => bytes = number::integer(cell, "BYTES")?,
                Column::Queue => queue = number::fixed(cell, 6, "QUE").unwrap_or(0),
                Column::Latency => latency = number::fixed(cell, 6, "LAT")?,
                // What is no number (`-` for the kernel) is no process.
                Column::Process => pid = number::process(cell),
                Column::Command => name = index,
                Column::Ignored => {}
            }
        }
        let Some(op) = op.filter(|_| bytes > 0) else { return Ok(None) };
        // Sectors are of 512 bytes, whatever the trace is counted in.
        let offset = sector.checked_mul(512).ok_or_else(|| Problem("the sector is too large".into()))?;
        let (lba, sectors) = sectors_of(offset, bytes, self.sector_bytes)?;
        self.processes.learn(pid, || words(line, name, surplus));
        let finish = time.max(latency + queue);
        let request = Request {
            start: Nanos(finish - latency),
            finish: Nanos(finish),
            device: device as u32,
            ..Request::new(Nanos(finish - latency - queue), op, Lba(lba), sectors)
        };
        Ok(Some((request, pid)))
    }
}

/// The words of a line from the one at `index` to `more` behind it, as they stand.
fn words(line: &[u8], index: usize, more: usize) -> &[u8] {
    let mut rest = line.trim_ascii_start();
    for _ in 0..index {
        let end = rest.iter().position(u8::is_ascii_whitespace).unwrap_or(rest.len());
        rest = rest[end..].trim_ascii_start();
    }
    let mut end = 0;
    for _ in 0..=more {
        end += rest[end..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        end += rest[end..].iter().take_while(|byte| !byte.is_ascii_whitespace()).count();
    }
    &rest[..end]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{read_text, read_text_of_processes};

    #[test]
    fn iosnoop_has_other_names() {
        let text = "STARTs         ENDs           COMM         PID    TYPE DEV      BLOCK        BYTES     LATms\n\
            5982800.302061 5982800.302679 supervise    1809   W    202,1    17039600     4096       0.62\n\
            5982800.302423 5982800.302842 my tool      1809   RM   202,1    17039608     4096       0.42\n";
        let around = format!("Tracing block I/O. Ctrl-C to end.\n{text}\nEnding tracing...\n");
        let requests = read_text(None, text).unwrap();
        assert_eq!(read_text(None, &around).unwrap(), requests);
        let second = requests[1].arrival.0 - requests[0].arrival.0;
        assert_eq!(
            (requests.len(), requests[0].lba, requests[0].sectors, second),
            (2, Lba(17_039_600), 8, 363_000)
        );
        assert_eq!((requests[1].op, requests[1].finish.0 - requests[1].start.0), (Op::Read, 420_000));
    }

    #[test]
    fn columns_are_found_by_name_and_commands_may_hold_blanks() {
        let text = "TIME(s)     COMM           PID    DISK    T SECTOR     BYTES  QUE(ms) LAT(ms)\n\
            0.000010    jbd2/sda1-8    123    sda     W 2000       4096    0.001    0.005\n\
            0.002000    Web Content    9      sdb     R 16         512     0.500    1.000\n\
            0.002100    kworker        9      sda     R 0          0       0.000    1.000\n";
        let requests = read_text(None, text).unwrap();
        assert_eq!(requests.len(), 2);
        let first = Request {
            start: Nanos(1000),
            finish: Nanos(6000),
            ..Request::new(Nanos(0), Op::Write, Lba(2000), 8)
        };
        assert_eq!(requests[0], first);
        assert_eq!((requests[1].device, requests[1].start.0 - requests[1].arrival.0), (1, 500_000));
    }

    #[test]
    fn processes_are_named_as_they_stand() {
        let text = "TIME(s)     COMM           PID    DISK    T SECTOR     BYTES  QUE(ms) LAT(ms)\n\
            0.000010    jbd2/sda1-8    123    sda     W 2000       4096    0.001    0.005\n\
            0.002000    Web  Content   9      sdb     R 16         512     0.500    1.000\n\
            0.002200    ?              -      sda     R 16         512     0.000    0.100\n";
        let (batch, names) = read_text_of_processes(text);
        assert_eq!(batch.iter().map(|io| io.pid).collect::<Vec<_>>(), [123, 9, Io::NO_PID]);
        let requests: Vec<Request> = batch.iter().map(|io| io.request).collect();
        assert_eq!(requests, read_text(None, text).unwrap());
        assert_eq!(names, BTreeMap::from([(9, "Web  Content".to_owned()), (123, "jbd2/sda1-8".to_owned())]));
    }
}
