"""The charts of a measurement: sawtooth, bandwidth, seek curve (Talagala et al. 1999, Figures 3, 8, 10 and 12)."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import polars as pl

from headstack.report import style, vega
from headstack.report.charts import HEIGHT
from headstack.report.findings import METHODS, law_at
from headstack.report.vega import Chart

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


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


def skippy_chart(sawtooth: Mapping[str, Any]) -> Chart:
    """A sawtooth: its points by kind, the lines they lie on, the drop and what it tells."""
    end = sawtooth["sectors_per_track"]
    shown = [(step, ms, kind) for (step, ms), kind in _points(sawtooth) if step <= end]
    # One point that is late for other reasons must not press the others flat.
    top = 1.08 * max(ms for _, ms, kind in shown if kind != "other")
    x = vega.X("step:Q", title="step (sectors)", scale=vega.Scale(domain=[0, end], nice=False))
    y = vega.Y("ms:Q", title="latency (ms)", scale=vega.Scale(domain=[0, top], nice=False))
    kinds = [kind for kind in KINDS if any(kind == each for _, _, each in shown)]
    colour = vega.Color(
        "kind:N",
        sort=[LEGEND[kind] for kind in kinds],
        scale=vega.Scale(domain=[LEGEND[kind] for kind in kinds], range=[KINDS[kind] for kind in kinds]),
    )
    points = pl.DataFrame(
        {"step": [p[0] for p in shown], "ms": [p[1] for p in shown], "kind": [LEGEND[p[2]] for p in shown]}
    )
    tooltip = ["kind:N", "step:Q", vega.Tooltip("ms:Q", format=",.3f")]
    marks = Chart(points).mark("circle", size=18, opacity=0.9, clip=True)
    lines = sawtooth_lines(sawtooth)
    ends = pl.DataFrame(
        [{"line": index, "step": step, "ms": ms} for index, line in enumerate(lines) for step, ms in line["ends"]]
    )
    labels = Chart(pl.DataFrame(_labels(lines, gap=0.05 * top), schema=["step", "ms", "label"], orient="row"))
    layers = [
        Chart(ends)
        .mark("line", strokeWidth=1, strokeDash=[4, 3], color="#777", clip=True)
        .encode(x=x, y=y, detail="line:N"),
        marks.encode(x=x, y=y, color=colour, tooltip=tooltip),
        labels.mark("text", align="left", dx=6, fontSize=11, color="#333", style="at-end").encode(
            x=x, y=y, text="label:N"
        ),
        *_drop(sawtooth, x, y),
    ]
    return vega.layer(*layers).properties(
        width="container", height=360, padding={"left": 5, "top": 5, "bottom": 5, "right": 170}
    )


def _labels(lines: list[dict[str, Any]], gap: float) -> list[tuple[float, float, str]]:
    """The labels at the ends of lines, from top to bottom, moved down where they would lie on one another."""
    found: list[tuple[float, float, str]] = []
    for line in sorted(lines, key=lambda line: -line["ends"][1][1]):
        step, ms = line["ends"][1]
        if line["label"]:
            found.append((step, min(ms, found[-1][1] - gap) if found else ms, line["label"]))
    return found


def _points(sawtooth: Mapping[str, Any]) -> list[tuple[tuple[float, float], str]]:
    return list(zip(map(tuple, sawtooth["points"]), sawtooth["kinds"], strict=True))


def sawtooth_lines(sawtooth: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The lines of a sawtooth: label, and step and latency of both ends."""
    sign = -1.0 if sawtooth["probe"] == "skippy-backwards" else 1.0
    slope, intercept, turn = sawtooth["slope_ms"], sawtooth["intercept_ms"], sawtooth["rotation_ms"]
    heights = {"base": 0.0, "head": sawtooth["head_switch_ms"], "cylinder": sawtooth["cylinder_switch_ms"]}
    lines = []
    for kind, height in heights.items():
        if height is None:
            continue
        by_turns: dict[int, list[float]] = {}
        for (step, ms), of in _points(sawtooth):
            if of == kind:
                turns = round((ms - sign * (step * slope + intercept + height)) / turn)
                by_turns.setdefault(turns, []).append(step)
        whole = {turns: steps for turns, steps in by_turns.items() if len(steps) > 1}
        for turns, steps in whole.items():
            # Behind the drop the line goes on to both sides, so that it shows where it meets the axis.
            is_main = len(steps) == max(map(len, whole.values()))
            first = 0.0 if is_main and sign > 0 else steps[0]
            last = sawtooth["sectors_per_track"] if is_main and sign > 0 else steps[-1]
            label = LEGEND[kind] + (f" + {height:.3f} ms" if height else "") if is_main else ""
            ends = [(step, sign * (step * slope + intercept + height) + turns * turn) for step in (first, last)]
            lines.append({"label": label, "ends": ends})
    return lines


