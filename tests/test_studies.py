"""What studies are made of: intervals, verdicts that chance does not decide, and runs repeated side by side."""

from __future__ import annotations

import pytest

from headstack import measure
from headstack.studies import skippy, skippy_cases, skippy_table, vickovic
from headstack.studies.framework import Row, about, at_least, at_most
from headstack.studies.repeats import Case, estimate, next_value_within, run_all, run_one

WORKLOAD = """
requests = 400
[[stream]]
read_fraction = 0.6
size.fixed_kib = 4
inter_arrival.exponential_ms = 30
"""


def test_a_measurement_that_ctrl_c_ends_ends_its_study(monkeypatch: pytest.MonkeyPatch) -> None:
    """The study went on with the half that was measured, and called it a defect that there was nothing to average."""
    half = measure.skippy("sim:hp-97560", progress=lambda _: False)
    monkeypatch.setattr(measure, "run", lambda *_, **__: half)
    for run in (lambda: vickovic._measured("write"), skippy_cases._serpentine):
        with pytest.raises(KeyboardInterrupt):
            run()


def test_the_interval_of_a_mean_is_students() -> None:
    # Mean 3, s = 1.5811, s/√5 = 0.70711, t(4) = 2.776.
    mean, half = estimate([1.0, 2.0, 3.0, 4.0, 5.0])
    assert mean == 3.0
    assert half == pytest.approx(1.963, abs=0.001)
    assert next_value_within([1.0, 2.0, 3.0, 4.0, 5.0]) == pytest.approx(2.776 * 1.5811 * 1.2**0.5, abs=0.001)


@pytest.mark.parametrize(
    ("row", "verdict"),
    [
        (at_most("a", "", 1.0, 0.9, "", ci95=0.05), "holds"),
        (at_most("a", "", 1.0, 0.9, "", ci95=0.2), "differs"),
        (at_most("a", "", 1.0, 0.9, ""), "holds"),
        (at_least("a", "", 2.0, 2.1, "", ci95=0.05), "holds"),
        (at_least("a", "", 2.0, 2.1, "", ci95=0.2), "differs"),
        (about("a", "", 1.0, 1.02, "", within=0.05, ci95=0.02), "holds"),
        (about("a", "", 1.0, 1.02, "", within=0.05, ci95=0.04), "differs"),
    ],
)
def test_a_verdict_asks_the_whole_interval(row: Row, verdict: str) -> None:
    assert row.verdict == verdict


def test_a_row_says_where_its_interval_decides() -> None:
    """A number above "at least 1.00" was not reproduced, and nothing said why."""
    assert "all of it must hold" in at_least("a", "", 1.0, 1.07, "", ci95=0.08).note
    assert "must hold" not in at_least("a", "", 1.0, 1.07, "", ci95=0.01).note
    assert "must hold" not in at_most("a", "", 1.0, 1.07, "", ci95=0.08).note


def test_a_note_begins_with_the_interval() -> None:
    assert at_most("a", "", 1.0, 0.9, "", ci95=0.0123, note="why").note == "0.900 ± 0.012 (95 %); why"
    assert at_most("a", "", 2000.0, 1119.1, "", ci95=161.0).note == "1,119 ± 161 (95 %)"


def test_runs_side_by_side_are_the_runs_one_after_the_other() -> None:
    placed = (("drive.*.controller.scheduler", "sptf"), ("drive.*.controller.queue_depth", "64"))
    cases = [Case("hp-c2247a", WORKLOAD, over, seed) for over in ((), placed) for seed in (1, 2, 3)]
    together = run_all(cases)
    assert list(together) == cases
    assert together == {case: run_one(case) for case in cases}
    assert together[cases[0]].mean != together[cases[1]].mean
    assert together[cases[0]].p95 <= together[cases[0]].longest
    assert all(outcome.keeps_up for outcome in together.values())


@pytest.mark.parametrize(("drive", "printed"), [("hp-97560", 8), ("dec-rz26-s2", 2)])
def test_skippy_counts_neither_aims_nor_what_the_file_has_of_the_paper_as_reproduced(drive: str, printed: int) -> None:
    """The 97560's file is of another paper; the RZ26's has all but speed and bus from the table that it is held against."""
    [table] = [each for each in skippy_table.TABLE_3 if each.drive == drive]
    rows = skippy.drive_rows(table, skippy.drive_values(table, measure.run(f"sim:{drive}", skippy.PROBES)))
    kinds = [row.kind for row in rows]
    assert (kinds.count("source"), kinds.count("input")) == (printed, 8 - printed)
    assert [row.id for row in rows if row.kind == "aim"] == [f"{table.key}-truth"]
    assert rows[-1].json()["target"] == 1.0
    assert rows[-1].json()["source"] is None
    by_id = {row.id: row for row in rows}
    assert "as the paper's extractor reads it" in by_id[f"{table.key}-mtm"].claim
