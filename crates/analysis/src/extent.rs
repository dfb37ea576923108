//! Where a slow region begins and ends, and how much longer reads there take.
//!
//! Regions are looked for on a grid, and what is slow seldom begins and ends on it: the cell that is clearest may be slow by half, and say
//! half of the size. So each end is moved, in steps of a finer grid, to where it parts slow cells from others best, if the cells between
//! say so clearly. A cell is held against all that is read elsewhere but in the cells next to it, slow ones among it, and cells elsewhere are held
//! against slow ones, too. How many reads are slow tells how much the difference of the two is too large or too small for that.

use std::ops::Range;

use crate::effect::Differences;

/// Of finer cells, with fewer observations each, chance would move the ends.
const FEWEST: u64 = 4;

/// The logarithm of how many times as likely the ends must be as those of the grid.
const CLEARLY: f64 = 4.0;

/// The ends are sought again with the sizes that they give.
const ROUNDS: usize = 3;

/// Whether cells are large enough for the ends of a region that covers those.
pub(crate) fn are_large_enough(cells: &[Differences], named: &Range<usize>) -> bool {
    let count: u64 = cells[named.clone()].iter().map(Differences::count).sum();
    count >= FEWEST * named.len() as u64
}

/// Of cells of one size those of the region that is named for some of them, and how much longer its reads take than those elsewhere;
/// each cell was held against those that are farther away than `apart` cells.
pub(crate) fn extent(
    cells: &[Differences],
    named: Range<usize>,
    apart: usize,
) -> Option<(Range<usize>, Differences)> {
    let within = named.start.saturating_sub(named.len())..(named.end + named.len()).min(cells.len());
    let mut ends = named.clone();
    for _ in 0..ROUNDS {
        let (inside, elsewhere) = levels(cells, &ends)?;
        let middle = f64::midpoint(inside, elsewhere);
        // Responses that are all alike in the region vary by what a clock makes of them.
        let likely = (inside - elsewhere) / merged(&cells[ends.clone()]).scatter().variance().max(1e-6);
        // By how many times as likely, as a logarithm, each cell is slow.
        let slow: Vec<f64> =
            cells[within.clone()]
                .iter()
                .map(|cell| {
                    if cell.count() == 0 {
                        0.0
                    } else {
                        likely * cell.count() as f64 * (cell.mean() - middle)
                    }
                })
                .collect();
        let named = named.start - within.start..named.end - within.start;
        let behind = |at: usize| slow[at..named.end].iter().sum::<f64>();
        let first = moved(named.start, 0..named.end, behind);
        let ahead = |at: usize| slow[first..at].iter().sum::<f64>();
        let end = moved(named.end.max(first + 1), first + 1..slow.len() + 1, ahead);
        ends = within.start + first..within.start + end;
    }
    let (inside, elsewhere) = levels(cells, &ends)?;
    let seen = seen_of(cells, &ends, apart);
    (inside > elsewhere && seen > 0.0)
        .then(|| (ends.clone(), merged(&cells[ends]).less(elsewhere, 1.0 / seen)))
}

/// How much of the size is seen as the difference between cells of the region and others: 1, if slow reads are as many among what the ones
/// and the others are held against.
fn seen_of(cells: &[Differences], region: &Range<usize>, apart: usize) -> f64 {
    let reads = |range: Range<usize>| cells[range].iter().map(Differences::reads).sum::<u64>() as f64;
    let (slow, all) = (reads(region.clone()), reads(0..cells.len()));
    let among_others = region.clone().map(|at| {
        let near = at.saturating_sub(apart)..(at + apart + 1).min(cells.len());
        let slow_near = near.start.max(region.start)..near.end.min(region.end);
        cells[at].count() as f64 * (slow - reads(slow_near)) / (all - reads(near)).max(1.0)
    });
    let among_others = among_others.sum::<f64>() / merged(&cells[region.clone()]).count() as f64;
    1.0 - among_others + slow / all
}

/// The likeliest of these ends, or the one `from` the grid if that is nearly as likely.
fn moved(from: usize, ends: Range<usize>, likely: impl Fn(usize) -> f64) -> usize {
    let best = ends.max_by(|&one, &two| likely(one).total_cmp(&likely(two)));
    best.filter(|&end| likely(end) - likely(from) > CLEARLY).unwrap_or(from)
}

/// The mean difference of the cells inside, and of those elsewhere but beside them, which may be slow in part.
fn levels(cells: &[Differences], inside: &Range<usize>) -> Option<(f64, f64)> {
    let before = &cells[..inside.start.saturating_sub(1)];
    let after = cells.get(inside.end + 1..).unwrap_or_default();
    let elsewhere = merged(before).with(merged(after));
    let inside = merged(&cells[inside.clone()]);
    (inside.count() > 1 && elsewhere.count() > 1).then(|| (inside.mean(), elsewhere.mean()))
}

fn merged(cells: &[Differences]) -> Differences {
    cells.iter().fold(Differences::default(), |all, cell| all.with(*cell))
}
