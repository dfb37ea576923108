"""`explain`: one request, or a few, as a timeline, phase by phase."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, cast
from warnings import warn

from headstack import _core
from headstack.arguments import checked
from headstack.errors import InputError
from headstack.run import as_system, with_scheduler

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import polars as pl

    from headstack.results.runs import Timeline
    from headstack.run import Overrides

_Wanted: TypeAlias = tuple[int | None, int | None, int | None, str, int, int, int, int, bool]
"""Arrival, measured start and completion (ns), operation, volume, first sector, sectors, marks, whether it is told."""

SAME_MS = 1e-3
"""A timeline that ends this close to the record is that of the run."""

COMPLETION_COLUMNS = (
    "id", "arrival_ns", "op", "lba", "sectors", "finish_ns", "measured_start_ns", "measured_finish_ns",
)  # fmt: skip
"""What is read of a run's completions, beside `flags` and `device`, which older files lack, and the phases of the request."""
PHASES = ("queue", "overhead", "seek", "rotation", "transfer", "bus", "other")
HOW_TO_GET_THEM = "`headstack simulate … --out FILE.parquet`, or simulate(…, out=…), writes the completions of a run"


@dataclass(frozen=True)
class Explanation:
    """The timelines of requests, one `dict` each: where, when, phases, and step by step what happened."""

    system: str
    timelines: list[Timeline]

    @property
    def stories(self) -> list[Timeline]:
        """`timelines` by its name of the version before."""
        warn("`stories` is now `timelines`; the old name goes with the next version", FutureWarning, stacklevel=2)
        return self.timelines

    def _repr_html_(self) -> str:
        from headstack.notebook import sentence
        from headstack.report.explanation import answer

        each = (Explanation(self.system, [timeline]) for timeline in self.timelines)
        return "".join(sentence(answer(one)) for one in each)

    def report(self, path: str | Path) -> None:
        """Write the page: the timeline, and each step in words."""
        from headstack.files import to_write
        from headstack.report.explanation import explanation_page

        explanation_page(self).write(to_write(path))


@checked(but=("system",))
def explain(
    system: str | Path | _core.Drive | _core.System,
    lbas: Sequence[int],
    *,
    overrides: Overrides | None = None,
    scheduler: str | None = None,
    sectors: int = 8,
    op: str = "read",
    gap_ms: float = 0.0,
    seed: int = 1,
) -> Explanation:
    """Serve requests one after the other on a system at rest, and tell what happens to each.

    Parameters
    ----------
    system
        A library name, the path of a drive or system file, a `Drive`, or a `System`.
    lbas
        First sectors, in the order in which they are served.
    overrides
        Values of the drive to replace, by dotted path.
    scheduler
        Scheduling algorithm: `NAME` in the host's driver, `drive:NAME` in the drives.
    sectors, op
        Length and direction of every request.
    gap_ms
        From the completion of a request to the arrival of the next.
    seed
        Seed of everything random in the drive.
    """
    if len(lbas) == 0:
        raise InputError("there is no request to explain", "give at least one LBA")
    _core.check_number("gap_ms", gap_ms)
    _core.check_number("sectors", sectors)
    built = as_system(system, with_scheduler(overrides, scheduler))
    # Each arrives when the one before is complete, or the gap after that.
    wanted: list[_Wanted] = [(None, None, None, op, 0, lba, sectors, 0, True) for lba in lbas]
    timelines = cast("list[Timeline]", _core.explain(built, wanted, seed=seed, gap_ns=round(gap_ms * 1e6)))
    return Explanation(built.name, timelines)


