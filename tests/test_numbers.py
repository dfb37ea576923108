"""Numbers out of range, and numbers that are none, are refused before anything runs; so is a run that would never end."""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import headstack as api
from conftest import ROOT, headstack, refused
from headstack.shown import grouped

RUN = ("simulate", "hp-97560", "--workload", "unix-like", "--requests", "20")
HUGE = str(2**70)


@pytest.mark.parametrize(
    ("words", "argument"),
    [
        (("explain", "hp-97560", "--lba", "5", "--sectors", "-1"), "sectors"),
        (("explain", "hp-97560", "--lba", "5", "--sectors", "0"), "sectors"),
        (("explain", "hp-97560", "--lba", "5", "--sectors", HUGE), "sectors"),
        (("explain", "hp-97560", "--lba", "-5"), "lba"),
        (("explain", "hp-97560", "--lba", HUGE), "lba"),
        (("explain", "hp-97560", "--lba", "5", "--seed", "-1"), "seed"),
        (("explain", "hp-97560", "--lba", "5", "--then", "6", "--gap-ms", "inf"), "gap_ms"),
        (("explain", "hp-97560", "--lba", "5", "--then", "6", "--gap-ms", "nan"), "gap_ms"),
        (("explain", "hp-97560", "--lba", "5", "--then", "6", "--gap-ms", "1e300"), "gap_ms"),
        ((*RUN, "--seed", "-1"), "seed"),
        ((*RUN, "--seed", HUGE), "seed"),
        ((*RUN, "--threads", HUGE), "threads"),
        (("simulate", "hp-97560", "--workload", "unix-like", "--requests", HUGE), "requests"),
        ((*RUN, "--warmup", HUGE), "warmup_requests"),
        (("measure", "sim:hp-97560", "skippy", "--seed", "-1"), "seed"),
        (("measure", "sim:hp-97560", "skippy", "--noise-percent", "nan"), "noise_percent"),
        (("measure", "sim:hp-97560", "skippy", "--outlier-ms", "inf"), "outlier_ms"),
    ],
)
def test_options_out_of_range(words: tuple[str, ...], argument: str) -> None:
    message = refused(*words)
    option = {"warmup_requests": "--warmup"}.get(argument, "--" + argument.replace("_", "-"))
    assert f"error: {option} cannot be" in message
    assert f"hint: {option}: " in message


@pytest.mark.parametrize(
    ("options", "argument"),
    [
        (("--device", "-1"), "device"),
        (("--device", HUGE), "device"),
        (("--sector-bytes", "-1"), "sector_bytes"),
        (("--sector-bytes", "0"), "sector_bytes"),
        (("--time-scale", "nan"), "time_scale"),
        (("--time-scale", "0"), "time_scale"),
        (("--inter-arrival-ms", "inf"), "inter_arrival_ms"),
        (("--lba-scale", "-1"), "lba_scale"),
        (("--lba-offset", HUGE), "lba_offset"),
    ],
)
def test_trace_options_out_of_range(options: tuple[str, str], argument: str, ascii_trace: Path) -> None:
    assert f"--{argument.replace('_', '-')} cannot be" in refused(
        "simulate", "hp-97560", "--trace", ascii_trace, *options
    )


@pytest.mark.parametrize(
    ("words", "said", "allowed"),
    [
        (("--set", "rotation_rpm=1e400"), "`rotation_rpm`: `1e400` is not between", "60 and 1,000,000"),
        (("--set", "layout.heads=-1e400"), "`layout.heads`: `-1e400`", "whole number"),
        (("--inter-arrival-ms", "1e400"), "--inter-arrival-ms cannot be `1e400`", "0 to 3,155,760,000,000"),
        (("--time-scale", "inf"), "--time-scale cannot be `inf`", "a number, "),
    ],
)
def test_a_number_that_no_computer_holds_is_named_with_what_is_allowed(
    words: tuple[str, ...], said: str, allowed: str
) -> None:
    """It was told that `1e400` is not a number, or that `inf`, which nobody had typed, cannot be."""
    run = ("--workload", "unix-like") if words[0] == "--set" else ("--trace", str(ROOT / "examples/sample.csv"))
    message = refused("simulate", "hp-97560", *run, *words)
    assert said in message
    assert allowed in message


