"""DiskSim 4.0's functional systems under the very requests its own generators made: what is left is the model of the system."""

from __future__ import annotations

import csv
import gzip
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import headstack
from headstack._core import import_disksim_simulation
from headstack.errors import InputError
from headstack.studies.framework import Progress, Row, about, at_most, not_testable
from headstack.studies.functional import written

if TYPE_CHECKING:
    from headstack.results.runs import ArrayCacheCounts

# DiskSim's mean response over the host's requests in the runs whose arrivals these are, and how near ours is to be, in percent.
RUNS = {
    "synthopen": (10.937, 1.0),
    "synthclosed": (87.819, 1.0),
    "synthmixed": (22.087, 1.0),
    "synthraid5": (35.749, 2.0),
    "syntharrays": (34.272, 2.0),
    "synthcachemem": (24.651, 2.0),
    "synthcachedev": (28.939, 2.0),
    "synthsimpledisk": (13.712, 1.0),
    "3disks": (10.937, 1.0),
}
# A command that an array sends itself, when another is complete: no request of the host.
SENT_BY_ARRAY = 0x20
# DiskSim's run ends with its last arrival, and leaves some commands without completion; it sends none that ours does not.
OPEN_AT_END = 0.005

# What DiskSim's cache device did in that run: reads served by it, and writes to it of what had been read.
CACHE_COUNTS = {"synthcachedev": {"read hits": 154, "populations": 6420}}

NOTES = {
    "syntharrays": (
        "disks that share a bus keep it through the overhead of a command, as DiskSim lets them; here by the overheads without "
        "regard to the command before"
    ),
}


def own_arrival_rows(data: Path | None, progress: Progress | None = None) -> list[Row]:
    """Two rows for each system, mean response and number of commands; `data` holds `disksim-runs`, `validate` and `drives`."""
    say = progress or (lambda _: None)
    rows = []
    for name in RUNS:
        say(f"DiskSim's own arrivals: {name}")
        with tempfile.TemporaryDirectory() as folder:
            rows += _rows(name, data, Path(folder))
    return rows


def _rows(name: str, data: Path | None, folder: Path) -> list[Row]:
    original, percent = RUNS[name]
    id_, claim = f"arrivals-{name}", f"{name}.parv under DiskSim's own arrivals: mean response"
    arrivals = None if data is None else data / "disksim-runs" / f"{name}.arrivals.gz"
    if data is None or arrivals is None or not arrivals.is_file():
        why = f"needs disksim-runs/{name}.arrivals.gz: give its directory with --data"
        return [not_testable(id_, claim, original, "ms", why)]
    try:
        found = import_disksim_simulation(
            data / "validate" / f"{name}.parv", folders=[data / "drives"], meaning="disksim"
        )
    except InputError as problem:
        return [not_testable(id_, claim, original, "ms", str(problem).replace(f"{data}/", ""))]
    system, _ = written(found, folder)
    summary = headstack.simulate(system, _of_the_host(arrivals, folder), keep=False).summary
    mean = summary["response_ms"]["mean"]
    caches = summary.get("array_caches", [])
    # With a cache, what is counted at the driver are its requests, not what the controller makes of them.
    what = "requests" if caches else "commands"
    sent = summary["requests"] if caches else sum(drive["commands"] for drive in summary["drives"])
    completed = _completions(data / "disksim-runs" / f"{name}.completions.csv.gz")
    off = f"{100 * (mean / original - 1):+.2f} %"
    note = f"{off}; {NOTES[name]}" if name in NOTES else off
    return [
        about(id_, claim, original, mean, "ms", within=percent / 100 * original, note=note),
        at_most(
            f"{id_}-commands",
            f"{name}.parv under DiskSim's own arrivals: {what} sent beyond those it completed",
            OPEN_AT_END * completed,
            abs(sent - completed),
            what,
            note=f"{sent:,} sent, {completed:,} completed by DiskSim before its run ended",
            kind="aim",
        ),
        *(row for cache in caches for row in _counts(name, cache)),
    ]


def _counts(name: str, cache: ArrayCacheCounts) -> list[Row]:
    """What a cache did, where DiskSim says what its own did."""
    ours = {"read hits": cache["read_hits"], "populations": cache["populations"]}
    return [
        about(
            f"arrivals-{name}-{what.replace(' ', '-')}",
            f"{name}.parv under DiskSim's own arrivals: {what}",
            count,
            ours[what],
            "",
            within=0,
        )
        for what, count in CACHE_COUNTS.get(name, {}).items()
    ]


def _of_the_host(arrivals: Path, folder: Path) -> headstack.Trace:
    """The host's requests among the arrivals at DiskSim's driver."""
    path = folder / "arrivals.ascii"
    with gzip.open(arrivals, "rt", encoding="ascii") as lines:
        own = [line for line in lines if not int(line.split()[4], 16) & SENT_BY_ARRAY]
    path.write_text("".join(own), encoding="ascii")
    return headstack.Trace(path, format="disksim-ascii")


def _completions(path: Path) -> int:
    with gzip.open(path, "rt", encoding="ascii") as lines:
        return sum(1 for _ in csv.DictReader(lines))
