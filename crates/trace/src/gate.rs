//! What every request must satisfy, whatever the format: checked once, on the way into the batch.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use headstack_units::Nanos;

use crate::number::Problem;
use crate::{Request, TraceError};

/// The latest instant a trace may hold after re-basing: 2^63 − 1 ns, 292 years, so that differences fit `i64`.
pub(crate) const LAST_INSTANT: Nanos = Nanos(i64::MAX as u64);

/// Where in the file a record lies.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Place {
    /// Line number, counted from 1.
    Line(u64),
    /// Offset of the record's first byte in the (decompressed) file, and its number counted from 1.
    Byte { offset: u64, record: u64 },
    /// Row of a table, counted from 1.
    Row(u64),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(line) => write!(f, "line {line}"),
            Self::Byte { offset, record } => write!(f, "byte {offset} (record {record})"),
            Self::Row(row) => write!(f, "row {row}"),
        }
    }
}

/// Checks requests and puts them into the batch.
pub(crate) struct Gate {
    path: Arc<Path>,
    clock: Clock,
    last: Nanos,
    sorting: bool,
    skip_empty: bool,
    /// A flush alone is let through; it is passed over otherwise.
    takes_flushes: bool,
    skipped: u64,
    tolerant: bool,
    /// What the first arrival became: on a clock that begins shortly before it there is less room for earlier ones.
    lead: Nanos,
    notes: Notes,
}

/// What a tolerant reader passed over.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Notes {
    /// Records that make no sense, left out.
    pub bad_records: u64,
    /// Records before the one above them.
    pub out_of_order: u64,
    /// Requests that move nothing, left out.
    pub without_length: u64,
    /// Lines of events that tell the same as one before, left out.
    pub doubled: u64,
    /// What was wrong with the first ten bad ones, and where.
    pub first: Vec<String>,
}

impl Notes {
    /// How many problems are kept in words.
    const KEPT: usize = 10;

    /// Counts a bad record.
    #[cold]
    pub(crate) fn bad(&mut self, error: &TraceError) {
        self.bad_records += 1;
        if self.first.len() < Self::KEPT {
            self.first.push(error.to_string());
        }
    }

    /// The same, of what matters more than the others: told before them.
    pub(crate) fn bad_above_all(&mut self, error: &TraceError) {
        self.bad_records += 1;
        self.first.insert(0, error.to_string());
        self.first.truncate(Self::KEPT);
    }

    /// Whether everything was sound.
    pub fn is_clean(&self) -> bool {
        self.bad_records == 0 && self.out_of_order == 0
    }

    /// The error of a trace of which nothing makes sense; `None` if nothing was bad.
    #[cold]
    pub(crate) fn nothing_sound(&self) -> Option<TraceError> {
        let first = self.first.first()?;
        let records = self.bad_records;
        Some(TraceError::unusable(
            format!("not one of {records} records makes sense; the first: {first}"),
            "name the format with --format, or what the columns of a table hold with --columns".into(),
        ))
    }

    /// Adds what another reader passed over.
    pub fn merge(&mut self, other: &Self) {
        self.bad_records += other.bad_records;
        self.out_of_order += other.out_of_order;
        self.without_length += other.without_length;
        self.doubled += other.doubled;
        let room = Self::KEPT.saturating_sub(self.first.len());
        self.first.extend(other.first.iter().take(room).cloned());
    }
}

/// A tolerant gate lets requests pass that come before the first one by at most this: one hour.
const SLACK: Nanos = Nanos(3_600_000_000_000);

/// What zero means on the trace's clock.
#[derive(Clone, Copy)]
enum Clock {
    /// The start of the trace: instants stay as they are.
    Trace,
    /// Something else, and no request has been seen yet.
    Unknown,
    /// Something else; this is the first arrival.
    Since(Nanos),
}

impl Gate {
    /// `rebase`: the first arrival becomes zero. `sorting`: somebody sorts later, so order (and re-basing) are theirs.
    pub(crate) fn new(path: Arc<Path>, rebase: bool, sorting: bool, skip_empty: bool) -> Self {
        let clock = if rebase && !sorting { Clock::Unknown } else { Clock::Trace };
        Self {
            path,
            clock,
            last: Nanos::ZERO,
            sorting,
            skip_empty,
            takes_flushes: false,
            skipped: 0,
            tolerant: false,
            lead: Nanos::ZERO,
            notes: Notes::default(),
        }
    }

