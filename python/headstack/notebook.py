"""How results look in a notebook: a small table, for what the compiled core makes too."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from html import escape
from typing import TYPE_CHECKING, Any, cast

from headstack.errors import HeadstackError
from headstack.shown import with_minus

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from headstack._core import Drive, StreamModel, System, Trace, Workload
    from headstack.comparison.sweep import SweepComparison
    from headstack.costing import Cost
    from headstack.device_costs import Coefficients
    from headstack.power import PowerBudget
    from headstack.studies.framework import StudyResult
    from headstack.sweeping.result import Sweep


_QUANTILES = (("mean", "mean"), ("p99", "p99"), ("max", "max"))
QUICK_BYTES = 32_000_000
"""A trace of at most so many bytes is read to be shown: a second or less."""


def table(title: str, rows: Iterable[tuple[str, str]]) -> str:
    """A title, and a name and a value in each row."""
    body = "".join(
        f"<tr><th style='text-align:left'>{escape(name)}</th><td style='text-align:left'>{escape(with_minus(value))}</td></tr>"
        for name, value in rows
    )
    return f"<table><caption style='text-align:left'><b>{escape(title)}</b></caption><tbody>{body}</tbody></table>"


def drive(self: Drive) -> str:
    """What a drive is, and where its values come from."""
    from headstack.shown import number

    about = self.describe()
    shares = about["provenance"]["shares"]
    rows = [
        ("about", about["summary"]),
        ("capacity", f"{about['capacity_bytes'] / 1e9:,.2f} GB, {number(about['capacity_sectors'])} sectors"),
        (
            "geometry",
            f"{number(about['cylinders'])} cylinders, {about['heads']} heads, {_counted(len(about['zones']), 'zone')}",
        ),
        ("rotation", f"{number(about['rotation_rpm'], 0)} rpm, {number(about['rotation_ms'], 3)} ms a revolution"),
        ("mean seek", f"{number(about['seek']['distance_weighted_ms'])} ms"),
        (
            "values",
            ", ".join(f"{100 * share:.0f} % {kind}" for kind, share in cast("dict[str, float]", shares).items()),
        ),
    ]
    return table(about["name"], rows)


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}" + ("" if count == 1 else "s")


def trace(self: Trace) -> str:
    """What a trace is and, where a pass over it is quick, how many requests it has, over how long, and of which kinds."""
    rows = [("format", self.format), ("sectors of", f"{self.sector_bytes} B"), ("path", str(self.path))]
    with suppress(HeadstackError, OSError):
        # A pipe can be read only once, by whoever wants its requests.
        if self.path.is_file() and self.path.stat().st_size <= QUICK_BYTES:
            rows[:0] = _contents(self)
        else:
            rows.append(("contents", "info() reads it"))
    return table(self.path.name, rows)


def _contents(trace: Trace) -> list[tuple[str, str]]:
    from headstack.report.tables import span

    about = trace.info()
    rows = [("requests", f"{about['requests']:,}"), ("span", span(about["span_s"]))]
    if about["requests"]:
        kinds = f"{_counted(about['reads'], 'read')}, {_counted(about['writes'], 'write')}"
        rows.append(("mix", f"{100 * (about['read_fraction'] or 0):.0f} % reads ({kinds})"))
    return rows


def system(self: System) -> str:
    """Which drives, volumes and scheduler a system has."""
    from headstack.report.tables import size

    about = self.config()
    models = Counter(model for _, model in self.drives)
    levels = {volume["name"]: volume["level"] for volume in about["volumes"]}
    rows = [
        ("about", about["summary"]),
        ("drives", ", ".join(f"{count} × {model}" if count > 1 else model for model, count in models.items())),
        *((f"volume {name}", f"{levels[name]}, {size(sectors * self.sector_bytes)}") for name, sectors in self.volumes),
        ("scheduler of the host", about["host"]["scheduler"]),
        ("configuration", self.config_hash[:12]),
    ]
    return table(self.name, rows)


def workload(self: Workload) -> str:
    """What a workload asks for: its streams, how many requests, from which seed."""
    about = self.spec()
    streams = [
        (f"stream {stream.get('name', number)}", f"{100 * stream['read_fraction']:.0f} % reads")
        for number, stream in enumerate(about["stream"])
    ]
    count = "no end of its own" if self.requests is None else f"{self.requests:,}"
    return table(self.name, [("about", about["summary"]), ("requests", count), *streams, ("seed", str(self.seed))])


def cost(found: Cost) -> str:
    """What drives of a design cost, and what systems of them that perform alike."""
    from headstack.shown import between

    rows = [
        (_counted(bill["actuators"], "actuator"), f"{between(' to ', bill['low_usd'], bill['high_usd'], 2)} USD")
        for bill in found.designs
    ]
    for each in [] if found.iso_performance is None else found.iso_performance["systems"]:
        of = f"{_counted(each['drives'], 'drive')} of {_counted(each['actuators'], 'actuator')}"
        rows.append((of, f"{between(' to ', each['low_usd'], each['high_usd'], 2)} USD"))
    return table(f"{found.name}, what drives cost to make", rows)


def coefficients(found: Coefficients) -> str:
    """What other systems assume of a disk, and what their forms of cost cannot carry."""
    from headstack.device_costs import constant

    constants = [
        constant(form, name, value)
        for form in (found.mclock, found.head_time)
        for name, value in form.constants.items()
    ]
    rows = [("io.cost.model", found.iocost_line), *((name, str(value)) for name, value in constants)]
    said = "".join(sentence(with_minus(form.sentence())) for form in found.forms)
    if found.choice:
        rows.insert(0, ("volumes", ", ".join(found.volumes)))
    return table(found.title, rows) + said


def power_budget(found: PowerBudget) -> str:
    """What drives draw without requests and with all arms seeking."""
    from headstack.power import alike

    rows = []
    for together, drive in alike(found.drives):
        if drive["power"] is None:
            rows.append((together, "not known"))
        for budget in drive["power"] or ():
            name = f"{together}, {budget['rpm']:,.0f} rpm, {_counted(budget['actuators'], 'arm')}"
            rows.append((name, _watts(budget["by_state_w"]["idle"], budget["all_seeking_w"])))
    if len(found.drives) > 1:
        rows += [("all drives", _watts(total["idle_w"], total["all_seeking_w"])) for total in found.totals]
    return table(f"{found.system}, power", rows)


def _watts(idle_w: float, all_seeking_w: float) -> str:
    return f"{idle_w:,.2f} W idle, {all_seeking_w:,.2f} W with all arms seeking"


def stream_model(self: StreamModel) -> str:
    """The values of a model of sequential streams."""
    rows = [
        (f"{part}.{key}", _value(value))
        for part, values in self.spec.items()
        for key, value in values.items()
        if value is not None
    ]
    return table(f"{self.name}, sequential streams", rows)


def validation(summary: Mapping[str, Any]) -> str:
    """How far a model is from measured times."""
    from headstack.shown import error_ms
    from headstack.validation import lock_words

    errors = summary["per_request"]
    rows = [
        ("requests", f"{summary['requests']:,}, {summary['replay']} replay"),
        ("mean", f"{summary['measured_mean_ms']:.2f} ms measured, {summary['model_mean_ms']:.2f} ms in the model"),
        ("demerit", f"{summary['demerit_percent']:.2f} % ({summary['demerit_ms']:.2f} ms)"),
        ("error per request", f"{error_ms(errors['mae_ms'])} ms ({errors['mae_percent']:.2f} %)"),
    ]
    if "without_phase_lock" in summary:
        unlocked = summary["without_phase_lock"]["per_request"]["mae_ms"]
        rows += [
            ("phase lock", lock_words(summary["phase"])),
            ("not phase-locked", f"{error_ms(unlocked)} ms per request"),
        ]
    return table(f"{summary['system']} against {summary['workload']}", rows)


def sentence(text: str) -> str:
    """An answer."""
    return f"<p>{escape(text)}</p>"


def study(result: StudyResult) -> str:
    """The answer of a study, and every claim with the source's number beside ours."""
    from headstack.report.study import PAGE_COLUMNS, page_cells

    return _grid(result.title, result.answer(), PAGE_COLUMNS, map(page_cells, result.rows))


