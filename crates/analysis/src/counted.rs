//! Shows what tests count over many made traces, which is more than the bounds they assert.

/// Seen with `cargo test -p headstack-analysis --lib -- --nocapture`.
#[expect(clippy::print_stderr, reason = "VALIDATION.md tells these counts")]
pub(crate) fn show(what: &str, named: usize, held: Option<usize>, of: usize) {
    let held = held.map_or_else(String::new, |held| format!(", {held} intervals hold it"));
    eprintln!("counted: {what}: {named} of {of}{held}");
}
