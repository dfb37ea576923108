//! The search of a fit: where it begins, where it ends, and what the table cannot tell there.
//!
//! Every evaluation draws the same random numbers, and each throughput its own: what a delay draws is then part of the scatter from
//! which intervals follow.

use crate::descent::{Surface, evened};
use crate::fit::{Throughput, ratios};
use crate::law::Law;
use crate::least_squares::{norm, rest, square};
use crate::parameter::Parameter;
use crate::profile::{Open, Profiled};
use crate::spec::ModelSpec;
use headstack_system::SystemError;
use statrs::distribution::{ContinuousCDF, FisherSnedecor};

/// What the table can tell may change where a search leads: so often it is looked at anew.
const MOST_SEARCHES: usize = 6;
/// Most times that an interval shows better values.
const MOST_BETTER: usize = 40;
/// Squares that are fewer by a twentieth are so for a reason.
const CLEARLY_LESS: f64 = 0.95;
/// The best of a grid with more than so many times the squares is not where a better one lies between its points.
const NEARLY: f64 = 4.0;
/// A parameter is not identifiable if its whole scale changes throughputs by less than this share …
const LEAST_EFFECT: f64 = 1e-4;
/// … and in doubt if the others explain all but this share of its effect.
const LEAST_OF_ITS_OWN: f64 = 1e-4;
/// A parameter whose whole scale does less than this share of another's cannot stand in for that.
const LEAST_BESIDE: f64 = 0.01;
/// Throughputs that differ by less than this share are the same.
const SAME: f64 = 1e-7;
/// The difference over which slopes say what acts, in scales.
const SHARE: f64 = 0.1;
/// Of all, where nothing would be left to say how far chance goes.
const TOO_FEW: &str = "there are no more throughputs than parameters that change them";

/// For each parameter why the table cannot tell it; nothing where it can.
pub(crate) type Told = Vec<Option<String>>;

/// Where a search ended.
#[derive(Clone)]
pub(crate) struct Ended {
    pub(crate) values: Vec<f64>,
    pub(crate) told: Told,
    pub(crate) ci95: Vec<Option<[f64; 2]>>,
}

pub(crate) struct Search<'a> {
    pub(crate) spec: &'a ModelSpec,
    pub(crate) table: &'a [Throughput],
    pub(crate) parameters: &'a [Parameter],
    pub(crate) law: Option<Law>,
    pub(crate) seed: u64,
}

