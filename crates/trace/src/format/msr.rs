//! MSR Cambridge (SNIA): `Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime`.
//!
//! Timestamp and response are in Windows ticks of 100 ns, the former since 1601; the first arrival of the file becomes
//! zero. Offset and size are in bytes, rounded outwards to sectors of 512 bytes. The response counts from the arrival at the
//! host; when the device began is not in the file. Not all published files are in time order: read those with `--sort`.

use headstack_units::{Lba, Nanos};

use crate::Request;
use crate::format::Format;
use crate::number::Problem;
use crate::text::{Fields, LineParser, Lines, TextDecoder, sectors_of, understands};

pub(super) static FORMAT: Format = Format {
    name: "msr",
    about: "MSR Cambridge: FILETIME ticks, host, disk, Read|Write, byte offset, bytes, response in 100 ns ticks",
    sniff: |sample| understands(sample, Parser { sector_bytes: 512 }),
    open: |input, options| {
        let sector_bytes = options.sector_bytes_or(512);
        let lines = Lines::new(input.into_buffer());
        Ok(Box::new(TextDecoder::new(lines, Parser { sector_bytes }, sector_bytes).with_absolute_clock()))
    },
};

const TICK_NS: u64 = 100;

struct Parser {
    sector_bytes: u32,
}

impl LineParser for Parser {
    fn parse(&mut self, line: &[u8]) -> Result<Request, Problem> {
        let mut fields = Fields::separated(line, b',');
        let arrival = ticks(&mut fields, "timestamp")?;
        fields.word("hostname")?;
        let device = fields.integer32("disk number")?;
        let op = fields.direction("type")?;
        let offset = fields.integer("offset")?;
        let bytes = fields.integer("size")?;
        let response = ticks(&mut fields, "response time")?;
        fields.end()?;
        let (lba, sectors) = sectors_of(offset, bytes, self.sector_bytes)?;
        let finish = arrival.0.checked_add(response.0).filter(|&finish| finish != u64::MAX);
        let finish = finish.ok_or_else(|| Problem("the response time is too large".into()))?;
        Ok(Request { finish: Nanos(finish), device, ..Request::new(arrival, op, Lba(lba), sectors) })
    }
}

#[inline]
fn ticks(fields: &mut Fields<'_>, name: &str) -> Result<Nanos, Problem> {
    let ticks = fields.integer(name)?;
    let nanoseconds = ticks.checked_mul(TICK_NS).filter(|&ns| ns != u64::MAX);
    nanoseconds
        .map(Nanos)
        .ok_or_else(|| Problem(format!("`{name}` of {ticks} ticks lies after the year 2185")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{read_all, read_text, text_file};
    use crate::{Op, OpenOptions};

    const THREE: &str = "128166385295514663,hm,0,Write,9056014336,2048,2833\n\
        128166385295514878,hm,1,Read,11855351808,512,2617\n128166385295514600,hm,0,Write,4608,1,3\n";

    #[test]
    fn ticks_count_from_the_first_arrival() {
        let two: String = THREE.split_inclusive('\n').take(2).collect();
        let file = text_file(&two);
        let requests = read_all(file.path(), &OpenOptions::default()).unwrap();
        assert_eq!(requests.len(), 2);
        let first = Request::new(Nanos(0), Op::Write, Lba(17_687_528), 4);
        assert_eq!(requests[0], Request { finish: Nanos(283_300), ..first });
        assert_eq!((requests[1].arrival, requests[1].device), (Nanos(21_500), 1));
        assert_eq!((requests[1].measured_service(), requests[1].finish), (None, Nanos(283_200)));
    }

    #[test]
    fn sorting_starts_at_the_earliest() {
        let error = read_text(None, THREE).unwrap_err();
        assert!(error.to_string().contains("line 3: the request arrives"), "{error}");
        let options = OpenOptions { sort: true, ..OpenOptions::default() };
        let requests = read_all(text_file(THREE).path(), &options).unwrap();
        assert_eq!(requests.iter().map(|r| r.arrival.0).collect::<Vec<_>>(), [0, 6_300, 27_800]);
        assert_eq!((requests[0].lba, requests[0].sectors, requests[0].finish), (Lba(9), 1, Nanos(300)));
    }
}
