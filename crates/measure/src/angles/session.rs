//! A probe at work: takes samples, writes them down, waits for phases, keeps the cache out of the way.

use super::disk_clock::DiskClock;
use super::sighting::{Sighting, agreeing, angle_of};
use super::spindle::{Spindle, wrap_signed};
use crate::MeasureError;
use crate::device::{Access, Device, Mode, Window};
use crate::memory::{HitTimes, Memory};
use crate::progress::{Listener, Progress};
use crate::reading::fill;
use crate::record::series::{SETTING_CLOCK, write_cache::SMALL};
use crate::record::store::Store;
use crate::record::{ProbeName, Record, Role, Sample};
use headstack_units::Nanos;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use std::time::{Duration, Instant};

/// Accesses that may fail one after the other before a probe gives up.
const MOST_FAILURES: u32 = 128;
/// Reads elsewhere that empty most caches, where it is not known how long this one keeps what was read.
pub(crate) const SOME_EVICTIONS: u64 = 4;
/// What was not emptied is emptied by twice as many, up to so many.
const MOST_EVICTIONS: u64 = 512;
const MOST_DOUBLINGS: u32 = 9;
/// Angles agree that differ by no more than this, in turns, and by no more than so many standard deviations of one.
const AGREE: f64 = 5e-4;
const AGREE_SIGMAS: f64 = 6.0;
/// The same by the disk's clock: where the speed has just changed, it shows that by the next time that it is set.
const AGREE_BY_DISK: f64 = 5e-5;
/// What was foreseen is off by no more than this, in turns, or so many standard deviations.
const FORESEEN: f64 = 5e-5;
/// For each that must agree, so many are measured at most.
const MOST_REPETITIONS: usize = 4;
/// An access that took so much longer than the shortest missed its sector, in turns.
const MISSED: f64 = 0.5;
/// Where times are misread by more than this share, one that missed says nothing beside one that did not, …
const MISREAD: f64 = 2e-5;
/// … and the next is issued earlier, by twice the margin, but no more than this, in turns.
const MOST_MARGIN: f64 = 0.25;
/// How often the caller is told.
const TELL_EVERY: Duration = Duration::from_millis(50);

/// One probe at work on a device.
pub(crate) struct Session<'a> {
    pub(crate) device: &'a mut dyn Device,
    pub(crate) record: &'a mut Record,
    pub(crate) store: &'a mut Store,
    pub(crate) listener: Listener<'a>,
    pub(crate) random: Pcg64,
    /// The probe, and how long it was expected to take.
    pub(crate) probe: ProbeName,
    pub(crate) expected_s: f64,
    pub(crate) rest_s: f64,
    /// How the media are reached.
    pub(crate) mode: Mode,
    pub(crate) spindle: Option<Spindle>,
    /// Where the speed wanders, the clock that angles are told by.
    pub(crate) clock: Option<DiskClock>,
    /// How many measurements of an angle must agree.
    pub(crate) repetitions: usize,
    /// Standard deviation of the phase at which an access is seen complete that took about a turn, in turns.
    pub(crate) noise: f64,
    /// The least that an access on the same track takes, in turns, if known.
    pub(crate) least: Option<f64>,
    /// What reads take that the cache answers.
    pub(crate) hits: HitTimes,
    /// Reads elsewhere that probably empty the cache.
    pub(crate) evictions: u64,
    /// How often in a row they did not.
    kept: u32,
    /// What the cache of a device that is only read may hold.
    pub(crate) memory: Memory,
    started: Nanos,
    taken: u64,
    failures: u32,
    told: Instant,
}

impl<'a> Session<'a> {
    pub(crate) fn new(
        device: &'a mut dyn Device,
        record: &'a mut Record,
        store: &'a mut Store,
        listener: Listener<'a>,
        probe: ProbeName,
    ) -> Self {
        let started = device.now();
        let seed = 0x6d65_6173 ^ probe as u64;
        Self {
            device,
            record,
            store,
            listener,
            random: Pcg64::seed_from_u64(seed),
            probe,
            expected_s: 0.0,
            rest_s: 0.0,
            mode: Mode::Read,
            spindle: None,
            clock: None,
            repetitions: 3,
            noise: 0.0,
            least: None,
            hits: HitTimes::default(),
            evictions: SOME_EVICTIONS,
            kept: 0,
            memory: Memory::default(),
            started,
            taken: 0,
            failures: 0,
            told: Instant::now(),
        }
    }

