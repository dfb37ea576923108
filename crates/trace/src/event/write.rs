//! I/Os as events: what happened to each, as far as the trace knows the instants.

use headstack_units::{Nanos, Op};

use super::{Action, Event, Marks};
use crate::{Io, Kind, RequestFlags};

/// The events of an I/O, of sectors of 512 bytes. Without a measured start and finish only `Q` is known.
pub fn events_of(io: &Io) -> impl Iterator<Item = Event> + use<> {
    let request = &io.request;
    let event = Event {
        time: request.arrival,
        sector: request.lba.0,
        bytes: u32::try_from(u64::from(request.sectors) * 512).unwrap_or(!511),
        pid: io.pid,
        device: request.device,
        cpu: 0,
        action: Action::Queue,
        marks: marks_of(io),
    };
    // A flush that nobody asked for is part of a write.
    let asked = io.kind != Kind::Flush || request.flags.contains(RequestFlags::FLUSH);
    let is_queued = io.response_known && asked && !request.flags.contains(RequestFlags::ARRIVAL_UNKNOWN);
    let queued = if is_queued { request.arrival } else { Nanos::MAX };
    let steps = [
        (queued, Action::Queue),
        (io.got, Action::GetRequest),
        (io.inserted, Action::Insert),
        (request.start, Action::Issue),
        (request.finish, Action::Complete),
    ];
    let known = steps.into_iter().filter(|(time, _)| *time != Nanos::MAX);
    known.map(move |(time, action)| Event { time, action, ..event })
}

fn marks_of(io: &Io) -> Marks {
    let direction = match (io.kind, io.request.op) {
        (Kind::Discard, _) => Marks::DISCARD.with(Marks::WRITE),
        (Kind::Flush, Op::Read) => Marks::FLUSH,
        (Kind::Flush, Op::Write) => Marks::FLUSH.with(Marks::WRITE),
        (_, Op::Read) => Marks::READ,
        (_, Op::Write) => Marks::WRITE,
    };
    let flags = io.request.flags;
    let others = [
        (io.sync, Marks::SYNC),
        (flags.contains(RequestFlags::FLUSH), Marks::FLUSH),
        (flags.contains(RequestFlags::FORCE_MEDIA), Marks::FUA),
    ];
    others.into_iter().filter(|(is, _)| *is).fold(direction, |marks, (_, mark)| marks.with(mark))
}
