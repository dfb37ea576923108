"""A trace of many devices, each on a drive of its own."""

from __future__ import annotations

import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path
from threading import Thread
from zipfile import ZipFile

import polars as pl
import pytest

import headstack
from conftest import headstack as run_cli
from conftest import refused
from headstack.errors import InputError
from headstack.remote import as_given, copied
from sweeps import Lost

DEVICES, REQUESTS = 12, 6000


def frame(requests: int = REQUESTS) -> pl.DataFrame:
    """Requests of devices whose numbers are not consecutive, in order of arrival."""
    number = pl.int_range(requests)
    draw = (number * 2_654_435_761) % 1_000_003
    return pl.select(
        (number * 900_000).alias("arrival_ns"),
        (7 + 1000 * (draw % DEVICES)).alias("device"),
        pl.when(draw % 3 == 0).then(pl.lit("write")).otherwise(pl.lit("read")).alias("op"),
        (draw * 2 % 2_000_000).alias("lba"),
        pl.lit(8).alias("sectors"),
    )


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(frame(), tmp_path_factory.mktemp("fleet") / "fleet.parquet")


@pytest.fixture(scope="module")
def parts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same in two files, each with whole devices."""
    folder = tmp_path_factory.mktemp("parts")
    for part in range(2):
        written(frame().filter(pl.col("device") // 1000 % 2 == part), folder / f"part-{part}.parquet")
    return folder


def written(rows: pl.DataFrame, path: Path) -> Path:
    rows.write_parquet(path)
    return path


def test_the_tables_say_how_precise_their_quantiles_are(trace: Path) -> None:
    """The same device had one p99 in one table, another in the next, and a third as a run of its own."""
    said = " ".join(run_cli("fleet", "hp-97560", "--trace", trace).out.split())
    assert "within 0.4 % here and 0.1 % above" in said
    assert "mean and max are exact" in said


def test_each_device_goes_as_in_a_run_of_its_own(trace: Path) -> None:
    done = headstack.fleet("hp-97560", headstack.Trace(trace), seed=3, worst=2)
    assert f"{done.summary['response_ms']['p99']:,.2f} ms" in done._repr_html_()
    devices = pl.DataFrame(done.devices)
    assert devices["device"].to_list() == [7 + 1000 * index for index in range(DEVICES)]
    alone = [
        headstack.simulate(
            "hp-97560",
            headstack.Trace(trace, devices=[(device, None)]),
            seed=3 + device,
            keep=False,
        ).summary
        for device in devices["device"]
    ]
    assert devices["requests"].to_list() == [run["requests"] for run in alone]
    assert devices["mean_ms"].to_list() == pytest.approx([run["response_ms"]["mean"] for run in alone], rel=1e-12)
    assert devices["max_ms"].to_list() == pytest.approx([run["response_ms"]["max"] for run in alone], rel=1e-12)
    assert devices["p99_ms"].to_list() == pytest.approx([run["response_ms"]["p99"] for run in alone], rel=0.005)
    summary = done.summary
    assert summary["requests"] == REQUESTS
    assert summary["response_ms"]["max"] == devices["max_ms"].max()
    worst = devices.sort("p99_ms", descending=True)["device"].to_list()
    assert [each["device"] for each in summary["worst"]] == worst[:2]


def test_flushes_and_discards_are_served_as_in_a_run(tmp_path: Path) -> None:
    number = pl.int_range(pl.len())
    rows = frame(600).with_columns(
        op=pl.lit("write"),
        sectors=pl.when(number % 50 == 7).then(0).otherwise(pl.col("sectors")),
        flags=pl.when(number % 50 == 7).then(32).when(number % 50 == 8).then(512).otherwise(0).cast(pl.UInt16),
        device=pl.lit(0),
    )
    requests = headstack.Trace(written(rows, tmp_path / "flushes.parquet"))
    fleet, run = (serve("nearline-18tb", requests, seed=3).summary for serve in (headstack.fleet, headstack.simulate))
    assert fleet["requests"] == run["requests"] == 600
    assert fleet["response_ms"]["mean"] == pytest.approx(run["response_ms"]["mean"], rel=1e-12)


@pytest.mark.long
def test_wherever_it_is_served_the_result_is_the_same(trace: Path, parts: Path) -> None:
    def told(*words: str | Path) -> dict[str, object]:
        summary = run_cli("fleet", "hp-97560", *words, "--json").json()
        del summary["wall_s"]
        return summary

    whole = told("--trace", trace, "--threads", "1")
    assert told("--trace", trace, "--threads", "3") == whole
    assert told("--trace", parts) == whole
    assert told("--trace", parts, "--dask", "local:2") == whole
    assert told("--trace", trace, "--dask", "local:2", "--shares", "3") == whole


def test_a_cluster_that_is_lost_is_said(trace: Path) -> None:
    with pytest.raises(headstack.HeadstackError, match="the cluster was lost"):
        headstack.fleet("hp-97560", trace, executor=Lost(0))


def test_any_executor_will_do(trace: Path) -> None:
    here = headstack.fleet("hp-97560", headstack.Trace(trace))
    with ThreadPoolExecutor(2) as executor:
        there = headstack.fleet("hp-97560", headstack.Trace(trace), executor=executor, shares=2)
    assert there.summary == here.summary
    assert pl.DataFrame(there.devices).equals(pl.DataFrame(here.devices))


def test_progress_can_stop_it(tmp_path: Path) -> None:
    # It is asked ten times a second at most, between rounds of 262,144 requests.
    trace = headstack.Trace(written(frame(800_000), tmp_path / "long.parquet"))
    with pytest.raises(headstack.Interrupted):
        headstack.fleet("nearline-18tb", trace, progress=lambda *_: False)


def test_a_table_out_of_order_may_be_damaged(tmp_path: Path) -> None:
    """Parquet files have no sums to tell a changed byte by: of a file that was in order, sorting makes another load."""
    rows = frame(20).with_columns(arrival_ns=pl.when(pl.int_range(20) == 9).then(0).otherwise(pl.col("arrival_ns")))
    told = refused("fleet", "hp-97560", "--trace", written(rows, tmp_path / "changed.parquet"))
    assert "--sort" in told
    assert " ".join(told.split()).count("it is damaged") == 1


def test_devices_are_written(trace: Path, tmp_path: Path) -> None:
    out = tmp_path / "devices.parquet"
    found = run_cli("fleet", "hp-97560", "--trace", trace, "--out", out)
    assert found.code == 0, found.err
    assert "12 devices, each hp-97560" in found.out
    assert "Devices with the highest p99" in found.out
    assert pl.read_parquet(out)["requests"].sum() == REQUESTS


def test_a_fleet_of_one_is_no_plural(trace: Path, tmp_path: Path) -> None:
    alone = tmp_path / "alone.parquet"
    requests = pl.read_parquet(trace)
    requests.filter(pl.col("device") == requests["device"][0]).write_parquet(alone)
    assert run_cli("fleet", "hp-97560", "--trace", alone).out.startswith("1 device, hp-97560")


def test_bad_input_is_refused(trace: Path, parts: Path, tmp_path: Path) -> None:
    def told(*words: str | Path) -> str:
        return refused("fleet", *words)

    assert "--shares is about the tasks of a cluster" in told("hp-97560", "--trace", trace, "--shares", "2")
    assert "--threads 0 leaves nothing to do" in told("hp-97560", "--trace", trace, "--threads", "0")
    assert "--fit-lba" in told("dec-ra81", "--trace", trace)
    (tmp_path / "empty").mkdir()
    assert "there is no trace in the folder" in told("hp-97560", "--trace", tmp_path / "empty")
    system = tmp_path / "two.toml"
    system.write_text('[volume.a]\ndrives = ["hp-97560"]\n[volume.b]\ndrives = ["hp-97560"]\n')
    assert "a system of one volume, and this one has 2" in told(str(system), "--trace", trace)
    written(frame(), parts.parent / "twice.parquet")
    both = tmp_path / "both"
    both.mkdir()
    for name in ("one.parquet", "two.parquet"):
        written(frame().head(40), both / name)
    assert "has requests in two parts of the trace" in told("hp-97560", "--trace", both)


def test_a_url_is_a_trace(trace: Path, tmp_path: Path) -> None:
    devices: list[tuple[int, int | None]] = [(7, None)]
    here = headstack.simulate("hp-97560", headstack.Trace(trace, devices=devices), keep=False).summary
    remote = headstack.Trace(f"file://{trace}", devices=devices)
    for one in (remote, pickle.loads(pickle.dumps(remote))):
        there = headstack.simulate("hp-97560", one, keep=False).summary
        assert {**there, "wall_s": 0} == {**here, "wall_s": 0}
    words = ("simulate", "hp-97560", "--trace", f"file://{trace}", "--device", "7", "--json")
    assert run_cli(*words).json()["response_ms"] == here["response_ms"]
    with ZipFile(tmp_path / "traces.zip", "w") as packed:
        packed.write(trace, "fleet.parquet")
    # A path object makes one slash of two, in every link of a chain.
    for place in (f"file://{tmp_path}/traces.zip", f"simplecache::file://{tmp_path}/traces.zip"):
        assert run_cli("trace", "info", f"zip://fleet.parquet::{place}", "--json").json()["requests"] > 0
    assert "`zip://a.csv::nowhere://host/b.zip`" in refused("trace", "info", "zip://a.csv::nowhere://host/b.zip")
    # The URL of a local file is its path.
    assert f"`{tmp_path}/nothing.parquet`: No such file" in refused(
        "trace", "info", f"file://{tmp_path}/nothing.parquet"
    )
    assert "a URL that fsspec opens" in refused("trace", "info", "nowhere://host/file")


def test_what_a_url_lacks_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    fsspec = pytest.importorskip("fsspec")

    def told(url: str, problem: Exception) -> InputError:
        def fail(*_: object) -> None:
            raise problem

        monkeypatch.setattr(fsspec, "open", fail)
        with pytest.raises(InputError) as refusal:
            copied(url)
        return refusal.value

    for url, extra in (
        ("https://host/a.csv", "http"),
        ("zip://a.csv::s3://bucket/b.zip", "s3"),
        ("gs://bucket/a.csv", "gcs"),
    ):
        lacking = told(url, ImportError("this file system needs that package"))
        assert str(lacking) == f"cannot open `{url}`: this file system needs that package"
        assert lacking.hint == f"pip install 'fsspec[{extra}]'"
    assert told("box://a", ImportError("Please install boxfs")).hint == "install the package it names"
    # The file system of HTTP says of a server that does not answer that the file is not there.
    silent = FileNotFoundError("http://host/a.csv")
    silent.__cause__ = ConnectionRefusedError("Cannot connect to host")
    assert "cannot reach `http://host/a.csv`: Cannot connect to host" in str(told("http://host/a.csv", silent))
    assert "there is nothing at" in str(told("http://host/a.csv", FileNotFoundError("http://host/a.csv")))


@pytest.mark.skipif(find_spec("aiohttp") is None, reason="needs `aiohttp`: pip install 'fsspec[http]'")
def test_a_trace_comes_over_http(trace: Path) -> None:
    handler = partial(SimpleHTTPRequestHandler, directory=str(trace.parent))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}/{trace.name}"
        there = run_cli("trace", "info", url, "--json").json()
        here = run_cli("trace", "info", trace, "--json").json()
        assert {**there, "trace": ""} == {**here, "trace": ""}
        assert there["trace"] == url
        assert url in run_cli("trace", "info", url).out
        server.shutdown()


def test_a_url_is_shown_with_both_slashes(tmp_path: Path) -> None:
    assert as_given(Path("https://host/a.csv")) == "https://host/a.csv"
    assert as_given(Path("zip://a.csv::https://host/b.zip")) == "zip://a.csv::https://host/b.zip"
    assert as_given(tmp_path) == str(tmp_path)


def test_messages_call_a_copy_as_it_was_given(tmp_path: Path) -> None:
    notes = tmp_path / "notes.txt"
    notes.write_text("nothing that is a trace\n")
    piped = subprocess.run(
        [sys.executable, "-m", "headstack", "trace", "info", "/dev/stdin"],
        input=notes.read_bytes(),
        capture_output=True,
        check=False,
    )
    said = {str(notes): refused("trace", "info", f"file://{notes}"), "/dev/stdin": piped.stderr.decode()}
    for name, message in said.items():
        assert f"`{name}` does not begin like a trace" in message
        assert "/proc/self/fd" not in message


def test_a_sweep_takes_a_url(trace: Path, tmp_path: Path) -> None:
    file = tmp_path / "sweep.toml"
    for name, path in (("url", f"file://{trace}"), ("path", str(trace))):
        file.write_text(
            f'[base]\nsystem = "hp-97560"\ntrace = "{path}"\n[base.set]\n"trace.devices" = [[7, 0]]\n'
            '[[axis]]\npath = "rotation_rpm"\nvalues = [4002, 5400]\n'
        )
        found = headstack.sweep(file, tmp_path / name)
        assert not found.failures
    one, two = (pl.read_parquet(tmp_path / name / "results.parquet") for name in ("url", "path"))
    assert one["response_ms.mean"].to_list() == two["response_ms.mean"].to_list()


def test_chosen_devices_stay_apart_and_keep_their_numbers(trace: Path) -> None:
    every = pl.DataFrame(headstack.fleet("hp-97560", trace, seed=3).devices)
    chosen = headstack.Trace(trace, devices=[1007, 5007])
    for served in (chosen, pickle.loads(pickle.dumps(chosen))):
        found = pl.DataFrame(headstack.fleet("hp-97560", served, seed=3).devices)
        assert found["device"].to_list() == [1007, 5007]
        wanted = every.filter(pl.col("device").is_in([1007, 5007]))
        assert found.drop("utilisation").equals(wanted.drop("utilisation"))
    alone = pl.DataFrame(headstack.fleet("hp-97560", headstack.Trace(trace, devices=[5007]), seed=3).devices)
    assert alone["device"].to_list() == [5007]


def test_a_chosen_device_that_is_not_there_is_named(trace: Path) -> None:
    """Alone it was refused; beside another it was left out in silence."""
    found = run_cli("fleet", "hp-97560", "--trace", trace, "--device", "1007", "--device", "999", "--json")
    assert found.json()["devices"] == 1
    assert "nothing was served of `999`: no request that was read is of it" in " ".join(found.err.split())
    assert "nothing was served" not in run_cli("fleet", "hp-97560", "--trace", trace, "--device", "1007").err


def test_devices_that_do_not_keep_up_are_counted(tmp_path: Path) -> None:
    """One of three gets a request every 2 ms, more than it can serve; another a burst of 90 at its end."""
    rows = [(2.0 * number, 3) for number in range(3000)] + [(100.0 * number, 4) for number in range(60)]
    rows += [(6000.0, 5)] * 90
    table = tmp_path / "fleet.csv"
    lines = [f"{ms},{device},{(77_777 * place) % 2_000_000},8,r" for place, (ms, device) in enumerate(sorted(rows))]
    table.write_text("\n".join(lines) + "\n")
    columns = ["--columns", "time:0:ms,device:1,offset:2:sectors,size:3:sectors,op:4"]
    found = run_cli("fleet", "hp-97560", "--trace", str(table), *columns)
    assert "1 device did not keep up" in " ".join(found.err.split())
    # Messages go to stderr beside JSON, too.
    assert "1 device did not keep up" in " ".join(
        run_cli("fleet", "hp-97560", "--trace", str(table), *columns, "--json").err.split()
    )
