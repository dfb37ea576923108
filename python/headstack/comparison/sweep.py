"""The points of a sweep side by side; under each load, the first point is what the others are compared with."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from headstack import _core
from headstack.comparison import left_out, sweep_limits
from headstack.comparison.result import SCHEMA_VERSION, Difference, Metric
from headstack.counted import plural
from headstack.errors import InputError
from headstack.shown import Part, Shown, signed
from headstack.sweeping import cells, metrics, pareto, table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headstack.comparison.limits import Limit
    from headstack.results.comparisons import ComparisonSummary
    from headstack.sweeping.result import PointResult, Sweep

P99, WATTS = "response_ms.p99", "power.average_w"
CHANGES = 2
"""Of so many metrics the table of all points shows the change."""
FRONTS = ((WATTS, "watts"), (metrics.USD, "price"))
"""What is weighed against the 99th percentile of the response."""


def compare_sweep(sweep: Sweep, limits: Sequence[Limit]) -> SweepComparison:
    """Compare the points of a sweep with the first one under the same load."""
    if not sweep.complete:
        raise _nothing_to_compare(sweep)
    found = SweepComparison(sweep)
    found.failed, found.untested = sweep_limits.judge(found, limits)
    return found


def _nothing_to_compare(sweep: Sweep) -> InputError:
    """Why no point is complete: what the first that failed says, or that runs are lacking."""
    what = f"no point of the sweep in `{sweep.folder}` is complete"
    failures = [point.failure for point in sweep.failures if point.failure is not None]
    if not failures:
        return InputError(what, "headstack sweep … --resume goes on with it")
    first = failures[0]
    # Of a sweep file a hint names keys; what names options is of the command that made the folder otherwise.
    hint = f"{first.hint} (options of `explore`)" if first.hint and "--" in first.hint else first.hint
    return InputError(f"{what}: {len(failures)} failed, the first with: {first.error}", hint)


@dataclass(frozen=True)
class Front:
    """For each load, the points that no other beats both in the 99th percentile and in another cost, the quickest first."""

    metric: str
    word: str
    by_load: list[list[PointResult]]

    @property
    def points(self) -> list[PointResult]:
        """Those of all loads."""
        return [point for points in self.by_load for point in points]


class SweepComparison:
    """The points of a sweep side by side.

    Attributes
    ----------
    sweep
        The sweep.
    points
        Its complete points.
    loads
        The same, those under the same load together: what axes of the workload or the trace set is not the system's choice.
        The first of each is what the others are compared with.
    differences
        One for each of the others, by the number of the point. Runs of the same seed served the same requests, so the
        intervals are those of the differences seed by seed.
    failed
        The limits that are broken, and at which point; points that failed or are not complete break every limit.
    untested
        The limits that could not be asked of a point, since its runs do not tell the metric, and of which.
    """

    def __init__(self, sweep: Sweep) -> None:
        self.sweep = sweep
        self.points = sweep.complete
        self._load_axes = [axis.name for axis in sweep.definition.axes if axis.is_load]
        loads: dict[tuple[object, ...], list[PointResult]] = {}
        for point in self.points:
            loads.setdefault(tuple(point.values[name] for name in self._load_axes), []).append(point)
        self.loads = list(loads.values())
        self.differences = {
            other.point.number: self._difference(points[0], other) for points in self.loads for other in points[1:]
        }
        self.failed: list[str] = []
        self.untested: list[str] = []

    def alone(self) -> dict[int, Difference]:
        """Every point by itself, by its number: over all its seeds, and nothing changes."""
        names = self.sweep.definition.metrics
        known = [(point, {name: _mean(point, name) for name in names}) for point in self.points]
        return {
            point.point.number: Difference(
                point.label,
                {name: Metric(mean, mean, cells.unit(name), None) for name, mean in means.items() if mean is not None},
                None,
                None,
            )
            for point, means in known
        }

    def is_idle(self, number: int) -> bool:
        """Whether a run of the point, or of the one that it is compared with, has no request that was complete."""
        load = next(points for points in self.loads if any(point.point.number == number for point in points))
        asked = [point for point in load if point.point.number in (number, load[0].point.number)]
        return any(not run.summary["requests"] for point in asked for run in point.runs)

    def _difference(self, first: PointResult, other: PointResult) -> Difference:
        found = {name: _metric(first, other, name) for name in self.sweep.definition.metrics}
        known = {name: metric for name, metric in found.items() if metric is not None}
        return Difference(other.label, known, None, None)

    @cached_property
    def fronts(self) -> list[Front]:
        """The Pareto fronts of the 99th percentile against watts and price, where these are known."""
        known = [pair for pair in FRONTS if any(_front(points, pair[0]) for points in self.loads)]
        return [
            Front(metric, word, [_front(self._kept(points), metric) for points in self.loads]) for metric, word in known
        ]

    def _kept(self, points: list[PointResult]) -> list[PointResult]:
        """Those that keep up with their load: a queue that grows without end has no p99 to weigh."""
        return [point for point in points if point.point.number not in self.left_behind]

    def design(self, point: PointResult) -> str:
        """A point in words, but for its load."""
        return cells.label({name: value for name, value in point.values.items() if name not in self._load_axes})

    @cached_property
    def left_behind(self) -> set[int]:
        """The numbers of the points that do not keep up with their load: what they cost buys nothing."""
        return {point.point.number for point in self.points} & self.sweep.behind.keys()

    @cached_property
    def without_data(self) -> list[int]:
        """The numbers of the points whose array lost data: what was served until then does not count."""
        return [point.point.number for point in self.points if any("data_loss" in run.summary for run in point.runs)]

    @cached_property
    def without_requests(self) -> list[int]:
        """The numbers of the points of which a run was over before any request was complete."""
        return [point.point.number for point in self.points if not all(run.summary["requests"] for run in point.runs)]

    def answer(self) -> str:
        """Which point is the quickest, and which costs least, under the load or under how many of the loads."""
        known = [mean for point in self.points if (mean := _mean(point, P99)) is not None]
        lost = left_out.sentences(self.sweep, self.grid_loads)
        if not known:
            return " ".join(["No point has a response time.", *self._left_out()])
        if len(self.left_behind) == len(self.points):
            of_data = " and its data" if self.without_data else ""
            return " ".join([f"No point keeps up with its load{of_data}.", *lost])
        if len(self.loads) > 1 and all(len(load.points) == 1 for load in self.grid_loads):
            return " ".join([self._alone(), *self._left_out()])
        sentences = [self._best(P99, "p99", " ms")]
        sentences += [
            self._best(front.metric, front.word, " USD" if front.metric == metrics.USD else "") for front in self.fronts
        ]
        if not any(sentences):
            sentences = [self._lonely()]
        elif self._is_chance_unknown:
            sentences.append("Whether these differences are chance is not known (one run a point).")
        return " ".join(filter(None, [*sentences, *self._left_out()]))

    def _alone(self) -> str:
        """What is said where each load has one point; of those that keep up, as others have no p99 to tell."""
        times = [mean for point in self._kept(self.points) if (mean := _mean(point, P99)) is not None]
        ends = " to ".join(dict.fromkeys(cells.figure(end) for end in (min(times), max(times))))
        whose = "the p99 of those that keep up" if self.left_behind else f"the p99 of {len(times)} of them"
        whose = "their p99" if len(times) == len(self.grid_loads) else whose
        return f"Each of the {len(self.grid_loads):,} loads has one point, and none to compare it with; {whose} is {ends} ms."

    def _lonely(self) -> str:
        """What is said where no load has two points left to be compared."""
        kept = [(point, mean) for point in self._kept(self.points) if (mean := _mean(point, P99)) is not None]
        if not kept:
            return ""
        if len(kept) == 1:
            [(point, _)] = kept
            return f"One point is left: {point.label}, with a p99 of {cells.cell(point.estimate(P99))} ms."
        low, high = (cells.figure(end(mean for _, mean in kept)) for end in (min, max))
        return (
            f"The {len(kept):,} points that are left, each under a load of its own, have a p99 of {low} to {high} ms."
        )

    def _left_out(self) -> list[str]:
        """What is lost of the grid: points that failed, loads at which nothing is compared, points that are on no front."""
        idle = set(self.without_requests) - set(self.without_data)
        lost, slow = len(self.without_data), len(self.left_behind - set(self.without_data) - idle)
        of = plural(len(self.sweep.definition.points), "point")
        told = left_out.sentences(self.sweep, self.grid_loads)
        if slow:
            its = "does not keep up with its" if slow == 1 else "do not keep up with their"
            told.append(f"{slow:,} of {of} {its} load, and {_win(slow)} nothing.")
        if lost:
            told.append(f"{lost:,} of {of} lost data, and {_win(lost)} nothing.")
        if idle:
            told.append(f"{len(idle):,} of {of} served no request, and {_win(len(idle))} nothing.")
        return told

    @cached_property
    def grid_loads(self) -> list[left_out.Load]:
        """All loads of the grid, and which of their points are lost."""
        return left_out.loads(self.sweep, self._load_axes)

    @property
    def _is_chance_unknown(self) -> bool:
        """Whether points differ, and nothing tells if by chance."""
        found = [each.metrics[P99] for each in self.differences.values() if P99 in each.metrics]
        return self.sweep.is_run_once and any(metric.change for metric in found)

    def _best(self, metric: str, word: str, unit: str) -> str:
        """The sentence about one cost."""
        loads = [self._kept(load) for load in self.loads]
        costs = [[(point, _mean(point, metric)) for point in points] for points in loads if points]
        known = [load for some in costs if (load := [(point, cost) for point, cost in some if cost is not None])]
        if not known:
            return ""
        if not any(len(load) > 1 for load in known):
            # A point that is alone under its load wins nothing.
            return self._uncompared(metric, word, unit, sum(map(len, costs)), known)
        prices = {cost for load in known for _, cost in load}
        count, total = sum(map(len, known)), sum(map(len, costs))
        if metric == metrics.USD and len(prices) == 1 and count == total:
            return f"All of them cost the same: {cells.figure(prices.pop())} USD."
        least = "fewest" if metric == WATTS else "lowest"
        if count < total:
            word += f" of the {count} of {total} points whose {word} {_is(metric)} known"
        if len(known) > 1:
            return self._wins(f"{least} {word}", metric, known)
        point = _winner(known[0])
        aside = "" if metric == P99 else f"; their p99 is {cells.cell(point.estimate(P99))} ms"
        verb = "are those of" if metric == WATTS else "is that of"
        cost = f"{cells.cell(point.estimate(metric))}{unit}"
        rivals = _rivals(point, known[0], metric)
        near = "; another is so near that it may be chance" if any(rivals) else ""
        return f"The {least} {word}, {cost}, {verb} {self.design(point)}{aside}{near or _ties(metric, rivals, '')}."

    def _uncompared(
        self, metric: str, word: str, unit: str, kept: int, known: list[list[tuple[PointResult, float]]]
    ) -> str:
        """What is said of a cost that no two points under a load tell."""
        if kept > len(known):
            return f"Nothing is compared by {word}, which {_is(metric)} known of {len(known)} of {kept} points."
        if len(self.loads) > 1:
            return ""
        point, cost = known[0][0][0], cells.cell(known[0][0][0].estimate(metric))
        if metric != P99:
            return f"Its {word}: {cost}{unit}."
        only = "one that keeps up" if self.left_behind else "point"
        return f"The only {only} is {self.design(point) or point.label}, with a {word} of {cost} ms."

    def _wins(self, what: str, metric: str, known: list[list[tuple[PointResult, float]]]) -> str:
        """The sentence about one cost under several loads: a point that is alone under its load wins nothing."""
        contested = [load for load in known if len(load) > 1]
        won = [_winner(load) for load in contested]
        (first, count), *rest = Counter(self.design(point) for point in won).most_common(2)
        where = f"{count} of {len(won)} loads"
        if len(won) < len(self.grid_loads):
            where = "the one load" if len(won) == 1 else f"{count} of the {len(won)} loads"
            # Of others it may be that points failed, that one alone keeps up, or has what is compared.
            shared = sum(len(load.points) > 1 for load in self.grid_loads)
            where += (
                " that more than one point has" if len(won) == shared else " at which more than one point is compared"
            )
        others = "".join(f", {name} at {times}" for name, times in rest)
        rivals = [_rivals(point, load, metric) for point, load in zip(won, contested, strict=True)]
        near = sum(any(each) for each in rivals)

        def at(times: int) -> str:
            return "there" if len(won) == 1 else f"at {times} of them"

        aside = f"; {at(near)} another is so near that it may be chance" if near else ""
        same = [each for each in rivals if each and not any(each)]
        return f"{first} has the {what} at {where}{others}{aside}{_ties(metric, same, f'{at(len(same))} ')}."

    @property
    def columns(self) -> list[str]:
        """The heads of the table of all points."""
        heads = cells.columns(self.sweep.definition.metrics)
        named = zip(self.sweep.definition.metrics[:CHANGES], heads[:CHANGES], strict=True)
        changes = [self._head_of_change(metric, head) for metric, head in named]
        return [*table.columns(self.sweep, self.points), *changes]

    def _head_of_change(self, metric: str, head: str) -> str:
        """Changes in percent bear their sign themselves; others are in the unit of the value."""
        found = [self._change_of(point, metric) for point in self.points]
        plain = any(each is not None and each.change_percent is None for each in found)
        return f"change of {head if plain else head.partition(' (')[0]}"

    def rows(self) -> list[list[str]]:
        """A row for each point: its axes, its metrics with their intervals, and what changed against the first."""
        names = self.sweep.definition.metrics
        changes = [_changes([self._change_of(point, name) for point in self.points]) for name in names[:CHANGES]]
        return table.rows(self.sweep, self.points, changes)

    def _change_of(self, point: PointResult, metric: str) -> Metric | None:
        found = self.differences.get(point.point.number)
        return None if found is None else found.metrics.get(metric)

    @property
    def summary(self) -> ComparisonSummary:
        """What `headstack compare --json` prints."""
        return {
            "schema_version": SCHEMA_VERSION,
            "kind": "sweep",
            "first": self.points[0].label,
            "answer": self.answer(),
            "points": len(self.points),
            "grid_points": len(self.sweep.definition.points),
            "loads": len(self.grid_loads),
            "loads_compared": sum(load.is_compared for load in self.grid_loads),
            "loads_left_out": [load.row() for load in self.grid_loads if load.is_left_out],
            "fronts": [
                {
                    "against": front.metric,
                    "points": [
                        {
                            "point": point.point.number, "values": point.values, P99: _mean(point, P99),
                            front.metric: _mean(point, front.metric),
                        }
                        for point in front.points
                    ],
                }
                for front in self.fronts
            ],
            "compared": [
                {
                    "name": self.differences[point.point.number].name,
                    "point": point.point.number,
                    "values": point.values,
                    "against": points[0].point.number,
                    "repeats_paired": len(set(_seeds(points[0])) & set(_seeds(point))),
                    "metrics": {
                        name: metric.as_dict() for name, metric in self.differences[point.point.number].metrics.items()
                    },
                }
                for points in self.loads for point in points[1:]
            ],
            "failed": self.failed,
            "untested": self.untested,
            "failures": self.sweep.failure_rows,
            "incomplete": self.sweep.incomplete,
            "behind": self.sweep.summary["behind"],
            "wide": [point.point.number for point in self.sweep.wide],
            "ci95_note": self.sweep.ci95_note,
        }  # fmt: skip

    def report(self, path: str | Path) -> None:
        """Write the page: Pareto fronts, distributions, phases, all points."""
        from headstack.files import to_write
        from headstack.report.sweep import sweep_page

        sweep_page(self).write(to_write(path))

    def _repr_html_(self) -> str:
        from headstack.notebook import sweep_comparison

        return sweep_comparison(self)

    def __repr__(self) -> str:
        return f"SweepComparison({str(self.sweep.folder)!r}, {plural(len(self.points), 'point')})"


def _winner(load: list[tuple[PointResult, float]]) -> PointResult:
    """Of those that cost the same, the quickest."""
    return min(load, key=lambda pair: (pair[1], _mean(pair[0], P99) or 0.0))[0]


def _rivals(point: PointResult, load: list[tuple[PointResult, float]], metric: str) -> list[bool]:
    """Those that come so near that the interval of the difference holds zero, and whether that is by chance: another number."""
    changes = [_metric(point, other, metric) for other, _ in load if other is not point]
    known = [change for change in changes if change is not None]
    # What is the same needs no interval to be so.
    return [change.change != 0 for change in known if change.change == 0 or change.is_clear is False]


def _ties(metric: str, ties: Sequence[object], where: str) -> str:
    """That others cost the same, if there are some."""
    if not ties:
        return ""
    same = {P99: "the same", WATTS: "as few, and no shorter p99"}.get(metric, "the same, and no shorter p99")
    return f"; {where}another has {same}"


def _is(metric: str) -> str:
    """Watts are many, a price is one."""
    return "are" if metric == WATTS else "is"


def _mean(point: PointResult, metric: str) -> float | None:
    found = point.estimate(metric)
    return None if found is None else found.mean


def _changes(metrics: list[Metric | None]) -> list[Shown]:
    """A column of changes: in percent, where all can be, as all with the same decimals."""
    plain = [metric.change for metric in metrics if metric is not None and metric.change_percent is None]
    of_plain = iter(cells.figures(plain, 3))
    return [
        _change(metric, next(of_plain) if metric is not None and metric.change_percent is None else "")
        for metric in metrics
    ]


def _change(metric: Metric | None, plain: str) -> Shown:
    if metric is None:
        return Shown("–", Part("", None), Part("clear", None))
    percent = metric.change_percent
    text = plain if plain.startswith("-") or metric.change == 0 else f"+{plain}"
    text = text if percent is None else signed(percent, 1, "%")
    told = Part("", metric.change) if percent is None else Part("", percent, "%")
    clear = {None: None, True: "yes", False: "may be chance"}[metric.is_clear]
    return Shown(text + (" *" if metric.is_clear else ""), told, Part("clear", clear))


def _front(points: list[PointResult], metric: str) -> list[PointResult]:
    costs = [(point, _mean(point, P99), _mean(point, metric)) for point in points]
    known = [(point, (p99, cost)) for point, p99, cost in costs if p99 is not None and cost is not None]
    return [point for point, _ in pareto.front(known, lambda pair: pair[1])]


def _seeds(point: PointResult) -> list[int]:
    return [run.seed for run in point.runs]


def _metric(first: PointResult, other: PointResult, name: str) -> Metric | None:
    """The values of both over the seeds that they share, and the interval of the difference."""
    one, two = first.of_seeds(name), other.of_seeds(name)
    pairs = [(one[seed], two[seed]) for seed in one if seed in two]
    known = [(a, b) for a, b in pairs if a is not None and b is not None]
    if not known or len(known) < len(pairs):
        return None
    change, half = _core.mean_interval([b - a for a, b in known])
    before = _core.mean_interval([a for a, _ in known])[0]
    interval = None if half is None else (change - half, change + half)
    return Metric(before, before + change, cells.unit(name), interval)


def _win(count: int) -> str:
    return "wins" if count == 1 else "win"
