"""fio's job files as workloads, and its results beside a run."""

from __future__ import annotations

import json
import tomllib
from collections import Counter
from pathlib import Path

import polars as pl
import pytest

from conftest import headstack, refused
from headstack import simulate
from headstack.errors import InputError
from headstack.fio import results, toml_of_job

EXAMPLE = Path(__file__).parent.parent / "examples" / "randread.fio"


def streams(tmp_path: Path, text: str) -> list[dict[str, object]]:
    path = tmp_path / "job.fio"
    path.write_text(text)
    return tomllib.loads(toml_of_job(path))["stream"]


def job(tmp_path: Path, *lines: str) -> dict[str, object]:
    (one,) = streams(tmp_path, "\n".join(["[j]", "direct=1", *lines]))
    return one


def test_the_example_keeps_its_depth_full() -> None:
    about = headstack("simulate", "hp-97560", "--workload", EXAMPLE, "--until", "20s", "--json").json()
    # Little's law: 16 requests are there all the time.
    assert about["iops"] * about["response_ms"]["mean"] / 1000 == pytest.approx(16, rel=0.03)
    assert about["reads"]["requests"] == about["requests"] > 100


def test_words_become_a_stream(tmp_path: Path) -> None:
    one = job(tmp_path, "ioengine=libaio", "rw=randrw", "rwmixread=70", "bssplit=4k/60:64k/40", "iodepth=8", "numjobs=2",
              "size=1g", "offset=1m", "runtime=2m", "thinktime=500us", "fsync=10")  # fmt: skip
    assert one["read_fraction"] == 0.7
    assert one["size"] == {"weighted_kib": [[4.0, 60.0], [64.0, 40.0]]}
    # Before it thinks, fio waits for what is under way: each clone has one at a time.
    assert (one["users"], one["think"], one["end_s"]) == (2, {"constant_ms": 0.5}, 120.0)
    assert one["range_lba"] == [2048, 2048 + (1 << 21) - 1]
    assert (one["flush_fraction"], one["align_kib"]) == (0.1, 4.0)
    one = job(tmp_path, "rw=read", "bs=1m", "number_ios=50")
    assert (one["sequential_fraction"], one["run_start"], one["users"], one["requests"]) == (1.0, "first", 1, 50)
    # An engine that does one at a time has a depth of one.
    assert job(tmp_path, "rw=randread", "iodepth=32")["queue_depth"] == 1
    assert job(tmp_path, "rw=randread", "iodepth=32", "ioengine=libaio")["queue_depth"] == 32
    assert job(tmp_path, "rw=randwrite", "rate_iops=200")["inter_arrival"] == {"constant_ms": 5.0}
    assert job(tmp_path, "rw=randread", "rate=4m", "bs=8k", "rate_process=poisson")["inter_arrival"] == {
        "exponential_ms": 1000 / 512
    }


@pytest.mark.parametrize(
    ("lines", "iops"),
    [
        # Of fio 3.33: 34.3, 26.0, 65.6 and 24.7 a second.
        (["bssplit=4k/50:64k/50", "rate=1m"], 1024 / 34),
        (["bssplit=16k/50:48k/50", "rate_iops=50"], 25.0),
        (["bsrange=8k-24k", "rate=1m"], 64.0),
        (["bsrange=8k-24k", "rate_iops=50"], 25.0),
    ],
)
def test_a_rate_of_several_sizes_is_one_of_bytes(tmp_path: Path, lines: list[str], iops: float) -> None:
    assert job(tmp_path, "rw=randread", *lines)["inter_arrival"] == {"constant_ms": pytest.approx(1000 / iops)}


@pytest.mark.parametrize(
    ("lines", "reads", "writes"),
    [
        # Of fio 3.33: 50 and 50, 40 and 60, 100 and 100, 7 and 7 a second.
        (["rw=randrw", "rwmixread=70", "rate_iops=50"], 50.0, 50.0),
        (["rw=randrw", "rate_iops=40,60"], 40.0, 60.0),
        (["rw=rw", "rate=1600k", "bs=16k"], 100.0, 100.0),
        (["rw=randrw", "bssplit=4k/60:64k/40", "rate_iops=50"], 200 / 28, 200 / 28),
    ],
)
def test_each_direction_of_a_mixed_job_keeps_its_rate(
    tmp_path: Path, lines: list[str], reads: float, writes: float
) -> None:
    found = streams(tmp_path, "\n".join(["[j]", "direct=1", "number_ios=1000", "fsync=10", *lines, ""]))
    assert [(one["name"], one["read_fraction"]) for one in found] == [("j.read", 1.0), ("j.write", 0.0)]
    gaps = [one["inter_arrival"] for one in found]
    assert gaps == [{"constant_ms": pytest.approx(1000 / rate)} for rate in (reads, writes)]
    # Both are over at the same time, and only writes are flushed.
    assert [one["requests"] for one in found] == [round(1000 * rate / (reads + writes)) for rate in (reads, writes)]
    assert ["flush_fraction" in one for one in found] == [False, True]


