//! One drive's requests, served by several threads: the same records as by one.
//!
//! A command depends on all before it, by the state they left the drive in. But a drive forgets: where the arm is, what the
//! cache holds and how long the queue is follow, after idle moments, from the last commands alone. So the requests at hand are cut
//! into stretches, and each thread serves one from a *guessed* state: that of the last request known, with some requests before
//! the stretch served from there. Then they are gone through in order. Where the guess equals the state in which the stretch before
//! really ended, in all that a command to come may depend on, its records are right, and kept; where not, its requests are
//! served again, until the two states meet.
//!
//! A stretch is compared block by block. The thread that reads requests and writes records does so while the others serve: for
//! the round before, and for the one to come. Where guesses fail they are left out for a while, and only that remains.

use std::ops::Range;
use std::vec::Drain;

use headstack_trace::Request;

use super::Output;
use super::arrivals::Arrivals;
use super::fast::{FastRun, Records};
use super::meanwhile::do_meanwhile;
use super::worker::Worker;
use crate::SystemError;
use crate::record::{BATCH_ROWS, BackgroundRow, CompletionRow};
use crate::summary::{ParallelSummary, Statistics};
use headstack_units::Nanos;

/// Stretches a thread serves in a round: one that is through early takes another.
const STRETCHES_A_THREAD: usize = 6;
/// The last stretch of each thread comes in so many parts: at the end of a round threads wait for each other, for half a part on
/// average.
const LAST_PARTS: usize = 4;
/// Most rounds in a row without guesses.
const LONGEST_PAUSE: u32 = 64;

/// How requests are cut.
#[derive(Clone, Copy, Debug)]
struct Cut {
    /// Requests in a stretch.
    stretch: usize,
    /// Requests after which states are compared.
    block: usize,
    /// Requests before a stretch that are served to guess the state it begins in, at first and at most.
    lead: usize,
    longest_lead: usize,
}

impl Cut {
    /// `batch` requests in a stretch, for tests.
    fn new(batch: Option<usize>) -> Self {
        match batch {
            // Blocks are batches of records, which go out from where they lie. What a round holds is handed from core to core
            // through a cache, so rounds are short.
            None => Self { stretch: BATCH_ROWS, block: BATCH_ROWS, lead: 32, longest_lead: 2048 },
            Some(batch) => {
                let stretch = batch.max(1);
                Self { stretch, block: stretch / 3 + 1, lead: stretch / 4, longest_lead: stretch / 2 }
            }
        }
    }
}

/// Serves all that is left of `arrivals` on the single drive of `run`.
pub(super) fn run(
    run: &mut FastRun<'_>,
    arrivals: &mut Arrivals,
    threads: usize,
    batch: Option<usize>,
    output: &mut Output<'_>,
) -> Result<(), SystemError> {
    let mut guessing = Guessing::new(Cut::new(batch));
    let most = guessing.cut.stretch * STRETCHES_A_THREAD * threads;
    let mut shelf = Shelf::new((!output.wants_rows()).then(|| Statistics::new(run.system)));
    let mut parallel = ParallelSummary { threads, ..ParallelSummary::default() };
    let mut known = Vec::new();
    // The first are served by one thread: they show whether the drive keeps up.
    let mut next = Round::read(arrivals, guessing.cut.block, Vec::new());
    while !next.requests.is_empty() {
        if output.is_stopped() {
            run.end.interrupted = true;
            break;
        }
        let round = std::mem::take(&mut next);
        let is_guessed = guessing.is_on(run, &round);
        let free = std::mem::take(&mut shelf.requests);
        let read_and_write = || {
            let written = put_out(&mut known, output);
            (written, Round::read(arrivals, most, free))
        };
        let written;
        let proof = if is_guessed {
            let mut stretches = round.stretches(run, &guessing, &mut shelf, threads);
            (written, next) = do_meanwhile(&mut stretches, threads, Stretch::serve, read_and_write);
            written?;
            shelf.notes.append(&mut known);
            prove(run, &round, stretches, &mut known, &mut shelf)
        } else {
            let mut all = [Sequel::new(run, &round, guessing.cut.block, &mut shelf)];
            (written, next) = do_meanwhile(&mut all, threads, Sequel::serve, read_and_write);
            written?;
            shelf.notes.append(&mut known);
            let [Sequel { served, result, notes, .. }] = all;
            shelf.notes.extend(notes);
            known.extend(served);
            result.map(|()| Proof::default())
        };
        if let Err(error) = proof.map(|proof| guessing.learn(&proof, &mut parallel)) {
            // What came before it is served all the same.
            put_out(&mut known, output)?;
            return Err(error);
        }
        shelf.widen(&known);
        if round.requests.len() > guessing.cut.stretch {
            run.end.parallel = Some(parallel);
        }
        next.failed = next.failed.or(round.failed);
        shelf.requests = round.requests;
    }
    put_out(&mut known, output)?;
    run.end.interrupted |= output.is_stopped();
    next.failed.map_or(Ok(()), Err)
}

