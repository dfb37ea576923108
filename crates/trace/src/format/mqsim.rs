//! MQSim (and SSDSim's ASCII traces of the same shape): five blank-separated integers
//! `TIME_NS DEVICE SECTOR SECTORS OP`, op 1 = read, 0 = write; sectors of 512 bytes.

use headstack_units::Lba;

use crate::format::Format;
use crate::number::Problem;
use crate::text::{Fields, LineParser, Lines, TextDecoder, understands};
use crate::{Op, Request};

pub(super) static FORMAT: Format = Format {
    name: "mqsim",
    about: "MQSim: time in ns, device, sector, sectors, op (1 = read, 0 = write); all integers",
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
        let arrival = fields.nanoseconds("time")?;
        let device = fields.integer32("device")?;
        let lba = Lba(fields.integer("sector")?);
        let sectors = fields.integer32("sectors")?;
        let op = match fields.word("op")? {
            b"0" => Op::Write,
            b"1" => Op::Read,
            other => return Err(Problem::field("op", other, "expected 0 (write) or 1 (read)")),
        };
        fields.end()?;
        Ok(Request { device, ..Request::new(arrival, op, lba, sectors) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::read_text;
    use headstack_units::Nanos;

    #[test]
    fn fields_become_a_request() {
        let requests = read_text(None, "938513000 4 264719034 16 0\n938828000 3 197570570 16 1").unwrap();
        let first =
            Request { device: 4, ..Request::new(Nanos(938_513_000), Op::Write, Lba(264_719_034), 16) };
        let second =
            Request { device: 3, ..Request::new(Nanos(938_828_000), Op::Read, Lba(197_570_570), 16) };
        assert_eq!(requests, [first, second]);
    }

    #[test]
    fn another_op_is_an_error() {
        let error = read_text(Some("mqsim"), "1 0 0 1 0\n2 0 0 1 2\n").unwrap_err();
        assert!(
            error.to_string().ends_with("line 2: `op` is `2`: expected 0 (write) or 1 (read)"),
            "{error}"
        );
    }

    #[test]
    fn addresses_beyond_64_bits_are_an_error() {
        let error = read_text(Some("mqsim"), "1 0 18446744073709551615 8 0\n").unwrap_err();
        assert!(error.to_string().contains("line 1: 8 sectors from 18446744073709551615 on"), "{error}");
        let error = read_text(Some("mqsim"), "1 0 18446744073709551616 8 0\n").unwrap_err();
        assert!(error.to_string().ends_with("`sector` is `18446744073709551616`: too large"), "{error}");
    }
}
