//! LTTng's block tracepoints as text of babeltrace: its defaults, or with `--clock-seconds` or `--clock-date`.
//!
//! ```text
//! [18:52:27.123456789] (+0.000012345) host block_rq_issue: { cpu_id = 1 }, { dev = 8388608, sector = 2048,
//!   nr_sector = 8, bytes = 4096, tid = 17, rwbs = 36, comm = "dd", cmd = [ ] }                       one line
//! [123456.123456789] (+0.000012345) host block_rq_complete: { cpu_id = 0 }, { dev = 8388608, … }     --clock-seconds
//! ```
//!
//! Contexts (`procname`, `pid`) may stand in braces of their own between. `dev` is the kernel's number, `rwbs` a word of
//! bits where the kernel writes letters. Times of day that fall back by more than half a day are those of the next day.

use std::collections::BTreeSet;

use headstack_units::Nanos;

use super::ftrace::{Form, meaning};
use super::lines::{EventLineParser, Line};
use super::{Action, Event, Marks, blkparse};
use crate::number::{self, Problem};
use crate::process_names::ProcessNames;

const DAY_NS: u64 = 86_400_000_000_000;

#[derive(Default)]
pub(crate) struct Parser {
    processes: ProcessNames,
    /// Devices that have requests, of which completions of their parts say nothing new.
    with_requests: BTreeSet<u64>,
    /// The last time of day, and the days before it.
    last_of_day: u64,
    days: u64,
}

impl EventLineParser for Parser {
    fn parse(&mut self, line: &[u8]) -> Result<Line, Problem> {
        if let Some(lost) = lost(line) {
            return lost.map(Line::Lost);
        }
        let (stamp, rest) = stamped(line)?;
        let Some((name, payload)) = event(rest) else { return Ok(Line::Nothing) };
        let Some((action, form)) = meaning(name) else { return Ok(Line::Nothing) };
        let time = self.time(stamp)?;
        let event = self.event(time, action, form, &Payload::of(payload)?)?;
        Ok(event.map_or(Line::Nothing, Line::Event))
    }

    fn processes(&self) -> &ProcessNames {
        &self.processes
    }
}

impl Parser {
    /// The time of a stamp: seconds, or the time of day behind a date or none.
    fn time(&mut self, stamp: &[u8]) -> Result<Nanos, Problem> {
        let clock = stamp.rsplit(|byte| *byte == b' ').next().unwrap_or_default();
        let mut parts = clock.splitn(3, |byte| *byte == b':');
        let (Some(hours), Some(minutes), Some(seconds)) = (parts.next(), parts.next(), parts.next()) else {
            if !stamp.contains(&b'.') {
                return Err(Problem::field(
                    "time",
                    stamp,
                    "a count of cycles; write it without --clock-cycles",
                ));
            }
            return number::fixed(stamp, 9, "time").map(Nanos);
        };
        let minutes = 60 * u64::from(number::integer32(hours, "hours")?)
            + u64::from(number::integer32(minutes, "minutes")?);
        let of_day = minutes.checked_mul(60_000_000_000).and_then(|whole| {
            let rest = number::fixed(seconds, 9, "seconds").ok()?;
            whole.checked_add(rest).filter(|time| *time < DAY_NS)
        });
        let of_day = of_day.ok_or_else(|| Problem::field("time", stamp, "no time of day"))?;
        self.days += u64::from(of_day + DAY_NS / 2 < self.last_of_day);
        self.last_of_day = of_day;
        Ok(Nanos(self.days.saturating_mul(DAY_NS).saturating_add(of_day)))
    }