    /// The same, but what makes no sense is noted and left out, and what is out of order is noted and let through; the
    /// first arrival of a clock that is not the trace's own becomes one hour.
    pub(crate) fn tolerant(self) -> Self {
        Self { tolerant: true, skip_empty: true, ..self }
    }

    /// The same, but a flush alone goes through.
    pub(crate) fn with_flushes(self) -> Self {
        Self { takes_flushes: true, ..self }
    }

    /// What was taken off every instant so far.
    pub(crate) fn zero(&self) -> Nanos {
        match self.clock {
            Clock::Since(zero) => zero,
            Clock::Trace | Clock::Unknown => Nanos::ZERO,
        }
    }

    /// What the first arrival becomes, where the clock is not the trace's own; before it is seen, what it may become at most.
    pub(crate) fn lead(&self) -> Nanos {
        match self.clock {
            Clock::Trace => Nanos::ZERO,
            Clock::Unknown if self.tolerant => SLACK,
            Clock::Unknown | Clock::Since(_) => self.lead,
        }
    }

    /// What a tolerant gate left out so far.
    pub(crate) fn notes(&self) -> &Notes {
        &self.notes
    }

    /// A problem at `place`: an error, or a note where the gate is tolerant.
    #[cold]
    pub(crate) fn problem(&mut self, place: Place, problem: Problem) -> Result<(), TraceError> {
        let error = self.error(place, problem);
        self.note(error)
    }

    #[cold]
    fn note(&mut self, error: TraceError) -> Result<(), TraceError> {
        if !self.tolerant {
            return Err(error);
        }
        self.notes.bad(&error);
        Ok(())
    }

    /// Requests left out because they move nothing.
    pub(crate) fn skipped(&self) -> u64 {
        self.skipped
    }

    /// Puts `request` into `batch` if it makes sense.
    #[inline]
    pub(crate) fn admit(
        &mut self,
        batch: &mut Vec<Request>,
        mut request: Request,
        place: Place,
    ) -> Result<(), TraceError> {
        let zero = match self.clock {
            Clock::Trace => Nanos::ZERO,
            Clock::Unknown => Nanos::MAX,
            Clock::Since(zero) => zero,
        };
        let last = if self.sorting { Nanos::ZERO } else { self.last };
        if zero <= request.arrival && is_sound(&request, last) && request.arrival <= LAST_INSTANT {
            self.last = request.arrival;
            rebase(&mut request, zero);
            batch.push(request);
            return Ok(());
        }
        self.admit_slowly(batch, request, place)
    }

    /// The same for what is not plainly sound.
    #[inline(never)]
    fn admit_slowly(
        &mut self,
        batch: &mut Vec<Request>,
        mut request: Request,
        place: Place,
    ) -> Result<(), TraceError> {
        match self.check(&mut request, place) {
            Ok(true) => batch.push(request),
            Ok(false) => {}
            Err(error) => self.note(error)?,
        }
        Ok(())
    }

    /// Puts the request on the gate's clock; whether it is to be delivered.
    fn check(&mut self, request: &mut Request, place: Place) -> Result<bool, TraceError> {
        if request.sectors == 0 && !self.takes_empty(request, place)? {
            return Ok(false);
        }
        if request.lba.0.checked_add(u64::from(request.sectors)).is_none() {
            return Err(self.error(place, beyond_64_bits(request)));
        }
        let handed_over = if request.start == Nanos::MAX { request.arrival } else { request.start };
        if handed_over < request.arrival || request.finish < handed_over {
            return Err(self.error(place, out_of_sequence(request)));
        }
        if !self.sorting {
            if request.arrival < self.last {
                if !self.tolerant {
                    return Err(self.descending(place, request));
                }
                self.notes.out_of_order += 1;
            }
            self.last = request.arrival;
        }
        match self.clock {
            Clock::Trace => {}
            Clock::Unknown => {
                let slack = if self.tolerant { SLACK } else { Nanos::ZERO };
                let zero = request.arrival.saturating_sub(slack);
                self.clock = Clock::Since(zero);
                self.lead = request.arrival.saturating_sub(zero);
                rebase(request, zero);
            }
            Clock::Since(zero) if request.arrival < zero => {
                return Err(
                    self.error(place, Problem("the request arrives over an hour before the first".into()))
                );
            }
            Clock::Since(zero) => rebase(request, zero),
        }
        if !self.sorting && request.arrival > LAST_INSTANT {
            return Err(self.error(place, too_late(request)));
        }
        Ok(true)
    }