impl Search<'_> {
    pub(crate) fn put(&self, values: &[f64]) -> ModelSpec {
        let mut spec = self.spec.clone();
        for (parameter, &value) in self.parameters.iter().zip(values) {
            parameter.put(&mut spec, value, self.law);
        }
        Parameter::keep_share(&mut spec, self.spec);
        spec
    }

    /// What a parameter comes to in the model: of an inner rate, whose value here is the one beside the outer rate that the search
    /// began with, its share of the present one.
    pub(crate) fn actual(&self, values: &[f64], place: usize) -> f64 {
        self.parameters[place].get(&self.put(values))
    }

    /// Logarithms of model over measured: a model that is far too slow is as far off as one that is far too fast.
    pub(crate) fn logs(&self, surface: Surface, values: &[f64]) -> Result<Vec<f64>, SystemError> {
        let spec = self.put(values);
        let spec = if surface == Surface::Even { evened(spec) } else { spec };
        Ok(ratios(&spec, self.table, self.seed)?.into_iter().map(f64::ln).collect())
    }

    /// Squares; a model that the files of the table do not fit into is the worst.
    pub(crate) fn loss(&self, values: &[f64]) -> f64 {
        self.logs(Surface::Exact, values).map_or(f64::INFINITY, |found| square(&found))
    }

    /// Whether squares are no difference.
    pub(crate) fn is_exact(&self, squares: f64) -> bool {
        squares <= self.table.len() as f64 * SAME * SAME
    }

    /// The end of the best search, with intervals. What these leave open is left as in `start` where that is within them, and else where it
    /// is; the others are fitted anew.
    pub(crate) fn ended(&self, start: &[f64]) -> Result<Ended, SystemError> {
        let mut home = start.to_vec();
        let mut held: Told = vec![None; start.len()];
        let mut ended = self.best(&home, &held)?;
        for _ in 0..MOST_BETTER {
            match self.profiled(&ended)? {
                Profiled::Better(values) => {
                    let again = self.searched(&values, &home, &held)?;
                    if self.loss(&again.values) < self.loss(&ended.values) {
                        ended = again;
                    } else {
                        ended.values = values;
                    }
                }
                Profiled::Intervals(ci95) => {
                    ended.ci95 = ci95;
                    return Ok(ended);
                }
                Profiled::Open(open, limit) => {
                    ended = self.without(&open, limit, &ended, &mut home, &mut held)?;
                }
            }
        }
        Ok(ended)
    }

    /// Fits the others anew. If they do not make up for a value that went back, it stays where it was.
    fn without(
        &self,
        open: &[Option<Open>],
        limit: f64,
        ended: &Ended,
        home: &mut [f64],
        held: &mut Told,
    ) -> Result<Ended, SystemError> {
        let stay = |home: &mut [f64], stays: &dyn Fn(usize, &Open) -> bool| {
            for (place, open) in open.iter().enumerate() {
                if open.as_ref().is_some_and(|open| stays(place, open)) {
                    home[place] = ended.values[place];
                }
            }
        };
        let start = home.to_vec();
        stay(home, &|place, open| !(open.within[0]..=open.within[1]).contains(&start[place]));
        for (held, open) in held.iter_mut().zip(open) {
            *held = held.take().or(open.as_ref().map(|open| open.why.clone()));
        }
        let again = self.best(home, held)?;
        if self.loss(&again.values) <= limit || open.iter().flatten().all(|open| open.is_alike) {
            return Ok(again);
        }
        stay(home, &|_, open| !open.is_alike);
        self.searched(&ended.values, home, held)
    }

    /// Where the best search ends: of one that begins with the values of the model, of those that begin where some value far off
    /// fits far better than there, or than where the first ended, and of one that begins without delays.
    fn best(&self, start: &[f64], held: &Told) -> Result<Ended, SystemError> {
        let mut best = self.searched(start, start, held)?;
        if self.is_exact(self.loss(&best.values)) {
            return Ok(best);
        }
        let begins =
            [self.far_begin(start, held)?, self.far_begin(&best.values, held)?, self.undelayed(&best, held)?];
        for begin in begins.into_iter().flatten() {
            let far = self.searched(&begin, start, held)?;
            let free = |ended: &Ended| ended.told.iter().filter(|told| told.is_none()).count();
            let share = self.chance_of_more(free(&best), free(&far));
            if self.loss(&far.values) < share * self.loss(&best.values) {
                best = far;
            }
        }
        Ok(best)
    }

    /// The share that squares fall to by chance alone, one time in a thousand, if `more` parameters are fitted instead of `few`.
    fn chance_of_more(&self, few: usize, more: usize) -> f64 {
        let rest = self.table.len().saturating_sub(more) as f64;
        let further = more.saturating_sub(few) as f64;
        // Nothing is known of what is not there.
        let Ok(ratio) = FisherSnedecor::new(further, rest) else { return CLEARLY_LESS };
        CLEARLY_LESS.min(1.0 / (1.0 + ratio.inverse_cdf(0.999) * further / rest))
    }

    /// The best values without delays: what a delay and faster media do together, slower media may do alone.
    fn undelayed(&self, ended: &Ended, held: &Told) -> Result<Option<Vec<f64>>, SystemError> {
        let is_open = |&place: &usize| held[place].is_none();
        let (delays, others): (Vec<usize>, Vec<usize>) =
            (0..held.len()).filter(is_open).partition(|&place| self.parameters[place].is_delay());
        let begin = delays.iter().fold(ended.values.clone(), |values, &place| moved(&values, place, 0.0));
        if begin == ended.values {
            return Ok(None);
        }
        let acting = self.acting(&begin, held)?;
        let others: Vec<usize> = others.into_iter().filter(|place| acting.contains(place)).collect();
        self.descend(&begin, &others).map(Some)
    }

    /// Values far from these that make the model fit better, if there are any: of rates, and of what does nothing here.
    fn far_begin(&self, from: &[f64], held: &Told) -> Result<Option<Vec<f64>>, SystemError> {
        let acting = self.acting(from, held)?;
        let (mut begin, mut least) = (from.to_vec(), self.loss(from));
        for place in (0..from.len()).filter(|&place| held[place].is_none()) {
            let parameter = self.parameters[place];
            // An inner rate far off does to files at the outer edge what the others do, by a little: it would make up for their rest.
            let is_far = parameter.is_rate() || !acting.contains(&place);
            if !is_far || parameter == Parameter::Inner {
                continue;
            }
            let loss = |value: f64| self.loss(&moved(&begin, place, value));
            let grid = parameter.far_values(from[place], self.spec).map(|value| (loss(value), value));
            let Some((found, value)) = grid.min_by(|a, b| a.0.total_cmp(&b.0)) else { continue };
            let is_near = found < NEARLY * least;
            let (found, value) = if is_near { lowest_beside(found, value, loss) } else { (found, value) };
            if found < CLEARLY_LESS * least {
                (begin[place], least) = (value, found);
            }
        }
        Ok(Some(begin).filter(|begin| begin != from))
    }

    /// A search that begins with `from`. What does nothing where it ends is left as in `start`; what did nothing where it began, and does
    /// something where it ended, is fitted, too.
    fn searched(&self, from: &[f64], start: &[f64], held: &Told) -> Result<Ended, SystemError> {
        let mut values = from.to_vec();
        for place in (0..held.len()).filter(|&place| held[place].is_some()) {
            values[place] = start[place];
        }
        let mut free = self.acting(&values, held)?;
        for search in 0..MOST_SEARCHES {
            values = self.descend(&values, &free)?;
            let mut now = self.acting(&values, held)?;
            // Where it goes back and forth, what is in doubt is left alone.
            if search + 2 >= MOST_SEARCHES {
                now.retain(|place| free.contains(place));
            }
            for place in (0..held.len()).filter(|place| !now.contains(place)) {
                values[place] = start[place];
            }
            let is_settled = now == free;
            free = now;
            if is_settled {
                break;
            }
        }
        let too_few = free.len() >= self.table.len();
        let why = |place: usize| {
            let idle = || (!free.contains(&place)).then(|| self.idle(&values, place));
            held[place].clone().or_else(idle).or_else(|| too_few.then(|| TOO_FEW.to_owned()))
        };
        let told: Told = (0..held.len()).map(why).collect();
        if too_few {
            values = start.to_vec();
        }
        Ok(Ended { values, ci95: vec![None; told.len()], told })
    }

    /// Those whose scales change throughputs.
    fn acting(&self, values: &[f64], held: &Told) -> Result<Vec<usize>, SystemError> {
        let open: Vec<usize> = (0..held.len()).filter(|&place| held[place].is_none()).collect();
        let slopes = self.both_slopes(values, &open, SHARE)?.0;
        let acts = |slope: &[f64]| norm(slope) / (self.table.len() as f64).sqrt() >= LEAST_EFFECT;
        Ok(open.into_iter().filter(|&place| acts(&slopes[place])).collect())
    }

    /// Of a parameter that does nothing: from which value on it would, the others left as they are.
    fn idle(&self, values: &[f64], place: usize) -> String {
        let (parameter, value) = (self.parameters[place], values[place]);
        let nothing = "no throughput of the table depends on it".to_owned();
        let Ok(here) = self.logs(Surface::Even, values) else { return nothing };
        let does = |to: f64| {
            let there = self.logs(Surface::Even, &moved(values, place, to)).ok();
            there.is_some_and(|there| {
                let change: Vec<f64> = there.iter().zip(&here).map(|(there, here)| there - here).collect();
                norm(&change) / (here.len() as f64).sqrt() >= LEAST_EFFECT
            })
        };
        // A rate falls until it is the bottleneck, a time grows.
        let further =
            parameter.far_values(value, self.spec).filter(|&far| (far < value) == parameter.is_rate());
        let Some(mut beyond) = further.into_iter().find(|&far| does(far)) else { return nothing };
        let mut within = value;
        for _ in 0..12 {
            let half = 0.5 * (within + beyond);
            *(if does(half) { &mut beyond } else { &mut within }) = half;
        }
        let (side, unit) = (if parameter.is_rate() { "above" } else { "below" }, parameter.unit());
        format!(
            "{nothing} while it is {side} {} {unit}",
            three_digits(self.actual(&moved(values, place, within), place))
        )
    }
}

