"""E3: what limits the one drive: seeks, rotation, or its cache."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headstack.studies.framework import Row, about, not_testable
from headstack.studies.intra_disk.found import LOADS, NEEDS, TITLES, compare
from headstack.studies.intra_disk.runs import Design, hc_sd

if TYPE_CHECKING:
    from headstack.studies.intra_disk.found import Found

SCALES = (0.5, 0.25, 0.0)
WORDS = {0.5: "½", 0.25: "¼", 0.0: "0"}


def scaled(what: str, factor: float) -> Design:
    """HC-SD with its seeks (`S`) or its rotational latencies (`R`) multiplied."""
    key = {"S": "fidelity__seek_scale", "R": "fidelity__rotation_scale"}[what]
    return hc_sd(f"({WORDS[factor]}){what}", **{key: factor})


CACHE_64 = hc_sd("cache 64 MB", buffer__size_kib=65536, cache__segment_kib=4096)
DESIGNS = (*(scaled(what, factor) for what in "SR" for factor in SCALES), CACHE_64)


def rows(found: Found) -> list[Row]:
    """Which of them matters."""
    rows = []
    for load in LOADS:
        for factor in SCALES:
            word = WORDS[factor]
            claim = f"E3, rotation limits more than seeks (× {word})"
            rows.append(
                compare(found, f"e3-r{word}", load, claim, f"({word})R", f"({word})S", 1.0, note=_spent(found, load))
            )
        claim = f"E3, {TITLES[load]}: mean response with 64 MB of cache over that with 8 MB"
        if not found.has(load):
            rows.append(not_testable(f"e3-cache-{load}", claim, 1.0, "times", NEEDS))
            continue
        ratio = found.ratio(load, CACHE_64.name, "HC-SD")
        note = f"negligible; {found.means(load, 'HC-SD', CACHE_64.name)}"
        rows.append(about(f"e3-cache-{load}", claim, 1.0, ratio, "times", within=0.05, note=note))
    little = "little; that it keeps half or more is our reading"
    rows += [
        compare(
            found, "e3-noseek", load, "E3, no seeks at all do little", "(0)S", "HC-SD", 0.5, least=True, note=little
        )
        for load in ("financial", "tpcc")
    ]
    rows += [
        compare(found, "e3-quarter", load, "E3, a quarter of the rotational latency passes MD", "(¼)R", "MD", 1.0)
        for load in ("websearch", "tpcc", "tpch")
    ]
    rows.append(compare(found, "e3-seek", "tpch", "E3, seeks alone can bring it to MD", "(0)S", "MD", 1.0))
    return rows


def _spent(found: Found, load: str) -> str:
    """Where the arm's time goes, which is why."""
    if not found.has(load):
        return ""
    one = found(load, "HC-SD")
    return (
        f"on HC-SD a request takes {one.seek_mean:.1f} ms of seek (with settling and head switches, which are scaled too) and "
        f"{one.latency_mean:.1f} of rotation under SPTF"
    )
