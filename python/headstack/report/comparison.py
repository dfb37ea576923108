"""The page of a comparison."""

from __future__ import annotations

from math import floor, log10
from typing import TYPE_CHECKING, TypedDict

from headstack import __version__
from headstack.comparison.resampling import BLOCKS, DRAWS, QUANTILES
from headstack.report import charts, style
from headstack.report.page import Number, Page, Section
from headstack.shown import Part, Shown, number, shown, signed

if TYPE_CHECKING:
    from headstack.comparison.result import Comparison, Difference, Metric

COLUMNS = ("", "first", "second", "unit", "change", "change (%)", "95 % of the change", "clear")
COLOURS = (style.GREY, style.BLUE, style.VERMILLION, style.GREEN, style.ORANGE, style.PURPLE, style.SKY)


def comparison_page(comparison: Comparison) -> Page:
    """The page: the answer, distributions over each other, differences request by request, all values."""
    first = comparison.sources[0].name
    sections = [] if comparison.sources[0].times is None else [_distributions(comparison)]
    for each in comparison.differences:
        if each.paired is not None:
            sections.append(_paired(first, each, comparison.time))
        text = keys_words(each) if each.demerit_ms is None else (
            f"The distributions are {number(each.demerit_ms, 3)} ms apart (demerit). {_how_sure(each)}"
        )  # fmt: skip
        rows = [list(row) for row in table_rows(each)]
        # "first" and "second" are no help beside "b against a", which names them the other way round.
        columns = [{"first": first, "second": each.name}.get(column, column) for column in COLUMNS]
        sections.append(Section(f"{each.name} against {first}", text, **_known(columns, rows)))
    numbers = [
        Number(f"{each.label(name)}, {each.name}", _change(each.metrics[name]), _detail(each, name))
        for each in comparison.differences[:2]
        for name in list(dict.fromkeys([*each.weighty, *each.metrics]))[:4]
    ]
    return Page(
        title=f"{' and '.join(each.name for each in comparison.differences)} against {first}",
        subtitle=_subtitle(comparison),
        answer=comparison.answer(),
        notices=[f"Limit broken: {failed}" for failed in comparison.failed],
        numbers=numbers,
        sections=sections,
        cite=[("tool", f"headstack {__version__}"), *(("compared", each.name) for each in comparison.sources)],
    )


class _Table(TypedDict):
    columns: list[str]
    rows: list[list[str]]


def _known(columns: list[str], rows: list[list[str]]) -> _Table:
    """The table without columns that hold nothing: drive files have no intervals."""
    held = [place for place in range(len(columns)) if not rows or any(row[place] != "–" for row in rows)]
    return {"columns": [columns[place] for place in held], "rows": [[row[place] for place in held] for row in rows]}


def keys_words(each: Difference) -> str:
    """Which values of drive files differ, whether the table has them or not."""
    if not each.keys_differ:
        return ""
    more = f", and {len(each.keys_differ) - 12} more" if len(each.keys_differ) > 12 else ""
    return f"Values of the drive files that differ: {', '.join(each.keys_differ[:12])}{more}."


def _how_sure(each: Difference) -> str:
    """Where the intervals come from, or why there are none."""
    if each.no_interval:
        return f"There are no intervals: {each.no_interval} tell none, so nothing says whether a change is chance."
    if len(each.unknown) > len(QUANTILES):
        return f"There are no intervals: {each.unknown['mean']}, so nothing says whether a change is chance."
    same = ", the same in both" if each.paired is not None else ""
    none = "".join(f" None of {each.label(name)}: {why}." for name, why in each.unknown.items())
    return f"Intervals: {DRAWS} resamples of {BLOCKS} blocks of neighbouring requests{same}.{none}"


def _subtitle(comparison: Comparison) -> str:
    """What is compared, of how many requests, and by which time."""
    counts = [len(each.times) for each in comparison.sources if each.times is not None]
    nouns = {each.noun for each in comparison.sources}
    what = f"{len(comparison.sources)} {nouns.pop() if len(nouns) == 1 else comparison.kind}s compared"
    if not counts:
        return what
    low, high = min(counts), max(counts)
    return f"{what} by {comparison.time} time: {low:,}{f' to {high:,}' if high > low else ''} requests each"


