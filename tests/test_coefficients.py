"""`coefficients`: what other systems assume of a disk, and how far that is from it."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

import headstack
from conftest import headstack as run_cli
from conftest import refused
from headstack.device_cost_bench import DEPTHS, FULL, SIZES_KIB, TAKEN, Bench, other_seed
from headstack.device_cost_causes import Case, Parts, Reasons
from headstack.device_costs import CLOSE_PERCENT, Error, Form
from headstack.unusual import UnusualValue


@pytest.fixture(scope="module")
def nearline() -> headstack.Coefficients:
    return headstack.coefficients("nearline-22tb")


def test_python_places_a_scheduler_as_the_command_line_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`coefficients` and both ways to explain had no `scheduler`, which the guide says they share."""
    built: list[headstack.System] = []

    def stop(system: headstack.System, *_: int) -> Bench:
        built.append(system)
        raise KeyboardInterrupt

    monkeypatch.setattr(Bench, "of", stop)
    with pytest.raises(KeyboardInterrupt):
        headstack.coefficients("nearline-18tb", scheduler="drive:fcfs")
    by_hand = headstack.System("nearline-18tb", overrides=[("drive.*.controller.scheduler", "fcfs")])
    assert built[0].config_hash == by_hand.config_hash
    run = tmp_path / "run.parquet"
    words = ("simulate", "nearline-18tb", "--workload", "thesis-4ms", "--requests", "50", "--scheduler", "drive:fcfs")
    assert run_cli(*words, "--out", run).code == 0
    found = headstack.explain_completion("nearline-18tb", run, 7, scheduler="drive:fcfs")
    assert abs(found.timelines[-1]["differs_ms"]) < 1e-3
    with pytest.raises(headstack.InputError, match="comes from another system"):
        headstack.explain_completion("nearline-18tb", run, 7)
    assert headstack.explain("nearline-18tb", [0, 8], scheduler="drive:fcfs").timelines


def test_sequential_writes_begin_on_physical_sectors() -> None:
    # A 512e drive would read before each write that covers a part of one, and lose a revolution.
    bench = Bench.of(headstack.System("nearline-18tb"), seed=1)
    assert bench.sequential("write", 1024, 50) > 0.9 * bench.sequential("read", 1024, 50)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("nearline-18tb", "media-cache"),
        ("nearline-22tb", "flash-cache"),
        ("hp-97560", "write-through"),
        ("hc-sd", "write-through"),
    ],
)
def test_random_writes_are_those_of_the_drive_with_its_write_cache_off(name: str, kind: str) -> None:
    """They were written through, which a nearline drive does not do then, and as the drive is set for one handed over built."""
    off = headstack.System(name, overrides={"drive.*.write_cache.enabled": "false"})
    ways = [headstack.System(name), headstack.System.of_drive(headstack.Drive(name)), off]
    benches = [Bench.of(system, seed=1) for system in ways]
    for bench in benches:
        assert bench.when_off == kind
        spec = bench.uncached.config()["drives"][0]["spec"]
        assert spec["write_cache"].get("enabled") is False
    # The same requests on the drive that a host has turned the cache off of.
    text = (
        "requests = 3000\n[[stream]]\nthink.constant_ms = 0\nread_fraction = 0.0\nsize.fixed_kib = 4\nalign_kib = 4\n"
    )
    told = [
        headstack.simulate(system, headstack.Workload(toml=text), seed=1).summary
        for system in (off, benches[-1].uncached)
    ]
    assert told[0]["simulated_s"] == told[1]["simulated_s"]


def test_a_built_drive_is_measured_as_its_name_is() -> None:
    by_name = headstack.coefficients("hp-97560").as_dict()
    built = headstack.coefficients(headstack.Drive("hp-97560")).as_dict()
    assert (by_name["write_cache"], by_name["random_writes"]) == ("off for random writes", "write-through")
    assert {**built, "system": ""} == {**by_name, "system": ""}


@pytest.mark.long
def test_a_media_cache_is_full_before_its_writes_are_counted(nearline: headstack.Coefficients) -> None:
    """Counted from 400 to 1,000 s the drive does 465 at queue depth 32; until its cache is full, 1,200, written through, 185."""
    assert nearline.when_off == "flash-cache"
    assert nearline.iocost.constants["wrandiops"] == pytest.approx(465, rel=0.08)


