//! A heat map of response times over an axis whose span is not known beforehand.

use headstack_units::Nanos;
use serde::Serialize;

/// Most columns.
const COLUMNS: u64 = 128;
/// Rows to a factor of ten.
const PER_DECADE: f64 = 6.0;
/// The lowest row begins here; what is faster is counted in it.
const LOWEST_NS: f64 = 1e3;
/// Nine decades: 1 us to 1,000 s.
const ROWS: usize = 54;

/// Counts by position and logarithm of the response time, in at most 128 columns of a power of two of the axis.
#[derive(Clone, Debug, Default)]
pub struct HeatMap {
    shift: u32,
    columns: Vec<[u64; ROWS]>,
}

/// A cell that is not empty.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Cell {
    /// Where the column begins, in units of the axis.
    pub from: u64,
    /// How wide it is.
    pub width: u64,
    /// Lower end of the row, ms.
    pub from_ms: f64,
    /// Upper end.
    pub to_ms: f64,
    /// How many.
    pub count: u64,
}

impl HeatMap {
    /// Counts a response at position `x`, which begins at 0.
    #[inline]
    pub fn record(&mut self, x: u64, response: Nanos) {
        while x >> self.shift >= COLUMNS {
            self.shift += 1;
            let joined = self.columns.chunks(2).map(|pair| {
                let mut sum = pair[0];
                for other in &pair[1..] {
                    for (count, more) in sum.iter_mut().zip(other) {
                        *count += more;
                    }
                }
                sum
            });
            self.columns = joined.collect();
        }
        let column = (x >> self.shift) as usize;
        if self.columns.len() <= column {
            self.columns.resize(column + 1, [0; ROWS]);
        }
        self.columns[column][row(response)] += 1;
    }

    /// The cells that hold something, column by column.
    pub fn cells(&self) -> Vec<Cell> {
        let edge = |row: usize| LOWEST_NS * 10_f64.powf(row as f64 / PER_DECADE) / 1e6;
        let width = 1 << self.shift;
        let columns = self.columns.iter().enumerate();
        columns
            .flat_map(|(column, rows)| {
                rows.iter().enumerate().filter(|(_, count)| **count > 0).map(move |(row, &count)| Cell {
                    from: column as u64 * width,
                    width,
                    from_ms: edge(row),
                    to_ms: edge(row + 1),
                    count,
                })
            })
            .collect()
    }
}

fn row(response: Nanos) -> usize {
    let row = ((response.0 as f64 / LOWEST_NS).max(1.0).log10() * PER_DECADE) as usize;
    row.min(ROWS - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Nothing is lost by joining columns, and each response lies in its cell.
        #[test]
        fn every_response_lies_in_its_cell(points in proptest::collection::vec((0_u64..1 << 50, 1_000_u64..1 << 50), 1..200)) {
            let mut map = HeatMap::default();
            for &(x, response) in &points {
                map.record(x, Nanos(response));
            }
            let cells = map.cells();
            prop_assert_eq!(cells.iter().map(|cell| cell.count).sum::<u64>(), points.len() as u64);
            for cell in &cells {
                let inside = points.iter().filter(|&&(x, response)| {
                    let ms = response as f64 / 1e6;
                    (cell.from..cell.from + cell.width).contains(&x)
                        && ms >= cell.from_ms * (1.0 - 1e-9)
                        && (ms < cell.to_ms * (1.0 + 1e-9) || ms >= 999_000.0)
                });
                prop_assert!(inside.count() as u64 >= cell.count);
            }
        }
    }
}
