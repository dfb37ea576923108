//! Requests on their way through the layers: the one fan-out into commands, and the way back.

use headstack_drive::command::Outcome;
use headstack_trace::Request;
use headstack_units::{Nanos, Op};

use super::rows::answer;
use super::slots::Place;
use super::{Engine, Event, Finished, Units};
use crate::layer::{Call, Completed, Effect, Layer, Origin, Piece, Target};
use crate::record::{CompletionRow, DriverRow};

/// Who gets to know that a request is complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sender {
    /// The host.
    Host { user: Option<u32> },
    /// The host, which went around its buffer cache; the number among the driver's requests.
    Raw { user: Option<u32>, driver_id: u64 },
    /// A layer, as it sent it.
    Layer { layer: usize, call: Option<usize>, tag: usize, origin: Origin },
    /// A layer, to one below it; what it continues: its number among the paths.
    Above { layer: usize, call: Option<usize>, tag: usize, path: Option<usize> },
}

/// A request in a layer.
#[derive(Clone, Copy, Debug)]
pub(super) struct InFlight {
    /// Its number, or that of the driver's request where it comes from a layer.
    pub(super) id: u64,
    request: Request,
    layer: usize,
    pub(super) sender: Sender,
    /// When the layer got it.
    issued: Nanos,
    /// Sub-requests on their way.
    left: u32,
    /// The sub-request that finished last so far: its number among the paths. Those of a queue of a million that has yet to
    /// be served would take most of the memory.
    critical: Option<usize>,
}

impl InFlight {
    /// A request that a layer gets when it arrives.
    pub(super) fn new(id: u64, request: Request, layer: usize, sender: Sender) -> Self {
        Self { id, request, layer, sender, issued: request.arrival, left: 0, critical: None }
    }
}

/// A command on its way, for a request or a layer.
#[derive(Clone, Copy, Debug)]
pub(super) struct SubRequest {
    layer: usize,
    pub(super) call: Option<usize>,
    tag: usize,
    pub(super) unit: usize,
    pub(super) op: Op,
    pub(super) sent: Nanos,
    /// What it continues: its number among the paths.
    path: Option<usize>,
    /// Number of its outcome, once that is known.
    pub(super) outcome: usize,
    /// The driver joined it with this one: they are one command of the drive.
    pub(super) joined: Option<usize>,
    pub(super) place: Place,
    pub(super) background: bool,
    /// A flush alone, which has no overhead.
    pub(super) is_empty: bool,
}

/// A sub-request that has just completed: whose it is, and how the one went that finished last of those.
type Cause<'a> = Option<(Option<usize>, &'a Finished)>;

impl Engine {
    pub(super) fn new_driver_id(&mut self) -> u64 {
        self.next_driver_id += 1;
        self.next_driver_id - 1
    }

    /// The driver gets a request that arrives now; the layer of its volume gets it once the CPU is through with it.
    pub(super) fn issue(&mut self, id: u64, request: Request, sender: Sender) {
        let layer = self.entries[request.device as usize];
        let mut entry = InFlight::new(id, request, layer, sender);
        entry.issued = self.cpu.done_at(request.arrival);
        let number = self.requests.insert(entry);
        if entry.issued > request.arrival {
            self.calendar.schedule(entry.issued, Event::Issued(number));
        } else {
            self.call_layer(request.arrival, number);
        }
    }

    /// A layer gets a request.
    pub(super) fn call_layer(&mut self, now: Nanos, number: usize) {
        let InFlight { layer, request, .. } = &self.requests[number];
        let (layer, call) = (*layer, Call::new(number, request));
        let mut effects = self.effects.pop().unwrap_or_default();
        let below = Units { units: &self.units, ledger: &self.ledger };
        self.layers[layer].call(now, &call, &below, &mut effects);
        self.follow(now, layer, effects, None);
    }

    /// Does what a layer asks for; whether the request is complete whose sub-request was the cause.
    pub(super) fn follow(
        &mut self,
        now: Nanos,
        layer: usize,
        mut effects: Vec<Effect>,
        cause: Cause<'_>,
    ) -> bool {
        let mut is_done = false;
        let mut is_sent = false;
        for effect in &effects {
            match *effect {
                Effect::Send { call, tag, to: Target::Unit(unit), piece } => {
                    self.send(now, SubRequest::new(now, layer, call, tag, unit, &piece), piece, cause);
                    is_sent = true;
                }
                Effect::Send { call, tag, to: Target::Below(device), piece } => {
                    let path = call.and_then(|call| {
                        let path = self.path_of(call, cause);
                        self.requests[call].left += 1;
                        path.map(|path| self.paths.insert(path))
                    });
                    let Piece { op, lba, sectors, flags, .. } = piece;
                    let request = Request { device, flags, ..Request::new(now, op, lba, sectors) };
                    let sender = Sender::Above { layer, call, tag, path };
                    let number = self.requests.insert(InFlight::new(0, request, device as usize, sender));
                    self.call_layer(now, number);
                }
                Effect::Send { call, tag, to: Target::Volume(device, origin), piece } => {
                    let Piece { op, lba, sectors, flags, .. } = piece;
                    let request = Request { device, flags, ..Request::new(now, op, lba, sectors) };
                    let id = self.new_driver_id();
                    self.issue(id, request, Sender::Layer { layer, call, tag, origin });
                }
                Effect::Begin { call } => self.requests[call].issued = now,
                Effect::Done { call, by_child, copy } => {
                    let by = cause.filter(|_| by_child).map(|(_, finished)| finished);
                    is_done |= cause.is_some_and(|(owner, _)| owner == Some(call));
                    self.complete(now, call, by, copy);
                }
                Effect::TimerAt { at, tag } => {
                    self.calendar.schedule(at, Event::Timer { layer, tag });
                }
            }
        }
        // All are in the queues before one of them goes on.
        if is_sent {
            for effect in &effects {
                if let Effect::Send { to: Target::Unit(unit), .. } = *effect {
                    self.pump(now, unit);
                }
            }
        }
        effects.clear();
        self.effects.push(effects);
        is_done
    }