    fn event(
        &mut self,
        time: Nanos,
        action: Action,
        form: Form,
        payload: &Payload<'_>,
    ) -> Result<Option<Event>, Problem> {
        let pid = payload.optional32("tid")?.or(payload.optional32("pid")?).unwrap_or(crate::Io::NO_PID);
        let cpu = payload.optional32("cpu_id")?.unwrap_or(0) as u16;
        let mut event =
            Event { time, sector: 0, bytes: 0, pid, device: 0, cpu, action, marks: Marks::default() };
        if form == Form::Plug {
            return Ok(Some(event));
        }
        let device = payload.integer("dev")?;
        event.device = u32::try_from(device)
            .map_err(|_| Problem::field("dev", device.to_string().as_bytes(), "no device number"))?;
        match form {
            Form::Request => {
                self.with_requests.insert(device);
            }
            Form::BioComplete if self.with_requests.contains(&device) => return Ok(None),
            _ => {}
        }
        let bits = payload.word("rwbs")?;
        event.marks = number::integer(bits, "rwbs")
            .ok()
            .and_then(Marks::of_lttng)
            .ok_or_else(|| Problem::field("rwbs", bits, "expected the bits 0 to 10"))?;
        event.sector = payload.integer("sector")?;
        let sectors = if let Some(sectors) = payload.find("nr_sector") {
            number::integer32(sectors, "nr_sector")?
        } else {
            // A split names where the second part begins.
            let first = payload.integer("new_sector")?.saturating_sub(event.sector);
            u32::try_from(first).unwrap_or(u32::MAX)
        };
        event.bytes = blkparse::bytes_of(sectors)?;
        if form == Form::Request {
            event.mark_command();
        }
        // What has no place, such as a flush: the kernel writes one that no device has.
        if event.sector == u64::MAX {
            event.sector = 0;
        }
        if action != Action::Complete
            && pid != crate::Io::NO_PID
            && let Some(name) = payload.find("comm")
        {
            self.processes.learn(pid, || name);
        }
        Ok(Some(event))
    }
}

/// The stamp in brackets, and what follows it.
fn stamped(line: &[u8]) -> Result<(&[u8], &[u8]), Problem> {
    let close = line.first().filter(|byte| **byte == b'[').and_then(|_| memchr::memchr(b']', line));
    let close =
        close.ok_or_else(|| Problem::field("line", line, "expected `[TIME] (+DELTA) host event: { … }`"))?;
    Ok((&line[1..close], &line[close + 1..]))
}

/// The name of a block event without `block_`, and its fields; `None` for other events.
fn event(rest: &[u8]) -> Option<(&[u8], &[u8])> {
    let colon = memchr::memmem::find(rest, b": {")?;
    let word = rest[..colon].rsplit(u8::is_ascii_whitespace).next()?;
    Some((word.strip_prefix(b"block_")?, &rest[colon + 2..]))
}

/// babeltrace's line on events that the tracer dropped.
fn lost(line: &[u8]) -> Option<Result<u64, Problem>> {
    let at = memchr::memmem::find(line, b" discarded ")?;
    let count = line[at + b" discarded ".len()..].split(|byte| !byte.is_ascii_digit()).next()?;
    memchr::memmem::find(line, b" events between ")?;
    Some(number::integer(count, "discarded events"))
}

/// The fields of an event, in braces: `name = value`.
struct Payload<'a>(Vec<(&'a [u8], &'a [u8])>);

impl<'a> Payload<'a> {
    fn of(text: &'a [u8]) -> Result<Self, Problem> {
        let mut fields = Vec::with_capacity(12);
        let mut rest = text;
        while let Some(equals) = memchr::memmem::find(rest, b" = ") {
            let name = rest[..equals].rsplit(|byte| b" {,".contains(byte)).next().unwrap_or_default();
            let value = &rest[equals + 3..];
            let (value, used) = match value.first() {
                Some(b'"') => quoted(value)?,
                Some(b'[') => (&b""[..], end_of(value, b"]", "a list without `]`")? + 1),
                _ => {
                    let end = end_of(value, b",}", "the line is cut off")?;
                    (value[..end].trim_ascii_end(), end)
                }
            };
            fields.push((name, value));
            rest = &rest[equals + 3 + used..];
        }
        Ok(Self(fields))
    }

    fn find(&self, name: &str) -> Option<&'a [u8]> {
        self.0.iter().find(|(own, _)| *own == name.as_bytes()).map(|(_, value)| *value)
    }

    fn word(&self, name: &str) -> Result<&'a [u8], Problem> {
        self.find(name).ok_or_else(|| Problem(format!("`{name}` is missing")))
    }

    fn integer(&self, name: &str) -> Result<u64, Problem> {
        number::integer(self.word(name)?, name)
    }

    fn optional32(&self, name: &str) -> Result<Option<u32>, Problem> {
        self.find(name).map(|value| number::integer32(value, name)).transpose()
    }
}

/// The text in quotation marks at the start of `value`, and how long it is with them.
fn quoted(value: &[u8]) -> Result<(&[u8], usize), Problem> {
    let mut escaped = false;
    for (at, byte) in value.iter().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return Ok((&value[1..at], at + 1)),
            _ => {}
        }
    }
    Err(Problem::field("text", value, "no quotation mark ends it"))
}

fn end_of(value: &[u8], ends: &[u8], complaint: &str) -> Result<usize, Problem> {
    let end = value.iter().position(|byte| ends.contains(byte));
    end.ok_or_else(|| Problem::field("field", value, complaint))
}

