//! Several traces as one, merged by arrival, their clocks told apart.

use std::collections::{BTreeMap, VecDeque};
use std::path::Path;

use headstack_units::Nanos;

use crate::gate::LAST_INSTANT;
use crate::source::Delivery;
use crate::text::BATCH;
use crate::{OpenOptions, Request, RequestSource, TraceError, TraceReader, open};

/// How the clocks of several traces stand to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clocks {
    /// They are one clock: times stay as they are to each other.
    Same,
    /// Each trace begins at zero: they run side by side.
    Begin,
    /// Each trace begins where the one before it ended, with its last arrival or completion.
    Follow,
}

impl Clocks {
    /// What `--clocks` calls them.
    pub const NAMES: [(&'static str, Self); 3] =
        [("same", Self::Same), ("begin", Self::Begin), ("follow", Self::Follow)];
}

/// Whose numbers the devices have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Numbering {
    /// The traces': one number is one device in all of them.
    #[default]
    Kept,
    /// New ones, from 0 on in order of appearance: the devices of one trace are not those of another.
    Apart,
}

/// Several traces as one.
pub struct Joined {
    parts: Vec<Part>,
    clocks: Clocks,
    numbering: Numbering,
    devices: BTreeMap<(usize, u32), u32>,
    /// What is taken off every instant.
    zero: Nanos,
    /// The part being read, where one follows the other.
    current: usize,
    /// Where it begins.
    begins: Nanos,
    /// How long the clock went on between one part and the next.
    pauses: Vec<Nanos>,
    delivery: Delivery,
}

/// One of the traces.
struct Part {
    reader: TraceReader,
    ahead: VecDeque<Request>,
    /// The first arrival as the reader gives it.
    first: Option<Nanos>,
    /// The last arrival and the last end, on the joined clock.
    latest: Nanos,
    end: Nanos,
    requests: u64,
}

/// Between a trace of a single instant and the next.
const PAUSE: Nanos = Nanos(1_000_000_000);

impl Part {
    fn open(path: &Path, options: &OpenOptions) -> Result<Self, TraceError> {
        let reader = open(path, options)?;
        let mut part = Self {
            reader,
            ahead: VecDeque::new(),
            first: None,
            latest: Nanos::ZERO,
            end: Nanos::ZERO,
            requests: 0,
        };
        part.peek()?;
        Ok(part)
    }

    /// The next request, which stays.
    fn peek(&mut self) -> Result<Option<Request>, TraceError> {
        if self.ahead.is_empty() {
            let mut batch = Vec::new();
            self.reader.next_batch(&mut batch)?;
            self.ahead.extend(batch);
        }
        let next = self.ahead.front().copied();
        if let Some(request) = next {
            self.first.get_or_insert(request.arrival);
        }
        Ok(next)
    }

    /// How long after its end another begins: as its requests come one after the other, on average.
    fn pause(&self, begun: Nanos) -> Nanos {
        let span = self.latest.saturating_sub(begun);
        let mean = span.0.checked_div(self.requests.saturating_sub(1)).filter(|mean| *mean > 0);
        mean.map_or(PAUSE, Nanos)
    }

    /// Whether its clock counts from 1970 or before, so that other such clocks are the same: it shows 30 years or more.
    /// A lower one counts from the start of the trace or of its host.
    fn is_dated(&self) -> bool {
        self.begin() >= Nanos(30 * 31_556_952 * 1_000_000_000)
    }

    /// Its first arrival on its own clock.
    fn begin(&self) -> Nanos {
        Nanos(self.reader.origin().0.saturating_add(self.first.unwrap_or_default().0))
    }
}

/// A second trace has another clock, and nothing says how the two stand to each other.
fn which_clock(first: &Part, other: &Part) -> TraceError {
    let name = |part: &Part| format!("`{}`", part.reader.path().display());
    let problem = if first.is_dated() || other.is_dated() {
        let (dated, counts) = if first.is_dated() { (first, other) } else { (other, first) };
        format!("{} has times of day, and {} counts from a start of its own", name(dated), name(counts))
    } else {
        format!("{} and {} each count from a start of their own", name(first), name(other))
    };
    TraceError::unusable(
        problem,
        "--clocks same reads both as one clock, --clocks begin lets all begin together, --clocks follow one after the other"
            .into(),
    )
}

impl Joined {
    /// The traces at `paths`, each read with `options`. Without `clocks`, all must have times of day.
    ///
    /// # Errors
    /// If one cannot be read, if their sectors differ in size, or if it is open how their clocks stand to each other.
    pub fn open(
        paths: &[&Path],
        options: &OpenOptions,
        clocks: Option<Clocks>,
        numbering: Numbering,
    ) -> Result<Self, TraceError> {
        let parts: Vec<Part> =
            paths.iter().map(|path| Part::open(path, options)).collect::<Result<_, _>>()?;
        let Some((first, others)) = parts.split_first() else {
            return Err(TraceError::unusable("there is no trace to join".into(), "name two or more".into()));
        };
        let bytes = first.reader.sector_bytes();
        if let Some(other) = others.iter().find(|other| other.reader.sector_bytes() != bytes) {
            return Err(TraceError::unusable(
                format!(
                    "`{}` has sectors of {bytes} bytes, `{}` of {}",
                    first.reader.path().display(),
                    other.reader.path().display(),
                    other.reader.sector_bytes()
                ),
                "write one of them with the other's sector size first".into(),
            ));
        }
        let clocks = match (clocks, others.iter().find(|other| !(first.is_dated() && other.is_dated()))) {
            (Some(clocks), _) => clocks,
            (None, None) => Clocks::Same,
            (None, Some(other)) => return Err(which_clock(first, other)),
        };
        let begins = parts.iter().filter(|part| part.first.is_some()).map(Part::begin);
        // A clock that is none of the traces' own begins with the first request.
        let foreign = |part: &Part| part.reader.origin() > Nanos::ZERO || part.is_dated();
        let zero = if parts.iter().any(foreign) { begins.min().unwrap_or_default() } else { Nanos::ZERO };
        Ok(Self {
            parts,
            clocks,
            numbering,
            devices: BTreeMap::new(),
            zero,
            current: 0,
            begins: Nanos::ZERO,
            pauses: Vec::new(),
            delivery: Delivery::default(),
        })
    }