def test_writes_into_a_full_cache_are_counted_for_several_ways_over_the_drive() -> None:
    """Of four times what it holds the rate was 454 to 504 by the seed: the arm is once over the drive in 1.5 to 6 times that."""
    rates = [Bench.of(headstack.System("nearline-20tb"), seed).random("write", 4, FULL, TAKEN)[0] for seed in (2, 4)]
    # Three to six standard deviations of what is told of eight seeds; they were 10 % apart.
    assert max(rates) / min(rates) < 1.05
    # 1.5 million writes of four seeds each: 490 to 502.
    assert sum(rates) / 2 == pytest.approx(494, rel=0.04)


def test_no_two_seeds_share_a_run() -> None:
    """Errors of a seed were told of the requests that the constants of the next one were taken from."""
    seeds = [*range(2000), *(2**64 - 1 - seed for seed in range(10))]
    assert len({*seeds, *map(other_seed, seeds)}) == 2 * len(seeds)
    assert all(0 <= other_seed(seed) < 2**64 for seed in seeds)


@pytest.mark.parametrize("name", ["nearline-20tb", "laptop-1tb"])
def test_sequential_writes_without_a_cache_are_those_of_a_busy_device(name: str) -> None:
    """One at a time each write lost a revolution: 76.9 MB/s of a drive that writes 267 MB/s at its outer edge."""
    off = headstack.System(name, overrides={"drive.*.write_cache.enabled": "false"})
    # Towards the outer edge of the laptop's drive a revolution is lost now and then: 98 of 104 MB/s.
    for place in (10, 50):
        written = Bench.of(off, seed=1).sequential("write", 1024, place)
        assert written == pytest.approx(
            Bench.of(headstack.System(name), seed=1).sequential("write", 1024, place), rel=0.07
        )
    assert Bench.of(off, seed=1).sequential("write", 1024, 50, depth=1) < 0.6 * written


def test_each_constant_says_which_requests_and_which_cache_it_is_of() -> None:
    on = headstack.coefficients("hp-97560").as_dict()
    off = headstack.coefficients("hp-97560", overrides={"write_cache.enabled": False}).as_dict()
    named = {name for form in ("iocost", "mclock", "head_time") for name in on[form]}
    assert set(on["taken_from"]) == set(off["taken_from"]) == named
    expected = {"pattern": "sequential", "queue_depth": 32, "write_cache": "on"}
    assert on["taken_from"]["wbps"] == on["taken_from"]["wseqiops"] == on["taken_from"]["write_mb_per_s"] == expected
    assert on["taken_from"]["wrandiops"] == {"pattern": "random", "queue_depth": 32, "write_cache": "off"}
    assert on["taken_from"]["write_ms"] == {"pattern": "random", "queue_depth": 1, "write_cache": "off"}
    # No constant of a line is of another state than the others, where the drive is set so.
    assert {each["write_cache"] for each in off["taken_from"].values()} == {"off"}
    assert off["sequential_writes"] == "write cache off"


def test_iocost_is_held_against_sequential_requests_too(nearline: headstack.Coefficients) -> None:
    """Its errors were those of random requests alone, although it has a price for sequential ones."""
    errors = {(e.op, e.size_kib, e.depth): e for e in nearline.iocost.sequential}
    assert len(errors) == 2 * len(SIZES_KIB) * len(DEPTHS)
    assert not nearline.mclock.sequential
    for op in ("read", "write"):
        # Where the constants were taken, at other places; and nothing beats the media for long, a full write cache neither.
        assert abs(errors[op, 4, FULL].percent) < 2.5
        assert abs(errors[op, 1024, FULL].percent) < 5
        assert errors[op, 64, FULL].iops * 64 * 1024 == pytest.approx(
            nearline.iocost.constants[f"{op[0]}bps"], rel=0.06
        )
    told = nearline.as_dict()["sequential_errors"]
    assert list(told) == ["iocost"]
    assert [error["iops"] for error in told["iocost"]] == [error.iops for error in nearline.iocost.sequential]


