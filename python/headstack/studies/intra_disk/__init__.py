"""Whether one drive of high capacity, with several arms, can take the place of an array of faster ones."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from headstack.studies.intra_disk.answer import finding

if TYPE_CHECKING:
    from headstack.report.page import Section
    from headstack.studies.framework import Progress, Row
    from headstack.studies.intra_disk.found import Found
    from headstack.studies.intra_disk.loads import Load
    from headstack.studies.intra_disk.runs import Design

__all__ = ["PAPER", "TITLE", "designs", "finding", "load_rows", "run", "study_loads"]

TITLE = "Can one drive with several arms take the place of an array?"
PAPER = "Sankar, Intra-disk parallelism, MSc thesis, University of Virginia, 2008; Sankar, Gurumurthi & Stan, ISCA 2008"


def run(data: Path | None, progress: Progress | None) -> tuple[list[Row], list[Section]]:
    """Compare; the loads after real traces need the data."""
    from headstack.studies.intra_disk import arrays, bills, charts, closed, latency

    say = progress or (lambda _: None)
    found = study_loads(data, say)
    rows, sections = load_rows(found), charts.sections(found)
    say("closed arrivals")
    more, shown = closed.study()
    rows += more
    sections += shown
    say("rotational latency")
    rows += latency.rows()
    say("arrays of parallel drives")
    drives, shown = arrays.study()
    rows += drives
    sections += shown
    more, shown = bills.study(arrays.alike(drives))
    return [*rows, *more], [*sections, *shown]


def designs(load: Load) -> list[Design]:
    """What a load is run on; an excerpt does without the variants."""
    from headstack.studies.intra_disk import bottleneck, migration, parallel, watts
    from headstack.studies.intra_disk.found import LOADS

    few = [migration.array(load), migration.HC, *parallel.SINGLE]
    return few if load.name not in LOADS else [*few, *bottleneck.DESIGNS, *parallel.OTHER_KINDS, *watts.SLOW]


def study_loads(data: Path | None, say: Progress, requests: int | None = None) -> Found:
    """Every load on every design that is asked about it."""
    from headstack.studies.intra_disk.found import Found
    from headstack.studies.intra_disk.loads import REQUESTS, loads
    from headstack.studies.intra_disk.runs import run_all
    from headstack.studies.repeats import each

    with TemporaryDirectory() as folder:
        say("the loads")
        # In a thread of its own, files appear when they are complete, not with the pages that this one is to write.
        (made,) = each(loads, [(data, Path(folder), requests or REQUESTS)])
        outcomes = {}
        for load in made:
            say(load.title)
            outcomes |= run_all((load, design) for design in designs(load))
    return Found(made, outcomes)


def load_rows(found: Found) -> list[Row]:
    """E1 to E7, in the thesis' order."""
    from headstack.studies.intra_disk import bottleneck, migration, parallel, watts

    return [row for part in (migration, bottleneck, parallel, watts) for row in part.rows(found)]
