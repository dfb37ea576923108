//! Seek time against distance.

use crate::spec::SeekSpec;
use headstack_units::Nanos;

/// Up to this many cylinders every distance is tabulated.
const MAX_TABLE: u32 = 4_000_000;

/// Seek time against distance in cylinders, end-of-seek settle for reads included.
#[derive(Clone, Debug)]
pub struct SeekCurve {
    formula: Formula,
    /// What times are longer than the formula says: points, level beyond the ends; none where there is nothing.
    extra_ms: Vec<[f64; 2]>,
    /// Times in ns by distance; empty where there are too many, or one exceeds 4 s.
    table: Vec<u32>,
    cylinders: u32,
    /// What all times are multiplied by.
    scale: f64,
}

/// The "average seek" of a drive, by each of the definitions in use (Ruemmler & Wilkes 1994, p. 19), and the curve's
/// ends. All in ms; N is the number of physical cylinders.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SeekAverages {
    /// The seek over (N − 1) / 3 cylinders, rounded to whole ones.
    pub third_stroke_ms: f64,
    /// A third of the full-stroke time.
    pub full_stroke_third_ms: f64,
    /// Mean over the distances 1 … N − 1, each counted once.
    pub unweighted_ms: f64,
    /// Mean over the distances 1 … N − 1, each counted N − d times: as often as it occurs among all pairs of
    /// different cylinders. The paper's preferred one.
    pub distance_weighted_ms: f64,
    /// The seek over one cylinder.
    pub single_cylinder_ms: f64,
    /// The seek over N − 1 cylinders.
    pub full_stroke_ms: f64,
}

/// A curve, reduced to what evaluating it takes; all in ms and cylinders.
#[derive(Clone, Debug)]
enum Formula {
    /// a + b·√d + c·d.
    Root { a: f64, b: f64, c: f64 },
    /// c + a·√(d − 1) + b·(d − 1).
    FromOne { a: f64, b: f64, c: f64 },
    /// a + b·√d below the boundary, c + e·d from it on; the first distances by table.
    TwoPiece { boundary: u32, short: [f64; 2], long: [f64; 2], first: Vec<f64> },
    /// Straight between points.
    Table { points: Vec<[f64; 2]> },
    /// `ramp`·√d up to `coast_from` cylinders, beyond it at full speed; then settle.
    Kinematic { ramp: f64, coast_from: f64, per_cylinder: f64, speedup: f64, settle: f64 },
}

impl Formula {
    fn new(spec: &SeekSpec, cylinders: u32) -> Self {
        let stroke = f64::from(cylinders.saturating_sub(1).max(1));
        match spec {
            SeekSpec::Constant { time_ms } => Self::Root { a: *time_ms, b: 0.0, c: 0.0 },
            SeekSpec::Linear { single_cylinder_ms, full_stroke_ms } => {
                line(*single_cylinder_ms, *full_stroke_ms, stroke)
            }
            SeekSpec::TwoPiece { boundary_cylinders, short_ms, long_ms, first_ms } => Self::TwoPiece {
                boundary: *boundary_cylinders,
                short: *short_ms,
                long: *long_ms,
                first: first_ms.clone(),
            },
            SeekSpec::ThreePoint { single_cylinder_ms, average_ms, full_stroke_ms } => {
                three_point(*single_cylinder_ms, *average_ms, *full_stroke_ms, stroke)
            }
            SeekSpec::LeeKatz { single_cylinder_ms, average_ms, full_stroke_ms } => {
                lee_katz(*single_cylinder_ms, *average_ms, *full_stroke_ms, f64::from(cylinders.max(1)))
            }
            SeekSpec::Table { points } => Self::Table { points: points.clone() },
            SeekSpec::Kinematic {
                track_pitch_um,
                acceleration_m_per_s2,
                max_velocity_m_per_s,
                settle_ms,
            } => {
                let pitch = track_pitch_um * 1e-6;
                let (acceleration, velocity) = (*acceleration_m_per_s2, *max_velocity_m_per_s);
                Self::Kinematic {
                    ramp: 2e3 * (pitch / acceleration).sqrt(),
                    coast_from: velocity * velocity / acceleration / pitch,
                    per_cylinder: 1e3 * pitch / velocity,
                    speedup: 1e3 * velocity / acceleration,
                    settle: *settle_ms,
                }
            }
        }
    }