#[cfg(test)]
mod tests {
    use super::super::blkparse::tests::event;
    use super::super::device_of;
    use super::*;

    const ISSUE: &str = "[18:52:27.123456789] (+0.000012345) bench block_rq_issue: { cpu_id = 1 }, { dev = 8388624, \
        sector = 2048, nr_sector = 8, bytes = 4096, tid = 17, rwbs = 36, comm = \"dd, } = x\", cmd_len = 0, cmd = [ ] }";

    #[test]
    fn an_event_is_read_with_all_it_says() {
        let expected = Event {
            time: Nanos(67_947_123_456_789),
            sector: 2048,
            bytes: 4096,
            pid: 17,
            device: device_of(8, 16),
            cpu: 1,
            action: Action::Issue,
            marks: Marks::READ.with(Marks::SYNC),
        };
        let mut parser = Parser::default();
        assert_eq!(event(&mut parser, ISSUE), expected);
        assert_eq!(parser.processes().all()[&17], "dd, } = x");
        let seconds = ISSUE.replace("18:52:27.123456789", "67947.123456789");
        assert_eq!(event(&mut Parser::default(), &seconds), expected);
        let dated = ISSUE.replace("[18", "[2026-01-31 18");
        assert_eq!(event(&mut Parser::default(), &dated), expected);
        let context = ISSUE.replace("{ cpu_id = 1 }", "{ cpu_id = 1 }, { procname = \"dd\", pid = 16 }");
        assert_eq!(event(&mut Parser::default(), &context), expected);
    }

    #[test]
    fn midnight_does_not_turn_time_back() {
        let mut parser = Parser::default();
        let mut at = |time: &str| event(&mut parser, &ISSUE.replace("18:52:27.123456789", time)).time.0;
        let before = at("23:59:59.900000000");
        assert_eq!(at("00:00:00.100000000") - before, 200_000_000);
        assert_eq!(at("00:00:00.050000000") - before, 150_000_000, "a little out of order, not another day");
    }

    #[test]
    fn flushes_splits_other_events_and_losses() {
        let mut parser = Parser::default();
        let flush =
            ISSUE.replace("sector = 2048, nr_sector = 8", "sector = 18446744073709551615, nr_sector = 0");
        let read = event(&mut parser, &flush.replace("rwbs = 36", "rwbs = 256"));
        assert_eq!((read.sector, read.bytes, read.marks), (0, 0, Marks::FLUSH));
        let split = "[1.5] (+?.?????????) bench block_split: { cpu_id = 0 }, { dev = 8388624, sector = 100, \
            new_sector = 108, rwbs = 1, tid = 3, comm = \"a\" }";
        let read = event(&mut parser, split);
        assert_eq!((read.action, read.bytes, read.time.0), (Action::Split, 4096, 1_500_000_000));
        let nothing =
            "[1.5] (+0.1) bench sched_switch: { cpu_id = 0 }, { prev_comm = \"block_rq_issue: {\" }";
        assert!(matches!(parser.parse(nothing.as_bytes()), Ok(Line::Nothing)));
        // Parts of a request complete, too: that says nothing new.
        let part = ISSUE.replace("rq_issue", "bio_complete");
        assert!(matches!(parser.parse(part.as_bytes()), Ok(Line::Nothing)));
        let lost =
            "[warning] Tracer discarded 23 events between [18:52:27.1] and [18:52:27.2] in trace UUID 1 …";
        assert!(matches!(parser.parse(lost.as_bytes()), Ok(Line::Lost(23))));
    }

    #[test]
    fn nonsense_is_named() {
        let wrong = [
            (ISSUE.replace("18:52:27.123456789", "1234567"), "count of cycles"),
            (ISSUE.replace("18:52:27", "99:52:27"), "no time of day"),
            (ISSUE.replace("rwbs = 36", "rwbs = 4096"), "bits 0 to 10"),
            (ISSUE.replace("rwbs = 36, ", ""), "`rwbs` is missing"),
            (ISSUE.replace("dev = 8388624", "dev = 99999999999"), "no device number"),
            (ISSUE.split("x\"").next().unwrap().to_owned(), "no quotation mark"),
            ("nonsense".to_owned(), "expected `[TIME]"),
        ];
        for (line, complaint) in wrong {
            let problem = Parser::default().parse(line.as_bytes()).err().unwrap().0;
            assert!(problem.contains(complaint), "{line}: {problem}");
        }
    }
}
