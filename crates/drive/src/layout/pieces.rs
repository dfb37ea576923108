//! Addresses cut into pieces that lie slot by slot behind one another, and a direct index into them.
//!
//! Spares, slipped sectors and spans make the way from an address to its slot a chain of searches. Between two of them
//! the slots count up with the addresses, so the chain is walked once for each such piece, beforehand. A look-up is then
//! a shift, two reads and mostly no further step: the index is a few times finer than the pieces.

/// A layout with more pieces (spares on every track of a large drive) is searched instead.
const MOST: usize = 1 << 16;

/// Addresses whose slots count up with them, within one span.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    pub(super) first_lba: u64,
    pub(super) end_lba: u64,
    /// The first address's slot, counted over the drive's data tracks.
    pub(super) number: u64,
    /// The first address's slot, counted from the span's first.
    pub(super) offset: u64,
    /// The span's first track, in the zone's sequence.
    pub(super) first_index: u64,
    pub(super) span: u32,
    pub(super) zone: u32,
}

/// All pieces of a layout, in order; none where they would be too many.
#[derive(Clone, Debug, Default)]
pub(super) struct Pieces {
    all: Vec<Piece>,
    /// For every 2^`shift` addresses the piece of the first of them.
    index: Vec<u32>,
    shift: u32,
}

impl Pieces {
    /// The pieces of `capacity` addresses; `piece_from` gives the one that begins at an address.
    pub(super) fn new(capacity: u64, piece_from: impl Fn(u64) -> Piece) -> Self {
        let mut pieces = Vec::new();
        let mut lba = 0;
        while lba < capacity {
            if pieces.len() == MOST {
                return Self::default();
            }
            let piece = piece_from(lba);
            lba = piece.end_lba;
            pieces.push(piece);
        }
        let wanted = (4 * pieces.len() as u64).next_power_of_two();
        let shift = capacity.div_ceil(wanted).next_power_of_two().trailing_zeros();
        let mut at = 0;
        let piece_of = |lba: u64| {
            while pieces[at].end_lba <= lba {
                at += 1;
            }
            at as u32
        };
        let index = (0..capacity.div_ceil(1 << shift)).map(|step| step << shift).map(piece_of).collect();
        Self { all: pieces, index, shift }
    }

    /// The piece that holds an address below the capacity.
    #[inline]
    pub(super) fn find(&self, lba: u64) -> Option<&Piece> {
        let mut at = *self.index.get((lba >> self.shift) as usize)? as usize;
        loop {
            let piece = self.all.get(at)?;
            if lba < piece.end_lba {
                return Some(piece);
            }
            at += 1;
        }
    }
}
