"""What a calibration found, parameter by parameter, in words: for people, and for the drive file's head comment."""

from __future__ import annotations

from math import floor, log10
from typing import TYPE_CHECKING, Any

from headstack.validation import lock_words

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Row = dict[str, Any]
NOT_IN_FILE = "not in the file"


def describe_head(summary: Mapping[str, Any], trace: str) -> list[str]:
    """Return the paragraphs of the drive file's head comment."""
    split, train, test = summary["split"], summary["train"], summary["test"]

    def scores(part: dict[str, Any]) -> str:
        return " to ".join(
            f"{part[when]['per_request']['mae_ms']:.3f} ms ({part[when]['per_request']['mae_percent']:.2f} %)"
            for when in ("before", "after")
        )

    changed = changed_rows(summary["parameters"])
    unknown = not_identifiable(summary["parameters"])
    scored = (
        f"the same, each request by a drive fitted to the other {split['folds'] - 1} of {split['folds']} blocks"
        if "folds" in split
        else f"the other {split['test_requests']:,}, to which nothing was fitted"
    )
    paragraphs = [
        f"{summary['system']}, corrected by `headstack calibrate` from the first {split['train_requests']:,} measured "
        f"requests of {trace}.",
        f"Mean error per request, {lock_words(summary['phase']['after'])}: {scores(train)} on these; {scores(test)} on {scored}. Demerit there: "
        f"{test['before']['demerit_percent']:.2f} to {test['after']['demerit_percent']:.2f} %.",
    ]
    if changed:
        paragraphs.append("Changed: " + "; ".join(_change(row) for row in changed) + ".")
    else:
        paragraphs.append("No parameter proved wrong; the angles and the speed are as the phase lock found them.")
    if unknown:
        paragraphs.append("Not identifiable from these requests, and left as they were: " + ", ".join(unknown) + ".")
    return paragraphs


def not_identifiable(rows: Sequence[Row]) -> list[str]:
    """Return the names of the parameters that the training requests do not identify; of whole lists, the list's."""
    by_path: dict[str, list[Row]] = {}
    for row in rows:
        by_path.setdefault(row["path"], []).append(row)
    names = []
    for path, elements in by_path.items():
        unknown = [row["name"] for row in elements if not row["identifiable"]]
        names += [path] if len(unknown) == len(elements) else unknown
    return names


def changed_rows(rows: Sequence[Mapping[str, Any]]) -> list[Any]:
    """Return the rows of the parameters whose value is another than before, by more than the rounding of a computation."""
    return [row for row in rows if not _is_same(row["before"], row["after"])]


def _is_same(before: Any, after: Any) -> bool:
    if isinstance(before, float) and isinstance(after, (int, float)) and before != after:
        return _digits(before, KEPT) == _digits(after, KEPT)
    return bool(before == after)


def values(row: Mapping[str, Any]) -> tuple[str, str]:
    """Write the value before and the one after, with as many digits as tell them apart."""
    before, after = row["before"], row["after"]
    if before is None:
        return _absent(row), _absent(row) if after is None else value(after)
    written = value(before), value(after)
    if written[0] == written[1] and not _is_same(before, after):
        return _digits(before, KEPT), _digits(after, KEPT)
    return written


def told_values(row: Mapping[str, Any]) -> tuple[str, str]:
    """Write the values before and after, the latter with no more decimals than its interval makes sensible."""
    before, after = values(row)
    ends = row["ci95"]
    if ends is None or not isinstance(row["after"], float) or "e" in after:
        return before, after
    decimals = min(len(after.partition(".")[2]), _resolved(*ends))
    short = f"{row['after']:.{decimals}f}"
    return before, after if short == before and after != before else short


def _resolved(low: Any, high: Any) -> int:
    """The decimals with which an interval's width has three figures: more say nothing. Without a width, as many as there are."""
    width = high - low if isinstance(low, float) and isinstance(high, float) else 0.0
    return max(0, 2 - floor(log10(width))) if width > 0 else KEPT


def _absent(row: Mapping[str, Any]) -> str:
    """Say that the file has no value, and what the drive goes by instead."""
    default = row.get("by_default")
    return NOT_IN_FILE if default is None else f"{NOT_IN_FILE} ({value(default)} by default)"


def verdict(row: Mapping[str, Any]) -> str:
    """Say whether the old value was wrong.

    It may cost everything alone, and a drive with it be as good nevertheless: one in which others changed, too.
    """
    if row["wrong"]:
        return "yes"
    before = row["by_default"] if row["before"] is None else row["before"]
    joint, alone = row.get("ci95"), row.get("ci95_others_held")
    if before is None or joint is None or alone is None:
        return "not clear"
    if _holds(joint, before) and not _holds(alone, before):
        return "not clear: others make up for it"
    return "not clear"


def _holds(interval: Sequence[float | None], value: float) -> bool:
    low, high = interval
    return (low is None or low <= value) and (high is None or value <= high)


COLUMNS_SAY = (
    "gain alone: by how much the error of training requests grows where the old value alone is put back, and in percent of that "
    "larger error; 95 % interval: the values that fit about as well as the fitted one, with the other parameters refitted; wrong "
    "before: the old value is not among them"
)


def _change(row: Row) -> str:
    before, after = values(row)
    return f"{row['name']} {before} -> {after}"


def span(low: Any, high: Any) -> str:
    """Write an interval, both ends with the same decimals; an end that nothing bounds is left open."""
    ends = ["…" if end is None else value(end) for end in (low, high)]
    decimals = min(max(len(end.partition(".")[2]) for end in ends), _resolved(low, high))
    is_plain = all(isinstance(end, float) for end in (low, high)) and not any("e" in end for end in ends)
    return " to ".join([f"{low:.{decimals}f}", f"{high:.{decimals}f}"] if is_plain else ends)


def value(it: Any) -> str:
    """Write a value for people."""
    if isinstance(it, bool):
        return "true" if it else "false"
    return _digits(it, 6) if isinstance(it, float) else str(it)


KEPT = 12
"""Digits in which two values are compared: those behind them are the computation's."""


def _digits(it: float, digits: int) -> str:
    return f"{it:.{digits}g}"