def table_rows(each: Difference) -> list[tuple[str, ...]]:
    """A row for each value, those that are words last."""
    rows = [cells(each.label(name), metric) for name, metric in each.metrics.items()]
    return rows + [
        (name, one, two, "", "0" if one == two else "another", "–", "–", "–") for name, (one, two) in each.words.items()
    ]


def cells(name: str, metric: Metric) -> tuple[str, ...]:
    """A row for a metric by the name that readers see, as `COLUMNS` names the cells."""
    percent = metric.change_percent
    low, high = metric.ci95 or (None, None)
    words = "–" if low is None or high is None else f"{signed(low)} to {signed(high)}"
    interval = Shown(words, Part("from", low), Part("to", high))
    clear = {None: "–", True: "yes", False: "may be chance"}[metric.is_clear]
    # Sums in another order leave a trace behind the last digit.
    if metric.ci95 is not None and max(map(abs, metric.ci95)) < 1e-9 * max(1.0, abs(metric.first)):
        clear = "the same"
    return (
        name, *_pair(metric), metric.unit, _signed(metric),
        shown("–" if percent is None else "0.00" if metric.is_rounding else _percent(percent), percent), interval, clear,
    )  # fmt: skip


def _pair(metric: Metric) -> tuple[str, str]:
    """Both values, with the same decimals: none where both are whole, but for what rounding left."""
    values = float(metric.first), float(metric.second)
    decimals = 0 if all(abs(value - round(value)) <= 1e-9 * abs(value) for value in values) else 3
    first, second = (shown(number(round(value) if decimals == 0 else value, decimals), value) for value in values)
    return first, second


def _signed(metric: Metric) -> Shown:
    if metric.is_rounding:
        return shown("0", 0)
    whole = all("." not in value for value in _pair(metric))
    # A change that three decimals do not show is written out.
    least = 0.0 if whole else 0.0005
    text = f"{metric.change:+,.{0 if whole else 3}f}" if abs(metric.change) >= least else _small(metric.change)
    return shown(f"{text} points" if metric.is_in_points else text, metric.change)


def _percent(percent: float) -> str:
    return f"{percent:+,.2f}" if abs(percent) >= 0.005 else f"{percent:+.1g}"


def _small(change: float) -> str:
    """The first digit of a change, without an exponent where it is not too small to be read."""
    decimals = -floor(log10(abs(change))) if change else 0
    return f"{change:+.{decimals}f}" if decimals <= 6 else f"{change:+.0e}"


def _change(metric: Metric) -> str:
    if metric.is_rounding:
        return "the same"
    if metric.is_in_points:
        return f"{metric.change:+,.3g} points"
    if metric.change_percent is None:
        return f"{metric.change:+,.3g} {metric.unit}"
    return signed(metric.change_percent, 1, "%")


def _detail(each: Difference, name: str) -> str:
    """Both values of a tile, and whether its change may be chance."""
    metric = each.metrics[name]
    first, second = _pair(metric)
    unit = f" {metric.unit}" if metric.unit else ""
    # What is the same is so by no chance.
    chance = ", may be chance" if metric.is_clear is False and not metric.is_rounding else ""
    # "30.1 to 34.6 ms" would read as an interval of the change above it.
    return f"{first} → {second}{unit}{', chance or not is not known' if each.is_unknown(name) else chance}"


def _distributions(comparison: Comparison) -> Section:
    curves = {each.name: each.times["ms"] for each in comparison.sources if each.times is not None}
    colours = {name: COLOURS[index % len(COLOURS)] for index, name in enumerate(curves)}
    return Section(
        f"How long requests take: {comparison.time}",
        "For every time, the share of requests that take no longer.",
        charts.cdf(curves, colours, f"{comparison.time} time (ms)", wide=comparison.sources[0].name),
    )


def _paired(first: str, each: Difference, time: str) -> Section:
    import polars as pl

    assert each.paired is not None  # noqa: S101 (asked for by the caller)
    change = each.paired["second_ms"] - each.paired["first_ms"]
    slower, faster = (int(found.sum()) for found in (change > 1e-6, change < -1e-6))
    count = len(change)
    return Section(
        f"Request by request: {each.name} against {first}",
        f"Of the same requests, {100 * slower / count:.1f} % take longer in {each.name} than in {first}, "
        f"{100 * faster / count:.1f} % take less time, {100 * (count - slower - faster) / count:.1f} % take as long.",
        charts.cdf({each.name: pl.Series(change)}, {each.name: style.BLUE}, f"change of the {time} time (ms)"),
        half=False,
    )
