//! The kernel's block tracepoints as text: tracefs' `trace`, `trace-cmd report`, `perf script`, and bpftrace.
//!
//! What the tools write before the name of the event differs; what follows it is the kernel's:
//!
//! ```text
//! dd-12786 [000] ..... 529.371178: block_rq_issue: 7,0 RS 4096 () 0 + 8 be,0,4 [dd]     tracefs, trace-cmd
//! dd 12786 [000]   529.371178: block:block_rq_issue: 7,0 RS 4096 () 0 + 8 [dd]            perf script
//! 529371178000 block_rq_issue: 7,0 RS 4096 () 0 + 8 [dd]                                  bpftrace, nanoseconds
//! ```
//!
//! A bpftrace program prints what its author likes; the last line is what ours prints (see the guide). The priority (since
//! Linux 6.10) may be there or not.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use headstack_units::Nanos;
use memchr::memmem::Finder;

use super::lines::{EventLineParser, Line};
use super::{Action, Event, Marks, blkparse};
use crate::number::{self, Problem};
use crate::process_names::ProcessNames;
use crate::text::Fields;

#[derive(Default)]
pub(crate) struct Parser {
    processes: ProcessNames,
    /// Devices that have requests, of which completions of their parts say nothing new.
    with_requests: BTreeSet<u32>,
}

impl EventLineParser for Parser {
    fn parse(&mut self, line: &[u8]) -> Result<Line, Problem> {
        let Some((at, name_end)) = event_name(line)? else { return other(line) };
        let name = &line[at + b"block_".len()..name_end];
        let Some((action, form)) = meaning(name) else { return Ok(Line::Nothing) };
        let (pid, cpu, time) = before(line[..at].strip_suffix(b"block:").unwrap_or(&line[..at]))?;
        let mut event =
            Event { time, sector: 0, bytes: 0, pid, device: 0, cpu, action, marks: Marks::default() };
        let rest = line[name_end + 1..].trim_ascii();
        if form != Form::Plug {
            self.after(rest, form, &mut event)?;
        }
        match form {
            Form::Request => {
                self.with_requests.insert(event.device);
            }
            Form::BioComplete if self.with_requests.contains(&event.device) => return Ok(Line::Nothing),
            _ => {}
        }
        Ok(Line::Event(event))
    }

    fn processes(&self) -> &ProcessNames {
        &self.processes
    }
}

/// How names of block events begin. To make it ready costs more than to look through a line.
static NAME: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"block_"));

/// Where the name of a block event begins and ends: a word of its own behind a blank, up to a colon. A process may be
/// called `block_…` as well, which is neither.
#[inline]
fn event_name(line: &[u8]) -> Result<Option<(usize, usize)>, Problem> {
    let mut from = 0;
    let mut unended = false;
    while let Some(found) = NAME.find(&line[from..]) {
        let at = from + found;
        let word = line[at..].iter().position(|byte| byte.is_ascii_whitespace() || *byte == b':');
        let before = &line[..at];
        let own = before.last().is_none_or(u8::is_ascii_whitespace) || before.ends_with(b" block:");
        match word.map(|end| at + end) {
            Some(end) if own && line[end] == b':' => return Ok(Some((at, end))),
            _ => unended |= own,
        }
        from = at + b"block_".len();
    }
    if unended && memchr::memchr(b':', line).is_none() { Err(unlike(line)) } else { Ok(None) }
}

/// Whether the stamps of the first lines count something else than seconds or nanoseconds: an event of tracefs or
/// trace-cmd, with its processor in brackets, has a decimal point in its time unless the clock was a counter.
pub(super) fn counts_cycles(sample: crate::input::Sample<'_>) -> bool {
    sample.lines().any(|line| {
        let Ok(Some((at, _))) = event_name(line) else { return false };
        let front = line[..at].strip_suffix(b"block:").unwrap_or(&line[..at]).trim_ascii();
        let stamp = front.rsplit(u8::is_ascii_whitespace).next().unwrap_or_default();
        let stamp = stamp.strip_suffix(b":").unwrap_or(stamp);
        front.contains(&b'[') && !stamp.is_empty() && stamp.iter().all(u8::is_ascii_digit)
    })
}

/// What an event is about.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Request,
    Bio,
    BioComplete,
    Plug,
}