def _drop(sawtooth: Mapping[str, Any], x: vega.Options, y: vega.Options) -> list[Chart]:
    """The drop of the base line, and what its ends tell; going backwards, it is a rise."""
    turn, backwards = sawtooth["rotation_ms"], sawtooth["probe"] == "skippy-backwards"
    # How long step 0 takes depends on what was before it.
    base = [point for point, kind in _points(sawtooth) if kind == "base" and point[0] > 0]
    drop = next((pair for pair in pairwise(base) if abs(pair[0][1] - pair[1][1]) > turn / 2), None)
    if drop is None:
        return []
    (before, high), (behind, low) = drop
    middle, text = (before + behind) / 2, f"a revolution: {turn:.3f} ms"
    is_left = middle > sawtooth["sectors_per_track"] / 2
    height = _clear_ms(sawtooth, middle, (low, high), is_left=is_left) if backwards else (low + high) / 2
    # On a phone the names of lines lie within the chart, and going backwards there is no room left; the page says it above, too.
    marks = [{"step": middle, "ms": height, "text": text, "short": "" if backwards else text}]
    if not backwards:
        least = sawtooth["mtm_ms"]
        marks.append(
            {
                "step": behind,
                "ms": 0.45 * low,
                "text": f"(3) {low:.3f} ms: minimum time to media {least:.3f} and a sector",
                "short": f"(3) {low:.3f} ms",
            }
        )
        marks.append({"step": before, "ms": 1.04 * high, "text": "(2)", "short": "(2)"})
        first = sawtooth["points"][0][1]
        if abs(first / turn - 1) < 0.03:
            text = f"(1) step 0: {first:.3f} ms"
            # Behind the rule where the rule would go through it.
            place = middle if middle < WORDS * sawtooth["sectors_per_track"] else 0
            marks.append({"step": place, "ms": 0.93 * first, "text": text, "short": text})
    # Words beside a rule in the right half stand on its left.
    side = {"align": "right", "dx": -8} if is_left else {"align": "left", "dx": 8}
    rule = pl.DataFrame({"step": [middle], "ms": [low], "high": [high]})
    return [
        Chart(rule).mark("rule", color="#333", strokeWidth=1.5).encode(x=x, y=y, y2="high:Q"),
        Chart(pl.DataFrame(marks)).mark("text", fontSize=11, color="#333", **side).encode(x=x, y=y, text="text:N"),
    ]


WORDS = 0.3
"""So much of the width the words beside the drop take."""


def _clear_ms(sawtooth: Mapping[str, Any], middle: float, ends: tuple[float, float], *, is_left: bool) -> float:
    """Where beside the drop words lie farthest from dots, lines and their labels."""
    track = sawtooth["sectors_per_track"]
    first, last = (middle - WORDS * track, middle) if is_left else (middle, middle + WORDS * track)
    taken = [ms for (step, ms), _ in _points(sawtooth) if first <= step <= last]
    for line in sawtooth_lines(sawtooth):
        (begin, low), (end, high) = line["ends"]
        taken += [high] if line["label"] and first - WORDS * track <= end <= last else []
        steps = [step for step in (first, (first + last) / 2, last) if begin <= step <= end]
        taken += [low + (high - low) * (step - begin) / (end - begin) for step in steps]
    heights = [ends[0] + share / 20 * (ends[1] - ends[0]) for share in (10, 9, 11, 8, 12, 7, 13, 6, 14, 5, 15, 4, 16)]
    return max(heights, key=lambda height: min((abs(height - ms) for ms in taken), default=0.0))


