//! RAID 0: stripe units go round the drives.

use headstack_units::{Lba, Nanos};

use super::stripes::{Span, Stripes, joined};
use super::{Below, Call, Completed, Effect, Layer, Members, UnitMap, Volume};

/// A volume whose stripe units go round its drives, without redundancy.
#[derive(Clone, Debug)]
pub(crate) struct Striping {
    drives: Vec<UnitMap>,
    stripes: Stripes,
}

impl Striping {
    fn spans(&self, lba: Lba, sectors: u32) -> Vec<Span> {
        let (unit, drives) = (self.stripes.unit, self.drives.len() as u64);
        let span = |chunk: super::stripes::Chunk| {
            let start = chunk.number / drives * unit;
            Span { drive: (chunk.number % drives) as usize, from: start + chunk.from, to: start + chunk.to }
        };
        joined(self.stripes.chunks(lba.0, sectors).map(span).collect())
    }
}

impl Layer for Striping {
    fn call(&mut self, _now: Nanos, call: &Call, _below: &dyn Below, effects: &mut Vec<Effect>) {
        for span in self.spans(call.lba, call.sectors) {
            call.send_span(&self.drives, span, effects);
        }
    }

    fn completed(&mut self, _now: Nanos, child: &Completed, _below: &dyn Below, effects: &mut Vec<Effect>) {
        effects.extend(child.done_with_all());
    }
}

impl Volume for Striping {
    const IS_STATELESS: bool = true;
    const TAKES: &'static [&'static str] = &["stripe_unit_kib", "unequal_drives", "spindles"];

    fn check(level: &str, drives: usize, _options: &crate::spec::ArrayOptions) -> Option<String> {
        (drives < 2).then(|| format!("level \"{level}\" takes two drives or more, not {drives}"))
    }

    fn new(members: Members) -> Self {
        let stripes = Stripes::new(members.stripe_unit, &members.drives);
        Self { drives: members.drives, stripes }
    }

    fn sectors(&self) -> u64 {
        self.stripes.rows * self.stripes.unit * self.drives.len() as u64
    }

    fn unit_of(&self, lba: Lba) -> usize {
        let span = self.spans(lba, 1)[0];
        self.drives[span.drive].unit_of(Lba(span.from))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layer::UnitPart;

    #[test]
    fn a_request_is_one_command_for_each_drive_however_long() {
        let drive = |unit| UnitMap::new(vec![UnitPart::new(unit, 1_000, 512, 512)]);
        let volume = Striping::new(Members::plain((0..3).map(drive).collect(), 8));
        assert_eq!(volume.sectors(), 3 * 1_000);
        let spans = |lba, sectors| -> Vec<(usize, u64, u64)> {
            volume.spans(Lba(lba), sectors).iter().map(|span| (span.drive, span.from, span.to)).collect()
        };
        assert_eq!(spans(9, 3), [(1, 1, 4)]);
        assert_eq!(spans(4, 8), [(0, 4, 8), (1, 0, 4)]);
        // Eight units from the fourth on: three rows, of which the first and the last are not whole.
        assert_eq!(spans(3 * 8, 8 * 8), [(0, 8, 32), (1, 8, 32), (2, 8, 24)]);
    }
}
