"""The page of a sweep: Pareto fronts, effects of the axes, distributions, phases, all points."""

from __future__ import annotations

from bisect import bisect_right
from math import inf, log
from statistics import fmean
from typing import TYPE_CHECKING

import polars as pl

from headstack.comparison.sweep import P99, WATTS, Front, SweepComparison
from headstack.counted import plural
from headstack.report import charts, style, vega
from headstack.report.page import Number, Page, Section
from headstack.report.tables import PHASES
from headstack.report.vega import Chart
from headstack.sweeping import cells
from headstack.sweeping.metrics import USD

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headstack.sweeping.axis import Axis
    from headstack.sweeping.result import PointResult

SHOWN = 8
"""So many points have their distribution and their phases drawn."""
MANY = 200
"""More dots than these are drawn small."""
LEFT = "does not keep up"
CROSS = vega.Marks(shape="cross", angle=45, filled=True)
"""How a point is drawn that does not keep up: its numbers are of no use beside the others'."""
LONGEST_BELOW = 12
"""Letters of a name that fits below an axis; longer ones stand beside it."""
COLOURS = (
    style.GREY, style.BLUE, style.VERMILLION, style.GREEN, style.ORANGE, style.PURPLE, style.SKY, style.PALE,
)  # fmt: skip


def sweep_page(comparison: SweepComparison) -> Page:
    """The page of a sweep: the answer, fronts, what each axis does, distributions, phases, all points."""
    sweep, definition = comparison.sweep, comparison.sweep.definition
    shown = chosen(comparison)
    names = names_of(comparison, shown)
    fronts = [front_section(comparison, front, half=len(comparison.fronts) > 1) for front in comparison.fronts]
    failed = f", {len(sweep.failures):,} failed" if sweep.failures else ""
    return Page(
        title=definition.summary or definition.path.stem,
        subtitle=f"{len(comparison.points):,} of {plural(len(definition.points), 'point')}, "
        f"{plural(sum(len(point.runs) for point in comparison.points), 'run')}{failed}",
        answer=comparison.answer(),
        notices=notices(comparison),
        numbers=tiles(comparison),
        sections=[
            *fronts,
            *effects(comparison),
            distributions(comparison, shown, names),
            phases(comparison, shown, names),
            _points(comparison),
            *failures(comparison),
        ],
        cite=citation(comparison),
    )


def citation(comparison: SweepComparison, ran: Sequence[tuple[str, str]] = ()) -> list[tuple[str, str]]:
    """What to cite of a sweep, or of what else `ran`."""
    sweep, definition = comparison.sweep, comparison.sweep.definition
    seeds = ", ".join(map(str, definition.seeds[:10])) + (" …" if len(definition.seeds) > 10 else "")
    return [
        ("tool", f"headstack {sweep.version}"),
        *(ran or [("sweep", definition.path.name)]),
        ("configuration", sweep.identity[:32]),
        ("seeds", seeds),
        ("drive values", f"assumed share up to {100 * _assumed(comparison):.0f} %"),
    ]


def _assumed(comparison: SweepComparison) -> float:
    """The share of a point's drive values that are assumed, of the point with the most of them."""
    runs = [run for point in comparison.points for run in point.runs[:1]]
    return max((run.summary["provenance"]["assumed_share"] for run in runs), default=0.0)


def chosen(comparison: SweepComparison) -> list[PointResult]:
    """The points worth a closer look: under the heaviest load the first one, and the fronts, spread over their length."""
    heaviest = _heaviest(comparison)
    points = comparison.loads[heaviest]
    found = {points[0].point.number: points[0]}
    candidates = [point for front in comparison.fronts for point in _spread(front.by_load[heaviest], SHOWN - 1)]
    for point in candidates if len(points) > SHOWN else points:
        if len(found) < SHOWN:
            found.setdefault(point.point.number, point)
    return list(found.values())


def names_of(comparison: SweepComparison, shown: list[PointResult]) -> list[str]:
    """What tells points apart: those under one load need not say it."""
    designs = [comparison.design(point) for point in shown]
    return designs if all(designs) and len(set(designs)) == len(designs) else [point.label for point in shown]


