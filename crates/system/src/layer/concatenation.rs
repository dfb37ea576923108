//! One drive after the other; a single drive is the simplest case.

use headstack_units::{Lba, Nanos};

use super::{Below, Call, Completed, Effect, Layer, Members, UnitMap, UnitRange, Volume};
use crate::spec::ArrayOptions;

/// A volume whose drives lie one after the other.
#[derive(Clone, Debug)]
pub(crate) struct Concatenation {
    units: UnitMap,
}

impl Layer for Concatenation {
    #[inline]
    fn call(&mut self, _now: Nanos, call: &Call, _below: &dyn Below, effects: &mut Vec<Effect>) {
        self.units.map(call.lba, call.sectors, |range| effects.push(call.send(range)));
    }

    #[inline]
    fn completed(&mut self, _now: Nanos, child: &Completed, _below: &dyn Below, effects: &mut Vec<Effect>) {
        effects.extend(child.done_with_all());
    }
}

impl Volume for Concatenation {
    const IS_STATELESS: bool = true;

    fn check(level: &str, drives: usize, _options: &ArrayOptions) -> Option<String> {
        (level == "single" && drives > 1)
            .then(|| format!("level \"single\" takes one drive, not {drives}; use level = \"concatenation\""))
    }

    fn new(members: Members) -> Self {
        Self { units: UnitMap::joined(members.drives) }
    }

    fn sectors(&self) -> u64 {
        self.units.sectors()
    }

    fn unit_of(&self, lba: Lba) -> usize {
        self.units.unit_of(lba)
    }

    #[inline]
    fn whole(&self, call: &Call) -> Option<UnitRange> {
        self.units.on_first(call.lba, call.sectors)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layer::{Target, UnitPart};
    use headstack_units::{Op, RequestFlags};

    #[test]
    fn a_request_over_the_end_of_a_drive_is_complete_when_both_parts_are() {
        let drive = |unit| UnitMap::new(vec![UnitPart::new(unit, 100, 512, 512)]);
        let mut volume = Concatenation::new(Members::plain(vec![drive(0), drive(1)], 8));
        let call = Call {
            number: 7,
            device: 0,
            op: Op::Read,
            lba: Lba(95),
            sectors: 8,
            flags: RequestFlags::default(),
        };
        let mut effects = Vec::new();
        volume.call(Nanos(0), &call, &(), &mut effects);
        let sent: Vec<_> = effects
            .drain(..)
            .map(|effect| match effect {
                Effect::Send { call, to: Target::Unit(unit), piece, .. } => {
                    (call, unit, piece.lba.0, piece.sectors)
                }
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(sent, [(Some(7), 0, 95, 5), (Some(7), 1, 0, 3)]);
        for (left, done) in [(1, 0), (0, 1)] {
            let child = Completed { call: Some(7), tag: 0, left };
            volume.completed(Nanos(9), &child, &(), &mut effects);
            assert_eq!(effects.len(), done);
        }
    }
}
