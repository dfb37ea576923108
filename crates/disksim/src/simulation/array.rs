//! What an organisation of several disks is here: a level, its options, and the order of its disks.

use super::organisation::Array;
use crate::error::ImportError;
use crate::fields::Fields;
use headstack_system::spec::{ParityLayout, ReadChoice, SmallWrites, VolumeSpec, WriteOrder};

/// Blocks of DiskSim in a KiB.
const BLOCKS_PER_KIB: f64 = 2.0;

/// The array that stripes of `unit` blocks over disks make; `None` where there is no such volume here.
pub(super) fn array(fields: &Fields<'_>, disks: &[usize], unit: f64) -> Result<Option<Array>, ImportError> {
    let is_striped = fields.text("Distribution scheme")? == Some("Striped");
    let redundancy = fields.text("Redundancy scheme")?.unwrap_or("Noredun");
    let kib = Some(unit / BLOCKS_PER_KIB).filter(|_| is_striped && unit >= 1.0);
    match redundancy {
        "Noredun" if kib.is_some() => {
            let spec =
                VolumeSpec { level: "raid-0".to_owned(), stripe_unit_kib: kib, ..VolumeSpec::default() };
            Ok(Some(Array { spec, disks: disks.to_vec() }))
        }
        "Shadowed" => copies(fields, disks, kib),
        "Parity_rotated" | "Parity_disk" if kib.is_some() => parity(fields, disks, unit, redundancy),
        _ => Ok(None),
    }
}

/// DiskSim has the copies of disk d on d + k·N/c; here the copies of a stripe unit are on neighbours.
fn copies(fields: &Fields<'_>, disks: &[usize], kib: Option<f64>) -> Result<Option<Array>, ImportError> {
    let copies = fields.whole("Number of copies", 1, 1_000_000)?.unwrap_or(2) as usize;
    let read_choice = match fields.whole("Copy choice on read", 1, 1_000)?.unwrap_or(6) {
        1 => ReadChoice::First,
        3 => ReadChoice::RoundRobin,
        4 => ReadChoice::Nearest,
        5 | 6 => ReadChoice::LeastBusy,
        _ => return Ok(None),
    };
    if copies < 2 || !disks.len().is_multiple_of(copies) || (kib.is_none() && disks.len() != copies) {
        return Ok(None);
    }
    let groups = disks.len() / copies;
    let spec = VolumeSpec { read_choice: Some(read_choice), ..VolumeSpec::default() };
    let spec = if groups == 1 {
        VolumeSpec { level: "raid-1".to_owned(), ..spec }
    } else {
        let copies = Some(copies as u32);
        VolumeSpec { level: "raid-10".to_owned(), stripe_unit_kib: kib, copies, ..spec }
    };
    let disks = (0..disks.len()).map(|place| disks[place / copies + place % copies * groups]).collect();
    Ok(Some(Array { spec, disks }))
}

fn parity(
    fields: &Fields<'_>,
    disks: &[usize],
    unit: f64,
    redundancy: &str,
) -> Result<Option<Array>, ImportError> {
    let is_rotated = redundancy == "Parity_rotated";
    let rotation = fields.whole("Parity rotation type", 1, 1_000)?.unwrap_or(1);
    let parity_unit = fields.real("Parity stripe unit")?.unwrap_or(unit);
    let threshold = fields.real("RMW vs. reconstruct")?.unwrap_or(0.5);
    let Some(small_writes) = small_writes(threshold, disks.len()) else { return Ok(None) };
    if disks.len() < 3 || is_rotated && (rotation != 1 || parity_unit != unit) {
        return Ok(None);
    }
    let is_safe = fields.whole("Synch writes for safety", 0, 1)?.unwrap_or(0) == 1;
    let write_order = if is_safe { WriteOrder::AfterAllReads } else { WriteOrder::AfterOwnReads };
    let spec = VolumeSpec {
        level: if is_rotated { "raid-5" } else { "raid-4" }.to_owned(),
        stripe_unit_kib: Some(unit / BLOCKS_PER_KIB),
        parity_layout: is_rotated.then_some(ParityLayout::LeftSymmetric),
        small_writes: Some(small_writes),
        write_order: Some(write_order),
        // DiskSim lets writes of a stripe overlap.
        stripe_lock: Some(false),
        ..VolumeSpec::default()
    };
    Ok(Some(Array { spec, disks: disks.to_vec() }))
}

/// DiskSim reads the old values where a write has fewer pieces in a stripe than the threshold times the disks; `None` where
/// that is another number of pieces than with any of our words.
fn small_writes(threshold: f64, disks: usize) -> Option<SmallWrites> {
    let data = disks.checked_sub(1)?;
    let modified = ((threshold * disks as f64) as usize).saturating_sub(1);
    // p pieces: p + 1 reads of old values, or data − p of the rest.
    let fewest = (1..data).take_while(|&pieces| pieces < data - pieces).count();
    if modified == fewest {
        Some(SmallWrites::FewestReads)
    } else if modified >= data.saturating_sub(1) {
        Some(SmallWrites::ReadModifyWrite)
    } else {
        (modified == 0).then_some(SmallWrites::ReconstructWrite)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thresholds_become_words_where_there_is_one() {
        // Nine disks: fewer than four pieces, and three of them read four old values rather than five others.
        assert_eq!(small_writes(0.5, 9), Some(SmallWrites::FewestReads));
        assert_eq!(small_writes(0.5, 4), Some(SmallWrites::FewestReads));
        assert_eq!(small_writes(1.0, 9), Some(SmallWrites::ReadModifyWrite));
        assert_eq!(small_writes(0.1, 9), Some(SmallWrites::ReconstructWrite));
        assert_eq!(small_writes(0.7, 9), None);
    }
}
