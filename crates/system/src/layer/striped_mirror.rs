//! RAID 10: stripe units go round the drives, each of them on several neighbouring ones (Linux md calls it *near*).

use headstack_units::{Lba, Nanos, Op};

use super::array::{Band, Geometry, Redundant, Repair};
use super::read_choice::{Chooser, Copy};
use super::stripes::{Chunk, Span, joined};
use super::{Below, Call, Completed, Effect, Layer, Members, Volume};
use crate::spec::ArrayOptions;

/// A volume of which every stripe unit is on `copies` drives.
#[derive(Clone, Debug)]
pub(crate) struct StripedMirror {
    core: Box<Redundant>,
    chooser: Chooser,
}

impl StripedMirror {
    /// Where a chunk lies: its copies that are there.
    fn copies(&self, Chunk { number: stripe, from, to }: Chunk) -> Vec<Span> {
        let array = &self.core.array;
        let present = (0..array.geometry.members()).filter(|&copy| array.is_present(stripe, copy));
        present.map(|copy| array.span(Band { stripe, from, to }, copy)).collect()
    }

    fn chunks(&self, call: &Call) -> impl Iterator<Item = Chunk> + use<> {
        self.core.array.chunks().chunks(call.lba.0, call.sectors)
    }

    fn nearest(&mut self, spans: &[Span], below: &dyn Below) -> Option<Span> {
        let Span { from, to, .. } = *spans.first()?;
        let copy = |span: &Span| Copy { drive: &self.core.drives[span.drive], lba: Lba(span.from) };
        let copies: Vec<Copy<'_>> = spans.iter().map(copy).collect();
        Some(spans[self.chooser.choose(&copies, (to - from) as u32, below)])
    }

    /// Begins the writes that need not wait any more.
    fn begin_waiting(&mut self, effects: &mut Vec<Effect>) {
        for call in self.core.admitted() {
            let spans = self.chunks(&call).flat_map(|chunk| self.copies(chunk)).collect();
            self.send(&call, spans, effects);
        }
    }

    fn send(&self, call: &Call, spans: Vec<Span>, effects: &mut Vec<Effect>) {
        for span in joined(spans) {
            call.send_span(&self.core.drives, span, effects);
        }
    }
}

impl Layer for StripedMirror {
    fn start(&mut self, effects: &mut Vec<Effect>) {
        self.core.start(effects);
    }

    fn call(&mut self, _now: Nanos, call: &Call, below: &dyn Below, effects: &mut Vec<Effect>) {
        if call.op == Op::Write {
            self.core.ask(call);
            return self.begin_waiting(effects);
        }
        let mut spans = Vec::new();
        for chunk in self.chunks(call) {
            let copies = self.copies(chunk);
            spans.extend(self.nearest(&copies, below));
        }
        self.send(call, spans, effects);
    }

    fn completed(&mut self, now: Nanos, child: &Completed, _below: &dyn Below, effects: &mut Vec<Effect>) {
        effects.extend(child.done_with_all());
        self.core.part_completed(now, child, effects);
        self.begin_waiting(effects);
    }

    fn timer(&mut self, now: Nanos, tag: u32, effects: &mut Vec<Effect>) {
        self.core.timer(now, tag, effects);
        self.begin_waiting(effects);
    }
}

