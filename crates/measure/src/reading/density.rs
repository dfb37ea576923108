//! Whether surfaces differ in density: then tracks next to each other have sectors of different widths, or the number of sectors
//! goes up and down over the device, and one number of sectors for all tracks of a zone would be wrong.

use super::order;
use super::tracks::Border;
use super::zones::Zone;
use crate::angles::median::{median, spread};
use std::collections::BTreeMap;

/// No drive has more surfaces.
const MOST_HEADS: usize = 24;
/// Tracks are of one density whose sectors in a turn differ by no more than this, …
const ALIKE: f64 = 1.0;
/// … and of several where the widest and the narrowest differ by more than this many, and by more than this share.
const LEAST_SECTORS: f64 = 2.0;
const LEAST_SHARE: f64 = 0.004;
/// Of the tracks, so many must fit the pattern: slipped and spare sectors spoil a few.
const FITTING: f64 = 0.85;
/// The sectors of tracks that differ by few are as wide as their number says if they are off by less than this, in sectors, and the
/// middle of so many tracks at least, by so many standard errors.
const AS_WIDE: f64 = 0.4;
const LEAST_TRACKS: usize = 3;
const SURE: f64 = 4.0;
/// Inwards the sectors become fewer: it is odd where they become more so often, and at so large a share of the borders.
const ODD: usize = 3;
const ODD_SHARE: f64 = 0.25;

/// The sectors of each surface's tracks, in the order of addresses from a change of cylinder on (where that shows), by tracks one
/// behind the other; `None` where all have one density.
pub(crate) fn by_head(borders: &[Border]) -> Option<Vec<u64>> {
    let tracks: Vec<(f64, u64)> = borders
        .iter()
        .map(|border| (border.own_per_turn, border.sectors_before.unwrap_or(0)))
        .skip_while(|(per_turn, _)| !per_turn.is_finite())
        .collect();
    let recurs = |after: usize| {
        let pairs = tracks.iter().zip(tracks.iter().skip(after));
        let alike = pairs.filter(|(a, b)| (a.0 - b.0).abs() <= ALIKE).count();
        alike as f64 >= FITTING * (tracks.len() - after) as f64
    };
    if tracks.len() < 2 * MOST_HEADS {
        return None;
    }
    if recurs(1) {
        return by_few_sectors(borders);
    }
    let heads = (2..=MOST_HEADS).find(|&after| recurs(after))?;
    let skipped = borders.len() - tracks.len();
    // The track that ends at a border is the one before it.
    let first = order::pattern(borders).map_or(skipped, |pattern| pattern.first_rare + 1);
    let of = |head: usize| {
        let place = (first + heads * MOST_HEADS + head - skipped) % heads;
        tracks.iter().skip(place).step_by(heads).copied().collect::<Vec<_>>()
    };
    let densities: Vec<f64> =
        (0..heads).map(|head| median(&of(head).iter().map(|track| track.0).collect::<Vec<_>>())).collect();
    let most = densities.iter().copied().fold(f64::MIN, f64::max);
    let least = densities.iter().copied().fold(f64::MAX, f64::min);
    if most - least <= LEAST_SECTORS.max(LEAST_SHARE * most) {
        return by_few_sectors(borders);
    }
    let sectors = |head| median(&of(head).iter().map(|track| track.1 as f64).collect::<Vec<_>>()) as u64;
    Some((0..heads).map(sectors).collect())
}

