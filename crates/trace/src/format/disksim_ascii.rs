//! DiskSim's default format: `ARRIVAL_MS DEVICE LBN COUNT FLAGS`, blank separated, flags in hexadecimal.
//!
//! Flags: 0x1 read (otherwise write), 0x2 time-critical and 0x4 time-limited (both: priority), 0x100 asynchronous; DiskSim's
//! 0x80 synchronous says nothing a scheduler could act on and is dropped. Sectors of 512 bytes. The format is recognised by a time
//! with a decimal point: all-integer lines look the same as `mqsim`'s.

use headstack_units::{Lba, Nanos};

use crate::format::Format;
use crate::number::{self, Problem};
use crate::text::{Fields, LineParser, Lines, TextDecoder, understands};
use crate::{Op, Request, RequestFlags};

pub(super) static FORMAT: Format = Format {
    name: "disksim-ascii",
    about: "DiskSim ascii: arrival in ms, device, sector, sectors, flags (hexadecimal, 1 = read)",
    sniff: |sample| understands(sample, Parser) && sample.lines().any(has_fractional_time),
    open: |input, options| {
        let lines = Lines::new(input.into_buffer());
        Ok(Box::new(TextDecoder::new(lines, Parser, options.sector_bytes_or(512))))
    },
};

const READ: u32 = 0x1;
const CRITICAL_OR_LIMITED: u32 = 0x6;
const ASYNCHRONOUS: u32 = 0x100;

struct Parser;

impl LineParser for Parser {
    fn parse(&mut self, line: &[u8]) -> Result<Request, Problem> {
        let mut fields = Fields::blanks(line);
        let request = request(&mut fields)?;
        fields.end()?;
        Ok(request)
    }
}

/// The request in the first five fields.
#[inline]
pub(super) fn request(fields: &mut Fields<'_>) -> Result<Request, Problem> {
    let arrival = Nanos(fields.fixed("arrival", 6)?);
    let device = fields.integer32("device")?;
    let lba = Lba(fields.integer("sector")?);
    let sectors = fields.integer32("sectors")?;
    let flags = number::hexadecimal(fields.word("flags")?, "flags")?;
    let op = if flags & READ == 0 { Op::Write } else { Op::Read };
    let mut marks = RequestFlags::default();
    if flags & CRITICAL_OR_LIMITED != 0 {
        marks = marks.with(RequestFlags::PRIORITY);
    }
    if flags & ASYNCHRONOUS != 0 {
        marks = marks.with(RequestFlags::ASYNC);
    }
    Ok(Request { device, flags: marks, ..Request::new(arrival, op, lba, sectors) })
}

fn has_fractional_time(line: &[u8]) -> bool {
    line.iter().take_while(|byte| !byte.is_ascii_whitespace()).any(|&byte| byte == b'.')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::read_text;

    #[test]
    fn fields_become_a_request() {
        let requests = read_text(
            None,
            "13.191135\t30\t0\t5\t1\n17.829285 20 576560 6 0x100\r\n18.5 20 8 6 2\n19.5 20 8 6 105",
        )
        .unwrap();
        let first = Request { device: 30, ..Request::new(Nanos(13_191_135), Op::Read, Lba(0), 5) };
        let flags = RequestFlags::ASYNC;
        let second =
            Request { device: 20, flags, ..Request::new(Nanos(17_829_285), Op::Write, Lba(576_560), 6) };
        assert_eq!(requests[..2], [first, second]);
        let marks = [RequestFlags::PRIORITY, RequestFlags::PRIORITY.with(RequestFlags::ASYNC)];
        assert_eq!(requests[2..].iter().map(|request| request.flags).collect::<Vec<_>>(), marks);
    }

    #[test]
    fn a_bad_line_is_named() {
        let error = read_text(Some("disksim-ascii"), "1.5 0 0 5 1\n\n2.5 0 0 -5 1\n").unwrap_err();
        assert!(
            error.to_string().ends_with(": line 3: `sectors` is `-5`: it must not be negative"),
            "{error}"
        );
        let error = read_text(Some("disksim-ascii"), "1.5 0 0 5 1 9\n").unwrap_err();
        assert!(error.to_string().ends_with(": line 1: expected 5 fields, but `9` follows"), "{error}");
    }
}
