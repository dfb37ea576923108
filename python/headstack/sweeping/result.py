"""What a sweep came to, point by point."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headstack.counted import plural
from headstack.errors import InputError
from headstack.files import to_read
from headstack.sweeping import behind, cells, definition, metrics, reading, repeats
from headstack.sweeping.folder import SWEEP, Folder

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from headstack.comparison.sweep import SweepComparison
    from headstack.results.comparisons import PointFailure, SweepSummary
    from headstack.results.comparisons import PointResult as PointRow
    from headstack.sweeping.definition import Definition, Point
    from headstack.sweeping.repeats import Estimate
    from headstack.sweeping.run import Record

SCHEMA_VERSION = 1


@dataclass(frozen=True)
class PointResult:
    """The runs of a point, in the order of their seeds, and the failed one, if one failed."""

    point: Point
    runs: list[Record]
    failure: Record | None
    prices: dict[str, float]

    @property
    def values(self) -> dict[str, Any]:
        """The axes by name."""
        return dict(self.point.values)

    def all_runs(self) -> list[Record]:
        """The runs, the failed one among them."""
        failed = [] if self.failure is None else [self.failure]
        return sorted([*self.runs, *failed], key=lambda run: run.seed)

    def of_seeds(self, metric: str) -> dict[int, float | None]:
        """A metric of each run, by its seed."""
        return {run.seed: metrics.value(metric, run.summary, self.prices) for run in self.runs}

    def estimate(self, metric: str) -> Estimate | None:
        """A metric's mean over the runs; `None` where one lacks it."""
        return repeats.estimate(list(self.of_seeds(metric).values()))

    @property
    def label(self) -> str:
        """The point in words: the values of its axes."""
        return cells.label(self.point.values)


