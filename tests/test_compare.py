"""`compare`: what changed between runs, traces, validations and measurements, and whether it may be chance."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import headstack
from conftest import ROOT, refused
from conftest import headstack as run_cli
from headstack import _core
from headstack.comparison import resampling
from headstack.comparison.result import Difference, Metric, _words
from headstack.errors import InputError
from headstack.report.comparison import _detail, _small, cells, comparison_page

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same requests on a drive, on a faster one, and others on the first."""
    folder = tmp_path_factory.mktemp("runs")
    changes = {"a": {}, "faster": {"overrides": {"rotation_rpm": 8004}}, "other": {"seed": 9}}
    for name, change in changes.items():
        run = headstack.simulate("hp-97560", "unix-like", requests=3000, out=folder / f"{name}.parquet", **change)
        (folder / f"{name}.json").write_text(json.dumps(run.summary))
    return folder


def test_two_runs_are_compared_request_by_request(runs: Path) -> None:
    found = headstack.compare([runs / "a.parquet", runs / "faster.parquet"])
    summaries = [json.loads((runs / f"{name}.json").read_text())["response_ms"] for name in ("a", "faster")]
    metrics = found.differences[0].metrics
    for name in ("mean", "p50", "p90", "p99", "p999", "max"):
        # The same figure as the run's own summary.
        assert metrics[name].first == pytest.approx(summaries[0][name], rel=1e-9)
        assert metrics[name].second == pytest.approx(summaries[1][name], rel=1e-9)
    mean = metrics["mean"]
    assert found.summary["compared"][0]["requests_paired"] == 3000
    assert mean.ci95 is not None
    assert mean.ci95[0] < mean.change < mean.ci95[1] < 0
    assert "goes from" in found.answer()
    assert f"{mean.change_percent:+.3g} %" in found.answer()


def test_other_requests_are_not_paired_and_their_interval_is_wider(runs: Path) -> None:
    paired = headstack.compare([runs / "a.parquet", runs / "faster.parquet"]).differences[0]
    other = headstack.compare([runs / "a.parquet", runs / "other.parquet"]).differences[0]
    assert other.paired is None
    low, high = other.metrics["mean"].ci95 or (0.0, 0.0)
    assert low < 0 < high
    close, far = paired.metrics["mean"].ci95 or (0.0, 0.0)
    assert high - low > far - close


def test_a_run_against_itself_is_the_same(runs: Path, tmp_path: Path) -> None:
    again = tmp_path / "again.parquet"
    again.write_bytes((runs / "a.parquet").read_bytes())
    found = headstack.compare([runs / "a.parquet", again])
    assert found.answer() == "again is the same as a in all 6 values."
    assert all(metric.change == 0 for metric in found.differences[0].metrics.values())
    # Nothing differs: no chance is in it.
    assert "may be chance" not in run_cli("compare", runs / "a.parquet", again).out


def chosen(files: list[Path], **options: Any) -> int | None:
    """How many requests of two files are compared with these options of a trace."""
    found = headstack.compare(files, open_trace=lambda path: headstack.Trace(path, **options))
    return found.summary["compared"][0].get("requests_paired")


