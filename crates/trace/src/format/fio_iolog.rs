//! fio's I/O logs (`--write_iolog`), versions 2 and 3.
//!
//! Version 2: `FILE ACTION [OFFSET LENGTH]`, and `FILE wait MICROSECONDS` between. Version 3: a stamp in front, and no
//! waits. The stamp's unit is not stated in the file: fio 3.33 writes microseconds, which is what is taken; older manuals
//! say milliseconds (`--iolog-unit ms`). Actions: read, write, trim (left out, as are sync and datasync), and add, open,
//! close of files. Files become devices, in the order of their appearance. Sectors of 512 bytes, rounded outwards.

use headstack_units::{Lba, Nanos};

use crate::format::{Decoder, Format};
use crate::gate::{Gate, Place};
use crate::input::Input;
use crate::number::{self, Problem};
use crate::text::{BATCH, Fields, Lines, sectors_of, trim};
use crate::{Op, OpenOptions, Request, TraceError};

pub(super) static FORMAT: Format = Format {
    name: "fio-iolog",
    about: "fio --write_iolog, versions 2 and 3 (stamps in us unless --iolog-unit ms)",
    sniff: |sample| sample.lines().next().is_some_and(|line| version(line).is_some()),
    open,
};

/// The unit of the stamps of a version 3 log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IologUnit {
    /// Microseconds, as fio 3.33 writes.
    #[default]
    Microseconds,
    /// Milliseconds, as older manuals say.
    Milliseconds,
}

fn version(line: &[u8]) -> Option<u8> {
    match line {
        b"fio version 2 iolog" => Some(2),
        b"fio version 3 iolog" => Some(3),
        _ => None,
    }
}

fn open(input: Input, options: &OpenOptions) -> Result<Box<dyn Decoder>, TraceError> {
    let path = input.path().clone();
    let mut lines = Lines::new(input.into_buffer());
    let version = lines.next()?.and_then(|(line, _)| version(trim(line)));
    let version = version.ok_or_else(|| {
        TraceError::unusable(
            format!(
                "`{}` does not begin with `fio version 2 iolog` or `fio version 3 iolog`",
                path.display()
            ),
            "version 1 has no times and cannot be used".into(),
        )
    })?;
    let decimals = match options.iolog_unit.unwrap_or_default() {
        IologUnit::Microseconds => 3,
        IologUnit::Milliseconds => 6,
    };
    if version == 2 && options.iolog_unit.is_some() {
        return Err(TraceError::unusable(
            format!("`{}` is an iolog of version 2, whose waits are in microseconds", path.display()),
            "leave --iolog-unit out".into(),
        ));
    }
    let sector_bytes = options.sector_bytes_or(512);
    Ok(Box::new(Log { lines, version, decimals, sector_bytes, now: 0, files: Vec::new(), skipped: 0 }))
}

struct Log {
    lines: Lines,
    version: u8,
    /// The power of ten that makes stamps nanoseconds.
    decimals: u32,
    sector_bytes: u32,
    now: u64,
    files: Vec<Vec<u8>>,
    skipped: u64,
}

impl Decoder for Log {
    fn sector_bytes(&self) -> u32 {
        self.sector_bytes
    }

    fn records_skipped(&self) -> u64 {
        self.skipped
    }

    fn decode(&mut self, batch: &mut Vec<Request>, gate: &mut Gate) -> Result<(), TraceError> {
        while batch.len() < BATCH {
            let Some((line, number)) = self.lines.next()? else { break };
            let line = trim(line);
            if line.is_empty() {
                continue;
            }
            let place = Place::Line(number);
            let Self { version, decimals, sector_bytes, now, files, .. } = self;
            match parse(line, *version, *decimals, *sector_bytes, now, files) {
                Ok(Some(request)) => gate.admit(batch, request, place)?,
                Ok(None) => self.skipped += 1,
                Err(problem) => gate.problem(place, problem)?,
            }
        }
        Ok(())
    }
}

fn parse(
    line: &[u8],
    version: u8,
    decimals: u32,
    sector_bytes: u32,
    now: &mut u64,
    files: &mut Vec<Vec<u8>>,
) -> Result<Option<Request>, Problem> {
    let mut fields = Fields::blanks(line);
    if version == 3 {
        *now = number::fixed(fields.word("stamp")?, decimals, "stamp")?;
    }
    let file = fields.word("file")?;
    let op = match fields.word("action")? {
        b"read" => Op::Read,
        b"write" => Op::Write,
        b"wait" if version == 2 => {
            let wait = number::fixed(fields.word("wait")?, 3, "wait")?;
            *now = now.checked_add(wait).ok_or_else(|| Problem("the waits add up to too much".into()))?;
            return Ok(None);
        }
        b"add" | b"open" | b"close" | b"sync" | b"datasync" | b"trim" => return Ok(None),
        other => {
            return Err(Problem::field(
                "action",
                other,
                "expected read, write, trim, sync, add, open, close",
            ));
        }
    };
    let (lba, sectors) = sectors_of(fields.integer("offset")?, fields.integer("length")?, sector_bytes)?;
    fields.end()?;
    let device = files.iter().position(|known| known == file).unwrap_or_else(|| {
        files.push(file.to_vec());
        files.len() - 1
    });
    Ok(Some(Request { device: device as u32, ..Request::new(Nanos(*now), op, Lba(lba), sectors) }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{read_all, read_text, text_file};

    #[test]
    fn version_3_has_stamps() {
        let text = "fio version 3 iolog\n23 /dev/a add\n131 /dev/a open\n136 /dev/a read 249856 4096\n\
            539 /dev/b write 512 1024\n540 /dev/b sync\n8314 /dev/a close\n";
        let requests = read_text(None, text).unwrap();
        let second = Request { device: 1, ..Request::new(Nanos(539_000), Op::Write, Lba(1), 2) };
        assert_eq!(requests, [Request::new(Nanos(136_000), Op::Read, Lba(488), 8), second]);
        let options = OpenOptions { iolog_unit: Some(IologUnit::Milliseconds), ..OpenOptions::default() };
        assert_eq!(read_all(text_file(text).path(), &options).unwrap()[1].arrival, Nanos(539_000_000));
    }

    #[test]
    fn version_2_has_waits() {
        let text = "fio version 2 iolog\n/dev/a add\n/dev/a open\n/dev/a write 0 4096\n/dev/a wait 100\n\
            /dev/a wait 50\n/dev/a read 4096 512\n";
        let requests = read_text(None, text).unwrap();
        assert_eq!(requests[1], Request::new(Nanos(150_000), Op::Read, Lba(8), 1));
        let error = read_text(None, &text.replace("wait 50", "nap 50")).unwrap_err().to_string();
        assert!(error.contains("line 6: `action` is `nap`"), "{error}");
        assert!(
            read_text(Some("fio-iolog"), "fio version 1 iolog\n")
                .unwrap_err()
                .to_string()
                .contains("does not begin")
        );
    }
}
