//! The same data on every drive: writes go to all, a read to the one that can be expected to have it first.

use headstack_units::{Lba, Nanos, Op};

use super::array::{Geometry, Held, Redundant, Repair};
use super::read_choice::{Chooser, Copy};
use super::stripes::Span;
use super::{Below, Call, Completed, Effect, Layer, Members, Volume};
use crate::spec::ArrayOptions;

/// A volume whose drives hold the same data.
#[derive(Clone, Debug)]
pub(crate) struct Mirror {
    core: Box<Redundant>,
    chooser: Chooser,
}

impl Mirror {
    fn nearest(&mut self, call: &Call, below: &dyn Below) -> Option<usize> {
        let drives = self.core.array.holders(call, Held::All);
        let copy = |&drive: &usize| Copy { drive: &self.core.drives[drive], lba: call.lba };
        let copies: Vec<Copy<'_>> = drives.iter().map(copy).collect();
        (!copies.is_empty()).then(|| drives[self.chooser.choose(&copies, call.sectors, below)])
    }

    /// Begins the writes that need not wait any more.
    fn begin_waiting(&mut self, effects: &mut Vec<Effect>) {
        for call in self.core.admitted() {
            for drive in self.core.array.holders(&call, Held::Any) {
                self.send(&call, drive, effects);
            }
        }
    }

    fn send(&self, call: &Call, drive: usize, effects: &mut Vec<Effect>) {
        let (from, to) = (call.lba.0, call.lba.0 + u64::from(call.sectors));
        call.send_span(&self.core.drives, Span { drive, from, to }, effects);
    }
}

impl Layer for Mirror {
    fn start(&mut self, effects: &mut Vec<Effect>) {
        self.core.start(effects);
    }

    fn call(&mut self, _now: Nanos, call: &Call, below: &dyn Below, effects: &mut Vec<Effect>) {
        match call.op {
            Op::Write => {
                self.core.ask(call);
                self.begin_waiting(effects);
            }
            Op::Read => {
                if let Some(drive) = self.nearest(call, below) {
                    self.send(call, drive, effects);
                }
            }
        }
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

impl Volume for Mirror {
    const TAKES: &'static [&'static str] =
        &["read_choice", "unequal_drives", "spindles", "failed_drives", "failures", "spares", "rebuild"];

    fn check(level: &str, drives: usize, options: &ArrayOptions) -> Option<String> {
        if drives < 2 {
            return Some(format!(
                "level \"{level}\" takes two drives or more, not {drives}; use level = \"single\""
            ));
        }
        (options.failed_count() >= drives).then(|| "data are lost: every drive has failed".to_owned())
    }

    fn new(members: Members) -> Self {
        let chooser = Chooser::new(members.options.read_choice);
        let geometry = Geometry::Mirror { drives: members.drives.len() };
        Self { core: Redundant::boxed(members, geometry, false), chooser }
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

    /// Commands on the way, and where the arm was sent last, of each drive.
    struct Arms([(u64, u64); 2]);

    impl Below for Arms {
        fn load(&self, unit: usize) -> u64 {
            self.0[unit].0
        }

        fn last_end(&self, unit: usize) -> u64 {
            self.0[unit].1
        }
    }

    fn sent(op: Op, arms: [(u64, u64); 2]) -> Vec<(usize, u64)> {
        let drive = |unit| UnitMap::new(vec![UnitPart::new(unit, 1000 + unit as u64, 512, 512)]);
        let mut mirror = Mirror::new(Members::plain(vec![drive(0), drive(1)], 8));
        assert_eq!(mirror.sectors(), 1000);
        let flags = RequestFlags::default();
        let call = Call { number: 0, device: 0, op, lba: Lba(500), sectors: 8, flags };
        let mut effects = Vec::new();
        mirror.call(Nanos(0), &call, &Arms(arms), &mut effects);
        let command = |effect| match effect {
            Effect::Send { to: Target::Unit(unit), piece, .. } => (unit, piece.lba.0),
            other => panic!("{other:?}"),
        };
        effects.into_iter().map(command).collect()
    }

    #[test]
    fn writes_go_to_both_and_reads_to_the_nearer_of_the_least_busy() {
        assert_eq!(sent(Op::Write, [(0, 0), (9, 500)]), [(0, 500), (1, 500)]);
        assert_eq!(sent(Op::Read, [(0, 480), (0, 519)]), [(1, 500)]);
        assert_eq!(sent(Op::Read, [(0, 480), (0, 520)]), [(0, 500)]);
        assert_eq!(sent(Op::Read, [(1, 500), (0, 0)]), [(1, 500)]);
    }
}