class Sweep:
    """A sweep that was run, or as much of it as is done.

    Attributes
    ----------
    folder
        Where its runs are kept.
    definition
        The sweep file.
    results
        One for each point of which something is there, in the order of the grid.
    resumed
        How many points were complete when it was gone on with.
    cancelled
        How many runs the executor gave up, as one whose cluster is lost does: they were not made, and `resume` makes them.
    """

    def __init__(self, folder: str | Path, resumed: int = 0, cancelled: int = 0) -> None:
        folder = to_read(folder)
        kept = Folder(folder)
        manifest = kept.manifest()
        text = reading.file_text(folder / SWEEP, "a sweep is")
        self.folder, self.resumed, self.cancelled = folder, resumed, cancelled
        self.version: str = manifest["version"]
        self.identity: str = manifest["identity"]
        self.definition: Definition = definition.of_table(
            reading.toml_table(text, folder / SWEEP), Path(manifest["file"]), text
        )
        self.results: list[PointResult] = []
        for number, records in groupby(kept.records(), key=lambda record: record.point):
            runs = list(records)
            if not 0 <= number < len(self.definition.points):
                raise InputError(f"`{folder}` holds a run of point {number:,}, and its sweep has no such point")
            failures = [run for run in runs if run.error is not None]
            self.results.append(
                PointResult(
                    self.definition.points[number],
                    [run for run in runs if run.error is None],
                    failures[0] if failures else None,
                    self.definition.usd,
                )
            )

    @property
    def failures(self) -> list[PointResult]:
        """The points that failed."""
        return [result for result in self.results if result.failure is not None]

    @property
    def failure_rows(self) -> list[PointFailure]:
        """The same, as the JSON has them: where, under which seed, and why."""
        return [
            {
                "point": result.point.number, "values": result.values, "seed": result.failure.seed,
                "error": result.failure.error or "", "hint": result.failure.hint,
            }
            for result in self.results if result.failure is not None
        ]  # fmt: skip

    @property
    def served(self) -> list[PointResult]:
        """The points that did not fail, as far as they were run."""
        return [result for result in self.results if result.failure is None]

    @cached_property
    def behind(self) -> dict[int, behind.Why]:
        """Why points do not keep up with their load, by the number of the point: what they cost buys nothing."""
        found: dict[int, behind.Why | None] = {result.point.number: behind.why(result) for result in self.served}
        return {number: why for number, why in found.items() if why is not None}

    @property
    def complete(self) -> list[PointResult]:
        """The points that have all their runs."""
        stop = self.definition.stop
        name = stop.metric if stop is not None else ""
        return [
            result
            for result in self.results
            if result.failure is None
            and set(repeats.wanted(self.definition, result.of_seeds(name))) <= {run.seed for run in result.runs}
        ]

    @property
    def incomplete(self) -> list[int]:
        """The numbers of the points that lack runs, and did not fail: `--resume` goes on with them."""
        done = {result.point.number for result in [*self.complete, *self.failures]}
        return [point.number for point in self.definition.points if point.number not in done]

    @property
    def ci95_note(self) -> str | None:
        """What is to be known of the intervals, where `[stop]` ended repeats by them."""
        return repeats.ci95_note(self.definition)

    @property
    def is_run_once(self) -> bool:
        """Whether no complete point has more than one run, so that nothing tells how sure the numbers are."""
        return bool(self.complete) and all(len(result.runs) < 2 for result in self.complete)

    @property
    def wide(self) -> list[PointResult]:
        """The complete points that the stopping rule did not end: their interval is wider yet, or their runs lack the metric."""
        stop = self.definition.stop
        if stop is None:
            return []
        return [
            result
            for result in self.complete
            if result.estimate(stop.metric) is None
            or not repeats.is_enough(stop, list(result.of_seeds(stop.metric).values()))
        ]

    @cached_property
    def table(self) -> pl.DataFrame:
        """One row a run: the axes, the seed, the metrics, the error, the whole summary and the distribution."""
        import polars as pl

        axes = [each.name for each in self.definition.axes]
        plain = {name: _is_plain([result.values[name] for result in self.results]) for name in axes}
        rows = [
            {
                "point": result.point.number,
                **{name: value if plain[name] else str(value) for name, value in result.values.items()},
                "seed": run.seed,
                **{name: metrics.value(name, run.summary, self.definition.usd) for name in self.definition.metrics},
                "error": run.error,
                "summary": _text(run.summary),
                "cdf_ms": [ms for ms, _ in run.cdf],
                "cdf_share": [share for _, share in run.cdf],
            }
            for result in self.results
            for run in result.all_runs()
        ]
        schema = {
            "point": pl.Int64, "seed": pl.UInt64, **dict.fromkeys(self.definition.metrics, pl.Float64),
            "error": pl.String, "summary": pl.String, "cdf_ms": pl.List(pl.Float64), "cdf_share": pl.List(pl.Float64),
        }  # fmt: skip
        return pl.DataFrame(rows, schema_overrides=schema, infer_schema_length=None)

    @property
    def summary(self) -> SweepSummary:
        """What `headstack sweep --json` prints."""
        return {
            "schema_version": SCHEMA_VERSION,
            "summary": self.definition.summary,
            "folder": str(self.folder),
            "version": self.version,
            "identity": self.identity,
            "points": len(self.definition.points),
            "complete": len(self.complete),
            "failed": len(self.failures),
            "resumed": self.resumed,
            "cancelled": self.cancelled,
            "wide": [result.point.number for result in self.wide],
            "ci95_note": self.ci95_note,
            "behind": [{"point": number, "why": why} for number, why in self.behind.items()],
            "runs": sum(len(result.runs) for result in self.results),
            "axes": [each.name for each in self.definition.axes],
            "metrics": self.definition.metrics,
            "results": [self._row(result) for result in self.served],
            "failures": self.failure_rows,
        }  # fmt: skip

    def compare(self, *, fail_if: Sequence[str] = ()) -> SweepComparison:
        """Compare its points with the first one: `fail_if` are limits such as "response_ms.p99 > +5%"."""
        from headstack.comparison.limits import Limit
        from headstack.comparison.sweep import compare_sweep

        return compare_sweep(self, [Limit.parse(text) for text in fail_if])

    def _row(self, result: PointResult) -> PointRow:
        found = {name: result.estimate(name) for name in self.definition.metrics}
        return {
            "point": result.point.number,
            "values": result.values,
            "repeats": len(result.runs),
            "metrics": {
                name: None if known is None else {"mean": known.mean, "ci95": known.ci95}
                for name, known in found.items()
            },
        }

    def _repr_html_(self) -> str:
        from headstack.notebook import sweep

        return sweep(self)

    def __repr__(self) -> str:
        failed = f", {len(self.failures):,} failed" if self.failures else ""
        return f"Sweep({str(self.folder)!r}, {len(self.complete):,} of {plural(len(self.definition.points), 'point')}{failed})"


def _is_plain(values: Sequence[object]) -> bool:
    """Whether a column can hold them as they are: all numbers, or all words."""
    kinds = {float if type(value) in (int, float) else type(value) for value in values}
    return len(kinds) == 1


def _text(summary: dict[str, Any]) -> str:
    import json

    return json.dumps(summary, separators=(",", ":"))