    /// The sector size of all of them.
    pub fn sector_bytes(&self) -> u32 {
        self.parts[0].reader.sector_bytes()
    }

    /// How their clocks stand to each other.
    pub fn clocks(&self) -> Clocks {
        self.clocks
    }

    /// Of traces that follow one another: how long after the end of each the next begins, as far as read. The mean time between its
    /// arrivals, so that the rate stays; a second after a single instant.
    pub fn pauses(&self) -> &[Nanos] {
        &self.pauses
    }

    /// The readers, for what each passed over.
    pub fn readers(&self) -> impl Iterator<Item = &TraceReader> {
        self.parts.iter().map(|part| &part.reader)
    }

    /// An instant of a part on the joined clock.
    fn moved(&self, part: usize, at: Nanos) -> Option<Nanos> {
        let part = &self.parts[part];
        let since = |begin: Nanos| at.0.checked_sub(begin.0);
        let first = part.first.unwrap_or_default();
        let moved = match self.clocks {
            Clocks::Same => part.reader.origin().0.checked_add(at.0)?.checked_sub(self.zero.0),
            Clocks::Begin => since(first),
            Clocks::Follow => since(first)?.checked_add(self.begins.0),
        };
        moved.map(Nanos).filter(|at| *at <= LAST_INSTANT)
    }

    fn moved_request(&mut self, part: usize, request: Request) -> Result<Request, TraceError> {
        let at = |instant: Nanos| match instant {
            Nanos::MAX => Some(Nanos::MAX),
            instant => self.moved(part, instant),
        };
        let moved = (at(request.arrival), at(request.start), at(request.finish));
        let (Some(arrival), Some(start), Some(finish)) = moved else {
            let path = self.parts[part].reader.path().display();
            return Err(TraceError::unusable(
                format!("`{path}`: a request would arrive over 292 years after the first, or before it"),
                "let the traces begin together with --clocks begin".into(),
            ));
        };
        let number = self.devices.len() as u32;
        let device = match self.numbering {
            Numbering::Kept => request.device,
            Numbering::Apart => *self.devices.entry((part, request.device)).or_insert(number),
        };
        Ok(Request { arrival, start, finish, device, ..request })
    }

    /// The part whose request is next, in the order of `paths` where several are.
    fn next_part(&mut self) -> Result<Option<usize>, TraceError> {
        if self.clocks == Clocks::Follow {
            while self.current < self.parts.len() {
                if self.parts[self.current].peek()?.is_some() {
                    return Ok(Some(self.current));
                }
                self.turn();
            }
            return Ok(None);
        }
        let mut next: Option<(Nanos, usize)> = None;
        for part in 0..self.parts.len() {
            let Some(request) = self.parts[part].peek()? else { continue };
            let at = self.moved(part, request.arrival).unwrap_or(Nanos::MAX);
            if next.is_none_or(|(earliest, _)| at < earliest) {
                next = Some((at, part));
            }
        }
        Ok(next.map(|(_, part)| part))
    }

    /// The part being read is at its end.
    fn turn(&mut self) {
        let part = &self.parts[self.current];
        self.current += 1;
        if part.requests > 0 && self.current < self.parts.len() {
            let pause = part.pause(self.begins);
            self.begins = Nanos(part.end.max(part.latest).0.saturating_add(pause.0));
            self.pauses.push(pause);
        }
    }