def test_what_is_compared_is_what_the_options_choose(
    runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`compare` took every option of traces, and obeyed none for runs and only `--op` for traces."""
    monkeypatch.setattr(resampling, "DRAWS", 20)
    rows = pl.read_parquet(runs / "a.parquet")
    reads = rows.filter(pl.col("op").cast(pl.String) == "read")
    early = int((rows["arrival_ns"] < 60e9).sum())
    ms = (reads["finish_ns"] - reads["start_ns"]).cast(pl.Float64) / 1e6
    words = ("compare", runs / "a.parquet", runs / "faster.parquet")
    told = run_cli(*words, "--op", "read", "--time", "service", "--json").json()["compared"][0]
    assert told["requests_paired"] == len(reads) < 3000
    assert told["metrics"]["mean"]["first"] == pytest.approx(ms.mean())
    assert "holds nothing of device 7" in refused(*words, "--device", "7")
    assert "Unknown option `--time-scale`" in refused(*words, "--time-scale", "2")
    files = [runs / "a.parquet", runs / "faster.parquet"]
    assert chosen(files, to_s=60) == early
    assert chosen(files, from_s=60) == 3000 - early
    with pytest.raises(InputError, match="knows no process"):
        chosen(files, processes=["init"])
    with pytest.raises(InputError, match="`time_scale` changes requests"):
        chosen(files, time_scale=2)
    # The same of traces: every second request on another device.
    for file in files:
        made = pl.DataFrame(headstack.Trace(file))
        made = made.with_columns(device=(pl.int_range(pl.len()) % 2).cast(pl.UInt32), op=pl.col("op").cast(pl.String))
        made.write_csv(tmp_path / f"{file.stem}.csv")
    traces = [tmp_path / "a.csv", tmp_path / "faster.csv"]
    assert chosen(traces, devices=[(1, None)]) == 1500
    assert chosen(traces, op="read") == len(reads)
    assert chosen(traces, to_s=60) == early
    with pytest.raises(InputError, match="holds nothing of device 7"):
        chosen(traces, devices=[(7, None)])


def test_options_of_requests_are_refused_where_there_are_none(runs: Path) -> None:
    drives = ("compare", "hp-97560", "cheetah-9lp")
    for option in (("--op", "read"), ("--device", "1"), ("--to", "60s"), ("--time", "service"), ("--seed", "2")):
        said = refused(*drives, *option)
        assert f"`{option[0]}`" in said or option[0] in said
        assert "leave it out" in said
    summaries = ("compare", runs / "a.json", runs / "faster.json")
    assert "`--op` is for the requests" in refused(*summaries, "--op", "read")
    # A summary holds both times.
    assert run_cli(*summaries, "--time", "service", "--json").json()["time"] is None


def test_an_interval_is_the_same_each_time(runs: Path) -> None:
    """Sums were split among threads: the last digits of the mean's interval changed from call to call."""
    files = [runs / "a.parquet", runs / "other.parquet"]
    found = {json.dumps(headstack.compare(files).summary) for _ in range(6)}
    assert len(found) == 1


def test_a_tile_says_from_which_value_to_which(runs: Path) -> None:
    """ "30.1 to 34.6 ms" below "+15.1 %" read as the interval of the change."""
    found = headstack.compare(runs / "a.parquet", runs / "faster.parquet")
    mean = found.differences[0].metrics["mean"]
    tile = comparison_page(found).numbers[0]
    assert tile.value == f"{mean.change_percent:+.1f} %"
    assert tile.detail == f"{mean.first:.3f} → {mean.second:.3f} ms"


def test_a_broken_limit_ends_with_1(runs: Path) -> None:
    words = ("compare", runs / "faster.parquet", runs / "a.parquet")
    assert run_cli(*words).code == 0
    done = run_cli(*words, "--fail-if", "mean > +1%", "--json")
    assert done.code == 1
    found = json.loads(done.out)
    mean = found["compared"][0]["metrics"]["mean"]
    # The limit, who broke it, and by how much.
    assert found["failed"][0].startswith("mean > +1%: a, where mean goes from ")
    assert f"({mean['change_percent']:+.3g} %)" in found["failed"][0]
    assert "limit broken: mean > +1%: a" in done.err
    assert run_cli(*words, "--fail-if", "mean > +900%").code == 0


def test_summaries_drive_files_and_traces(runs: Path, tmp_path: Path, ascii_trace: Path) -> None:
    known = run_cli("compare", runs / "a.json", runs / "faster.json", "--json").json()
    assert (known["schema_version"], known["kind"]) == (1, "run")
    assert known["compared"][0]["metrics"]["mean"]["change_ci95"][1] < 0 or known["compared"][0]["metrics"]["mean"]
    drive = tmp_path / "fast.toml"
    drive.write_text(run_cli("drives", "show", "hp-97560", "--toml", "--set", "rotation_rpm=8004").out)
    plain = tmp_path / "plain.toml"
    plain.write_text(run_cli("drives", "show", "hp-97560", "--toml").out)
    metrics = run_cli("compare", plain, drive, "--json").json()["compared"][0]["metrics"]
    assert metrics["rotation_rpm"]["change"] == pytest.approx(4002)
    page = tmp_path / "drives.html"
    run_cli("compare", plain, drive, "--report", page)
    assert "drives compared" in page.read_text()
    assert metrics["heads"]["change"] == 0
    assert "has no measured times" in refused("compare", ascii_trace, ascii_trace)
    rows = "arrival_ns,start_ns,finish_ns,lba,sectors,device,op,flags\n"
    for name, late in (("one", 0), ("two", 1)):
        (tmp_path / f"{name}.csv").write_text(
            rows + "".join(f"{n}000000,{n}000000,{n + 5 + late}000000,{n * 8},8,0,read,0\n" for n in range(50))
        )
    mean = run_cli("compare", tmp_path / "one.csv", tmp_path / "two.csv", "--json").json()["compared"][0]
    assert mean["metrics"]["mean"]["change"] == pytest.approx(1.0)
    assert mean["requests_paired"] == 50


def measured(path: Path, **values: float) -> Path:
    """What `measure --json` would say of these."""
    rows = [
        {"name": name, "value": value, "unit": "ms" if name.endswith("_ms") else "", "ci95": None}
        for name, value in values.items()
    ]
    path.write_text(json.dumps({"parameters": rows, "rotating": True}))
    return path


def test_what_tells_drives_apart_comes_first(tmp_path: Path) -> None:
    one = measured(tmp_path / "one.json", rotation_ms=14.993, inward_seek_extra_ms=3.6e-7, write_after_read_ms=-0.015,
                   head_switch_ms=1.6, cache_segments=1, rotation_rpm=4002, sectors_per_track=72)  # fmt: skip
    two = measured(tmp_path / "two.json", rotation_ms=9.378, inward_seek_extra_ms=-1.0e-6, write_after_read_ms=2.466,
                   head_switch_ms=0.2, cache_segments=1, rotation_rpm=6398, sectors_per_track=108)  # fmt: skip
    found = headstack.compare([one, two])
    assert found.answer() == (
        "From one to two, rotational speed goes from 4,002 to 6,398 (+59.9 %); sectors per track go from 72 to 108 (+50 %)."
    )
    metrics = found.differences[0].metrics
    # Values on either side of zero have no percentage.
    assert metrics["write_after_read_ms"].change_percent is None
    shown = run_cli("compare", one, two, "--report", tmp_path / "page.html").out
    assert "extra delay of a seek to a write, after a read" in shown
    tiles = re.findall(
        r'class="label">(.*?), two</div><div class="value">(.*?)</div>', (tmp_path / "page.html").read_text()
    )
    assert [name for name, _ in tiles][:2] == ["rotational speed", "sectors per track"]
    assert not {"the same", "+0.0 %"} & {value for _, value in tiles}
    same = headstack.compare([one, measured(tmp_path / "three.json", cache_segments=1, inward_seek_extra_ms=-1e-6)])
    assert "the same as one in all 2 values" in same.answer()


def test_a_small_change_is_written_without_an_exponent() -> None:
    """The difference of two seeks of 3.640 ms was -5e-05, in a column of 0.013 and 1.274."""
    assert [_small(change) for change in (-5e-05, 0.0004, 1.2e-6, -3e-9)] == [
        "-0.00005",
        "+0.0004",
        "+0.000001",
        "-3e-09",
    ]


def test_what_rounding_left_is_no_change() -> None:
    assert cells("rotational speed", Metric(4002.0, 4001.9999999970, "rpm", None))[1:6] == (
        "4,002",
        "4,002",
        "rpm",
        "0",
        "0.00",
    )
    assert cells("head switch", Metric(1.6, 1.60046, "ms", None))[1:6] == ("1.600", "1.600", "ms", "+0.0005", "+0.03")
    assert cells("bus", Metric(10.0, 3.45, "MB/s", None))[1:3] == ("10.000", "3.450")


def test_validations_are_compared_by_their_scores(runs: Path, tmp_path: Path) -> None:
    for name, change in (("same", ()), ("slow", ("--set", "rotation_rpm=3900"))):
        scores = run_cli("validate", "hp-97560", "--trace", runs / "a.parquet", "--replay", "closed", "--json", *change)
        (tmp_path / f"{name}.json").write_text(scores.out)
    done = run_cli("compare", tmp_path / "same.json", tmp_path / "slow.json", "--fail-if", "demerit > +0.1%", "--json")
    assert done.code == 1
    metrics = json.loads(done.out)["compared"][0]["metrics"]
    assert metrics["demerit"]["second"] > metrics["demerit"]["first"]
    shown = run_cli("compare", tmp_path / "same.json", tmp_path / "slow.json", "--report", tmp_path / "page.html").out
    assert "error per request, reads" in shown
    # Whoever sets a limit needs the keys.
    assert "For --fail-if: demerit, demerit_ms, model_mean, measured_mean, mae, reads_mae" in shown
    page = (tmp_path / "page.html").read_text()
    assert "error per request, reads" in page
    assert "reads_mae" not in page
    # Two tiles were both called "demerit".
    tiles = re.findall(r'class="label">(.*?), slow</div><div class="value">(.*?)</div>', page)
    assert len({name for name, _ in tiles}) == len(tiles) == 4
    values = dict(tiles)
    assert values["relative demerit"].endswith(" points")
    assert {"absolute demerit", "mean of the model"} < values.keys()


def test_brackets_in_a_name_are_no_pattern(runs: Path, tmp_path: Path) -> None:
    (tmp_path / "run1.parquet").write_bytes((runs / "a.parquet").read_bytes())
    odd = tmp_path / "run[1].parquet"
    odd.write_bytes((runs / "faster.parquet").read_bytes())
    told = headstack.compare([tmp_path / "run1.parquet", odd]).differences[0].metrics["mean"]
    plain = headstack.compare([runs / "a.parquet", runs / "faster.parquet"]).differences[0].metrics["mean"]
    # The last digit of a sum depends on how it is divided.
    assert (told.first, told.second) == pytest.approx((plain.first, plain.second), rel=1e-12)
    other = tmp_path / "only[2].parquet"
    other.write_bytes((runs / "a.parquet").read_bytes())
    assert headstack.compare([other, other]).differences[0].metrics["mean"].change == 0
    # Served again by the system of the file's own run it takes as long as there.
    faster = headstack.explain_completion("hp-97560", odd, 1000, overrides={"rotation_rpm": 8004})
    assert abs(faster.timelines[-1]["differs_ms"]) < 1e-3


@pytest.mark.long
def test_what_cannot_be_compared_is_refused(runs: Path, tmp_path: Path) -> None:
    one = runs / "a.parquet"
    assert "two or more" in refused("compare", one)
    assert "no such file" in refused("compare", one, tmp_path / "none.parquet")
    assert "it is a folder" in refused("compare", one, tmp_path)
    assert "it is not a regular file" in refused("compare", one, "/dev/null")
    record = tmp_path / "record.parquet"
    assert run_cli("measure", "mock:", "skippy", "--record", record).code == 0
    assert f"`headstack measure --from {record} --json > record.json`" in refused("compare", record, record)
    for files, said in [
        ("a.parquet", "there is no `a.parquet`"),
        ([one, 5], "what is a `int` cannot be compared"),
        ([headstack.System("hp-97560")] * 2, "what is a `System` cannot be compared"),
        (5, "there is nothing to compare it with"),
    ]:
        with pytest.raises(InputError, match=said):
            headstack.compare(files)  # type: ignore[call-overload]
    told = refused("compare", one, runs / "a.json")
    assert "compare two of a kind" in told
    assert "headstack simulate … --out a.parquet" in " ".join(told.split())
    assert "did you mean `p99`" in refused("compare", one, runs / "other.parquet", "--fail-if", "p9 > +5%")
    assert "is not a limit" in refused("compare", one, runs / "other.parquet", "--fail-if", "p99 5%")
    (tmp_path / "odd.json").write_text('{"a": 1}')
    assert "nothing that can be compared" in refused("compare", tmp_path / "odd.json", tmp_path / "odd.json")
    (tmp_path / "bad.parquet").write_bytes(b"PAR1")
    assert "cannot read" in refused("compare", tmp_path / "bad.parquet", one)


def test_objects_are_compared_as_their_files_are(tmp_path: Path) -> None:
    rows = [
        headstack.simulate("hp-97560", "unix-like", requests=600, seed=seed, out=tmp_path / f"{seed}.parquet")
        for seed in (1, 2)
    ]
    of_files = headstack.compare(tmp_path / "1.parquet", tmp_path / "2.parquet").summary["compared"][0]
    of_runs = headstack.compare(*rows)
    assert of_runs.summary["compared"][0]["metrics"] == of_files["metrics"]
    assert [source.name for source in of_runs.sources] == [
        "hp-97560 under unix-like (1)",
        "hp-97560 under unix-like (2)",
    ]
    assert headstack.compare(rows[0], tmp_path / "2.parquet", time="service").time == "service"
    # Completions that were not kept leave the summary.
    short = [headstack.simulate("hp-97560", "unix-like", requests=600, seed=seed, keep=False) for seed in (1, 2)]
    assert headstack.compare(short).differences[0].metrics["mean"].second == pytest.approx(
        of_files["metrics"]["mean"]["second"]
    )

    drives = [headstack.Drive(name) for name in ("hp-97560", "hp-c2200a")]
    named = headstack.compare(["hp-97560", "hp-c2200a"])
    assert headstack.compare(*drives).summary["compared"][0]["metrics"] == named.summary["compared"][0]["metrics"]
    traces = [headstack.Trace(tmp_path / f"{seed}.parquet", op="read") for seed in (1, 2)]
    reads = headstack.compare(
        [tmp_path / "1.parquet", tmp_path / "2.parquet"], open_trace=lambda path: headstack.Trace(path, op="read")
    )
    assert headstack.compare(*traces).summary["compared"][0]["metrics"] == reads.summary["compared"][0]["metrics"]
    scores = [
        headstack.validate("hp-97560", tmp_path / "1.parquet", overrides={"controller.read_overhead_ms": ms})
        for ms in (1, 3)
    ]
    assert headstack.compare(*scores).kind == "validation"
    found = headstack.measure.run("sim:mock-disk", ["rotation"])
    assert headstack.compare(found, headstack.Drive("hp-97560")).kind == "measurement"
    with pytest.raises(InputError, match="is a run and `hp-97560` a drive"):
        headstack.compare(rows[0], "hp-97560")
    with pytest.raises(InputError, match="`time` cannot be chosen"):
        headstack.compare(*drives, time="service")


def test_the_page_of_a_comparison(runs: Path, tmp_path: Path) -> None:
    path = tmp_path / "compare.html"
    found = headstack.compare([runs / "a.parquet", runs / "faster.parquet", runs / "other.parquet"])
    found.report(path)
    page = path.read_text()
    assert page.count('<div class="chart"') == 2
    assert '<p class="answer">From a to faster' in page
    assert "95\u00a0% of the change" in page
    assert "3 runs compared by response time: 3,000 requests each" in page
    # Columns by name: "first" beside "other against a" would leave open which of the two it is.
    assert re.search(r"<th[^>]*>a</th>\s*<th[^>]*>faster</th>", page)
    assert "<th>first" not in page
    assert found._repr_html_().startswith("<p>From a")


def test_drives_of_the_library_are_compared_by_name() -> None:
    by_name = run_cli("compare", "hp-97560", "cheetah-9lp", "--json").json()
    files = [str(ROOT / "drives" / f"{name}.toml") for name in ("hp-97560", "cheetah-9lp")]
    assert by_name["compared"] == headstack.compare(files).summary["compared"]
    assert by_name["first"] == "hp-97560"
    # A name that is near one gets the same answer as a file that is not there.
    assert "a drive of the library" in refused("compare", "hp-97561", "cheetah-9lp")


def test_a_tile_says_what_may_be_chance() -> None:
    """The sentence said so, and the tile beside it did not."""
    unknown = ", chance or not is not known"
    for interval, why, words in [
        ((-5.0, 1.0), "", ", may be chance"),
        ((-5.0, -1.0), "", ""),
        (None, "", unknown),
        (None, None, ""),
    ]:
        each = Difference("b", {"mean": Metric(30.0, 28.5, "ms", interval)}, None, None, no_interval=why)
        assert _detail(each, "mean") == f"30.000 → 28.500 ms{words}"
    same = Difference("b", {"mean": Metric(30.0, 30.0, "ms", (0.0, 0.0))}, None, None, no_interval="")
    assert _detail(same, "mean") == "30 → 30 ms"
    assert _detail(Difference("b", {"zones": Metric(19, 12, "", None)}, None, None), "zones") == "19 → 12"


def test_an_answer_without_an_interval_says_so(runs: Path, tmp_path: Path) -> None:
    """Two seeds of the same configuration differed by 75 %, and nothing was said of chance."""
    for seed in (1, 2):
        out = tmp_path / f"short{seed}.parquet"
        headstack.simulate("hp-97560", "unix-like", requests=200, seed=seed, out=out)
    shorts = [tmp_path / "short1.parquet", tmp_path / "short2.parquet"]
    found = headstack.compare(shorts)
    assert "whether this is chance is not known (fewer than 256 requests)" in found.answer()
    assert "is not known" in found.summary["answer"]
    found.report(tmp_path / "short.html")
    page = (tmp_path / "short.html").read_text().replace("\u00a0", " ")
    assert "There are no intervals: fewer than 256 requests, so nothing says" in page
    assert "chance or not is not known" in page
    assert "400 resamples" not in page
    # A summary has an interval of the mean alone.
    summaries = headstack.compare([runs / "a.json", runs / "other.json"]).answer()
    assert "mean goes" in summaries
    assert "whether that of p99 is chance is not known (summaries hold no times" in summaries
    assert "chance" not in headstack.compare(["hp-97560", "cheetah-9lp"]).answer()
    assert "not known" not in headstack.compare([runs / "a.parquet", runs / "other.parquet"]).answer()


def test_sentences_agree_with_plurals() -> None:
    metric = Metric(3.0, 1.0, "", None)
    for name in ("zones", "heads", "sectors per track in the outer zone"):
        assert _words(metric, name).startswith("go from 3 to 1")
    for name in ("mean", "p99", "demerit", "rotational speed"):
        assert _words(metric, name).startswith("goes from 3 to 1")


def test_all_values_of_drive_files_are_compared(tmp_path: Path) -> None:
    """Of 11 values of geometry, a drive with another write policy and a fifth of the bus was the same."""
    changed = tmp_path / "changed.toml"
    changes = ("write_policy={ write-through = {} }", "bus.read_mb_per_s=2")
    sets = [word for change in changes for word in ("--set", change)]
    changed.write_text(run_cli("drives", "show", "hp-97560", "--toml", *sets).out)
    found = headstack.compare(["hp-97560", changed])
    assert "rate of the bus, reads goes from 10 to 2 MB/s (-80 %)" in found.answer()
    assert "write policy goes from immediate-reporting to write-through" in found.answer()
    assert "2 values of the drive files differ" in found.answer()
    told = found.summary["compared"][0]
    assert told.get("values_differ") == ["write_policy.immediate-reporting.dirty_hit", "bus.read_mb_per_s"]
    assert told.get("words", {})["write policy"] == ["immediate-reporting", "write-through"]
    shown = run_cli("compare", "hp-97560", changed, "--report", tmp_path / "page.html").out
    assert "Values of the drive files that differ: write_policy" in " ".join(shown.split())
    assert "write-through" in (tmp_path / "page.html").read_text()
    same = headstack.compare(["hp-97560", "hp-97560"]).answer()
    assert "is the same as" in same


def test_every_drive_of_the_library_can_be_compared() -> None:
    """Some have no cache, several arms, or no seek curve of their own."""
    found = headstack.compare(["hp-97560", *(name for name in _core.library_drives() if name != "hp-97560")])
    assert len(found.differences) > 40
    told = {each["name"]: each["metrics"] for each in found.summary["compared"]}
    assert told["dec-ra81"]["cache_segments"]["second"] == 0


def test_two_actuators_are_what_tells_a_drive_apart() -> None:
    found = headstack.compare(["dual-actuator-18tb", "nearline-18tb"])
    assert "actuators go from 2 to 1" in found.answer()
    metrics = found.differences[0].metrics
    assert (metrics["heads_total"].first, metrics["heads_total"].second) == (18, 18)
    assert (metrics["heads"].first, metrics["heads"].second) == (9, 18)


def test_names_that_are_near_are_told(runs: Path, tmp_path: Path) -> None:
    assert "did you mean `hp-c2247a`?" in refused("compare", "hp-c2247", "hp-97560")
    assert "did you mean `" + str(runs / "a.parquet") + "`?" in refused("compare", runs / "a.parqet", runs / "a.json")
    assert "a system of the library is compared by its runs" in refused("compare", "two-97560-one-bus", "hp-97560")
    assert f"there is no `{tmp_path / 'results'}`" in refused("compare", tmp_path / "results")
    assert "is a drive and" in refused("compare", "hp-97560", runs / "a.parquet")