def test_a_rate_may_be_one_of_the_other_direction(tmp_path: Path) -> None:
    assert job(tmp_path, "rw=randread", "rate_iops=10,20")["inter_arrival"] == {"constant_ms": 100.0}
    assert job(tmp_path, "rw=randwrite", "rate_iops=10,20")["inter_arrival"] == {"constant_ms": 50.0}
    assert job(tmp_path, "rw=randread", "rate_iops=,20")["users"] == 1
    with pytest.raises(InputError, match="one direction alone"):
        job(tmp_path, "rw=randrw", "rate_iops=10,")
    with pytest.raises(InputError, match="is not a value"):
        job(tmp_path, "rw=randread", "rate_iops=ten")


def test_sizes_of_a_range_are_its_multiples_each_as_often(tmp_path: Path) -> None:
    path = tmp_path / "job.fio"
    path.write_text("[j]\ndirect=1\nrw=randread\nsize=100m\nbsrange=8k-24k\nnumber_ios=3000\n")
    about = simulate("hp-97560", path).completions
    found = Counter(pl.DataFrame(about)["sectors"].to_list())
    assert sorted(found) == [16, 32, 48]
    assert min(found.values()) > 900


def test_bytes_to_move_are_counted_in_requests_of_the_mean_size(tmp_path: Path) -> None:
    for sizes, requests in (("bs=64k", 16), ("bssplit=4k/50:12k/50", 128), ("bsrange=8k-24k", 64)):
        assert job(tmp_path, "rw=randread", "io_size=1m", sizes)["requests"] == requests


def test_a_clone_with_a_rate_is_a_stream_of_its_own(tmp_path: Path) -> None:
    found = streams(tmp_path, "[global]\ndirect=1\nbs=4k\n[a]\nrw=randread\nrate_iops=10\nnumjobs=3\n[b]\nrw=write\n")
    assert [one["name"] for one in found] == ["a.0", "a.1", "a.2", "b"]


def test_zones_are_used_as_often_as_their_shares_say(tmp_path: Path) -> None:
    ranges = job(tmp_path, "rw=randread", "random_distribution=zoned:50/10:30/20:20/70")["ranges_percent"]
    assert ranges == [[0.0, 10.0]] * 5 + [[10.0, 30.0]] * 3 + [[30.0, 100.0]] * 2
    # Of the part that the job uses.
    half = job(tmp_path, "rw=randread", "offset=50%", "size=20%", "random_distribution=zoned:50/10:50/90")
    assert half["ranges_percent"] == [[50.0, 52.0], [52.0, 70.0]]
    sizes = job(tmp_path, "rw=randread", "offset=1m", "size=8m", "random_distribution=zoned_abs:25/1m:75/4m")
    assert sizes["ranges_lba"] == [[2048, 4095]] + [[4096, 12287]] * 3


def lbas(tmp_path: Path, *lines: str) -> list[int]:
    """Where the requests of a job begin, in the order of issue."""
    path = tmp_path / "job.fio"
    path.write_text("\n".join(["[j]", "direct=1", "ioengine=libaio", *lines]) + "\n")
    about = pl.DataFrame(simulate("hp-97560", path).completions).sort("id")
    return about["lba"].to_list()


def test_a_sequential_job_reads_from_its_beginning_at_any_depth(tmp_path: Path) -> None:
    size = ("size=256k", "offset=1m", "bs=4k")
    assert lbas(tmp_path, "rw=read", *size) == list(range(2048, 2560, 8))
    assert lbas(tmp_path, "rw=read", "iodepth=16", *size) == list(range(2048, 2560, 8))
    # By time alone it begins again.
    again = lbas(tmp_path, "rw=read", "iodepth=4", "time_based", "runtime=5", *size)
    assert again[:65] == [*range(2048, 2560, 8), 2048]
    # Clones read the same file, each for itself; with an offset each, they read parts of it.
    assert sorted(lbas(tmp_path, "rw=read", "numjobs=2", *size)) == sorted([*range(2048, 2560, 8)] * 2)
    parts = lbas(tmp_path, "rw=read", "numjobs=2", "offset_increment=256k", *size)
    assert sorted(parts) == list(range(2048, 3072, 8))