/// What the tracepoint `block_NAME` tells, and of what.
#[inline]
pub(super) fn meaning(name: &[u8]) -> Option<(Action, Form)> {
    Some(match name {
        b"rq_issue" => (Action::Issue, Form::Request),
        b"rq_complete" => (Action::Complete, Form::Request),
        b"rq_insert" => (Action::Insert, Form::Request),
        b"rq_requeue" => (Action::Requeue, Form::Request),
        b"bio_queue" => (Action::Queue, Form::Bio),
        b"bio_backmerge" => (Action::BackMerge, Form::Bio),
        b"bio_frontmerge" => (Action::FrontMerge, Form::Bio),
        b"bio_bounce" => (Action::Bounce, Form::Bio),
        b"bio_complete" => (Action::Complete, Form::BioComplete),
        b"bio_remap" => (Action::Remap, Form::Bio),
        b"getrq" => (Action::GetRequest, Form::Bio),
        b"sleeprq" => (Action::Sleep, Form::Bio),
        b"split" => (Action::Split, Form::Bio),
        b"plug" => (Action::Plug, Form::Plug),
        b"unplug" => (Action::Unplug, Form::Plug),
        _ => return None,
    })
}

/// Process, processor and time, from what stands before the event's name.
#[inline]
fn before(text: &[u8]) -> Result<(u32, u16, Nanos), Problem> {
    let text = text.trim_ascii();
    let start = text.iter().rposition(u8::is_ascii_whitespace).map_or(0, |blank| blank + 1);
    let stamp = &text[start..];
    let stamp = stamp.strip_suffix(b":").unwrap_or(stamp);
    // A plain integer counts nanoseconds, a decimal number seconds.
    let decimals = if stamp.contains(&b'.') { 9 } else { 0 };
    let time = Nanos(number::fixed(stamp, decimals, "time")?);
    let front = &text[..start];
    let Some(open) = memchr::memrchr(b'[', front) else { return Ok((crate::Io::NO_PID, 0, time)) };
    let close = memchr::memchr(b']', &front[open..]).map(|close| open + close);
    let cpu = close.map(|close| &front[open + 1..close]).and_then(|cpu| number::integer32(cpu, "cpu").ok());
    let process = front[..open].trim_ascii();
    // trace-cmd and tracefs may put the thread group in parentheses between.
    let process = match process.last() {
        Some(b')') => memchr::memrchr(b'(', process).map_or(process, |open| process[..open].trim_ascii()),
        _ => process,
    };
    let pid =
        process.iter().rposition(|byte| !byte.is_ascii_digit()).map_or(process, |at| &process[at + 1..]);
    let pid = number::integer32(pid, "pid").unwrap_or(crate::Io::NO_PID);
    Ok((pid, cpu.unwrap_or(0) as u16, time))
}

impl Parser {
    /// Device, marks, place and size, from what follows the event's name.
    #[inline]
    fn after(&mut self, rest: &[u8], form: Form, event: &mut Event) -> Result<(), Problem> {
        let mut fields = Fields::blanks(rest);
        event.device = blkparse::device(fields.word("device")?)?;
        let marks = fields.word("marks")?;
        event.marks = Marks::of_letters(marks).ok_or_else(|| Problem::field("marks", marks, "unknown"))?;
        let tail = fields.rest().unwrap_or_default();
        // A request may have its bytes and a command in parentheses before its place.
        let place = match memchr::memchr(b'(', tail) {
            Some(open) if tail[..open].iter().all(|byte| byte.is_ascii_digit() || *byte == b' ') => {
                let close = memchr::memchr(b')', &tail[open..]);
                let close = close.ok_or_else(|| Problem::field("command", tail, "no `)` follows"))?;
                if close > 1 {
                    event.marks = event.marks.with(Marks::PACKET);
                }
                tail[open + close + 1..].trim_ascii()
            }
            _ => tail,
        };
        let mut fields = Fields::blanks(place);
        event.sector = fields.integer("sector")?;
        match fields.word("+ or /")? {
            b"+" => event.bytes = blkparse::bytes_of(fields.integer32("sectors")?)?,
            b"/" => {
                let first = fields.integer("second sector")?.saturating_sub(event.sector);
                event.bytes = blkparse::bytes_of(u32::try_from(first).unwrap_or(u32::MAX))?;
            }
            other => return Err(Problem::field("place", other, "expected `sector + sectors`")),
        }
        if form == Form::Request {
            event.mark_command();
        }
        // What has no place, such as a flush: the kernel writes one that no device has.
        if event.sector == u64::MAX {
            event.sector = 0;
        }
        if event.action != Action::Complete && event.pid != crate::Io::NO_PID {
            let name = fields.rest().and_then(|rest| memchr::memchr(b'[', rest).map(|at| &rest[at..]));
            if let Some(name) = name.and_then(blkparse::bracketed) {
                self.processes.learn(event.pid, || name);
            }
        }
        Ok(())
    }
}

