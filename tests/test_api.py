"""The Python API: the same nouns as the command line."""

from __future__ import annotations

import json
import pickle
import re
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import polars as pl
import pytest

import headstack
from headstack import _core
from headstack.errors import InputError

QUICK = """
requests = 2000
[[stream]]
read_fraction = 0.5
size.fixed_kib = 4
align_kib = 4
inter_arrival.exponential_ms = 40
"""


@pytest.fixture(scope="module")
def run() -> headstack.Run:
    return headstack.simulate("hp-97560", headstack.Workload(toml=QUICK))


def test_every_public_name_is_there() -> None:
    for name in headstack.__all__:
        assert getattr(headstack, name) is not None
    assert set(headstack.__all__) <= set(dir(headstack))
    with pytest.raises(AttributeError):
        headstack.nonsense  # noqa: B018 # pyright: ignore[reportAttributeAccessIssue]


def test_a_drive_locates_sectors_and_finds_them_again() -> None:
    drive = headstack.Drive("hp-97560")
    for lba in (0, 71, 72, 1_000_000, drive.capacity_sectors - 1):
        place = drive.locate(lba)
        assert drive.lba_at(place.cylinder, place.head, place.sector) == lba
        assert 0 <= place.angle_revolutions < 1
    assert drive.lba_at(0, 0, 0) is None
    with pytest.raises(headstack.InputError, match="past the end") as problem:
        drive.locate(drive.capacity_sectors)
    assert "2647079" in (problem.value.hint or "")


def test_an_access_is_seek_rotation_and_transfer() -> None:
    drive = headstack.Drive("hp-97560")
    here, there = drive.locate(0), drive.locate(1_500_000)
    least = drive.seek_ms(there.cylinder - here.cylinder) + drive.rotation_ms / 72
    access = drive.access_ms(0, 1_500_000, 5.0)
    assert least - 1e-4 <= access <= least + drive.rotation_ms + 1e-4
    # A turn later everything is where it was, but for the rounding of instants to nanoseconds.
    assert drive.access_ms(0, 1_500_000, 5.0 + 10 * drive.rotation_ms) == pytest.approx(access, abs=1e-4)


def test_overrides_reach_drives_and_systems() -> None:
    drive = headstack.Drive("hp-97560", overrides=[("rotation_rpm", "5400")])
    assert drive.rotation_ms == pytest.approx(11.111, abs=0.001)
    fast = headstack.simulate(
        "hp-97560", headstack.Workload(toml=QUICK), overrides={"rotation_rpm": 5400.0}, requests=50
    )
    assert fast.summary["requests"] == 50
    with pytest.raises(headstack.InputError):
        headstack.Drive("hp-97560", overrides=[("rotation_rpm", "-1")])


@pytest.mark.parametrize("made", [headstack.Drive, headstack.System], ids=["drive", "system"])
@pytest.mark.parametrize(
    "overrides",
    [
        {"rotation_rpm": 5400},
        {"rotation_rpm": 5400.0},
        {"rotation_rpm": "5400"},
        [("rotation_rpm", "5400")],
        (("rotation_rpm", 5400),),
        MappingProxyType({"rotation_rpm": np.float64(5400.0)}),
    ],
    ids=["int", "float", "text", "pairs", "tuple", "mapping"],
)
def test_overrides_may_be_any_mapping_or_pairs(made: Any, overrides: Any) -> None:
    mapped = made("hp-97560", overrides=overrides)
    drive = mapped if made is headstack.Drive else headstack.Drive(toml=mapped.drive_toml())
    assert "rotation_rpm = 5400" in drive.to_toml()


@pytest.mark.parametrize("overrides", [5, "rotation_rpm=5400", ["rotation_rpm"], [(1, 2)]])
def test_overrides_of_another_shape_are_told_theirs(overrides: Any) -> None:
    with pytest.raises(headstack.InputError, match=r"overrides cannot be .*"):
        headstack.System("hp-97560", overrides=overrides)


def test_a_value_that_no_file_can_hold_is_refused() -> None:
    with pytest.raises(headstack.InputError, match="`rotation_rpm` cannot be set to"):
        headstack.System("hp-97560", overrides={"rotation_rpm": object()})


def test_a_path_is_a_source(tmp_path: Path) -> None:
    path = tmp_path / "drive.toml"
    path.write_text(headstack.Drive("hp-97560").to_toml())
    assert headstack.Drive(path).to_toml() == headstack.Drive(str(path)).to_toml()
    assert headstack.System(path).name == headstack.System(str(path)).name


def test_completions_go_to_any_arrow_library(run: headstack.Run) -> None:
    table = pl.DataFrame(run.completions)
    assert len(table) == len(run.completions) == run.summary["requests"] == 2000
    response = (table["finish_ns"] - table["arrival_ns"]).mean()
    assert response == pytest.approx(run.summary["response_ms"]["mean"] * 1e6)