    /// The time of a seek over `distance` ≥ 1, in ms.
    fn ms(&self, distance: u32) -> f64 {
        let d = f64::from(distance);
        match self {
            Self::Root { a, b, c } => a + b * d.sqrt() + c * d,
            Self::FromOne { a, b, c } => c + a * (d - 1.0).sqrt() + b * (d - 1.0),
            Self::TwoPiece { boundary, short, long, first } => match first.get(distance as usize - 1) {
                Some(time) => *time,
                None if distance < *boundary => short[0] + short[1] * d.sqrt(),
                None => long[0] + long[1] * d,
            },
            Self::Table { points } => between(points, d),
            Self::Kinematic { ramp, coast_from, per_cylinder, speedup, settle } => {
                settle + if d <= *coast_from { ramp * d.sqrt() } else { per_cylinder * d + speedup }
            }
        }
    }

    fn time(&self, distance: u32, extra_ms: &[[f64; 2]], scale: f64) -> Nanos {
        if distance == 0 {
            return Nanos::ZERO;
        }
        let ms = self.ms(distance) + level_beyond(extra_ms, f64::from(distance));
        Nanos::from_ms((ms * scale).max(0.0))
    }

    /// How long the coil speeds the arm up and slows it down again in a seek over `distance` ≥ 1, in ms: all but settling and
    /// coasting, as far as the curve tells these. A constant, a line and measured points do not: all of their time.
    fn coil_ms(&self, distance: u32) -> f64 {
        let d = f64::from(distance);
        match self {
            Self::Root { b, c, .. } if *b > 0.0 => accelerated(*b, *c, d),
            Self::FromOne { a, b, .. } if *a > 0.0 => accelerated(*a, *b, d - 1.0),
            Self::TwoPiece { boundary, short: [_, root], .. } if *root > 0.0 => {
                root * d.min(f64::from(*boundary)).sqrt()
            }
            Self::Kinematic { ramp, coast_from, .. } => ramp * d.min(*coast_from).sqrt(),
            _ => self.ms(distance),
        }
    }
}

/// Of a move of b·√d + c·d ms the time at constant acceleration. The slope of the curve is that of the time at the highest speed, so
/// that this speed is its inverse; the time to reach it and to lose it again is in proportion, and b·√d where nothing coasts.
fn accelerated(b: f64, c: f64, d: f64) -> f64 {
    let root = d.sqrt();
    let moving = b * root + c * d;
    let slope = b + 2.0 * c * root;
    if slope > 0.0 { (b * b * root / slope).min(moving) } else { moving }
}

/// A seek over a third of the stroke, in ms: its time, and how long the coil works in it.
pub(crate) fn third_of_stroke(spec: &SeekSpec, cylinders: u32) -> (f64, f64) {
    let formula = Formula::new(spec, cylinders);
    let third = (cylinders / 3).max(1);
    (formula.ms(third), formula.coil_ms(third))
}

/// The straight line through (1, `single`) and (`stroke`, `full`).
fn line(single: f64, full: f64, stroke: f64) -> Formula {
    let slope = if stroke > 1.0 { (full - single) / (stroke - 1.0) } else { 0.0 };
    Formula::Root { a: single - slope, b: 0.0, c: slope }
}

/// a + b·√d + c·d through (1, `single`), (`stroke` / 3, `average`) and (`stroke`, `full`).
fn three_point(single: f64, average: f64, full: f64, stroke: f64) -> Formula {
    let third = stroke / 3.0;
    if third <= 1.0 {
        return line(single, full, stroke);
    }
    // Less the first equation, two remain: b·r + c·q = y.
    let (r1, q1, y1) = (third.sqrt() - 1.0, third - 1.0, average - single);
    let (r2, q2, y2) = (stroke.sqrt() - 1.0, stroke - 1.0, full - single);
    let determinant = r1 * q2 - r2 * q1;
    let b = (y1 * q2 - y2 * q1) / determinant;
    let c = (r1 * y2 - r2 * y1) / determinant;
    Formula::Root { a: single - b - c, b, c }
}

