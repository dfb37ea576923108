//! Text traces: one request per line. Lines, fields and their line numbers are dealt with here; a format only says what
//! the fields mean.

use headstack_units::Nanos;

use crate::buffer::Buffer;
use crate::gate::{Gate, Place};
use crate::input::Sample;
use crate::number::{self, Problem};
use crate::{Op, Request, TraceError};

/// How many requests a batch holds at most.
pub(crate) const BATCH: usize = 4096;

/// Lines longer than this are not those of a trace.
const LONGEST_LINE: usize = 64 * 1024;

/// The meaning of a line.
pub(crate) trait LineParser: Send {
    /// The request on this line (neither blank nor a `#` comment, white space trimmed).
    fn parse(&mut self, line: &[u8]) -> Result<Request, Problem>;

    /// Whether this line is a header to pass over. Asked of every line that is no comment.
    #[inline]
    fn is_header(&mut self, _line: &[u8]) -> bool {
        false
    }
}

/// A text format at work: lines from the file, meaning from the parser.
pub(crate) struct TextDecoder<P> {
    lines: Lines,
    parser: P,
    sector_bytes: u32,
    absolute: bool,
}

impl<P: LineParser> TextDecoder<P> {
    /// Reads the rest of `lines` with `parser`.
    pub(crate) fn new(lines: Lines, parser: P, sector_bytes: u32) -> Self {
        Self { lines, parser, sector_bytes, absolute: false }
    }

    /// The same, with instants that count from some epoch rather than from the start of the trace.
    pub(crate) fn with_absolute_clock(self) -> Self {
        Self { absolute: true, ..self }
    }
}

impl<P: LineParser> crate::format::Decoder for TextDecoder<P> {
    fn sector_bytes(&self) -> u32 {
        self.sector_bytes
    }

    fn absolute_clock(&self) -> bool {
        self.absolute
    }

    fn decode(&mut self, batch: &mut Vec<Request>, gate: &mut Gate) -> Result<(), TraceError> {
        while batch.len() < BATCH {
            let Some((line, number)) = self.lines.next()? else { break };
            let line = trim(line);
            if line.is_empty() || line[0] == b'#' || self.parser.is_header(line) {
                continue;
            }
            let place = Place::Line(number);
            match self.parser.parse(line) {
                Ok(request) => gate.admit(batch, request, place)?,
                Err(problem) => gate.problem(place, problem)?,
            }
        }
        Ok(())
    }
}

/// Whether `parser` understands the first lines of the sample, and there are any.
pub(crate) fn understands(sample: Sample<'_>, mut parser: impl LineParser) -> bool {
    let mut lines = sample.lines().peekable();
    lines.peek().is_some() && lines.all(|line| parser.parse(line).is_ok())
}

/// The lines of a file with their numbers, counted from 1.
pub(crate) struct Lines {
    buffer: Buffer,
    number: u64,
    /// Bytes of the line given last, its end included.
    last: usize,
}

impl Lines {
    pub(crate) fn new(buffer: Buffer) -> Self {
        Self { buffer, number: 0, last: 0 }
    }

    /// The next line without its end, and its number; `None` at the end of the file.
    #[inline]
    pub(crate) fn next(&mut self) -> Result<Option<(&[u8], u64)>, TraceError> {
        let mut searched = 0;
        let length = loop {
            let bytes = self.buffer.bytes();
            if let Some(end) = memchr::memchr(b'\n', &bytes[searched..]) {
                break searched + end;
            }
            searched = bytes.len();
            if searched > LONGEST_LINE {
                return Err(self.too_long());
            }
            if !self.buffer.refill()? {
                if searched == 0 {
                    return Ok(None);
                }
                self.number += 1;
                self.last = searched;
                return Ok(Some((self.buffer.take(searched), self.number)));
            }
        };
        self.number += 1;
        self.last = length + 1;
        Ok(Some((&self.buffer.take(length + 1)[..length], self.number)))
    }

    /// Gives the last line once more.
    pub(crate) fn put_back(&mut self) {
        self.buffer.put_back(std::mem::take(&mut self.last));
        self.number -= 1;
    }

