"""The page of a sweep: which of its loads is called the heaviest."""

from __future__ import annotations

from pathlib import Path

import headstack
from headstack.report.sweep import chosen, tiles
from sweeps import written

# The slow drive meets both loads, the quick ones the heavy one alone.
GRID = """
metrics = ["response_ms.p99", "iops"]
constraints = ["system == 'hp-97560' or gap == 9.0"]
[base]
system = "hp-97560"
workload = "thesis-4ms"
requests = 1000
[[axis]]
path = "system"
values = ["hp-97560", "nearline-18tb", "cheetah-9lp"]
[[axis]]
name = "gap"
path = "workload.stream.0.inter_arrival.exponential_ms"
values = [200.0, 9.0]
"""


def test_the_heaviest_load_is_that_of_the_same_designs(tmp_path: Path) -> None:
    """It was that whose quickest point is slowest: the light load, which one slow drive met alone."""
    found = headstack.sweep(written(tmp_path, GRID), tmp_path / "out").compare()
    assert {point.values["gap"] for point in chosen(found)} == {9.0}
    first = tiles(found)[0]
    assert first.label.endswith(", heaviest load")
    assert "hp-97560" not in first.detail
