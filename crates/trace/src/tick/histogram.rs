//! Counts of responses by ticks, in the paper's words (§2.4): `N responses took T ticks.`, one line a tick.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use super::TICKS_PER_S;
use crate::TraceError;
use crate::input::Input;
use crate::number::{self, Problem};
use crate::text::{Fields, Lines, trim};

/// How many responses took how many ticks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TickHistogram {
    counts: BTreeMap<u64, u64>,
}

impl TickHistogram {
    /// Counts one response.
    pub fn record(&mut self, ticks: u64) {
        *self.counts.entry(ticks).or_default() += 1;
    }

    /// Ticks with their counts, ascending; ticks that nothing took are not among them.
    pub fn counts(&self) -> impl Iterator<Item = (u64, u64)> {
        self.counts.iter().map(|(&ticks, &count)| (ticks, count))
    }

    /// All responses.
    pub fn responses(&self) -> u64 {
        self.counts.values().sum()
    }

    /// Mean and standard deviation in ticks; `None` without responses.
    pub fn mean_std_ticks(&self) -> Option<(f64, f64)> {
        let responses = u128::from(self.responses());
        let power = |exponent: u32| {
            self.counts().map(|(ticks, count)| u128::from(ticks).pow(exponent) * u128::from(count)).sum()
        };
        let (sum, squares): (u128, u128) = (power(1), power(2));
        let spread = (responses * squares).checked_sub(sum * sum)? as f64;
        (responses > 0).then(|| (sum as f64 / responses as f64, spread.sqrt() / responses as f64))
    }

    /// The share of responses of at most `ticks`.
    pub fn share_within(&self, ticks: u64) -> f64 {
        let within: u64 = self.counts.range(..=ticks).map(|(_, &count)| count).sum();
        if within == 0 { 0.0 } else { within as f64 / self.responses() as f64 }
    }

    /// The standard deviation of the true response times, where each came at any phase of the clock: the clock adds
    /// f(1 − f) ticks² to the variance of a response that ends a fraction f past a whole number of ticks, 1/6 on average.
    pub fn corrected_std_ms(&self) -> Option<f64> {
        let (_, std) = self.mean_std_ticks()?;
        Some((std * std - 1.0 / 6.0).max(0.0).sqrt() * 1000.0 / TICKS_PER_S as f64)
    }

    /// The lines of the paper, from 0 ticks to the most.
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        for (ticks, count) in self.counts() {
            // Writing to memory does not fail.
            let _ = writeln!(text, "{count} responses took {ticks} ticks.");
        }
        text
    }

    /// Reads such lines from a file.
    ///
    /// # Errors
    /// If it cannot be read, or a line is something else.
    pub fn of_file(path: &Path) -> Result<Self, TraceError> {
        let mut lines = Lines::new(Input::open(path)?.into_buffer());
        let mut histogram = Self::default();
        while let Some((line, number)) = lines.next()? {
            let line = trim(line);
            if line.is_empty() || line[0] == b'#' {
                continue;
            }
            let (count, ticks) = parse(line).map_err(|Problem(problem)| TraceError::Record {
                path: path.into(),
                place: format!("line {number}"),
                problem,
                hint: Some("a line reads `7480 responses took 0 ticks.`".into()),
            })?;
            *histogram.counts.entry(ticks).or_default() += count;
        }
        Ok(histogram)
    }
}

fn parse(line: &[u8]) -> Result<(u64, u64), Problem> {
    let mut fields = Fields::blanks(line);
    let count = fields.integer32("count")?;
    for expected in [&["responses", "response"][..], &["took"]] {
        let word = fields.word(expected[0])?;
        if !expected.iter().any(|expected| expected.as_bytes() == word) {
            return Err(Problem::field(expected[0], word, "expected `N responses took T ticks.`"));
        }
    }
    let ticks = number::integer32(fields.word("ticks")?, "ticks")?;
    let word = fields.word("ticks.")?;
    if !matches!(word, b"ticks." | b"ticks" | b"tick." | b"tick") {
        return Err(Problem::field("ticks.", word, "expected `N responses took T ticks.`"));
    }
    fields.end()?;
    Ok((u64::from(count), u64::from(ticks)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::text_file;

    const PAPER: [u64; 10] = [7480, 47922, 35755, 17120, 7821, 4734, 2803, 1667, 1203, 833];

    fn paper() -> String {
        let line = |(ticks, count)| format!("{count} responses took {ticks} ticks.\n");
        PAPER.iter().enumerate().map(line).collect::<Vec<_>>().concat()
    }

    #[test]
    fn the_histogram_of_the_paper() {
        let histogram = TickHistogram::of_file(text_file(&paper()).path()).unwrap();
        assert_eq!(histogram.responses(), 127_338);
        assert_eq!(histogram.to_text(), paper());
        // Facts derived from the lines: 94.9 % within 5 ticks, 5.9 % at none, a mean of 2.13 ticks.
        assert_eq!((histogram.share_within(5) * 1000.0).round(), 949.0);
        assert_eq!((histogram.share_within(0) * 1000.0).round(), 59.0);
        let (mean, std) = histogram.mean_std_ticks().unwrap();
        assert_eq!((mean * 100.0).round(), 213.0);
        let naive: f64 =
            histogram.counts().map(|(t, n)| (t as f64 - mean).powi(2) * n as f64).sum::<f64>() / 127_338.0;
        assert!((std - naive.sqrt()).abs() < 1e-9);
    }

    #[test]
    fn other_lines_are_refused() {
        let error =
            TickHistogram::of_file(text_file("1 responses took 0 ticks.\n2 took\n").path()).unwrap_err();
        assert!(error.to_string().contains("line 2: `responses` is `took`"), "{error}");
        assert_eq!(TickHistogram::default().mean_std_ticks(), None);
    }
}
