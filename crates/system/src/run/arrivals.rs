//! Requests in order of arrival, one by one, out of a source that delivers batches.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use headstack_trace::{Request, RequestSource};
use headstack_units::Nanos;

use crate::SystemError;

/// A source, read one request at a time.
pub(crate) struct Arrivals {
    source: Box<dyn RequestSource>,
    batch: Vec<Request>,
    taken: usize,
    /// Number of the next request of the source.
    next_id: u64,
    left: u64,
    last_arrival: Nanos,
}

impl Arrivals {
    /// At most `limit` requests of `source`.
    pub(crate) fn new(source: Box<dyn RequestSource>, limit: Option<u64>) -> Self {
        Self {
            source,
            batch: Vec::new(),
            taken: 0,
            next_id: 0,
            left: limit.unwrap_or(u64::MAX),
            last_arrival: Nanos::ZERO,
        }
    }

    /// The requests at hand, read on if there are none; empty at the end. [`Arrivals::take`] moves on.
    #[inline]
    fn at_hand(&mut self) -> Result<&[Request], SystemError> {
        if self.taken == self.batch.len() && self.left > 0 {
            self.taken = 0;
            if let Err(error) = self.source.next_batch(&mut self.batch) {
                // What the source delivers behind an error is nobody's.
                self.batch.clear();
                self.left = 0;
                return Err(error.into());
            }
            self.left = if self.batch.is_empty() { 0 } else { self.left };
            self.batch.truncate(usize::try_from(self.left).unwrap_or(usize::MAX));
        }
        Ok(&self.batch[self.taken..])
    }

    /// When the next request arrives, without taking it.
    #[inline]
    pub(crate) fn next_arrival(&mut self) -> Result<Option<Nanos>, SystemError> {
        Ok(self.at_hand()?.first().map(|request| request.arrival))
    }

    /// The next request; its arrival is not before that of the one before.
    #[inline]
    pub(crate) fn take(&mut self) -> Result<Option<Request>, SystemError> {
        let Some(&request) = self.at_hand()?.first() else { return Ok(None) };
        if request.arrival < self.last_arrival {
            return Err(self.disorder(request.arrival));
        }
        self.taken += 1;
        self.left -= 1;
        self.next_id += 1;
        self.last_arrival = request.arrival;
        Ok(Some(request))
    }

    /// The next requests, at most `most` of them, with the number of the first; none at the end. No arrival is before
    /// that of the one before.
    pub(crate) fn take_some(&mut self, most: usize) -> Result<(u64, &[Request]), SystemError> {
        let first_id = self.next_id;
        let count = self.pass_some(most, |_| {})?;
        Ok((first_id, &self.batch[self.taken - count..self.taken]))
    }

    /// Shows the next requests, at most `most` of them; how many there were, none at the end. No arrival is before that of the one
    /// before.
    #[inline]
    fn pass_some(&mut self, most: usize, mut show: impl FnMut(&Request)) -> Result<usize, SystemError> {
        let (mut last, mut count) = (self.last_arrival, 0);
        let at_hand = self.at_hand()?;
        for request in &at_hand[..at_hand.len().min(most)] {
            if request.arrival < last {
                break;
            }
            last = request.arrival;
            show(request);
            count += 1;
        }
        if count == 0
            && let Some(arrival) = at_hand.first().map(|request| request.arrival)
        {
            return Err(self.disorder(arrival));
        }
        self.taken += count;
        self.left -= count as u64;
        self.next_id += count as u64;
        self.last_arrival = last;
        Ok(count)
    }

    /// The next requests, at most `most`, instead of what `requests` held: the number of the first, and what is wrong with the
    /// request behind them, if that is known.
    pub(crate) fn take_round(
        &mut self,
        most: usize,
        requests: &mut Vec<Request>,
    ) -> (u64, Option<SystemError>) {
        requests.clear();
        // Room for all at once: a list that grows is copied again and again.
        requests.reserve(usize::try_from(self.left).map_or(most, |left| most.min(left)));
        let first_id = self.next_id;
        while requests.len() < most {
            match self.pass_some(most - requests.len(), |request| requests.push(*request)) {
                Ok(0) => break,
                Ok(_) => {}
                Err(error) => return (first_id, Some(error)),
            }
        }
        (first_id, None)
    }

    #[cold]
    fn disorder(&self, arrival: Nanos) -> SystemError {
        SystemError::Request {
            id: self.next_id,
            problem: format!("arrives at {arrival}, before the request ahead of it ({})", self.last_arrival),
            hint: "order it by arrival with `--sort`".to_owned(),
        }
    }
}

