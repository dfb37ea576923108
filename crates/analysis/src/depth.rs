//! How many requests are outstanding, found by each arrival.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use headstack_trace::{Io, Kind};
use headstack_units::Nanos;

use crate::effect::of_device;

/// Requests that have arrived and not finished. Fed in order of arrival.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outstanding {
    finishes: BinaryHeap<Reverse<Nanos>>,
}

impl Outstanding {
    /// How many are outstanding at `now`, before the next is added.
    pub(crate) fn at(&mut self, now: Nanos) -> u64 {
        while self.finishes.peek().is_some_and(|Reverse(finish)| *finish <= now) {
            self.finishes.pop();
        }
        self.finishes.len() as u64
    }

    /// If at `now` at most `few` are left: when the last but `few` finished, or `now` if nothing did since.
    pub(crate) fn over_at(&mut self, now: Nanos, few: usize) -> Option<Nanos> {
        let mut end = now;
        let mut drained = false;
        while let Some(&Reverse(finish)) = self.finishes.peek().filter(|next| next.0 <= now) {
            if self.finishes.len() == few + 1 {
                (end, drained) = (finish, true);
            }
            self.finishes.pop();
        }
        (drained || self.finishes.len() <= few).then_some(end)
    }

    /// Adds one that finishes then.
    pub(crate) fn add(&mut self, finish: Nanos) {
        self.finishes.push(Reverse(finish));
    }

    /// When fewer than or as many as `few` will be outstanding, if nothing is added.
    pub(crate) fn falls_to(&self, few: usize) -> Nanos {
        let mut finishes: Vec<Nanos> = self.finishes.iter().map(|Reverse(finish)| *finish).collect();
        finishes.sort_unstable();
        let drained = finishes.len().saturating_sub(few);
        drained.checked_sub(1).map_or(Nanos::ZERO, |last| finishes[last])
    }
}

/// The same of each device, where there are several.
#[derive(Debug, Default)]
pub(crate) struct OutstandingByDevice {
    first: Option<u32>,
    devices: BTreeMap<u32, Outstanding>,
}

impl OutstandingByDevice {
    /// How many the device has outstanding at `now`, if all of them together have `all`: those of the only device so far.
    pub(crate) fn at(&mut self, device: u32, now: Nanos, all: &mut Outstanding) -> u64 {
        let first = *self.first.get_or_insert(device);
        if self.devices.is_empty() {
            if first == device {
                return all.at(now);
            }
            self.devices.insert(first, all.clone());
        }
        of_device(&mut self.devices, device).map_or(0, |own| own.at(now))
    }

    /// Adds one that finishes then.
    pub(crate) fn add(&mut self, device: u32, finish: Nanos) {
        if !self.devices.is_empty()
            && let Some(own) = of_device(&mut self.devices, device)
        {
            own.add(finish);
        }
    }
}

/// Flushes and discards that each device has outstanding: reads wait for them, too, though they are no requests of data.
#[derive(Debug, Default)]
pub(crate) struct Commands {
    devices: BTreeMap<u32, Outstanding>,
}

impl Commands {
    /// How many the device has outstanding when this one arrives; it is one of them from then on, unless it moves data.
    pub(crate) fn push(&mut self, io: &Io) -> u64 {
        let request = &io.request;
        if io.kind == Kind::Data && !self.devices.contains_key(&request.device) {
            return 0;
        }
        let Some(own) = of_device(&mut self.devices, request.device) else { return 0 };
        let outstanding = own.at(request.arrival);
        if io.kind != Kind::Data
            && let Some(finish) = request.finish.present()
        {
            own.add(finish);
        }
        outstanding
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_another_device_has_outstanding_is_not_counted() {
        let (mut all, mut own) = (Outstanding::default(), OutstandingByDevice::default());
        let mut seen = Vec::new();
        for (device, at, finish) in
            [(3, 0, 50), (3, 10, 20), (5, 15, 40), (3, 30, 60), (5, 35, 70), (7, 36, 37)]
        {
            seen.push((own.at(device, Nanos(at), &mut all), all.at(Nanos(at))));
            all.add(Nanos(finish));
            own.add(device, Nanos(finish));
        }
        assert_eq!(seen, [(0, 0), (1, 1), (0, 2), (1, 2), (1, 3), (0, 4)]);
    }
}
