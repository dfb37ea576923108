//! Which request the gaps of a trace belong to.

use std::sync::Arc;

use headstack_phase::Geometry;
use headstack_phase::gap::{GapVerdict, decide};
use headstack_trace::RequestSource;

use super::observe;
use crate::SystemError;
use crate::run::RunOptions;
use crate::system::System;

/// Compares the two readings of one trace, `after` and `before`, on the drive that has seen most of it; reads as many
/// requests as `options.requests` says.
///
/// # Errors
/// As [`run()`](crate::run()).
pub fn decide_gap(
    system: &Arc<System>,
    options: &RunOptions,
    after: Box<dyn RequestSource>,
    before: Box<dyn RequestSource>,
) -> Result<GapVerdict, SystemError> {
    let after = observe(system, options, after)?;
    let before = observe(system, options, before)?;
    let busiest = (0..after.len()).max_by_key(|&drive| after[drive].len()).unwrap_or(0);
    let spec = &system.config().drives[busiest].spec;
    let geometry = Geometry::new(&spec.layout);
    Ok(decide(&after[busiest], &before[busiest], &geometry, spec.rotation_rpm))
}