def _heaviest(comparison: SweepComparison) -> int:
    """The load under which the same designs are slowest: how far their p99 is from what it is over all loads, as a logarithm."""
    times: dict[str, dict[int, float]] = {}
    for load, points in enumerate(comparison.loads):
        for point in points:
            if (known := point.estimate(P99)) is not None and known.mean > 0:
                times.setdefault(comparison.design(point), {})[load] = log(known.mean)
    # A design that meets one load alone tells nothing of the others: its time may be the drive's.
    far: dict[int, list[float]] = {}
    for known in times.values():
        usual = fmean(known.values())
        for load, time in known.items():
            far.setdefault(load, []).append(time - usual)

    def weight(load: int) -> tuple[float, float]:
        # Where no design meets two loads, that under which even the quickest point is slow.
        return fmean(far[load]) if load in far else -inf, _quickest(comparison.loads[load])

    return max(range(len(comparison.loads)), key=weight)


def _quickest(points: list[PointResult]) -> float:
    return min((each.mean for point in points if (each := point.estimate(P99)) is not None), default=0.0)


def _spread(points: list[PointResult], most: int) -> list[PointResult]:
    """Evenly chosen ones, both ends among them."""
    if len(points) <= most:
        return points
    return [points[round(part * (len(points) - 1) / (most - 1))] for part in range(most)]


def notices(comparison: SweepComparison, noun: str = "point") -> list[str]:
    """What to keep in mind before trusting the numbers."""
    found = []
    if comparison.sweep.is_run_once:
        is_trace = comparison.points[0].point.settings.trace is not None
        more = (
            "another stretch of the trace may order them otherwise"
            if is_trace
            else "`[repeats] count = 5` gives intervals"
        )
        found.append(f"Each {noun} was run once, so nothing tells how sure these numbers are: {more}.")
    if (share := _assumed(comparison)) > 0:
        found.append(f"Up to {100 * share:.0f} % of the values that describe the drives are assumed.")
    if (note := comparison.sweep.ci95_note) is not None:
        found.append(f"{note}.")
    if wide := len(comparison.sweep.wide):
        found.append(
            f"{wide:,} {noun}{'s are' if wide > 1 else ' is'} still wider than `[stop]` asks, or without its metric."
        )
    if missing := len(comparison.sweep.incomplete):
        those, them = ("points are", "them") if missing > 1 else ("point is", "it")
        found.append(f"{missing:,} {those} not complete, and not on this page: `--resume` goes on with {them}.")
    return found


KNOWN_BY = {P99: "p99", WATTS: "watts", USD: "price"}


def tiles(comparison: SweepComparison) -> list[Number]:
    """The least of each cost, and whose it is; of several with the same, the quickest."""
    heads = {P99: "lowest p99", WATTS: "fewest watts", USD: "lowest price"}
    found = []
    # The lightest of several loads would win everything, whatever the design.
    loads, behind = comparison.loads, comparison.left_behind
    points = [point for point in loads[_heaviest(comparison)] if point.point.number not in behind]
    where = ", heaviest load" if len(loads) > 1 else ""
    for metric in (P99, *(front.metric for front in comparison.fronts)):
        known = [(each.mean, point) for point in points if (each := point.estimate(metric)) is not None]
        if known:
            value = cells.figure(min(mean for mean, _ in known))
            # What readers see the same of is a tie for them.
            ties = [point for mean, point in known if cells.figure(mean) == value]
            tied, point = len(ties), min(ties, key=_p99)
            which = f"{point.label} among them" if metric == P99 else f"the quickest is {point.label}"
            whose = point.label if tied == 1 else f"a tie of {tied}; {which}"
            if len(known) < len(points):
                # Nobody knows whether one without its watts takes fewer.
                whose += f"; of the {len(known):,} of {len(points):,} whose {KNOWN_BY[metric]} {'is' if metric != WATTS else 'are'} known"
            found.append(Number(heads[metric] + where, f"{value} {cells.unit(metric)}", whose))
    return found


def _p99(point: PointResult) -> float:
    known = point.estimate(P99)
    return float("inf") if known is None else known.mean


