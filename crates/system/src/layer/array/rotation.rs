//! How data and parity go round the drives of RAID 4, 5 and 6.

use crate::spec::ParityLayout;

/// Data and parity over drives: RAID 4, 5 and 6.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    /// Drives.
    pub(crate) drives: usize,
    /// Drives that survive together with none: parity units of a stripe.
    pub(crate) parities: usize,
    /// How parity goes round; `None` where it stays on the last drives.
    pub(crate) rotation: Option<ParityLayout>,
}

impl Layout {
    /// Data units of a stripe.
    pub(crate) fn data(&self) -> usize {
        self.drives - self.parities
    }

    /// The drive that holds a member of a stripe: data units first, then P, then Q.
    pub(crate) fn drive(&self, stripe: u64, member: usize) -> usize {
        let (n, data) = (self.drives, self.data());
        let Some(rotation) = self.rotation else { return member };
        let turn = (stripe % n as u64) as usize;
        let p = match rotation {
            ParityLayout::LeftSymmetric | ParityLayout::LeftAsymmetric => n - 1 - turn,
            ParityLayout::RightSymmetric | ParityLayout::RightAsymmetric => turn,
        };
        match rotation {
            _ if member >= data => (p + member - data) % n,
            ParityLayout::LeftSymmetric | ParityLayout::RightSymmetric => (p + self.parities + member) % n,
            ParityLayout::LeftAsymmetric | ParityLayout::RightAsymmetric => {
                // The drives in order, parity left out; Q of the last drive's P is on the first.
                let wrapped = (p + self.parities).saturating_sub(n);
                if member + wrapped < p { member + wrapped } else { member + self.parities }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    const ALL: [Option<ParityLayout>; 5] = [
        None,
        Some(ParityLayout::LeftSymmetric),
        Some(ParityLayout::LeftAsymmetric),
        Some(ParityLayout::RightSymmetric),
        Some(ParityLayout::RightAsymmetric),
    ];

    #[test]
    fn every_drive_holds_one_member_of_every_stripe() {
        for rotation in ALL {
            for (drives, parities) in [(3, 1), (4, 1), (5, 1), (4, 2), (5, 2), (8, 2)] {
                let layout = Layout { drives, parities, rotation };
                for stripe in 0..2 * drives as u64 {
                    let held: BTreeSet<usize> =
                        (0..drives).map(|member| layout.drive(stripe, member)).collect();
                    assert_eq!(held, (0..drives).collect(), "{layout:?}, stripe {stripe}");
                }
            }
        }
    }

    /// Rows of five drives as the md documentation draws them: a letter is parity, a number the stripe's data unit.
    #[test]
    fn the_rotations_are_those_of_md() {
        let drawn = |rotation, parities: usize| -> Vec<String> {
            let layout = Layout { drives: 5, parities, rotation: Some(rotation) };
            let row = |stripe| -> String {
                let mut row = vec![' '; 5];
                for member in 0..5 {
                    let data = 5 - parities;
                    let mark = if member < data { b'0' + member as u8 } else { b'P' + (member - data) as u8 };
                    row[layout.drive(stripe, member)] = mark as char;
                }
                row.into_iter().collect()
            };
            (0..5).map(row).collect()
        };
        assert_eq!(drawn(ParityLayout::LeftSymmetric, 1), ["0123P", "123P0", "23P01", "3P012", "P0123"]);
        assert_eq!(drawn(ParityLayout::LeftAsymmetric, 1), ["0123P", "012P3", "01P23", "0P123", "P0123"]);
        assert_eq!(drawn(ParityLayout::RightSymmetric, 1), ["P0123", "3P012", "23P01", "123P0", "0123P"]);
        assert_eq!(drawn(ParityLayout::RightAsymmetric, 1), ["P0123", "0P123", "01P23", "012P3", "0123P"]);
        assert_eq!(drawn(ParityLayout::LeftSymmetric, 2), ["Q012P", "012PQ", "12PQ0", "2PQ01", "PQ012"]);
        assert_eq!(drawn(ParityLayout::LeftAsymmetric, 2), ["Q012P", "012PQ", "01PQ2", "0PQ12", "PQ012"]);
    }
}
