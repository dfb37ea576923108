"""Designs of the intra-disk study, and what a run of one of them under a load comes to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import headstack
from headstack.studies.repeats import each

if TYPE_CHECKING:
    from collections.abc import Iterable

    import polars as pl

    from headstack.results.runs import RunSummary
    from headstack.studies.intra_disk.loads import Load

HC_SD = "hc-sd"
# Response times at which the distribution is read, ms: the thesis' figures use such steps.
STEPS_MS = (0.5, 1, 2, 3, 5, 7, 10, 14, 20, 28, 40, 60, 90, 120, 150, 200, 400, 1000, 3000, 10000)
# Width of a bar of the density of rotational latency, ms, and how far it goes: a revolution at 4,200 rpm takes 14.3 ms.
LATENCY_STEP_MS = 0.5
LATENCY_STEPS = 30
STATES = ("idle", "seek", "rotation", "read", "write")

# All drives choose among all that waits: the thesis' simulator does not bound a drive's queue.
UNBOUNDED = ("drive.*.controller.queue_depth", "1_000_000")


@dataclass(frozen=True)
class Design:
    """A system, as the library has it, with some values replaced."""

    name: str
    system: str
    overrides: tuple[tuple[str, str], ...] = ()

    def build(self) -> headstack.System:
        """Make the system."""
        return headstack.System(self.system, overrides=[UNBOUNDED, *self.overrides])


def hc_sd(name: str = "HC-SD", **values: str | float) -> Design:
    """The drive of high capacity, with values of its file replaced: `seek_scale=0.5` of `fidelity`, `rotation_rpm=5200`."""
    return Design(
        name, HC_SD, tuple((f"drive.*.{key.replace('__', '.')}", str(value)) for key, value in values.items())
    )


def parallel(arms: int, kind: str = "SA", rpm: int | None = None) -> Design:
    """HC-SD-SA(n), -MA(n) or -MC(n), at a spindle speed."""
    words = {"SA": "single-moving", "MA": "multi-moving", "MC": "multi-channel"}
    name = f"{kind}({arms})" if rpm is None else f"{kind}({arms}), {rpm:,} rpm"
    values: dict[str, str | float] = {}
    if arms > 1:
        values = {"arms__count": arms, "arms__design": words[kind]}
    if rpm is not None:
        values["rotation_rpm"] = rpm
    return hc_sd("HC-SD" if arms == 1 and rpm is None else name, **values)


@dataclass(frozen=True)
class Outcome:
    """What a run came to; times in ms."""

    requests: int
    mean: float
    p50: float
    p90: float
    p99: float
    keeps_up: bool
    utilisation: float
    """Of the busiest drive."""
    watts: dict[str, float]
    """By state, all drives together."""
    cdf: tuple[float, ...]
    """Share of the requests no longer than each of `STEPS_MS`."""
    latency: tuple[float, ...]
    """Density of rotational latency among the commands that went to the media, a step each, per ms."""
    seek_mean: float
    """Of the requests that went to the media."""
    latency_mean: float
    latency_end: float
    """Where 99.9 % of the rotational latencies end."""
    latency_max: float
    seek_share: float
    """Share of the requests that went to the media for which an arm moved or a head was switched."""
    media_share: float
    """Share of the requests that went to the media."""

    @property
    def average_w(self) -> float:
        """Watts of all drives."""
        return sum(self.watts.values())

    def below(self, ms: float) -> float:
        """Share of the requests no longer than this; one of `STEPS_MS`."""
        return self.cdf[STEPS_MS.index(ms)]


def run_one(system: headstack.System, source: headstack.Trace | headstack.Workload) -> Outcome:
    """Run a load through a system."""
    import polars as pl

    result = headstack.simulate(system, source, threads=1)
    summary = result.summary
    frame = pl.DataFrame(result.completions)
    response = frame.select(ms=(pl.col("finish_ns") - pl.col("arrival_ns")) / 1e6)["ms"]
    times = summary["response_ms"]
    media = frame.filter(pl.col("busy_transfer_ns") > 0)
    latency = media["rotation_ns"] / 1e6
    return Outcome(
        requests=summary["requests"],
        mean=times["mean"],
        p50=times["p50"],
        p90=times["p90"],
        p99=times["p99"],
        keeps_up=keeps_up(summary),
        utilisation=max(drive["utilisation"] for drive in summary["drives"]),
        watts=_watts(summary),
        cdf=tuple(_share(response <= step) for step in STEPS_MS),
        latency=_density(latency),
        seek_mean=float(media["seek_ns"].sum()) / max(1, len(media)) / 1e6,
        latency_mean=float(latency.sum()) / max(1, len(latency)),
        latency_end=latency.quantile(0.999) or 0.0,
        latency_max=float(latency.max() or 0.0),  # pyright: ignore[reportArgumentType]
        seek_share=_share(media["seek_ns"] > 0),
        media_share=len(media) / max(1, len(frame)),
    )


def keeps_up(summary: RunSummary) -> bool:
    """Whether the requests left when the last one has arrived are no more than a passing burst leaves."""
    return summary["in_flight_drained"] <= max(100, summary["requests"] // 50)


def run_all(designs: Iterable[tuple[Load, Design]]) -> dict[tuple[str, str], Outcome]:
    """Run designs under loads; by the names of both."""
    cells = list({(load.name, design.name): (load, design) for load, design in designs}.items())
    done = each(lambda load, design: run_one(design.build(), load.source()), [cell for _, cell in cells])
    return {name: outcome for (name, _), outcome in zip(cells, done, strict=True)}


def _watts(summary: RunSummary) -> dict[str, float]:
    by_state = summary["power"]["by_state_w"]
    return {state: by_state[state] for state in STATES}


def _share(holds: pl.Series) -> float:
    return float(holds.sum()) / max(1, len(holds))


def _density(latency: pl.Series) -> tuple[float, ...]:
    """Shares of the values in each step, per ms; what is beyond the last step is counted in none."""
    import polars as pl

    if latency.is_empty():
        return (0.0,) * LATENCY_STEPS
    counts = [0] * LATENCY_STEPS
    for step, count in (latency / LATENCY_STEP_MS).floor().cast(pl.Int64).value_counts().iter_rows():
        if step < LATENCY_STEPS:
            counts[step] = count
    return tuple(count / len(latency) / LATENCY_STEP_MS for count in counts)