def test_reads_and_writes_of_a_mixed_sequential_job_go_on_each_for_themselves(tmp_path: Path) -> None:
    path = tmp_path / "job.fio"
    path.write_text("[j]\ndirect=1\nrw=rw\nrwmixread=60\nsize=1m\nbs=4k\n")
    about = pl.DataFrame(simulate("hp-97560", path).completions).sort("id")
    assert 100 < about.filter(pl.col("op") == "read").height < 200
    for op in ("read", "write"):
        found = about.filter(pl.col("op") == op)["lba"].to_list()
        assert found == list(range(0, 8 * len(found), 8))


def test_zones_and_distances_leave_parts_out(tmp_path: Path) -> None:
    zones = ("rw=read", "bs=4k", "zonemode=strided", "zonesize=8k", "zonerange=16k", "zoneskip=48k")
    # fio 3.33 with the same keys and `write_iolog`: 0, 4096, 65536, 69632, 131072, …
    assert lbas(tmp_path, *zones, "size=1m", "number_ios=6") == [0, 8, 128, 136, 256, 264]
    assert lbas(tmp_path, "rw=read:60k", "bs=4k", "size=1m", "number_ios=3") == [0, 128, 256]
    within = lbas(tmp_path, *zones[1:], "rw=randread", "size=1m", "number_ios=64")
    assert {lba // 128 for lba in within} == set(range(16))
    assert all(lba % 128 < 32 for lba in within)


def test_popular_blocks_are_asked_for_as_often_as_the_law_says(tmp_path: Path) -> None:
    def top(share: float, *lines: str) -> float:
        found = Counter(lbas(tmp_path, "rw=randread", "bs=4k", "size=4000k", "io_size=80m", *lines))
        return sum(count for _, count in found.most_common(int(1000 * share))) / sum(found.values())

    harmonic = sum(1 / n for n in range(1, 1001))
    assert top(0.01, "random_distribution=zipf:1.0") == pytest.approx(
        sum(1 / n for n in range(1, 11)) / harmonic, abs=0.02
    )
    assert top(0.2, "random_distribution=pareto:0.2") == pytest.approx(0.8, abs=0.02)
    # Of a normal distribution 68 % lie within one standard deviation on either side.
    assert top(0.1, "random_distribution=normal:5") == pytest.approx(0.68, abs=0.03)
    center = tomllib.loads(toml_of_job(tmp_path / "job.fio"))["stream"][0]
    assert center["popularity"] == {"normal_percent": 5.0}
    assert job(tmp_path, "rw=randread", "random_distribution=zipf:1.2:0.25")["popularity"] == {
        "zipf": 1.2,
        "center_percent": 25,
    }


def test_a_random_job_may_be_sequential_in_part(tmp_path: Path) -> None:
    assert job(tmp_path, "rw=randread", "percentage_random=70")["sequential_fraction"] == pytest.approx(0.3)
    # fio looks at it in random jobs only.
    assert job(tmp_path, "rw=read", "percentage_random=70")["sequential_fraction"] == 1.0


def test_a_job_ends_when_its_bytes_are_moved_or_its_time_is_over(tmp_path: Path) -> None:
    one = job(tmp_path, "rw=randread", "size=1m", "runtime=10")
    assert (one["requests"], one["end_s"]) == (256, 10.0)
    one = job(tmp_path, "rw=randread", "size=1m", "runtime=10", "time_based")
    assert ("requests" in one, one["end_s"]) == (False, 10.0)
    assert job(tmp_path, "rw=randread", "size=1m", "number_ios=7")["requests"] == 7


def test_a_depth_that_an_engine_does_not_keep_is_told(tmp_path: Path) -> None:
    file = tmp_path / "deep.fio"
    lines = "[deep]\nrw=randread\nbs=4k\niodepth=8\ndirect=1\nnumber_ios=20\n"
    file.write_text(lines)
    run = headstack("simulate", "hp-97560", "--workload", file)
    assert run.code == 0
    assert "`iodepth` has no effect in deep" in " ".join(run.err.split())
    file.write_text(f"{lines}ioengine=libaio\n")
    assert "iodepth" not in headstack("simulate", "hp-97560", "--workload", file).err


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (["rw=trim"], "rw=trim: no workload can say this"),
        (["rw=randread", "random_distribution=zipf"], "is not zipf:NUMBER"),
        (["rw=randread", "random_distribution=cauchy:2"], "no workload can say this"),
        (
            ["rw=randread", "random_distribution=zipf:1.2", "zonemode=strided", "zonesize=1m"],
            "popular blocks within zones",
        ),
        (["rw=randread:8"], "runs of so many requests"),
        (["rw=randread", "iodepth=0"], "iodepth=0: nothing is ever asked for"),
        (["rw=rw:64k"], "of one direction"),
        (["rw=read:-64k"], "only a distance upwards"),
        (["rw=randread", "zonemode=strided"], "needs a `zonesize`"),
        (["rw=read", "numjobs=3", "offset_increment=50%"], "clone 2 begins beyond the end"),
        (["rw=read", "offset=1g"], "bytes beside percent"),
        (["rw=randread", "verify=crc32c"], "verify=crc32c: no workload can say this"),
        (["rw=randread", "bs=4k,8k"], "reads and writes of different sizes"),
        (["rw=randread", "bs=four"], "is not a value of this key"),
        (["rw=randread", "zonemode=zbd"], "zonemode=zbd: no workload can say this"),
        (["rw=randread", "random_distribution=zoned:50/10"], "shares must add up to 100"),
        (["rw=randread", "direct=0"], "the page cache would answer"),
    ],
)
def test_what_cannot_be_said_is_refused_by_name(tmp_path: Path, lines: list[str], said: str) -> None:
    with pytest.raises(InputError) as problem:
        job(tmp_path, *lines)
    assert said in str(problem.value)


