"""E1, E2: from an array of fast drives to one of high capacity."""

from __future__ import annotations

from dataclasses import replace
from math import sqrt
from typing import TYPE_CHECKING

from headstack.studies.framework import Row, about, at_least, not_testable
from headstack.studies.intra_disk.answer import figures
from headstack.studies.intra_disk.found import LOADS, NEEDS, TITLES, compare
from headstack.studies.intra_disk.runs import Design, parallel

if TYPE_CHECKING:
    from headstack.studies.intra_disk.found import Found
    from headstack.studies.intra_disk.loads import Load

HC = parallel(1)
# The words of the thesis as numbers; both bounds are ours. What is above the second is nearer to ten than to one.
LARGE_LOSS = 2.0
ORDER_OF_MAGNITUDE = sqrt(10)


def array(load: Load) -> Design:
    """The array that the load was meant for."""
    return Design("MD", load.array)


def rows(found: Found) -> list[Row]:
    """Responses and watts of both; the first row has what the answer is made of."""
    first, *others = [*_responses(found), *_watts(found)]
    return [
        replace(first, besides={name: ms for load in found.loads for name, ms in figures(found, load).items()}),
        *others,
    ]


def _responses(found: Found) -> list[Row]:
    rows = [
        compare(found, "e1-loss", load, "E1, one drive instead of an array", "HC-SD", "MD", LARGE_LOSS, least=True,
                 note="the thesis: a large loss; the factor of 2 is ours")
        for load in ("financial", "websearch", "tpcc")
    ]  # fmt: skip
    for load in ("financial", "websearch"):
        if found.has(f"{load}-excerpt"):
            name = f"{load}-excerpt"
            claim = f"E1, {TITLES[load]}, the real excerpt alone: mean response, HC-SD over MD"
            note = f"{found.loads[name].origin}; {found.means(name, 'MD', 'HC-SD', 'SA(2)', 'SA(3)', 'SA(4)')}"
            rows.append(
                at_least(f"e1-loss-{name}", claim, LARGE_LOSS, found.ratio(name, "HC-SD", "MD"), "times", note=note)
            )
    told = found.loads["tpch"].origin
    return [
        *rows,
        about("e1-tpch-md", "E1, TPC-H: mean response on MD", 3.99, found("tpch", "MD").mean, "ms", within=0.2, note=told,
              kind="input"),
        about("e1-tpch-hcsd", "E1, TPC-H: mean response on HC-SD", 4.86, found("tpch", "HC-SD").mean, "ms", within=0.243,
              note=told, kind="input"),
    ]  # fmt: skip


def _watts(found: Found) -> list[Row]:
    rows = []
    for load in LOADS:
        claim = f"E2, {TITLES[load]}: watts of MD over those of HC-SD"
        if not found.has(load):
            rows.append(not_testable(f"e2-ratio-{load}", claim, ORDER_OF_MAGNITUDE, "times", NEEDS))
            continue
        md, one = found(load, "MD"), found(load, "HC-SD")
        note = (
            "an order of magnitude: nearer to ten than to one; "
            f"{md.average_w:.0f} W against {one.average_w:.1f} W; the array's idle watts are assumed"
        )
        rows += [
            at_least(f"e2-ratio-{load}", claim, ORDER_OF_MAGNITUDE, md.average_w / one.average_w, "times", note=note),
            at_least(
                f"e2-idle-{load}",
                f"E2, {TITLES[load]}: share of MD's watts while idle",
                0.5,
                md.watts["idle"] / md.average_w,
                "",
                note="most of it",
            ),
        ]
    return rows
