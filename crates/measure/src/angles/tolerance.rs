//! How far what is measured may lie from what it is held against: the allowances that a search and the reading of its record
//! must share, or that stand for what drives do.

/// What an access may be off its sector's angle, in turns.
pub(crate) const OFF_ANGLE: f64 = 0.04;
/// By how many units a line may bend where it has been followed: where no sector is slipped, …
pub(crate) const STRAIGHT: f64 = 0.03;
/// … and where some are.
pub(crate) const BENT: f64 = 0.25;
