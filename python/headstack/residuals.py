"""Where a model is wrong: its error request by request, and by class of request.

The error is model − measured: negative where the model is faster than the drive. The scores of a validation come from
the core; here is only how its table of times breaks down.
"""

from __future__ import annotations

import re
from itertools import combinations
from typing import TYPE_CHECKING, Any, cast

import polars as pl

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from headstack._core import Table
    from headstack.results.validations import ResidualClass

NEAR_CYLINDERS = 32
"""An arm that goes no farther spends most of a seek on settling."""

REVOLUTION_TOLERANCE = 0.1
"""An error is about whole revolutions if it is within so much of a revolution of them."""

NOTHING_MS = 0.001
"""Times are measured to a microsecond at best: what is less than that is rounding, which no class of requests explains."""

CLASS = ("op", "guess", "after", "place")
"""What a class is made of: direction, what the model's cache did, direction of the request before, and how far the arm
had to go from it. The last two are null where the request before is not known."""

OPS = {"read": "reads", "write": "writes"}
GUESSES = {
    "hit": "predicted as cache hits",
    "partial-hit": "predicted as partial cache hits",
    "miss": "predicted as cache misses",
    "reported-early": "reported early",
}
_RUNG = re.compile(r"M[0-9]_ms")
# A group that takes one more word must hold so much more of the error.
_PER_WORD = 0.02
# Below this lead of the share of the error over the share of the requests, no group stands out.
_STANDS_OUT = 0.1


def residual_frame(times: Table, rotation_ms: float | None) -> pl.DataFrame:
    """The table of times with the model's error, and what can be said about each request.

    Adds `model_ms` (of a ladder: its highest rung, which is the drive as it stands), `error_ms`, `guess`, `after`,
    `place`, `revolutions` (the error in revolutions) and `revolutions_off` (the whole revolutions in it, 0 where it is not close to
    any).
    """
    frame = pl.DataFrame(times)
    if "model_ms" not in frame.columns:
        rungs = sorted(name for name in frame.columns if _RUNG.fullmatch(name))
        frame = frame.with_columns(model_ms=rungs[-1])
    if "seek_cylinders" in frame.columns:
        ends = pl.col("lba") + pl.col("sectors")
        place = (
            pl.when(ends.shift().is_null())
            .then(None)
            .when(pl.col("lba") == ends.shift())
            .then(pl.lit("sequential"))
            .when(pl.col("seek_cylinders") <= NEAR_CYLINDERS)
            .then(pl.lit("near"))
            .otherwise(pl.lit("far"))
        )
        frame = frame.with_columns(after=pl.col("op").shift(), place=place)
    else:
        # Of several drives or arms, the request before in the table says nothing about where this one's arm stood.
        frame = frame.with_columns(pl.lit(None, pl.String).alias(name) for name in ("after", "place"))
    error = pl.col("model_ms") - pl.col("measured_ms")
    revolutions = error / rotation_ms if rotation_ms else pl.lit(None, pl.Float64)
    whole = revolutions.round()
    return frame.with_columns(
        error_ms=error,
        guess="cache",
        revolutions=revolutions,
        revolutions_off=pl.when((revolutions - whole).abs() <= REVOLUTION_TOLERANCE)
        .then(whole)
        .when(revolutions.is_not_null())
        .then(0.0),
    )


def classes(frame: pl.DataFrame, by: Sequence[str] = CLASS) -> list[ResidualClass]:
    """The requests by class, the class with the largest share of the total error first.

    Each has the keys of `by`, `requests`, `requests_share`, `measured_mean_ms`, `bias_ms` (the mean error), `mae_ms` (the
    mean size of the error), `error_share` (of the sum of the errors' sizes), and `revolutions_early_share` and
    `revolutions_late_share`: how many of its requests the model completes whole revolutions too early or too late (null where
    the drive's rotation is not known). Shares are between 0 and 1.
    """
    size = pl.col("error_ms").abs()
    total = _total(frame) or 1.0
    found = (
        frame.group_by(by)
        .agg(
            requests=pl.len(),
            requests_share=pl.len() / (len(frame) or 1),
            measured_mean_ms=pl.col("measured_ms").mean(),
            bias_ms=pl.col("error_ms").mean(),
            mae_ms=size.mean(),
            error_share=size.sum() / total,
            revolutions_early_share=(pl.col("revolutions_off") < 0).mean(),
            revolutions_late_share=(pl.col("revolutions_off") > 0).mean(),
        )
        .sort("error_share", *by, descending=[True, *(False for _ in by)])
        .to_dicts()
    )
    return cast("list[ResidualClass]", found)


def worst(frame: pl.DataFrame, count: int) -> pl.DataFrame:
    """The requests with the largest errors, the worst first; of equal ones the earliest."""
    return frame.sort(pl.col("error_ms").abs(), "id", descending=[True, False]).head(count)


def class_words(group: Mapping[str, Any]) -> str:
    """A class in words: "near reads after a write, predicted as cache misses"."""
    words = [group.get("place"), OPS.get(group.get("op", ""), "requests")]
    if group.get("after"):
        words.append(f"after a {group['after']}")
    guess = group.get("guess")
    return " ".join(word for word in words if word) + (f", {GUESSES[guess]}" if guess else "")


def is_exact(frame: pl.DataFrame) -> bool:
    """Whether there is no error that could be somewhere."""
    return not (frame["error_ms"].abs() >= NOTHING_MS).any()


def where(frame: pl.DataFrame) -> list[str]:
    """Where the error is, in a sentence or two."""
    if is_exact(frame):
        return ["there is no error: every request takes as long as measured, to the microsecond"]
    total = _total(frame)
    sentences = []
    group = _leader(frame)
    if group is None:
        largest = classes(frame)[0]
        sentences.append(
            f"no kind of request stands out: the largest class, {class_words(largest)}, has "
            f"{_percent(largest['error_share'])} of the total error and {_percent(largest['requests_share'])} of the requests"
        )
    else:
        sentences.append(
            f"{_percent(group['error_share'])} of the total error is in {group['requests']:,} {class_words(group)} "
            f"({_percent(group['requests_share'])} of the requests)"
        )
    off = frame.filter(pl.col("revolutions_off") != 0)
    if len(off):
        sentences.append(
            f"{_percent(_total(off) / total)} of the error is in requests that are whole revolutions off: "
            f"{len(off):,} ({_percent(len(off) / len(frame))})"
        )
    return sentences


def _total(frame: pl.DataFrame) -> float:
    return float(frame["error_ms"].abs().sum())


def _leader(frame: pl.DataFrame) -> ResidualClass | None:
    """Of all groups that some words of a class describe, the one whose share of the error leads that of the requests most.

    A group of all requests but a few leads by little, and so does one of a few; `None` where no group leads by much.
    """
    leader, best = None, _STANDS_OUT
    for count in range(1, len(CLASS) + 1):
        for by in combinations(CLASS, count):
            for group in classes(frame, by):
                lead = group["error_share"] - group["requests_share"] - _PER_WORD * (count - 1)
                if lead > best and all(group[word] is not None for word in by):
                    leader, best = group, lead
    return leader


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %" if share >= 0.0995 else f"{100 * share:.1f} %"