def front_section(
    comparison: SweepComparison, front: Front, *, half: bool, noun: str = "point", needed: float | None = None
) -> Section:
    """The points by p99 and a cost; a line lies at the p99 that is `needed`."""
    best, behind = {point.point.number for point in front.points}, comparison.left_behind
    rows = [
        {
            "cost": cost.mean,
            "p99": p99.mean,
            "low": p99.mean - (p99.ci95 or 0.0),
            "high": p99.mean + (p99.ci95 or 0.0),
            "place": "on the front"
            if point.point.number in best
            else LEFT
            if point.point.number in behind
            else "others",
            "point": point.label,
            "load": load,
        }
        for load, points in enumerate(comparison.loads)
        for point in points
        if (p99 := point.estimate(P99)) is not None and (cost := point.estimate(front.metric)) is not None
    ]
    frame = pl.DataFrame(rows)
    scale = _scale(frame["p99"])
    # Of few runs an interval may reach below zero, which no time does, and of which there is no logarithm.
    floor = frame["p99"].min() if scale.get("type") == "log" else 0.0
    frame = frame.with_columns(low=pl.when(pl.col("low") > 0).then("low").otherwise(pl.lit(floor)))
    title = "price of the drives (USD)" if front.metric == USD else f"{front.word} ({cells.unit(front.metric)})"
    base = Chart(frame).encode(
        x=vega.X("cost:Q", title=title, scale=vega.Scale(zero=False), axis=vega.Axis(tickCount=10, labelOverlap=True)),
        tooltip=[
            "point:N",
            vega.Tooltip("p99:Q", format=".4~g"),
            vega.Tooltip("cost:Q", title=front.word, format=".4~g"),
        ],
    )
    colours = {"on the front": style.VERMILLION, "others": style.PALE, LEFT: style.GREY}
    used = [place for place in colours if place in frame["place"]]
    # What a cross is, the text says: a key would show a dot. Of crosses alone there is no key: an empty one crops the chart.
    keyed = [place for place in used if place != LEFT]
    colour = vega.Color(
        "place:N",
        scale=vega.Scale(domain=used, range=[colours[place] for place in used]),
        legend=vega.Legend(values=keyed) if keyed else None,
    )
    y = vega.Y("p99:Q", title="p99 of the response (ms)", scale=scale)
    line = base.filter(vega.is_equal("place", "on the front")).mark("line", interpolate="step-after", color=style.VERMILLION, strokeWidth=1
    ).encode(y=y, detail="load:N")  # fmt: skip
    bars = base.mark("rule").encode(y=vega.Y("low:Q", scale=scale), y2="high:Q", color=colour)
    # Many dots are small and let others through, and the front lies on top.
    many = len(rows) > MANY
    dots = [
        base.filter(vega.is_equal("place", place))
        .mark(
            "point" if place == LEFT else "circle",
            size=16 if many else 50,
            opacity=0.9 if place == "on the front" or not many else 0.5,
            **(CROSS if place == LEFT else {}),
        )
        .encode(y=y, color=colour)
        for place in reversed(used)
    ]
    limit = [] if needed is None else [_limit(needed, y)]
    return Section(
        f"p99 against {front.word}",
        _front_words(comparison, front, len(rows), noun, needed),
        vega.layer(bars, *limit, *dots[:-1], line, dots[-1], width="container", height=charts.HEIGHT),
        half=half,
    )


def _front_words(comparison: SweepComparison, front: Front, drawn: int, noun: str, needed: float | None) -> str:
    """How to read the chart of a front: only what is drawn."""
    several = len(comparison.loads) > 1
    text = (
        f"Lower and further left is better. On the front: {len(front.points):,} of {plural(drawn, noun)}, which no other "
        f"{'under the same load ' if several else ''}beats in both p99 and {front.word}."
    )
    text += " A line joins those under one load." if several else ""
    if any((p99 := point.estimate(P99)) is not None and p99.ci95 for point in comparison.points):
        text += " Bars: 95 % intervals."
    text += _crosses(comparison, noun, ", and on no front")
    if needed is not None:
        text += f" Dashed: the p99 that is needed, {cells.figure(needed)} ms."
    return text


def _crosses(comparison: SweepComparison, noun: str, more: str) -> str:
    """What crosses in a chart are, where there are some."""
    return f" A grey cross: a {noun} that does not keep up{more}." if comparison.left_behind else ""


def _limit(needed: float, y: vega.Options) -> Chart:
    frame = pl.DataFrame({"p99": [needed]})
    return Chart(frame).mark("rule", strokeDash=[6, 4], color=style.BLUE).encode(y=y)


def _scale(values: pl.Series) -> vega.Options:
    low, high = charts.real(values.min()), charts.real(values.max())
    return vega.Scale(type="log", nice=False) if low > 0 and high > 30 * low else vega.Scale(zero=False)


def effects(comparison: SweepComparison, noun: str = "point") -> list[Section]:
    """How the first metric goes along each axis, whatever the others are."""
    metric = comparison.sweep.definition.metrics[0]
    axes = [axis for axis in comparison.sweep.definition.axes if len(axis.choices) > 1]
    head = cells.columns([metric])[0]
    return [
        Section(
            f"{head[0].upper()}{head[1:]} by {axis.name}",
            _effect_words(comparison, axis, noun),
            chart,
            half=len(axes) > 1,
        )
        for axis in axes
        if (chart := _effect(comparison, axis, metric, head)) is not None
    ]