/// A line without a block event: another event, a header, a loss, or nonsense.
#[cold]
fn other(line: &[u8]) -> Result<Line, Problem> {
    if let Some(at) = memchr::memmem::find(line, b"[LOST ") {
        let count = line[at + 6..].split(|byte| !byte.is_ascii_digit()).next().unwrap_or_default();
        return number::integer(count, "lost events").map(Line::Lost);
    }
    // bpftrace's.
    if let Some(count) = line.strip_prefix(b"Lost ").and_then(|rest| rest.strip_suffix(b" events")) {
        return number::integer(count, "lost events").map(Line::Lost);
    }
    if let Some(at) = memchr::memmem::find(line, b"EVENTS DROPPED") {
        // trace-cmd knows how many, or only that there were some.
        let count = line[..at].trim_ascii_end().rsplit(|byte| !byte.is_ascii_digit()).next();
        return Ok(Line::Lost(count.and_then(|count| number::integer(count, "").ok()).unwrap_or(1)));
    }
    let header = [&b"cpus="[..], b"CPU ", b"version", b"Attaching", b"tracer:"]
        .iter()
        .any(|word| line.starts_with(word));
    let event = memchr::memmem::find(line, b": ").is_some() && line.contains(&b'[');
    if header || event { Ok(Line::Nothing) } else { Err(unlike(line)) }
}

