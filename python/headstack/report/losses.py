"""What is absent from a trace of events, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headstack.counted import plural

if TYPE_CHECKING:
    from collections.abc import Mapping

# One request in so many without a half is more than the beginning and the end of a trace make.
_TORN = 20

# Where more than one response in so many is not known, the others hardly stand for all.
_MOST = 10


def unpaired_words(about: Mapping[str, Any]) -> str | None:
    """Why a trace of events comes to no requests, and what to record, if it has events."""
    if about.get("pairs") != 0 or "events" not in about:
        return None
    counts = about["events"]["by_action"]
    began, ended = counts.get("Q", 0) + counts.get("D", 0), counts.get("C", 0)
    if ended and not began:
        return (
            f"no request: of its events {ended:,} are completions, and none is a dispatch or a queueing, so that nobody knows when a "
            "request began; record those, too (blktrace without `-a complete`; block_rq_issue beside block_rq_complete)"
        )
    if began and not ended:
        return (
            f"no request: {began:,} of its events are dispatches or queueings, and none is a completion; record those, too "
            "(blktrace without `-a issue`; block_rq_complete beside block_rq_issue)"
        )
    if began:
        return f"no request: none of its {ended:,} completions is of one of the {began:,} dispatches and queueings"
    return None


def from_dispatch_words(about: Mapping[str, Any]) -> str | None:
    """What a response is where no queueing was traced."""
    if about.get("responses_from") != "dispatch" or not about["pairs"]:
        return None
    return (
        "from dispatch on: no queueing is traced (`Q`, block_bio_queue), and what a request waited before is not known"
    )


def lost_words(about: Mapping[str, Any]) -> list[str]:
    """What is known to be absent from a trace of events, and what was left out for it."""
    loss = about.get("loss")
    if not loss:
        return []
    kinds = (
        ("missing_cpus", "no file of processor"),
        ("empty_cpus", "an empty file of processor"),
        (
            "late_cpus",
            "what was told before the first event of processor",
        ),
        (
            "short_cpus",
            f"perhaps the end of {'the file' if about['format'] == 'blktrace' else 'the events'} of processor",
        ),
    )
    lost = [f"{what} {', '.join(map(str, loss[key]))}" for key, what in kinds if loss.get(key)]
    if loss["lost_events"]:
        numbered = about["format"] in ("blktrace", "blkparse")
        by = "by their running numbers" if numbered else "as the tracer says"
        lost.append(f"{plural(loss['lost_events'], 'event')} {by}")
    if loss["damaged_places"]:
        lost.append(f"{plural(loss['damaged_places'], 'place')} damaged or cut off")
    if loss.get("doubled_records"):
        lost.append(f"{loss['doubled_records']:,} records that were there before were left out")
    if loss.get("set_back_events"):
        cpus = ", ".join(map(str, loss["set_back_cpus"]))
        lost.append(
            f"the clock of processor {cpus} was set back: {loss['set_back_events']:,} of its events were left out"
        )
    torn = about["doubtful"] + about["without_queueing"] + about["orphan_completions"]
    if not lost and torn * _TORN > about["pairs"] > 0:
        where = (
            "no file tells of: perhaps the file of the highest processor is missing"
            if about["format"] == "blktrace"
            else "nothing else tells of: perhaps all of a processor are missing"
        )
        lost.append(f"events of {torn:,} requests, which {where}")
    if unknown := about["without_queueing"]:
        kept = "may come out far too short" if unknown * _MOST > about["pairs"] else "come out a little too short"
        lost.append(
            f"the responses of {unknown:,} of {about['pairs']:,} requests, and of long ones more often: those of the others {kept}"
        )
    if about["doubtful"]:
        lost.append(f"{about['doubtful']:,} pairs left out, as losses may have made them up")
    return lost