/// Those of the free ones whose effects the others explain. In which order they are named makes no difference.
pub(crate) fn alike(slopes: &[Vec<f64>], free: &[usize]) -> Vec<usize> {
    let is_like_others = |&place: &usize| {
        // What does far less cannot stand in for it.
        let least = LEAST_BESIDE * norm(&slopes[place]);
        let others: Vec<&Vec<f64>> = free
            .iter()
            .filter(|&&other| other != place)
            .map(|&other| &slopes[other])
            .filter(|other| norm(other) >= least)
            .collect();
        norm(&rest(&slopes[place], &others)) < LEAST_OF_ITS_OWN.sqrt() * norm(&slopes[place])
    };
    free.iter().copied().filter(is_like_others).collect()
}

pub(crate) fn moved(values: &[f64], place: usize, to: f64) -> Vec<f64> {
    let mut moved = values.to_vec();
    moved[place] = to;
    moved
}

/// In three significant digits.
pub(crate) fn three_digits(value: f64) -> String {
    let digits = (2.0 - value.abs().max(1e-6).log10().floor()).max(0.0) as usize;
    format!("{value:.digits$}")
}

/// The lowest loss between the neighbours of a value in a grid, and where: what was between two of its points was passed over.
fn lowest_beside(found: f64, value: f64, loss: impl Fn(f64) -> f64) -> (f64, f64) {
    let (mut low, mut high) = (value / Parameter::FAR_STEP, value * Parameter::FAR_STEP);
    let mut best = (found, value);
    // By the golden section.
    for _ in 0..12 {
        let [first, second] = [0.382, 0.618].map(|share| low + share * (high - low));
        let [at_first, at_second] = [first, second].map(&loss);
        for found in [(at_first, first), (at_second, second)] {
            if found.0 < best.0 {
                best = found;
            }
        }
        *(if at_first < at_second { &mut high } else { &mut low }) =
            if at_first < at_second { second } else { first };
    }
    best
}
