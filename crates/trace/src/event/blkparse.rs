//! blkparse's text as it comes without `-f`: `major,minor cpu number seconds pid action marks sector + sectors [process]`.
//!
//! The end of a line depends on the action: a split writes `sector / sector`, a remap adds where it came from, a
//! completion an error number, plugs and messages have no sector. The sums below the events are passed over.

use headstack_units::Nanos;

use super::lines::{EventLineParser, Line};
use super::numbers::RunningNumbers;
use super::{Action, Event, Marks, device_of};
use crate::number::{self, Problem};
use crate::process_names::ProcessNames;
use crate::text::Fields;

#[derive(Default)]
pub(crate) struct Parser {
    processes: ProcessNames,
    numbers: RunningNumbers,
    device: LastDevice,
}

/// The device of the last line as it was written, and as the kernel does: mostly the next is the same.
#[derive(Default)]
struct LastDevice {
    text: Vec<u8>,
    device: u32,
}

impl LastDevice {
    #[inline]
    fn of(&mut self, word: &[u8]) -> Result<u32, Problem> {
        if word != self.text {
            self.device = device(word)?;
            self.text.clear();
            self.text.extend_from_slice(word);
        }
        Ok(self.device)
    }
}

impl EventLineParser for Parser {
    fn parse(&mut self, line: &[u8]) -> Result<Line, Problem> {
        if !line[0].is_ascii_digit() {
            return if is_sum(line) { Ok(Line::Nothing) } else { Err(unlike(line)) };
        }
        let mut fields = Fields::blanks(line);
        let device = self.device.of(fields.word("device")?)?;
        let cpu = fields.integer32("cpu")? as u16;
        let number = fields.integer("number")?;
        let time = Nanos(fields.fixed("time", 9)?);
        let pid = fields.integer32("pid")?;
        let action = fields.word("action")?;
        let action = Action::of_letter(action).ok_or_else(|| Problem::field("action", action, "unknown"))?;
        let marks = fields.word("marks")?;
        let marks = Marks::of_letters(marks).ok_or_else(|| Problem::field("marks", marks, "unknown"))?;
        let mut event = Event { time, sector: 0, bytes: 0, pid, device, cpu, action, marks };
        if let Some(rest) = fields.rest() {
            self.tail(rest, &mut event)?;
        }
        self.numbers.follow(device, cpu, if action == Action::Message { 0 } else { number }, time);
        Ok(Line::Event(event))
    }

    fn numbers(&self) -> Option<&RunningNumbers> {
        Some(&self.numbers)
    }

    fn settle(&mut self, seen: u64) {
        self.numbers.settle(seen);
    }

    fn processes(&self) -> &ProcessNames {
        &self.processes
    }
}

impl Parser {
    /// What stands behind the marks.
    #[inline]
    fn tail(&mut self, rest: &[u8], event: &mut Event) -> Result<(), Problem> {
        if event.action == Action::Message {
            return Ok(());
        }
        let mut fields = Fields::blanks(rest);
        if rest[0].is_ascii_digit() {
            event.sector = fields.integer("sector")?;
            if let Some(&mark) = fields.rest().and_then(<[u8]>::first) {
                if mark == b'+' {
                    fields.word("+")?;
                    event.bytes = bytes_of(fields.integer32("sectors")?)?;
                } else if mark == b'/' && event.action == Action::Split {
                    fields.word("/")?;
                    let second = fields.integer("second sector")?;
                    let first = second.saturating_sub(event.sector);
                    event.bytes = bytes_of(u32::try_from(first).unwrap_or(u32::MAX))?;
                } else if mark == b'(' || mark == b'[' && event.action != Action::Complete {
                    // A command of another protocol: what seemed the sector is its length in bytes.
                    (event.bytes, event.sector) = (u32::try_from(event.sector).unwrap_or(0), 0);
                    event.marks = event.marks.with(Marks::PACKET);
                }
            }
        } else if matches!(event.action, Action::Complete | Action::Requeue) && !event.marks.has(Marks::FLUSH)
        {
            // All but these have a sector at their end, if only 0.
            event.marks = event.marks.with(Marks::PACKET);
        }
        if event.action != Action::Complete
            && let Some(rest) = fields.rest()
            && let Some(name) = bracketed(rest)
        {
            self.processes.learn(event.pid, || name);
        }
        Ok(())
    }
}

/// `major,minor`.
#[inline]
pub(super) fn device(word: &[u8]) -> Result<u32, Problem> {
    let comma = word.iter().position(|&byte| byte == b',');
    let comma = comma.ok_or_else(|| Problem::field("device", word, "expected major,minor"))?;
    let major = number::integer32(&word[..comma], "major")?;
    Ok(device_of(major, number::integer32(&word[comma + 1..], "minor")?))
}

#[inline]
pub(super) fn bytes_of(sectors: u32) -> Result<u32, Problem> {
    sectors.checked_mul(512).ok_or_else(|| Problem(format!("{sectors} sectors are more than 4 GiB")))
}

/// The name in the brackets a tail begins with.
#[inline]
pub(super) fn bracketed(rest: &[u8]) -> Option<&[u8]> {
    let inside = rest.strip_prefix(b"[")?;
    Some(&inside[..memchr::memrchr(b']', inside)?])
}

