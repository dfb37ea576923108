//! Files that fit a format and could be something else as well: whoever reads them is asked, not guessed for.

use super::{Format, fio_latency};
use crate::TraceError;
use crate::input::Input;
use crate::text::Fields;

/// With a longer time between requests on average, a trace of milliseconds would be none of a disk: 30 s.
const IDLE_MS: u64 = 30_000;

/// Seconds since 1970 of the years 2000 to 2099.
const THIS_CENTURY: std::ops::Range<u64> = 946_684_800..4_102_444_800;

/// Why `format`, which the beginning of `input` looks like, may not be taken without being named.
pub(super) fn doubt(format: &Format, input: &Input) -> Option<TraceError> {
    let path = input.path().display();
    let (problem, hint) = match format.name {
        "mqsim" => nanoseconds_or_milliseconds(input)?,
        "tencent" => seconds_or_any_table(input)?,
        "fio-latency" => latencies_or_rates(input).or_else(|| without_offsets(input))?,
        _ => return None,
    };
    Some(TraceError::unusable(format!("`{path}` {problem}"), hint))
}

/// First and last time of the sample, as they stand, and how many requests there are.
fn times(input: &Input, fields: fn(&[u8]) -> Fields<'_>) -> (u64, u64, u64) {
    let mut found = (u64::MAX, 0, 0);
    for line in input.sample().lines() {
        if let Ok(time) = fields(line).integer("time") {
            found = (found.0.min(time), found.1.max(time), found.2 + 1);
        }
    }
    found
}

/// What a span of so many seconds would mean.
fn meaning(count: u64, span_s: f64) -> String {
    let rate = if span_s > 0.0 { (count.saturating_sub(1)) as f64 / span_s } else { f64::INFINITY };
    format!("the first {count} requests in {span_s:.3e} s, {rate:.3e} IOPS")
}

fn nanoseconds_or_milliseconds(input: &Input) -> Option<(String, String)> {
    let (first, last, count) = times(input, |line| Fields::blanks(line));
    let span = last.saturating_sub(first);
    if count > 1 && span / (count - 1) >= IDLE_MS {
        return None;
    }
    let (as_ns, as_ms) = (meaning(count, span as f64 / 1e9), meaning(count, span as f64 / 1e3));
    Some((
        format!(
            "has times that could count two things: ns as mqsim ({as_ns}) or ms as disksim-ascii ({as_ms})"
        ),
        "choose one with --format mqsim or --format disksim-ascii".into(),
    ))
}

fn seconds_or_any_table(input: &Input) -> Option<(String, String)> {
    let (first, last, count) = times(input, |line| Fields::separated(line, b','));
    if THIS_CENTURY.contains(&first) && THIS_CENTURY.contains(&last) {
        return None;
    }
    let as_s = meaning(count, last.saturating_sub(first) as f64);
    let as_us = meaning(count, last.saturating_sub(first) as f64 / 1e6);
    Some((
        format!(
            "could be two things: tencent, whose times are seconds since 1970, but these begin at {first} ({as_s}), or a \
             table without a header in another unit (in us: {as_us})"
        ),
        "choose one with --format tencent, or name the columns by position: --column 0=arrival_us --column 1=lba …".into(),
    ))
}

/// fio writes latencies, bandwidth and IOPS in the same form; only the name of the file tells.
fn latencies_or_rates(input: &Input) -> Option<(String, String)> {
    let name = input.path().file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let what =
        [("_bw.", "bandwidth, KiB/s"), ("_iops.", "IOPS")].into_iter().find(|(part, _)| name.contains(part));
    if let Some((_, what)) = what {
        return Some((
            format!("is by its name fio's log of {what}, which holds no latencies"),
            "give the log of --write_lat_log; if this is one all the same, say --format fio-latency".into(),
        ));
    }
    if name.contains("lat") {
        return None;
    }
    let line = input.sample().lines().next()?;
    let mut fields = Fields::separated(line, b',');
    fields.word("time").ok()?;
    let value = fields.integer("value").ok()?;
    Some((
        format!(
            "is a log of fio, but of what? Its first value, {value}, could be a latency ({:.3} ms), a bandwidth \
             ({:.3} MiB/s) or a number of IOPS",
            value as f64 / 1e6,
            value as f64 / 1024.0
        ),
        "if these are latencies, say --format fio-latency; the others are not traces".into(),
    ))
}

