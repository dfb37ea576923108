//! SSDSim's eight-column layout: `INDEX TIME_NS 0 DEVICE Read|Write SECTOR SECTORS 1`, tab separated; sectors of
//! 512 bytes. The index and the two constant columns are dropped.

use headstack_units::Lba;

use crate::Request;
use crate::format::Format;
use crate::number::Problem;
use crate::text::{Fields, LineParser, Lines, TextDecoder, understands};

pub(super) static FORMAT: Format = Format {
    name: "ssdsim",
    about: "SSDSim: index, time in ns, 0, device, Read|Write, sector, sectors, 1; tab separated",
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
        fields.integer("index")?;
        let arrival = fields.nanoseconds("time")?;
        fields.integer("third column")?;
        let device = fields.integer32("device")?;
        let op = fields.direction("direction")?;
        let lba = Lba(fields.integer("sector")?);
        let sectors = fields.integer32("sectors")?;
        fields.integer("last column")?;
        fields.end()?;
        Ok(Request { device, ..Request::new(arrival, op, lba, sectors) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Op;
    use crate::testing::read_text;
    use headstack_units::Nanos;

    #[test]
    fn fields_become_a_request() {
        let requests =
            read_text(None, "0\t0\t0\t0\tWrite\t303552\t32\t1\n4\t78643000\t0\t1\tRead\t55584\t32\t1\n")
                .unwrap();
        assert_eq!(requests[0], Request::new(Nanos(0), Op::Write, Lba(303_552), 32));
        let second = Request { device: 1, ..Request::new(Nanos(78_643_000), Op::Read, Lba(55_584), 32) };
        assert_eq!(requests[1], second);
    }

    #[test]
    fn a_missing_column_is_named() {
        let error = read_text(Some("ssdsim"), "0\t0\t0\t0\tWrite\t303552\n").unwrap_err();
        assert!(
            error.to_string().ends_with("line 1: the line ends after 6 fields; `sectors` is missing"),
            "{error}"
        );
    }
}
