//! What a drive knows of a read that looks it up when the command comes in, and what hits mean for its read-ahead.

use super::prefetch::Prefetch;
use super::{Buffer, Lookup, read_ahead};
use crate::mechanism::{Arm, GivesWay, Media, Release};
use crate::spec::CacheSpec;
use headstack_units::Nanos;

impl Buffer {
    /// The controller turns to another command.
    #[inline]
    pub(crate) fn begin_command(&mut self) {
        self.stopped = None;
    }

    /// What the buffer knows of a read at `now`: what comes in later does not count.
    pub(crate) fn look_up_received(
        &mut self,
        media: &Media<'_>,
        (lba, end): (u64, u64),
        now: Nanos,
    ) -> Lookup {
        self.early.forget_written(now);
        if self.is_unwritten(lba, end) {
            return Lookup::Hit;
        }
        self.settle(media, now);
        if end - lba > media.model.sizes.bypass {
            return Lookup::Miss;
        }
        let filling = self.filling_at(now);
        let segment = self.segments.find_held(lba, end, filling);
        segment.map_or(Lookup::Miss, |segment| self.found(media, (lba, end), segment, now))
    }

    /// A hit up to `end` in `segment` at `now`: read-ahead for that goes on to where it would end behind this read, and one
    /// for another segment ends. Where nothing is being read ahead it may begin anew, from the end of the segment on. Tells
    /// what becomes of the arm, if it is let go.
    pub(super) fn follow_hit(
        &mut self,
        media: &Media<'_>,
        segment: usize,
        end: u64,
        now: Nanos,
        rest: Release,
        sequential: bool,
    ) -> Option<Release> {
        let held = self.segments.get(segment);
        let stop = read_ahead::stop(media.model, sequential, end, held.start, self.segments.size())
            .min(media.model.layout.capacity());
        match self.filling_at(now) {
            Some(filling) if filling == segment => {
                self.prefetch = self.prefetch.and_then(|ahead| {
                    if stop <= ahead.stop() {
                        Some(ahead)
                    } else if ahead.is_at_stop(now) {
                        // What had passed before the head landed is left out.
                        let arm = Arm::over(&ahead.pass().extent);
                        Prefetch::begin(media, segment, now.max(rest.at), arm, ahead.stop(), stop)
                    } else {
                        Some(ahead.on_to(stop))
                    }
                });
            }
            Some(_) => return self.give_way(media, now),
            None if held.end < stop && media.model.cache().is_some_and(CacheSpec::reads_on_after_hits) => {
                let arm = self.prefetch.map_or(rest.arm, |ahead| Arm::over(&ahead.pass().extent));
                let begin = now.max(rest.at);
                self.prefetch = Some(Prefetch::set_out(media, segment, (begin, arm), held.end, stop));
            }
            None => {}
        }
        None
    }

    /// A read has not sent what lies from `unsent` on before `until`: read-ahead into its segment waits for room, if it
    /// comes that far. Tells whether it does.
    pub(crate) fn keep_unsent(&mut self, media: &Media<'_>, unsent: u64, until: Nanos) -> bool {
        let size = self.segments.size();
        self.prefetch.as_mut().is_some_and(|ahead| ahead.wait_for_room(media, unsent + size, until))
    }

    /// Whether read-ahead may come so far that it needs the room of `unsent`, which lies in its segment.
    #[inline]
    pub(crate) fn may_need_room_of(&self, unsent: u64) -> bool {
        self.prefetch.as_ref().is_some_and(|ahead| {
            self.segments.get(ahead.segment()).start <= unsent
                && unsent <= ahead.stop()
                && unsent + self.segments.size() < ahead.stop()
        })
    }
}
