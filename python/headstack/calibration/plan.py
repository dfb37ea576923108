"""One round of a calibration: which lines are searched, in which order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headstack.calibration.parameters import KNOT_PATH, TIMES_MS, Choice, Number
from headstack.calibration.search import Line, Point, choose, descend, descend_together, single

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headstack.calibration.objective import Objective

# The settle of writes by distance is a dozen values: together they must gain this share of the error.
LEAST_SHARE_OF_KNOTS = 0.02
# Where else a search begins: this much taken from before the media work to behind it, and this fence.
ROOM_MS = 0.2
FENCE_KIB = 8.0
# Another start must lead to an error that is smaller by this share.
LEAST_SHARE_OF_A_START = 0.02


def fit_round(
    objective: Objective,
    start: Point,
    numbers: Sequence[Number],
    choices: Sequence[Choice],
    *,
    small: bool,
) -> Point:
    """Search every line once; `small` is for rounds that begin near the best."""
    point = start
    plain = [number for number in numbers if number.path != KNOT_PATH]
    knots = [number for number in numbers if number.path == KNOT_PATH]
    for line in [*map(single, plain), *exchanges(plain)]:
        point = descend(objective, point, line, small=small)
    # Twice: what is read ahead and what a hit does to it, for one, depend on each other.
    for choice in [*choices, *choices]:
        point = choose(objective, point, choice)
    if knots:
        point = descend_together(objective, point, knots, LEAST_SHARE_OF_KNOTS)
    # What depends on what was found since: with small steps once more, and along the whole way of the round.
    for line in map(single, plain):
        point = descend(objective, point, line, small=True)
    return _along(objective, start, point, plain)


def other_starts(objective: Objective, start: Point, numbers: Sequence[Number]) -> list[Point]:
    """Return drives to begin with that no line leads to: with room below the completions, and with a fence or without.

    The first changes no time by itself; what it allows is found afterwards.
    """
    by_path: dict[str, list[Number]] = {}
    for number in numbers:
        by_path.setdefault(number.path, []).append(number)
    points = []
    fences = by_path.get("buffer.read_fence_kib", [])
    for line in _gauge(by_path)[-1:]:
        shifted = line.at(start.values, ROOM_MS)
        if shifted is None:
            continue
        tried = [shifted, *(fence.put(shifted, FENCE_KIB) for fence in fences if fence.high >= FENCE_KIB)]
        for values in tried:
            errors = objective.errors(values)
            if errors is not None:
                points.append(Point(values, errors))
    return points


def exchanges(numbers: Sequence[Number]) -> list[Line]:
    """Return lines along which the sum of the times stays, or a pair moves together.

    Time before the media work and time after it add up alike, but only the first can miss a revolution: along the axes
    alone the search would climb a ridge.
    """
    by_path: dict[str, list[Number]] = {}
    for number in numbers:
        by_path.setdefault(number.path, []).append(number)
    lines = []
    for operation in ("read", "write"):
        history = "controller.by_history."
        after = by_path.get(f"controller.{operation}_completion_ms", [])
        miss = by_path.get(f"{history}{operation}_miss_ms", [])
        hit = by_path.get(f"{history}{operation}_hit_ms", [])
        plain = by_path.get(f"controller.{operation}_overhead_ms", [])
        seek = by_path.get(f"{history}{operation}_seek_after_ms", [])
        rate = by_path.get(f"bus.{operation}_mb_per_s", [])
        before = [*miss, *hit, *plain]
        groups: list[list[tuple[Number, float]]] = [
            [(number, 1.0) for number in miss],
            [(number, 1.0) for number in seek],
            [(number, 1.0) for number in [*miss, *seek]],
            [(number, 1.0) for number in before],
        ]
        if after:
            groups += [
                [*((number, -1.0) for number in before), (after[0], 1.0)],
                [*((number, -1.0) for number in miss), (after[0], 1.0)],
                [*((number, -1.0) for number in [*before, *seek]), (after[0], 1.0)],
            ]
        if rate:
            # A bus that is a tenth faster, and overheads that make up for it on a transfer of a millisecond.
            groups.append([(rate[0], 0.2), *((number, 0.2) for number in before)])
        lines += [Line(tuple(group), group[0][0].steps) for group in groups if len(group) > 1]
    lines += _gauge(by_path)
    rates = [*by_path.get("bus.read_mb_per_s", []), *by_path.get("bus.write_mb_per_s", [])]
    if len(rates) == 2:
        lines.append(Line(((rates[0], 1.0), (rates[1], 1.0)), rates[0].steps))
    settles = [by_path.get(f"mechanics.{operation}_settle_ms", []) for operation in ("read", "write")]
    if all(settles):
        lines.append(Line(((settles[0][0], 1.0), (settles[1][0], 1.0)), settles[0][0].steps))
    return lines


def _gauge(by_path: dict[str, list[Number]]) -> list[Line]:
    """Return lines that shift the phase of the whole drive.

    Nobody sees the spindle: as much off everything before the media work, of reads and writes alike, as is put behind it
    changes no time at all. It lets one completion grow against the other that is already 0.
    """
    history = "controller.by_history."
    before: list[tuple[Number, float]] = []
    for operation in ("read", "write"):
        for path in (
            f"{history}{operation}_miss_ms",
            f"{history}{operation}_hit_ms",
            f"{history}{operation}_seek_after_ms",
            f"controller.{operation}_overhead_ms",
        ):
            before += [(number, -1.0) for number in by_path.get(path, [])]
    before += [(number, -1.0) for number in by_path.get(f"{history}read_hit_at_rest_ms", [])]
    after = [by_path.get(f"controller.{operation}_completion_ms", []) for operation in ("read", "write")]
    # Part of it would be no shift but a change.
    whole = any(
        all(path in by_path for path in paths)
        for paths in (
            [
                f"{history}{operation}_{kind}_ms"
                for operation in ("read", "write")
                for kind in ("miss", "hit", "seek_after")
            ],
            ["controller.read_overhead_ms", "controller.write_overhead_ms"],
        )
    )
    if not (whole and all(after)):
        return []
    reads, writes = ((numbers[0], 1.0) for numbers in after)
    return [Line((*before, *behind), TIMES_MS) for behind in ((reads,), (writes,), (reads, writes))]


def _along(objective: Objective, start: Point, end: Point, numbers: Sequence[Number]) -> Point:
    parts = []
    for number in numbers:
        old, new = number.value(start.values), number.value(end.values)
        way = new / old - 1.0 if number.relative and old else new - old
        if way:
            parts.append((number, way))
    return descend(objective, end, Line(tuple(parts), (0.1, 0.3, 1.0))) if len(parts) > 1 else end
