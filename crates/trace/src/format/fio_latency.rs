//! fio's latency logs (`--write_lat_log`): `TIME_MS, LATENCY_NS, DIRECTION, BLOCK_SIZE[, OFFSET][, PRIORITY[, ISSUE]]`, direction 0
//! read, 1 write, 2 trim (left out). A line is written at the completion, so the arrival is the time less the latency, and
//! the time is known to a millisecond only.
//!
//! The offset is there with `--log_offset=1`. Without it newer versions put the priority into the fifth column, which is 0, 1 or a
//! hexadecimal number: a log of which the beginning has nothing else there has no offsets. Where its requests lie is then a model: each
//! behind the one before in the log, from sector 0 on. Whoever reads it has to name the format ([`super::doubt`]). fio 2 writes four
//! columns, and latencies in microseconds (`--iolog-unit us`).

use headstack_units::{Lba, Nanos};

use crate::format::completions::Completions;
use crate::format::{Format, IologUnit};
use crate::input::Sample;
use crate::number::{self, Problem};
use crate::text::{Fields, sectors_of};
use crate::{Op, Request, TraceError};

pub(super) static FORMAT: Format = Format {
    name: "fio-latency",
    about: "fio --write_lat_log: completion in ms, latency in ns (--iolog-unit us: fio 2), 0 read or 1 write, bytes, offset",
    sniff: |sample| {
        let mut lines = sample.lines().peekable();
        let mut log = Log::new(has_offsets(sample), 512);
        // fio writes a blank behind each comma; tables of others do not.
        lines.peek().is_some_and(|line| memchr::memmem::find(line, b", ").is_some())
            && lines.all(|line| log.parse(line).is_ok())
    },
    open: |input, options| {
        let sector_bytes = options.sector_bytes_or(512);
        let mut log = Log::new(has_offsets(input.sample()), sector_bytes);
        match options.iolog_unit {
            None => {}
            Some(IologUnit::Microseconds) => log.decimals = 3,
            Some(IologUnit::Milliseconds) => {
                return Err(TraceError::unusable(
                    format!("`{}`: no version of fio logs latencies in ms", input.path().display()),
                    "--iolog-unit us for those of fio 2, none for ns".into(),
                ));
            }
        }
        Ok(Box::new(Completions::new(input, sector_bytes, move |line: &[u8]| log.parse(line))))
    },
};

/// Whether the fifth column holds offsets: a number that is no priority.
pub(super) fn has_offsets(sample: Sample<'_>) -> bool {
    sample.lines().any(|line| {
        let fifth = line.split(|byte| *byte == b',').nth(4).map(<[u8]>::trim_ascii);
        fifth.and_then(|word| number::integer(word, "offset").ok()).is_some_and(|number| number > 1)
    })
}

/// A log being read.
struct Log {
    has_offsets: bool,
    sector_bytes: u32,
    /// The power of ten that makes latencies nanoseconds.
    decimals: u32,
    /// Where the next request is placed, if there are no offsets, bytes.
    next: u64,
}

impl Log {
    fn new(has_offsets: bool, sector_bytes: u32) -> Self {
        Self { has_offsets, sector_bytes, decimals: 0, next: 0 }
    }

    fn parse(&mut self, line: &[u8]) -> Result<Option<Request>, Problem> {
        let mut fields = Fields::separated(line, b',');
        let completion = fields.fixed("time", 6)?;
        let latency = fields.fixed("latency", self.decimals)?;
        let op = match fields.word("direction")? {
            b"0" => Op::Read,
            b"1" => Op::Write,
            b"2" => return Ok(None),
            other => {
                return Err(Problem::field("direction", other, "expected 0 (read), 1 (write) or 2 (trim)"));
            }
        };
        let bytes = fields.integer("block size")?;
        let offset = if !self.has_offsets {
            let offset = self.next;
            self.next = offset.saturating_add(bytes.next_multiple_of(u64::from(self.sector_bytes)));
            offset
        } else if fields.rest().is_some() {
            fields.integer("offset")?
        } else {
            return Err(Problem("`offset` is missing, which other lines have".into()));
        };
        let (lba, sectors) = sectors_of(offset, bytes, self.sector_bytes)?;
        for more in ["priority", "issue time"] {
            if fields.rest().is_some() {
                let word = fields.word(more)?;
                if !(word.starts_with(b"0x") && word[2..].iter().all(u8::is_ascii_hexdigit)) {
                    number::integer(word, more)?;
                }
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

    /// The fifth column of newer versions is the priority then, and a request at sector 0 would be made up.
    #[test]
    fn without_offsets_each_request_lies_behind_the_one_before() {
        for lines in [
            ["5, 271631, 0, 4096", "9, 6000000, 1, 512", "9, 1, 0, 4096"],
            ["5, 271631, 0, 4096, 0", "9, 6000000, 1, 512, 1", "9, 1, 0, 4096, 0"],
            ["5, 271631, 0, 4096, 0x0001", "9, 6000000, 1, 512, 0x2004", "9, 1, 0, 4096, 0x0000"],
            ["5, 271631, 0, 4096, 0, 77", "9, 6000000, 1, 512, 0, 78", "9, 1, 0, 4096, 0, 79"],
        ] {
            let text = lines.join("\n");
            let mut places: Vec<_> = read_text(Some("fio-latency"), &text)
                .unwrap()
                .iter()
                .map(|request| (request.lba.0, request.sectors))
                .collect();
            places.sort_unstable();
            assert_eq!(places, [(0, 8), (8, 1), (9, 8)], "{text}");
        }
    }

    #[test]
    fn latencies_of_fio_2_are_microseconds() {
        let file = crate::testing::text_file("5, 2000, 0, 4096\n9, 6000, 1, 4096\n");
        let unit = |iolog_unit| crate::OpenOptions {
            iolog_unit: Some(iolog_unit),
            format: Some("fio-latency".into()),
            ..crate::OpenOptions::default()
        };
        let requests = crate::testing::read_all(file.path(), &unit(IologUnit::Microseconds)).unwrap();
        let response = |request: &Request| request.measured_response().map(|time| time.0);
        assert_eq!(requests.iter().map(response).collect::<Vec<_>>(), [Some(2_000_000), Some(6_000_000)]);
        let error = crate::testing::read_all(file.path(), &unit(IologUnit::Milliseconds)).unwrap_err();
        assert!(error.to_string().contains("no version of fio"), "{error}");
    }
}
