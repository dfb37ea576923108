"""E4, E5: drives with several arms, one or more of them at work."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headstack.studies.framework import Row, about, at_most, not_testable
from headstack.studies.intra_disk.found import LOADS, NEEDS, TITLES, compare
from headstack.studies.intra_disk.runs import parallel

if TYPE_CHECKING:
    from headstack.studies.intra_disk.found import Found

ARMS = (2, 3, 4)
SINGLE = tuple(parallel(arms) for arms in ARMS)
OTHER_KINDS = tuple(parallel(arms, kind) for kind in ("MA", "MC") for arms in ARMS)
# The words of the thesis as numbers; both bounds are ours.
NEARLY = 1.2
SMALL = 0.1


def rows(found: Found) -> list[Row]:
    """What more arms bring."""
    return [*_single_moving(found), *_other_kinds(found)]


def _single_moving(found: Found) -> list[Row]:
    rows = [
        compare(found, "e4-sa2", load, "E4, two arms nearly match MD", "SA(2)", "MD", NEARLY,
                 note="nearly: within a fifth, which is ours")
        for load in ("websearch", "tpcc")
    ]  # fmt: skip
    rows += [
        compare(found, "e4-sa3", load, "E4, three arms beat MD", "SA(3)", "MD", 1.0) for load in ("websearch", "tpcc")
    ]
    if found.has("websearch-excerpt"):
        name, claim = (
            "websearch-excerpt",
            "E4, three arms beat MD, Websearch, the real excerpt alone: mean response, SA(3) over MD",
        )
        note = f"{found.loads[name].origin}; {found.means(name, 'MD', 'SA(2)', 'SA(3)', 'SA(4)')}"
        rows.append(at_most(f"e4-sa3-{name}", claim, 1.0, found.ratio(name, "SA(3)", "MD"), "times", note=note))
    rows.append(compare(found, "e4-sa2", "tpch", "E4, two arms beat MD", "SA(2)", "MD", 1.0))
    rows.append(compare(found, "e4-gain", "financial", "E4, a large gain with three arms", "SA(3)", "HC-SD", 0.5,
                         note="large: half or less, which is ours"))  # fmt: skip
    rows += [
        compare(found, "e4-fourth", load, "E4, little gain beyond three arms", "SA(4)", "SA(3)", 0.8, least=True,
                 note="little: a fifth or less, which is ours")
        for load in LOADS
    ]  # fmt: skip
    rows += [
        compare(
            found, "e4-half", load, "E4, two arms gain more than half the rotational latency does", "SA(2)", "(½)R", 1.0
        )
        for load in ("websearch", "tpcc")
    ]
    for load, half, two in (("websearch", 11.0, 7.0), ("tpcc", 9.5, 7.0)):
        rows += [_tail(found, load, "(½)R", half), _tail(found, load, "SA(2)", two)]
    return rows


def _tail(found: Found, load: str, design: str, printed: float) -> Row:
    id_ = f"e4-tail-{'half' if design == '(½)R' else 'sa2'}-{load}"
    claim = f"E4, {TITLES[load]}: where the density of rotational latency ends, {design}"
    if not found.has(load):
        return not_testable(id_, claim, printed, "ms", NEEDS)
    outcome = found(load, design)
    note = f"where 99.9 % of the latencies end; the longest is {outcome.latency_max:.1f} ms"
    if design == "(½)R":
        note += "; half of a revolution is 4.17 ms, so that the printed one must hold more than rotational latency"
    return about(id_, claim, printed, outcome.latency_end, "ms", within=1.0, note=note)


def _other_kinds(found: Found) -> list[Row]:
    rows = []
    for load in LOADS:
        for kind in ("MA", "MC"):
            id_, claim = f"e5-{kind.lower()}-{load}", f"E5, {TITLES[load]}: mean response, {kind}(2) over SA(2)"
            if not found.has(load):
                rows.append(not_testable(id_, claim, 1.0, "times", NEEDS))
                continue
            note = f"very little gain, open arrivals; {found.means(load, 'SA(2)', f'{kind}(2)')}"
            ratio = found.ratio(load, f"{kind}(2)", "SA(2)")
            rows.append(about(id_, claim, 1.0, ratio, "times", within=SMALL, note=note))
    for load, below, printed in (("websearch", 40.0, 0.75), ("tpcc", 40.0, 0.92), ("financial", 10.0, 0.26)):
        id_, claim = f"e5-below-{load}", f"E5, {TITLES[load]}: share of responses below {below:g} ms on SA(2)"
        if found.has(load):
            ours = found(load, "SA(2)").below(below)
            note = (
                f"{found.loads[load].origin}; {found.means(load, 'SA(2)')}: more below {below:g} ms is a lighter load"
            )
            rows.append(about(id_, claim, printed, ours, "", within=0.05, note=note))
        else:
            rows.append(not_testable(id_, claim, printed, "", NEEDS))
    return rows
