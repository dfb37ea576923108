//! Two copies of a drive: whether all that is to come is the same with both.
//!
//! So a run can be taken up in the middle by a drive whose state was guessed, and kept if the guess turns out to be right. The
//! comparison holds for drives served in closed form ([`Drive::serve`]). It leaves out nothing that a command to come may depend
//! on: each part takes itself apart field by field, so that a new field is asked about when it comes. Only what cannot be told
//! from outside counts as equal: statistics, shifted counters, segments in another order.

use crate::buffer::Relabelling;
use crate::drive::Drive;
use crate::mechanism::BusyTimes;
use crate::transfer::Parts;

impl Parts {
    fn same_future(&self, other: &Self) -> Option<Relabelling> {
        // The log has been handed over, and what lies on the shelf is filled in anew.
        let Self { mechanism, buffer, history, log: _, shelf: _, under_way } = self;
        let is_same = *history == other.history
            && *under_way == other.under_way
            && mechanism.has_same_future(&other.mechanism);
        if is_same { buffer.same_future(&other.buffer) } else { None }
    }
}

impl Drive {
    /// Whether everything to come is the same with this drive and with `other`, both of the same model and in closed form;
    /// and which cache segments of the one are which of the other's. Unless that is the identity, it holds for as long as
    /// [`Drive::order_mattered`] says no.
    pub fn same_future(&self, other: &Self) -> Option<Relabelling> {
        let is_same = self.outstanding() == 0
            && other.outstanding() == 0
            && self.controller_free_at() == other.controller_free_at();
        if is_same { self.parts().same_future(other.parts()) } else { None }
    }

    /// Cache segments take the places `labels` says.
    pub fn relabel(&mut self, labels: &Relabelling) {
        if !labels.is_identity() {
            self.parts_mut().buffer.relabel(labels);
        }
    }

    /// Counts the mechanism's work from here on, and notes whether the order of cache segments decides something.
    pub fn begin_stretch(&mut self) {
        let parts = self.parts_mut();
        parts.mechanism.forget_busy();
        parts.buffer.watch_order();
    }

    /// Whether the order of cache segments decided something since [`Drive::begin_stretch`].
    pub fn order_mattered(&self) -> bool {
        self.parts().buffer.order_mattered()
    }

    /// Counts work that the mechanism did before.
    pub fn add_busy_times(&mut self, before: &BusyTimes) {
        self.parts_mut().mechanism.add_busy(before);
    }
}
