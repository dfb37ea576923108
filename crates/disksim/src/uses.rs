//! What becomes of each parameter of `disksim_disk`: one table, and one of what DiskSim 4.0 itself takes otherwise.

use crate::meaning::Meaning;

/// What becomes of a parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Use {
    /// It goes here; [`crate::controller`] takes it there.
    Carried(&'static str),
    /// With this value it says what the model does anyway; another one is not carried, for the reason given.
    Only(f64, &'static str),
    /// Not carried, whatever it is.
    Not(&'static str),
    /// No drive behaves differently with it.
    Unused(&'static str),
}

use Use::{Carried, Not, Only, Unused};

const STATISTICS: &str = "concerns DiskSim's printing only";
const SNEAKY: &str = "a read is never served from data that another read is just fetching";

/// Every parameter of `disksim_disk`, in the order of the files.
pub(crate) const TABLE: [(&str, Use); 65] = [
    ("Model", Carried("layout, seek, mechanics, rotation_rpm")),
    ("Scheduler", Carried("controller.scheduler")),
    ("Max queue length", Carried("controller.queue_depth")),
    ("Bulk sector transfer time", Carried("bus.read_mb_per_s, bus.write_mb_per_s")),
    ("Never disconnect", Carried("bus.disconnects")),
    (
        "Hold bus entire read xfer",
        Only(0.0, "a read asks for the bus when its data are there; it is not held from the start"),
    ),
    (
        "Hold bus entire write xfer",
        Only(0.0, "the bus is held from command to completion, or released after the data"),
    ),
    ("Print stats", Unused(STATISTICS)),
    ("Per-request overhead time", Carried("controller.read_overhead_ms, controller.write_overhead_ms")),
    ("Time scale for overheads", Carried("all overheads")),
    ("Read hit over. after read", Carried("controller.hit_overhead_ms, controller.by_history.read_hit_ms")),
    ("Read hit over. after write", Carried("controller.by_history.read_hit_ms")),
    (
        "Read miss over. after read",
        Carried("controller.read_overhead_ms, controller.by_history.read_miss_ms"),
    ),
    ("Read miss over. after write", Carried("controller.by_history.read_miss_ms")),
    ("Write hit over. after read", Carried("controller.by_history.write_hit_ms")),
    ("Write hit over. after write", Carried("controller.by_history.write_hit_ms")),
    (
        "Write miss over. after read",
        Carried("controller.write_overhead_ms, controller.by_history.write_miss_ms"),
    ),
    ("Write miss over. after write", Carried("controller.by_history.write_miss_ms")),
    ("Read completion overhead", Carried("controller.read_completion_ms")),
    ("Write completion overhead", Carried("controller.write_completion_ms")),
    ("Data preparation overhead", Carried("controller.data_preparation_ms")),
    (
        "First reselect overhead",
        Carried("bus.reconnect_us; for writes part of controller.write_completion_ms"),
    ),
    ("Other reselect overhead", Carried("part of controller.write_completion_ms")),
    ("Read disconnect afterread", Only(0.0, "the drive leaves the bus while the arm moves")),
    ("Read disconnect afterwrite", Only(0.0, "the drive leaves the bus while the arm moves")),
    ("Write disconnect overhead", Carried("part of controller.write_completion_ms")),
    ("Extra write disconnect", Carried("controller.write_after_write_seek_delay_ms")),
    ("Extradisc command overhead", Only(0.0, "the extra disconnect overlaps the seek")),
    ("Extradisc disconnect overhead", Only(0.0, "the extra disconnect overlaps the seek")),
    ("Extradisc inter-disconnect delay", Only(0.0, "the extra disconnect overlaps the seek")),
    ("Extradisc 2nd disconnect overhead", Only(0.0, "the extra disconnect overlaps the seek")),
    ("Extradisc seek delta", Carried("controller.write_after_write_seek_delay_ms")),
    ("Minimum seek delay", Carried("controller.seek_after_ms, buffer.write_start_ms")),
    (
        "Disconnect write if seek",
        Only(0.0, "a write's data may come while the arm moves, without a disconnect in between"),
    ),
    ("Number of buffer segments", Carried("cache.segments, buffer.size_kib")),
    ("Segment size (in blks)", Carried("cache.segment_kib, buffer.size_kib")),
    ("Maximum number of write segments", Carried("write_policy.immediate-reporting.pending_writes")),
    ("Use separate write segment", Carried("cache.written_data")),
    ("Enable caching in buffer", Carried("cache: present or not")),
    ("Buffer continuous read", Carried("cache.read_ahead")),
    ("Minimum read-ahead (blks)", Only(0.0, "read-ahead stops at once when it is in the way")),
    ("Maximum read-ahead (blks)", Carried("cache.read_ahead_limit_kib")),
    ("Read-ahead over requested", Carried("cache.read_ahead_over_requested")),
    ("Read-ahead on idle hit", Carried("cache.read_ahead_on_hit")),
    ("Read any free blocks", Carried("cache.zero_latency, cache.whole_track")),
    ("Stop prefetch in sector", Only(0.0, "read-ahead ends with a sector")),
    ("Write hit stop prefetch", Only(1.0, "a write always stops read-ahead")),
    ("Read directly to buffer", Only(1.0, "reads always go through the buffer")),
    ("Fast write level", Carried("write_policy")),
    ("Combine seq writes", Only(1.0, "a write that continues the one before is always joined to it")),
    ("Allow write prebuffering", Only(0.0, "a write is not buffered before the drive takes it up")),
    ("Low (write) water mark", Not("when a write goes to the media follows from the two rates")),
    ("High (read) water mark", Carried("buffer.read_fence_fraction, buffer.read_fence_kib")),
    (
        "Set watermark by reqsize",
        Carried("buffer.read_fence_fraction (of a request) or buffer.read_fence_kib (of a segment)"),
    ),
    (
        "Preseeking level",
        Only(0.0, "a seek for the next command does not begin while this one is on the bus"),
    ),
    ("Allow almost read hits", Only(0.0, SNEAKY)),
    ("Allow sneaky full read hits", Only(0.0, SNEAKY)),
    ("Allow sneaky partial read hits", Only(0.0, SNEAKY)),
    ("Allow sneaky intermediate read hits", Only(0.0, SNEAKY)),
    ("Allow read hits on write data", Carried("cache.written_data")),
    ("Immediate buffer read", Only(0.0, "a read asks for the bus at its water mark")),
    ("Immediate buffer write", Only(0.0, "a write asks for its data when its overhead is over")),
    ("Immed transfer partial hit", Only(1.0, "the cached part of a read is sent at once")),
    ("Calc sector by sector", Only(1.0, "transfers are computed exactly")),
    ("Avg sectors per cylinder", Unused("a hint for DiskSim's schedulers; the layout says it exactly")),
];

const WITHOUT_EFFECT: &str = "DiskSim 4.0 does the same with and without it";

/// What becomes of parameters that mean something else here to DiskSim 4.0 itself than in [`TABLE`].
const TO_DISKSIM: [(&str, Use); 12] = [
    ("Hold bus entire read xfer", Carried("buffer.bus_transfers")),
    ("First reselect overhead", Carried("bus.reconnect_us, controller.write_completion_ms")),
    ("Other reselect overhead", Carried("controller.write_after_write_completion_ms")),
    ("Write disconnect overhead", Unused(WITHOUT_EFFECT)),
    ("Extradisc command overhead", Carried("controller.write_after_write_seek_delay_ms")),
    ("Minimum seek delay", Carried("controller.least_write_seek_ms")),
    ("Maximum number of write segments", Unused(WITHOUT_EFFECT)),
    ("Read any free blocks", Unused(WITHOUT_EFFECT)),
    ("Stop prefetch in sector", Carried("cache.read_ahead_stop")),
    ("Low (write) water mark", Unused(WITHOUT_EFFECT)),
    ("Immediate buffer read", Unused(WITHOUT_EFFECT)),
    ("Immediate buffer write", Unused(WITHOUT_EFFECT)),
];

/// What becomes of a parameter under a meaning.
pub(crate) fn becomes(name: &str, meaning: Meaning) -> Option<Use> {
    let find =
        |table: &[(&'static str, Use)]| table.iter().find(|(known, _)| *known == name).map(|row| row.1);
    let own = if meaning == Meaning::Disksim { find(&TO_DISKSIM) } else { None };
    own.or_else(|| find(&TABLE))
}
