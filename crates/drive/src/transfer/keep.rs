//! Data of a cached write are brought to where they are kept, in addition to the buffer.

use super::Parts;
use super::destage::claim;
use super::log::Keeping;
use crate::command::{Busy, Phases, Work};
use crate::mechanism::Arm;
use crate::model::{DriveModel, Log, Store};
use headstack_units::{Angle, Nanos, Op};

/// Data are where they are kept.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kept {
    pub(super) at: Nanos,
    /// The time it took.
    pub(super) phases: Phases,
    pub(super) busy: Busy,
}

/// Brings `sectors` that are in the buffer at `received` to where they are kept.
pub(super) fn keep(
    model: &DriveModel,
    store: &Store,
    parts: &mut Parts,
    sectors: u64,
    received: Nanos,
) -> Kept {
    match store {
        Store::Buffer => Kept { at: received, phases: Phases::default(), busy: Busy::default() },
        Store::Flash(flash) => {
            let other = flash.write(sectors * u64::from(model.sector_bytes()));
            let at = received + other;
            parts.log.tell(|narrative| {
                narrative.kept.push(step("wait", (received, at), None, "data into the flash memory"));
            });
            Kept { at, phases: Phases { other, ..Phases::default() }, busy: Busy::default() }
        }
        Store::Log(log) => write_record(model, log, parts, sectors, received),
    }
}

fn step(
    label: &'static str,
    (start, end): (Nanos, Nanos),
    track: Option<(u32, u32)>,
    note: &'static str,
) -> Keeping {
    Keeping { label, start, end, track, note }
}

/// A record goes to the log: to the nearest reserved track, and there where the head lands.
fn write_record(model: &DriveModel, log: &Log, parts: &mut Parts, sectors: u64, received: Nanos) -> Kept {
    let claim = claim(model, parts, received);
    let media = parts.mechanism.media(model, claim.at);
    let track = log.nearest(claim.arm.cylinder);
    let ready = claim.at + media.seek(claim.arm, &track, Op::Write);
    let physical = Angle(track.slot_width.0.saturating_mul(model.sizes.physical));
    let into = (media.epoch.angle(ready) - track.start).0 % physical.0.max(1);
    let begin = track.start + Angle((media.epoch.angle(ready) - track.start).0 - into);
    let start = if into == 0 { ready } else { media.epoch.next(ready, begin + physical) };
    let whole = sectors.next_multiple_of(model.sizes.physical);
    let turn = track.slot_width.as_turns() * whole as f64;
    let at = start + Nanos((turn * media.epoch.period()).ceil() as u64);
    parts.mechanism.release(Work::Command, claim.at, at, Arm::over(&track));
    let (seek, rotation, transfer) = (ready - claim.at, start - ready, at - start);
    parts.log.tell(|narrative| {
        let on = Some(Arm::over(&track).track());
        narrative.kept = vec![
            step("wait", (received, claim.at), None, "the mechanism was busy with other work"),
            step("seek", (claim.at, ready), on, "to the nearest track of the log"),
            step("rotation", (ready, start), on, "the next physical sector of the log comes"),
            step("transfer", (start, at), on, "a record of the log"),
        ];
    });
    Kept {
        at,
        phases: Phases { other: claim.at - received, seek, rotation, transfer, ..Phases::default() },
        busy: Busy { seek, rotation, transfer, bus: Nanos::ZERO },
    }
}