def test_the_larger_writes_go_past_the_log_and_the_sentence_says_so() -> None:
    bench = Bench.of(headstack.System("nearline-18tb"), seed=1)
    assert bench.straight_kib == {256, 1024}
    errors = [Error("write", size, depth, 70.0, 70.0 * (1 + size // 256)) for size in (4, 256) for depth in DEPTHS]
    parts = Parts(1, 1, chooses=True, bus_bytes_per_s={"read": 1e9, "write": 1e9})
    form = Form("a form", {}, errors, Reasons(parts, straight_kib=bench.straight_kib), takes_larger=True)
    assert "writes of 256 KiB go straight to their place" in form.sentence()


def test_a_buffer_cache_of_the_host_is_gone_around() -> None:
    """The drives behind it read 1.12 MB/s; 57 kB/s were told, and 12 random reads a second."""
    bench = Bench.of(headstack.System("uda50-ra81"), seed=1)
    assert bench.sequential("read", 1024, 50) * 1.048576 == pytest.approx(1.12, rel=0.02)
    assert bench.random("read", 4, DEPTHS[-1])[0] == pytest.approx(37.8, rel=0.03)


def test_slow_drives_have_as_long_as_a_rate_needs() -> None:
    """No request of 1 MiB was complete in 30 s at 60 rpm, and the table broke off; an error was told of one request."""
    with pytest.warns(UnusualValue):
        found = headstack.coefficients("hp-97560", overrides={"rotation_rpm": 60})
    # 36 KiB a track and a second, and about half a revolution to begin.
    deep = next(e.iops for e in found.iocost.errors if (e.op, e.size_kib, e.depth) == ("read", 1024, 1))
    assert 1 / deep == pytest.approx(1024 * 1024 / found.iocost.constants["rbps"], rel=0.05)
    assert all(abs(error.percent) < 1000 for form in found.forms for error in form.errors)


def test_progress_tells_how_many_runs_are_over() -> None:
    told: list[tuple[int, int]] = []
    headstack.coefficients("hp-97560", progress=lambda done, total: told.append((done, total)))
    assert [done for done, _ in told] == list(range(1, told[-1][1] + 1))


def test_constants_are_what_the_drive_does(nearline: headstack.Coefficients) -> None:
    drive = headstack.Drive("nearline-22tb")
    rates = [zone["media_mb_per_s"] for zone in drive.zones() if zone["sectors"]]
    # Sequential work goes at the media's rate, between that of the inner tracks and that of the outer ones.
    for op in ("r", "w"):
        assert 0.9 * min(rates) < nearline.iocost.constants[f"{op}bps"] / 1e6 < max(rates)
    # A random read of a few sectors takes half a revolution, a mean seek, and overheads.
    about = drive.describe()
    expected = drive.rotation_ms / 2 + about["seek"]["distance_weighted_ms"]
    assert nearline.head_time.constants["read_ms"] == pytest.approx(expected, rel=0.1)


def test_the_forms_are_those_of_their_systems(nearline: headstack.Coefficients) -> None:
    iocost, mclock, head = (form.constants for form in nearline.forms)
    predicted = {form.name: {(e.op, e.size_kib): e.predicted_iops for e in form.errors} for form in nearline.forms}
    # Worked out by hand for reads of 256 KiB: 63 pages beyond the first; the larger of two costs; a sum of two times.
    size = 256 * 1024
    assert 1 / predicted["iocost"]["read", 256] == pytest.approx(1 / iocost["rrandiops"] + 63 * 4096 / iocost["rbps"])
    assert 1 / predicted["mClock"]["read", 256] == pytest.approx(
        max(1 / mclock["read_iops"], size / mclock["read_bytes_per_s"])
    )
    assert 1000 / predicted["disk-head time"]["read", 256] == pytest.approx(
        head["read_ms"] + size / head["read_mb_per_s"] / 1000
    )


def test_each_form_is_near_where_its_constants_were_taken(nearline: headstack.Coefficients) -> None:
    def percent(form: Form, op: str, size: int, depth: int) -> float:
        return next(e.percent for e in form.errors if (e.op, e.size_kib, e.depth) == (op, size, depth))

    for op in ("read", "write"):
        # Of a full cache errors are told of four times what it holds: three standard deviations.
        scatter = {"read": 2.5, "write": 12}[op]
        assert percent(nearline.iocost, op, 4, DEPTHS[-1]) == pytest.approx(0, abs=scatter)
        assert percent(nearline.mclock, op, 4, DEPTHS[-1]) == pytest.approx(0, abs=scatter)
        # Other requests than those that the constants were taken from.
        assert 0 < abs(percent(nearline.head_time, op, 4, 1)) < scatter
    # A deeper queue is served faster, which a form without a depth cannot know.
    assert percent(nearline.iocost, "read", 4, 1) > 50
    assert percent(nearline.head_time, "read", 4, DEPTHS[-1]) < -30
    assert abs(percent(nearline.head_time, "read", 1024, 1)) < CLOSE_PERCENT


@pytest.mark.long
def test_constants_hardly_depend_on_the_seed(nearline: headstack.Coefficients) -> None:
    other = headstack.coefficients("nearline-22tb", seed=7).iocost.constants
    for name, value in nearline.iocost.constants.items():
        # Sequential ones are measured at fixed places; a full cache goes over the drive in stretches of many thousand writes.
        assert other[name] == pytest.approx(value, rel={"rrandiops": 0.02, "wrandiops": 0.06}.get(name, 1e-9))


def test_sentences_name_the_worst_and_why(nearline: headstack.Coefficients) -> None:
    assert "for 4 KiB reads at queue depth 32" in nearline.head_time.sentence()
    assert "with more to choose from" in nearline.head_time.sentence()
    # Twice and a half times as many at depth 32, and half as many again at depth 1: neither alone.
    assert "it has no queue depth" in nearline.mclock.sentence()
    assert "the larger of positioning and transfer, not their sum" in nearline.mclock.sentence()
    for form in nearline.forms:
        assert f"({form.worst.percent:+.0f} %)" in form.sentence()
        assert len(form.errors) == 2 * len(SIZES_KIB) * len(DEPTHS)
    fits = Form("a form", {}, [Error("read", 4, depth, 100.0, 103.0) for depth in DEPTHS])
    assert fits.sentence() == "a form is within 3 % of the drive at all sizes and depths."


def test_the_rate_of_a_slow_bus_is_not_called_that_of_the_media() -> None:
    """The Cheetah 9LP reads 9 to 16 MB/s from its media, and its bus moves 4.9: it positions while data are on the bus."""
    found = headstack.coefficients("cheetah-9lp")
    bus = headstack.Drive("cheetah-9lp").describe()["bus"]["write_mb_per_s"]
    assert found.iocost.constants["wbps"] == pytest.approx(1e6 * bus, rel=0.03)
    for form in (found.iocost, found.head_time):
        charged_ms = 1000 * 60 * 1024 / found.iocost.constants["wbps"]
        told = f"it charges bytes at the rate of the bus, {charged_ms:.1f} ms for those beyond the first 4 KiB"
        assert told in form.sentence()
        assert form.sentence().endswith("since the drive positions meanwhile.")
        assert "media" not in form.sentence()


@pytest.mark.parametrize(
    ("name", "arms"), [("raid5-4x-cheetah-9lp", "4 drives"), ("dual-actuator-18tb", "2 actuators")]
)
def test_arms_that_work_at_once_are_told_before_the_choice(name: str, arms: str) -> None:
    found = headstack.coefficients(name)
    sentence = found.iocost.sentence()
    assert f"of {arms} 1.0 are busy on average at depth 1, and " in sentence
    gained = {e.depth: e.iops for e in found.iocost.errors if (e.op, e.size_kib) == ("read", 4)}
    # Beyond what arms at once bring: hardly anything of the four drives, twice as many of the two actuators.
    more = gained[DEPTHS[-1]] / gained[1] / int(arms[0])
    assert ("less to choose from" in sentence) == (more > 1.5)
    assert "the drive positions" not in sentence


def test_nothing_is_said_of_a_choice_that_nobody_has() -> None:
    reasons = Reasons(Parts(1, 1, chooses=False, bus_bytes_per_s={"read": 1e9, "write": 1e9}))
    shallow, deep = Case(100.0, 1, 0.9), Case(120.0, 32, 0.9)
    assert reasons.of_queue(shallow, deep, promises_more=True) == "it has no queue depth"
    # And bytes that take less than they are charged are no reason for a promise of too many.
    rated = replace(reasons, bytes_per_s={"read": 1e6})
    assert rated.of_size("read", 10_000, 0.005, promises_more=True) == ""
    assert "10 ms for those beyond the first 4 KiB, which take 15 ms here" in rated.of_size(
        "read", 10_000, 0.015, promises_more=True
    )


@pytest.mark.parametrize("name", ["sas-15k-300gb", "hp-97560"])
def test_a_drive_that_takes_requests_in_order_has_no_use_for_a_queue(name: str) -> None:
    found = headstack.coefficients(name, overrides={"controller.scheduler": "fcfs"})
    for error in found.head_time.errors:
        if (error.op, error.size_kib) == ("read", 4):
            assert abs(error.percent) < CLOSE_PERCENT
    # The HP 97560 serves two requests of 1 MiB a second: of those that are outstanding at the end many more would be missed.
    deep, alone = (
        next(e.iops for e in found.head_time.errors if (e.op, e.size_kib, e.depth) == ("read", 1024, depth))
        for depth in (DEPTHS[-1], DEPTHS[0])
    )
    assert deep == pytest.approx(alone, rel=0.03)


def test_the_command_prints_what_python_gives() -> None:
    python = headstack.coefficients("sas-15k-300gb")
    found = run_cli("coefficients", "sas-15k-300gb", "--json").json()
    assert found["iocost"] == python.iocost.constants
    assert found["sentences"]["mclock"] == python.mclock.sentence()
    assert found["iocost_line"].startswith("ctrl=user model=linear rbps=")
    shown = " ".join(run_cli("coefficients", "sas-15k-300gb", "--plain").out.split())
    assert found["iocost_line"] in shown
    assert found["sentences"]["head_time"] in shown


def test_bad_input_is_refused() -> None:
    assert "did you mean" in refused("coefficients", "nearline-22td")
    assert "scheduler" in refused("coefficients", "nearline-22tb", "--scheduler", "disk:sptf")


def test_slow_drives_are_told_with_digits_and_constants_with_form_and_unit() -> None:
    """A form was said to promise 2 IOPS where a drive does 1, and a constant was called `read bytes per s`."""
    told = run_cli("coefficients", "hp-97560").out
    assert re.search(r"mClock, reads: requests +\d\d\.\d\d IOPS", told)
    assert re.search(r"disk-head time, writes: positioning +\d\d\.\d\d ms", told)
    assert "bytes per s" not in told
    sentences = " ".join(told.split())
    for promised, done, percent in re.findall(r"promises ([\d.,]+) IOPS .*? does ([\d.,]+) \(([+-]\d+) %\)", sentences):
        ratio = float(promised.replace(",", "")) / float(done.replace(",", ""))
        assert 100 * (ratio - 1) == pytest.approx(float(percent), abs=2.5), (promised, done, percent)


TWO = """
[volume.fast]
drives = ["cheetah-9lp"]
[volume.slow]
drives = ["hp-97560"]
"""


def test_the_volume_that_is_measured_is_said_and_chosen(tmp_path: Path) -> None:
    """The first one was measured, and only a docstring said so."""
    (tmp_path / "two.toml").write_text(TWO)
    words = ("coefficients", tmp_path / "two.toml")
    shown = run_cli(*words).out
    assert "two, volume fast, random writes" in shown
    assert "fast, of fast, slow: `--volume NAME` measures another" in " ".join(shown.split())
    first, other = run_cli(*words, "--json").json(), run_cli(*words, "--volume", "slow", "--json").json()
    assert (first["volume"], first["volumes"]) == ("fast", ["fast", "slow"])
    assert (other["volume"], other["volumes"]) == ("slow", ["fast", "slow"])
    alone = headstack.coefficients("hp-97560").as_dict()
    assert other["iocost"]["rrandiops"] == pytest.approx(alone["iocost"]["rrandiops"], rel=0.03)
    assert other["iocost"]["rbps"] == pytest.approx(alone["iocost"]["rbps"], rel=0.01)
    assert first["iocost"]["rrandiops"] > 1.5 * other["iocost"]["rrandiops"]
    # Of one volume there is nothing to choose.
    assert "volume" not in run_cli("coefficients", "hp-97560").out
    told = refused(*words, "--volume", "slo")
    assert "there is no volume `slo`" in told
    assert "did you mean `slow`?" in told