/// The coefficients of Lee & Katz for `n` cylinders.
fn lee_katz(single: f64, average: f64, full: f64, n: f64) -> Formula {
    Formula::FromOne {
        a: (-10.0 * single + 15.0 * average - 5.0 * full) / (3.0 * n.sqrt()),
        b: (7.0 * single - 15.0 * average + 8.0 * full) / (3.0 * n),
        c: single,
    }
}

/// Straight between points; beyond either end with the slope of the nearest two.
fn between(points: &[[f64; 2]], d: f64) -> f64 {
    match points {
        [] => 0.0,
        [only] => only[1],
        _ => {
            let right = points.partition_point(|point| point[0] < d).clamp(1, points.len() - 1);
            let ([x0, y0], [x1, y1]) = (points[right - 1], points[right]);
            y0 + (y1 - y0) * (d - x0) / (x1 - x0)
        }
    }
}

/// Straight between points, level beyond either end; 0 where there are none.
pub(super) fn level_beyond(points: &[[f64; 2]], d: f64) -> f64 {
    match points {
        [] => 0.0,
        [[first, _], .., [last, _]] => between(points, d.clamp(*first, *last)),
        [[_, only]] => *only,
    }
}

impl SeekCurve {
    /// The curve of a checked description, for an arm that reaches `cylinders` physical cylinders.
    pub fn new(spec: &SeekSpec, cylinders: u32) -> Self {
        Self::scaled(spec, &[], cylinders, 1.0)
    }

    /// The same, with what times are longer, all multiplied by `scale`.
    pub(super) fn scaled(spec: &SeekSpec, extra_ms: &[[f64; 2]], cylinders: u32, scale: f64) -> Self {
        let formula = Formula::new(spec, cylinders);
        let tabulated = if cylinders <= MAX_TABLE { cylinders } else { 0 };
        let table = (0..tabulated)
            .map(|d| u32::try_from(formula.time(d, extra_ms, scale).0))
            .collect::<Result<_, _>>();
        Self { formula, extra_ms: extra_ms.to_vec(), table: table.unwrap_or_default(), cylinders, scale }
    }

    /// The time of a seek over `distance` cylinders; none for distance 0.
    #[inline]
    pub fn time(&self, distance: u32) -> Nanos {
        match self.table.get(distance as usize) {
            Some(&ns) => Nanos(u64::from(ns)),
            None => self.worked_out(distance),
        }
    }

    /// As [`SeekCurve::time`], where it is not in the table.
    #[cold]
    fn worked_out(&self, distance: u32) -> Nanos {
        self.formula.time(distance, &self.extra_ms, self.scale)
    }

    /// How long the coil works in a seek over `distance` cylinders: neither while the arm coasts nor while it settles.
    pub fn coil_time(&self, distance: u32) -> Nanos {
        if distance == 0 { Nanos::ZERO } else { Nanos::from_ms(self.formula.coil_ms(distance) * self.scale) }
    }

    /// The four averages, and the ends of the curve.
    pub fn averages(&self) -> SeekAverages {
        let stroke = self.cylinders.saturating_sub(1).max(1);
        let (mut sum, mut weighted) = (0_u128, 0_u128);
        for d in 1..=stroke {
            let ns = u128::from(self.time(d).0);
            sum += ns;
            weighted += ns * u128::from(stroke - d + 1);
        }
        let pairs = u128::from(stroke) * (u128::from(stroke) + 1) / 2;
        let full_stroke_ms = self.time(stroke).as_ms();
        SeekAverages {
            third_stroke_ms: self.time(((stroke + 1) / 3).max(1)).as_ms(),
            full_stroke_third_ms: full_stroke_ms / 3.0,
            unweighted_ms: sum as f64 / f64::from(stroke) / 1e6,
            distance_weighted_ms: weighted as f64 / pairs as f64 / 1e6,
            single_cylinder_ms: self.time(1).as_ms(),
            full_stroke_ms,
        }
    }

    /// The straight line between this curve's single-cylinder and full-stroke seek: rung M1 of the ladder.
    pub fn linearised(&self) -> SeekSpec {
        let single = self.time(1);
        let full = self.time(self.cylinders.saturating_sub(1).max(1)).max(single);
        SeekSpec::Linear { single_cylinder_ms: single.as_ms(), full_stroke_ms: full.as_ms() }
    }
}
