"""Whether one drive of high capacity, with several arms, can take the place of an array of faster ones."""

from __future__ import annotations

from math import prod
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from headstack.report.page import Section
    from headstack.studies.framework import Progress, Row
    from headstack.studies.intra_disk.found import Found
    from headstack.studies.intra_disk.loads import Load
    from headstack.studies.intra_disk.runs import Design

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
    for part in (arrays.study, bills.study):
        more, shown = part()
        rows += more
        sections += shown
    return rows, sections


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


def finding(ours: dict[str, float]) -> str:
    """How few drives of four arms do what four ordinary ones do."""
    two, four = ours.get("e8-8ms-sa2"), ours.get("e8-8ms-sa4")
    if two is None or four is None:
        return _by_load(ours)
    return f"{_by_load(ours)} At the 90th percentile, four ordinary drives are worth {two:.0f} with two arms or {four:.0f} with four (8 ms between arrivals).".strip()


# Rows whose ratios make up the mean response of one drive over the array's, and the arms of the drive.
_OVER_ARRAY = {
    "Financial": (4, ("e1-loss-financial", "e4-gain-financial", "e4-fourth-financial")),
    "Websearch": (4, ("e4-sa3-websearch", "e4-fourth-websearch")),
    "TPC-C": (4, ("e4-sa3-tpcc", "e4-fourth-tpcc")),
    "TPC-H": (2, ("e4-sa2-tpch",)),
}


def _by_load(ours: dict[str, float]) -> str:
    """Under which loads one drive takes the array's place, by the mean response; of those that were run."""
    found = {
        f"{load} {prod(ours[id_] for id_ in ids):.2f}, {arms} arms": prod(ours[id_] for id_ in ids)
        for load, (arms, ids) in _OVER_ARRAY.items()
        if all(id_ in ours for id_ in ids)
    }
    yes = "; ".join(told for told, ratio in found.items() if ratio <= 1)
    no = "; ".join(told for told, ratio in found.items() if ratio > 1)
    parts = [f"yes ({yes})" if yes else "", f"no ({no})" if no else ""]
    answer = ", ".join(filter(None, parts))
    return f"By the mean response, times the array's: {answer}." if answer else ""