@checked(but=("system",))
def explain_completion(
    system: str | Path | _core.Drive | _core.System,
    completions: str | Path,
    request: int,
    *,
    overrides: Overrides | None = None,
    scheduler: str | None = None,
    before: int = 2,
) -> Explanation:
    """Show a request of a run as a timeline; the run's completions are in a Parquet file.

    Everything that came before the request was complete is served as it was in the run, so that queues, arms, caches and
    spindles stand where they stood; the timelines of the `before` requests ahead of it are there too. `overrides` and `scheduler`
    are those of the run.
    """
    import polars as pl

    _core.check_number("id", request)
    _core.check_number("before", before)
    path = Path(completions)
    try:
        table = pl.scan_parquet(path, glob=False)
        facts = pl.read_parquet_metadata(path)
        columns = table.collect_schema()
        if missing := [name for name in COMPLETION_COLUMNS if name not in columns]:
            raise InputError(
                f"`{path}` holds no completions of a run: it has no column `{missing[0]}`", HOW_TO_GET_THEM
            )
        has_flags = "flags" in columns
        flags = pl.col("flags") if has_flags else pl.lit(0).alias("flags")
        device = pl.col("device") if "device" in columns else pl.lit(0).alias("device")
        # What came while any of those that are told was on its way may have changed how it went.
        is_told = pl.col("id").is_between(request - before, request)
        rows = (
            table.filter(pl.col("arrival_ns") <= pl.col("finish_ns").filter(is_told).max())
            .select(*COMPLETION_COLUMNS, flags, device)
            .collect()
        )
    except (OSError, pl.exceptions.PolarsError) as problem:
        reason = " ".join(str(problem).split())
        raise InputError(f"cannot read the completions in `{path}`: {reason}", HOW_TO_GET_THEM) from None
    if request not in set(rows["id"]):
        raise InputError(f"there is no request {request} in `{path}`", "requests are counted from 0")
    recorded = (
        table.filter(pl.col("id") == request).select(pl.col(f"^({'|'.join(PHASES)})_ns$")).collect().row(0, named=True)
    )
    built = as_system(system, with_scheduler(overrides, scheduler))
    if facts.get("system_hash", built.config_hash) != built.config_hash:
        raise InputError(
            f"`{path}` comes from another system than this {built.name}: {facts.get('system')}, or other values",
            "name the system of that run, with the same --set and --scheduler",
        )
    replay, seed = facts.get("replay", "open"), int(facts.get("seed", "1"))
    # A serial replay takes requests in the order in which they were started.
    order = {"open": (), "closed": ("arrival_ns",), "measured": ("measured_start_ns",)}[replay]
    rows = rows.sort(*order, "id")
    timelines = _told(built, rows, request, before=before, replay=replay, seed=seed)
    timelines[-1]["phases_differ_ms"] = _phases_differ_ms(timelines[-1], recorded)
    if not has_flags:
        for timeline in timelines:
            _forget_causes(timeline)
    return Explanation(built.name, timelines)


def _told(
    built: _core.System,
    rows: pl.DataFrame,
    request: int,
    *,
    before: int,
    replay: str,
    seed: int,
) -> list[Timeline]:
    """Serve the rows in their order, and tell of the request and of those before it."""
    last = rows["id"].to_list().index(request)
    if replay != "open":
        rows = rows[: last + 1]
    wanted: list[_Wanted] = [
        (arrival, start, measured_finish, op, device, lba, sectors, flags, last - before <= position <= last)
        for position, (_, arrival, op, lba, sectors, _, start, measured_finish, flags, device) in enumerate(
            rows.iter_rows()
        )
    ]
    told = _core.explain(built, wanted, replay=replay, seed=seed)
    timelines = cast("list[Timeline]", told)
    for timeline in timelines:
        row = rows.row(timeline.pop("position", 0), named=True)
        timeline["id"] = row["id"]
        timeline["differs_ms"] = timeline["finish_ms"] - row["finish_ns"] / 1e6
    return timelines


def _phases_differ_ms(timeline: Timeline, recorded: Mapping[str, int]) -> float:
    """How far a phase is from the record's at most: another way may come to the same end."""
    told = cast("dict[str, float]", timeline["phases_ms"])
    off = (abs(told[name] - recorded[f"{name}_ns"] / 1e6) for name in PHASES if f"{name}_ns" in recorded)
    return max(off, default=0.0)


def _forget_causes(timeline: Mapping[str, Any]) -> None:
    """Name no cause that hangs on a request's marks, where the record does not say which it had."""
    for step in timeline["steps"]:
        if step["label"] == "wait":
            step["note"] = "cause not recorded: the completions have no column `flags`"
