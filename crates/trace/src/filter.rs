//! What part of a trace is looked at: devices, a window of time, a direction, processes. Events are chosen before they are
//! paired.

use std::collections::BTreeSet;

use headstack_units::{Nanos, Op};

use crate::event::{Event, EventSource, Loss, device_name};
use crate::{Io, IoSource, Kind, Notes, Request, TraceError};

/// The part of a trace to look at; the default is all of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Only these devices, as the trace numbers them; empty: all.
    pub devices: Vec<u32>,
    /// Leave out what happens before, counted from the start of the trace.
    pub from: Option<Nanos>,
    /// Leave out what happens then or later.
    pub to: Option<Nanos>,
    /// Only this direction. What empties a cache or gives sectors up goes with writes, and what else moves no data with neither.
    pub op: Option<Op>,
    /// Only these processes; `None`: all. Only traces that know processes have any.
    pub pids: Option<BTreeSet<u32>>,
}

impl Filter {
    /// Whether everything passes.
    pub fn is_open(&self) -> bool {
        *self == Self::default()
    }

    /// Whether an I/O's process and direction are chosen.
    pub(crate) fn takes_io(&self, io: &Io) -> bool {
        let op = match io.kind {
            Kind::Flush | Kind::Discard => Op::Write,
            Kind::Other if self.op.is_some() => return false,
            Kind::Data | Kind::Other => io.request.op,
        };
        self.takes_asked(io.pid, op)
    }

    /// Whether its process and its direction are chosen.
    pub(crate) fn takes_asked(&self, pid: u32, op: Op) -> bool {
        self.pids.as_ref().is_none_or(|pids| pids.contains(&pid)) && self.op.is_none_or(|chosen| chosen == op)
    }
}

/// A filter at work: what it has seen so far.
#[derive(Clone, Debug)]
pub(crate) struct Chosen {
    filter: Filter,
    zero: Option<Nanos>,
    seen: BTreeSet<u32>,
    met: bool,
}

impl Chosen {
    /// `zero`: the start of the trace on its own clock, or `None` where its first record says.
    pub(crate) fn new(filter: &Filter, zero: Option<Nanos>) -> Self {
        Self { filter: filter.clone(), zero, seen: BTreeSet::new(), met: false }
    }

    /// Whether what happened then on that device is to be looked at.
    fn takes(&mut self, time: Nanos, device: u32) -> bool {
        let zero = *self.zero.get_or_insert(time);
        if !self.filter.devices.is_empty() {
            if !self.filter.devices.contains(&device) {
                self.seen.insert(device);
                return false;
            }
            self.met = true;
        }
        let time = time.saturating_sub(zero);
        self.filter.from.is_none_or(|from| time >= from) && self.filter.to.is_none_or(|to| time < to)
    }

    /// The same for a request, whose direction counts besides.
    pub(crate) fn takes_request(&mut self, request: &Request) -> bool {
        self.takes(request.arrival, request.device) && self.filter.op.is_none_or(|op| request.op == op)
    }

    /// At the end of the trace: an error if none of the devices was in it.
    pub(crate) fn verdict(&self) -> Result<(), TraceError> {
        if self.filter.devices.is_empty() || self.met || self.seen.is_empty() {
            return Ok(());
        }
        let names = |devices: &mut dyn Iterator<Item = &u32>| {
            devices.take(16).map(|device| device_name(*device)).collect::<Vec<_>>().join(" ")
        };
        Err(TraceError::unusable(
            format!("the trace holds nothing of device {}", names(&mut self.filter.devices.iter())),
            format!("devices in it: {}", names(&mut self.seen.iter())),
        ))
    }
}

/// Events of the chosen devices and time.
pub(crate) struct ChosenEvents {
    pub(crate) source: Box<dyn EventSource>,
    pub(crate) chosen: Chosen,
}

impl EventSource for ChosenEvents {
    fn next_events(&mut self, batch: &mut Vec<Event>) -> Result<(), TraceError> {
        loop {
            let read = self.source.next_events(batch);
            let ended = batch.is_empty();
            batch.retain(|event| self.chosen.takes(event.time, event.device));
            read?;
            if ended {
                return self.chosen.verdict();
            }
            if !batch.is_empty() {
                return Ok(());
            }
        }
    }

    fn notes(&self) -> Notes {
        self.source.notes()
    }

    fn loss(&self) -> Loss {
        self.source.loss()
    }

    fn processes(&self) -> std::collections::BTreeMap<u32, String> {
        self.source.processes()
    }
}

/// I/Os of the chosen direction and processes; of the chosen devices and time, too, where `chosen` is given.
pub(crate) struct ChosenIos<S> {
    pub(crate) source: S,
    filter: Filter,
    chosen: Option<Chosen>,
}

impl<S: IoSource> ChosenIos<S> {
    pub(crate) fn new(source: S, filter: &Filter, chosen: Option<Chosen>) -> Self {
        Self { source, filter: filter.clone(), chosen }
    }
}

impl<S: IoSource> IoSource for ChosenIos<S> {
    fn next_ios(&mut self, batch: &mut Vec<Io>) -> Result<(), TraceError> {
        loop {
            let read = self.source.next_ios(batch);
            let ended = batch.is_empty();
            if !self.filter.is_open() {
                batch.retain(|io| {
                    let asked = self.filter.takes_io(io);
                    let request = &io.request;
                    let there = self
                        .chosen
                        .as_mut()
                        .is_none_or(|chosen| chosen.takes(request.arrival, request.device));
                    asked && there
                });
            }
            read?;
            match &self.chosen {
                Some(chosen) if ended => return chosen.verdict(),
                _ if ended || !batch.is_empty() => return Ok(()),
                _ => {}
            }
        }
    }

    fn notes(&self) -> Notes {
        self.source.notes()
    }

    fn sector_bytes(&self) -> u32 {
        self.source.sector_bytes()
    }
}
