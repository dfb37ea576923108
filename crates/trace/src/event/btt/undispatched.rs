//! Q2C of devices that dispatch nothing: device mapper, RAID, RAM disks.
//!
//! A completion ends what is queued of its sectors, of each place the piece that is its own. Where halves are missing that is not what was
//! asked for and answered, so that there the responses of requests are told.

use std::collections::BTreeMap;

use super::Row;
use crate::Io;
use crate::event::Event;

/// What a trace, or a device, lacks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Lacks {
    /// Nothing, or nobody asks.
    #[default]
    Nothing,
    /// Halves of some requests.
    Halves,
    /// Events are known to be missing.
    Events,
}

/// What is known of one device.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Device {
    number: u32,
    pub(super) dispatches: bool,
    pub(super) queued: u64,
    pub(super) completed: u64,
    /// Its requests, and the queued pieces of which they are made.
    answered: u64,
    asked: u64,
    /// Of what was never dispatched, as btt pairs it.
    pub(super) pieces: Row,
    /// The responses of requests that were never dispatched.
    responses: Row,
}

impl Device {
    /// A request that was never dispatched.
    fn answer(&mut self, io: &Io) {
        self.answered += 1;
        self.asked += 1 + u64::from(io.merges);
        if io.response().is_some() {
            self.responses.record(io.request.arrival, io.request.finish);
        }
    }

    /// Its part of Q2C.
    fn row(&self, lacks: Lacks) -> Row {
        let is_whole = self.queued == self.asked && self.completed == self.answered;
        match lacks {
            Lacks::Events if !self.dispatches => self.responses,
            Lacks::Halves if !self.dispatches && !is_whole => self.responses,
            _ => self.pieces,
        }
    }
}

/// All devices.
#[derive(Clone, Debug, Default)]
pub(super) struct Devices {
    all: Vec<Device>,
    places: BTreeMap<u32, usize>,
    /// Where the one is that was asked for last: mostly the next is the same.
    last: usize,
}

impl Devices {
    /// The device of an event.
    #[inline]
    pub(super) fn of(&mut self, event: &Event) -> &mut Device {
        if self.all.get(self.last).is_none_or(|last| last.number != event.device) {
            self.last = self.place(event.device);
        }
        &mut self.all[self.last]
    }

    #[cold]
    fn place(&mut self, number: u32) -> usize {
        let next = self.all.len();
        let place = *self.places.entry(number).or_insert(next);
        if place == next {
            self.all.push(Device { number, ..Device::default() });
        }
        place
    }

    /// Takes a request that was paired.
    #[inline]
    pub(super) fn answer(&mut self, io: &Io) {
        if io.request.start.present().is_none() && io.request.sectors > 0 {
            let place = self.place(io.request.device);
            self.all[place].answer(io);
        }
    }

    /// Q2C of all that was never dispatched.
    pub(super) fn row(&self, lacks: Lacks) -> Row {
        self.all.iter().fold(Row::default(), |sum, device| sum.and(device.row(lacks)))
    }
}
