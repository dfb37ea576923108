//! The model: records go through the interface, the cache and the mechanism, each one piece at a time.
//!
//! Three stations in a row, with a queue of limited size between two of them, need no calendar: when a piece leaves a station
//! follows from when the one before it left, and from when there was room. A piece is never held up by a later one.

use crate::check::{check, sampler};
use crate::pipe::Pipe;
use crate::run::{FileTime, Repeats, Start, StreamResult, StreamRun};
use crate::spec::ModelSpec;
use crate::tracks::{Head, Tracks};
use headstack_system::random::Stream;
use headstack_system::workload::TimeSampler;
use headstack_system::{LATEST, SystemError};
use headstack_units::{Nanos, Op, Rpm};

/// Most commands in a run: beyond, it takes minutes.
const MOST_COMMANDS: u64 = 2_000_000_000;

/// Fewer pieces go through one by one.
const LEAST_AT_ONCE: u64 = 4;

/// A model that was checked.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    spec: ModelSpec,
    pub(crate) tracks: Tracks,
}

impl Model {
    /// Checks a description.
    ///
    /// # Errors
    /// [`SystemError::Contradiction`] with all that cannot be.
    pub fn new(spec: ModelSpec) -> Result<Self, SystemError> {
        check(&spec)?;
        let tracks = Tracks::new(&spec.mechanism);
        Ok(Self { spec, tracks })
    }

    /// What it is made of.
    pub fn spec(&self) -> &ModelSpec {
        &self.spec
    }

    /// Whole bytes on all tracks.
    pub fn capacity_bytes(&self) -> u64 {
        self.tracks.capacity()
    }

    /// Tracks.
    pub fn tracks(&self) -> u64 {
        self.tracks.count()
    }

    /// Writes or reads files.
    ///
    /// # Errors
    /// [`SystemError::Options`] for files that do not fit on the disk, or are too many.
    pub fn run(&self, run: &StreamRun) -> Result<StreamResult, SystemError> {
        let count = self.check_run(run)?;
        let mut line = Line::new(self, run);
        let mut files = Vec::new();
        let mut starts = Stream::new(run.seed, "stream.start");
        for _ in 0..count {
            if run.start == Start::Random {
                let track = starts.below(self.tracks.last_start(line.file_bytes) + 1);
                line.head = Head::at(&self.tracks, track);
            }
            if line.head.left() < line.file_bytes {
                break;
            }
            files.push(line.file()?);
        }
        Ok(StreamResult::of(files, line.mechanism_busy, line.interface_busy))
    }

    /// How many files at most; or why there can be none.
    fn check_run(&self, run: &StreamRun) -> Result<u64, SystemError> {
        let refused =
            |problem: String, hint: &str| Err(SystemError::Options { problem, hint: hint.to_owned() });
        if run.record_bytes == 0 || run.file_bytes < run.record_bytes {
            return refused(
                format!("a file of {} bytes does not hold a record of {}", run.file_bytes, run.record_bytes),
                "take records of at least one byte and files of at least one record",
            );
        }
        let file = whole_records(run);
        let first = self.first_track(run);
        if self.tracks.behind(first) < file {
            return refused(
                format!(
                    "a file of {file} bytes does not fit: {} bytes lie behind track {first}",
                    self.tracks.behind(first)
                ),
                "take smaller files, or start further out",
            );
        }
        let fits = self.tracks.behind(first) / file;
        let count = match run.repeats {
            Repeats::UntilFull if run.start == Start::Random => {
                return refused(
                    "files that begin at random never fill the disk".to_owned(),
                    "start at the outermost track, or give a number of repeats",
                );
            }
            Repeats::UntilFull => fits,
            Repeats::Count(count) if run.start != Start::Random && u64::from(count) > fits => {
                return refused(
                    format!("{count} files of {file} bytes do not fit: the disk holds {fits} of them"),
                    "take fewer repeats or smaller files",
                );
            }
            Repeats::Count(count) => u64::from(count),
        };
        let command = self.command_bytes(run.record_bytes);
        if count.saturating_mul(file / command) > MOST_COMMANDS {
            return refused(
                format!(
                    "{count} files of {file} bytes in commands of {command} are more than {MOST_COMMANDS} commands"
                ),
                "take larger records, fewer repeats or smaller files",
            );
        }
        Ok(count)
    }

    fn first_track(&self, run: &StreamRun) -> u64 {
        match run.start {
            Start::AtPercent(percent) => {
                let share = (percent / 100.0).clamp(0.0, 1.0);
                ((self.tracks.count() as f64 * share) as u64).min(self.tracks.count() - 1)
            }
            Start::Outermost | Start::Random => 0,
        }
    }

    /// The most that goes through the cache as one: of a record that is no command all of it, as in the paper. A drive sends the
    /// sectors of a command on while others come in.
    fn piece_bytes(&self) -> u64 {
        let cache = &self.spec.cache;
        cache.command_kib.map_or(u64::MAX, |_| ((cache.size_kib * 512.0) as u64).max(1))
    }