    #[cold]
    fn too_long(&self) -> TraceError {
        TraceError::Record {
            path: self.buffer.path().to_path_buf(),
            place: Place::Line(self.number + 1).to_string(),
            problem: format!("the line is longer than {LONGEST_LINE} bytes"),
            hint: Some("is this a text trace? Name its format with --format".into()),
        }
    }
}

/// Where `byte` first stands in `bytes`, which are mostly few: eight are looked at together, without the call that
/// longer searches are worth.
#[inline]
pub(crate) fn find(byte: u8, bytes: &[u8]) -> Option<usize> {
    const ALL: u64 = 0x0101_0101_0101_0101;
    let mut at = 0;
    while let Some(chunk) = bytes[at..].first_chunk() {
        // A byte that is the same becomes 0; borrows reach later bytes only.
        let others = u64::from_le_bytes(*chunk) ^ (ALL * u64::from(byte));
        let same = others.wrapping_sub(ALL) & !others & (ALL * 0x80);
        if same != 0 {
            return Some(at + same.trailing_zeros() as usize / 8);
        }
        at += 8;
    }
    bytes[at..].iter().position(|&other| other == byte).map(|further| at + further)
}

#[inline]
fn is_blank(byte: u8) -> bool {
    byte == b' ' || byte == b'\t'
}

/// What follows spaces and tabs, of which there are mostly few; `None` if nothing does.
#[inline]
fn behind_blanks(mut bytes: &[u8]) -> Option<&[u8]> {
    while let Some((&first, rest)) = bytes.split_first() {
        if !is_blank(first) {
            return Some(bytes);
        }
        bytes = rest;
    }
    None
}

/// Without spaces, tabs and carriage returns at both ends.
#[inline]
pub(crate) fn trim(line: &[u8]) -> &[u8] {
    match (line.first(), line.last()) {
        // Mostly there is nothing to take away, and one look at either end says so.
        (Some(first), Some(last)) if *first > b' ' && *last > b' ' => line,
        _ => line.trim_ascii(),
    }
}

/// The fields of a line, one after the other.
pub(crate) struct Fields<'a> {
    rest: Option<&'a [u8]>,
    separator: Separator,
    taken: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Separator {
    Blanks,
    Byte(u8),
}

impl<'a> Fields<'a> {
    /// Fields between runs of spaces and tabs; `line` starts and ends with a field.
    #[inline]
    pub(crate) fn blanks(line: &'a [u8]) -> Self {
        Self { rest: Some(line), separator: Separator::Blanks, taken: 0 }
    }

    /// Fields between single `separator`s, blanks around them trimmed.
    #[inline]
    pub(crate) fn separated(line: &'a [u8], separator: u8) -> Self {
        Self { rest: Some(line), separator: Separator::Byte(separator), taken: 0 }
    }