    /// A unit's queue gets a command.
    #[inline]
    fn send(&mut self, now: Nanos, mut sub: SubRequest, piece: Piece, cause: Cause<'_>) {
        if let Some(call) = sub.call {
            sub.path = self.path_of(call, cause).map(|path| self.paths.insert(path));
            self.requests[call].left += 1;
        }
        let unit = &mut self.units[sub.unit];
        self.next_sub += 1;
        if let Some(slots) = &mut self.slots[unit.bus] {
            sub.place = slots.enter(self.next_sub, &piece, sub.unit);
        }
        let number = self.subs.insert(sub);
        let queue = if piece.background { &mut unit.background } else { &mut unit.queue };
        queue.push(piece.command(number as u64), now);
        let book = &mut self.ledger.units[sub.unit];
        book.arrive(now);
        book.note_held_back(unit.queue.held_back() + unit.background.held_back());
    }

    /// What a sub-request sent now has to go on from: the one that has just completed, or all of those before.
    fn path_of(&self, call: usize, cause: Cause<'_>) -> Option<Finished> {
        if let Some((owner, finished)) = cause
            && owner == Some(call)
        {
            return Some(*finished);
        }
        let InFlight { left, critical, .. } = &self.requests[call];
        critical.filter(|_| *left == 0).map(|critical| self.paths[critical])
    }

    /// A command of a request is complete.
    pub(super) fn sub_done(&mut self, now: Nanos, number: usize, outcome: &Outcome) {
        let SubRequest { layer, call, tag, unit, sent, path, .. } = self.subs.remove(number);
        self.ledger.units[unit].leave(now);
        let mut finished = Finished::new(&self.system, unit, outcome, sent).perhaps_without_data(outcome);
        if let Some(path) = path {
            finished = finished.after(&self.paths.remove(path));
        }
        self.part_done(now, layer, call, tag, &mut finished);
    }

    /// A sub-request of a layer is complete.
    fn part_done(
        &mut self,
        now: Nanos,
        layer: usize,
        call: Option<usize>,
        tag: usize,
        finished: &mut Finished,
    ) {
        let mut left = 0;
        if let Some(owner) = call {
            let owner = &mut self.requests[owner];
            owner.left -= 1;
            left = owner.left;
            if let Some(critical) = owner.critical.take() {
                let before = self.paths.remove(critical);
                finished.join(&before);
            }
            if left > 0 {
                owner.critical = Some(self.paths.insert(*finished));
            }
        }
        let mut effects = self.effects.pop().unwrap_or_default();
        let below = Units { units: &self.units, ledger: &self.ledger };
        self.layers[layer].completed(now, &Completed { call, tag, left }, &below, &mut effects);
        let is_done = self.follow(now, layer, effects, Some((call, finished)));
        if let Some(owner) = call
            && left == 0
            && !is_done
        {
            // The layer goes on with it, now or later.
            self.requests[owner].critical = Some(self.paths.insert(*finished));
        }
    }

    /// A request has what it asked for, but for a copy of its data.
    #[inline]
    fn complete(&mut self, now: Nanos, number: usize, by: Option<&Finished>, copy: Option<Nanos>) {
        let InFlight { id, request, sender, issued, critical, .. } = self.requests.remove(number);
        if let Some(critical) = critical {
            self.paths.remove(critical);
        }
        let mut row = answer(&self.system, id, &request, issued, now, by);
        match copy {
            None => self.deliver(now, &row, sender),
            Some(copy) => {
                row.finish += copy;
                row.phases.overhead += copy;
                let number = self.copies.insert((row, sender));
                self.calendar.schedule(row.finish, Event::Copied(number));
            }
        }
    }

    /// Whoever sent a request gets to know that it is complete.
    #[inline]
    pub(super) fn deliver(&mut self, now: Nanos, row: &CompletionRow, sender: Sender) {
        let user = match sender {
            Sender::Host { user } => user,
            Sender::Raw { user, driver_id } => {
                let row = CompletionRow { id: driver_id, ..*row };
                self.driver.push(DriverRow { row, origin: Origin::Raw });
                user
            }
            Sender::Layer { layer, call, tag, origin } => {
                self.driver.push(DriverRow { row: *row, origin });
                return self.part_done(now, layer, call, tag, &mut Finished::of_row(row));
            }
            Sender::Above { layer, call, tag, path } => {
                let mut finished = Finished::of_row(row);
                if let Some(path) = path {
                    finished = finished.after(&self.paths.remove(path));
                }
                return self.part_done(now, layer, call, tag, &mut finished);
            }
        };
        self.in_flight -= 1;
        self.note_completion(row);
        self.completed.push((*row, user));
    }
}

impl SubRequest {
    #[inline]
    fn new(sent: Nanos, layer: usize, call: Option<usize>, tag: usize, unit: usize, piece: &Piece) -> Self {
        let (place, &Piece { op, background, sectors, .. }) = (Place::default(), piece);
        let is_empty = sectors == 0;
        Self {
            layer,
            call,
            tag,
            unit,
            op,
            sent,
            path: None,
            outcome: 0,
            joined: None,
            place,
            background,
            is_empty,
        }
    }
}
