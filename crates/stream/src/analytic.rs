//! The paper's equation 1: what a request takes on average that finds the arm anywhere.

use crate::model::Model;
use headstack_units::{Nanos, Op, Rpm};

impl Model {
    /// Half a full stroke and half a revolution.
    pub(crate) fn positioning(&self) -> Nanos {
        let mechanism = &self.spec().mechanism;
        Nanos::from_ms(mechanism.full_stroke_ms / 2.0)
            + Nanos((Rpm(mechanism.rotation_rpm).period_ns() / 2.0).round() as u64)
    }

    /// The average service time of a request of so many bytes on a track anywhere, in ms: f/2 + r/2 + media transfer + l/i + h.
    ///
    /// The media transfer is the mean over all tracks of the bytes over the track's rate, and a switch for each mean track.
    pub fn average_service_time_ms(&self, bytes: u64) -> f64 {
        let (cache, mechanism) = (&self.spec().cache, &self.spec().mechanism);
        let kilobytes = bytes as f64 / 1e3;
        let mean_track = self.capacity_bytes() as f64 / self.tracks() as f64;
        let heads = f64::from(mechanism.heads);
        let switch_ms = ((heads - 1.0) * mechanism.head_switch_ms + mechanism.cylinder_switch_ms) / heads;
        let media_ms = kilobytes * self.mean_of_inverse_rate() + bytes as f64 / mean_track * switch_ms;
        // Reads and writes alike.
        let interface = 0.5 * (cache.interface(Op::Read) + cache.interface(Op::Write));
        let overhead_ms = 0.5 * (cache.overhead(Op::Read) + cache.overhead(Op::Write));
        self.positioning().as_ms() + media_ms + kilobytes / interface + overhead_ms
    }

    /// The mean of 1 / rate over the tracks, the rate falling evenly from one end to the other, in s per MB.
    fn mean_of_inverse_rate(&self) -> f64 {
        let (outer, inner) = (self.spec().mechanism.outer_mb_per_s, self.spec().mechanism.inner_mb_per_s);
        let span = outer - inner;
        if span < 1e-6 * outer { 1.0 / outer } else { (outer / inner).ln() / span }
    }
}
