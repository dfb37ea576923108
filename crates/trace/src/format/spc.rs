//! SPC traces (the Storage Performance Council's format of the UMass Financial and WebSearch traces):
//! `ASU,LBA,SIZE_BYTES,R|W,TIME_S[,…]`.
//!
//! The application storage unit (ASU) becomes the device. Addresses are in sectors of 512 bytes, lengths in bytes and
//! rounded up to sectors. Optional further fields are dropped, as the format allows them.

use headstack_units::{Lba, Nanos};

use crate::Request;
use crate::format::Format;
use crate::number::Problem;
use crate::text::{Fields, LineParser, Lines, TextDecoder, sectors_of, understands};

pub(super) static FORMAT: Format = Format {
    name: "spc",
    about: "SPC / UMass: ASU, sector, bytes, R|W, time in s; comma separated",
    sniff: |sample| understands(sample, Parser { sector_bytes: 512 }),
    open: |input, options| {
        let sector_bytes = options.sector_bytes_or(512);
        let lines = Lines::new(input.into_buffer());
        Ok(Box::new(TextDecoder::new(lines, Parser { sector_bytes }, sector_bytes)))
    },
};

struct Parser {
    sector_bytes: u32,
}

impl LineParser for Parser {
    fn parse(&mut self, line: &[u8]) -> Result<Request, Problem> {
        let mut fields = Fields::separated(line, b',');
        let device = fields.integer32("ASU")?;
        let lba = Lba(fields.integer("LBA")?);
        let bytes = fields.integer("size")?;
        let op = fields.direction("opcode")?;
        let arrival = Nanos(fields.fixed("time", 9)?);
        let (_, sectors) = sectors_of(0, bytes, self.sector_bytes)?;
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
        // The first rows of the UMass Financial1 trace.
        let requests =
            read_text(None, "0,303567,3584,w,0.000000\n1,55590,3072,w,0.000000\n0,20,513,R,0.026214,7\n")
                .unwrap();
        let second = Request { device: 1, ..Request::new(Nanos(0), Op::Write, Lba(55_590), 6) };
        assert_eq!(requests[0], Request::new(Nanos(0), Op::Write, Lba(303_567), 7));
        assert_eq!(requests[1], second);
        assert_eq!(requests[2], Request::new(Nanos(26_214_000), Op::Read, Lba(20), 2));
    }

    #[test]
    fn a_length_of_zero_names_the_option() {
        let error = read_text(Some("spc"), "0,1,512,r,0\n0,1,0,r,1\n").unwrap_err();
        assert!(error.to_string().ends_with("line 2: the request has a length of zero"), "{error}");
        assert!(error.hint().unwrap().contains("--skip-zero-length"));
    }
}
