//! Waiting commands along a line: by address, or by cylinder where the layout is known.

use super::line::{Key, Line};
use super::order::Pick;
use super::waiting::Slot;

/// Waiting commands by coordinate, those at the same one in order of arrival.
#[derive(Clone, Debug, Default)]
pub(super) struct Axis(Line);

/// A command on the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Point {
    pub(super) at: u64,
    pub(super) sequence: u64,
    pub(super) slot: Slot,
}

impl Point {
    pub(super) fn pick(self) -> Pick {
        Pick::of(self.slot)
    }
}

impl Axis {
    pub(super) fn insert(&mut self, at: u64, sequence: u64, slot: Slot) {
        self.0.insert((at, sequence), slot);
    }

    pub(super) fn remove(&mut self, at: u64, sequence: u64) {
        self.0.remove((at, sequence));
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// The lowest at or above `from`.
    pub(super) fn upward(&self, from: u64) -> Option<Point> {
        self.0.from((from, 0)).map(point)
    }

    /// The highest below `from`; of several at its place the oldest.
    pub(super) fn below(&self, from: u64) -> Option<Point> {
        let ((at, _), _) = self.0.before((from, 0))?;
        self.upward(at)
    }

    /// The highest at or below `from`; of several at its place the oldest.
    pub(super) fn downward(&self, from: u64) -> Option<Point> {
        self.below(from.saturating_add(1))
    }

    /// The lowest of all.
    pub(super) fn lowest(&self) -> Option<Point> {
        self.0.first().map(point)
    }
}

fn point(((at, sequence), slot): (Key, Slot)) -> Point {
    Point { at, sequence, slot }
}
