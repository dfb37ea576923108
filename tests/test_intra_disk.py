"""The study of parallel drives: its loads, its designs, and rows that come from runs."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import polars as pl
import pytest

import headstack as package
from conftest import DATA, data_file
from headstack._core import Together
from headstack.studies import intra_disk
from headstack.studies.intra_disk import arrays, bills, bottleneck, charts, loads, runs, table_2_1, watts

STEADY = "[[stream]]\nread_fraction = 1.0\nsize.fixed_kib = 4\nalign_kib = 4\ninter_arrival.exponential_ms = 20\n"
ARRAYS = {"md-financial": (24, 457.7), "md-websearch": (6, 114.4), "md-tpcc": (4, 148.7), "md-tpch": (15, 539.4)}


@pytest.mark.parametrize("name", ARRAYS)
def test_the_arrays_hold_what_the_thesis_derives_and_hc_sd_takes_it(name: str) -> None:
    system = package.System(name)
    drives, gigabytes = ARRAYS[name]
    assert len(system.drives) == drives
    assert system.volumes[0][1] * 512e-9 == pytest.approx(gigabytes, abs=0.06)
    assert system.volumes[0][1] < package.Drive("hc-sd").capacity_sectors


def requests(rows: list[tuple[int, int]], sectors: int = 8) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "arrival_ns": range(len(rows)),
            "lba": [lba for _, lba in rows],
            "sectors": [sectors] * len(rows),
            "device": [device for device, _ in rows],
            "op": ["read"] * len(rows),
            "flags": [0] * len(rows),
        },
        schema_overrides={"arrival_ns": pl.UInt64, "lba": pl.UInt64, "sectors": pl.UInt32, "device": pl.UInt32},
    )


def test_two_stacks_are_the_drive_cut_in_two() -> None:
    box, drive = package.System("two-stacks"), package.Drive("hc-sd")
    assert box.volumes[0][1] == pytest.approx(drive.capacity_sectors, rel=1e-5)
    load = package.Workload(toml="seed = 1\nrequests = 3000\n" + STEADY)
    one, two = (package.simulate(system, load, keep=False).summary for system in ("hc-sd", "two-stacks"))
    shares = [each["requests"] / 3000 for each in two["drives"]]
    assert sum(shares) >= 1
    assert min(shares) > 0.45
    assert two["response_ms"]["mean"] < one["response_ms"]["mean"]
    # At rest they draw the same; work is shared, not doubled.
    assert two["power"]["by_state_w"]["idle"] < 12.15
    assert two["power"]["average_w"] == pytest.approx(one["power"]["average_w"], rel=0.1)


def means(load: str, array_ms: float, *one_ms: float, scale: float | None = None) -> dict[str, float]:
    """What the answer is made of: mean responses of the array, and of one drive with one to four arms."""
    found = {f"{load}-md-ms": array_ms} | {f"{load}-{arms}-ms": ms for arms, ms in enumerate(one_ms, 1)}
    return found if scale is None else {**found, f"{load}-time-scale": scale}


def test_the_study_answers_its_title_load_by_load_with_the_fewest_arms_that_do() -> None:
    ours = means("financial", 3.0, 60.0, 36.0, 27.0, 24.0) | means("tpcc", 10.0, 15.0, 9.5, 8.0, 7.0)
    assert intra_disk.finding(ours) == (
        "By the mean response, times the array's: yes, with the fewest arms that do (TPC-C 0.95, 2 arms), no (Financial 8.00, 4 arms)."
    )
    # Three arms where two do not; one where one does.
    assert "(Websearch 0.90, 3 arms)" in intra_disk.finding(means("websearch", 10.0, 30.0, 14.0, 9.0, 7.0))
    assert "(TPC-H 0.99, 1 arm)" in intra_disk.finding(means("tpch", 4.0, 3.96, 3.0, 2.0, 2.0))
    assert intra_disk.finding({}) == ""


def test_the_answer_says_what_real_excerpts_alone_give() -> None:
    made = means("websearch", 12.0, 38.0, 17.0, 10.8, 9.0, scale=1.41)
    assert "excerpt" not in intra_disk.finding(made)
    both = intra_disk.finding(made | means("websearch-excerpt", 16.8, 128.0, 53.0, 34.0, 21.0))
    assert both.endswith("Made loads have the times between arrivals of their excerpts multiplied (Websearch's × 1.41); the real excerpts "
                         "alone: Websearch no (16.80 ms on the array, 21.00 with 4 arms).")  # fmt: skip
    alone = intra_disk.finding(made | means("websearch-excerpt", 16.8, 128.0, 53.0, 16.0, 12.0))
    assert alone.endswith("Websearch yes (16.80 ms on the array, 16.00 with 3 arms).")


def test_the_answer_says_what_drives_are_worth_and_cost() -> None:
    drives = {"e8-8ms-sa2": 2.0, "e8-8ms-sa4": 2.0}
    worth = (
        "At the 90th percentile, four ordinary drives are worth 2 with two arms or 2 with four (8 ms between arrivals)"
    )
    assert intra_disk.finding(drives) == f"{worth}."
    dollars = {"own-1-usd": 297.0, "own-2-usd": 217.0, "own-4-usd": 354.0}
    assert intra_disk.finding(drives | dollars) == f"{worth}: 297 against 217 and 354 USD."


def test_the_watts_that_printed_ones_lack_are_told_for_each_further_arm() -> None:
    # 26.2 W printed for one drive of four arms, 20.2 ours: three further arms.
    assert "each further arm draws 2.0 W" in watts.for_an_arm(26.2 - 20.2, 4)
    assert "each further arm draws 1.5 W" in watts.for_an_arm(6.0, 3, drives=2)


def test_devices_lie_one_after_the_other() -> None:
    found = loads.place(requests([(0, 5), (2, 7), (1, 90)]), drives=3, sectors=1000)
    assert found["lba"].to_list() == [5, 2007, 1090]
    assert found["device"].to_list() == [0, 0, 0]


def test_more_devices_than_drives_share_them_and_nothing_crosses_a_part() -> None:
    # Two to a drive: parts of 500 sectors. Sector 503 wraps to 3; a request that would leave its part ends with it.
    found = loads.place(requests([(0, 503), (1, 0), (2, 10), (3, 498)]), drives=2, sectors=1000)
    assert found["lba"].to_list() == [3, 1000, 510, 1500 + 492]


def test_without_the_data_there_is_the_load_that_was_described(tmp_path: Path) -> None:
    (load,) = loads.loads(None, tmp_path, 1000)
    assert (load.name, load.trace) == ("tpch", None)
    drives = pl.DataFrame(package.simulate("md-tpch", load.source()).completions)
    gaps = drives.sort("arrival_ns")["arrival_ns"].diff().drop_nulls() / 1e6
    assert gaps.sum() / len(gaps) == pytest.approx(loads.TPCH_GAP_MS, rel=0.1)


def test_loads_after_real_traces_keep_what_the_thesis_says_of_them(tmp_path: Path) -> None:
    data_file(loads.FINANCIAL_FILE)
    made = {load.name: load for load in loads.loads(DATA, tmp_path, 20_000)}
    assert set(made) == {"financial", "financial-excerpt", "websearch", "websearch-excerpt", "tpcc", "tpch"}
    for name, (share, below_ms) in (("financial", loads.FINANCIAL_GAPS), ("tpcc", loads.TPCC_GAPS)):
        gaps = pl.read_parquet(made[name].trace or "")["arrival_ns"].diff().drop_nulls()
        assert len(gaps.filter(gaps < below_ms * 1e6)) / len(gaps) == pytest.approx(share, abs=0.03)
    for load in made.values():
        size = package.System(load.array).volumes[0][1]
        if load.trace is not None:
            frame = pl.read_parquet(load.trace)
            assert (frame["lba"] + frame["sectors"] <= size).all()
    # The excerpt itself is not changed but for its addresses.
    original = pl.DataFrame(package.Trace(data_file(loads.WEBSEARCH_FILE)))
    excerpt = pl.read_parquet(made["websearch-excerpt"].trace or "")
    assert excerpt["sectors"].to_list() == original["sectors"].to_list()
    sectors = package.System("md-websearch").volumes[0][1] // 6
    assert excerpt["lba"].to_list() == (original["device"] * sectors + original["lba"]).to_list()


def test_the_page_and_the_loads_do_not_wait_for_each_other() -> None:
    data_file(loads.FINANCIAL_FILE)
    with Together():
        found = intra_disk.study_loads(DATA, lambda _: None, 500)
    assert found.has("financial")


def small_load() -> package.Workload:
    text = "[[stream]]\nread_fraction = 1.0\nsize.fixed_kib = 4\nalign_kib = 4\ninter_arrival.exponential_ms = 50\n"
    return package.Workload(toml=f"requests = 2000\n{text}")


def test_an_outcome_says_what_its_run_says() -> None:
    outcome = runs.run_one(runs.hc_sd().build(), small_load())
    summary = package.simulate(runs.hc_sd().build(), small_load()).summary
    assert outcome.average_w == pytest.approx(summary["power"]["average_w"])
    assert list(outcome.cdf) == sorted(outcome.cdf)
    assert outcome.cdf[-1] == 1.0
    assert outcome.below(1) < 0.02 < outcome.below(20)
    # Alone on the disk, requests wait for half a revolution on average and never for more than one.
    assert outcome.latency_mean == pytest.approx(8.333 / 2, rel=0.1)
    assert 8.0 < outcome.latency_end < 8.34
    assert sum(outcome.latency) * runs.LATENCY_STEP_MS == pytest.approx(1.0)
    assert sum(outcome.latency[: int(8.5 / runs.LATENCY_STEP_MS)]) * runs.LATENCY_STEP_MS == pytest.approx(1.0)


def test_scaled_parts_do_what_they_are_called() -> None:
    base = runs.run_one(runs.hc_sd().build(), small_load())
    half = runs.run_one(bottleneck.scaled("R", 0.5).build(), small_load())
    assert half.latency_mean == pytest.approx(base.latency_mean / 2, rel=0.05)
    assert runs.run_one(bottleneck.scaled("S", 0.0).build(), small_load()).mean < half.mean
    # The arm is chosen for the sum of seek and rotation, and saves more than half of the rotation alone would.
    two = runs.run_one(runs.parallel(2).build(), small_load())
    assert two.latency_mean < base.latency_mean
    assert two.mean < half.mean


def test_break_even_is_the_fewest_that_do() -> None:
    p90 = {1: 90.0, 2: 40.0, 3: 31.0, 4: 29.0}
    assert arrays.break_even(p90, 40.0) == 2
    assert arrays.break_even(p90, 30.0) == 4
    assert arrays.break_even(p90, 10.0) is None


def test_an_array_that_cannot_keep_up_has_no_outcome() -> None:
    found = arrays.run_arrays([arrays.Array(1, 1, 1), arrays.Array(1, 4, 8)], 5000)
    assert found[arrays.Array(1, 1, 1)] is None
    kept = found[arrays.Array(1, 4, 8)]
    assert kept is not None
    assert 5 < kept.p90 < 50


def test_dollars_hold_and_quotations_are_not_tested() -> None:
    rows = {row.id: row for row in bills.study()[0]}
    assert all(row.verdict == "holds" for id_, row in rows.items() if id_.startswith("e9-"))
    assert len([id_ for id_ in rows if id_.startswith("e9-")]) == 11
    assert rows["r3.14-tco"].verdict == "not-testable"
    # 13 W for five years are 570 kWh; 255 USD buy them at 0.45 USD each.
    powering = rows["r3.14-powering"]
    assert powering.word == "not testable"
    assert f"{255 / (0.013 * 5 * 365.25 * 24):.2f} to {315 / (0.013 * 3 * 365.25 * 24):.2f} USD a kWh" in powering.note


def test_dollars_are_told_of_as_many_drives_as_perform_alike_here() -> None:
    from headstack.studies.framework import about

    numbers = {"e8-8ms-sa2": 2, "e8-8ms-sa4": 2, "e8-1ms-sa2": 11, "e8-1ms-sa4": 8}
    alike = arrays.alike([about(id_, "", 1, ours, "drives", within=1) for id_, ours in numbers.items()])
    assert alike == {8: {1: 4, 2: 2, 4: 2}, 1: {1: 16, 2: 11, 4: 8}}
    rows, sections = bills.study(alike)
    by_id = {row.id: row for row in rows}
    # Means of the table's ranges: 74.25, 108.50 and 177.00 a drive.
    told = (
        "by this study's own break-even (E8) at 8 ms between arrivals 4 HC-SD 297, 2 SA(2) 217, 2 SA(4) 354 USD; "
        "at 1 ms between arrivals 16 HC-SD 1,188, 11 SA(2) 1,193.5, 8 SA(4) 1,416 USD"
    )
    for id_ in ("e9-system-1", "e9-system-2", "e9-system-4", "e9-saving-2", "e9-saving-4"):
        assert told in by_id[id_].note
        assert by_id[id_].verdict == "holds"
    assert told in next(section.text for section in sections if section.title == "E9: at equal performance")
    own = {name: usd for row in rows for name, usd in row.besides.items()}
    assert own == {"own-1-usd": 297.0, "own-2-usd": 217.0, "own-4-usd": 354.0}


def test_a_figure_is_as_sure_as_its_last_digit_and_a_tenth_at_most() -> None:
    expected = {3: 0.3, 2.5: 0.05, 1: 0.1, 72: 0.5, 7_500: 50, 600: 50, 100: 10, 750_000: 5_000, 6_600: 50}
    assert {printed: table_2_1.half_a_digit(printed) for printed in expected} == pytest.approx(expected)


def test_every_figure_of_table_2_1_has_a_row_that_says_whether_it_is_read_back() -> None:
    rows = {row.id.removeprefix("table-2.1-"): row for row in table_2_1.rows()}
    words = {id_: row.word for id_, row in rows.items()}
    old = ("ibm-3380-ak4", "fujitsu-m2361a", "conner-cp3100")
    # Geometry is not from the table: it is a check. Watts, diameters and actuators are the table's own.
    assert [words[f"{drive}-capacity"] for drive in old] == ["reproduced"] * 3
    assert [rows[f"{drive}-capacity"].ours for drive in old] == pytest.approx([7504, 577.7, 104.9], rel=1e-3)
    for drive in (*old, "barracuda-es-750"):
        assert {words[f"{drive}-{what}"] for what in ("watts", "diameter", "actuators")} == {"input read back"}
    assert words["barracuda-es-750-capacity"] == words["barracuda-es-750-4-capacity"] == "input read back"
    assert rows["barracuda-es-750-4-actuators"].ours == 4
    # Bits of the track are more than its data: 40,960 bytes a revolution, of which 67 sectors are data.
    rates = [rows[f"{drive}-rate"] for drive in (*old, "barracuda-es-750")]
    assert [row.paper for row in rates] == [3, 2.5, 1, 72]
    assert "2.06 MB/s while a track passes" in rates[1].note
    assert "gaps and headers included" in rates[1].note
    assert "gaps" not in rates[2].note
    # 0.91 W for one disk of 2.6 inches at 15,098 rpm; n, 2.8 and 4.6.
    drag = 0.91 * 18 * (3600 / 15_098) ** 2.8 * (14 / 2.6) ** 4.6
    assert f"the drag of its disks is {drag:.3g} W" in rows["ibm-3380-ak4-watts"].note
    # 80.8 USD for 750 GB.
    dollars = rows["barracuda-es-750-dollars"]
    assert (dollars.paper, dollars.word) == (0.34, "reproduced")
    assert dollars.ours == pytest.approx(80.8 / 750, rel=1e-3)
    assert {words[f"{drive}-dollars"] for drive in old} == {"not testable"}
    # The row of the fifth column is the one that was there first.
    assert rows["table-2.1"].ours == pytest.approx(9.3 + 4 * 3.3)
    # Five capacities, diameters, numbers of actuators and watts, four rates and prices, two densities.
    assert len(rows) == 5 * 4 + 4 * 2 + 2


def test_without_data_the_rows_of_its_loads_are_not_testable() -> None:
    rows = {row.id: row for row in intra_disk.load_rows(intra_disk.study_loads(None, lambda _: None, 1500))}
    assert {row.verdict for id_, row in rows.items() if id_.endswith("financial")} == {"not-testable"}
    assert rows["e1-tpch-hcsd"].verdict != "not-testable"


def test_with_data_every_row_has_a_number() -> None:
    data_file(loads.FINANCIAL_FILE)
    found = intra_disk.study_loads(DATA, lambda _: None, 1500)
    rows = intra_disk.load_rows(found)
    assert all(row.ours is not None for row in rows)
    assert len({row.id for row in rows}) == len(rows)
    assert "e4-sa3-websearch-excerpt" in {row.id for row in rows}
    # The answer goes by the means of these runs.
    answer = intra_disk.finding({name: ms for row in rows for name, ms in row.besides.items()})
    scale = found.loads["websearch"].time_scale
    assert f"Websearch's × {scale:.2f}" in answer
    assert f"Websearch no ({found('websearch-excerpt', 'MD').mean:.2f} ms on the array" in answer
    assert {section.title.split(":")[0] for section in charts.sections(found)} >= {"The loads", "E4", "E5", "E7"}


def test_arrays_of_parallel_drives_in_short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrays, "DISKS", (1, 2, 4, 8, 16))
    monkeypatch.setattr(arrays, "STRIPES_KIB", (64,))
    monkeypatch.setattr(arrays, "SIZES_KIB", (4,))
    monkeypatch.setattr(arrays, "FIRST_LOOK", 1)
    monkeypatch.setattr(arrays, "USED_PERCENT", (10,))
    rows, sections = arrays.study(3000, 2000)
    assert {row.id for row in rows} >= {"e8-8ms-sa2", "e8-1ms-sa4", "e8-1ms-sa4-saving", "e8-8ms-watts-1"}
    assert {"e8-8ms-sa4-10", "e8-1ms-sa2-10"} <= {row.id for row in rows}
    assert len(sections) == 6


def test_savings_are_of_drives_that_perform_alike() -> None:
    found: arrays.Points = {}
    for gap, reference in ((8, 4), (1, 16)):
        found[arrays.Array(1, reference, gap)] = arrays.Point(30.0, 100.0)
        for arms, drives in product((2, 4), range(1, 17)):
            found[arrays.Array(arms, drives, gap)] = arrays.Point(90.0 / drives, 20.0 * drives)
    rows = {row.id: row for gap in (8, 1) for row in arrays.rows_at(gap, found)}
    # Three drives answer as fast, though the thesis has two, one, eight and four of them.
    assert {rows[f"e8-{gap}ms-sa{arms}"].ours for gap in (8, 1) for arms in (2, 4)} == {3}
    savings = [rows[f"e8-{gap}ms-sa{arms}-saving"] for gap in (8, 1) for arms in (2, 4)]
    assert all(row.ours == pytest.approx(0.4) for row in savings)
    assert "the thesis' 1 (p90 90.0 ms) would save 0.800" in savings[1].note


def test_long_requests_lie_across_stripe_units() -> None:
    # Of 64 KiB on units of 64 KiB, at multiples of 4 KiB: all but one in sixteen, so that larger units answer sooner.
    small, large = (arrays.Array(1, 4, 8, stripe_kib=stripe, size_kib=64) for stripe in (64, 1024))
    found = arrays.run_arrays([small, large], 5000)
    points = found[small], found[large]
    assert points[0] is not None
    assert points[1] is not None
    assert points[1].p90 < 0.8 * points[0].p90


def test_arms_seek_less_where_less_is_used() -> None:
    whole, tenth = (arrays.Array(1, 4, 8, used_percent=used) for used in (100, 10))
    found = arrays.run_arrays([whole, tenth], 5000)
    points = found[whole], found[tenth]
    assert points[0] is not None
    assert points[1] is not None
    assert points[1].p90 < 0.7 * points[0].p90


def test_closed_arrivals_gain_by_arms_that_move_at_once() -> None:
    from headstack.studies.intra_disk import closed

    rows, (section,) = closed.study(600)
    ours = {row.id: row.ours for row in rows}
    assert set(ours) == {"e5-closed-ma2", "e5-closed-mc2", "e5-closed-ma4", "e5-closed-mc4"}
    assert all(ratio is not None and 0.3 < ratio < 0.9 for ratio in ours.values())
    # Four arms have more to gain than two, and each design has its line.
    assert ours["e5-closed-ma4"] < ours["e5-closed-ma2"]  # pyright: ignore[reportOperatorIssue, reportOptionalOperand]
    assert len(section.rows) == 6
