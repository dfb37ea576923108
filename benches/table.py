"""Print one table of the benchmarks: time and rate as criterion measured them, instructions as callgrind counted them.

Run by `make bench`, after `cargo bench`. Instructions are the difference of a longer and a shorter run of the same work,
so that starting up is not in them; without valgrind their column stays empty.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple


class Timed(NamedTuple):
    """What criterion measured of one benchmark."""

    ns: float
    """Of one element: a request, a record, a step."""
    low: float
    high: float


def timed(folder: Path) -> dict[str, Timed]:
    """Read the last results below criterion's folder, by the names of the benchmarks."""
    found = {}
    for path in sorted(folder.glob("**/new/benchmark.json")):
        about = json.loads(path.read_text(encoding="utf-8"))
        estimates = json.loads(path.with_name("estimates.json").read_text(encoding="utf-8"))
        throughput = about.get("throughput") or {}
        elements = throughput.get("Elements", 1) if isinstance(throughput, dict) else 1
        # The slope is better, but there is none where each sample has as many iterations.
        best = estimates.get("slope") or estimates["mean"]
        interval = best["confidence_interval"]
        values = (best["point_estimate"], interval["lower_bound"], interval["upper_bound"])
        found[about["full_id"]] = Timed(*(value / elements for value in values))
    return found


def counted(program: Path) -> dict[str, float]:
    """Count the instructions of each case of the program `count`, for one element."""
    cases = [line.split("\t") for line in output([program, "list"]).splitlines()]
    with tempfile.TemporaryDirectory() as folder:
        output([program, "prepare", folder])
        found = {}
        for name, shorter, longer in cases:
            print(f"counting {name}", file=sys.stderr)
            few, many = (instructions(program, name, length, folder) for length in (shorter, longer))
            found[name] = (many - few) / (int(longer) - int(shorter))
    return found


def instructions(program: Path, name: str, length: str, folder: str) -> int:
    """Run one case under callgrind; how many instructions it took in all."""
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", program, "run", name, length, folder]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stderr  # noqa: S603
    found = re.search(r"Collected\s*:\s*(\d+)", said)
    if found is None:
        sys.exit(f"callgrind does not say how many instructions it collected:\n{said}")
    return int(found[1])


def output(command: list[str | Path]) -> str:
    """What a command prints."""
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout  # noqa: S603


def rows(times: dict[str, Timed], counts: dict[str, float]) -> list[tuple[str, ...]]:
    """One row for each name that either knows, in natural order: numbers as numbers."""
    lines = []
    for name in sorted({*times, *counts}, key=natural):
        time, count = times.get(name), counts.get(name)
        lines.append(
            (
                name,
                figures(time.ns) if time else "–",
                f"{figures(time.low)} to {figures(time.high)}" if time else "–",
                f"{1e9 / time.ns:,.0f}" if time else "–",
                "–" if count is None else f"{count:,.0f}",
            )
        )
    return lines


def natural(name: str) -> list[tuple[bool, int, str]]:
    """Split a name so that `10 waiting` comes before `100 waiting`."""
    return [(part.isdigit(), int(part) if part.isdigit() else 0, part) for part in re.split(r"(\d+)", name)]


def figures(value: float) -> str:
    """Three figures, without an exponent."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


HEAD = ("benchmark", "ns", "95 % interval", "per second", "instructions")


def show(lines: list[tuple[str, ...]], *, markdown: bool) -> str:
    """The table, for a terminal or a page."""
    if markdown:
        cells = [HEAD, ("---", "---:", "---:", "---:", "---:"), *lines]
        return "\n".join("| " + " | ".join(row) + " |" for row in cells)
    widths = [max(len(row[column]) for row in (HEAD, *lines)) for column in range(len(HEAD))]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if column == 0 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in (HEAD, *lines)
    )


def main() -> None:
    """Read, count, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("target", type=Path, help="cargo's target directory")
    parser.add_argument("--markdown", action="store_true", help="print a table for docs/performance.md")
    arguments = parser.parse_args()
    times = timed(arguments.target / "criterion")
    program = arguments.target / "release" / "count"
    counts = {}
    if shutil.which("valgrind") is None:
        print("no instructions counted: valgrind is not installed", file=sys.stderr)
    elif not program.is_file():
        sys.exit(f"{program} is missing: cargo bench --no-run --package headstack-benches")
    else:
        counts = counted(program)
    if not times and not counts:
        sys.exit(f"there are no results in {arguments.target / 'criterion'}: run cargo bench")
    print(show(rows(times, counts), markdown=arguments.markdown))


if __name__ == "__main__":
    main()