    /// The next field, called `name` in messages.
    #[inline]
    pub(crate) fn word(&mut self, name: &str) -> Result<&'a [u8], Problem> {
        let Some(rest) = self.rest else { return Err(self.missing(name)) };
        self.taken += 1;
        match self.separator {
            Separator::Blanks => {
                let end = rest.iter().position(|&byte| byte == b' ' || byte == b'\t').unwrap_or(rest.len());
                self.rest = behind_blanks(&rest[end..]);
                Ok(&rest[..end])
            }
            Separator::Byte(separator) => {
                let end = find(separator, rest);
                self.rest = end.map(|end| &rest[end + 1..]);
                Ok(trim(&rest[..end.unwrap_or(rest.len())]))
            }
        }
    }

    /// Goes on behind the first `used` bytes if the field ends there; false, and nothing done, if it does not.
    #[inline]
    fn ends_at(&mut self, rest: &'a [u8], used: usize) -> bool {
        self.rest = match (rest.get(used), self.separator) {
            (None, _) => None,
            (Some(&byte), Separator::Byte(separator)) if byte == separator => Some(&rest[used + 1..]),
            (Some(&byte), Separator::Blanks) if is_blank(byte) => behind_blanks(&rest[used + 1..]),
            _ => return false,
        };
        self.taken += 1;
        true
    }

    /// The next field as an unsigned integer.
    #[inline]
    pub(crate) fn integer(&mut self, name: &str) -> Result<u64, Problem> {
        // Nearly all fields are digits and nothing else: their end need not be looked for first.
        if let Some(rest) = self.rest {
            let (value, used) = number::digits(rest);
            if (1..20).contains(&used) && self.ends_at(rest, used) {
                return Ok(value);
            }
        }
        number::integer(self.word(name)?, name)
    }

    /// The next field as an unsigned 32-bit integer.
    #[inline]
    pub(crate) fn integer32(&mut self, name: &str) -> Result<u32, Problem> {
        let (rest, taken) = (self.rest, self.taken);
        if let Ok(value) = u32::try_from(self.integer(name)?) {
            return Ok(value);
        }
        // Once more, for the words of the complaint.
        (self.rest, self.taken) = (rest, taken);
        number::integer32(self.word(name)?, name)
    }

    /// The next field as a decimal times 10^`decimals`.
    #[inline]
    pub(crate) fn fixed(&mut self, name: &str, decimals: u32) -> Result<u64, Problem> {
        if let Some(rest) = self.rest
            && let Some((value, used)) = number::plain_fixed(rest, decimals)
            && self.ends_at(rest, used)
        {
            return Ok(value);
        }
        number::fixed(self.word(name)?, decimals, name)
    }

    /// The next field as an instant: an integer number of nanoseconds.
    #[inline]
    pub(crate) fn nanoseconds(&mut self, name: &str) -> Result<Nanos, Problem> {
        self.integer(name).map(Nanos)
    }

    /// The next field as a word for a direction.
    #[inline]
    pub(crate) fn direction(&mut self, name: &str) -> Result<Op, Problem> {
        let word = self.word(name)?;
        direction(word).ok_or_else(|| Problem::field(name, word, "expected R, Read, W or Write"))
    }

    /// What has not been taken; `None` at the end of the line.
    #[inline]
    pub(crate) fn rest(&self) -> Option<&'a [u8]> {
        self.rest
    }

    /// Nothing may be left.
    #[inline]
    pub(crate) fn end(self) -> Result<(), Problem> {
        match self.rest {
            None => Ok(()),
            Some(rest) => Err(Self::surplus(self.taken, rest)),
        }
    }

    #[cold]
    fn missing(&self, name: &str) -> Problem {
        let plural = if self.taken == 1 { "" } else { "s" };
        Problem(format!("the line ends after {} field{plural}; `{name}` is missing", self.taken))
    }

    #[cold]
    fn surplus(taken: usize, rest: &[u8]) -> Problem {
        let shown = String::from_utf8_lossy(&rest[..rest.len().min(40)]).escape_debug().to_string();
        Problem(format!("expected {taken} fields, but `{shown}` follows"))
    }
}

/// `R`, `Read`, `RD`, `W`, `Write`, `WR`, in upper or lower case.
#[inline]
pub(crate) fn direction(word: &[u8]) -> Option<Op> {
    let is = |name: &[u8]| word.eq_ignore_ascii_case(name);
    match word.first()?.to_ascii_lowercase() {
        b'r' if word.len() == 1 || is(b"read") || is(b"rd") => Some(Op::Read),
        b'w' if word.len() == 1 || is(b"write") || is(b"wr") => Some(Op::Write),
        _ => None,
    }
}

