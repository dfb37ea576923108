//! Tencent's cloud block storage traces: `Timestamp,Offset,Size,IOType,VolumeID`; whole seconds since 1970, sectors of
//! 512 bytes, 0 read or 1 write. Within a second the order is that of the file, and across the end of one it may run back.

use headstack_units::{Lba, Nanos};

use crate::format::Format;
use crate::number::Problem;
use crate::text::{Fields, LineParser, Lines, TextDecoder, understands};
use crate::{Op, Request};

pub(super) static FORMAT: Format = Format {
    name: "tencent",
    about: "Tencent CBS: time in whole s, sector, sectors, 0 read or 1 write, volume; comma separated integers",
    sniff: |sample| understands(sample, Parser),
    open: |input, options| {
        let lines = Lines::new(input.into_buffer());
        Ok(Box::new(TextDecoder::new(lines, Parser, options.sector_bytes_or(512)).with_absolute_clock()))
    },
};

struct Parser;

impl LineParser for Parser {
    fn parse(&mut self, line: &[u8]) -> Result<Request, Problem> {
        let mut fields = Fields::separated(line, b',');
        let seconds = fields.integer32("Timestamp")?;
        let lba = Lba(fields.integer("Offset")?);
        let sectors = fields.integer32("Size")?;
        let op = match fields.word("IOType")? {
            b"0" => Op::Read,
            b"1" => Op::Write,
            other => return Err(Problem::field("IOType", other, "expected 0 (read) or 1 (write)")),
        };
        let device = fields.integer32("VolumeID")?;
        fields.end()?;
        let arrival = Nanos(u64::from(seconds) * 1_000_000_000);
        Ok(Request { device, ..Request::new(arrival, op, lba, sectors) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::read_text;

    #[test]
    fn fields_become_a_request() {
        let requests = read_text(None, "1538323199,4247200,128,1,1058\n1538323200,8,16,0,7\n").unwrap();
        let first = Request { device: 1058, ..Request::new(Nanos(0), Op::Write, Lba(4_247_200), 128) };
        let second = Request { device: 7, ..Request::new(Nanos(1_000_000_000), Op::Read, Lba(8), 16) };
        assert_eq!(requests, [first, second]);
    }
}
