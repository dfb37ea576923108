//! A cache in a controller's memory: lines that are given up in the order of [`super::recency`].

use std::collections::BTreeMap;

use headstack_units::{Op, RequestFlags};

use super::lines::{Lines, Sectors};
use super::{Counts, Place, Wish};
use crate::layer::Completed;
use crate::spec::{ArrayCacheRoom, ArrayCacheWrites, ArrayMemorySpec, ArrayReadAhead};

/// What a request does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// Have the lines to itself.
    Lock,
    /// Have lines given up for those it added.
    Room,
    /// Read what is missing, or write.
    Work,
    /// What it wrote is on the drives.
    Written,
}

/// A request, served part after part.
#[derive(Clone, Debug)]
struct Job {
    call: usize,
    op: Op,
    part: Sectors,
    /// Where the request ends.
    end: u64,
    step: Step,
    is_hit: bool,
    /// What it has sent and waits for.
    children: u32,
}

/// What is on its way to or from the volume.
#[derive(Clone, Debug)]
enum Sent {
    Fetch(Sectors),
    /// Dirty sectors, whose lines are locked.
    Destage(Sectors),
    /// A request's own data, whose lines it has locked.
    Through(Sectors),
}

/// The memory.
#[derive(Clone, Debug)]
pub(super) struct Memory {
    lines: Lines,
    jobs: Vec<Job>,
    sent: BTreeMap<usize, Sent>,
    next_tag: usize,
    writes: ArrayCacheWrites,
    room: ArrayCacheRoom,
    read_ahead: ArrayReadAhead,
    fetch_lines: u64,
    destage_lines: u64,
    part_sectors: u64,
    /// Where the volume ends.
    end: u64,
    /// It writes dirty lines because there has been no work for long enough.
    pub(super) is_destaging: bool,
    pub(super) counts: Counts,
}

impl Memory {
    pub(super) fn new(spec: &ArrayMemorySpec, sector_bytes: u32, end: u64) -> Self {
        let sectors = |kib: f64| ((kib * 1024.0) as u64 / u64::from(sector_bytes)).max(1);
        let line_sectors = sectors(spec.line_kib);
        let capacity = (sectors(spec.size_kib) / line_sectors).max(1);
        Self {
            lines: Lines::new(capacity as usize, line_sectors as u32, &spec.segment_shares),
            jobs: Vec::new(),
            sent: BTreeMap::new(),
            next_tag: 0,
            writes: spec.write_policy,
            room: spec.room,
            read_ahead: spec.read_ahead,
            fetch_lines: u64::from(spec.fetch_lines),
            destage_lines: u64::from(spec.destage_lines),
            part_sectors: sectors(spec.part_kib),
            end,
            is_destaging: false,
            counts: Counts::default(),
        }
    }

    pub(super) fn used(&self) -> (Counts, u64) {
        (self.counts, self.lines.dirty_sectors())
    }

    /// Whether nothing is under way.
    pub(super) fn is_quiet(&self) -> bool {
        self.sent.is_empty()
    }

    pub(super) fn forget(&mut self, sectors: &Sectors) {
        self.lines.forget(sectors);
    }

    /// A request is the controller's now.
    pub(super) fn begin(&mut self, call: usize, op: Op, sectors: &Sectors, wishes: &mut Vec<Wish>) {
        self.is_destaging = false;
        let end = sectors.end;
        let part = sectors.start..end.min(sectors.start + self.part_sectors);
        self.counts.writes += u64::from(op == Op::Write);
        self.jobs.push(Job { call, op, part, end, step: Step::Lock, is_hit: true, children: 0 });
        self.try_all(None, wishes);
    }

    /// A sub-request is complete.
    pub(super) fn completed(&mut self, child: &Completed, wishes: &mut Vec<Wish>) {
        match self.sent.remove(&child.tag) {
            Some(Sent::Fetch(sectors)) => self.lines.fill(&sectors),
            Some(Sent::Destage(sectors)) => {
                self.lines.clean(&sectors);
                self.lines.unlock(self.lines.numbers(&sectors));
            }
            Some(Sent::Through(sectors)) => self.lines.clean(&sectors),
            None => {}
        }
        if let Some(job) = self.jobs.iter_mut().find(|job| Some(job.call) == child.call) {
            job.children -= 1;
        }
        self.try_all(child.call, wishes);
    }

    /// Lets every request go on that can, in order of arrival. `cause` is whose sub-request has just completed.
    fn try_all(&mut self, cause: Option<usize>, wishes: &mut Vec<Wish>) {
        let mut index = 0;
        while index < self.jobs.len() {
            let mut job = self.jobs[index].clone();
            if self.go_on(&mut job, wishes) {
                wishes.push(Wish::Done { call: job.call, by_child: cause == Some(job.call) });
                self.jobs.remove(index);
                // What it held, one before it may have waited for.
                index = 0;
            } else {
                self.jobs[index] = job;
                index += 1;
            }
        }
    }

