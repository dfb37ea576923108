//! `rotation`: comes back to one sector after random pauses. Completions lie whole turns apart, whatever the overhead.

use crate::MeasureError;
use crate::record::Role;
use crate::session::Session;
use headstack_units::Nanos;

/// Series 0: at once, to see the turn; series 1: over a long time, to see it exactly.
pub(super) fn run(session: &mut Session<'_>) -> Result<(), MeasureError> {
    let unit = session.unit();
    // Away from the start, which hosts and drives like to treat in their own way.
    let lba = (session.sectors() / 64).next_multiple_of(unit);
    for (series, count, longest_ms) in [(0, 100, 20.0), (1, 200, 60.0)] {
        for step in 0..count {
            if !session.mode.is_write() {
                session.evict((series, step))?;
            }
            let pause = longest_ms * session.below(1 << 20) as f64 / f64::from(1 << 20);
            let now = session.device.now();
            session.device.wait_until(now + Nanos::from_ms(pause))?;
            let access = session.one(session.mode, lba);
            session.take((series, step), Role::Measure, access)?;
        }
    }
    Ok(())
}