def test_a_run_shows_itself(run: headstack.Run) -> None:
    assert "mean response" in run._repr_html_()
    assert "hp-97560" in repr(run)
    chart = run.plot_response().to_dict()
    assert chart["encoding"]["x"]["title"] == "response time (ms)"


def test_completions_that_were_not_kept_say_so() -> None:
    run = headstack.simulate("hp-97560", headstack.Workload(toml=QUICK), keep=False, requests=10)
    with pytest.raises(headstack.InputError, match="not kept"):
        len(run.completions)


def test_a_former_name_works_and_warns() -> None:
    former: dict[str, Any] = {"limit": 10}
    with pytest.warns(DeprecationWarning, match="`limit` of `simulate` is called `requests` now"):
        old = headstack.simulate("hp-97560", headstack.Workload(toml=QUICK), keep=False, **former)
    assert old.summary["requests"] == 10


def test_progress_is_told_and_can_stop(tmp_path: Path) -> None:
    endless = QUICK.replace("2000", "1_000_000_000")
    seen: list[tuple[int, float]] = []

    def progress(done: int, simulated_s: float) -> bool:
        seen.append((done, simulated_s))
        return len(seen) < 3

    with pytest.raises(headstack.Interrupted):
        headstack.simulate(
            "hp-97560", headstack.Workload(toml=endless), keep=False, out=tmp_path / "x.parquet", progress=progress
        )
    assert seen == sorted(seen)
    assert list(tmp_path.iterdir()) == []


def test_an_exception_of_the_progress_function_comes_through() -> None:
    def progress(_done: int, _simulated_s: float) -> bool:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        headstack.simulate(
            "hp-97560", headstack.Workload(toml=QUICK.replace("2000", "1_000_000_000")), keep=False, progress=progress
        )


def test_a_stepper_agrees_with_a_run(run: headstack.Run) -> None:
    rows = pl.DataFrame(run.completions).sort("id")
    stepper = headstack.Stepper(headstack.System("hp-97560"), seed=run.summary["seed"])
    done: list[headstack.Completion] = []
    for row in rows.iter_rows(named=True):
        done += stepper.advance(row["arrival_ns"])
        stepper.submit(row["arrival_ns"], row["op"], row["lba"], row["sectors"])
    while (event := stepper.next_event_ns()) is not None and stepper.in_flight:
        done += stepper.advance(event)
    assert [one.finish_ns for one in sorted(done, key=lambda one: one.id)] == rows["finish_ns"].to_list()
    assert sum(done[0].phases_ns().values()) == done[0].finish_ns - done[0].arrival_ns


def test_steppers_are_independent() -> None:
    system = headstack.System("hp-97560")
    one, two = headstack.Stepper(system), headstack.Stepper(system)
    one.submit(0, "read", 0, 8)
    assert (one.in_flight, two.in_flight) == (1, 0)
    with pytest.raises(headstack.InputError, match="sectors"):
        two.submit(0, "read", 2_647_080, 8)


def test_the_demerit_is_zero_for_itself_and_the_shift_for_a_shift() -> None:
    measured = [float(value) for value in range(10, 110)]
    assert headstack.demerit(measured, measured)["demerit_ms"] == 0
    shifted = headstack.demerit(measured, [value + 2 for value in measured])
    assert shifted["demerit_ms"] == pytest.approx(2)
    assert shifted["demerit_percent"] == pytest.approx(200 / 59.5)
    assert headstack.per_request_error(measured, [value + 2 for value in measured])["mae_ms"] == pytest.approx(2)
    with pytest.raises(headstack.InputError):
        headstack.demerit([], measured)
    with pytest.raises(headstack.InputError):
        headstack.demerit([-1.0], measured)


def test_a_trace_is_an_arrow_stream(ascii_trace: Path) -> None:
    trace = headstack.Trace(ascii_trace)
    table = pl.DataFrame(trace)
    assert len(table) == 500 == trace.info()["requests"]
    assert table["arrival_ns"].to_list()[1] == 10_000_000


def test_a_system_of_two_drives_on_one_bus_contends() -> None:
    system = headstack.System("two-97560-one-bus")
    assert len(system.drives) == 2
    both = "".join(QUICK.replace("requests = 2000", "").strip() + f"\ndevice = {device}\n" for device in (0, 1))
    devices = len(system.volumes)
    workload = headstack.Workload(toml="requests = 500\n" + (both if devices == 2 else QUICK.split("\n", 2)[2]))
    summary = headstack.simulate(system, workload).summary
    assert summary["requests"] == 500
    assert all(drive["requests"] > 0 for drive in summary["drives"])


