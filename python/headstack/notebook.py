"""How results look in a notebook: a small table, for what the compiled core makes too."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from headstack._core import Drive, Trace


def table(title: str, rows: Iterable[tuple[str, str]]) -> str:
    """A title, and a name and a value in each row."""
    body = "".join(
        f"<tr><th style='text-align:left'>{escape(name)}</th><td style='text-align:left'>{escape(value)}</td></tr>"
        for name, value in rows
    )
    return f"<table><caption style='text-align:left'><b>{escape(title)}</b></caption><tbody>{body}</tbody></table>"


def drive(self: Drive) -> str:
    """What a drive is, and where its values come from."""
    from headstack.report.tables import number

    about = self.describe()
    shares = about["provenance"]["shares"]
    rows = [
        ("about", about["summary"]),
        ("capacity", f"{about['capacity_bytes'] / 1e9:,.2f} GB, {number(about['capacity_sectors'])} sectors"),
        ("geometry", f"{number(about['cylinders'])} cylinders, {about['heads']} heads, {len(about['zones'])} zones"),
        ("rotation", f"{number(about['rotation_rpm'], 0)} rpm, {number(about['rotation_ms'], 3)} ms a revolution"),
        ("mean seek", f"{number(about['seek']['distance_weighted_ms'])} ms"),
        (
            "values",
            ", ".join(f"{100 * share:.0f} % {kind}" for kind, share in cast("dict[str, float]", shares).items()),
        ),
    ]
    return table(about["name"], rows)


def trace(self: Trace) -> str:
    """What a trace is; what is in it takes a pass over it (`info()`)."""
    rows = [("format", self.format), ("sectors of", f"{self.sector_bytes} B"), ("path", str(self.path))]
    return table(self.path.name, rows)


def validation(summary: Mapping[str, Any]) -> str:
    """How far a model is from measured times."""
    errors = summary["per_request"]
    rows = [
        ("requests", f"{summary['requests']:,}, {summary['replay']} replay"),
        ("mean", f"{summary['measured_mean_ms']:.2f} ms measured, {summary['model_mean_ms']:.2f} ms in the model"),
        ("demerit", f"{summary['demerit_percent']:.2f} % ({summary['demerit_ms']:.2f} ms)"),
        ("error per request", f"{errors['mae_ms']:.2f} ms ({errors['mae_percent']:.2f} %)"),
    ]
    if "without_phase_lock" in summary:
        rows.append(
            ("not phase-locked", f"{summary['without_phase_lock']['per_request']['mae_ms']:.2f} ms per request")
        )
    return table(f"{summary['system']} against {summary['workload']}", rows)
