//! Text that blkparse wrote with a format of one's own (`blkparse -f "%T.%t %a %S %n\n"`), given the same format.
//!
//! | field | meaning | field | meaning |
//! | --- | --- | --- | --- |
//! | `%a` | action | `%n`, `%N` | sectors, bytes |
//! | `%c` | processor | `%p` | process |
//! | `%C` | name of the process | `%s` | running number |
//! | `%d` | marks | `%S` | sector |
//! | `%D` | device, `major,minor` | `%t`, `%T` | nanoseconds, seconds |
//! | `%e` | error | `%u` | microseconds since the start |
//! | `%M`, `%m` | major, minor | `%U`, `%P`, `%z` | passed over |

use headstack_units::Nanos;

use super::lines::{EventLineParser, Line};
use super::numbers::RunningNumbers;
use super::{Action, Event, Marks, blkparse, device_of};
use crate::TraceError;
use crate::number::{self, Problem};
use crate::process_names::ProcessNames;
use crate::text::trim;

enum Part {
    Literal(Vec<u8>),
    Field(u8),
}

pub(crate) struct Parser {
    parts: Vec<Part>,
    processes: ProcessNames,
    numbers: RunningNumbers,
}

impl Parser {
    /// Understands `format`.
    pub(crate) fn new(format: &str) -> Result<Self, TraceError> {
        let unusable = |problem: String| {
            TraceError::unusable(
                problem,
                "give the format blkparse was given, such as \"%M,%m %5T.%9t %p %a %d %S %n %C\\n\"".into(),
            )
        };
        let format = format.replace("\\n", "\n").replace("\\t", "\t");
        let mut parts = Vec::new();
        let mut rest = format.trim_end().bytes().peekable();
        let mut literal = Vec::new();
        while let Some(byte) = rest.next() {
            if byte != b'%' {
                literal.push(byte);
                continue;
            }
            while rest.next_if(|byte| byte.is_ascii_digit() || *byte == b'-').is_some() {}
            match rest.next() {
                Some(b'%') => literal.push(b'%'),
                Some(field) if b"acCdDeMmnNpPsStTuUz".contains(&field) => {
                    if !literal.is_empty() {
                        parts.push(Part::Literal(std::mem::take(&mut literal)));
                    }
                    parts.push(Part::Field(field));
                }
                other => {
                    let shown = other.map_or("%".into(), |byte| format!("%{}", char::from(byte)));
                    return Err(unusable(format!("`{shown}` is not a field of blkparse's formats")));
                }
            }
        }
        if !literal.is_empty() {
            parts.push(Part::Literal(literal));
        }
        let parser = Self { parts, processes: ProcessNames::default(), numbers: RunningNumbers::default() };
        for (needed, what) in
            [(&b"a"[..], "%a"), (b"d", "%d"), (b"S", "%S"), (b"nN", "%n or %N"), (b"Tu", "%T or %u")]
        {
            if !needed.iter().any(|&field| parser.has(field)) {
                return Err(unusable(format!(
                    "the format has no {what}, without which events cannot be paired"
                )));
            }
        }
        Ok(parser)
    }

    fn has(&self, wanted: u8) -> bool {
        self.parts.iter().any(|part| matches!(part, Part::Field(field) if *field == wanted))
    }
}

