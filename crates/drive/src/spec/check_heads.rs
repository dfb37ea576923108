//! Checks of heads that differ: densities of their own, and angles of their own.

use super::check::Findings;
use super::{LayoutSpec, ZoneSpec};
use crate::layout::runs_by_head;

/// Each run along a surface costs about 300 bytes.
const MOST_RUNS: u64 = 300_000;

pub(super) fn heads(layout: &LayoutSpec, findings: &mut Findings) {
    if !layout.heads_differ() {
        return;
    }
    let heads = layout.heads as usize;
    let angles = &layout.head_angle_revolutions;
    if !angles.is_empty() && angles.len() != heads {
        let message = format!("{} angles, but the drive has {heads} heads: name one for each", angles.len());
        findings.add("layout.head_angle_revolutions", message);
    }
    for (head, &turns) in angles.iter().enumerate() {
        findings.range(&format!("layout.head_angle_revolutions.{head}"), turns, 0.0, 1.0);
    }
    for (index, zone) in layout.zone.iter().enumerate() {
        densities(&format!("layout.zone.{index}"), zone, heads, findings);
    }
    without(layout, findings);
    // Only a sound layout can be walked.
    if findings.0.is_empty() {
        let runs = runs_by_head(layout);
        if runs > MOST_RUNS {
            let message = format!(
                "heads that differ make {runs} runs of tracks, more than {MOST_RUNS}: use order = \
                 \"serpentine-by-surface\" with more cylinders in a group (layout.group_cylinders)"
            );
            findings.add("layout.zone", message);
        }
    }
}

fn densities(path: &str, zone: &ZoneSpec, heads: usize, findings: &mut Findings) {
    let by_head = &zone.sectors_per_track_by_head;
    let path = format!("{path}.sectors_per_track_by_head");
    if !by_head.is_empty() && by_head.len() != heads {
        let message =
            format!("{} densities, but the drive has {heads} heads: name one for each", by_head.len());
        findings.add(&path, message);
    }
    for (head, &sectors) in by_head.iter().enumerate() {
        if !(1..=1_000_000).contains(&sectors) {
            findings.add(format!("{path}.{head}"), format!("{sectors} is not between 1 and 1000000"));
        }
    }
}

/// What counts tracks or sectors as if all heads were alike.
fn without(layout: &LayoutSpec, findings: &mut Findings) {
    let mut add = |path: String, what: &str| {
        findings.add(
            path,
            format!("{what} do not go with heads that differ: remove them, or describe the runs of tracks"),
        );
    };
    if !layout.region.is_empty() {
        add("layout.region".to_owned(), "regions");
    }
    if !layout.slipped_tracks.is_empty() {
        add("layout.slipped_tracks".to_owned(), "slipped tracks");
    }
    for (index, zone) in layout.zone.iter().enumerate() {
        if zone.spares.is_some() {
            add(format!("layout.zone.{index}.spares"), "spares that tracks share");
        }
        if zone.empty_sectors_at_front > 0 {
            add(format!("layout.zone.{index}.empty_sectors_at_front"), "sectors that the drive keeps");
        }
    }
}