/// Puts out what is known, until the user wants the run to end: its books are ahead of its records then.
fn put_out(known: &mut [Notes], output: &mut Output<'_>) -> Result<(), SystemError> {
    for notes in known {
        if output.is_stopped() {
            break;
        }
        notes.put_out(output)?;
    }
    Ok(())
}

/// Requests served together.
#[derive(Default)]
struct Round {
    first_id: u64,
    requests: Vec<Request>,
    /// What is wrong with the request behind them.
    failed: Option<SystemError>,
}

impl Round {
    /// The next requests, at most `most`, in a list that is of no more use.
    fn read(arrivals: &mut Arrivals, most: usize, mut requests: Vec<Request>) -> Self {
        let (first_id, failed) = arrivals.take_round(most, &mut requests);
        Self { first_id, requests, failed }
    }

    /// The round, cut. The first stretch begins in the state that is known.
    fn stretches<'s>(
        &'s self,
        known: &FastRun<'s>,
        guessing: &Guessing,
        shelf: &mut Shelf,
        threads: usize,
    ) -> Vec<Stretch<'s>> {
        let stretch = |range: Range<usize>| Stretch {
            run: known.fork(),
            round: self,
            lead: range.start.saturating_sub(guessing.lead)..range.start,
            blocks: pieces(range, guessing.cut.block),
            states: Vec::new(),
            served: Vec::new(),
            notes: Vec::new(),
        };
        let mut stretches: Vec<Stretch<'s>> =
            cut(self.requests.len(), guessing.cut.stretch, threads).into_iter().map(stretch).collect();
        for stretch in &mut stretches {
            stretch.notes.extend(stretch.blocks.iter().map(|_| shelf.notes()));
        }
        stretches
    }

    fn id(&self, index: usize) -> u64 {
        self.first_id + index as u64
    }
}

fn pieces(range: Range<usize>, length: usize) -> Vec<Range<usize>> {
    let end = range.end;
    range.step_by(length.max(1)).map(|begin| begin..end.min(begin + length)).collect()
}

/// `all` requests in stretches, the last `threads` of which come in parts.
fn cut(all: usize, length: usize, threads: usize) -> Vec<Range<usize>> {
    let whole = pieces(0..all, length);
    if whole.len() <= threads {
        return whole;
    }
    let (first, last) = whole.split_at(whole.len() - threads);
    let parts = last.iter().flat_map(|stretch| pieces(stretch.clone(), length.div_ceil(LAST_PARTS)));
    first.iter().cloned().chain(parts).collect()
}

/// Requests that follow each other, served by one thread.
struct Stretch<'s> {
    run: FastRun<'s>,
    round: &'s Round,
    /// The requests served before it to guess the state it begins in; none of the first stretch.
    lead: Range<usize>,
    blocks: Vec<Range<usize>>,
    /// Before each block, and after it with what it booked.
    states: Vec<Worker>,
    served: Vec<Served>,
    /// Room for the records.
    notes: Vec<Notes>,
}

/// How a block was served.
struct Served {
    notes: Notes,
    /// The last completion.
    end: Nanos,
    /// Completions that may be later than its last arrival.
    finishes: Vec<Nanos>,
}

impl Stretch<'_> {
    /// Serves it, up to a request that cannot be served: that one is met again.
    fn serve(&mut self) {
        let lead = self.lead.clone();
        let requests = &self.round.requests;
        if self.run.serve_all(self.round.id(lead.start), &requests[lead], &mut Unheard).is_err() {
            return;
        }
        self.states.push(self.run.workers[0].clone());
        for block in self.blocks.clone() {
            self.run.workers[0].begin_stretch();
            self.run.end.at = Nanos::ZERO;
            self.run.finishes.clear();
            let Some(mut notes) = self.notes.pop() else { return };
            notes.make_room(block.len());
            let id = self.round.id(block.start);
            if self.run.serve_all(id, &requests[block], &mut notes).is_err() {
                return;
            }
            let last_arrival = self.run.last_arrival;
            let finishes =
                self.run.finishes.iter().copied().filter(|&finish| finish > last_arrival).collect();
            self.served.push(Served { notes, end: self.run.end.at, finishes });
            self.states.push(self.run.workers[0].clone());
        }
    }
}