    fn fill(&mut self, batch: &mut Vec<Request>) -> Result<(), TraceError> {
        while batch.len() < BATCH {
            let Some(part) = self.next_part()? else { break };
            let Some(request) = self.parts[part].ahead.pop_front() else { break };
            let request = self.moved_request(part, request)?;
            let end = request.finish.present().unwrap_or(request.arrival);
            let read = &mut self.parts[part];
            read.requests += 1;
            (read.latest, read.end) = (read.latest.max(request.arrival), read.end.max(end));
            batch.push(request);
        }
        Ok(())
    }
}

impl RequestSource for Joined {
    fn next_batch(&mut self, batch: &mut Vec<Request>) -> Result<(), TraceError> {
        if !self.delivery.begin(batch)? {
            return Ok(());
        }
        let result = self.fill(batch);
        self.delivery.end(batch, result)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::text_file;

    const OWN: &str = "arrival_ms,lba,sectors,op\n";

    fn joined(
        texts: &[&str],
        clocks: Option<Clocks>,
        numbering: Numbering,
    ) -> Result<Vec<(u64, u32, u64)>, TraceError> {
        let files: Vec<_> = texts.iter().map(|text| text_file(text)).collect();
        let paths: Vec<&Path> = files.iter().map(tempfile::NamedTempFile::path).collect();
        let mut joined = Joined::open(&paths, &OpenOptions::default(), clocks, numbering)?;
        let (mut all, mut batch) = (Vec::new(), Vec::new());
        loop {
            joined.next_batch(&mut batch)?;
            if batch.is_empty() {
                return Ok(all);
            }
            let told = |request: &Request| (request.arrival.0 / 1_000_000, request.device, request.lba.0);
            all.extend(batch.iter().map(told));
        }
    }

    #[test]
    fn clocks_are_told_apart() {
        let (first, second) = (format!("{OWN}5,1,8,R\n20,2,8,R\n"), format!("{OWN}10,3,8,R\n11,4,8,R\n"));
        let both = [&*first, &*second];
        let kept = |clocks| joined(&both, Some(clocks), Numbering::Kept).unwrap();
        assert_eq!(kept(Clocks::Same), [(5, 0, 1), (10, 0, 3), (11, 0, 4), (20, 0, 2)]);
        assert_eq!(kept(Clocks::Begin), [(0, 0, 1), (0, 0, 3), (1, 0, 4), (15, 0, 2)]);
        // As the first trace has 15 ms between its requests, so has the joined one behind its end.
        assert_eq!(kept(Clocks::Follow), [(0, 0, 1), (15, 0, 2), (30, 0, 3), (31, 0, 4)]);
        let apart = joined(&both, Some(Clocks::Begin), Numbering::Apart).unwrap();
        assert_eq!(apart.iter().map(|told| told.1).collect::<Vec<_>>(), [0, 1, 1, 0]);
        let error = joined(&both, None, Numbering::Kept).unwrap_err();
        assert!(error.to_string().contains("each count from a start of their own"), "{error}");
        assert!(error.hint().unwrap().contains("--clocks follow"));
    }

    /// The next trace began at the instant of the last arrival, and both were one burst.
    #[test]
    fn a_trace_that_follows_another_leaves_the_time_between_requests() {
        let measured = "arrival_ms,lba,sectors,op,response_ms\n";
        let starts = |texts: &[&str]| {
            let all = joined(texts, Some(Clocks::Follow), Numbering::Kept).unwrap();
            all.iter().map(|told| told.0).collect::<Vec<_>>()
        };
        // 10 ms between arrivals, and the last response ends at 28 ms.
        let three = format!("{measured}0,1,8,R,5\n10,2,8,R,5\n20,3,8,R,8\n");
        assert_eq!(starts(&[&three, &three]), [0, 10, 20, 38, 48, 58]);
        // Of one instant nothing tells.
        let (one, none) = (format!("{OWN}7,1,8,R\n"), format!("{OWN}# nothing\n"));
        assert_eq!(starts(&[&one, &none, &three, &none, &one]), [0, 1000, 1010, 1020, 1038]);
    }

    #[test]
    fn times_of_day_are_one_clock() {
        // MSR Cambridge counts 100 ns from 1601; the second begins 3 ms after the first.
        let line = |at: u64, lba: u64| format!("{at},host,0,Read,{},4096,1000\n", lba * 512);
        let zero = 128_166_372_003_061_629;
        let first = line(zero, 1) + &line(zero + 50_000, 2);
        let second = line(zero + 30_000, 3);
        let all = joined(&[&second, &first], None, Numbering::Kept).unwrap();
        assert_eq!(all, [(0, 0, 1), (3, 0, 3), (5, 0, 2)]);
        let error = joined(&[&first, &format!("{OWN}5,1,8,R\n")], None, Numbering::Kept).unwrap_err();
        assert!(error.to_string().contains("has times of day"), "{error}");
    }

    #[test]
    fn sectors_of_two_sizes_are_refused() {
        let large = format!("# sector_bytes = 4096\n{OWN}1,1,1,R\n");
        let both = [&*format!("{OWN}1,1,1,R\n"), &*large];
        let error = joined(&both, Some(Clocks::Same), Numbering::Kept).unwrap_err();
        assert!(error.to_string().contains("of 4096"), "{error}");
    }
}
