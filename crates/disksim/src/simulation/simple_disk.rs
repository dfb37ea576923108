//! `disksim_simpledisk`: a disk of which only a constant time is known.

use crate::error::ImportError;
use crate::fields::Fields;
use crate::parser::file_name;
use crate::report::Report;
use crate::tree::Block;
use crate::write::quoted;

/// Sectors on each of its tracks, which no time depends on.
const TRACK: u64 = 100;

/// Its drive file: every command takes access time and command overhead together.
pub(super) fn toml(block: &Block, report: &mut Report) -> Result<String, ImportError> {
    let fields = Fields { block };
    let blocks = fields.need_whole("Block count", 1, 1 << 40)?;
    let ms = fields.need_amount("Access time")? + fields.real("Command overhead")?.unwrap_or(0.0);
    report.carried("Block count", "layout.capacity_sectors");
    report.carried("Access time", "fidelity.constant_ms");
    report.carried("Command overhead", "part of fidelity.constant_ms");
    for name in ["Bus transaction latency", "Bulk sector transfer time"] {
        if let Some(value) = fields.real(name)?.filter(|value| *value != 0.0) {
            report.not_carried(name, value.to_string(), "a command of constant time has no transfer");
        }
    }
    let last = blocks.div_ceil(TRACK) - 1;
    let file = file_name(&block.at.file);
    let (name, from) = (quoted(&block.name), quoted(&format!("imported from DiskSim 4.0 file {file}")));
    Ok(format!(
        r#"# {}: a disk of which only a constant access time is known, imported from the DiskSim 4.0 file {file}.

name = {name}
summary = "A disk of constant access time."
sector_bytes = 512
rotation_rpm = 6000.0

[layout]
order = "classical"
heads = 1
capacity_sectors = {blocks}

[[layout.zone]]
first_cylinder = 0
last_cylinder = {last}
sectors_per_track = {TRACK}
track_skew_sectors = 0.0
cylinder_skew_sectors = 0.0

[seek.constant]
time_ms = 0.0

[mechanics]
head_switch_ms = 0.0
read_settle_ms = 0.0
write_settle_ms = 0.0

[controller]
read_overhead_ms = 0.0
write_overhead_ms = 0.0
queue_depth = 1
scheduler = "fcfs"

[buffer]
size_kib = 64.0

[write_policy.write-through]

[bus]
read_mb_per_s = 1e6
write_mb_per_s = 1e6
disconnects = true

[fidelity]
constant_ms = {ms:?}

[provenance]
fidelity = {{ kind = "spec", source = {from} }}
"layout.capacity_sectors" = {{ kind = "spec", source = {from} }}
layout = {{ kind = "assumed", source = "no time depends on it" }}
rotation_rpm = {{ kind = "assumed", source = "no time depends on it" }}
sector_bytes = {{ kind = "assumed", source = "DiskSim counts blocks of 512 bytes" }}
seek = {{ kind = "assumed", source = "no time depends on it" }}
mechanics = {{ kind = "assumed", source = "no time depends on it" }}
controller = {{ kind = "assumed", source = "no time depends on it" }}
buffer = {{ kind = "assumed", source = "no time depends on it" }}
write_policy = {{ kind = "assumed", source = "no time depends on it" }}
bus = {{ kind = "assumed", source = "no time depends on it" }}
"#,
        block.name
    ))
}
