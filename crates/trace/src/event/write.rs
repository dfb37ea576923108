//! Requests as events: a queueing, a dispatch and a completion each, as far as the trace knows the instants.

use headstack_units::{Nanos, Op};

use super::{Action, Event, Marks};
use crate::{Request, RequestFlags};

/// The events of one request; `sector_bytes` is a multiple of 512. Without a measured start and finish only `Q` is known.
pub fn events_of(request: &Request, sector_bytes: u32) -> impl Iterator<Item = Event> {
    let unit = u64::from(sector_bytes / 512);
    let marks = if request.op == Op::Read { Marks::READ } else { Marks::WRITE };
    let event = Event {
        time: request.arrival,
        sector: request.lba.0.saturating_mul(unit),
        bytes: u32::try_from(u64::from(request.sectors) * unit * 512).unwrap_or(!511),
        pid: 0,
        device: request.device,
        cpu: 0,
        action: Action::Queue,
        marks,
    };
    let steps = [
        (request.arrival, Action::Queue),
        (request.start, Action::Issue),
        (request.finish, Action::Complete),
    ];
    let queued = !request.flags.contains(RequestFlags::ARRIVAL_UNKNOWN);
    let is_known =
        move |&(time, action): &(Nanos, Action)| time != Nanos::MAX && (queued || action != Action::Queue);
    steps.into_iter().filter(is_known).map(move |(time, action)| Event { time, action, ..event })
}
