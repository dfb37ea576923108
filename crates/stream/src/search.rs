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
/// Steps of a fine grid between two far values.
const FINE: i32 = 32;
/// So many of its lowest points are looked at more closely.
const VALLEYS: usize = 4;
/// What fits worse by less than this share of what chance allows fits about as well: of rates without an end the highest are the best by chance.
const ABOUT_AS_WELL: f64 = 0.5;
/// A rate of so many times the least that is not ruled out is taken back to that.
const FAR_ABOVE: f64 = 1.5;
/// Halvings between a value that does nothing and one that does.
const HALVINGS: usize = 12;
/// The difference over which slopes say what acts, in scales.
const SHARE: f64 = 0.1;
/// Of a value without any end.
pub(crate) const ANY_VALUE: &str = "the table fits as well with any value of it";
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
                    // What does nothing here may do something at home.
                    let is_away = |place: &usize| held[*place].is_none() && ended.told[*place].is_some();
                    let away =
                        (0..home.len()).find(|place| is_away(place) && ended.values[*place] != home[*place]);
                    let Some(place) = away else { return Ok(ended) };
                    ended = self.home_again(place, &ended, &mut home, &mut held)?;
                }
                Profiled::Open(open, limit) => {
                    ended = self.without(&open, limit, &ended, &mut home, &mut held)?;
                }
            }
        }
        Ok(ended)
    }

    /// Holds what does nothing at home, if the others make up for it there, and else where it is.
    fn home_again(
        &self,
        place: usize,
        ended: &Ended,
        home: &mut [f64],
        held: &mut Told,
    ) -> Result<Ended, SystemError> {
        let limit = self.most_squares(ended);
        held[place].clone_from(&ended.told[place]);
        let at_home = self.searched(&ended.values, home, held)?;
        let is_outside = self.loss(&at_home.values) > limit;
        let mut best = if is_outside { ended.clone() } else { at_home };
        let first = home[place];
        home[place] = best.values[place];
        let why = if is_outside {
            let why = self.no_more(&best, place, Some(first), limit);
            best = self.taken_back(best, place, (first, limit), home, held)?;
            why
        } else if self.acting(&best.values, &vec![None; held.len()])?.contains(&place) {
            self.no_more(&best, place, None, limit)
        } else {
            self.idle(&best.values, place)
        };
        held[place] = Some(why.clone());
        best.told[place] = Some(why);
        Ok(best)
    }

    /// The value nearest to `home` that fits about as well as where the search ended, the others following: a rate that has no end may have
    /// ended anywhere.
    fn nearest(&self, ended: &Ended, place: usize, home: f64, limit: f64) -> f64 {
        let least = self.loss(&ended.values);
        let most = least + ABOUT_AS_WELL * (limit - least);
        let (mut within, mut beyond) = (ended.values[place], home);
        for _ in 0..HALVINGS {
            let half = self.parameters[place].halfway(within, beyond);
            let fits = self.loss(&self.beside(ended, place, half)) <= most;
            *(if fits { &mut within } else { &mut beyond }) = half;
        }
        within
    }

    /// One value moved, and those that are told following.
    fn beside(&self, ended: &Ended, place: usize, to: f64) -> Vec<f64> {
        let is_told = |other: &usize| *other != place && ended.told[*other].is_none();
        let others: Vec<usize> = (0..ended.told.len()).filter(is_told).collect();
        let there = moved(&ended.values, place, to);
        self.follow(&there, &others).unwrap_or(there)
    }

    /// From which value on a parameter makes the fit worse than chance allows, the others following: what is said of one that does
    /// nothing on the other side.
    fn no_more(&self, ended: &Ended, place: usize, outside: Option<f64>, limit: f64) -> String {
        let (parameter, value) = (self.parameters[place], ended.values[place]);
        let there = |to: f64| self.beside(ended, place, to);
        let is_outside = |to: f64| self.loss(&there(to)) > limit;
        let mut further =
            parameter.far_values(value, self.spec).filter(|&far| (far < value) == parameter.is_rate());
        let Some(mut beyond) = outside.or_else(|| further.find(|&far| is_outside(far))) else {
            return ANY_VALUE.to_owned();
        };
        let mut within = value;
        self.halve((&mut within, &mut beyond), place, is_outside);
        no_more_words(parameter, self.actual(&there(within), place), beyond < within)
    }

    /// Takes a rate that is far above the least that is not ruled out back to that: the best by chance is endless.
    fn taken_back(
        &self,
        ended: Ended,
        place: usize,
        (first, limit): (f64, f64),
        home: &mut [f64],
        held: &Told,
    ) -> Result<Ended, SystemError> {
        let (mut within, mut beyond) = (ended.values[place], first);
        let is_outside = |to: f64| self.loss(&self.beside(&ended, place, to)) > limit;
        self.halve((&mut within, &mut beyond), place, is_outside);
        if !self.parameters[place].is_rate() || ended.values[place] < FAR_ABOVE * within {
            return Ok(ended);
        }
        let there = std::mem::replace(&mut home[place], within);
        let back = self.searched(&self.beside(&ended, place, within), home, held)?;
        if self.loss(&back.values) <= limit {
            return Ok(back);
        }
        home[place] = there;
        Ok(ended)
    }

    /// Narrows down where a value that is moved becomes one that is `outside`.
    fn halve(&self, (within, beyond): (&mut f64, &mut f64), place: usize, is_outside: impl Fn(f64) -> bool) {
        for _ in 0..HALVINGS {
            let half = self.parameters[place].halfway(*within, *beyond);
            *(if is_outside(half) { &mut *beyond } else { &mut *within }) = half;
        }
    }

    /// Fits the others anew. If they do not make up for all values that went back, those that they do make up for go back, one after the
    /// other, and the rest stays where it was.
    fn without(
        &self,
        open: &[Option<Open>],
        limit: f64,
        ended: &Ended,
        home: &mut [f64],
        held: &mut Told,
    ) -> Result<Ended, SystemError> {
        let start = home.to_vec();
        let is_outside =
            |place: usize, open: &Open| !(open.within[0]..=open.within[1]).contains(&start[place]);
        let all = || open.iter().enumerate().filter_map(|(place, open)| Some((place, open.as_ref()?)));
        for (place, _) in all().filter(|(place, open)| is_outside(*place, open)) {
            home[place] = self.nearest(ended, place, start[place], limit);
        }
        for (place, open) in all() {
            held[place] = held[place].take().or(Some(open.why.clone()));
        }
        let again = self.best(home, held)?;
        if self.loss(&again.values) <= limit {
            return Ok(again);
        }
        if all().all(|(_, open)| open.is_alike) {
            let places: Vec<usize> = all().map(|(place, _)| place).collect();
            return Ok(self.one_of(&places, limit, home, held)?.unwrap_or(again));
        }
        let back = home.to_vec();
        for (place, _) in all().filter(|(_, open)| !open.is_alike) {
            home[place] = ended.values[place];
        }
        let mut best = self.searched(&ended.values, home, held)?;
        for (place, _) in all() {
            let there = std::mem::replace(&mut home[place], back[place]);
            if there == back[place] {
                continue;
            }
            let one_back = self.searched(&best.values, home, held)?;
            if self.loss(&one_back.values) <= limit {
                best = one_back;
            } else {
                home[place] = there;
            }
        }
        Ok(best)
    }

    /// Of some that do the same where the search ended, the only one that mends the fit alone, if there is one, the others held where they were.
    fn one_of(
        &self,
        alike: &[usize],
        limit: f64,
        home: &[f64],
        held: &mut Told,
    ) -> Result<Option<Ended>, SystemError> {
        let mut only = None;
        for &place in alike {
            let mut others = held.clone();
            others[place] = None;
            let found = self.best(home, &others)?;
            if self.loss(&found.values) <= limit && only.replace((others, found)).is_some() {
                return Ok(None);
            }
        }
        Ok(only.map(|(others, found)| {
            *held = others;
            found
        }))
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
            best = self.better(best, &begin, start, held)?;
        }
        // Jumps are looked over last, as that takes longest, and only where they are most of what is left.
        let undelayed = self.undelayed(&best, held)?;
        for from in [Some(best.values.clone()), undelayed].into_iter().flatten() {
            if let Some(begin) = self.over_jumps(&from, &best, held) {
                best = self.better(best, &begin, start, held)?;
            }
        }
        Ok(best)
    }

    /// What a search from `begin` ends at, if that is far better for the throughputs in which it differs: others that no parameter mends say
    /// nothing of it.
    fn better(&self, best: Ended, begin: &[f64], start: &[f64], held: &Told) -> Result<Ended, SystemError> {
        let far = self.searched(begin, start, held)?;
        let (Ok(here), Ok(there)) =
            (self.logs(Surface::Exact, &best.values), self.logs(Surface::Exact, &far.values))
        else {
            return Ok(if self.loss(&far.values) < self.loss(&best.values) { far } else { best });
        };
        let differs = |at: &usize| (here[*at] - there[*at]).abs() > SAME;
        let rows: Vec<usize> = (0..here.len()).filter(differs).collect();
        let squares = |logs: &[f64]| rows.iter().map(|&at| logs[at].powi(2)).sum::<f64>();
        let free = |ended: &Ended| ended.told.iter().filter(|told| told.is_none()).count();
        let share = self.chance_of_more(free(&best), free(&far), rows.len());
        Ok(if squares(&there) < share * squares(&here) { far } else { best })
    }

    /// The lowest of a fine grid of outer rates: where a file ends a track earlier or later its throughput jumps, and no slope leads from
    /// one valley between such jumps to the next.
    fn over_jumps(&self, from: &[f64], best: &Ended, held: &Told) -> Option<Vec<f64>> {
        let least = self.loss(&best.values);
        let place = self.parameters.iter().position(|&parameter| parameter == Parameter::Outer)?;
        if held[place].is_some() || self.is_exact(least) || least > self.jumps(&best.values) {
            return None;
        }
        let grid = |middle: f64, steps: i32| {
            let value = |step: i32| middle * Parameter::FAR_STEP.powf(f64::from(step) / f64::from(steps));
            let within = |step: i32| self.parameters[place].within(value(step), self.spec);
            let mut found: Vec<(f64, f64)> =
                (-FINE..=FINE).map(within).map(|to| (self.loss(&moved(from, place, to)), to)).collect();
            found.sort_by(|a, b| a.0.total_cmp(&b.0));
            found
        };
        let valleys = grid(from[place], FINE).into_iter().take(VALLEYS);
        let lowest =
            valleys.map(|(_, middle)| grid(middle, FINE * FINE)[0]).min_by(|a, b| a.0.total_cmp(&b.0));
        lowest.map(|(_, value)| moved(from, place, value))
    }

    /// The squares of a track more or less in each file.
    pub(crate) fn jumps(&self, values: &[f64]) -> f64 {
        let disk = &self.put(values).mechanism;
        let switch_ms = disk.head_switch_ms.max(disk.cylinder_switch_ms);
        let jump = |bytes: u64, mb_per_s: f64| switch_ms / (bytes as f64 / 1e3 / mb_per_s);
        self.table.iter().map(|row| jump(row.file_bytes, row.mb_per_s).min(1.0).powi(2)).sum()
    }

    /// The share that squares of so many throughputs fall to by chance alone, one time in a thousand, if `more` parameters are fitted instead
    /// of `few`. Each throughput tells its share of the parameters.
    fn chance_of_more(&self, few: usize, more: usize, rows: usize) -> f64 {
        let all = self.table.len();
        let rest = (rows * all.saturating_sub(more)) as f64 / all as f64;
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

    /// A search that begins with `from`. What does nothing where it ends goes back to `start`, or as far as it does nothing; what did
    /// nothing where it began, and does something where it ended, is fitted, too.
    fn searched(&self, from: &[f64], start: &[f64], held: &Told) -> Result<Ended, SystemError> {
        let mut values = from.to_vec();
        for place in (0..held.len()).filter(|&place| held[place].is_some()) {
            values[place] = start[place];
        }
        let mut free = self.acting(&values, held)?;
        for _ in 0..MOST_SEARCHES {
            values = self.descend(&values, &free)?;
            let acting = self.acting(&values, held)?;
            for place in (0..held.len()).filter(|place| held[*place].is_none() && !acting.contains(place)) {
                values[place] = self.back(&values, place, start[place])?;
            }
            let now = self.acting(&values, held)?;
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

    /// Of a parameter that does nothing where it is: the value nearest to `home` up to which it does nothing. A rate that the interface
    /// hides in the table may be far below it in the file.
    fn back(&self, values: &[f64], place: usize, home: f64) -> Result<f64, SystemError> {
        let here = self.logs(Surface::Even, values)?;
        if !self.does(&here, values, place, home) {
            return Ok(home);
        }
        let (mut within, mut beyond) = (values[place], home);
        for _ in 0..HALVINGS {
            let half = self.parameters[place].halfway(within, beyond);
            *(if self.does(&here, values, place, half) { &mut beyond } else { &mut within }) = half;
        }
        Ok(within)
    }

    /// Whether a parameter moved to a value changes throughputs, which now are `here`.
    fn does(&self, here: &[f64], values: &[f64], place: usize, to: f64) -> bool {
        let there = self.logs(Surface::Even, &moved(values, place, to)).ok();
        there.is_some_and(|there| {
            let change: Vec<f64> = there.iter().zip(here).map(|(there, here)| there - here).collect();
            norm(&change) / (here.len() as f64).sqrt() >= LEAST_EFFECT
        })
    }

    /// Of a parameter that does nothing: from which value on it would, the others left as they are.
    fn idle(&self, values: &[f64], place: usize) -> String {
        let (parameter, value) = (self.parameters[place], values[place]);
        let nothing = "no throughput of the table depends on it".to_owned();
        let Ok(here) = self.logs(Surface::Even, values) else { return nothing };
        let does = |to: f64| self.does(&here, values, place, to);
        // A rate falls until it is the bottleneck, a time grows.
        let further =
            parameter.far_values(value, self.spec).filter(|&far| (far < value) == parameter.is_rate());
        let Some(mut beyond) = further.into_iter().find(|&far| does(far)) else { return nothing };
        let mut within = value;
        for _ in 0..HALVINGS {
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

/// What is said of a value that only one end of an interval is known of.
pub(crate) fn no_more_words(parameter: Parameter, end: f64, is_lowest: bool) -> String {
    let side = if is_lowest { "more" } else { "less" };
    format!("the table says no more than that it is {} {} or {side}", three_digits(end), parameter.unit())
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
