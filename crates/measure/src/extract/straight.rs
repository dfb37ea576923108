//! Points that lie on few straight lines: where the lines meet is nearer to the truth than the points on both sides of it.

/// So many points in a row lie on a line: any two do.
const LEAST: usize = 3;
/// Lines that meet this near to a whole number meet there.
const WHOLE: f64 = 0.05;

/// One line, and the points that lie on it.
struct Line {
    first: usize,
    last: usize,
    slope: f64,
    foot: f64,
}

impl Line {
    /// By least squares.
    fn through(points: &[(f64, f64)], first: usize, last: usize) -> Self {
        let all = &points[first..=last];
        let count = all.len() as f64;
        let x = all.iter().map(|point| point.0).sum::<f64>() / count;
        let y = all.iter().map(|point| point.1).sum::<f64>() / count;
        let spread: f64 = all.iter().map(|point| (point.0 - x).powi(2)).sum();
        let slope = all.iter().map(|point| (point.0 - x) * (point.1 - y)).sum::<f64>() / spread;
        Self { first, last, slope, foot: y - slope * x }
    }

    fn at(&self, x: f64) -> f64 {
        self.foot + self.slope * x
    }

    fn holds(&self, points: &[(f64, f64)], most_off: f64) -> bool {
        points[self.first..=self.last].iter().all(|&(x, y)| (self.at(x) - y).abs() <= most_off)
    }
}

/// The first point, where each line meets the next, and the last point: of points over whole numbers in order, all of which lie on
/// lines within `most_off`, one behind the other. The points themselves where they do not.
pub(super) fn corners(points: &[(f64, f64)], most_off: f64) -> Vec<(f64, f64)> {
    meeting(points, most_off).unwrap_or_else(|| points.to_vec())
}

fn meeting(points: &[(f64, f64)], most_off: f64) -> Option<Vec<(f64, f64)>> {
    let lines = lines(points, most_off)?;
    let (first, last) = (lines.first()?, lines.last()?);
    let (from, to) = (points.first()?.0, points.last()?.0);
    let mut corners = vec![(from, first.at(from))];
    for pair in lines.windows(2) {
        let at = (pair[0].foot - pair[1].foot) / (pair[1].slope - pair[0].slope);
        let (before, behind) = (points[pair[0].last].0, points[pair[1].first].0);
        if !(before..=behind).contains(&at) {
            return None;
        }
        // Distances are whole: what lies between two of them is neither's.
        let (below, above) = (at.floor(), at.ceil());
        if (at - at.round()).abs() < WHOLE || above > behind || below < before {
            corners.push((at.round(), pair[0].at(at)));
        } else {
            corners.extend([(below, pair[0].at(below)), (above, pair[1].at(above))]);
        }
    }
    corners.push((to, last.at(to)));
    Some(corners)
}

/// As few lines as hold all points, each as long as it gets.
fn lines(points: &[(f64, f64)], most_off: f64) -> Option<Vec<Line>> {
    let mut lines: Vec<Line> = Vec::new();
    let mut first = 0;
    while first < points.len() {
        let longest = (first + LEAST - 1..points.len())
            .map(|last| Line::through(points, first, last))
            .take_while(|line| line.holds(points, most_off))
            .last()?;
        first = longest.last + 1;
        lines.push(longest);
    }
    Some(lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_meet_between_points() {
        let truth = |x: f64| 0.9 * ((x - 60.0) / 90.0).clamp(0.0, 1.0);
        let distances = [1.0, 5.0, 20.0, 44.0, 57.0, 75.0, 97.0, 127.0, 165.0, 215.0, 279.0, 1500.0];
        let points: Vec<(f64, f64)> = distances.iter().map(|&x| (x, truth(x))).collect();
        let found = corners(&points, 1e-4);
        assert_eq!(found.len(), 4, "{found:?}");
        for (corner, x) in found.iter().zip([1.0, 60.0, 150.0, 1500.0]) {
            assert!(corner.0 == x && (corner.1 - truth(x)).abs() < 1e-9, "{found:?}");
        }
        let between = distances.map(|x| (x, 0.9 * ((x - 60.4_f64) / 90.0).clamp(0.0, 1.0)));
        let xs: Vec<f64> = corners(&between, 1e-4).iter().map(|corner| corner.0).collect();
        assert_eq!(xs, [1.0, 60.0, 61.0, 150.0, 151.0, 1500.0]);
        // What bends evenly stays as it was measured.
        let bent: Vec<(f64, f64)> = distances.iter().map(|&x| (x, x.sqrt())).collect();
        assert_eq!(corners(&bent, 1e-4), bent);
    }
}
