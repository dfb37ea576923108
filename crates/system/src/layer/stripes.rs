//! An address space cut into stripe units.

use super::UnitMap;

/// Stripe units of equal size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stripes {
    /// Sectors of a unit.
    pub(crate) unit: u64,
    /// Units that lie one after the other on each drive.
    pub(crate) rows: u64,
}

/// Sectors within one stripe unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Chunk {
    /// Which unit of the address space.
    pub(crate) number: u64,
    /// First sector, and the one after the last, within the unit.
    pub(crate) from: u64,
    pub(crate) to: u64,
}

impl Stripes {
    /// Units of `unit` sectors on drives of which the smallest sets the number of rows.
    pub(crate) fn new(unit: u64, drives: &[UnitMap]) -> Self {
        let smallest = drives.iter().map(UnitMap::sectors).min().unwrap_or(0);
        Self { unit, rows: smallest / unit }
    }

    /// The units that `sectors` sectors from `lba` on lie in, in order.
    pub(crate) fn chunks(self, lba: u64, sectors: u32) -> impl Iterator<Item = Chunk> {
        let (unit, end) = (self.unit, lba + u64::from(sectors));
        (lba / unit..end.div_ceil(unit)).map(move |number| Chunk {
            number,
            from: lba.saturating_sub(number * unit),
            to: (end - number * unit).min(unit),
        })
    }
}

/// Sectors of one drive of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Span {
    pub(crate) drive: usize,
    pub(crate) from: u64,
    pub(crate) to: u64,
}

/// Joins spans of the same drive that touch or overlap: each becomes one command.
pub(crate) fn joined(mut spans: Vec<Span>) -> Vec<Span> {
    spans.sort_unstable();
    spans.dedup_by(|next, before| {
        let joins = next.drive == before.drive && next.from <= before.to;
        if joins {
            before.to = before.to.max(next.to);
        }
        joins
    });
    spans
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn chunks_cover_a_request_once(unit in 1..20u64, lba in 0..200u64, sectors in 1..100u32) {
            let found: Vec<u64> = Stripes { unit, rows: 1_000 }
                .chunks(lba, sectors)
                .flat_map(|chunk| (chunk.from..chunk.to).map(move |at| chunk.number * unit + at))
                .collect();
            prop_assert_eq!(found, (lba..lba + u64::from(sectors)).collect::<Vec<_>>());
        }

        #[test]
        fn joining_keeps_every_sector(spans in proptest::collection::vec((0..3usize, 0..30u64, 1..9u64), 0..12)) {
            let spans: Vec<Span> =
                spans.into_iter().map(|(drive, from, count)| Span { drive, from, to: from + count }).collect();
            let sectors = |spans: &[Span]| -> std::collections::BTreeSet<(usize, u64)> {
                spans.iter().flat_map(|span| (span.from..span.to).map(|at| (span.drive, at))).collect()
            };
            let whole = joined(spans.clone());
            prop_assert_eq!(sectors(&whole), sectors(&spans));
            prop_assert!(whole.windows(2).all(|pair| pair[0].drive < pair[1].drive || pair[0].to < pair[1].from));
        }
    }
}