def test_every_drive_of_the_library_simulates() -> None:
    for name in headstack.library_drives():
        summary = headstack.simulate(name, headstack.Workload(toml=QUICK), requests=200, keep=False).summary
        assert summary["requests"] == 200
        assert summary["response_ms"]["mean"] > 0


def test_panics_do_not_reach_the_user() -> None:
    # Whatever is thrown at it, the core raises exceptions of its own tree or Python's.
    drive = headstack.Drive("hp-97560")
    for call in (
        lambda: drive.locate(2**64 - 1),
        lambda: drive.seek_ms(2**32 - 1),
        lambda: drive.access_ms(0, 1, float("nan")),
        lambda: drive.access_ms(0, 1, 1e300),
        lambda: headstack.explain("hp-97560", [2**64 - 1]),
        lambda: headstack.Stepper(headstack.System("hp-97560")).submit(2**64 - 1, "read", 2**64 - 1, 1),
        lambda: headstack.simulate("hp-97560", headstack.Workload(toml=QUICK), until_s=float("nan"), requests=3),
        lambda: headstack.simulate("hp-97560", headstack.Workload(toml=QUICK), warmup_s=-1.0, requests=3),
    ):
        with suppress(headstack.InputError, OverflowError, ValueError):
            call()


def test_no_seek_is_longer_than_the_drive() -> None:
    drive = headstack.Drive("hp-97560")
    assert drive.seek_ms(1961) > drive.seek_ms(1000)
    with pytest.raises(headstack.InputError, match="no seek goes over 1962 cylinders"):
        drive.seek_ms(1962)


def test_rows_are_not_written_by_the_name_of_another_format(tmp_path: Path) -> None:
    rows = tmp_path / "rows.csv"
    for call in (
        lambda: headstack.simulate("hp-97560", headstack.Workload(toml=QUICK), requests=3, out=rows),
        lambda: headstack.simulate("hp-97560", headstack.Workload(toml=QUICK), requests=3, driver_out=rows),
        lambda: headstack.simulate("hp-97560", headstack.Workload(toml=QUICK), requests=3, background_out=rows),
    ):
        with pytest.raises(headstack.InputError, match="by the name of another") as refusal:
            call()
        assert "`rows.parquet`" in (refusal.value.hint or "")
    assert not any(tmp_path.iterdir())


def test_the_schema_knows_every_key_of_a_drive_file() -> None:
    schema = json.loads(_core.json_schema("drive"))
    assert {"layout", "seek", "provenance", "published"} <= schema["properties"].keys()
    assert schema["additionalProperties"] is False
    with pytest.raises(headstack.InputError, match="no kind of file called `disk`"):
        _core.json_schema("disk")


def test_tables_are_taken_by_pandas_as_they_are() -> None:
    pandas = pytest.importorskip("pandas", reason="needs the development packages: pip install --group dev")
    run = headstack.simulate("hp-97560", "unix-like", requests=300)
    frame, expected = pandas.DataFrame(run.completions), pl.DataFrame(run.completions)
    assert list(frame.columns) == expected.columns
    assert frame["finish_ns"].tolist() == expected["finish_ns"].to_list()
    assert frame["op"].tolist() == expected["op"].to_list()
    assert frame["finish_ns"].dtype == "int64"
    assert len(frame) == len(run.completions) == 300


def test_words_of_the_version_before_still_answer() -> None:
    found = headstack.explain("mock-disk", [1_000, 1_001])
    with pytest.warns(FutureWarning, match="`stories` is now `timelines`"):
        assert found.stories == found.timelines
    old = {"host.buffer_cache.dribble_every_s": 1.0, "host.buffer_cache.dribble_blocks": 5}
    now = {name.replace("dribble", "trickle"): value for name, value in old.items()}
    hashes = {headstack.System("uda50-ra81", overrides=overrides).config_hash for overrides in (old, now)}
    assert len(hashes) == 1
    run = headstack.simulate("uda50-ra81", headstack.Workload("time-shared"), requests=100, overrides=now)
    cache: Any = dict(run.summary)["buffer_cache"]
    with pytest.warns(FutureWarning, match="is now `written_by_trickle`"):
        assert cache["written_by_dribble"] == cache["written_by_trickle"]


def test_a_run_goes_to_another_process_and_back() -> None:
    run = headstack.simulate("hp-97560", "unix-like", requests=300, sample=True)
    again = pickle.loads(pickle.dumps(run))
    assert (again.summary, again.plots) == (run.summary, run.plots)
    assert pl.DataFrame(again.completions).equals(pl.DataFrame(run.completions))
    assert pl.DataFrame(again.background).equals(pl.DataFrame(run.background))
    assert again.sample[0] == run.sample[0]
    assert pl.DataFrame(again.sample[1]).equals(pl.DataFrame(run.sample[1]))
    lean = pickle.loads(pickle.dumps(headstack.simulate("hp-97560", "unix-like", requests=10, keep=False)))
    with pytest.raises(InputError, match="not kept"):
        _ = lean.completions


