//! The same data on every drive: writes go to all, a read to the one that can be expected to have it first.

use headstack_units::{Lba, Nanos, Op};

use super::{Below, Call, Completed, Effect, Layer, UnitMap, Volume};

/// A volume whose drives hold the same data.
#[derive(Clone, Debug)]
pub(crate) struct Mirror {
    copies: Vec<UnitMap>,
}

impl Mirror {
    /// The copy to read from: that whose drive has fewest commands; of equals the one whose arm was sent nearest, as far as
    /// addresses tell; of equals the first.
    fn nearest(&self, call: &Call, below: &dyn Below) -> Option<&UnitMap> {
        let cost = |copy: &&UnitMap| {
            let (mut load, mut distance) = (0, None);
            copy.map(call.lba, call.sectors, |range| {
                load = below.load(range.unit).max(load);
                // Where a drive has several actuators, the one on which the request begins decides.
                distance.get_or_insert(below.last_end(range.unit).abs_diff(range.lba.0));
            });
            (load, distance)
        };
        self.copies.iter().min_by_key(cost)
    }
}

impl Layer for Mirror {
    fn call(&mut self, _now: Nanos, call: &Call, below: &dyn Below, effects: &mut Vec<Effect>) {
        let nearest = self.nearest(call, below).filter(|_| call.op == Op::Read);
        let copies = nearest.map_or(&self.copies[..], std::slice::from_ref);
        for copy in copies {
            copy.map(call.lba, call.sectors, |range| effects.push(call.send(range)));
        }
    }

    fn completed(&mut self, _now: Nanos, child: &Completed, _below: &dyn Below, effects: &mut Vec<Effect>) {
        effects.extend(child.done_with_all());
    }
}

impl Volume for Mirror {
    fn check(_level: &str, drives: usize) -> Option<String> {
        (drives < 2).then(|| format!("takes two drives or more, not {drives}; use level = \"single\""))
    }

    fn new(drives: Vec<UnitMap>) -> Self {
        Self { copies: drives }
    }

    fn sectors(&self) -> u64 {
        self.copies.iter().map(UnitMap::sectors).min().unwrap_or(0)
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
        let mut mirror = Mirror::new(vec![drive(0), drive(1)]);
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
