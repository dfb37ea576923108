//! Which of the pieces that lie about a dispatch are its own: those that make it up without a gap and without an overlap.

use std::collections::BTreeMap;

/// A piece that shares sectors with a dispatch: which of those that begin at `start` it is, and where it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Near {
    pub(super) start: u64,
    pub(super) index: usize,
    pub(super) end: u64,
}

/// Of pieces in order of place and of queueing, those that make up [`first`, `end`): one that does so alone goes first, and of
/// several the one queued first; last, one of which the beginning belongs to another dispatch. `None` if there are none that do.
pub(super) fn tiles(near: &[Near], first: u64, end: u64) -> Option<Vec<Near>> {
    if let [only] = near {
        return (only.start <= first && only.end >= end).then(|| vec![*only]);
    }
    // How far the pieces so far reach from `first` on, and the last of those that do.
    let mut reached: BTreeMap<u64, Near> = BTreeMap::new();
    let reaches_in = near.partition_point(|piece| piece.start < first);
    for piece in near[reaches_in..].iter().chain(near) {
        if piece.start <= first || reached.contains_key(&piece.start) {
            let held = reached.entry(piece.end.min(end)).or_insert(*piece);
            // One that ends there goes before one that reaches beyond.
            if held.end > end && piece.end == end {
                *held = *piece;
            }
        }
    }
    let (mut at, mut chosen) = (end, Vec::new());
    while at > first {
        let piece = *reached.get(&at)?;
        chosen.push(piece);
        at = piece.start;
    }
    Some(chosen)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where the pieces begin that make up [100, 116).
    fn chosen(pieces: &[(u64, u64)]) -> Option<Vec<(u64, u64)>> {
        let near: Vec<_> =
            pieces.iter().enumerate().map(|(index, &(start, end))| Near { start, index, end }).collect();
        let mut found: Vec<_> =
            tiles(&near, 100, 116)?.into_iter().map(|piece| (piece.start, piece.end)).collect();
        found.sort_unstable();
        Some(found)
    }

    #[test]
    fn pieces_fit_without_gap_and_overlap() {
        assert_eq!(chosen(&[(100, 116)]), Some(vec![(100, 116)]));
        assert_eq!(chosen(&[(100, 108), (108, 116)]), Some(vec![(100, 108), (108, 116)]));
        // Others that lie in it, or reach into it, are of others.
        assert_eq!(
            chosen(&[(96, 104), (100, 104), (100, 116), (104, 112), (112, 120)]),
            Some(vec![(100, 116)])
        );
        let pieces = [(96, 104), (100, 108), (104, 112), (108, 116), (112, 120)];
        assert_eq!(chosen(&pieces), Some(vec![(100, 108), (108, 116)]));
        // Those that do not fit are none.
        for pieces in [&[(100, 108)][..], &[(108, 116)], &[(100, 108), (104, 116)], &[(100, 104), (108, 116)]]
        {
            assert_eq!(chosen(pieces), None, "{pieces:?}");
        }
        assert_eq!(chosen(&[]), None);
    }

    #[test]
    fn of_one_that_was_split_a_part_is_enough() {
        for split in [(92, 116), (100, 124), (92, 124)] {
            assert_eq!(chosen(&[split]), Some(vec![split]));
            // But one that fits goes first.
            let mut both = [split, (100, 116)];
            both.sort_unstable();
            assert_eq!(chosen(&both), Some(vec![(100, 116)]), "{split:?}");
        }
        // Also before one that begins there, too, and was queued first.
        assert_eq!(chosen(&[(100, 124), (100, 116)]), Some(vec![(100, 116)]));
        assert_eq!(chosen(&[(92, 108), (108, 124)]), Some(vec![(92, 108), (108, 124)]));
    }
}
