//! DiskSim's validation traces: `RW ACTION LBN COUNT SERVICE_US GAP_US`, measured one request at a time.
//!
//! Nothing overlaps, so instants follow by summation: a request is issued (arrives and starts) a gap after the completion
//! of the one before and finishes SERVICE_US later. Whether the gap on a line comes [`After`](Gap::After) that line's
//! request or [`Before`](Gap::Before) it is an option. Summation is in picoseconds, so fractions of a microsecond do
//! not pile up. ACTION (`Hit`, `Miss`, `Doub`, `Trip`, seen on the bus) is dropped. Sectors of 512 bytes.

use headstack_units::{Lba, Nanos};

use crate::format::Format;
use crate::number::Problem;
use crate::text::{Fields, LineParser, Lines, TextDecoder, understands};
use crate::{Gap, Request};

pub(super) static FORMAT: Format = Format {
    name: "disksim-validate",
    about: "DiskSim validation: R|W, action, sector, sectors, measured service in us, gap in us",
    sniff: |sample| understands(sample, Parser::new(Gap::After)),
    open: |input, options| {
        let parser = Parser::new(options.gap.unwrap_or_default());
        Ok(Box::new(TextDecoder::new(Lines::new(input.into_buffer()), parser, options.sector_bytes_or(512))))
    },
};

struct Parser {
    gap: Gap,
    clock_ps: u128,
}

impl Parser {
    fn new(gap: Gap) -> Self {
        Self { gap, clock_ps: 0 }
    }

    fn now(&self) -> Result<Nanos, Problem> {
        let now = u64::try_from((self.clock_ps + 500) / 1000);
        now.map(Nanos).map_err(|_| Problem("the sum of the times so far exceeds 584 years".into()))
    }
}

impl LineParser for Parser {
    fn parse(&mut self, line: &[u8]) -> Result<Request, Problem> {
        let mut fields = Fields::blanks(line);
        let op = fields.direction("direction")?;
        fields.word("action")?;
        let lba = Lba(fields.integer("sector")?);
        let sectors = fields.integer32("sectors")?;
        let service = fields.fixed("service time", 6)?;
        let gap = fields.fixed("gap", 6)?;
        fields.end()?;
        if self.gap == Gap::Before {
            self.clock_ps += u128::from(gap);
        }
        let issue = self.now()?;
        let finish = issue.saturating_add(Nanos(service / 1000 + u64::from(service % 1000 >= 500)));
        self.clock_ps += u128::from(service);
        if self.gap == Gap::After {
            self.clock_ps += u128::from(gap);
        }
        Ok(Request { start: issue, finish, ..Request::new(issue, op, lba, sectors) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{read_all, read_text, text_file};
    use crate::{Op, OpenOptions};

    const TWO: &str =
        "R Miss  564347     2     14095.370     13876.270\nW Hit 564349 3 1414.2706 18746.770\n";

    #[test]
    fn instants_follow_by_summation() {
        let requests = read_text(None, TWO).unwrap();
        let first = Request {
            start: Nanos(0),
            finish: Nanos(14_095_370),
            ..Request::new(Nanos(0), Op::Read, Lba(564_347), 2)
        };
        let at = Nanos(14_095_370 + 13_876_270);
        let finish = Nanos(at.0 + 1_414_271);
        assert_eq!(
            requests,
            [first, Request { start: at, finish, ..Request::new(at, Op::Write, Lba(564_349), 3) }]
        );
    }

    #[test]
    fn a_gap_before_moves_the_issue_and_nothing_else() {
        let file = text_file(TWO);
        let options = OpenOptions { gap: Some(Gap::Before), ..OpenOptions::default() };
        let requests = read_all(file.path(), &options).unwrap();
        assert_eq!(requests[0].arrival, Nanos(13_876_270));
        assert_eq!(requests[1].arrival, Nanos(13_876_270 + 14_095_370 + 18_746_770));
        assert_eq!(requests[1].measured_service(), Some(Nanos(1_414_271)));
    }

    #[test]
    fn fractions_of_a_nanosecond_do_not_pile_up() {
        let text = "R Hit 0 1 0.0004 0.0004\n".repeat(1001);
        let requests = read_text(None, &text).unwrap();
        assert_eq!(
            (requests[1000].arrival, requests[1].arrival),
            (Nanos(800), Nanos(1)),
            "0.8 ns rounds to 1"
        );
    }

    #[test]
    fn absurd_times_are_an_error() {
        for text in ["R Hit 0 1 nan 1\n", "R Hit 0 1 -1 1\n", "R Hit 0 1 1e300 1\n"] {
            let error = read_text(Some("disksim-validate"), text).unwrap_err();
            assert!(error.to_string().contains("line 1: `service time`"), "{error}");
        }
        let years = "R Hit 0 1 18446744073709 18446744073709\n".repeat(1000);
        assert!(read_text(None, &years).unwrap_err().to_string().contains("years"));
    }
}