/// Requests in order of their measured starts (arrivals where there are none).
///
/// A driver that reorders starts requests in another order than they arrived in. As a request never starts before it
/// arrives, what starts no later than the newest arrival is ripe: what waits here is what waited in the real queue.
pub(crate) struct InStartOrder {
    arrivals: Arrivals,
    waiting: BinaryHeap<Reverse<(Nanos, u64)>>,
    /// The waiting requests, by number from `first` on; `None` once given out.
    requests: std::collections::VecDeque<Option<Request>>,
    first: u64,
    newest: Nanos,
    is_ended: bool,
}

impl InStartOrder {
    pub(crate) fn new(arrivals: Arrivals) -> Self {
        Self {
            arrivals,
            waiting: BinaryHeap::new(),
            requests: std::collections::VecDeque::new(),
            first: 0,
            newest: Nanos::ZERO,
            is_ended: false,
        }
    }

    /// The next request, with its number in order of arrival.
    pub(crate) fn take(&mut self) -> Result<Option<(u64, Request)>, SystemError> {
        while !self.is_ended && self.waiting.peek().is_none_or(|Reverse((start, _))| *start > self.newest) {
            match self.arrivals.take()? {
                None => self.is_ended = true,
                Some(request) => {
                    self.newest = request.arrival;
                    let id = self.first + self.requests.len() as u64;
                    self.requests.push_back(Some(request));
                    let start = request.start.present().unwrap_or(request.arrival);
                    self.waiting.push(Reverse((start, id)));
                }
            }
        }
        let Some(Reverse((_, id))) = self.waiting.pop() else { return Ok(None) };
        let request = self.requests[(id - self.first) as usize].take();
        while let Some(None) = self.requests.front() {
            self.requests.pop_front();
            self.first += 1;
        }
        Ok(request.map(|request| (id, request)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use headstack_trace::InMemory;
    use headstack_units::{Lba, Op};
    use proptest::prelude::*;

    fn request(arrival: u64, start: u64) -> Request {
        Request { start: Nanos(start), ..Request::new(Nanos(arrival), Op::Read, Lba(0), 1) }
    }

    fn arrivals(requests: Vec<Request>, limit: Option<u64>) -> Arrivals {
        Arrivals::new(Box::new(InMemory::new(requests)), limit)
    }

    #[test]
    fn limits_and_disorder() {
        let mut two = arrivals(vec![request(1, 1); 5], Some(2));
        assert!(two.take().unwrap().is_some() && two.take().unwrap().is_some());
        assert!(two.take().unwrap().is_none() && two.next_arrival().unwrap().is_none());
        let mut unsorted = arrivals(vec![request(5, 5), request(4, 4)], None);
        unsorted.take().unwrap();
        assert!(unsorted.take().unwrap_err().to_string().starts_with("request 1: arrives at"));
        let mut unsorted = arrivals(vec![request(5, 5), request(4, 4)], None);
        assert_eq!(unsorted.take_some(9).unwrap(), (0, &[request(5, 5)][..]));
        assert!(unsorted.take_some(9).unwrap_err().to_string().starts_with("request 1: arrives at"));
    }

    #[test]
    fn some_at_a_time_are_all() {
        let all: Vec<Request> = (0..10_000).map(|at| request(at / 3, at)).collect();
        for (most, limit) in [(1000, None), (4096, Some(7000)), (1 << 20, Some(20_000)), (3, Some(4))] {
            let (mut some, mut found) = (arrivals(all.clone(), limit), Vec::new());
            loop {
                let (first, taken) = some.take_some(most).unwrap();
                assert!(first == found.len() as u64 && taken.len() <= most);
                if taken.is_empty() {
                    break;
                }
                found.extend_from_slice(taken);
            }
            assert_eq!(found, all[..limit.map_or(10_000, |limit: u64| 10_000.min(limit as usize))]);
        }
    }

    proptest! {
        #[test]
        fn starts_come_in_order(waits in prop::collection::vec((0..10_u64, 0..40_u64), 0..100)) {
            let mut arrival = 0;
            let requests: Vec<Request> = waits
                .iter()
                .map(|&(gap, wait)| {
                    arrival += gap;
                    request(arrival, arrival + wait)
                })
                .collect();
            let mut expected: Vec<(u64, u64)> =
                requests.iter().zip(0..).map(|(request, id)| (request.start.0, id)).collect();
            expected.sort_unstable();
            let mut ordered = InStartOrder::new(arrivals(requests, None));
            for (start, id) in expected {
                let (found, request) = ordered.take().unwrap().unwrap();
                prop_assert_eq!((request.start.0, found), (start, id));
            }
            prop_assert!(ordered.take().unwrap().is_none());
        }
    }
}
