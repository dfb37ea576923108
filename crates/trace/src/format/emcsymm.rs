//! DiskSim's `emcsymm` (EMC Symmetrix): `TIME_MS Read|Write DIRECTOR DEVICE SECTOR SECTORS`, director and device
//! hexadecimal; sectors of 512 bytes. The director is dropped.

use headstack_units::{Lba, Nanos};

use crate::Request;
use crate::format::Format;
use crate::number::{self, Problem};
use crate::text::{Fields, LineParser, Lines, TextDecoder, understands};

pub(super) static FORMAT: Format = Format {
    name: "emcsymm",
    about: "EMC Symmetrix (DiskSim): time in ms, Read|Write, director, device (hexadecimal), sector, sectors",
    sniff: |sample| understands(sample, Parser),
    open: |input, options| {
        let lines = Lines::new(input.into_buffer());
        Ok(Box::new(TextDecoder::new(lines, Parser, options.sector_bytes_or(512))))
    },
};

struct Parser;

impl LineParser for Parser {
    fn parse(&mut self, line: &[u8]) -> Result<Request, Problem> {
        let mut fields = Fields::blanks(line);
        let arrival = Nanos(fields.fixed("time", 6)?);
        let op = fields.direction("direction")?;
        number::hexadecimal(fields.word("director")?, "director")?;
        let device = number::hexadecimal(fields.word("device")?, "device")?;
        let lba = Lba(fields.integer("sector")?);
        let sectors = fields.integer32("sectors")?;
        fields.end()?;
        Ok(Request { device, ..Request::new(arrival, op, lba, sectors) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Op;
    use crate::testing::read_text;

    #[test]
    fn fields_become_a_request() {
        let requests = read_text(None, "10.25 Read 1f 2A 100 8\n11 Write 1f 0 0 1\n").unwrap();
        let first = Request { device: 42, ..Request::new(Nanos(10_250_000), Op::Read, Lba(100), 8) };
        assert_eq!(requests, [first, Request::new(Nanos(11_000_000), Op::Write, Lba(0), 1)]);
    }
}