impl EventLineParser for Parser {
    fn parse(&mut self, line: &[u8]) -> Result<Line, Problem> {
        let mut event = Event {
            time: Nanos::ZERO,
            sector: 0,
            bytes: 0,
            pid: crate::Io::NO_PID,
            device: 0,
            cpu: 0,
            action: Action::Other,
            marks: Marks::default(),
        };
        let (mut major, mut minor, mut seconds, mut nanos, mut running) = (0, 0, 0, 0, 0);
        let mut name: &[u8] = b"";
        let mut rest = line;
        for (index, part) in self.parts.iter().enumerate() {
            let field = match part {
                Part::Literal(literal) => {
                    rest = skip_literal(rest, literal)?;
                    continue;
                }
                Part::Field(field) => *field,
            };
            rest = rest.trim_ascii_start();
            let until = match self.parts.get(index + 1) {
                Some(Part::Literal(literal)) => literal[0],
                _ => b' ',
            };
            let end = match until {
                _ if index + 1 == self.parts.len() => Some(rest.len()),
                b' ' | b'\t' => rest.iter().position(u8::is_ascii_whitespace),
                other => memchr::memchr(other, rest),
            };
            let word = &rest[..end.unwrap_or(rest.len())];
            rest = &rest[word.len()..];
            match field {
                b'a' => {
                    let action = Action::of_letter(word);
                    event.action = action.ok_or_else(|| Problem::field("action", word, "unknown"))?;
                }
                b'd' => {
                    let marks = Marks::of_letters(word);
                    event.marks = marks.ok_or_else(|| Problem::field("marks", word, "unknown"))?;
                }
                b'c' => event.cpu = number::integer32(word, "cpu")? as u16,
                b'C' => name = word,
                b'D' => event.device = blkparse::device(word)?,
                b'M' => major = number::integer32(word, "major")?,
                b'm' => minor = number::integer32(word, "minor")?,
                b'n' => event.bytes = blkparse::bytes_of(number::integer32(word, "sectors")?)?,
                b'N' => event.bytes = number::integer32(word, "bytes")?,
                b'p' => event.pid = number::integer32(word, "pid")?,
                b's' => running = number::integer(word, "number")?,
                b'S' => event.sector = number::integer(word, "sector")?,
                b't' => nanos = number::integer(word, "nanoseconds")?,
                b'T' => seconds = number::integer(word, "seconds")?,
                b'u' => event.time = Nanos(number::fixed(word, 3, "microseconds")?),
                _ => {}
            }
        }
        if !trim(rest).is_empty() {
            return Err(Problem::field("line", rest, "nothing of the format is left for this"));
        }
        if self.has(b'T') {
            let time = u64::checked_mul(seconds, 1_000_000_000).and_then(|time| time.checked_add(nanos));
            event.time = Nanos(time.ok_or_else(|| Problem("the time is too large".into()))?);
        }
        if self.has(b'M') || self.has(b'm') {
            event.device = device_of(major, minor);
        }
        let number = if event.action == Action::Message { 0 } else { running };
        self.numbers.follow(event.device, event.cpu, number, event.time);
        if event.pid != crate::Io::NO_PID && !name.is_empty() && event.action != Action::Complete {
            self.processes.learn(event.pid, || name);
        }
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

/// Skips a literal; a run of blanks in it stands for any run of them.
fn skip_literal<'a>(mut rest: &'a [u8], literal: &[u8]) -> Result<&'a [u8], Problem> {
    for &byte in literal {
        if byte.is_ascii_whitespace() {
            rest = rest.trim_ascii_start();
        } else {
            rest = rest.trim_ascii_start();
            rest = rest.strip_prefix(&[byte]).ok_or_else(|| {
                Problem::field("line", rest, &format!("the format wants `{}` here", char::from(byte)))
            })?;
        }
    }
    Ok(rest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::blkparse::tests::event;

    #[test]
    fn a_format_of_ones_own() {
        let mut parser = Parser::new("%M,%m %5T.%9t %p %a %d %S %n %C\\n").unwrap();
        let read = event(&mut parser, "259,0     0.000005301  1867 C FWS 763360912 8 dmcrypt_write/2");
        assert_eq!((read.time, read.sector, read.bytes, read.pid), (Nanos(5301), 763_360_912, 4096, 1867));
        assert_eq!((read.device, read.action), (device_of(259, 0), Action::Complete));
        let mut parser = Parser::new("%D;%u;%a;%d;%S;%N").unwrap();
        let read = event(&mut parser, "  8,16;1.5;D;R;7;4096");
        assert_eq!((read.time, read.device, read.bytes), (Nanos(1500), device_of(8, 16), 4096));
        assert!(parser.parse(b"8,16;1.5;D;R;7").is_err());
        assert!(parser.parse(b"8,16;1.5;D;R;7;4096 more").is_err());
    }

    #[test]
    fn a_format_without_what_is_needed_is_refused() {
        let error = |format: &str| Parser::new(format).err().unwrap().to_string();
        assert!(error("%T.%t %a %d %S").contains("no %n or %N"));
        assert!(error("%q").contains("`%q` is not a field"));
        assert!(error("%T %").contains("`%` is not a field"));
    }
}
