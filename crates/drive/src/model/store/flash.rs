//! Flash memory that holds cached writes.

use crate::spec::FlashCacheSpec;
use headstack_units::Nanos;

/// What a write into flash takes.
#[derive(Clone, Debug)]
pub(crate) struct Flash {
    latency: Nanos,
    /// Time for one byte, in ns.
    ns_per_byte: f64,
}

impl Flash {
    pub(crate) fn new(spec: &FlashCacheSpec) -> Self {
        Self {
            latency: Nanos::from_ms(spec.write_latency_ms),
            ns_per_byte: spec.write_mb_per_s.map_or(0.0, |mb_per_s| 1e3 / mb_per_s),
        }
    }

    /// From having `bytes` to having them in flash.
    pub(crate) fn write(&self, bytes: u64) -> Nanos {
        self.latency + Nanos((bytes as f64 * self.ns_per_byte).round() as u64)
    }
}