def stepper() -> Any:
    return api.Stepper(api.System("hp-97560"))


def quick(**options: Any) -> Any:
    return api.simulate("hp-97560", api.Workload("unix-like"), **{"requests": 3, **options})


@pytest.mark.parametrize(
    "call",
    [
        lambda: stepper().submit(2**64 - 1, "read", 0, 8),
        lambda: stepper().submit(-1, "read", 0, 8),
        lambda: stepper().submit(0, "read", -1, 8),
        lambda: stepper().submit(0, "read", 0, 2**70),
        lambda: stepper().submit(0, "read", 0, 8, device=-1),
        lambda: stepper().advance(2**64 - 1),
        lambda: api.Stepper(api.System("hp-97560"), seed=-1),
        *(lambda bad=bad: quick(until_s=bad) for bad in (math.nan, math.inf, -math.inf, -1.0, 1e300)),
        *(lambda bad=bad: quick(warmup_s=bad) for bad in (math.nan, math.inf, -1.0)),
        lambda: quick(seed=2**70),
        lambda: quick(threads=0),
        lambda: quick(requests=0),
        lambda: quick(requests=-1),
        lambda: api.Drive("hp-97560").seek_ms(-1),
        lambda: api.Drive("hp-97560").locate(-1),
        lambda: api.Drive("hp-97560").access_ms(0, 8, math.nan),
        lambda: api.Drive("hp-97560").access_ms(0, 8, sectors=-1),
        lambda: api.System("hp-97560").ladder("M0", constant_ms=math.inf),
        lambda: api.explain("hp-97560", [5, 6], gap_ms=math.inf),
        lambda: api.measure.run("sim:hp-97560", ["skippy"], noise_percent=math.inf),
    ],
)
def test_arguments_out_of_range(call: Callable[[], Any]) -> None:
    with pytest.raises(api.InputError):
        call()


def test_a_word_is_no_number() -> None:
    with pytest.raises(api.InputError, match="seed"):
        quick(seed="one")


def test_a_warm_up_beyond_the_run_is_refused(tmp_path: Path) -> None:
    for warmup in ("1000", "1d"):
        message = refused(*RUN, "--warmup", warmup, "--out", tmp_path / "x.parquet")
        assert "the warm-up is longer than the load" in message
        assert "simulated time" in message
    assert list(tmp_path.iterdir()) == []


def test_a_transfer_of_gibibytes_is_refused_and_a_discard_is_not(tmp_path: Path) -> None:
    # When each sector comes is kept while a request is served: one of 2 TiB took 34 GB of memory.
    trace = tmp_path / "huge.csv"
    columns = ("--columns", "time:0:ns,op:1,offset:2:sectors,size:3:sectors,flags:4")
    for op, flags, is_refused in (("W", 0, True), ("R", 0, True), ("W", 512, False)):
        trace.write_text(f"time,op,lba,sectors,flags\n0,{op},0,4294967295,{flags}\n")
        run = ("simulate", "nearline-18tb", "--trace", trace, *columns)
        if is_refused:
            message = " ".join(refused(*run).split())
            assert "transfers 4,294,967,295 sectors, and a request transfers at most 16,777,216" in message
        else:
            headstack(*run)


