"""E5 once more, under closed arrivals: users who ask again as soon as they are answered, which the thesis left open."""

from __future__ import annotations

from headstack.report.page import Section
from headstack.shown import number
from headstack.studies.framework import Row, at_most
from headstack.studies.intra_disk.loads import Load
from headstack.studies.intra_disk.runs import HC_SD, parallel, run_all

USERS = 8
ARMS = (2, 4)
KINDS = ("SA", "MA", "MC")
# Closed arrivals bring out more than the little that open ones are said to: a bound of ours.
LITTLE = 0.1

ORIGIN = f"{USERS} users without think time; 60 % reads, 4 KiB, 20 % sequential"


def load(requests: int) -> Load:
    """What the users ask for."""
    stream = (
        "[[stream]]\nread_fraction = 0.6\nsequential_fraction = 0.2\nsize.fixed_kib = 4\nalign_kib = 4\n"
        f"users = {USERS}\nthink.constant_ms = 0\n"
    )
    text = f"seed = 1\nrequests = {requests}\n{stream}"
    return Load("closed", "closed arrivals", HC_SD, ORIGIN, requests, workload=text)


def study(requests: int = 40_000) -> tuple[list[Row], list[Section]]:
    """Mean responses, whose inverse is the throughput: the number of users is fixed."""
    asked = load(requests)
    found = run_all((asked, parallel(arms, kind)) for arms in ARMS for kind in KINDS)
    means = {(arms, kind): found[asked.name, parallel(arms, kind).name].mean for arms in ARMS for kind in KINDS}
    rows = [
        at_most(
            f"e5-closed-{kind.lower()}{arms}",
            f"E5, closed arrivals: mean response, {kind}({arms}) over SA({arms})",
            1 - LITTLE,
            means[arms, kind] / means[arms, "SA"],
            "times",
            kind="aim",
            note=f"{ORIGIN}; {_rates(means, arms, kind)}; the thesis: closed arrivals might change the picture",
        )
        for arms in ARMS
        for kind in KINDS[1:]
    ]
    table = [
        [f"{kind}({arms})", number(mean, 2), number(1000 * USERS / mean, 0)] for (arms, kind), mean in means.items()
    ]
    section = Section("E5: closed arrivals", f"{ORIGIN}.", columns=["", "mean response (ms)", "IOPS"], rows=table)
    return rows, [section]


def _rates(means: dict[tuple[int, str], float], arms: int, kind: str) -> str:
    """Requests a second of both designs."""
    rate = {of: 1000 * USERS / means[arms, of] for of in ("SA", kind)}
    return f"{rate['SA']:,.0f} and {rate[kind]:,.0f} IOPS"