def bandwidth_chart(bandwidth: Mapping[str, Any], sector_bytes: int) -> Chart:
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
    x = vega.X("gb:Q", title="location (GB)", scale=vega.Scale(nice=False))
    # A drive of one zone is a flat line, not a picture of the last digit.
    is_flat = max(speeds) < 1.02 * min(speeds)
    y = vega.Y("mib:Q", title="bandwidth (MiB/s)", scale=vega.Scale(zero=is_flat))
    curves = Chart(pl.DataFrame(rows)).mark("line", strokeWidth=1.5).encode(
        x=x, y=y, color=vega.Color("law:N", sort=list(labels), legend=vega.Legend(labelLimit=0, columns=2), scale=vega.Scale(
            domain=list(labels), range=list(labels.values()))))  # fmt: skip
    profile = pl.DataFrame({"gb": places, "mib": speeds})
    measured = Chart(profile).mark("circle", size=16, color="#333", opacity=0.8).encode(
        x=x, y=y, tooltip=[vega.Tooltip("gb:Q", format=",.3f"), vega.Tooltip("mib:Q", format=",.3f")])  # fmt: skip
    return vega.layer(curves, measured).properties(width="container", height=HEIGHT)


def seek_chart(seek: Mapping[str, Any]) -> Chart:
    """The seek curve: measured for writes and reads, and the two-piece law, on a square-root axis."""
    x = vega.X("cylinders:Q", title="distance (cylinders; square-root axis)", scale=vega.Scale(type="sqrt", nice=False))
    y = vega.Y("ms:Q", title="seek time (ms)")
    points = [
        {"cylinders": point["cylinders"], "ms": point["ms"], "op": op} for op in ("write", "read") for point in seek[op]
    ]
    ops = [op for op in style.OPS if seek[op]]
    marks = Chart(pl.DataFrame(points)).mark("circle", size=26, opacity=0.8).encode(
        x=x, y=y, color=vega.Color("op:N", sort=ops, scale=vega.Scale(domain=ops, range=[style.OPS[op] for op in ops])),
        tooltip=["op:N", "cylinders:Q", vega.Tooltip("ms:Q", format=",.3f")])  # fmt: skip
    two = seek["two_piece"]
    if two is None:
        return marks.properties(width="container", height=HEIGHT)
    farthest = max(point["cylinders"] for point in points)
    boundary, (a, b), (c, e) = two["boundary_cylinders"], two["short_ms"], two["long_ms"]
    curve = [{"cylinders": d, "ms": a + b * d**0.5, "piece": 0} for d in _between(1, boundary)]
    curve += [{"cylinders": d, "ms": c + e * d, "piece": 1} for d in _between(boundary, farthest)]
    law = Chart(pl.DataFrame(curve)).mark("line", strokeWidth=1, color="#777").encode(x=x, y=y, detail="piece:N")
    border = pl.DataFrame({"cylinders": [boundary], "text": [f"{boundary:,} cylinders"]})
    rule = Chart(border).mark("rule", strokeDash=[4, 3], color="#999").encode(x=x)
    return vega.layer(rule, law, marks).properties(width="container", height=HEIGHT)


def _between(low: float, high: float) -> list[float]:
    """Distances that a square-root axis shows evenly."""
    ends = low**0.5, high**0.5
    return [(ends[0] + (ends[1] - ends[0]) * part / 60) ** 2 for part in range(61)]


def seeker_chart(points: Sequence[Mapping[str, Any]], sector_bytes: int) -> Chart:
    """Seeker: seek time over distance in GB."""
    frame = pl.DataFrame(
        {"gb": [p["sectors"] * sector_bytes / 1e9 for p in points], "ms": [p["seek_ms"] for p in points]}
    )
    return (
        Chart(frame)
        .mark("circle", size=20, color=style.BLUE)
        .encode(
            x=vega.X("gb:Q", title="distance (GB)", scale=vega.Scale(nice=False)),
            y=vega.Y("ms:Q", title="seek time (ms)"),
            tooltip=[vega.Tooltip("gb:Q", format=",.3f"), vega.Tooltip("ms:Q", format=",.3f")],
        )
        .properties(width="container", height=HEIGHT)
    )
