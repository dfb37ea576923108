"""The charts of a measurement: sawtooth, bandwidth, seek curve (Talagala et al. 1999, Figures 3, 8, 10 and 12)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import altair as alt
import polars as pl

from headstack.report import style
from headstack.report.charts import HEIGHT
from headstack.report.findings import METHODS, law_at

if TYPE_CHECKING:
    from headstack.report.charts import AnyChart

KINDS = {"base": style.BLUE, "head": style.ORANGE, "cylinder": style.VERMILLION, "other": style.GREY}
LEGEND = {"base": "same track", "head": "other head", "cylinder": "next cylinder", "other": "other"}
LAWS = {
    ("step", "regression"): style.GREY,
    ("linear", "regression"): style.ORANGE,
    ("linear", "two-points"): style.VERMILLION,
    ("quadratic", "regression"): style.BLUE,
    ("quadratic", "two-points"): style.SKY,
    ("constant-density", "two-points"): style.GREEN,
}


def skippy_chart(sawtooth: dict[str, Any]) -> AnyChart:
    """A sawtooth: its points by kind, the lines they lie on, the drop and what it tells."""
    steps = [point[0] for point in sawtooth["points"]]
    points = pl.DataFrame(
        {
            "step": steps,
            "ms": [point[1] for point in sawtooth["points"]],
            "kind": [LEGEND[k] for k in sawtooth["kinds"]],
        }
    )
    lines = sawtooth_lines(sawtooth)
    x = alt.X("step:Q", title="step (sectors)", scale=alt.Scale(nice=False, padding=4))
    kinds = [LEGEND[kind] for kind in KINDS if kind in sawtooth["kinds"]]
    colour = alt.Color("kind:N", sort=kinds, scale=alt.Scale(
        domain=kinds, range=[KINDS[kind] for kind in KINDS if kind in sawtooth["kinds"]]))  # fmt: skip
    marks = alt.Chart(points).mark_circle(size=18, opacity=0.9)
    drawn = [marks.encode(
        x=x, y=alt.Y("ms:Q", title="latency (ms)"), color=colour,
        tooltip=["kind:N", "step:Q", alt.Tooltip("ms:Q", format=".3f")])]  # fmt: skip
    if lines:
        ends = [
            {"line": index, "step": step, "ms": ms, "label": line["label"] if end else ""}
            for index, line in enumerate(lines)
            for end, (step, ms) in enumerate(line["ends"])
        ]
        base = alt.Chart(pl.DataFrame(ends)).encode(x=x, y="ms:Q", detail="line:N")
        drawn.insert(0, base.mark_line(strokeWidth=1, strokeDash=[4, 3], color="#777"))
        drawn.append(base.mark_text(align="left", dx=6, fontSize=11, color="#333").encode(text="label:N"))
    drawn += _drop(sawtooth, x)
    return alt.layer(*drawn).properties(width="container", height=360, padding={"right": 190})


def sawtooth_lines(sawtooth: dict[str, Any]) -> list[dict[str, Any]]:
    """The lines of a sawtooth: label, and step and latency of both ends."""
    sign = -1.0 if sawtooth["probe"] == "skippy-backwards" else 1.0
    slope, intercept, turn = sawtooth["slope_ms"], sawtooth["intercept_ms"], sawtooth["rotation_ms"]
    heights = {"base": 0.0, "head": sawtooth["head_switch_ms"], "cylinder": sawtooth["cylinder_switch_ms"]}
    words = {"base": "same track", "head": "other head", "cylinder": "next cylinder"}
    lines = []
    for kind, height in heights.items():
        if height is None:
            continue

        def at(step: float, turns: int, height: float = height) -> float:
            return sign * (step * slope + intercept + height) + turns * turn

        by_turns: dict[int, list[int]] = {}
        for (step, ms), of in zip(sawtooth["points"], sawtooth["kinds"], strict=True):
            if of == kind:
                by_turns.setdefault(round((ms - at(step, 0)) / turn), []).append(step)
        # The turn that a line has lost is told by where it lies; the one behind the drop carries the height.
        for turns, steps in sorted(by_turns.items()):
            if len(steps) < 2:
                continue
            is_first = turns == min((t for t, s in by_turns.items() if len(s) > 1), default=0)
            first = 0 if is_first and sign > 0 else steps[0]
            label = f"{words[kind]}: + {height:.3f} ms" if height else words[kind]
            if not is_first:
                label = f"{words[kind]}, a turn later" if sign > 0 and kind == "base" else ""
            last = steps[-1]
            lines.append({"label": label, "ends": [(first, at(first, turns)), (last, at(last, turns))]})
    return lines


def _drop(sawtooth: dict[str, Any], x: alt.X) -> list[alt.Chart]:
    """The drop, and what its ends tell."""
    points = dict(map(tuple, sawtooth["points"]))
    drop = sawtooth["drop_step"]
    base = [(s, ms) for (s, ms), kind in zip(sawtooth["points"], sawtooth["kinds"], strict=True) if kind == "base"]
    before = [point for point in base if point[0] < drop]
    behind = [point for point in base if point[0] >= drop]
    if not before or not behind:
        return []
    low, high = sorted((before[-1][1], behind[0][1]))
    unit = sawtooth["points"][1][0] - sawtooth["points"][0][0]
    rule = pl.DataFrame({"step": [drop - unit / 2], "low": [low], "high": [high]})
    marks = [
        {
            "step": drop - unit / 2,
            "ms": (low + high) / 2,
            "text": f"one turn: {sawtooth['rotation_ms']:.3f} ms",
            "dx": -6,
        }
    ]
    if sawtooth["probe"] != "skippy-backwards":
        marks.append(
            {
                "step": drop,
                "ms": low,
                "text": f"(3) least time to media: {sawtooth['mtm_ms']:.3f} ms + a sector",
                "dx": -6,
            }
        )
        marks.append({"step": before[-1][0], "ms": high, "text": "(2)", "dx": -6})
    annotated = [
        alt.Chart(rule).mark_rule(color="#333", strokeWidth=1.5).encode(x=x, y="low:Q", y2="high:Q"),
        alt.Chart(pl.DataFrame(marks)).mark_text(align="right", dx=-8, fontSize=11, color="#333").encode(
            x=x, y="ms:Q", text="text:N"),
    ]  # fmt: skip
    if sawtooth["probe"] != "skippy-backwards" and 0 in points:
        first = pl.DataFrame({"step": [0], "ms": [points[0]], "text": [f"(1) step 0: a turn, {points[0]:.3f} ms"]})
        annotated.append(
            alt.Chart(first).mark_text(align="left", dx=8, dy=-12, fontSize=11, color="#333").encode(
                x=x, y="ms:Q", text="text:N")
        )  # fmt: skip
    return annotated


def bandwidth_chart(bandwidth: dict[str, Any], sector_bytes: int) -> AnyChart:
    """Bandwidth over the device, and the laws fitted to it."""
    places = [place["lba"] * sector_bytes / 1e9 for place in bandwidth["profile"]]
    speeds = [place["mib_per_s"] for place in bandwidth["profile"]]
    # The profile's places are the middles of even parts of the device.
    end = places[-1] + places[0]
    fits = {(fit["law"], fit["by"]): fit for fit in bandwidth["fits"]}
    rows: list[dict[str, Any]] = []
    labels: dict[str, str] = {}
    for key, colour in LAWS.items():
        fit = fits.get(key)
        if fit is None or fit["law"] == "step":
            continue
        label = f"{fit['law'].replace('-', ' ')}, {METHODS[fit['by']]}"
        labels[label] = colour
        rows += [{"gb": end * share / 50, "mib": law_at(fit, share / 50), "law": label} for share in range(51)]
    x = alt.X("gb:Q", title="location (GB)", scale=alt.Scale(nice=False))
    y = alt.Y("mib:Q", title="bandwidth (MiB/s)", scale=alt.Scale(zero=False))
    curves = alt.Chart(pl.DataFrame(rows)).mark_line(strokeWidth=1.5).encode(
        x=x, y=y, color=alt.Color("law:N", sort=list(labels), scale=alt.Scale(
            domain=list(labels), range=list(labels.values()))))  # fmt: skip
    profile = pl.DataFrame({"gb": places, "mib": speeds})
    measured = alt.Chart(profile).mark_circle(size=16, color="#333", opacity=0.8).encode(
        x=x, y=y, tooltip=[alt.Tooltip("gb:Q", format=".3f"), alt.Tooltip("mib:Q", format=".3f")])  # fmt: skip
    return alt.layer(curves, measured).properties(width="container", height=HEIGHT)


def seek_chart(seek: dict[str, Any]) -> AnyChart:
    """The seek curve: measured for writes and reads, and the two-piece law, on a square-root axis."""
    x = alt.X("cylinders:Q", title="distance (cylinders; square-root axis)", scale=alt.Scale(type="sqrt", nice=False))
    y = alt.Y("ms:Q", title="seek time (ms)")
    points = [
        {"cylinders": point["cylinders"], "ms": point["ms"], "op": op} for op in ("write", "read") for point in seek[op]
    ]
    ops = [op for op in style.OPS if seek[op]]
    marks = alt.Chart(pl.DataFrame(points)).mark_circle(size=26, opacity=0.8).encode(
        x=x, y=y, color=alt.Color("op:N", sort=ops, scale=alt.Scale(domain=ops, range=[style.OPS[op] for op in ops])),
        tooltip=["op:N", "cylinders:Q", alt.Tooltip("ms:Q", format=".3f")])  # fmt: skip
    two = seek["two_piece"]
    if two is None:
        return marks.properties(width="container", height=HEIGHT)
    farthest = max(point["cylinders"] for point in points)
    boundary, (a, b), (c, e) = two["boundary_cylinders"], two["short_ms"], two["long_ms"]
    curve = [{"cylinders": d, "ms": a + b * d**0.5, "piece": 0} for d in _between(1, boundary)]
    curve += [{"cylinders": d, "ms": c + e * d, "piece": 1} for d in _between(boundary, farthest)]
    law = alt.Chart(pl.DataFrame(curve)).mark_line(strokeWidth=1, color="#777").encode(x=x, y=y, detail="piece:N")
    border = pl.DataFrame({"cylinders": [boundary], "text": [f"{boundary:,} cylinders"]})
    rule = alt.Chart(border).mark_rule(strokeDash=[4, 3], color="#999").encode(x=x)
    return alt.layer(rule, law, marks).properties(width="container", height=HEIGHT)


def _between(low: float, high: float) -> list[float]:
    """Distances that a square-root axis shows evenly."""
    ends = low**0.5, high**0.5
    return [(ends[0] + (ends[1] - ends[0]) * part / 60) ** 2 for part in range(61)]


def seeker_chart(points: list[dict[str, Any]], sector_bytes: int) -> AnyChart:
    """Seeker: seek time over distance in GB."""
    frame = pl.DataFrame(
        {"gb": [p["sectors"] * sector_bytes / 1e9 for p in points], "ms": [p["seek_ms"] for p in points]}
    )
    return (
        alt.Chart(frame)
        .mark_circle(size=20, color=style.BLUE)
        .encode(
            x=alt.X("gb:Q", title="distance (GB)", scale=alt.Scale(nice=False)),
            y=alt.Y("ms:Q", title="seek time (ms)"),
            tooltip=[alt.Tooltip("gb:Q", format=".3f"), alt.Tooltip("ms:Q", format=".3f")],
        )
        .properties(width="container", height=HEIGHT)
    )
