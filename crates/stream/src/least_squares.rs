//! What a step of least squares and its intervals are computed with.

pub(crate) fn square(values: &[f64]) -> f64 {
    values.iter().map(|value| value * value).sum()
}

pub(crate) fn norm(values: &[f64]) -> f64 {
    square(values).sqrt()
}

pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// What others do not explain of a column: the part at right angles to all of them.
pub(crate) fn rest(column: &[f64], others: &[&Vec<f64>]) -> Vec<f64> {
    let mut basis: Vec<Vec<f64>> = Vec::new();
    let without = |column: &[f64], basis: &[Vec<f64>]| {
        let mut left = column.to_vec();
        // Twice: once is not exact enough where columns are nearly parallel.
        for unit in basis.iter().chain(basis) {
            let along = dot(&left, unit);
            left.iter_mut().zip(unit).for_each(|(left, unit)| *left -= along * unit);
        }
        left
    };
    for other in others {
        let left = without(other, &basis);
        let length = norm(&left);
        // What is left of one that the basis explains is its rounding, and explains nothing.
        if length > 1e-3 * norm(other) {
            basis.push(left.iter().map(|value| value / length).collect());
        }
    }
    without(column, &basis)
}

/// The step of the free parameters, in their scales: (JᵀJ + damping · diag) step = −Jᵀ difference.
pub(crate) fn damped(slopes: &[Vec<f64>], here: &[f64], free: &[usize], damping: f64) -> Option<Vec<f64>> {
    let count = free.len();
    let mut rows: Vec<Vec<f64>> = free
        .iter()
        .map(|&a| {
            let mut row: Vec<f64> = free.iter().map(|&b| dot(&slopes[a], &slopes[b])).collect();
            row.push(-dot(&slopes[a], here));
            row
        })
        .collect();
    for (place, row) in rows.iter_mut().enumerate() {
        row[place] *= 1.0 + damping;
    }
    for pivot in 0..count {
        let best = (pivot..count).max_by(|&a, &b| rows[a][pivot].abs().total_cmp(&rows[b][pivot].abs()))?;
        rows.swap(pivot, best);
        if rows[pivot][pivot].abs() < 1e-300 {
            return None;
        }
        let (above, below) = rows.split_at_mut(pivot + 1);
        for row in below {
            let factor = row[pivot] / above[pivot][pivot];
            for (cell, known) in row.iter_mut().zip(&above[pivot]).skip(pivot) {
                *cell -= factor * known;
            }
        }
    }
    let mut step = vec![0.0; count];
    for place in (0..count).rev() {
        let known: f64 = (place + 1..count).map(|column| rows[place][column] * step[column]).sum();
        step[place] = (rows[place][count] - known) / rows[place][place];
    }
    (count > 0).then_some(step)
}
