//! Devices that dispatch nothing: device mapper, RAID, RAM disks. What is asked of them is at the device from its queueing on, so that it
//! waits as a dispatch does, and lost events show as they do there.

use headstack_units::{Lba, Nanos};

use super::active::Active;
use super::queued::Piece;
use super::tiling::{Near, tiles};
use super::together::Key;
use super::{Devices, Pairing, PairingRule};
use crate::event::{Event, Marks, Side};
use crate::{Io, Request};

/// So many completions of queued pieces, and never a dispatch, tell such a device.
const KNOWN: u32 = 8;

/// Completions of queued pieces, by device, until it is known.
#[derive(Clone, Debug, Default)]
pub(super) struct Undispatched {
    counts: Vec<(u32, u32)>,
    known: Devices,
    /// Pairs of those that were at the device from their queueing on.
    pub(super) pairs: u64,
    /// Completions of which the queueing is missing.
    pub(super) alone: u64,
    /// Sectors of the largest ever.
    longest: u64,
}

impl Undispatched {
    /// Those that a survey found.
    pub(super) fn of(known: Devices) -> Self {
        Self { known, ..Self::default() }
    }

    /// A queued piece of the device was completed, and none was ever dispatched.
    pub(super) fn completed(&mut self, device: u32) {
        if self.known.contains(device) {
            return;
        }
        let at = self.counts.iter().position(|(of, _)| *of == device).unwrap_or_else(|| {
            self.counts.push((device, 0));
            self.counts.len() - 1
        });
        self.counts[at].1 += 1;
        if self.counts[at].1 == KNOWN {
            self.known.insert(device);
        }
    }
}

impl Pairing {
    /// Whether a device is known to dispatch nothing. (btt waits for a completion as long as it takes.)
    #[inline]
    pub(super) fn dispatches_nothing(&self, device: u32) -> bool {
        self.rule == PairingRule::Strict
            && self.undispatched.known.contains(device)
            && !self.dispatching.contains(device)
    }

    /// The devices that are known to, after all of a trace or its beginning.
    pub(super) fn dispatch_nothing(&self) -> Devices {
        let known = self.undispatched.known.0.iter().copied();
        Devices(known.filter(|device| !self.dispatching.contains(*device)).collect())
    }

    /// What is asked of such a device is at it.
    pub(super) fn begin_undispatched(&mut self, event: &Event, side: Side) {
        let key = (event.device, event.sector, side);
        self.losses.services.begin();
        let joined = self.active.contains_key(&key);
        if joined {
            self.join(key);
        }
        self.undispatched.longest = self.undispatched.longest.max(u64::from(event.sectors()));
        if self.lossy {
            self.give_up_about(event, key);
            self.believe(None);
        }
        let request = Request {
            device: event.device,
            start: event.time,
            ..Request::new(event.time, event.marks.op(), Lba(event.sector), event.sectors())
        };
        let (kind, sync) = (event.marks.kind(event.bytes), event.marks.has(Marks::SYNC));
        let io = Io { kind, sync, pid: event.pid, ..Io::new(request) };
        let active = Active { is_dispatched: false, joined, ..Active::new(io, event, self.completions) };
        self.begin(key, active);
    }

    /// Sectors are asked for again: what has a part in them under another key, or waits as pieces do, lost its completion if it is too old.
    /// ([`Pairing::join`] sees to its own.)
    fn give_up_about(&mut self, event: &Event, own: Key) {
        let since = self.alive_since();
        let first = event.sector.saturating_sub(self.undispatched.longest);
        let about = (event.device, first, Side::Read)..(event.device, event.end(), Side::Read);
        let reaches_in = |list: &Vec<Active>| list.iter().any(|active| active.end > event.sector);
        let about = self.active.range(about).filter(|(key, list)| **key != own && reaches_in(list));
        let keys: Vec<Key> = about.map(|(key, _)| *key).collect();
        for key in keys {
            self.give_up_older(key, since);
        }
        self.counts.orphan_queued += self.queued.give_up_about(event, since);
    }