impl Volume for StripedMirror {
    const TAKES: &'static [&'static str] = &[
        "stripe_unit_kib",
        "copies",
        "read_choice",
        "unequal_drives",
        "spindles",
        "failed_drives",
        "failures",
        "spares",
        "rebuild",
    ];

    fn check(level: &str, drives: usize, options: &ArrayOptions) -> Option<String> {
        let copies = options.copies as usize;
        if copies < 2 {
            return Some(format!(
                "level \"{level}\" takes two copies or more, not {copies}; use level = \"raid-0\""
            ));
        }
        if drives < copies {
            return Some(format!(
                "level \"{level}\" with {copies} copies takes {copies} drives or more, not {drives}"
            ));
        }
        let is_lost = |first: &usize| {
            (0..copies).all(|copy| options.failed_drives.contains(&((first * copies + copy) % drives)))
        };
        let lost = (0..drives).find(is_lost)?;
        let holders: Vec<String> =
            (0..copies).map(|copy| ((lost * copies + copy) % drives).to_string()).collect();
        Some(format!("data are lost: every copy of some stripe units was on drives {}", holders.join(", ")))
    }

    fn new(members: Members) -> Self {
        let (drives, copies) = (members.drives.len(), members.options.copies as usize);
        let chooser = Chooser::new(members.options.read_choice);
        Self { core: Redundant::boxed(members, Geometry::Near { drives, copies }, false), chooser }
    }

    fn sectors(&self) -> u64 {
        self.core.sectors()
    }

    fn unit_of(&self, lba: Lba) -> usize {
        self.core.unit_of(lba)
    }

    fn repair(&self) -> Option<&Repair> {
        Some(self.core.repair())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layer::{Target, UnitMap, UnitPart};
    use headstack_units::RequestFlags;
    use std::collections::BTreeMap;

    fn volume(drives: usize, options: ArrayOptions) -> StripedMirror {
        let drive = |unit| UnitMap::new(vec![UnitPart::new(unit, 80, 512, 512)]);
        StripedMirror::new(Members { options, ..Members::plain((0..drives).map(drive).collect(), 8) })
    }

    fn sent(volume: &mut StripedMirror, op: Op, lba: u64, sectors: u32) -> Vec<(usize, u64, u32)> {
        let flags = RequestFlags::default();
        let call = Call { number: 0, device: 0, op, lba: Lba(lba), sectors, flags };
        let mut effects = Vec::new();
        volume.call(Nanos(0), &call, &(), &mut effects);
        let command = |effect| match effect {
            Effect::Send { to: Target::Unit(unit), piece, .. } => (unit, piece.lba.0, piece.sectors),
            other => panic!("{other:?}"),
        };
        effects.into_iter().map(command).collect()
    }

    #[test]
    fn every_sector_has_its_copies_on_different_drives_and_no_two_share_a_place() {
        for (drives, copies) in [(2, 2), (3, 2), (4, 2), (5, 3), (3, 3)] {
            let mut volume = volume(drives, ArrayOptions { copies, ..ArrayOptions::default() });
            let mut owner = BTreeMap::new();
            for lba in 0..volume.sectors() {
                let places = sent(&mut volume, Op::Write, lba, 1);
                assert_eq!(places.len(), copies as usize);
                for (drive, at, _) in places {
                    assert!(at < 80);
                    assert_eq!(owner.insert((drive, at), lba), None, "{drives} drives, {copies} copies");
                }
            }
        }
    }

    #[test]
    fn reads_take_turns_and_leave_out_what_failed() {
        let options = |failed_drives| ArrayOptions {
            read_choice: crate::spec::ReadChoice::RoundRobin,
            failed_drives,
            ..ArrayOptions::default()
        };
        let mut whole = volume(4, options(vec![]));
        let read = |volume: &mut StripedMirror| sent(volume, Op::Read, 0, 8)[0].0;
        assert_eq!([read(&mut whole), read(&mut whole), read(&mut whole)], [0, 1, 0]);
        let mut degraded = volume(4, options(vec![0]));
        assert_eq!([read(&mut degraded), read(&mut degraded)], [1, 1]);
        assert_eq!(sent(&mut degraded, Op::Write, 0, 8), [(1, 0, 8)]);
    }

    #[test]
    fn what_loses_data_is_refused() {
        let check = |drives, failed: &[usize]| {
            let options = ArrayOptions { failed_drives: failed.to_vec(), ..ArrayOptions::default() };
            StripedMirror::check("raid-10", drives, &options)
        };
        assert_eq!(check(4, &[0, 2]), None);
        assert!(check(4, &[2, 3]).unwrap().contains("drives 2, 3"));
        // With an odd number of drives the pairs go round: the last and the first hold one, too.
        assert!(check(3, &[0, 2]).unwrap().contains("drives 2, 0"));
        assert!(check(1, &[]).unwrap().contains("2 drives or more"));
    }
}
