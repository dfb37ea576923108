//! A stream put into order of arrival within a window, its clock begun at zero.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use headstack_trace::{Io, IoSource, TraceError};
use headstack_units::Nanos;

/// How many I/Os are held back.
const WINDOW: usize = 16_384;

/// I/Os in order of arrival, counted from the first.
pub struct Ordered<'a> {
    source: &'a mut dyn IoSource,
    batch: Vec<Io>,
    /// Arrival, number; the I/O in its place.
    held: BinaryHeap<Reverse<(Nanos, u64, usize)>>,
    places: Vec<Io>,
    free: Vec<usize>,
    number: u64,
    zero: Option<Nanos>,
    last: Nanos,
    late: u64,
    ended: bool,
}

impl<'a> Ordered<'a> {
    /// Orders what `source` gives.
    pub fn new(source: &'a mut dyn IoSource) -> Self {
        Self {
            source,
            batch: Vec::new(),
            held: BinaryHeap::new(),
            places: Vec::new(),
            free: Vec::new(),
            number: 0,
            zero: None,
            last: Nanos::ZERO,
            late: 0,
            ended: false,
        }
    }

    /// The source.
    pub fn source(&self) -> &dyn IoSource {
        self.source
    }

    /// I/Os that arrived before one already given, beyond the window: moved to its arrival.
    pub fn late(&self) -> u64 {
        self.late
    }

    /// Clears `out` and fills it with the next I/Os; none at the end.
    ///
    /// # Errors
    /// The source's.
    pub fn next_ios(&mut self, out: &mut Vec<Io>) -> Result<(), TraceError> {
        out.clear();
        while out.is_empty() {
            if !self.ended {
                self.source.next_ios(&mut self.batch)?;
                self.ended = self.batch.is_empty();
                for io in std::mem::take(&mut self.batch).drain(..) {
                    self.hold(io);
                }
            }
            let keep = if self.ended { 0 } else { WINDOW };
            if self.ended && self.held.is_empty() {
                return Ok(());
            }
            while self.held.len() > keep {
                let Some(Reverse((_, _, place))) = self.held.pop() else { break };
                self.free.push(place);
                let io = self.places[place];
                out.push(self.rebased(io));
            }
        }
        Ok(())
    }

    fn hold(&mut self, io: Io) {
        let place = self.free.pop().unwrap_or_else(|| {
            self.places.push(io);
            self.places.len() - 1
        });
        self.places[place] = io;
        self.number += 1;
        self.held.push(Reverse((io.request.arrival, self.number, place)));
    }

    fn rebased(&mut self, mut io: Io) -> Io {
        let zero = *self.zero.get_or_insert(io.request.arrival);
        let request = &mut io.request;
        if request.arrival < self.last.saturating_add(zero) {
            self.late += 1;
            request.arrival = self.last.saturating_add(zero);
        }
        let instants =
            [&mut request.arrival, &mut request.start, &mut request.finish, &mut io.got, &mut io.inserted];
        for instant in instants {
            if *instant != Nanos::MAX {
                *instant = instant.saturating_sub(zero);
            }
        }
        let request = &mut io.request;
        if request.start != Nanos::MAX {
            request.start = request.start.max(request.arrival);
        }
        if request.finish != Nanos::MAX {
            let begun = request.start.present().unwrap_or(request.arrival);
            request.finish = request.finish.max(begun);
        }
        self.last = request.arrival;
        io
    }
}