    /// The largest command.
    fn command_bytes(&self, record_bytes: u64) -> u64 {
        let most = self.spec.cache.command_kib.map_or(u64::MAX, |kib| (kib * 1024.0) as u64);
        record_bytes.min(most.max(1))
    }
}

/// A file is whole records, as many as are needed to hold it.
fn whole_records(run: &StreamRun) -> u64 {
    run.file_bytes.div_ceil(run.record_bytes).saturating_mul(run.record_bytes)
}

/// A delay with its random stream.
struct Delay {
    law: Option<TimeSampler>,
    stream: Stream,
}

impl Delay {
    #[inline]
    fn draw(&mut self) -> Nanos {
        self.law.as_ref().map_or(Nanos::ZERO, |law| law.draw(&mut self.stream))
    }
}

/// What goes through the cache as one.
struct Piece {
    bytes: u64,
    overhead_ms: f64,
    delay: Nanos,
}

/// The three stations at work.
struct Line<'a> {
    model: &'a Model,
    run: &'a StreamRun,
    file_bytes: u64,
    command_bytes: u64,
    piece_bytes: u64,
    head: Head<'a>,
    cache: Pipe,
    server: Delay,
    service: Delay,
    /// The present file began; the interface and the mechanism are free.
    began: Nanos,
    interface: Nanos,
    mechanism: Nanos,
    /// When the media can go on with a record that they wait for.
    turned_on: Option<Nanos>,
    interface_busy: Nanos,
    mechanism_busy: Nanos,
}

impl<'a> Line<'a> {
    fn new(model: &'a Model, run: &'a StreamRun) -> Self {
        let spec = &model.spec;
        let (server, service) = match run.op {
            Op::Read => (&spec.server.read_delay, &spec.cache.read_delay),
            Op::Write => (&spec.server.write_delay, &spec.cache.write_delay),
        };
        let delay =
            |law: &Option<_>, name| Delay { law: sampler(law.as_ref()), stream: Stream::new(run.seed, name) };
        Self {
            model,
            run,
            file_bytes: whole_records(run),
            command_bytes: model.command_bytes(run.record_bytes),
            piece_bytes: model.piece_bytes(),
            head: Head::at(&model.tracks, model.first_track(run)),
            cache: Pipe::new((spec.cache.size_kib * 1024.0) as u64),
            server: delay(server, "stream.server"),
            service: delay(service, "stream.cache"),
            began: Nanos::ZERO,
            interface: Nanos::ZERO,
            mechanism: Nanos::ZERO,
            turned_on: None,
            interface_busy: Nanos::ZERO,
            mechanism_busy: Nanos::ZERO,
        }
    }

    /// The next file.
    fn file(&mut self) -> Result<FileTime, SystemError> {
        let mut head = self.head.clone();
        let start_track = head.track();
        if self.run.positioning {
            self.mechanism = self.began + self.model.positioning();
        }
        for _ in 0..self.file_bytes / self.run.record_bytes {
            // The server waits before it asks for the next record.
            let asked = self.last_record() + self.server.draw();
            self.interface = asked;
            self.turned_on = self.turns_on(asked);
            let mut left = self.run.record_bytes;
            while left > 0 {
                let command = left.min(self.command_bytes);
                left -= command;
                self.command(command, asked, &mut head);
            }
        }
        self.head = head;
        let end = self.interface.max(self.mechanism);
        if end > LATEST {
            return Err(SystemError::Options {
                problem: "the stream takes more than 100 years".to_owned(),
                hint: "take shorter delays or smaller files".to_owned(),
            });
        }
        let time = end - self.began;
        (self.began, self.interface, self.mechanism) = (end, end, end);
        Ok(FileTime {
            start_track,
            bytes: self.file_bytes,
            time_ns: time.0,
            mb_per_s: self.file_bytes as f64 / 1e6 / time.as_s().max(1e-9),
        })
    }

    /// When the server has the record before, or it is written.
    fn last_record(&self) -> Nanos {
        let waits = self.run.op == Op::Write && self.model.spec.cache.write_through;
        if waits { self.interface.max(self.mechanism) } else { self.interface }
    }

    /// When the sector behind the record before passes under the head again, for a record that the mechanism waits for.
    fn turns_on(&self, asked: Nanos) -> Option<Nanos> {
        let cache = &self.model.spec.cache;
        let waits = match self.run.op {
            Op::Read => !cache.read_ahead,
            Op::Write => cache.write_through,
        };
        // Before the first record the arm waits for nothing.
        if !waits || self.mechanism <= self.began {
            return None;
        }
        let ready = asked + Nanos::from_ms(cache.overhead(self.run.op));
        let late = ready.saturating_sub(self.mechanism).0 as f64;
        let turn = Rpm(self.model.spec.mechanism.rotation_rpm).period_ns();
        Some(self.mechanism + Nanos((turn * (late / turn).ceil()) as u64))
    }

