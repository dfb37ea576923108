//! Reads of drives that look them up when the command comes in, or let them wait for early writes.

use super::{Cached, Decoded, cached_part, from_buffer, from_media, from_read_ahead, hit_overhead};
use crate::buffer::Lookup;
use crate::mechanism::Media;
use crate::transfer::{Driver, Parts, Turn};
use headstack_units::Nanos;

/// The controller turns to a read and looks it up.
pub(super) fn dispatch<D: Driver>(
    media: &Media<'_>,
    parts: &mut Parts,
    turn: &Turn,
    miss: &Decoded,
    driver: D,
) -> D::Output {
    let hit = hit_overhead(media, parts, turn);
    match parts.buffer.look_up_received(media, turn.range(), turn.at) {
        Lookup::Hit => from_buffer(media, parts, turn, &Decoded::new(turn, hit), driver),
        Lookup::InFlight { cached } => {
            let part = cached_part(media.model, turn, miss, cached, hit);
            from_read_ahead(media, parts, turn, &part, cached, driver)
        }
        Lookup::Partial { cached, segment } => {
            let part = cached_part(media.model, turn, miss, cached, hit);
            let held = parts.stop_read_ahead(media, turn.at);
            let cached = Cached { sectors: cached, segment: Some(segment), part: Some(part) };
            from_media(media, parts, turn, &Decoded { held, ..miss.clone() }, &cached, driver)
        }
        Lookup::Miss => {
            let held = parts.stop_read_ahead(media, turn.at);
            from_media(media, parts, turn, &Decoded { held, ..miss.clone() }, &Cached::NONE, driver)
        }
    }
}

/// Early writes are on the media at `until`, and the read waits for that, even if the buffer holds it.
#[cold]
pub(super) fn after_early_writes<D: Driver>(
    media: &Media<'_>,
    parts: &mut Parts,
    turn: &Turn,
    miss: &Decoded,
    until: Nanos,
    driver: D,
) -> D::Output {
    let at = until.max(miss.done);
    let mut waited = miss.clone();
    waited.lead.other += at - miss.done;
    waited.done = at;
    waited.left_bus = true;
    match parts.buffer.look_up_received(media, turn.range(), until) {
        Lookup::Hit => from_buffer(media, parts, turn, &waited, driver),
        Lookup::Partial { cached, segment } => {
            let cached = Cached { sectors: cached, segment: Some(segment), part: Some(waited) };
            from_media(media, parts, turn, miss, &cached, driver)
        }
        Lookup::InFlight { .. } | Lookup::Miss => from_media(media, parts, turn, miss, &Cached::NONE, driver),
    }
}