def _effect_words(comparison: SweepComparison, axis: Axis, noun: str) -> str:
    """How to read the chart of an axis."""
    rest = [other.name for other in comparison.sweep.definition.axes if len(other.choices) > 1 and other is not axis]
    spread = f": they differ in {' and '.join(rest)}" if rest else ""
    loads = any(other.is_load for other in comparison.sweep.definition.axes if other is not axis)
    median = "a line joins the medians" if axis.is_numeric else "a stroke is the median"
    text = f"A dot for each {noun}{spread}; {median}{' under each load' if loads else ''}."
    return text + _crosses(comparison, noun, ", and is in no median")


def _effect(comparison: SweepComparison, axis: Axis, metric: str, head: str) -> Chart | None:
    known = [(point, each.mean) for point in comparison.points if (each := point.estimate(metric)) is not None]
    if not known:
        return None
    labels = [choice.label for choice in axis.choices]
    is_real = axis.is_numeric
    # Another load is another question: no line leads from one to the other, but along the axis of the load itself.
    loads = [other.name for other in comparison.sweep.definition.axes if other.is_load and other is not axis]
    frame = pl.DataFrame(
        [{"x": point.values[axis.name] if is_real else str(point.values[axis.name]), "value": value, "point": point.label,
          "load": cells.label({name: point.values[name] for name in loads}),
          "keeps_up": point.point.number not in comparison.left_behind}
         for point, value in known],
        schema_overrides={"x": pl.Float64} if is_real else {"x": pl.String},
    )  # fmt: skip
    if not is_real and max(map(len, map(str, labels))) > LONGEST_BELOW:
        return _effect_beside(frame, [str(label) for label in labels], head)
    x = (
        vega.X("x:Q", title=axis.name, scale=_scale(pl.Series([float(label) for label in labels])))
        if is_real
        else vega.X("x:N", title=axis.name, sort=[str(label) for label in labels])
    )
    y = vega.Y("value:Q", title=head, scale=_scale(frame["value"]))
    many = len(frame) > MANY
    dots = [each.encode(x=x, y=y) for each in _dots(frame, head, size=12 if many else 40, opacity=0.5 if many else 0.9)]
    medians = _medians(frame)
    shape = medians.mark("line", color=style.VERMILLION) if is_real else _strokes(medians, "horizontal")
    line = shape.encode(x=x, y=y, detail="load:N", tooltip=["load:N"])
    return vega.layer(*dots, line, width="container", height=charts.HEIGHT)


def _dots(frame: pl.DataFrame, head: str, *, size: int, opacity: float) -> list[Chart]:
    """A dot for each point, and a cross for each that does not keep up; places are for the caller."""
    base = Chart(frame.gather_every(charts.stride(len(frame)))).encode(
        tooltip=["point:N", vega.Tooltip("value:Q", title=head, format=".4~g")]
    )
    dots = base.filter("datum.keeps_up").mark("circle", size=size, opacity=opacity, color=style.BLUE)
    crosses = base.filter("!datum.keeps_up").mark("point", size=size, opacity=opacity, color=style.GREY, **CROSS)
    return [crosses, dots] if not frame["keeps_up"].all() else [dots]


def _medians(frame: pl.DataFrame) -> Chart:
    kept = frame.filter("keeps_up")
    return Chart(kept.group_by("x", "load", maintain_order=True).agg(pl.col("value").median()))


def _strokes(medians: Chart, orient: str) -> Chart:
    """Medians of what has names: no line leads from one to the next, since nothing lies between them."""
    return medians.mark("tick", color=style.VERMILLION, thickness=3, size=20, orient=orient)


def _effect_beside(frame: pl.DataFrame, labels: list[str], head: str) -> Chart:
    """The same with names beside the chart, where there is room for long ones."""
    x = vega.X("value:Q", title=head, scale=_scale(frame["value"]))
    y = vega.Y("x:N", title=None, sort=labels, axis=vega.Axis(labelLimit=320))
    dots = [each.encode(x=x, y=y) for each in _dots(frame, head, size=40, opacity=0.9)]
    line = _strokes(_medians(frame), "vertical").encode(x=x, y=y, detail="load:N", tooltip=["load:N"])
    return vega.layer(*dots, line, width="container", height=max(26 * len(labels) + 10, 120))


