//! SYSTOR '17 traces (Lee et al., storage of a virtual desktop infrastructure): a header, then
//! `Timestamp,Response,IOType,LUN,Offset,Size`; seconds since 1970, seconds (empty where unknown), R or W, bytes, bytes.
//!
//! The records stand in order of completion, not of arrival: read them with `--sort`.

use headstack_units::{Lba, Nanos};

use crate::Request;
use crate::format::Format;
use crate::input::Sample;
use crate::number::{self, Problem};
use crate::text::{Fields, LineParser, Lines, TextDecoder, sectors_of};

pub(super) static FORMAT: Format = Format {
    name: "systor17",
    about: "SYSTOR '17: Timestamp (s), Response (s), IOType, LUN, Offset and Size (bytes); header, comma separated",
    sniff: |sample: Sample<'_>| sample.lines().next() == Some(HEADER),
    open: |input, options| {
        let sector_bytes = options.sector_bytes_or(512);
        let lines = Lines::new(input.into_buffer());
        let parser = Parser { sector_bytes, header: true };
        Ok(Box::new(TextDecoder::new(lines, parser, sector_bytes).with_absolute_clock()))
    },
};

const HEADER: &[u8] = b"Timestamp,Response,IOType,LUN,Offset,Size";

struct Parser {
    sector_bytes: u32,
    /// The header has not been seen.
    header: bool,
}

impl LineParser for Parser {
    fn parse(&mut self, line: &[u8]) -> Result<Request, Problem> {
        let mut fields = Fields::separated(line, b',');
        let arrival = Nanos(fields.fixed("Timestamp", 9)?);
        let response = fields.word("Response")?;
        let op = fields.direction("IOType")?;
        let device = fields.integer32("LUN")?;
        let offset = fields.integer("Offset")?;
        let (lba, sectors) = sectors_of(offset, fields.integer("Size")?, self.sector_bytes)?;
        fields.end()?;
        let mut request = Request { device, ..Request::new(arrival, op, Lba(lba), sectors) };
        if !response.is_empty() {
            request.finish = arrival.saturating_add(Nanos(number::fixed(response, 9, "Response")?));
        }
        Ok(request)
    }

    fn is_header(&mut self, line: &[u8]) -> bool {
        std::mem::take(&mut self.header) && line == HEADER
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Op;
    use crate::testing::read_text;

    #[test]
    fn fields_become_a_request() {
        let text = "Timestamp,Response,IOType,LUN,Offset,Size\n1455591804.310701000,0.006475000,R,2,1024,513\n\
            1455591804.310702,,W,0,0,512\n";
        let requests = read_text(None, text).unwrap();
        let first =
            Request { device: 2, finish: Nanos(6_475_000), ..Request::new(Nanos(0), Op::Read, Lba(2), 2) };
        assert_eq!(requests, [first, Request::new(Nanos(1000), Op::Write, Lba(0), 1)]);
        let error = read_text(Some("systor17"), &text.replace(",R,", ",Q,")).unwrap_err().to_string();
        assert!(error.contains("line 2: `IOType` is `Q`"), "{error}");
    }
}