@pytest.mark.parametrize(
    ("arrivals", "said"),
    [
        ("inter_arrival.exponential_ms = 1e13", "100 years"),
        ("think.constant_ms = 1e13", "100 years"),
        ("inter_arrival.constant_ms = 1e12", "goes on past 100 years"),
        ("think.constant_ms = 1e12", "goes on past 100 years"),
    ],
)
@pytest.mark.parametrize("drift", ["0", "50"])
def test_a_run_that_would_outlast_time_is_refused(arrivals: str, said: str, drift: str, tmp_path: Path) -> None:
    workload = tmp_path / "slow.toml"
    workload.write_text(f"requests = 10\n[[stream]]\nread_fraction = 0.5\nsize.fixed_kib = 4\n{arrivals}\n")
    spindle = ("--set", f"spindle.drift_ppm={drift}", "--set", "spindle.drift_interval_s=0.001")
    assert said in refused("simulate", "hp-97560", "--workload", workload, *spindle)


def test_a_century_of_idling_is_simulated_at_once(tmp_path: Path) -> None:
    workload = tmp_path / "slow.toml"
    workload.write_text(
        "requests = 10\n[[stream]]\nread_fraction = 0.5\nsize.fixed_kib = 4\ninter_arrival.constant_ms = 1e11\n"
    )
    spindle = ("--set", "spindle.drift_ppm=50", "--set", "spindle.drift_interval_s=0.001")
    run = headstack("simulate", "hp-97560", "--workload", workload, *spindle, "--json").json()
    assert run["requests"] == 10
    assert run["response_ms"]["max"] < 100
    assert run["wall_s"] < 5


def test_what_goes_to_workers_can_be_pickled(ascii_trace: Path) -> None:
    changed = {"rotation_rpm": 5400.123456789, "host.scheduler": "sptf"}
    system = api.System("hp-97560", overrides=[(key, str(value)) for key, value in changed.items()])
    workload = api.Workload("unix-like", overrides=[("seed", "7")])
    trace = api.Trace(ascii_trace, devices=[(0, None)], time_scale=0.1, from_s=0.5, sort=True)
    drive = api.Drive("cheetah-9lp", overrides=[("rotation_rpm", "9999.9")])
    again = pickle.loads(pickle.dumps((system, workload, trace, drive)))
    assert again[0].config_hash == system.config_hash
    assert again[0].config() == system.config()
    assert again[1].spec() == workload.spec()
    assert again[3].spec() == drive.spec()
    for one, other in ((workload, again[1]), (trace, again[2])):
        results = [api.simulate(each, source, requests=200) for each, source in ((system, one), (again[0], other))]
        first, second = ({**run.summary, "wall_s": 0} for run in results)
        assert first == second
    for name in api.library_systems():
        whole = api.System(name)
        assert pickle.loads(pickle.dumps(whole)).config_hash == whole.config_hash
    problem = pickle.loads(pickle.dumps(api.InputError("wrong", "right")))
    assert (str(problem), problem.hint) == ("wrong", "right")


def test_a_partial_measurement_says_so() -> None:
    whole = headstack("measure", "mock:", "skippy", "--json")
    assert whole.json()["partial"] is False


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("1 is not between 60 and 1000000", "1 is not between 60 and 1,000,000"),
        ("8 sectors from 9223372036854775808 on, but it has 2647080.", "8 sectors from 9,223,372,036,854,775,808 on, but it has 2,647,080."),
        ("from -5000 to (12345)", "from -5,000 to (12,345)"),
        ("0 to 3155760000000: too long", "0 to 3,155,760,000,000: too long"),
        # What is to be typed, names, paths, places and dates stay as they are.
        *[(text, text) for text in (
            "`--lba 100000` of `x 20000`", "hp-97560 at /tmp/12345/x.csv:20001: odd", "2026-11-27 10:00", "give --requests 10000",
            "drives = 10000", '"file 12345"', "1000.5 or 1234.75", "12345.csv is none", "0x12345", "1e12345",
        )],
    ],
)  # fmt: skip
def test_large_numbers_of_a_message_have_their_thousands_apart(text: str, shown: str) -> None:
    assert grouped(text) == shown