def distributions(
    comparison: SweepComparison, shown: list[PointResult], names: list[str], noun: str = "point"
) -> Section:
    """Distributions of the points worth a closer look."""
    frames = [
        pl.DataFrame(_pooled(point), schema={"ms": pl.Float64, "share": pl.Float64}, orient="row").with_columns(
            curve=pl.lit(name)
        )
        for point, name in zip(shown, names, strict=True)
    ]
    colours = dict(zip(names, COLOURS, strict=False))
    mean = ", the mean over the seeds" if any(len(point.runs) > 1 for point in shown) else ""
    return Section(
        "How long requests take",
        f"For every time, the share of requests that take no longer{mean}, of {_which(comparison, shown, noun)}."
        + _overloaded(comparison, shown, names),
        charts.cdf_lines(pl.concat(frames), colours, "response time (ms)", wide=names[0] if len(shown) > 1 else None),
    )


def _overloaded(comparison: SweepComparison, shown: list[PointResult], names: list[str]) -> str:
    """Whose times are drawn though they do not keep up."""
    slow = [name for point, name in zip(shown, names, strict=True) if point.point.number in comparison.left_behind]
    if not slow:
        return ""
    whose = "None of them keeps up" if len(slow) == len(shown) else f"Not keeping up: {'; '.join(slow)}"
    return f" {whose}: such times grow with the length of the run and say little else."


def _which(comparison: SweepComparison, shown: list[PointResult], noun: str) -> str:
    """Whose curves are drawn, and under which load."""
    load = " under the heaviest load" if len(comparison.loads) > 1 else ""
    if len(shown) == len(comparison.loads[_heaviest(comparison)]):
        return f"every {noun}{load}"
    return f"the first {noun} and those on the fronts{load}"


def _pooled(point: PointResult) -> list[tuple[float, float]]:
    """The mean of the distributions of a point's runs, in at most a few hundred steps."""
    curves = [([ms for ms, _ in run.cdf], [share for _, share in run.cdf]) for run in point.runs]
    times = sorted({ms for run_ms, _ in curves for ms in run_ms})
    # The tail is what people look for: the last ones stay as fine as they are.
    kept = times[: -100 : max(1, len(times) // 300)] + times[-100:] if len(times) > 400 else times
    found = []
    for time in kept:
        below = [bisect_right(run_ms, time) for run_ms, _ in curves]
        shares = [run_shares[count - 1] if count else 0.0 for count, (_, run_shares) in zip(below, curves, strict=True)]
        found.append((time, 100 * sum(shares) / len(shares)))
    return found


def phases(comparison: SweepComparison, shown: list[PointResult], names: list[str], noun: str = "point") -> Section:
    """Mean phases of the same, but for those that do not keep up: next to a queue that grows nobody would see theirs."""
    told = list(zip(shown, names, strict=True))
    kept = [each for each in told if each[0].point.number not in comparison.left_behind] or told
    means = {
        name: {phase: sum(run.summary["phases_ms"][phase] for run in point.runs) / len(point.runs) for phase in PHASES}
        for point, name in kept
    }
    but = f", but for {noun}s that do not keep up" if len(kept) < len(told) else ""
    which = _which(comparison, shown, noun)
    drawn = [point for point, _ in kept]
    return Section(
        "Where the time goes",
        f"Mean phases along the critical path, of {which}{but}; they add up to the mean response."
        + _overloaded(comparison, drawn, [name for _, name in kept]),
        charts.phases(means),
    )


def _points(comparison: SweepComparison) -> Section:
    columns = comparison.columns
    marked = (
        "Points that do not keep up with their load are on no front and win nothing. " if comparison.left_behind else ""
    )
    text = marked + (
        "Means over the runs ± half the 95 % interval. Changes are against the first point under the same load, seed by seed: the "
        "same seed makes the same requests; * where the 95 % interval of the change leaves out zero. With 20 points "
        "without a difference, one * is to be expected."
    )
    axes = len(comparison.sweep.definition.axes)
    return Section(
        "All points", text, columns=columns, rows=comparison.rows(), text_columns=1 + axes, dense=len(columns) > 8
    )


def failures(comparison: SweepComparison, noun: str = "point") -> list[Section]:
    """What could not be run, and why."""
    rows = [
        [str(each.point.number), each.label, each.failure.error or ""]
        for each in comparison.sweep.failures
        if each.failure is not None
    ]
    return (
        [Section(f"{noun.capitalize()}s that failed", columns=["number", noun, "why"], rows=rows, text_columns=3)]
        if rows
        else []
    )