    /// Lets a whole batch through, if there is nothing to find fault with or to change in any request; otherwise nothing
    /// has happened, and they go through one by one.
    pub(crate) fn admit_all(&mut self, batch: &[Request]) -> bool {
        if self.sorting || !matches!(self.clock, Clock::Trace) {
            return false;
        }
        let (mut last, mut sound) = (self.last, true);
        for request in batch {
            sound &= is_sound(request, last);
            last = request.arrival;
        }
        sound &= last <= LAST_INSTANT;
        if sound {
            self.last = last;
        }
        sound
    }

    /// An error at `place`.
    #[cold]
    pub(crate) fn error(&self, place: Place, Problem(problem): Problem) -> TraceError {
        TraceError::Record { path: self.path.to_path_buf(), place: place.to_string(), problem, hint: None }
    }

    /// Whether a request without sectors is let through, where it is no error.
    #[cold]
    fn takes_empty(&mut self, request: &Request, place: Place) -> Result<bool, TraceError> {
        let is_flush = request.is_flush_alone();
        if is_flush && self.takes_flushes {
            return Ok(true);
        }
        if is_flush || self.skip_empty {
            self.skipped += 1;
            self.notes.without_length += u64::from(!is_flush);
            return Ok(false);
        }
        Err(self.hinted(
            place,
            "the request has a length of zero".into(),
            "leave such requests out with --skip-zero-length",
        ))
    }

    #[cold]
    fn descending(&self, place: Place, request: &Request) -> TraceError {
        let back = Nanos(self.last.0 - request.arrival.0);
        self.hinted(
            place,
            format!("the request arrives {back} before the one above it"),
            "read the whole trace and order it by arrival with --sort (memory grows with the trace)",
        )
    }

    fn hinted(&self, place: Place, problem: String, hint: &str) -> TraceError {
        TraceError::Record {
            path: self.path.to_path_buf(),
            place: place.to_string(),
            problem,
            hint: Some(hint.into()),
        }
    }
}

/// Whether nothing is wrong with a request that comes behind one of the instant `last`.
#[inline]
fn is_sound(request: &Request, last: Nanos) -> bool {
    let handed_over = if request.start == Nanos::MAX { request.arrival } else { request.start };
    request.sectors > 0
        && request.lba.0 <= u64::MAX - u64::from(request.sectors)
        && request.arrival <= handed_over
        && handed_over <= request.finish
        && last <= request.arrival
}

/// Moves the request's instants so that `zero` becomes 0; `zero` is at most its arrival.
pub(crate) fn rebase(request: &mut Request, zero: Nanos) {
    for instant in [&mut request.arrival, &mut request.start, &mut request.finish] {
        if *instant != Nanos::MAX {
            instant.0 -= zero.0;
        }
    }
}

#[cold]
fn beyond_64_bits(request: &Request) -> Problem {
    Problem(format!("{} sectors from {} on reach beyond 64-bit addresses", request.sectors, request.lba.0))
}

#[cold]
fn out_of_sequence(request: &Request) -> Problem {
    let steps = [("starts", request.start), ("finishes", request.finish)];
    let known = steps.iter().filter_map(|(does, at)| Some(format!("{does} at {}", at.present()?)));
    let known = known.collect::<Vec<_>>().join(" and ");
    Problem(format!("the request arrives at {} and {known}, which is not in this order", request.arrival))
}

