"""Draw loop.svg, the picture of what headstack is for."""

from __future__ import annotations

from pathlib import Path

STATIONS = [
    ("measure", "probe a device,", "trace a host"),
    ("describe", "a drive file, every", "value with its source"),
    ("simulate", "requests in, one row", "per request out"),
    ("validate", "against measured", "times"),
    ("explore", "arrays, arms, caches,", "schedulers"),
]
WIDTH, HEIGHT, GAP, TOP, LEFT = 156, 92, 34, 84, 24
INK, MUTED, FILL, EDGE, ACCENT = "#1d2733", "#566472", "#eef3f8", "#8aa0b5", "#b3541e"


def platter(x: float, y: float) -> str:
    """Draw a small disk with its arm, as an ornament in the corner."""
    rings = "".join(
        f'<circle cx="{x}" cy="{y}" r="{r}" fill="none" stroke="{EDGE}" stroke-width="1"/>' for r in (26, 21, 16, 11)
    )
    hub = f'<circle cx="{x}" cy="{y}" r="5" fill="{EDGE}"/>'
    arm = f'<path d="M{x + 46} {y + 24} L{x + 12} {y + 3}" stroke="{ACCENT}" stroke-width="3" stroke-linecap="round"/>'
    return rings + hub + arm + f'<circle cx="{x + 46}" cy="{y + 24}" r="4.5" fill="{ACCENT}"/>'


def picture() -> str:
    """Return the SVG."""
    total = 2 * LEFT + len(STATIONS) * WIDTH + (len(STATIONS) - 1) * GAP
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {total} 262" width="{total}" height="262" '
        'font-family="system-ui, Segoe UI, Helvetica, Arial, sans-serif" role="img" '
        'aria-label="Measure, describe, simulate, validate, explore; calibration leads from validate back to describe.">',
        f'<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto">'
        f'<path d="M0 0 L8 4 L0 8 z" fill="{MUTED}"/></marker>'
        f'<marker id="back" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto">'
        f'<path d="M0 0 L8 4 L0 8 z" fill="{ACCENT}"/></marker></defs>',
        f'<rect width="{total}" height="262" rx="10" fill="#ffffff"/>',
        f'<text x="{LEFT}" y="48" font-size="24" font-weight="600" fill="{INK}">headstack</text>',
        f'<text x="{LEFT + 134}" y="48" font-size="15" fill="{MUTED}">a laboratory for disk drives</text>',
        platter(total - 84, 40),
    ]
    for index, (name, *lines) in enumerate(STATIONS):
        x = LEFT + index * (WIDTH + GAP)
        parts.append(
            f'<rect x="{x}" y="{TOP}" width="{WIDTH}" height="{HEIGHT}" rx="8" fill="{FILL}" stroke="{EDGE}"/>'
            f'<text x="{x + WIDTH / 2}" y="{TOP + 31}" font-size="17" font-weight="600" text-anchor="middle" '
            f'fill="{INK}">{name}</text>'
        )
        parts += [
            f'<text x="{x + WIDTH / 2}" y="{TOP + 56 + 19 * row}" font-size="13" text-anchor="middle" '
            f'fill="{MUTED}">{line}</text>'
            for row, line in enumerate(lines)
        ]
        if index + 1 < len(STATIONS):
            parts.append(
                f'<path d="M{x + WIDTH + 5} {TOP + HEIGHT / 2} h{GAP - 10}" stroke="{MUTED}" stroke-width="2" '
                'marker-end="url(#tip)"/>'
            )
    middle = [LEFT + index * (WIDTH + GAP) + WIDTH / 2 for index in range(len(STATIONS))]
    low, turn = TOP + HEIGHT + 5, 226
    parts.append(
        f'<path d="M{middle[3]} {low} V{turn - 10} q0 10 -10 10 H{middle[1] + 10} q-10 0 -10 -10 V{low + 2}" fill="none" '
        f'stroke="{ACCENT}" stroke-width="2" marker-end="url(#back)"/>'
        f'<rect x="{middle[2] - 46}" y="{turn - 13}" width="92" height="26" fill="#ffffff"/>'
        f'<text x="{middle[2]}" y="{turn + 6}" font-size="16" font-weight="600" text-anchor="middle" '
        f'fill="{ACCENT}">calibrate</text>'
    )
    return "\n".join([*parts, "</svg>", ""])


if __name__ == "__main__":
    Path(__file__).with_name("loop.svg").write_text(picture(), encoding="utf-8")
