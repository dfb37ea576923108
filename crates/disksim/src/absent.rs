//! What a `disksim_disk` does not say, though drives differ by it: taken for nothing, and said.

use crate::electronics::Electronics;
use crate::parameters::Parameters;
use crate::report::Report;

/// Parameters, what each is without a word in the file, and the value of the drive that is assumed then, where the drive file has it.
const TABLE: [(&str, &str, &str); 30] = [
    ("Read hit over. after read", "0 ms", "controller.hit_overhead_ms"),
    ("Read hit over. after write", "0 ms", "controller.by_history.read_hit_ms"),
    ("Read miss over. after read", "0 ms", "controller.read_overhead_ms"),
    ("Read miss over. after write", "0 ms", "controller.by_history.read_miss_ms"),
    ("Write hit over. after read", "0 ms", "controller.by_history.write_hit_ms"),
    ("Write hit over. after write", "0 ms", "controller.by_history.write_hit_ms"),
    ("Write miss over. after read", "0 ms", "controller.write_overhead_ms"),
    ("Write miss over. after write", "0 ms", "controller.by_history.write_miss_ms"),
    ("Read completion overhead", "0 ms", ""),
    ("Write completion overhead", "0 ms", ""),
    ("Data preparation overhead", "0 ms", ""),
    ("First reselect overhead", "0 ms", ""),
    ("Other reselect overhead", "0 ms", ""),
    ("Write disconnect overhead", "0 ms", ""),
    ("Extra write disconnect", "0, none", ""),
    ("Extradisc seek delta", "0 ms", ""),
    ("Minimum seek delay", "0 ms", ""),
    ("High (read) water mark", "0", ""),
    ("Number of buffer segments", "1", "buffer.size_kib"),
    ("Segment size (in blks)", "128", "buffer.size_kib"),
    ("Enable caching in buffer", "0, no cache", ""),
    ("Buffer continuous read", "0, no read-ahead", "cache.read_ahead"),
    ("Maximum read-ahead (blks)", "no limit", ""),
    ("Read-ahead over requested", "0, no", ""),
    ("Read-ahead on idle hit", "0, no", ""),
    ("Read any free blocks", "0, no", ""),
    ("Use separate write segment", "0, no", ""),
    ("Allow read hits on write data", "1, yes", ""),
    ("Fast write level", "0, writes are reported when they are on the media", "write_policy"),
    ("Maximum number of write segments", "1", ""),
];

/// Names them in one warning, and has their values assumed.
pub(crate) fn tell(from: &Parameters<'_>, to: &mut Electronics, report: &mut Report) {
    let absent: Vec<_> = TABLE.iter().filter(|(name, ..)| !from.has(name)).collect();
    let has_cache = to.cache.is_some();
    for (name, taken_as, path) in &absent {
        if !path.is_empty() && (has_cache || !path.starts_with("cache.")) {
            to.assumed.push((path, format!("the file lacks `{name}`, taken as {taken_as}")));
        }
    }
    if let Some((first, ..)) = absent.first() {
        let told: Vec<String> =
            absent.iter().map(|(name, taken_as, _)| format!("`{name}` (taken as {taken_as})")).collect();
        report.warn(from.at(first), format!("the file lacks {}", told.join(", ")));
    }
}
