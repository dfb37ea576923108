"""What arms around the spindle are worth by themselves: rotational latency without seeks and without a queue."""

from __future__ import annotations

import headstack
from headstack.counted import plural
from headstack.studies.framework import Row, about
from headstack.studies.intra_disk.runs import hc_sd, parallel, run_one
from headstack.studies.repeats import each

ARMS = (1, 2, 3, 4)
REVOLUTION_MS = 60_000 / 7200
REQUESTS = 100_000
WITHIN = 0.01
ALONE = "[[stream]]\nread_fraction = 1.0\nsize.fixed_kib = 4\nalign_kib = 4\ninter_arrival.exponential_ms = 100\n"


def rows(requests: int = REQUESTS) -> list[Row]:
    """Equally spaced arms that need no time to seek find their sector after half the distance between them."""
    means = each(_mean, [(arms, requests) for arms in ARMS])
    note = "derived: half a revolution over the number of arms; reads at random, one at a time, seeks × 0"
    return [
        about(f"latency-{arms}", f"Rotational latency with {plural(arms, 'arm')}", expected := REVOLUTION_MS / (2 * arms), mean, "ms",
              within=WITHIN * expected, note=note, kind="aim")
        for arms, mean in zip(ARMS, means, strict=True)
    ]  # fmt: skip


def _mean(arms: int, requests: int) -> float:
    values = {"fidelity__seek_scale": 0.0, "controller__scheduler": "fcfs"}
    design = hc_sd("no seeks", **values)
    system = headstack.System(design.system, overrides=[*design.overrides, *parallel(arms).overrides])
    return run_one(system, headstack.Workload(toml=f"seed = 1\nrequests = {requests}\n{ALONE}")).latency_mean
