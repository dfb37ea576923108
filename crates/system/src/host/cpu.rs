//! The processor that issues requests: one at a time, in order.

use headstack_units::Nanos;

/// A CPU with a fixed cost per request.
#[derive(Clone, Copy, Debug)]
pub struct Cpu {
    cost: Nanos,
    free_at: Nanos,
}

impl Cpu {
    /// A free CPU that takes `cost` per request.
    pub fn new(cost: Nanos) -> Self {
        Self { cost, free_at: Nanos::ZERO }
    }

    /// What a request costs.
    pub fn cost(&self) -> Nanos {
        self.cost
    }

    /// When the processing of a request that arrives now is done; what came before goes first.
    pub fn done_at(&mut self, arrival: Nanos) -> Nanos {
        self.free_at = self.free_at.max(arrival).saturating_add(self.cost);
        self.free_at
    }
}