    /// The most of a command that goes through the cache as one: where two pieces are needed they are of one size, so that a third may lie
    /// beside them.
    fn piece_of(&self, command: u64) -> u64 {
        if command.div_ceil(self.piece_bytes) == 2 { command.div_ceil(2) } else { self.piece_bytes }
    }

    /// A command, piece by piece: its overhead and its delay come before the first.
    fn command(&mut self, bytes: u64, asked: Nanos, head: &mut Head<'_>) {
        let mut overhead_ms = self.model.spec.cache.overhead(self.run.op);
        let mut delay = self.service.draw().min(LATEST);
        let mut left = bytes;
        let most = self.piece_of(bytes);
        while left > 0 {
            let piece = Piece { bytes: left.min(most), overhead_ms, delay };
            left -= piece.bytes;
            match self.run.op {
                Op::Write => self.write(&piece, head),
                Op::Read => self.read(&piece, asked, head),
            }
            (overhead_ms, delay) = (0.0, Nanos::ZERO);
            left -= self.many(left, head);
        }
    }

    /// Many pieces at once, as often as they are small: where the media are the bottleneck and go on without a break, each piece does what
    /// the one before it did. The bytes that went.
    fn many(&mut self, left: u64, head: &mut Head<'_>) -> u64 {
        let bytes = self.piece_bytes;
        let pieces = left / bytes;
        if pieces < LEAST_AT_ONCE || !self.cache.holds_two(bytes) {
            return 0;
        }
        let over = self.transfer(bytes);
        let least = head.least(bytes);
        let is_unbroken = match self.run.op {
            Op::Write => self.cache.front().is_some_and(|leaves| {
                self.interface <= leaves && leaves.saturating_add(over) <= self.mechanism
            }),
            Op::Read => {
                self.cache.front().is_some_and(|leaves| leaves <= self.mechanism)
                    && self.interface <= self.mechanism.saturating_add(least)
            }
        };
        if over > least || !is_unbroken || self.mechanism > LATEST {
            return 0;
        }
        let mut ends = [self.mechanism; 3];
        for (end, bytes) in ends.iter_mut().zip([(pieces - 2) * bytes, bytes, bytes]) {
            let takes = head.pass(bytes);
            self.mechanism_busy = self.mechanism_busy.saturating_add(takes);
            self.mechanism = self.mechanism.saturating_add(takes);
            *end = self.mechanism;
        }
        self.interface_busy += Nanos(pieces * over.0);
        // A piece that is written leaves the cache when it is on the media, one that is read when it is over the interface.
        let (behind, then) = match self.run.op {
            Op::Write => (Nanos::ZERO, ends[0]),
            Op::Read => (over, ends[2]),
        };
        self.cache.hold_two(bytes, [ends[1] + behind, ends[2] + behind]);
        self.interface = then + over;
        pieces * bytes
    }

    /// What so many bytes take over the interface.
    fn transfer(&self, bytes: u64) -> Nanos {
        Nanos::from_ms(bytes as f64 / 1e3 / self.model.spec.cache.interface(self.run.op))
    }

    fn write(&mut self, piece: &Piece, head: &mut Head<'_>) {
        let begins = self.cache.room(piece.bytes, self.interface);
        self.interface = self.over_the_interface(piece, begins);
        if self.model.spec.cache.write_through {
            // Data come in while the platter turns on, and while others are written.
            let from = self.turned_on.take().unwrap_or(begins + Nanos::from_ms(piece.overhead_ms));
            self.mechanism = self.on_the_media(piece, self.mechanism.max(from), head).max(self.interface);
        } else {
            self.mechanism = self.on_the_media(piece, self.mechanism.max(self.interface), head);
        }
        self.cache.hold(piece.bytes, self.mechanism);
    }

    fn read(&mut self, piece: &Piece, asked: Nanos, head: &mut Head<'_>) {
        let spec = &self.model.spec.cache;
        let earliest = if spec.read_ahead { self.began } else { asked };
        let earliest = self.turned_on.take().unwrap_or(earliest);
        let begins = self.cache.room(piece.bytes, self.mechanism.max(earliest));
        self.mechanism = self.on_the_media(piece, begins, head);
        self.interface = self.over_the_interface(piece, self.mechanism.max(self.interface));
        self.cache.hold(piece.bytes, self.interface);
    }

    fn over_the_interface(&mut self, piece: &Piece, from: Nanos) -> Nanos {
        let rate = self.model.spec.cache.interface(self.run.op);
        let takes = Nanos::from_ms(piece.overhead_ms + piece.bytes as f64 / 1e3 / rate);
        self.interface_busy += takes;
        from + takes
    }

    fn on_the_media(&mut self, piece: &Piece, from: Nanos, head: &mut Head<'_>) -> Nanos {
        let takes = piece.delay + head.pass(piece.bytes);
        self.mechanism_busy = self.mechanism_busy.saturating_add(takes);
        from.saturating_add(takes).min(Nanos(LATEST.0 + 1))
    }
}

#[cfg(test)]
#[path = "model_tests.rs"]
mod tests;