def test_a_job_without_an_end_is_cut_by_what_cuts_the_run(tmp_path: Path) -> None:
    path = tmp_path / "job.fio"
    path.write_text("[j]\nfilename=/dev/sdb\nioengine=libaio\ndirect=1\nrw=randread\niodepth=4\n")
    run = ("simulate", "hp-97560", "--workload", path, "--json")
    assert headstack(*run, "--until", "3s").json()["simulated_s"] == pytest.approx(3.0, rel=0.01)
    assert headstack(*run, "--requests", "120").json()["requests"] == 120
    assert len(simulate("hp-97560", path, requests=50).completions) == 50
    said = refused(*run)
    assert "job j: says no end" in said
    assert "--until 60s" in said


def test_reads_and_writes_of_fio_stand_beside_those_of_the_run(tmp_path: Path) -> None:
    job_file, path = tmp_path / "job.fio", tmp_path / "fio.json"
    job_file.write_text("[j]\ndirect=1\nrw=randrw\nnumber_ios=200\n")
    one = {"total_ios": 100, "iops": 250.0, "bw_bytes": 1_024_000,
           "lat_ns": {"min": 1, "max": 9_000_000, "mean": 4_000_000.0, "stddev": 1_000_000.0, "N": 100}}  # fmt: skip
    path.write_text(json.dumps({"jobs": [{"jobname": "j", "read": one, "write": one}]}))
    words = headstack("simulate", "hp-97560", "--workload", job_file, "--fio-json", path).out
    for row in ("fio, j, read", "fio, j, write", "simulated, reads", "simulated, writes"):
        assert row in words


def test_what_is_no_job_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "job.fio"
    path.write_text("rw=randread\n")
    assert "is not a fio job file" in refused("simulate", "hp-97560", "--workload", path)
    path.write_text("[global]\nrw=read\n")
    assert "has no job" in refused("simulate", "hp-97560", "--workload", path)
    assert "there is no file" in refused("simulate", "hp-97560", "--workload", tmp_path / "none.fio")


def test_results_of_fio_stand_beside_the_run(tmp_path: Path) -> None:
    times = {"min": 1, "max": 9_000_000, "mean": 4_000_000.0, "stddev": 1_000_000.0, "N": 100}
    one = {"total_ios": 100, "iops": 250.0, "bw_bytes": 1_024_000, "lat_ns": times,
           "clat_ns": {**times, "percentile": {"50.000000": 3_900_000, "99.900000": 8_900_000}}}  # fmt: skip
    none = {"total_ios": 0}
    path = tmp_path / "fio.json"
    path.write_text("fio: a warning\n" + json.dumps({"jobs": [{"jobname": "readers", "read": one, "write": none}]}))
    (row,) = results(path)
    times = row["response_ms"]
    assert (times["mean"], times["p50"], times["p999"], row["iops"]) == (4.0, 3.9, 8.9, 250.0)
    words = headstack("simulate", "hp-97560", "--workload", EXAMPLE, "--until", "5s", "--fio-json", path).out
    assert "fio, readers, read" in words
    assert "simulated" in words
    path.write_text("{}")
    assert "is not a result of fio" in refused("simulate", "hp-97560", "--workload", EXAMPLE, "--fio-json", path)
