//! DiskSim's `batch`: the fields of `disksim-ascii` and the number of a batch, which is dropped. Flag 0x80000000 (the
//! last of a batch) says nothing about a request by itself.

use crate::Request;
use crate::format::{Format, disksim_ascii};
use crate::number::Problem;
use crate::text::{Fields, LineParser, Lines, TextDecoder, understands};

pub(super) static FORMAT: Format = Format {
    name: "disksim-batch",
    about: "DiskSim batch: arrival in ms, device, sector, sectors, flags (hexadecimal, 1 = read), batch",
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
        let request = disksim_ascii::request(&mut fields)?;
        fields.integer32("batch")?;
        fields.end()?;
        Ok(request)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Op;
    use crate::testing::read_text;
    use headstack_units::{Lba, Nanos};

    #[test]
    fn fields_become_a_request() {
        let requests = read_text(None, "1.5 2 8 16 1 0\n2.5 2 24 16 80000000 0\n").unwrap();
        assert_eq!(
            requests[0],
            Request { device: 2, ..Request::new(Nanos(1_500_000), Op::Read, Lba(8), 16) }
        );
        assert_eq!(requests[1].op, Op::Write);
    }
}
