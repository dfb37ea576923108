"""DiskSim 4.0's functional tests: its simulation files imported, run, and their mean response compared with its own."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from math import sqrt
from pathlib import Path
from statistics import stdev
from typing import TYPE_CHECKING, Any

import headstack
from headstack._core import import_disksim_simulation
from headstack.errors import InputError
from headstack.studies.framework import Progress, Row, about, not_testable

if TYPE_CHECKING:
    from collections.abc import Mapping

# DiskSim runs each synthetic test once, from one seed; so many runs from other seeds tell what of its answer is chance.
RUNS = 16
STUDENT_95 = 2.131

# The requests are the same for everyone: what is left is the model of the drive, and of the system around it.
TOLERANCE = 0.02


@dataclass(frozen=True)
class Test:
    """A simulation file, the mean response that DiskSim's suite announces, and what the original program gives."""

    name: str
    claim: str
    announced: float
    original: float
    decimals: int = 1
    trace: str | None = None


TESTS = (
    Test("synthopen", "open synthetic workload on three disks", 10.9, 10.937),
    Test("synthclosed", "closed synthetic workload on one disk", 87.6, 87.819),
    Test("synthmixed", "mixed synthetic workload on one disk", 22.08, 22.087, 2),
    # DiskSim announces the mean of the driver's requests, 22.8 ms; here it is that of the host's.
    Test("synthraid5", "RAID 5 at the driver, the host's requests", 35.749, 35.749, 3),
    Test("syntharrays", "a set of arrays at the driver", 34.3, 34.272),
    Test("synthcachemem", "memory cache at the controller", 24.6, 24.651),
    Test("synthcachedev", "cache device at the controller", 28.9, 28.939),
    Test("synthsimpledisk", "disk of constant access time", 13.5, 13.712),
    Test("3disks", "three disks on one controller", 10.937, 10.937, 3),
    Test("3disks2", "three disks on separate controllers", 10.937, 10.937, 3),
    Test("ascii", "ASCII trace on 18 disks", 13.8, 13.767, trace="validate/ascii.trace"),
    Test("hplajw", "HP SRT trace on two disks", 48.8, 48.787, trace="hp/ajw.1week.srt"),
)


def functional_rows(data: Path | None, progress: Progress | None = None) -> list[Row]:
    """One row for each functional test of DiskSim's suite; `data` holds `validate`, `drives` and `hp`."""
    say = progress or (lambda _: None)
    rows = []
    for test in TESTS:
        say(f"functional test {test.name}")
        with tempfile.TemporaryDirectory() as folder:
            rows.append(_row(test, data, Path(folder)))
    return rows


def _row(test: Test, data: Path | None, folder: Path) -> Row:
    id_, claim = f"functional-{test.name}", f"{test.claim} ({test.name}.parv): mean response"

    def untestable(why: str) -> Row:
        return not_testable(id_, claim, test.announced, "ms", why)

    file = None if data is None else data / "validate" / f"{test.name}.parv"
    if data is None or file is None or not file.is_file():
        return untestable(f"needs validate/{test.name}.parv: give its directory with --data")
    try:
        found = import_disksim_simulation(file, folders=[data / "drives"])
    except InputError as problem:
        return untestable(_short(str(problem), data))
    as_there = import_disksim_simulation(file, folders=[data / "drives"], meaning="disksim")
    mean, meant = 0.0, 0.0
    within = TOLERANCE * test.announced + 0.5 * 10**-test.decimals
    chance = ""
    if test.trace is not None:
        trace = data / test.trace
        if not trace.is_file():
            return untestable(f"needs {test.trace}: give its directory with --data")
        mean = _mean(written(found, folder)[0], _trace(trace, found["trace_options"]))
        meant = _mean(written(as_there, folder)[0], _trace(trace, as_there["trace_options"]))
    else:
        meant = _run(*written(as_there, folder))
        system, workload = written(found, folder)
        mean = _run(system, workload)
        means = [_run(system, workload, seed) for seed in range(1, RUNS + 1)]
        within = max(within, STUDENT_95 * stdev(means) * sqrt(1 + 1 / RUNS))
        chance = f"; from {RUNS} other seeds {min(means):.2f} to {max(means):.2f}"
    note = f"DiskSim's run {test.original:.3f}; with the drives' parameters as DiskSim means them ours is {meant:.3f}{chance}"
    return about(id_, claim, test.announced, mean, "ms", within=within, note=note)


def written(found: Mapping[str, Any], folder: Path) -> tuple[headstack.System, str]:
    """An imported simulation, as files in `folder`: its system, and its workload as TOML."""
    for name, text in found["drives"]:
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "system.toml").write_text(found["system"], encoding="utf-8")
    return headstack.System(str(folder / "system.toml")), found["workload"] or ""


def _run(system: headstack.System, workload: str, seed: int | None = None) -> float:
    """Mean response under the generators, from the file's own seed unless another is given."""
    made = headstack.Workload(toml=workload)
    return headstack.simulate(system, made, seed=seed, keep=False).summary["response_ms"]["mean"]


def _mean(system: headstack.System, trace: headstack.Trace) -> float:
    return headstack.simulate(system, trace, keep=False).summary["response_ms"]["mean"]


def _trace(path: Path, options: list[str]) -> headstack.Trace:
    """The trace with the options that the import names."""
    devices: list[tuple[int, int | None]] = []
    scales: dict[str, float] = {}
    for option in options:
        name, value = option.split()
        if name == "--device":
            source, target = value.split("=")
            devices.append((int(source), int(target)))
        else:
            scales[name.removeprefix("--").replace("-", "_")] = float(value)
    return headstack.Trace(
        path, devices=devices, lba_scale=scales.get("lba_scale"), time_scale=scales.get("time_scale")
    )


def _short(problem: str, data: Path) -> str:
    return problem.replace(f"{data}/", "")
