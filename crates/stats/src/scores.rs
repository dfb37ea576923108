//! How a model compares with measured times: of all requests, of the reads and of the writes.

use headstack_units::{Nanos, Op};

use crate::{Demerit, PerRequest, StatsError, demerit, per_request};

/// The scores of some requests.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Score {
    /// How far the distributions are apart.
    pub demerit: Demerit,
    /// How far single requests are off.
    pub per_request: PerRequest,
}

impl Score {
    fn of(measured: &[Nanos], model: &[Nanos]) -> Result<Self, StatsError> {
        Ok(Self { demerit: demerit(measured, model)?, per_request: per_request(measured, model)? })
    }
}

/// The scores of all requests, and of the two directions apart.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scores {
    /// All requests.
    pub all: Score,
    /// The reads; `None` where there are none.
    pub reads: Option<Score>,
    /// The writes; `None` where there are none.
    pub writes: Option<Score>,
}

impl Scores {
    /// Compares `model[i]` with `measured[i]` for each request i, which goes in direction `ops[i]`.
    ///
    /// # Errors
    /// As [`per_request`].
    pub fn new(ops: &[Op], measured: &[Nanos], model: &[Nanos]) -> Result<Self, StatsError> {
        let of = |op: Op| {
            let times = ops.iter().zip(measured).zip(model).filter(|((own, _), _)| **own == op);
            let (measured, model): (Vec<Nanos>, Vec<Nanos>) = times.map(|((_, a), b)| (*a, *b)).unzip();
            if measured.is_empty() { Ok(None) } else { Score::of(&measured, &model).map(Some) }
        };
        Ok(Self { all: Score::of(measured, model)?, reads: of(Op::Read)?, writes: of(Op::Write)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_direction_is_scored_by_itself() {
        let ms = |times: &[f64]| times.iter().map(|&time| Nanos::from_ms(time)).collect::<Vec<_>>();
        let ops = [Op::Read, Op::Write, Op::Read];
        let (measured, model) = (ms(&[10.0, 20.0, 30.0]), ms(&[11.0, 20.0, 33.0]));
        let scores = Scores::new(&ops, &measured, &model).unwrap();
        assert_eq!(scores.all.per_request.requests, 3);
        let reads = scores.reads.unwrap();
        assert_eq!((reads.per_request.requests, reads.per_request.mae_ms), (2, 2.0));
        assert_eq!(scores.writes.unwrap().demerit.ms, 0.0);
        let only_reads = Scores::new(&ops[..1], &measured[..1], &model[..1]).unwrap();
        assert_eq!(only_reads.writes, None);
        assert!(Scores::new(&[], &[], &[]).is_err());
    }
}