/// The complaint about an arrival beyond [`LAST_INSTANT`].
#[cold]
pub(crate) fn too_late(request: &Request) -> Problem {
    Problem(format!(
        "the request arrives {:.0} years after the start of the trace",
        request.arrival.as_s() / 31_556_952.0
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Op;
    use headstack_units::Lba;
    use proptest::prelude::*;

    fn gate(rebase: bool, sorting: bool) -> Gate {
        Gate::new(Path::new("t").into(), rebase, sorting, false)
    }

    fn at(arrival: u64) -> Request {
        Request::new(Nanos(arrival), Op::Read, Lba(0), 1)
    }

    #[test]
    fn a_descending_arrival_names_the_place_and_the_option() {
        let (mut gate, mut batch) = (gate(false, false), Vec::new());
        gate.admit(&mut batch, at(5_000_000), Place::Line(1)).unwrap();
        gate.admit(&mut batch, at(5_000_000), Place::Line(2)).unwrap();
        let error = gate.admit(&mut batch, at(4_000_000), Place::Line(3)).unwrap_err();
        assert_eq!(error.to_string(), "t: line 3: the request arrives 1.000000 ms before the one above it");
        assert!(error.hint().unwrap().contains("--sort"));
        assert_eq!(batch.len(), 2);
    }

    #[test]
    fn rebasing_counts_from_the_first_arrival() {
        let (mut gate, mut batch) = (gate(true, false), Vec::new());
        let mut first = at(u64::MAX - 10);
        first.start = Nanos(u64::MAX - 8);
        gate.admit(&mut batch, first, Place::Line(1)).unwrap();
        gate.admit(&mut batch, at(u64::MAX - 7), Place::Line(2)).unwrap();
        assert_eq!((batch[0].arrival, batch[0].start, batch[0].finish), (Nanos(0), Nanos(2), Nanos::MAX));
        assert_eq!(batch[1].arrival, Nanos(3));
    }

    #[test]
    fn impossible_requests_stay_out() {
        let mut batch = Vec::new();
        let mut wide = at(0);
        wide.lba = Lba(u64::MAX);
        let mut backwards = at(5);
        (backwards.start, backwards.finish) = (Nanos(7), Nanos(6));
        let mut early = at(5);
        early.start = Nanos(4);
        let mut unstarted = at(5);
        unstarted.finish = Nanos(4);
        for request in [wide, backwards, early, unstarted, at(1 << 63), Request { sectors: 0, ..at(0) }] {
            assert!(gate(false, false).admit(&mut batch, request, Place::Row(1)).is_err(), "{request:?}");
        }
        assert_eq!(batch, []);
        gate(false, false).admit(&mut batch, at((1 << 63) - 1), Place::Row(1)).unwrap();
        assert_eq!(batch.len(), 1);
    }

    proptest! {
        #[test]
        fn a_batch_goes_through_whole_only_if_each_would_and_unchanged(
            drafts in prop::collection::vec(
                (prop_oneof![9 => 0..5_u64, 1 => Just(1 << 63)], 0..12_u32, 0..9_u64, 0..9_u64, any::<bool>()),
                0..12,
            ),
            back in prop::bool::weighted(0.2),
            rebase in prop::bool::weighted(0.2),
        ) {
            let mut arrival = 10_u64;
            let mut requests: Vec<Request> = drafts
                .iter()
                .map(|&(gap, sectors, start, finish, high)| {
                    arrival = arrival.saturating_add(gap).min(u64::MAX - 20);
                    let instant = |after: u64| match after {
                        0..3 => Nanos::MAX,
                        after => Nanos(arrival + after - 4),
                    };
                    let lba = Lba(if high { u64::MAX - 11 } else { 7 });
                    let request = Request::new(Nanos(arrival), Op::Read, lba, sectors);
                    Request { start: instant(start), finish: instant(finish), ..request }
                })
                .collect();
            if back && let Some(last) = requests.last_mut() {
                last.arrival = Nanos(3);
            }
            let (mut whole, mut single, mut admitted) = (gate(rebase, false), gate(rebase, false), Vec::new());
            let each = requests
                .iter()
                .all(|request| single.admit(&mut admitted, *request, Place::Row(1)).is_ok());
            let expected = each && admitted == requests && !rebase;
            prop_assert_eq!(whole.admit_all(&requests), expected);
            prop_assert_eq!(whole.last, if expected { single.last } else { Nanos::ZERO });
        }
    }
}
