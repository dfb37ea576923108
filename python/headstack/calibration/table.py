"""What a calibration found, parameter by parameter: for programs, for the drive file, and for its head comment."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headstack.calibration.evidence import CLEARLY_WORSE, gain, known_range
from headstack.calibration.objective import difference

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headstack.calibration.objective import Objective
    from headstack.calibration.parameters import Choice, Number, Values
    from headstack.calibration.search import Point

Row = dict[str, Any]


def rows(
    objective: Objective, fitted: Point, before: Values, numbers: Sequence[Number], choices: Sequence[Choice]
) -> list[Row]:
    """Return one row a parameter, in the order in which they were fitted."""
    table = []
    for number in numbers:
        span = known_range(objective, fitted, number)
        row = _row(objective, fitted, before, number)
        known = span.low is not None or span.high is not None
        row |= {"ci95": [span.low, span.high] if known else None, "identifiable": span.identifiable}
        if number.at_cylinders is not None:
            row["at_cylinders"] = number.at_cylinders
        table.append(row)
    for choice in choices:
        row = _row(objective, fitted, before, choice)
        row |= {"ci95": None, "as_good": _as_good(objective, fitted, choice)}
        row["identifiable"] = not row["as_good"]
        table.append(row)
    return table


def _row(objective: Objective, fitted: Point, before: Values, parameter: Number | Choice) -> Row:
    changed = parameter.changed(fitted.values, before)
    after = parameter.value(fitted.values)
    row: Row = {"name": parameter.name, "path": parameter.path}
    row |= {"before": parameter.value(before) if changed else after, "after": after, "wrong": False}
    if not changed:
        return row | {"gain_ms": 0.0, "gain_percent": 0.0, "t": 0.0}
    row |= gain(objective, fitted, parameter.restored(fitted.values, before))
    row["wrong"] = row["t"] >= CLEARLY_WORSE
    return row


def _as_good(objective: Objective, fitted: Point, choice: Choice) -> list[Any]:
    """The other words that the train part cannot tell from the fitted one."""
    now = choice.value(fitted.values)
    found = []
    for option in choice.options:
        if option == now and type(option) is type(now):
            continue
        errors = objective.errors(fitted.values.with_(choice.path, option))
        if errors is not None and difference(errors, fitted.errors).t < CLEARLY_WORSE:
            found.append(option)
    return found


def sources(summary: dict[str, Any], values: Values, trace: str) -> dict[str, str]:
    """Return how each changed value came about, by path: one sentence a path, whatever the elements of its list."""
    split, train = summary["split"], summary["train"]
    by_path: dict[str, list[Row]] = {}
    for row in summary["parameters"]:
        if row["before"] != row["after"] and row["path"] in values.replaced:
            by_path.setdefault(row["path"], []).append(row)
    old, new = (train[when]["per_request"]["mae_ms"] for when in ("before", "after"))
    told = {}
    for path, changed in by_path.items():
        was = ", ".join(_was(row) for row in changed)
        told[path] = (
            f"fitted to the first {split['train_requests']:,} requests of {trace}, where the mean error per request fell "
            f"from {old:.3f} to {new:.3f} ms; before: {was}"
        )
    return told


def _was(row: Row) -> str:
    where = f" at {row['at_cylinders']} cylinders" if "at_cylinders" in row else ""
    return f"{value(row['before'])}{where} (alone worth {row['gain_ms']:.4f} ms)"


def describe_head(summary: dict[str, Any], trace: str) -> list[str]:
    """Return the paragraphs of the drive file's head comment."""
    split, train, test = summary["split"], summary["train"], summary["test"]

    def scores(part: dict[str, Any]) -> str:
        return " to ".join(
            f"{part[when]['per_request']['mae_ms']:.3f} ms ({part[when]['per_request']['mae_percent']:.2f} %)"
            for when in ("before", "after")
        )

    changed = [row for row in summary["parameters"] if row["before"] != row["after"]]
    unknown = not_told(summary["parameters"])
    paragraphs = [
        f"{summary['system']}, corrected by `headstack calibrate` from the first {split['train_requests']:,} measured "
        f"requests of {trace}.",
        f"Mean error per request, phase-locked: {scores(train)} on these; {scores(test)} on the other "
        f"{split['test_requests']:,}, to which nothing was fitted. Demerit there: "
        f"{test['before']['demerit_percent']:.2f} to {test['after']['demerit_percent']:.2f} %.",
    ]
    if changed:
        paragraphs.append("Changed: " + "; ".join(_change(row) for row in changed) + ".")
    else:
        paragraphs.append("No parameter proved wrong; the angles and the speed are as the phase lock found them.")
    if unknown:
        paragraphs.append("Not told by these requests, and left as they were or not to be relied on: "
                          + ", ".join(unknown) + ".")  # fmt: skip
    return paragraphs


def not_told(rows: Sequence[Row]) -> list[str]:
    """Return the names of the parameters that the train part does not bound; of whole lists, the list's."""
    by_path: dict[str, list[Row]] = {}
    for row in rows:
        by_path.setdefault(row["path"], []).append(row)
    names = []
    for path, elements in by_path.items():
        unknown = [row["name"] for row in elements if not row["identifiable"]]
        names += [path] if len(unknown) == len(elements) else unknown
    return names


def _change(row: Row) -> str:
    return f"{row['name']} {value(row['before'])} -> {value(row['after'])}"


def value(it: Any) -> str:
    """Write a value for people."""
    if isinstance(it, bool):
        return "true" if it else "false"
    return f"{it:.6g}" if isinstance(it, float) else str(it)
