//! The oldest arrival in each cylinder, and in ranges of them.

use headstack_units::Nanos;

/// A complete binary tree over the cylinders: the oldest arrival below each node, [`Nanos::MAX`] where none waits.
#[derive(Clone, Debug)]
pub(super) struct Ages(Vec<Nanos>);

impl Ages {
    /// Where none waits, in so many cylinders.
    pub(super) fn new(cylinders: usize) -> Self {
        Self(vec![Nanos::MAX; 2 * cylinders.next_power_of_two()])
    }

    /// How many cylinders the root spans.
    pub(super) fn span(&self) -> u32 {
        (self.0.len() / 2) as u32
    }

    /// The oldest below a node: 1 is the root, `2 * n` and `2 * n + 1` are the halves of `n`.
    #[inline]
    pub(super) fn below(&self, node: usize) -> Nanos {
        self.0[node]
    }

    /// The oldest in a cylinder.
    pub(super) fn of(&self, cylinder: usize) -> Nanos {
        self.0[self.0.len() / 2 + cylinder]
    }

    /// The oldest in a cylinder is another.
    pub(super) fn set(&mut self, cylinder: usize, oldest: Nanos) {
        let mut node = self.0.len() / 2 + cylinder;
        self.0[node] = oldest;
        while node > 1 {
            node /= 2;
            let below = self.0[2 * node].min(self.0[2 * node + 1]);
            if self.0[node] == below {
                return;
            }
            self.0[node] = below;
        }
    }
}