/// The same where they differ by so few sectors that single tracks do not tell: tracks of two lengths alternate, and the angles of all
/// of a length say that its sectors are as wide as that. None of them where no number of tracks recurs.
fn by_few_sectors(borders: &[Border]) -> Option<Vec<u64>> {
    let mut widths: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
    for border in borders.iter().filter(|border| border.own_per_turn.is_finite()) {
        widths.entry(border.sectors_before?).or_default().push(border.own_per_turn);
    }
    widths.retain(|_, widths| widths.len() >= LEAST_TRACKS);
    // A spare or a slipped sector makes a track shorter, but no sector wider.
    let as_wide = |widths: &[f64], sectors: u64| {
        let off = SURE * spread(widths) / (widths.len() as f64).sqrt();
        (median(widths) - sectors as f64).abs() + off < AS_WIDE
    };
    widths.retain(|&sectors, widths| as_wide(widths, sectors));
    let followed = borders.iter().filter_map(|border| border.sectors_before);
    let tracks: Vec<u64> = followed.filter(|sectors| widths.contains_key(sectors)).collect();
    // Of zones, the next one has fewer.
    let more = tracks.windows(2).filter(|pair| pair[1] > pair[0]).count();
    if more < ODD || (tracks.len() as f64) < FITTING * borders.len() as f64 {
        return None;
    }
    let recurs = |after: &usize| {
        let alike = tracks.iter().zip(tracks.iter().skip(*after)).filter(|(a, b)| a == b).count();
        alike as f64 >= FITTING * (tracks.len() - after) as f64
    };
    let heads = (2..=MOST_HEADS).find(recurs).unwrap_or(0);
    let skipped = borders.len() - tracks.len();
    let first = order::pattern(borders).map_or(skipped, |pattern| pattern.first_rare + 1);
    let of = |head: usize| {
        let place = (first + heads * MOST_HEADS + head - skipped) % heads;
        median(&tracks.iter().skip(place).step_by(heads).map(|&n| n as f64).collect::<Vec<_>>()) as u64
    };
    let found: Vec<u64> = (0..heads).map(of).collect();
    // A track with a slipped sector is as wide as one of a sector fewer: a few of those, and all heads have the same.
    (heads == 0 || found.iter().any(|&sectors| sectors != found[0])).then_some(found)
}

/// From a sector to the next, in turns, by the tracks that were followed: each its own where surfaces differ in density.
pub(crate) fn slope(borders: &[Border]) -> impl Fn(u64) -> f64 + use<> {
    let usual = borders.first().map_or(0.0, |border| 1.0 / border.per_turn);
    let own = by_head(borders).map(|_| {
        let tracks = borders.windows(2).map(|pair| (pair[0].first, 1.0 / pair[1].own_per_turn));
        tracks.filter(|(_, slope)| slope.is_finite()).collect::<Vec<_>>()
    });
    let own = own.unwrap_or_default();
    move |lba| own.iter().rev().find(|&&(first, _)| first <= lba).map_or(usual, |&(_, slope)| slope)
}

/// Whether the sectors of zones go up and down, as where addresses run along surfaces that differ in density.
pub(crate) fn up_and_down(zones: &[Zone]) -> bool {
    let more = zones.windows(2).filter(|pair| pair[1].sectors_per_track > pair[0].sectors_per_track).count();
    more >= ODD && more as f64 > ODD_SHARE * (zones.len() - 1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tracks with these sectors, and so many of them in a turn.
    fn borders(tracks: impl Iterator<Item = (u64, f64)>) -> Vec<Border> {
        let mut first = 1000;
        let mut all = vec![Border::test(0, first, None, f64::NAN)];
        for (number, (sectors, per_turn)) in tracks.enumerate() {
            first += sectors;
            all.push(Border::test(number as i64 + 1, first, Some(sectors), per_turn));
        }
        all
    }

    #[test]
    fn surfaces_of_different_density_are_told_from_short_tracks() {
        let by = [520, 480, 500, 460];
        let found = by_head(&borders((0..72).map(|at| (by[at % 4], by[at % 4] as f64 + 0.3))));
        assert_eq!(found.as_deref(), Some(&by[..]));
        // The last track of each cylinder has spares: its sectors are as wide as the others'.
        let spare = by_head(&borders((0..72).map(|at| (if at % 4 == 3 { 490 } else { 500 }, 500.1))));
        assert_eq!(spare, None);
        let slipped =
            by_head(&borders((0..72).map(|at| if at % 19 == 7 { (299, 299.0) } else { (300, 300.0) })));
        assert_eq!(slipped, None);
        let zone = by_head(&borders((0..72).map(|at| if at < 30 { (500, 500.0) } else { (480, 480.0) })));
        assert_eq!(zone, None);
    }

    #[test]
    fn zones_become_shorter_inwards() {
        let zones = |all: &[u64]| -> Vec<Zone> {
            let zone = |&sectors_per_track: &u64| Zone { first_lba: 0, end_lba: 0, sectors_per_track };
            all.iter().map(zone).collect()
        };
        assert!(up_and_down(&zones(&[520, 480, 500, 460, 520, 480, 500])));
        // Two actuators.
        assert!(!up_and_down(&zones(&[520, 500, 480, 460, 520, 500, 480, 460])));
        assert!(!up_and_down(&zones(&[520])) && !up_and_down(&[]));
    }
}