def test_a_measurement_goes_to_another_process_and_back() -> None:
    measured = headstack.measure.run("sim:hp-97560", ["skippy"], seed=1)
    again = pickle.loads(pickle.dumps(measured))
    assert (again.head, again.stopped, again.found) == (measured.head, measured.stopped, measured.found)
    assert pl.DataFrame(again.samples).equals(pl.DataFrame(measured.samples))


@pytest.mark.parametrize(
    ("system", "requests", "options", "said"),
    [
        ("hp-97560", 5, {}, "5 is neither a workload nor a trace"),
        (5, "unix-like", {}, "5 is not a system"),
        ("hp-97560", "unix-like", {"requests": True}, "does not take `requests=True`"),
        ("hp-97560", "unix-like", {"requests": 2.5}, "does not take `requests=2.5`"),
        ("hp-97560", "unix-like", {"seed": "1"}, "does not take `seed='1'`"),
        ("hp-97560", "unix-like", {"warmup_s": "x"}, "does not take `warmup_s='x'`"),
    ],
)
def test_arguments_of_another_kind_are_refused(system: Any, requests: Any, options: Any, said: str) -> None:
    with pytest.raises(InputError, match=re.escape(said)):
        headstack.simulate(system, requests, **options)


def test_rounds_have_a_range() -> None:
    for rounds in (0, 2**63):
        with pytest.raises(InputError, match="`rounds` cannot be"):
            headstack.calibrate("hp-97560", "nowhere.trace", rounds=rounds)


def test_a_scheduler_is_named_as_on_the_command_line() -> None:
    flows = {"workload": headstack.Workload(toml=QUICK.replace("= 40", "= 2")), "requests": 300}
    found = headstack.simulate(
        "hp-97560", **flows, scheduler="drive:sptf", overrides={"drive.*.controller.queue_depth": 16}
    )
    same = headstack.simulate(
        "hp-97560",
        **flows,
        overrides=[("drive.*.controller.queue_depth", 16), ("drive.*.controller.scheduler", "sptf")],
    )
    plain = headstack.simulate("hp-97560", **flows)
    assert found.summary["response_ms"] == same.summary["response_ms"] != plain.summary["response_ms"]
    with pytest.raises(InputError, match="scheduler= `bus:sptf`"):
        headstack.simulate("hp-97560", **flows, scheduler="bus:sptf")


def test_a_study_is_a_function() -> None:
    with pytest.raises(InputError, match="no study called `jonson`"):
        headstack.study("jonson")


def test_requests_that_are_told_before_another_are_told_as_they_were(tmp_path: Path) -> None:
    """Those that are complete after it, too: a scheduler may have put off what came before for what came later."""
    rows = tmp_path / "run.parquet"
    run = headstack.simulate("cheetah-9lp", "thesis-4ms", requests=150, overrides={"host.scheduler": "sstf"}, out=rows)
    assert run.summary["drives"][0]["queue_max"] > 2
    late = 0
    for number in range(4, 150, 6):
        found = headstack.explain_completion("cheetah-9lp", rows, number, overrides={"host.scheduler": "sstf"})
        assert [line["differs_ms"] for line in found.timelines] == [0.0] * 3, number
        *before, last = [line["finish_ms"] for line in found.timelines]
        late += max(before) > last
    assert late > 2


def test_reads_and_writes_have_quantiles_of_their_own() -> None:
    run = headstack.simulate("hp-97560", "unix-like", requests=3000)
    rows = pl.DataFrame(run.completions).select("op", ms=(pl.col("finish_ns") - pl.col("arrival_ns")) / 1e6)
    for direction, op in (("reads", "read"), ("writes", "write")):
        times = rows.filter(pl.col("op").cast(pl.String) == op)["ms"].sort()
        told = run.summary[direction]["response_ms"]
        assert len(times) == run.summary[direction]["requests"] > 500
        for key, share in (("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p999", 0.999), ("max", 1.0)):
            # The smallest value that so large a share is at or below.
            rank = int(np.ceil(share * len(times) - 1e-9))
            assert told[key] == pytest.approx(times[rank - 1], abs=1e-6), (direction, key)


def test_a_built_system_says_what_changes_a_named_one() -> None:
    """`scheduler=` was answered by where overrides go."""
    built = headstack.Drive("hp-97560")
    with pytest.raises(
        headstack.InputError, match="`overrides` and `scheduler` change a system that is named, and this is a Drive"
    ):
        headstack.simulate(built, headstack.Workload(toml=QUICK), requests=3, scheduler="host:c-look")