    /// Sectors that are written at a time.
    pub(crate) fn unit(&self) -> u64 {
        self.device.info().unit()
    }

    /// Sectors of the device.
    pub(crate) fn sectors(&self) -> u64 {
        self.device.info().sectors
    }

    /// The spindle.
    ///
    /// # Errors
    /// [`MeasureError::Insufficient`] where no rotation was found.
    pub(crate) fn spindle(&self) -> Result<Spindle, MeasureError> {
        self.spindle.ok_or_else(|| MeasureError::Insufficient {
            problem: "no rotation was found".to_owned(),
            hint: "run the probe `rotation` first; a device that does not rotate has no tracks to measure"
                .to_owned(),
        })
    }

    /// A random number below `end`.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.random.random_range(0..end.max(1))
    }

    fn listen(&mut self, now: bool) -> Result<(), MeasureError> {
        if !now && self.told.elapsed() < TELL_EVERY {
            return Ok(());
        }
        self.told = Instant::now();
        let progress = Progress {
            probe: self.probe.as_str(),
            samples: self.taken,
            elapsed_s: self.device.now().saturating_sub(self.started).as_s(),
            expected_s: self.expected_s,
            rest_s: self.rest_s,
        };
        if (self.listener)(&progress) { Ok(()) } else { Err(MeasureError::Stopped) }
    }

    /// Tells the caller that the probe begins.
    pub(crate) fn begin(&mut self) -> Result<(), MeasureError> {
        self.listen(true)
    }

    /// One access, written down; `None` if it failed.
    pub(crate) fn take(
        &mut self,
        (series, step): (u32, i64),
        role: Role,
        access: Access,
    ) -> Result<Option<Window>, MeasureError> {
        self.listen(false)?;
        let clock = self.clock;
        let by_disk = |window: Window| {
            clock.map_or(window, |clock| Window {
                start: clock.time(window.start),
                end: clock.time(window.end),
            })
        };
        let done = self.serve(access).map(by_disk);
        let (window, ok) = match done {
            Ok(window) => {
                self.failures = 0;
                (window, true)
            }
            Err(error) if error.is_of_one_access() => {
                self.failures += 1;
                if self.failures >= MOST_FAILURES {
                    return Err(MeasureError::Unreadable {
                        device: self.device.info().name.clone(),
                        failed: self.failures,
                        last: error.to_string(),
                    });
                }
                let now = self.device.now();
                (by_disk(Window { start: now, end: now }), false)
            }
            Err(error) => return Err(error),
        };
        self.note((series, step), role, access, 1, window, ok)?;
        if ok && !access.mode.is_write() && !self.hits.contain((window.end - window.start).as_ms()) {
            self.memory.note(access.lba, u64::from(access.sectors));
            if role != Role::Prepare {
                self.kept = 0;
            }
        }
        Ok(ok.then_some(window))
    }

    fn serve(&mut self, access: Access) -> Result<Window, MeasureError> {
        if access.mode != Mode::WriteFlushed {
            return self.device.access(access);
        }
        let window = self.device.access(Access { mode: Mode::Write, ..access })?;
        self.device.flush()?;
        Ok(Window { end: self.device.now(), ..window })
    }

    /// Waits until all that was written is on the media; an access of no sectors stands for that.
    pub(crate) fn flush(&mut self, key: (u32, i64)) -> Result<(), MeasureError> {
        let start = self.device.now();
        self.device.flush()?;
        let window = Window { start, end: self.device.now().max(start + Nanos(1)) };
        self.note(key, Role::Prepare, Access { mode: Mode::Write, lba: 0, sectors: 0 }, 1, window, true)
    }

    /// Writes a sample down.
    pub(crate) fn note(
        &mut self,
        (series, step): (u32, i64),
        role: Role,
        access: Access,
        depth: u32,
        window: Window,
        ok: bool,
    ) -> Result<(), MeasureError> {
        self.taken += 1;
        self.record.samples.push(Sample {
            probe: self.probe,
            series,
            step,
            role,
            mode: access.mode,
            lba: access.lba,
            sectors: access.sectors,
            depth,
            start: window.start,
            end: window.end,
            ok,
            session: self.record.head.sessions,
        });
        self.store.append(self.record, false)
    }

    /// Writes a sample down again, as another step.
    pub(crate) fn repeat(&mut self, sample: &Sample, step: i64) -> Result<(), MeasureError> {
        self.record.samples.push(Sample { step, ..*sample });
        self.store.append(self.record, false)
    }

    /// One physical sector.
    pub(crate) fn one(&self, mode: Mode, lba: u64) -> Access {
        Access { mode, lba, sectors: self.unit() as u32 }
    }

    /// Waits for a phase.
    pub(crate) fn wait_phase(&mut self, phase: f64) -> Result<(), MeasureError> {
        let spindle = self.spindle()?;
        let Some(clock) = self.clock else {
            return self.device.wait_until(spindle.next(self.device.now(), phase));
        };
        let at = spindle.next(clock.time(self.device.now()), phase);
        self.device.wait_until(clock.host(at))
    }

    /// Sets the disk's clock, where angles are told by one: writes the sector that it is set by.
    fn set_clock(&mut self) -> Result<(), MeasureError> {
        let Some(mut clock) = self.clock else { return Ok(()) };
        let mode = if self.record.head.writes == "write" { Mode::Write } else { Mode::WriteForced };
        let access = self.one(mode, clock.lba);
        match self.serve(access) {
            Ok(window) => {
                clock.set(window.end);
                self.clock = Some(clock);
                let window = Window { start: clock.time(window.start), end: clock.time(window.end) };
                self.note((SETTING_CLOCK, 0), Role::Prepare, access, 1, window, true)
            }
            Err(error) if error.is_of_one_access() => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Whether a cache takes writes, and brings them to the media by itself.
    pub(crate) fn is_cached(&self) -> bool {
        self.mode == Mode::WriteForced && fill::is_quick(self.record, SMALL, self.spindle)
    }

    /// Whether the device must not be written: then all depends on reads that the cache does not answer.
    pub(crate) fn only_reads(&self) -> bool {
        !self.device.info().writable
    }

    /// Reads elsewhere, so that the cache holds nothing that was asked for before.
    pub(crate) fn evict(&mut self, key: (u32, i64)) -> Result<(), MeasureError> {
        let unit = self.unit();
        for _ in 0..(self.evictions << self.kept).min(MOST_EVICTIONS.max(self.evictions)) {
            let lba = self.below(self.sectors() / unit - 1) * unit;
            let access = self.one(Mode::Read, lba);
            self.take(key, Role::Prepare, access)?;
        }
        self.kept = (self.kept + 1).min(MOST_DOUBLINGS);
        Ok(())
    }

    /// Reads nearby until the cache of a device that is only read holds none of some sectors.
    pub(crate) fn clear(&mut self, key: (u32, i64), lbas: &[u64]) -> Result<(), MeasureError> {
        let unit = self.unit();
        // Nearby, for short seeks; wide enough that hardly two meet.
        let window = (self.sectors() / 8 / unit).max(1);
        let from = (lbas[0] / unit).saturating_sub(window / 2).min(self.sectors() / unit - window);
        for _ in 0..8 * self.memory.keeps.others {
            if lbas.iter().all(|&lba| self.memory.missing(lba) == 0) {
                break;
            }
            let lba = (from + self.below(window)) * unit;
            let distance = self.memory.keeps.ahead.max(self.memory.keeps.before);
            if lbas.iter().all(|&kept| lba.abs_diff(kept) > distance) && self.memory.missing(lba) == 0 {
                self.take(key, Role::Prepare, self.one(Mode::Read, lba))?;
            }
        }
        Ok(())
    }

    /// Before a read that the cache answered is taken again.
    pub(crate) fn answered(&mut self, key: (u32, i64)) -> Result<(), MeasureError> {
        if !self.only_reads() || self.memory.keeps.others == 0 {
            return self.evict(key);
        }
        // Either the cache holds more than it showed, or the media took just as long by chance: another time, then.
        for _ in 0..self.memory.keeps.others {
            let lba = self.below(self.sectors() / self.unit() - 1) * self.unit();
            self.take(key, Role::Prepare, self.one(Mode::Read, lba))?;
        }
        let turn_ns = self.spindle.map_or(10e6, |spindle| spindle.period_ns);
        let pause = self.below(turn_ns as u64);
        self.device.wait_until(self.device.now() + Nanos(pause))
    }

    /// One access that reaches the media: a read that the cache answered is taken again, behind others.
    pub(crate) fn touch(
        &mut self,
        key: (u32, i64),
        role: Role,
        lba: u64,
        issue: Option<f64>,
    ) -> Result<Option<Window>, MeasureError> {
        let access = self.one(self.mode, lba);
        let mut issue = issue;
        for _ in 0..8 {
            if self.only_reads() {
                self.clear(key, &[lba])?;
            }
            self.set_clock()?;
            if let Some(phase) = issue {
                self.wait_phase(phase)?;
            }
            let Some(window) = self.take(key, role, access)? else { return Ok(None) };
            let latency_ms = (window.end - window.start).as_ms();
            if access.mode.is_write() || !self.hits.contain(latency_ms) {
                return Ok(Some(window));
            }
            self.answered(key)?;
            if self.only_reads() {
                issue = None;
            }
        }
        Ok(None)
    }

    /// The angle at which an access to a sector is complete, in turns; `None` where it cannot be accessed. With a guess, the
    /// access is issued just in time, so that little time passes that could be mismeasured. It is measured until as many agree
    /// as must: any of them may be seen late, by anything.
    pub(crate) fn angle(
        &mut self,
        key: (u32, i64),
        role: Role,
        lba: u64,
        guess: Option<f64>,
    ) -> Result<Option<f64>, MeasureError> {
        self.foreseen_angle(key, role, lba, (guess, &[]))
    }

    /// The same of a sector whose angle is foreseen to be one of some. Where completions are exact but for some that are late, the first
    /// to come at one of these was not late: that would be a matter of one in 100,000.
    pub(crate) fn foreseen_angle(
        &mut self,
        key: (u32, i64),
        role: Role,
        lba: u64,
        (guess, foreseen): (Option<f64>, &[f64]),
    ) -> Result<Option<f64>, MeasureError> {
        let spindle = self.spindle()?;
        let mut seen: Vec<Sighting> = Vec::with_capacity(self.repetitions);
        let mut guess = guess;
        let agree = if self.clock.is_some() { AGREE_BY_DISK } else { AGREE };
        let tolerance = agree.max(AGREE_SIGMAS * self.noise);
        // A first guess may be off by what it was misread.
        let mut margin = 0.002_f64.max(4.0 * self.noise);
        for _ in 0..MOST_REPETITIONS * self.repetitions {
            // Where the clock has just been set, the arm comes from elsewhere.
            let just_in_time = guess.zip(self.least).filter(|_| self.clock.is_none());
            let issue = just_in_time.map(|(at, least)| at - 1.1 * least - margin);
            if let Some(window) = self.touch(key, role, lba, issue)? {
                let turns = spindle.turns((window.end - window.start).as_ms());
                seen.push(Sighting { phase: spindle.phase(window.end), turns });
            } else if seen.is_empty() {
                return Ok(None);
            } else {
                continue;
            }
            let shortest = seen.iter().map(|seen| seen.turns).fold(f64::INFINITY, f64::min);
            let hit = |seen: &Sighting| self.noise < MISREAD || seen.turns < shortest + MISSED;
            if issue.is_some() && seen.last().is_some_and(|last| last.turns > MISSED) {
                margin = (2.0 * margin).min(MOST_MARGIN);
            }
            let agreed = agreeing(&seen, tolerance);
            guess = Some(angle_of(&agreed));
            if seen.len() == 1 && self.is_as_foreseen(seen[0], foreseen) {
                break;
            }
            if agreed.iter().filter(|seen| hit(seen)).count() >= self.repetitions {
                break;
            }
        }
        Ok(guess)
    }

    fn is_as_foreseen(&self, seen: Sighting, foreseen: &[f64]) -> bool {
        let tolerance = FORESEEN.max(AGREE_SIGMAS * self.noise);
        let only_late = self.repetitions == 2 && self.clock.is_none();
        only_late && foreseen.iter().any(|angle| wrap_signed(seen.phase - angle).abs() <= tolerance)
    }
}