/// Where the requests of a log without offsets lie is a model, and of what version it is nobody knows.
fn without_offsets(input: &Input) -> Option<(String, String)> {
    if fio_latency::has_offsets(input.sample()) {
        return None;
    }
    Some((
        "is a latency log of fio without offsets, so that where its requests lie is not known; and if it has four \
         columns, its latencies could be ns (fio 3) or us (fio 2)"
            .into(),
        "have fio write offsets, with --log_offset=1; or say --format fio-latency, which puts each request behind the one \
         before, and of fio 2 --iolog-unit us as well"
            .into(),
    ))
}

#[cfg(test)]
mod tests {
    use crate::{OpenOptions, open};

    fn said(name: &str, text: &str, format: Option<&str>) -> Result<&'static str, (String, String)> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        let options = OpenOptions { format: format.map(str::to_owned), ..OpenOptions::default() };
        open(&path, &options)
            .map(|reader| reader.format())
            .map_err(|error| (error.to_string(), error.hint().unwrap_or_default().to_owned()))
    }

    #[test]
    fn whole_milliseconds_are_not_taken_for_nanoseconds() {
        let text = "0 0 100 8 1\n12 0 300 8 0\n40 0 500 8 1\n";
        let (problem, hint) = said("t", text, None).unwrap_err();
        assert!(problem.contains("ns as mqsim") && problem.contains("ms as disksim-ascii"), "{problem}");
        assert!(problem.contains("5.000e1 IOPS"), "{problem}");
        assert!(hint.contains("--format mqsim"));
        assert_eq!(said("t", text, Some("mqsim")), Ok("mqsim"));
        assert_eq!(said("t", text, Some("disksim-ascii")), Ok("disksim-ascii"));
        assert_eq!(said("t", "938513000 4 264719034 16 0\n938828000 3 197570570 16 1\n", None), Ok("mqsim"));
    }

    #[test]
    fn five_integers_are_not_taken_for_seconds() {
        let (problem, hint) = said("t", "100,8,16,0,1\n350,800,16,1,1\n", None).unwrap_err();
        assert!(problem.contains("tencent") && problem.contains("without a header"), "{problem}");
        assert!(hint.contains("--format tencent"));
        assert_eq!(said("t", "1538323199,4247200,128,1,1058\n1538323200,8,16,0,7\n", None), Ok("tencent"));
    }

    #[test]
    fn logs_of_bandwidth_are_not_taken_for_latencies() {
        let text = "5, 271631, 0, 4096, 249856, 0\n9, 6000000, 1, 4096, 0, 0\n";
        assert!(said("job_bw.1.log", text, None).unwrap_err().0.contains("bandwidth, KiB/s"));
        assert!(said("job_iops.1.log", text, None).unwrap_err().0.contains("log of IOPS"));
        assert!(said("job.log", text, None).unwrap_err().0.contains("of what?"));
        assert_eq!(said("job_lat.1.log", text, None), Ok("fio-latency"));
        // Without offsets: four columns, or a priority in the fifth.
        for text in ["5, 271631, 0, 4096\n9, 6000, 1, 4096\n", "5, 271631, 0, 4096, 0\n9, 6000, 1, 4096, 1\n"]
        {
            let (problem, hint) = said("job_lat.1.log", text, None).unwrap_err();
            assert!(
                problem.contains("without offsets") && hint.contains("--log_offset=1"),
                "{problem} {hint}"
            );
            assert_eq!(said("job_lat.1.log", text, Some("fio-latency")), Ok("fio-latency"));
        }
        assert_eq!(said("job.log", text, Some("fio-latency")), Ok("fio-latency"));
    }
}