/// Whether this is a line of the sums at the end, or of blkparse's chatter.
fn is_sum(line: &[u8]) -> bool {
    const BEGINNINGS: [&[u8]; 14] = [
        b"CPU",
        b"Total",
        b"Reads ",
        b"Read ",
        b"IO unplugs",
        b"Throughput",
        b"Events (",
        b"Skips:",
        b"Input file",
        b"Allocation",
        b"Discard",
        b"Dispatches",
        b"Writes",
        b"dispatch",
    ];
    BEGINNINGS.iter().any(|beginning| line.starts_with(beginning))
}

#[cold]
fn unlike(line: &[u8]) -> Problem {
    Problem::field("line", line, "expected `major,minor cpu number seconds pid action marks …`")
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn event(parser: &mut impl EventLineParser, line: &str) -> Event {
        match parser.parse(line.as_bytes()).unwrap() {
            Line::Event(event) => event,
            _ => panic!("no event in {line}"),
        }
    }

    #[test]
    fn tails_of_all_kinds() {
        let mut parser = Parser::default();
        let line = "259,0    3        3     0.000000299  1867  Q   W 763360912 + 8 [dmcrypt_write/2]";
        let queue = event(&mut parser, line);
        let expected = Event {
            time: Nanos(299),
            sector: 763_360_912,
            bytes: 4096,
            pid: 1867,
            device: device_of(259, 0),
            cpu: 3,
            action: Action::Queue,
            marks: Marks::WRITE,
        };
        assert_eq!(queue, expected);
        let place = |parser: &mut Parser, tail: &str| {
            let event = event(parser, &format!("8,16 0 1 1.5 7 {tail}"));
            (event.action, event.sector, event.bytes)
        };
        assert_eq!(place(&mut parser, "A W 100 + 8 <- (253,3) 578805392"), (Action::Remap, 100, 4096));
        assert_eq!(place(&mut parser, "P N [kworker/1:2]"), (Action::Plug, 0, 0));
        assert_eq!(place(&mut parser, "UT N [x] 3"), (Action::UnplugTimer, 0, 0));
        assert_eq!(place(&mut parser, "X R 100 / 108 [x]"), (Action::Split, 100, 4096));
        assert_eq!(place(&mut parser, "C W 100 + 8 [0]"), (Action::Complete, 100, 4096));
        assert_eq!(place(&mut parser, "C FN 0 [0]"), (Action::Complete, 0, 0));
        assert_eq!(place(&mut parser, "D FN [kworker]"), (Action::Issue, 0, 0));
        assert_eq!(place(&mut parser, "D R 36 (12 01 00 00 24 00) [x]"), (Action::Issue, 0, 36));
        // With the command's bytes and without; a completion tells no length.
        let mut is_command = |tail: &str| {
            let event = event(&mut parser, &format!("8,16 0 1 1.5 7 {tail}"));
            (event.marks.has(Marks::PACKET), event.sector, event.bytes)
        };
        assert_eq!(is_command("D R 512 [smartctl]"), (true, 0, 512));
        assert_eq!(is_command("I N 0 (00 ..) [udisksd]"), (true, 0, 0));
        for tail in ["C R (85 08 2e 00 d0) [0]", "C R [0]", "C N (00 ..) [0]"] {
            assert_eq!(is_command(tail), (true, 0, 0), "{tail}");
        }
        for tail in ["C FN 0 [0]", "C WS 0 [0]", "D FN [kworker]", "C W 100 + 8 [0]", "U N [x] 3", "P N [x]"]
        {
            assert!(!is_command(tail).0, "{tail}");
        }
        assert_eq!(place(&mut parser, "m N cfq12972SN insert_request"), (Action::Message, 0, 0));
        assert_eq!(parser.processes.all()[&1867], "dmcrypt_write/2");
    }

    /// A device that cannot be read is no line of the last one's, nor of its own once it was refused.
    #[test]
    fn each_line_is_of_the_device_it_names() {
        let mut parser = Parser::default();
        let mut of = |device: &str| match parser.parse(format!("{device} 0 1 1.5 7 Q R 1 + 8 [x]").as_bytes())
        {
            Ok(Line::Event(event)) => Some(event.device),
            _ => None,
        };
        let found = ["8,1", "8,1", "8,16", "8,1", "8,x", "8,x", "8,1", "8,11"].map(&mut of);
        let (first, other) = (Some(device_of(8, 1)), Some(device_of(8, 16)));
        assert_eq!(found, [first, first, other, first, None, None, first, Some(device_of(8, 11))]);
    }

    #[test]
    fn sums_are_passed_over_and_garbage_is_not() {
        let mut parser = Parser::default();
        for line in [
            "CPU0 (sdb):",
            "Reads Queued:           0,        0KiB",
            "IO unplugs: 0",
            "Events (x): 5 entries",
        ] {
            assert!(matches!(parser.parse(line.as_bytes()), Ok(Line::Nothing)), "{line}");
        }
        for line in [
            "hello",
            "8,16 0 1 x 7 Q R 1 + 8",
            "8 0 1 1 7 Q R 1 + 8",
            "8,0 0 1 1 7 Y R 1",
            "8,0 0 1 1 7 Q K 1",
        ] {
            assert!(parser.parse(line.as_bytes()).is_err(), "{line}");
        }
    }
}