/// A round in which nothing is guessed: it is served from the state that is known.
struct Sequel<'s, 'a> {
    run: &'s mut FastRun<'a>,
    round: &'s Round,
    blocks: Vec<Range<usize>>,
    /// Room for the records.
    notes: Vec<Notes>,
    served: Vec<Notes>,
    result: Result<(), SystemError>,
}

impl<'s, 'a> Sequel<'s, 'a> {
    fn new(run: &'s mut FastRun<'a>, round: &'s Round, block: usize, shelf: &mut Shelf) -> Self {
        let blocks = pieces(0..round.requests.len(), block);
        let notes = blocks.iter().map(|_| shelf.notes()).collect();
        Self { run, round, blocks, notes, served: Vec::new(), result: Ok(()) }
    }

    /// Serves it, up to a request that cannot be served.
    fn serve(&mut self) {
        for block in std::mem::take(&mut self.blocks) {
            let Some(mut notes) = self.notes.pop() else { return };
            notes.make_room(block.len());
            let id = self.round.id(block.start);
            self.result = self.run.serve_all(id, &self.round.requests[block], &mut notes);
            self.served.push(notes);
            if self.result.is_err() {
                return;
            }
        }
    }
}

/// How many requests were served from a guessed state, and how many of them need not be served again.
#[derive(Default)]
struct Proof {
    guessed: usize,
    proven: usize,
}

/// Goes through the stretches in order: `run` comes to the state after the last, and `known` to the records of all.
fn prove(
    run: &mut FastRun<'_>,
    round: &Round,
    stretches: Vec<Stretch<'_>>,
    known: &mut Vec<Notes>,
    shelf: &mut Shelf,
) -> Result<Proof, SystemError> {
    let mut proof = Proof::default();
    for (number, stretch) in stretches.into_iter().enumerate() {
        shelf.notes.extend(stretch.notes);
        let mut served = stretch.served.into_iter();
        for (block, states) in stretch.blocks.iter().zip(0..) {
            let requests = &round.requests[block.clone()];
            let guess = served.next();
            proof.guessed += if number > 0 { requests.len() } else { 0 };
            match guess {
                Some(served) if keep(run, &stretch.states[states..states + 2], &served, requests) => {
                    proof.proven += if number > 0 { requests.len() } else { 0 };
                    known.push(served.notes);
                }
                guess => {
                    shelf.notes.extend(guess.map(|served| served.notes));
                    let mut notes = shelf.notes();
                    let served = run.serve_all(round.id(block.start), requests, &mut notes);
                    known.push(notes);
                    served?;
                }
            }
        }
    }
    Ok(proof)
}

/// Takes a block over if it began in the state that `run` is in.
fn keep(run: &mut FastRun<'_>, states: &[Worker], served: &Served, requests: &[Request]) -> bool {
    let [before, after] = states else { return false };
    let worker = &mut run.workers[0];
    let Some(labels) = before.same_future(worker) else { return false };
    if !labels.is_identity() && after.drive().order_mattered() {
        return false;
    }
    worker.follow(after, &labels);
    run.end.reach(served.end);
    if let Some(last) = requests.last() {
        run.last_arrival = last.arrival;
        run.finishes.retain(|&finish| finish > last.arrival);
    }
    run.finishes.extend_from_slice(&served.finishes);
    true
}

/// Whether to guess, and after how long a lead.
struct Guessing {
    cut: Cut,
    lead: usize,
    /// Rounds without guesses, as long as the next pause is, and left of this one.
    pause: u32,
    left: u32,
}

impl Guessing {
    fn new(cut: Cut) -> Self {
        Self { cut, lead: cut.lead, pause: 0, left: 0 }
    }

    /// Whether the round to come is cut into several stretches. If the drive is further behind than a lead goes back, no
    /// lead comes to know of the queue.
    fn is_on(&mut self, known: &FastRun<'_>, round: &Round) -> bool {
        let lead = round.requests.get(self.lead);
        let keeps_up = lead.is_none_or(|request| known.workers[0].free_at() <= request.arrival);
        let is_on = self.left == 0 && keeps_up;
        self.left = self.left.saturating_sub(1);
        is_on
    }

