//! The formats of others, which count in sectors of 512 bytes; SRT says how large its are.

use std::collections::BTreeMap;
use std::path::Path;

use headstack_units::{Lba, Nanos};

use super::completed::{self, Completed};
use super::records::{RECORD_FORMATS, Records, Refusal, SRT, srt_header};
use super::steps::{self, Steps};
use super::{Output, WrittenIos, for_each_batch, for_each_io};
use crate::{Io, IoSource, Kind, Request, RequestSource, TraceError};

/// The sectors of all formats but one, bytes.
const SECTOR: u32 = 512;

/// Names of processes by their number.
pub(super) type Processes = BTreeMap<u32, String>;

/// How a format turns I/Os into bytes.
pub(super) trait Form {
    /// Takes an I/O, the `number`th from 0; appends what can be written by now. An error says which it is of.
    fn push(&mut self, out: &mut Vec<u8>, number: u64, io: &Io) -> Result<(), (u64, Refusal)>;

    /// Appends what is left.
    fn finish(&mut self, out: &mut Vec<u8>) -> Result<(), (u64, Refusal)>;
}

/// Whether a format names processes.
pub(super) fn names_processes(name: &str) -> bool {
    name == completed::BIOSNOOP || holds_commands(name)
}

/// Whether a format holds flushes and discards, and more instants than those of a request.
fn holds_commands(name: &str) -> bool {
    steps::NAMES.contains(&name) && !name.starts_with("tick")
}

/// A file of one of these formats being written.
struct Writing {
    file: Output,
    form: Box<dyn Form>,
    name: &'static str,
    /// Bytes to a sector: of the trace, and of the format.
    sectors: (u32, u32),
    out: Vec<u8>,
    number: u64,
}

impl Writing {
    fn create(
        path: &Path,
        name: &'static str,
        sector_bytes: u32,
        processes: Processes,
    ) -> Result<Self, TraceError> {
        let mut file = Output::create(path)?;
        let own = if name == "srt" { sector_bytes } else { SECTOR };
        let (form, header): (Box<dyn Form>, String) = if name == "srt" {
            (Box::new(Records::new(&SRT, sector_bytes)), srt_header(sector_bytes))
        } else if let Some(format) = RECORD_FORMATS.iter().find(|format| format.name == name) {
            (Box::new(Records::new(format, SECTOR)), format.header.into())
        } else if completed::NAMES.contains(&name) {
            (Box::new(Completed::new(name, processes)), completed::header(name).into())
        } else {
            (Box::new(Steps::new(name, processes)), String::new())
        };
        file.write(header.as_bytes())?;
        Ok(Self { file, form, name, sectors: (sector_bytes, own), out: Vec::new(), number: 0 })
    }

    fn refused(&self, (number, reason): (u64, Refusal)) -> TraceError {
        TraceError::unusable(
            format!("request {} cannot be written as {}: {reason}", number + 1, self.name),
            "parquet, csv and arrow keep everything a request has".into(),
        )
    }

    fn push(&mut self, io: &Io) -> Result<(), TraceError> {
        let (from, to) = self.sectors;
        let request = in_sectors(&io.request, from, to);
        let pushed = request
            .map_err(|reason| (self.number, reason))
            .and_then(|request| self.form.push(&mut self.out, self.number, &Io { request, ..*io }));
        self.number += 1;
        pushed.map_err(|refusal| self.refused(refusal))
    }

    /// Puts what was written so far into the file.
    fn flush(&mut self) -> Result<(), TraceError> {
        self.file.write(&self.out)?;
        self.out.clear();
        Ok(())
    }

    fn finish(mut self) -> Result<(), TraceError> {
        let finished = self.form.finish(&mut self.out);
        finished.map_err(|refusal| self.refused(refusal))?;
        self.flush()?;
        self.file.commit()
    }
}

/// Writes all of `source`; the number of requests.
pub(super) fn write(
    source: &mut dyn RequestSource,
    sector_bytes: u32,
    path: &Path,
    name: &'static str,
) -> Result<u64, TraceError> {
    let mut writing = Writing::create(path, name, sector_bytes, Processes::new())?;
    let count = for_each_batch(source, |batch| {
        batch.iter().try_for_each(|request| writing.push(&Io::new(*request)))?;
        writing.flush()
    })?;
    writing.finish()?;
    Ok(count)
}

/// The same of I/Os, in a format that names processes; what it does not hold is counted.
pub(super) fn write_ios(
    source: &mut dyn IoSource,
    processes: &Processes,
    path: &Path,
    name: &'static str,
) -> Result<WrittenIos, TraceError> {
    // Lines are words: what is no part of one would end it.
    let is_unfit = |letter: char| letter.is_control() || name == "lttng" && matches!(letter, '"' | '\\');
    let fit = |name: &String| name.replace(is_unfit, "?");
    let names_changed = processes.values().filter(|name| name.contains(is_unfit)).count() as u64;
    let processes = processes.iter().map(|(pid, name)| (*pid, fit(name))).collect();
    let mut writing = Writing::create(path, name, source.sector_bytes(), processes)?;
    let holds_commands = holds_commands(name);
    let written = for_each_io(source, |batch, written| {
        for io in batch {
            let is_held = match io.kind {
                Kind::Data => true,
                Kind::Flush => holds_commands,
                Kind::Discard => holds_commands && io.request.sectors > 0,
                Kind::Other => false,
            };
            if !is_held {
                written.left_out += 1;
                continue;
            }
            writing.push(io)?;
            written.count(io);
            written.merges_left_out += u64::from(io.merges);
            let has_instants = io.got != Nanos::MAX || io.inserted != Nanos::MAX;
            written.instants_left_out += u64::from(has_instants && !holds_commands);
        }
        writing.flush()
    })?;
    writing.finish()?;
    Ok(WrittenIos { names_changed, ..written })
}

/// The request counted in sectors of `to` bytes instead of `from`.
fn in_sectors(request: &Request, from: u32, to: u32) -> Result<Request, Refusal> {
    let (far, large) = ("its byte address reaches beyond 64 bits", "it is larger than 4 GiB");
    let apart = "it does not begin and end at a multiple of 512 bytes, the sectors of this format";
    let (from, to) = (u64::from(from), u64::from(to));
    let (offset, bytes) = (request.lba.0.checked_mul(from).ok_or(far)?, u64::from(request.sectors) * from);
    if !offset.is_multiple_of(to) || !bytes.is_multiple_of(to) {
        return Err(apart);
    }
    let sectors = u32::try_from(bytes).map_err(|_| large)? / to as u32;
    Ok(Request { lba: Lba(offset / to), sectors, ..*request })
}
