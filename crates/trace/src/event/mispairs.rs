//! How many pairs a loss of events may have made up, and from which duration on no pair is believed.
//!
//! A wrong pair has two halves of which each lost its own other half: begin 1 (its end was lost), then end 2 of the same
//! place (its begin was lost). Of begins that lost their end, what is seen next at their place is either another begin or
//! such an end. So wrong pairs are to begins seen again without an end (*superseded*) as ends without a begin are to begins:
//! with `s` superseded of `n` begins, and `u` ends without a begin beside `w` wrong pairs,
//! `w / s = (u + w) / n`, hence `w = s · u / (n − s)`. This is added up over windows of time, as losses come and go. A burst of losses
//! ends before what it left is superseded. So all superseded begins are counted to the windows with an end without a begin, too, and the
//! larger sum is taken.
//!
//! As many of the slowest pairs are not believed, and three standard deviations more: the slowest that is left is then a
//! right one, or faster than a right one that was left out. Where very many take about as long as these, as where each waits for the same
//! few microseconds, they are believed: a wrong one among them is off by a sixteenth of an octave at most.
//!
//! A begin seen again is superseded only if it never ends: where several of one place are there at once, most end after all
//! (*returned*), and count in the share that did not.

use headstack_units::Nanos;

use super::durations::Durations;

/// So many times as many right pairs as wrong ones that take as long make these harmless.
const CROWD: u64 = 8;

/// Between two looks for the limit.
const OFTEN: u64 = 64;

/// Begins in a window.
const WINDOW: u64 = 32;

/// Windows with an end without a begin that are no beginning of a trace.
const BURSTS: u64 = 3;

/// Windows with an end without a begin, and one in so many of all, that say something is lost all the time: a trace that
/// begins amid requests has such ends in its first few.
const MANY: u64 = 8;
const SHARE: u64 = 8;

/// One begin in so many without an end says that ends are missing: of a real disk one in 300 had none, though nothing was lost.
const FEW: u64 = 100;

/// Begins and ends of one kind in a trace with losses.
#[derive(Clone, Debug)]
pub(crate) struct Mispairs {
    now: Window,
    /// Wrong pairs of all windows before.
    before: f64,
    /// How many there were, and how many of them had an end without a begin.
    windows: u64,
    unbegun: u64,
    /// Ends without a begin, of all windows before.
    ends_alone: u64,
    /// Superseded begins, and those of them that ended after all, or may yet.
    superseded: u64,
    returned: u64,
    may_return: u64,
    /// Whether there was a superseded begin, and an end without a begin.
    seen: [bool; 2],
    /// Of all pairs, and of those of which there is no doubt.
    all: Durations,
    sure: Durations,
    limit: Nanos,
    /// The limit is not longer than this, from so many pairs on.
    bound: Nanos,
    at_bound: u64,
    usual: Option<Nanos>,
    surveyed: bool,
}

#[derive(Clone, Copy, Debug, Default)]
struct Window {
    begun: u64,
    superseded: u64,
    unbegun: u64,
}

impl Window {
    fn wrong(self, ahead: f64) -> f64 {
        let (superseded, unbegun) = (self.superseded as f64 + ahead, self.unbegun as f64 + ahead);
        superseded * unbegun / (self.begun as f64 - superseded).max(1.0)
    }
}

impl Default for Mispairs {
    fn default() -> Self {
        Self {
            now: Window::default(),
            before: 0.0,
            windows: 0,
            unbegun: 0,
            ends_alone: 0,
            superseded: 0,
            returned: 0,
            may_return: 0,
            seen: [false; 2],
            all: Durations::default(),
            sure: Durations::default(),
            limit: Nanos::MAX,
            bound: Nanos::MAX,
            at_bound: 0,
            usual: None,
            surveyed: false,
        }
    }
}

impl Mispairs {
    /// A begin.
    #[inline]
    pub(crate) fn begin(&mut self) {
        self.now.begun += 1;
        if self.now.begun == WINDOW {
            self.before += self.now.wrong(0.0);
            self.windows += 1;
            self.unbegun += u64::from(self.now.unbegun > 0);
            self.ends_alone += self.now.unbegun;
            self.now = Window::default();
        }
    }

    /// Begins of a place where an earlier one has no end.
    pub(crate) fn supersede(&mut self, count: u64) {
        self.now.superseded += count;
        self.superseded += count;
        self.seen[0] |= count > 0;
    }

    /// Of the superseded ones so many ended after all: they were there together.
    #[inline]
    pub(crate) fn returned(&mut self, count: u64) {
        self.returned += count;
    }

    /// So many may end yet.
    pub(crate) fn may_return(&mut self, count: u64) {
        self.may_return = count;
    }