    /// Most guesses were wrong: a pause, longer each time. Some were: a longer lead.
    fn learn(&mut self, proof: &Proof, parallel: &mut ParallelSummary) {
        parallel.guessed_requests += proof.guessed as u64;
        parallel.proven_requests += proof.proven as u64;
        if proof.proven < proof.guessed {
            self.lead = (2 * self.lead).clamp(1, self.cut.longest_lead.max(1));
        }
        if 2 * proof.proven < proof.guessed {
            self.pause = (2 * self.pause).clamp(1, LONGEST_PAUSE);
            self.left = self.pause;
        } else if proof.guessed > 0 {
            self.pause = 0;
        }
    }
}

/// Lists of no more use, to be filled anew.
#[derive(Default)]
struct Shelf {
    requests: Vec<Request>,
    notes: Vec<Notes>,
    /// Statistics of nothing, where nobody takes records, in places as wide as those of the whole run have become: places that
    /// must grow cost more than what is noted.
    nothing: Option<Statistics>,
}

impl Shelf {
    fn new(nothing: Option<Statistics>) -> Self {
        Self { nothing, ..Self::default() }
    }

    /// New notes begin as wide as `known` ones have become.
    fn widen(&mut self, known: &[Notes]) {
        if let Some(statistics) = known.last().and_then(|notes| notes.statistics.as_ref()) {
            self.nothing = Some(statistics.emptied());
        }
    }

    fn notes(&mut self) -> Notes {
        match self.notes.pop() {
            Some(mut notes) => {
                notes.clear();
                notes
            }
            None => Notes { statistics: self.nothing.clone(), ..Notes::default() },
        }
    }
}

/// Records of a block, and before which row each piece of background work was told.
#[derive(Default)]
struct Notes {
    rows: Vec<CompletionRow>,
    background: Vec<(usize, BackgroundRow)>,
    /// What the records come to, instead of them, where nobody takes them: they are never written then, and need not go from one
    /// core's cache to the other's.
    statistics: Option<Statistics>,
    /// The completion of the last.
    finish: Nanos,
}

impl Notes {
    fn make_room(&mut self, requests: usize) {
        match &mut self.statistics {
            Some(statistics) => statistics.make_room(requests),
            None => self.rows.reserve_exact(requests),
        }
    }

    fn clear(&mut self) {
        self.rows.clear();
        self.background.clear();
        self.statistics.iter_mut().for_each(Statistics::clear);
    }

    /// Tells all, in order, and forgets it.
    fn put_out(&mut self, output: &mut Output<'_>) -> Result<(), SystemError> {
        output.push_all(&self.rows, &self.background)?;
        if let Some(statistics) = &self.statistics {
            output.push_statistics(statistics, self.finish)?;
        }
        self.clear();
        Ok(())
    }
}

impl Records for Notes {
    #[expect(clippy::inline_always, reason = "the record is to be made where it stays, or not at all")]
    #[inline(always)]
    fn push(&mut self, row: impl FnOnce() -> CompletionRow) -> Result<(), SystemError> {
        match &mut self.statistics {
            None => self.rows.extend(std::iter::once_with(row)),
            Some(statistics) => {
                let row = row();
                self.finish = row.finish;
                statistics.record(&row);
            }
        }
        Ok(())
    }

    fn push_background(&mut self, rows: Drain<'_, BackgroundRow>) -> Result<(), SystemError> {
        let before = self.rows.len();
        self.background.extend(rows.map(|row| (before, row)));
        Ok(())
    }
}

/// Records of requests that are served to guess a state.
struct Unheard;

impl Records for Unheard {
    #[inline]
    fn push(&mut self, _row: impl FnOnce() -> CompletionRow) -> Result<(), SystemError> {
        Ok(())
    }

    fn push_background(&mut self, rows: Drain<'_, BackgroundRow>) -> Result<(), SystemError> {
        drop(rows);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_round_ends_in_small_stretches_and_leaves_none_out() {
        for (all, length, threads) in
            [(120, 10, 2), (97, 10, 3), (20, 10, 2), (7, 10, 2), (0, 10, 2), (30, 1, 2)]
        {
            let stretches = cut(all, length, threads);
            let requests: Vec<usize> = stretches.iter().cloned().flatten().collect();
            assert_eq!(requests, (0..all).collect::<Vec<_>>(), "{stretches:?}");
            assert!(stretches.iter().all(|stretch| (1..=length).contains(&stretch.len())));
        }
        let lengths: Vec<usize> = cut(48, 8, 2).iter().map(ExactSizeIterator::len).collect();
        assert_eq!(lengths, [8, 8, 8, 8, 2, 2, 2, 2, 2, 2, 2, 2]);
        assert_eq!(cut(16, 8, 2).len(), 2, "one for each thread");
    }
}
