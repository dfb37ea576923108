"""One look for every chart: colours that colour-blind readers tell apart, plain axes, no decoration."""

from __future__ import annotations

from typing import Any

# Okabe and Ito's palette.
BLUE, SKY, GREEN, ORANGE, VERMILLION, PURPLE, GREY, PALE = (
    "#0072B2", "#56B4E9", "#009E73", "#E69F00", "#D55E00", "#CC79A7", "#8A8A8A", "#BDBDBD",
)  # fmt: skip

OPS = {"read": BLUE, "write": VERMILLION}
PHASES = {
    "queue": GREY,
    "overhead": PURPLE,
    "seek": BLUE,
    "rotation": SKY,
    "transfer": GREEN,
    "bus": ORANGE,
    "other": VERMILLION,
}
STEPS = {"wait": PHASES["other"], **{name: PHASES[name] for name in PHASES if name != "other"}}
RUNGS = {"M0": VERMILLION, "M1": ORANGE, "M2": SKY, "M3": BLUE, "M4": GREEN, "M5": PURPLE}

FONT = "system-ui, 'Segoe UI', 'Helvetica Neue', 'DejaVu Sans', Arial, sans-serif"

CONFIG: dict[str, Any] = {
    "font": FONT,
    "background": "white",
    "view": {"stroke": None, "continuousWidth": 300, "continuousHeight": 300},
    "axis": {
        "labelFontSize": 12,
        # Names of systems are long, and are shown in full: "4 × dual-actuator-18tb, raid-5, stripe 64 KiB".
        "labelLimit": 400,
        # On a phone neighbours would touch: of those that do, every second is left out.
        "labelSeparation": 8,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "titleColor": "#444",
        "labelColor": "#444",
        "gridColor": "#e8e8e8",
        "domainColor": "#999",
        "tickColor": "#999",
    },
    "legend": {"labelFontSize": 12, "title": None, "orient": "top", "symbolStrokeWidth": 3, "symbolOpacity": 1},
    "line": {"strokeWidth": 2},
}