/// The sectors of `sector_bytes` that hold `bytes` bytes from `offset` on, rounded outwards: first sector and count.
#[inline]
pub(crate) fn sectors_of(offset: u64, bytes: u64, sector_bytes: u32) -> Result<(u64, u32), Problem> {
    let unit = u64::from(sector_bytes);
    let end =
        offset.checked_add(bytes).ok_or_else(|| Problem("the byte address reaches beyond 64 bits".into()))?;
    let first = offset / unit;
    let count = if bytes == 0 { 0 } else { end.div_ceil(unit) - first };
    let count =
        u32::try_from(count).map_err(|_| Problem(format!("a length of {bytes} bytes is too large")))?;
    Ok((first, count))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn blanks_may_come_in_runs() {
        let mut fields = Fields::blanks(b"R \t Hit  7");
        assert_eq!(fields.word("a").unwrap(), b"R");
        assert_eq!(fields.word("b").unwrap(), b"Hit");
        assert_eq!(fields.integer("c").unwrap(), 7);
        assert_eq!(fields.word("d").unwrap_err().0, "the line ends after 3 fields; `d` is missing");
        fields.end().unwrap();
        let mut fields = Fields::blanks(b"1 2 3");
        fields.word("a").unwrap();
        assert_eq!(fields.end().unwrap_err().0, "expected 1 fields, but `2 3` follows");
    }

    #[test]
    fn separated_fields_may_be_empty() {
        let mut fields = Fields::separated(b"a,, c", b',');
        assert_eq!(fields.word("1").unwrap(), b"a");
        assert_eq!(fields.word("2").unwrap(), b"");
        assert_eq!(fields.word("3").unwrap(), b"c");
        fields.end().unwrap();
    }

    #[test]
    fn byte_ranges_round_outwards() {
        assert_eq!(sectors_of(512, 512, 512).unwrap(), (1, 1));
        assert_eq!(sectors_of(511, 2, 512).unwrap(), (0, 2));
        assert_eq!(sectors_of(1000, 0, 512).unwrap(), (1, 0));
        assert_eq!(sectors_of(4095, 1, 512).unwrap(), (7, 1));
        assert!(sectors_of(u64::MAX, 1, 512).is_err());
        assert!(sectors_of(0, u64::MAX, 512).is_err());
    }

    #[test]
    fn directions_in_words() {
        for (word, op) in
            [("R", Op::Read), ("read", Op::Read), ("RD", Op::Read), ("w", Op::Write), ("WRITE", Op::Write)]
        {
            assert_eq!(direction(word.as_bytes()), Some(op));
        }
        assert!(["", "x", "re", "writer", "1"].iter().all(|word| direction(word.as_bytes()).is_none()));
    }

    proptest! {
        /// The naive twin: one byte after the other.
        #[test]
        fn a_byte_is_found_where_it_first_stands(bytes in "[a-c,\\PC]{0,40}", byte in prop_oneof![Just(b','), any::<u8>()]) {
            let bytes = bytes.as_bytes();
            prop_assert_eq!(find(byte, bytes), bytes.iter().position(|&other| other == byte));
        }

        /// The naive twin: cut the field out first, then make a number of it.
        #[test]
        fn numbers_are_those_of_the_words(
            line in "[0-9. ,a-]{0,12}|[0-9]{18,21}(,|\\.| )[0-9]{0,3}|[0-9]{1,11}\\.[0-9]{1,20}",
            blanks in any::<bool>(),
            decimals in 0_u32..10,
        ) {
            let line = line.trim_matches(' ').as_bytes();
            let fields = || if blanks { Fields::blanks(line) } else { Fields::separated(line, b',') };
            let told = |fields: &Fields<'_>, result: Result<u64, Problem>| {
                (result.map_err(|problem| problem.0), fields.rest().map(<[u8]>::to_vec), fields.taken)
            };
            let twin = |number: &dyn Fn(&[u8]) -> Result<u64, Problem>| {
                let mut fields = fields();
                let result = fields.word("n").and_then(number);
                told(&fields, result)
            };
            let quick = |read: &dyn Fn(&mut Fields<'_>) -> Result<u64, Problem>| {
                let mut fields = fields();
                let result = read(&mut fields);
                told(&fields, result)
            };
            prop_assert_eq!(
                quick(&|fields| fields.integer("n")),
                twin(&|word| number::integer(word, "n"))
            );
            prop_assert_eq!(
                quick(&|fields| fields.integer32("n").map(u64::from)),
                twin(&|word| number::integer32(word, "n").map(u64::from))
            );
            prop_assert_eq!(
                quick(&|fields| fields.fixed("n", decimals)),
                twin(&|word| number::fixed(word, decimals, "n"))
            );
        }
    }
}
