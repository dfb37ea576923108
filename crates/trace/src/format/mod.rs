//! The trace formats: one file each, and one line in [`FORMATS`].
//!
//! A format has a `static` [`Format`] with its name, a description, a test whether the beginning of a file looks like it,
//! and a function that opens it. Adding a text format means writing what the fields of a line mean (`LineParser`);
//! lines, numbers, decompression, order and plausibility are dealt with elsewhere.

mod arrow_ipc;
pub(crate) mod biosnoop;
pub(crate) mod columns;
pub(crate) mod columns_io;
pub(crate) mod completions;
pub(crate) mod csv;
mod disksim_ascii;
mod disksim_batch;
mod disksim_validate;
mod doubt;
mod emcsymm;
mod fio_iolog;
mod fio_latency;
mod hfplayer;
mod io_decoder;
mod mqsim;
mod msr;
mod oracle_general;
mod parquet;
mod placing;
pub mod preset;
pub(crate) mod procmon;
mod spc;
mod srt;
mod ssdsim;
mod systor;
mod tencent;
mod vscsi;

pub use fio_iolog::IologUnit;
pub(crate) use io_decoder::IoDecoder;

use crate::gate::{Gate, Notes};
use crate::input::{Input, Sample};
use crate::{OpenOptions, Request, TraceError};

/// Every format headstack reads.
pub static FORMATS: &[&Format] = &[
    &srt::FORMAT,
    &disksim_ascii::FORMAT,
    &disksim_validate::FORMAT,
    &spc::FORMAT,
    &msr::FORMAT,
    &mqsim::FORMAT,
    &ssdsim::FORMAT,
    &systor::FORMAT,
    &tencent::FORMAT,
    &hfplayer::FORMAT,
    &vscsi::FORMAT,
    &oracle_general::FORMAT,
    &disksim_batch::FORMAT,
    &emcsymm::FORMAT,
    &fio_iolog::FORMAT,
    &fio_latency::FORMAT,
    &biosnoop::FORMAT,
    &procmon::FORMAT,
    &csv::FORMAT,
    &parquet::FORMAT,
    &arrow_ipc::FORMAT,
    &crate::event::open::BLKTRACE,
    &crate::event::open::BLKPARSE,
    &crate::event::open::FTRACE,
    &crate::event::open::LTTNG,
    &crate::tick::source::TEXT,
    &crate::tick::source::GATHERED,
];

/// A trace format.
pub struct Format {
    /// What `--format` calls it.
    pub name: &'static str,
    /// One line about it.
    pub about: &'static str,
    /// Whether the beginning of a file looks like it.
    pub(crate) sniff: fn(Sample<'_>) -> bool,
    /// Starts to read it.
    pub(crate) open: fn(Input, &OpenOptions) -> Opened,
}

/// A format at work, or why it cannot be.
pub(crate) type Opened = Result<Box<dyn Decoder>, TraceError>;

impl std::fmt::Debug for Format {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Format").field("name", &self.name).finish_non_exhaustive()
    }
}

/// A format at work on one file.
pub(crate) trait Decoder: Send {
    /// The size of the sectors in which addresses and lengths are counted.
    fn sector_bytes(&self) -> u32;

    /// Records that are no I/O, passed over so far.
    fn records_skipped(&self) -> u64 {
        0
    }

    /// What the decoder itself passed over because it made no sense.
    fn notes(&self) -> Notes {
        Notes::default()
    }

    /// Whether instants count from an epoch (1601, 1970) rather than from the start of the trace.
    fn absolute_clock(&self) -> bool {
        false
    }

    /// Puts a few thousand more requests into `batch` by way of `gate`; none at the end.
    fn decode(&mut self, batch: &mut Vec<Request>, gate: &mut Gate) -> Result<(), TraceError>;
}

/// The format called `name`.
///
/// # Errors
/// If there is none; the message lists those there are.
pub fn named(name: &str) -> Result<&'static Format, TraceError> {
    FORMATS.iter().copied().find(|format| format.name == name).ok_or_else(|| {
        TraceError::unusable(
            format!("there is no trace format `{name}`"),
            format!(
                "known formats: {}, {}; or a file of your own, NAME.toml",
                names(FORMATS),
                preset::names()
            ),
        )
    })
}

/// The formats the beginning of `input` looks like.
pub(crate) fn likely(input: &Input) -> Vec<&'static Format> {
    FORMATS.iter().copied().filter(|format| (format.sniff)(input.sample())).collect()
}

/// The one format `input` looks like.
pub(crate) fn detect(input: &Input) -> Result<&'static Format, TraceError> {
    let path = input.path().display();
    match likely(input)[..] {
        [one] => doubt::doubt(one, input).map_or(Ok(one), Err),
        [] if is_utf16(input.sample()) => Err(wide(input)),
        [] => Err(TraceError::unusable(
            format!("`{path}` does not begin like a trace of any known format"),
            format!(
                "{}name its format with --format ({}, {})",
                table_words(input.sample()),
                names(FORMATS),
                preset::names()
            ),
        )),
        ref several => Err(TraceError::unusable(
            format!("`{path}` could be a trace of more than one format: {}", names(several)),
            "choose one with --format".into(),
        )),
    }
}

/// The table whose columns the user named.
pub(crate) fn table(input: &Input) -> Result<&'static Format, TraceError> {
    if is_utf16(input.sample()) { Err(wide(input)) } else { named("csv") }
}

fn wide(input: &Input) -> TraceError {
    TraceError::unusable(
        format!("`{}` is text in UTF-16", input.path().display()),
        "make UTF-8 of it: `iconv -f UTF-16 -t UTF-8`, or `Out-File -Encoding utf8` in PowerShell".into(),
    )
}

fn is_utf16(sample: Sample<'_>) -> bool {
    [&b"\xff\xfe"[..], b"\xfe\xff"].iter().any(|mark| sample.bytes.starts_with(mark))
}

/// What to do with a table that no format knows.
fn table_words(sample: Sample<'_>) -> String {
    const FORM: &str = "--columns FIELD:COLUMN[:UNIT],… (time:0:us,op:2,offset:3:bytes,size:4)";
    let cells = sample.lines().next().map(csv::cells_of).unwrap_or_default();
    if cells.len() < csv::REQUIRED.len() {
        return format!("say what the columns of a table hold with {FORM}; or ");
    }
    format!(
        "if it is a table of {} columns ({:.120}), say what they hold with {FORM}; or ",
        cells.len(),
        cells.join(", ")
    )
}

/// Names in a row.
pub(crate) fn names(formats: &[&Format]) -> String {
    formats.iter().map(|format| format.name).collect::<Vec<_>>().join(", ")
}