def calibration(summary: Mapping[str, Any]) -> str:
    """How far the drive was from measured times, and is, and what was replaced."""
    from headstack.calibration.table import changed_rows, values

    before, after = (summary["test"][when] for when in ("before", "after"))
    errors = [f"{score['per_request']['mae_ms']:.3f} ms" for score in (before, after)]
    demerits = [f"{score['demerit_ms']:.3f} ms" for score in (before, after)]
    rows = [
        ("error per request", f"{' → '.join(errors)} on test requests"),
        ("demerit", " → ".join(demerits)),
    ]
    rows += [(row["path"], " → ".join(values(row))) for row in changed_rows(summary["parameters"])]
    return table(f"{summary['system']}, calibrated", rows)


def _grid(title: str, text: str, heads: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """What it comes to, and a table with a head for each column."""
    cells = "".join(f"<th style='text-align:left'>{escape(head)}</th>" for head in heads)
    body = "".join("<tr>" + "".join(f"<td>{escape(with_minus(cell))}</td>" for cell in row) + "</tr>" for row in rows)
    return (
        f"<p><b>{escape(title)}</b> {escape(with_minus(text))}</p>"
        f"<table><thead><tr>{cells}</tr></thead><tbody>{body}</tbody></table>"
    )


def sweep(done: Sweep) -> str:
    """How far a sweep is, and its points as `headstack sweep` prints them."""
    from headstack.sweeping import table

    definition = done.definition
    heads, rows = table.columns(done, done.served), table.rows(done, done.served)
    return _grid(definition.summary or definition.path.name, " ".join(_how_far(done)), heads, rows)


def _how_far(done: Sweep) -> list[str]:
    """How many points are complete, keep up, and failed."""
    told = [f"{len(done.complete):,} of {_counted(len(done.definition.points), 'point')} complete."]
    if slow := sum(why == "overloaded" for why in done.behind.values()):
        told.append(f"{slow:,} do not keep up with their load." if slow > 1 else "1 does not keep up with its load.")
    if done.failures:
        told.append(f"{len(done.failures):,} failed.")
    return told


def sweep_comparison(found: SweepComparison) -> str:
    """The answer of a sweep, and its points with what changed, as `headstack compare` prints them."""
    definition = found.sweep.definition
    # What all points are, as the command line tells beside its answer.
    told = [found.answer(), *_how_far(found.sweep)] if found.sweep.failures or found.sweep.behind else [found.answer()]
    return _grid(definition.summary or definition.path.name, " ".join(told), found.columns, found.rows())


def _value(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def fleet(summary: Mapping[str, Any]) -> str:
    """How many devices, and how long their requests take."""
    response = summary["response_ms"]
    rows = [
        ("requests", f"{summary['requests']:,} in {summary['simulated_s']:,.1f} simulated s"),
        *(
            (f"response, {name}", "–" if response[key] is None else f"{response[key]:,.2f} ms")
            for key, name in _QUANTILES
        ),
        (
            "utilisation",
            f"{100 * summary['utilisation_mean']:.1f} % on average, {100 * summary['utilisation_max']:.1f} % at most",
        ),
    ]
    return table(_counted(summary["devices"], "device"), rows)