    /// The share of the superseded ones that have no end.
    fn unended(&self) -> f64 {
        let unended = self.superseded.saturating_sub(self.returned + self.may_return);
        unended as f64 / self.superseded.max(1) as f64
    }

    /// An end without a begin.
    pub(crate) fn unbegun(&mut self) {
        self.now.unbegun += 1;
        self.seen[1] = true;
    }

    /// Ends without a begin so far.
    pub(crate) fn ends_alone(&self) -> u64 {
        self.ends_alone + self.now.unbegun
    }

    /// So many pairs are wrong.
    pub(crate) fn wrong(&self) -> f64 {
        (self.before + self.now.wrong(0.0)).max(self.wrong_in_bursts()) * self.unended()
    }

    /// The same where events are lost in bursts: a begin is superseded long after the burst in which its end was lost, and there is an end
    /// without a begin in the windows of bursts only.
    fn wrong_in_bursts(&self) -> f64 {
        let windows = self.unbegun + u64::from(self.now.unbegun > 0);
        if windows < BURSTS {
            return 0.0;
        }
        let ends_alone = self.ends_alone + self.now.unbegun;
        self.superseded as f64 * ends_alone as f64 / (windows * WINDOW) as f64
    }

    /// Whether so many begins without an end are more than chance leaves.
    pub(crate) fn are_many(&self, unended: u64) -> bool {
        unended >= MANY && unended * FEW >= self.windows * WINDOW + self.now.begun
    }

    /// Whether begins are missing all the time. (What is asked for in ever new places is superseded nowhere, and a wrong pair is
    /// one of overlapping places.)
    pub(crate) fn begins_are_missing(&self) -> bool {
        self.unbegun >= MANY && self.unbegun * SHARE >= self.windows
    }

    /// Takes the time between two halves, whether or not they are believed to belong together.
    #[inline]
    pub(crate) fn record(&mut self, duration: Nanos) {
        if self.surveyed {
            return;
        }
        self.all.push(duration);
        if self.all.count().is_multiple_of(OFTEN) || self.all.count() < OFTEN {
            self.limit = self.limit_but(self.doubtful(1.0));
        }
    }

    /// The same of a pair whose place nobody else asked for meanwhile: it tells what is usual, whatever others take for losses.
    #[inline]
    pub(crate) fn record_sure(&mut self, duration: Nanos) {
        self.sure.push(duration);
        if self.sure.count().is_multiple_of(OFTEN) {
            let slowest = self.sure.slowest_but(self.sure.count() / 1000 + 1);
            // Of fewer than a thousand the slowest says little about one in a thousand.
            let is_known = self.sure.count() >= 1000;
            self.usual = Some(if is_known { slowest } else { Nanos(slowest.0.saturating_mul(2)) });
        }
    }

    /// Fixes the limit: all of the trace has been seen. (Where begins are missing all the time, that none was superseded does not
    /// say that none will be taken for another.)
    pub(crate) fn survey(mut self) -> Self {
        let unseen = if self.begins_are_missing() { 1.0 } else { 0.0 };
        self.limit = self.limit_but(self.doubtful(unseen));
        self.surveyed = true;
        self
    }

    /// From here on no pair is believed that took longer than this.
    pub(crate) fn bound(&mut self, longest: Nanos) {
        (self.bound, self.at_bound) = (longest, self.all.count());
        self.limit = self.limit.min(longest);
    }

    /// How many pairs there were since, and how many of them took longer.
    pub(crate) fn since_bound(&self) -> (u64, u64) {
        (self.all.count() - self.at_bound, self.all.longer_than(self.bound))
    }

    /// A pair that took longer is not believed.
    #[inline]
    pub(crate) fn limit(&self) -> Nanos {
        self.limit
    }

    /// What all but one in a thousand take, and but those that may be wrong, once some are known.
    pub(crate) fn usual(&self) -> Option<Nanos> {
        let unusual = (self.all.count() / 1000 + 1).max(self.doubtful(0.0));
        (self.all.count() >= OFTEN).then(|| self.all.slowest_but(unusual))
    }

    /// What all but one in a thousand take, or of a few the slowest; nothing where there are none.
    pub(crate) fn longest(&self) -> Nanos {
        match self.usual() {
            Some(usual) => usual,
            None if self.all.count() == 0 => Nanos::ZERO,
            None => self.all.slowest_but(1),
        }
    }

    /// What all but one in a thousand took of the pairs that are sure, a few of them ago.
    #[inline]
    pub(crate) fn usual_lately(&self) -> Option<Nanos> {
        self.usual
    }