    /// Whether requests that wait there make up what is completed; where events are missing, each as a whole,
    /// and otherwise perhaps with what waits as pieces do.
    pub(super) fn make_up(&self, (device, first, side): Key, end: u64) -> bool {
        let within = self.active.range((device, first, Side::Read)..(device, end, Side::Read));
        let near = within.filter(|(key, _)| key.2 == side).flat_map(|(key, list)| {
            let whole = list.iter().filter(|active| !active.ended && (active.end <= end || !self.lossy));
            whole.map(|active| Near { start: key.1, index: 0, end: active.end })
        });
        tiles(&near.collect::<Vec<_>>(), first, end).is_some()
            || !self.lossy && self.queued.lie_about((device, first, end, side))
    }

    /// What was never dispatched is completed: as an I/O without a start.
    pub(super) fn end_undispatched(&mut self, active: &Active, event: &Event) -> Io {
        self.counts.undispatched += 1;
        self.undispatched.pairs += 1;
        let marks = event.marks.with(active.marks);
        let mut io = active.io;
        io.request.start = Nanos::MAX;
        io.request.flags = marks.request_flags();
        (io.kind, io.sync) = (marks.kind(event.bytes), marks.has(Marks::SYNC));
        io
    }

    /// What waits there and was not dispatched waits as queued pieces do: it is split, completed together with others or in parts, or
    /// dispatched after all.
    pub(super) fn wait_as_pieces(&mut self, device: u32, sectors: std::ops::Range<u64>, side: Option<Side>) {
        let range = (device, sectors.start, Side::Read)..(device, sectors.end, Side::Read);
        let is_asked = |key: &Key| side.is_none_or(|side| key.2 == side);
        let keys: Vec<_> = self.active.range(range).map(|(key, _)| *key).filter(is_asked).collect();
        for key in keys {
            let Some(list) = self.active.get_mut(&key) else { continue };
            for active in list.extract_if(.., |active| !active.is_dispatched && !active.ended) {
                self.queued.push_piece((key.0, key.1), Piece::of(&active, key.2));
            }
            if list.is_empty() {
                self.active.remove(&key);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::event;
    use super::*;
    use crate::event::Action::{self, Complete, Issue, Queue, Split};
    use crate::event::pairing::PairingCounts;

    type IsLost = fn(u64, Action) -> bool;

    /// Of 60 places in turn each is asked for every 600 ns, and takes 10 to 50; `is_lost` of what is done for the n-th time.
    fn asked(is_lost: IsLost) -> Vec<Event> {
        let mut events = Vec::new();
        for n in 0..4000 {
            let (at, sector) = (1000 + 10 * n, n % 60 * 8);
            events.push(event(at, Queue, sector, 8, "W"));
            events.push(event(at + 10 + n % 5 * 10, Complete, sector, 8, "W"));
        }
        events.sort_by_key(|event| event.time);
        let mut counts = [0, 0];
        events.retain(|event| {
            let count = &mut counts[usize::from(event.action == Complete)];
            *count += 1;
            !is_lost(*count, event.action)
        });
        events
    }

    fn push_all(pairing: &mut Pairing, events: &[Event]) {
        for event in events {
            pairing.push(event);
        }
    }

    /// As a trace is read: what its beginning tells, and then all of it.
    fn paired(events: &[Event]) -> (Vec<Io>, PairingCounts) {
        let mut first = Pairing::new(PairingRule::Strict);
        push_all(&mut first, events);
        let mut pairing = Pairing::surveyed(PairingRule::Strict, first.survey(true));
        let mut ios = Vec::new();
        push_all(&mut pairing, events);
        pairing.finish(&mut ios);
        (ios, pairing.counts().clone())
    }

    fn longest(ios: &[Io]) -> u64 {
        ios.iter().filter_map(Io::response).map(|response| response.0).max().unwrap()
    }

    #[test]
    fn nothing_is_dispatched_and_all_is_paired() {
        let (ios, counts) = paired(&asked(|_, _| false));
        assert_eq!((ios.len(), counts.undispatched, counts.orphans(), counts.doubtful), (4000, 4000, 0, 0));
        assert_eq!(longest(&ios), 50);
        assert!(ios.iter().all(|io| io.request.start == Nanos::MAX && io.response_known));
    }

    /// Each completion that is lost would leave another that waits for the next of its place.
    #[test]
    fn lost_completions_and_queueings_make_up_no_response() {
        let ways: [(IsLost, usize); 3] = [
            (|n, action| action == Complete && n % 2 == 0, 1900),
            (|n, action| action == Complete && n % 10 == 0, 3500),
            (|n, _| n % 20 == 0, 3500),
        ];
        for (is_lost, fewest) in ways {
            let (ios, counts) = paired(&asked(is_lost));
            assert!(longest(&ios) <= 50, "{} {counts:?}", longest(&ios));
            assert!(ios.len() >= fewest, "{} {counts:?}", ios.len());
            assert!(counts.orphan_queued > 100 && counts.orphan_dispatches == 0, "{counts:?}");
        }
    }

    /// Of 16 sectors the completion is lost; what is asked for since is another size there, after a completion of 8 lost its queueing, or
    /// has a part in them. Later a completion of 16 comes that lost its queueing, too.
    #[test]
    fn what_is_asked_for_since_in_another_size_ends_what_is_too_old() {
        let since: [&[Event]; 3] = [
            &[
                event(910, Complete, 1000, 8, "W"),
                event(4900, Queue, 1000, 8, "W"),
                event(4910, Complete, 1000, 8, "W"),
            ],
            &[event(4900, Queue, 1008, 8, "W"), event(4910, Complete, 1008, 8, "W")],
            &[event(4900, Queue, 1000, 8, "R"), event(4910, Complete, 1000, 8, "R")],
        ];
        for since in since {
            let mut events: Vec<_> = (0..400)
                .flat_map(|n| {
                    [
                        event(20 * n, Queue, n % 60 * 8, 8, "W"),
                        event(20 * n + 10, Complete, n % 60 * 8, 8, "W"),
                    ]
                })
                .collect();
            events.push(event(900, Queue, 1000, 16, "W"));
            events.extend_from_slice(since);
            events.push(event(7000, Complete, 1000, 16, "W"));
            events.sort_by_key(|event| event.time);
            let mut pairing = Pairing::default();
            pairing.events_are_missing();
            push_all(&mut pairing, &events);
            let mut ios = Vec::new();
            pairing.finish(&mut ios);
            assert_eq!((longest(&ios), pairing.lossy), (10, true), "{since:?}");
            assert!(ios.len() > 300, "{since:?} {}", ios.len());
        }
    }

    /// What is known to be at the device, then one in parts, two together, and a dispatch after all.
    #[test]
    fn what_is_completed_in_other_parts_waits_as_pieces_do() {
        let mut events: Vec<_> = (0..2 * u64::from(KNOWN))
            .flat_map(|n| [event(10 * n, Queue, 0, 8, "W"), event(10 * n + 5, Complete, 0, 8, "W")])
            .collect();
        events.extend([
            event(1000, Queue, 100, 16, "W"),
            event(1001, Split, 100, 8, "W"),
            event(1010, Complete, 108, 8, "W"),
            event(1020, Complete, 100, 8, "W"),
            event(1100, Queue, 200, 8, "W"),
            event(1101, Queue, 208, 8, "W"),
            event(1120, Complete, 200, 16, "W"),
            event(1200, Queue, 300, 8, "W"),
            event(1201, Issue, 300, 8, "W"),
            event(1230, Complete, 300, 8, "W"),
        ]);
        let mut pairing = Pairing::default();
        let mut ios = Vec::new();
        push_all(&mut pairing, &events);
        pairing.finish(&mut ios);
        let last: Vec<_> = ios.iter().filter(|io| io.request.arrival.0 >= 1000).collect();
        let mut found: Vec<_> =
            last.iter().map(|io| (io.request.lba.0, io.request.arrival.0, io.request.finish.0)).collect();
        found.sort_unstable();
        assert_eq!(found, [(100, 1000, 1020), (108, 1000, 1010), (200, 1100, 1120), (300, 1200, 1230)]);
        assert_eq!(last.iter().filter(|io| io.request.start.present().is_some()).count(), 1);
        assert_eq!(pairing.counts().orphans(), 0);
    }
}
