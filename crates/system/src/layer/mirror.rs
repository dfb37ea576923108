//! The same data on every drive: writes go to all, a read to the one that can be expected to have it first.

use headstack_units::{Lba, Nanos, Op};

use super::read_choice::{Chooser, Copy};
use super::{Below, Call, Completed, Effect, Layer, Members, UnitMap, Volume};
use crate::spec::ArrayOptions;

/// A volume whose drives hold the same data.
#[derive(Clone, Debug)]
pub(crate) struct Mirror {
    /// The drives that have not failed.
    copies: Vec<UnitMap>,
    chooser: Chooser,
    sectors: u64,
}

impl Mirror {
    fn nearest(&mut self, call: &Call, below: &dyn Below) -> usize {
        let copies: Vec<Copy<'_>> = self.copies.iter().map(|drive| Copy { drive, lba: call.lba }).collect();
        self.chooser.choose(&copies, call.sectors, below)
    }
}

impl Layer for Mirror {
    fn call(&mut self, _now: Nanos, call: &Call, below: &dyn Below, effects: &mut Vec<Effect>) {
        let copies = match call.op {
            Op::Write => 0..self.copies.len(),
            Op::Read => {
                let nearest = self.nearest(call, below);
                nearest..nearest + 1
            }
        };
        for copy in &self.copies[copies] {
            copy.map(call.lba, call.sectors, |range| effects.push(call.send(range)));
        }
    }

    fn completed(&mut self, _now: Nanos, child: &Completed, _below: &dyn Below, effects: &mut Vec<Effect>) {
        effects.extend(child.done_with_all());
    }
}

impl Volume for Mirror {
    const TAKES: &'static [&'static str] = &["read_choice", "failed_drives"];

    fn check(level: &str, drives: usize, options: &ArrayOptions) -> Option<String> {
        if drives < 2 {
            return Some(format!(
                "level \"{level}\" takes two drives or more, not {drives}; use level = \"single\""
            ));
        }
        (options.failed_drives.len() >= drives).then(|| "data are lost: every drive has failed".to_owned())
    }

    fn new(members: Members) -> Self {
        let sectors = members.drives.iter().map(UnitMap::sectors).min().unwrap_or(0);
        let chooser = Chooser::new(members.options.read_choice);
        let failed = members.failed();
        let alive =
            members.drives.into_iter().zip(failed).filter_map(|(drive, failed)| (!failed).then_some(drive));
        Self { copies: alive.collect(), chooser, sectors }
    }

    fn sectors(&self) -> u64 {
        self.sectors
    }

    fn unit_of(&self, lba: Lba) -> usize {
        self.copies[0].unit_of(lba)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layer::{Target, UnitPart};
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
