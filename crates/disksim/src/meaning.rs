//! Two readings of the same parameters.

/// What the parameters mean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Meaning {
    /// What the drives did that they were made for, as far as measured traces tell.
    #[default]
    Measured,
    /// What DiskSim 4.0 does with them.
    Disksim,
}

impl Meaning {
    /// Every meaning, and its word.
    pub const ALL: [(Self, &'static str); 2] = [(Self::Measured, "measured"), (Self::Disksim, "disksim")];
}
