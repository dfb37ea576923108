//! fio's latency logs (`--write_lat_log`): `TIME_MS, LATENCY_NS, DIRECTION, BLOCK_SIZE[, OFFSET[, PRIORITY[, ISSUE]]]`, direction 0
//! read, 1 write, 2 trim (left out). A line is written at the completion, so the arrival is the time less the latency, and
//! the time is known to a millisecond only. The offset is that of the I/O with `--log_offset=1`, 0 otherwise.

use headstack_units::{Lba, Nanos};

use crate::format::Format;
use crate::format::completions::Completions;
use crate::number::{self, Problem};
use crate::text::{Fields, sectors_of};
use crate::{Op, Request};

pub(super) static FORMAT: Format = Format {
    name: "fio-latency",
    about: "fio --write_lat_log: completion in ms, latency in ns, 0 read or 1 write, bytes, offset",
    sniff: |sample| {
        let mut lines = sample.lines().peekable();
        // fio writes a blank behind each comma; tables of others do not.
        lines.peek().is_some_and(|line| memchr::memmem::find(line, b", ").is_some())
            && lines.all(|line| parse(line, 512).is_ok())
    },
    open: |input, options| {
        let sector_bytes = options.sector_bytes_or(512);
        Ok(Box::new(Completions::new(input, sector_bytes, move |line: &[u8]| parse(line, sector_bytes))))
    },
};

fn parse(line: &[u8], sector_bytes: u32) -> Result<Option<Request>, Problem> {
    let mut fields = Fields::separated(line, b',');
    let completion = fields.fixed("time", 6)?;
    let latency = fields.integer("latency")?;
    let op = match fields.word("direction")? {
        b"0" => Op::Read,
        b"1" => Op::Write,
        b"2" => return Ok(None),
        other => return Err(Problem::field("direction", other, "expected 0 (read), 1 (write) or 2 (trim)")),
    };
    let bytes = fields.integer("block size")?;
    // Older versions write no offset.
    let offset = if fields.rest().is_some() { fields.integer("offset")? } else { 0 };
    let (lba, sectors) = sectors_of(offset, bytes, sector_bytes)?;
    for more in ["priority", "issue time"] {
        if fields.rest().is_some() {
            number::integer(fields.word(more)?, more)?;
        }
    }
    fields.end()?;
    // The first milliseconds may be stamped earlier than the latency allows.
    let finish = completion.max(latency);
    Ok(Some(Request {
        finish: Nanos(finish),
        ..Request::new(Nanos(finish - latency), op, Lba(lba), sectors)
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::read_text;

    #[test]
    fn completions_become_requests_in_order_of_arrival() {
        let text = "5, 271631, 0, 4096, 249856, 0\n9, 6000000, 1, 4096, 0, 0\n9, 1, 2, 512, 0, 0\n";
        let requests = read_text(Some("fio-latency"), text).unwrap();
        let first = Request { finish: Nanos(6_000_000), ..Request::new(Nanos(0), Op::Write, Lba(0), 8) };
        assert_eq!(requests[0], first);
        assert_eq!((requests[1].arrival, requests[1].lba), (Nanos(2_000_000 - 271_631), Lba(488)));
    }
}