#[cold]
fn unlike(line: &[u8]) -> Problem {
    Problem::field(
        "line",
        line,
        "expected a tracepoint such as `dd-7 [000] 1.5: block_rq_issue: 8,0 R 4096 () 0 + 8 [dd]`",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::blkparse::tests::event;
    use crate::event::device_of;

    #[test]
    fn four_tools_one_event() {
        let lines = [
            "dd-12786   [001] ..... 529.371178: block_rq_issue: 7,0 RS 4096 () 0 + 8 be,0,4 [dd]",
            "     dd-12786 [001]   529.371178: block_rq_issue:       7,0 RS 4096 () 0 + 8 [dd]",
            "dd 12786 [001]   529.371178: block:block_rq_issue: 7,0 RS 4096 () 0 + 8 [dd]",
            "dd-12786 (12786) [001] d..2. 529.371178: block_rq_issue: 7,0 RS 4096 () 0 + 8 none,0,0 [dd]",
        ];
        let expected = Event {
            time: Nanos(529_371_178_000),
            sector: 0,
            bytes: 4096,
            pid: 12786,
            device: device_of(7, 0),
            cpu: 1,
            action: Action::Issue,
            marks: Marks::READ.with(Marks::SYNC),
        };
        for line in lines {
            assert_eq!(event(&mut Parser::default(), line), expected, "{line}");
        }
        let bpftrace = "529371178000 block_rq_issue: 7,0 RS 4096 () 0 + 8 [dd]";
        let expected = Event { pid: crate::Io::NO_PID, cpu: 0, ..expected };
        assert_eq!(event(&mut Parser::default(), bpftrace), expected);
    }

    #[test]
    fn a_process_may_be_called_like_an_event() {
        let lines = [
            "block_dump-7 [001] ..... 5.000000: block_rq_issue: 7,0 R 4096 () 8 + 8 [block_dump]",
            "block_rq_issue: 7 [001] ..... 5.000000: block_rq_issue: 7,0 R 4096 () 8 + 8 [x]",
        ];
        let read = event(&mut Parser::default(), lines[0]);
        assert_eq!((read.action, read.pid, read.time), (Action::Issue, 7, Nanos(5_000_000_000)));
        assert!(Parser::default().parse(lines[1].as_bytes()).is_err());
    }

    #[test]
    fn stamps_that_count_cycles_are_refused() {
        let cycles = "dd-7 [001] ..... 1234567890123: block_rq_issue: 7,0 R 4096 () 8 + 8 [dd]\n";
        let seconds = "dd-7 [001] ..... 1234.567890: block_rq_issue: 7,0 R 4096 () 8 + 8 [dd]\n";
        let bpftrace = "529371178000 block_rq_issue: 7,0 RS 4096 () 0 + 8 [dd]\n";
        let open = |text: &str| {
            let file = crate::testing::text_file(text);
            let options = crate::OpenOptions::default();
            (
                crate::open(file.path(), &options).err().map(|error| error.to_string()),
                crate::event::open_ios(file.path(), &options).err().map(|error| error.to_string()),
            )
        };
        assert_eq!((open(seconds), open(bpftrace)), ((None, None), (None, None)));
        let (requests, ios) = open(cycles);
        assert!(requests.unwrap().contains("count of a clock"));
        assert!(ios.unwrap().contains("count of a clock"));
    }

    #[test]
    fn other_events_flushes_and_losses() {
        let mut parser = Parser::default();
        let complete = "<idle>-0 [003] ..s1. 529.4: block_rq_complete: 254,0 FF () 18446744073709551615 + 0 none,0,0 [0]";
        let flush = event(&mut parser, complete);
        assert_eq!((flush.action, flush.sector, flush.bytes, flush.pid), (Action::Complete, 0, 0, 0));
        let nothing = [
            "dd-1 [000] ..... 5.0: sched_switch: prev_comm=dd",
            "dd-1 [000] ..... 5.0: block_dirty_buffer: 7,0 sector=1 size=4096",
            "a-1 [000] d..1. 5.0: block_bio_complete: 254,0 W 8 + 8 [0]",
            "cpus=2",
        ];
        for line in nothing {
            assert!(matches!(parser.parse(line.as_bytes()), Ok(Line::Nothing)), "{line}");
        }
        // smartctl's commands, as kernels before and since 4.19 tell of them, have no place.
        for (line, bytes) in [
            ("a-1 [000] d..1. 5.0: block_rq_issue: 8,0 R 512 (85 08 2e) 0 + 0 [smartctl]", 0),
            ("a-1 [000] d..1. 5.0: block_rq_complete: 8,0 R (85 08 2e) 18446744073709551615 + 1 [0]", 512),
            ("a-1 [000] d..1. 5.0: block_rq_issue: 8,0 N 512 () 0 + 0 none,0,0 [smartctl]", 0),
            ("a-1 [000] d..1. 5.0: block_rq_complete: 8,0 N () 18446744073709551615 + 1 none,0,0 [0]", 512),
        ] {
            let command = event(&mut parser, line);
            assert!(command.marks.has(Marks::PACKET), "{line}");
            assert_eq!((command.sector, command.bytes), (0, bytes), "{line}");
        }
        assert!(!flush.marks.has(Marks::PACKET));
        assert!(matches!(parser.parse(b"CPU:0 [LOST 17 EVENTS]"), Ok(Line::Lost(17))));
        assert!(matches!(parser.parse(b"Lost 512 events"), Ok(Line::Lost(512))));
        assert!(matches!(parser.parse(b"CPU:1 [23 EVENTS DROPPED]"), Ok(Line::Lost(23))));
        assert!(matches!(parser.parse(b"CPU:1 [EVENTS DROPPED]"), Ok(Line::Lost(1))));
        // A device without requests (device mapper) completes its parts.
        let bio = event(&mut parser, "a-1 [000] d..1. 5.0: block_bio_complete: 253,0 W 8 + 8 [0]");
        assert_eq!((bio.action, bio.bytes), (Action::Complete, 4096));
        for line in [
            "block_rq_issue",
            "nonsense",
            "x block_rq_issue: 7,0 R 1 () 0 + 8",
            "1.5: block_rq_issue: 7,0 R 1 (0 + 8",
        ] {
            assert!(parser.parse(line.as_bytes()).is_err(), "{line}");
        }
    }
}
