//! What a caller is told while probes run.

/// How far a probe is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// The probe.
    pub probe: &'static str,
    /// Accesses so far.
    pub samples: u64,
    /// Time since it began, on the device's clock, in s.
    pub elapsed_s: f64,
    /// How long it was expected to take, on the device's clock, in s.
    pub expected_s: f64,
    /// How long the probes after it are expected to take, by what was known when it began.
    pub rest_s: f64,
}

/// What is told and asked while measuring; `false` stops.
pub(crate) type Listener<'a> = &'a mut dyn FnMut(&Progress) -> bool;