    /// Takes a request as far as it can go; whether it is complete.
    fn go_on(&mut self, job: &mut Job, wishes: &mut Vec<Wish>) -> bool {
        while job.children == 0 {
            let is_held = self.lines.first(&job.part, false).is_none();
            match job.step {
                Step::Lock => {
                    if !self.lines.lock(&job.part, job.op == Op::Read && is_held) {
                        return false;
                    }
                    job.is_hit &= is_held;
                    job.step = Step::Room;
                }
                Step::Room => {
                    if !self.make_room(job, wishes) {
                        return false;
                    }
                    job.step = Step::Work;
                }
                Step::Work if job.op == Op::Read => match self.missing(&job.part) {
                    None => job.step = Step::Written,
                    Some(run) => {
                        self.counts.fetches += 1;
                        self.send(Some(job), Op::Read, Sent::Fetch(run), wishes);
                    }
                },
                Step::Work => {
                    self.lines.write(&job.part);
                    job.step = Step::Written;
                    if self.writes == ArrayCacheWrites::WriteThrough {
                        let part = job.part.clone();
                        self.send(Some(job), Op::Write, Sent::Through(part), wishes);
                    }
                }
                Step::Written => {
                    self.lines.unlock(self.lines.numbers(&job.part));
                    if job.op == Op::Write && self.writes == ArrayCacheWrites::WriteBehind {
                        for number in self.lines.numbers(&job.part) {
                            self.destage(number, self.destage_lines, None, wishes);
                        }
                    }
                    job.part = job.part.end..job.end.min(job.part.end + self.part_sectors);
                    job.step = Step::Lock;
                    if job.part.is_empty() {
                        if job.op == Op::Read {
                            self.counts.read_hits += u64::from(job.is_hit);
                            self.counts.read_misses += u64::from(!job.is_hit);
                        }
                        return true;
                    }
                }
            }
        }
        false
    }

    /// Gives up lines until there is room for all there are; whether there is.
    fn make_room(&mut self, job: &mut Job, wishes: &mut Vec<Wish>) -> bool {
        while self.lines.is_over() {
            let Some(oldest) = self.lines.oldest().next() else { return false };
            if !self.lines.is_dirty(oldest) {
                self.lines.evict(oldest);
            } else if self.room == ArrayCacheRoom::Wait {
                self.destage(oldest, 1, Some(job), wishes);
                return false;
            } else {
                self.destage(oldest, 1, None, wishes);
            }
        }
        true
    }

    /// What of a part is to be read next, with what is read along.
    fn missing(&self, part: &Sectors) -> Option<Sectors> {
        let start = self.lines.first(part, false)?;
        let mut run = start..self.lines.first(&(start..part.end), true).unwrap_or(part.end);
        let size = self.lines.line_sectors();
        let lines = self.lines.numbers(&run);
        if lines.end - lines.start > self.fetch_lines {
            run.end = run.end.min((lines.start + 1) * size);
        }
        let (first, last) = (start / size * size, (run.end.div_ceil(size) * size).min(self.end));
        if self.read_ahead.is_front() {
            run.start = (first..start).rev().take_while(|&at| self.is_missing(at)).last().unwrap_or(start);
        }
        if self.read_ahead.is_rest() {
            run.end = self.lines.first(&(run.end..last), true).unwrap_or(last);
        }
        Some(run)
    }

    fn is_missing(&self, sector: u64) -> bool {
        let next = sector + 1;
        self.lines.first(&(sector..next), false).is_some()
    }

    /// Writes a dirty line and its neighbours, `most` at a time, for a request or for nobody.
    fn destage(&mut self, number: u64, most: u64, job: Option<&mut Job>, wishes: &mut Vec<Wish>) {
        let Some(run) = self.lines.begin_write(number, most) else { return };
        self.counts.destages += 1;
        self.send(job, Op::Write, Sent::Destage(run), wishes);
    }

    /// Writes all that is dirty.
    pub(super) fn write_all(&mut self, wishes: &mut Vec<Wish>) {
        loop {
            let Some(number) = self.lines.dirty().next() else { return };
            self.destage(number, self.destage_lines, None, wishes);
        }
    }

    /// Writes the dirty line that was used least recently.
    pub(super) fn write_oldest(&mut self, wishes: &mut Vec<Wish>) {
        let oldest = self.lines.oldest().find(|&number| self.lines.is_dirty(number));
        self.is_destaging = oldest.is_some();
        if let Some(number) = oldest {
            self.destage(number, self.destage_lines, None, wishes);
        }
    }

    fn send(&mut self, job: Option<&mut Job>, op: Op, sent: Sent, wishes: &mut Vec<Wish>) {
        let tag = self.next_tag;
        self.next_tag += 1;
        let (Sent::Fetch(sectors) | Sent::Destage(sectors) | Sent::Through(sectors)) = &sent;
        let sectors = sectors.clone();
        self.sent.insert(tag, sent);
        let call = job.map(|job| {
            job.children += 1;
            job.call
        });
        wishes.push(Wish::Send { call, tag, to: Place::Own, op, sectors, flags: RequestFlags::default() });
    }
}