    /// So many pairs may be wrong; `ahead` of each loss is still to be seen.
    fn doubtful(&self, ahead: f64) -> u64 {
        let unended = self.unended();
        if ahead == 0.0 && (self.seen != [true; 2] || unended == 0.0) {
            return 0;
        }
        let known = self.before * unended + self.now.wrong(ahead);
        let wrong = known.max(self.wrong_in_bursts() * unended);
        (wrong + 3.0 * wrong.sqrt() + 1.0).ceil() as u64
    }

    /// The longest duration that is believed if so many pairs are doubtful; none where every second one is.
    fn limit_but(&self, doubtful: u64) -> Nanos {
        if self.all.count() >= OFTEN && 2 * doubtful >= self.all.count() {
            return Nanos::ZERO;
        }
        self.all.slowest_but_crowd(doubtful, CROWD).min(self.bound)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1,000 right pairs of up to 10 ms, 20 wrong ones of 1 s and more, as 100 of 1,100 begins superseded and 200 ends
    /// without a begin would make.
    fn lossy(superseded: u64, unbegun: u64) -> Mispairs {
        let mut pairs = Mispairs::default();
        for k in 0..1100 {
            if k % 11 == 0 {
                pairs.supersede(superseded);
                (0..2 * unbegun).for_each(|_| pairs.unbegun());
            }
            pairs.begin();
        }
        for k in 0..1000 {
            pairs.record(Nanos(k * 10_000));
        }
        for k in 0..20 {
            pairs.record(Nanos(1_000_000_000 << (k / 4)));
        }
        pairs
    }

    #[test]
    fn as_many_of_the_slowest_are_left_out_as_may_be_wrong() {
        let pairs = lossy(1, 1).survey();
        // 20 wrong ones and three deviations: 34.4, so 15 right ones go, too.
        assert!((8.9..=9.85).contains(&pairs.limit().as_ms()), "{}", pairs.limit());
    }

    /// At the beginning of a trace the begins of all that is outstanding are missing.
    #[test]
    fn begins_are_missing_where_ends_lack_them_all_the_time() {
        let ends_alone = |is_alone: fn(u64) -> bool| {
            let mut pairs = Mispairs::default();
            for k in 0..6400 {
                pairs.begin();
                if is_alone(k) {
                    pairs.unbegun();
                }
            }
            (pairs.begins_are_missing(), pairs.wrong())
        };
        assert_eq!(ends_alone(|k| k % 100 == 0), (true, 0.0));
        for is_alone in [|_| false, |k| k < 128, |k| k % 1000 == 0] {
            assert_eq!(ends_alone(is_alone), (false, 0.0));
        }
    }

    /// One pair was made up, though nothing was superseded: ever new places, and one of them again.
    #[test]
    fn where_begins_are_missing_all_the_time_the_slowest_are_doubtful() {
        let mut pairs = Mispairs::default();
        for k in 0..1000 {
            pairs.begin();
            if k % 4 == 0 {
                pairs.unbegun();
            } else {
                pairs.record(Nanos(1_000_000 + 1000 * k));
            }
        }
        pairs.record(Nanos(5_000_000_000));
        let limit = pairs.survey().limit();
        assert!((1_900_000..2_000_000).contains(&limit.0), "{limit}");
    }

    #[test]
    fn begins_alone_or_ends_alone_now_and_then_leave_all_believed() {
        assert_eq!(lossy(1, 0).survey().limit(), Nanos::MAX);
        let mut few = lossy(0, 0);
        (0..200).for_each(|_| few.unbegun());
        assert_eq!(few.survey().limit(), Nanos::MAX);
    }

    /// A begin that waited for 20 µs is no less believed because all of them did.
    #[test]
    fn pairs_that_all_take_as_long_are_believed() {
        let mut pairs = Mispairs::default();
        for k in 0..500 {
            pairs.begin();
            pairs.record(Nanos(20_000 + k % 7));
        }
        assert!(pairs.limit() >= Nanos(20_006), "{}", pairs.limit());
        // Not so what takes longer.
        pairs.record(Nanos(900_000));
        (0..OFTEN).for_each(|_| pairs.record(Nanos(20_000)));
        assert!((20_006..22_000).contains(&pairs.limit().0), "{}", pairs.limit());
    }

    #[test]
    fn more_losses_than_pairs_leave_none() {
        let mut pairs = Mispairs::default();
        (0..20).for_each(|_| pairs.begin());
        pairs.supersede(15);
        (0..90).for_each(|_| pairs.unbegun());
        pairs.record(Nanos(5));
        pairs.record(Nanos::MAX);
        assert_eq!(pairs.survey().limit(), Nanos::ZERO);
    }
}
