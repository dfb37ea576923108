"""Streams: the model of three parts, the probe, and the study of both."""

from __future__ import annotations

import json
import pickle
import re
from pathlib import Path

import pytest

from conftest import headstack as command
from conftest import refused
from headstack import InputError, measure, stream
from headstack.calibration.streams import StreamCalibration
from headstack.calibration.table import span, told_values
from headstack.calibration.throughputs import Throughputs, from_table
from headstack.report.streams import stream_chart, stream_columns, stream_rows, stream_sections

DRIVE = "maxtor-maxline-plus-ii"
SMALL = ("--file-mb", "60", "--record-kib", "512,65536", "--repeats", "2")
# 684 sectors in a revolution, and 1.5 ms of skew.
OUTER_MB_PER_S = 684 * 512 / 1e6 / (60 / 7200 * (1 + 124 / 684))


def test_a_model_takes_its_figures_from_the_drive_file() -> None:
    model = stream.model(DRIVE)
    mechanism = model.spec["mechanism"]
    assert mechanism["outer_mb_per_s"] == pytest.approx(684 * 512 * 120 / 1e6)
    assert mechanism["inner_mb_per_s"] == pytest.approx(391 * 512 * 120 / 1e6)
    assert model.capacity_bytes == pytest.approx(490_234_752 * 512, rel=1e-3)
    found = model.run("write", file_mb=100, record_kib=512)
    assert found["mb_per_s"] == pytest.approx(OUTER_MB_PER_S, rel=0.01)
    assert found["bytes"] == 191 * 512 * 1024
    again = pickle.loads(pickle.dumps(model))
    assert again.run("write", file_mb=100, record_kib=512) == found


def test_sizes_are_written_in_full() -> None:
    """A record of 1 GiB was one of 1.04858e+06."""
    points = [{"mode": "write", "record_kib": 1_048_576, "file_mb": 2_000_000, "mb_per_s": 35.0, "is_cached": False}]
    grid = {"record_kib": [0.5, 1_048_576], "file_mb": [2_000_000]}
    streams = {"grid": grid, "points": points}
    assert stream_columns(streams) == ["record (KiB)", "2,000,000 MB"]
    assert [row[0] for row in stream_rows(streams, "write")] == ["0.5", "1,048,576"]


def _write(model: stream.StreamModel) -> dict[str, float]:
    return model.run("write", file_mb=10, record_kib=128)


def test_values_are_replaced_by_path_and_the_model_stays() -> None:
    model = stream.model(DRIVE)
    slow = stream.model(model, {"cache.write_delay": {"constant_ms": 1.0}})
    commands = 77
    longer = _write(slow)["time_s"] - _write(model)["time_s"]
    assert longer == pytest.approx(commands * 1e-3, rel=1e-3)
    assert slow.run("read", file_mb=10, record_kib=128) == model.run("read", file_mb=10, record_kib=128)
    again = stream.StreamModel(toml=slow.to_toml())
    assert again.spec == slow.spec


def test_a_planted_delay_is_found_and_a_hidden_one_is_said_to_be() -> None:
    truth = stream.model(DRIVE, {"cache.write_delay": {"exponential_ms": 0.05}})
    cells = [(20.0, record) for record in (8, 16, 32, 64, 128, 512)]
    rows = [
        ("write", *cell, 3, rate) for cell, rate in stream.throughputs(truth, "write", cells, repeats=3, seed=7).items()
    ]
    found = stream.model(DRIVE).fit(rows, ["cache.write_delay", "server.write_delay"], law="normal")
    delay, hidden = found["parameters"]
    assert delay["identifiable"]
    assert delay["after"] == pytest.approx(0.05, abs=0.002)
    # The model has no such delay, and gets none.
    assert (hidden["identifiable"], hidden["ci95"], hidden["after"]) == (False, None, None)
    assert "depends on it" in hidden["why"]
    assert max(map(abs, found["differences"])) < 0.02


@pytest.mark.parametrize(
    ("act", "says"),
    [
        (lambda: stream.model("no-such-drive"), "no-such-drive"),
        (lambda: stream.model(DRIVE, {"cash.size_kib": 1}), "cash"),
        (lambda: stream.model(DRIVE, {"cache.size": 1}), "size"),
        (lambda: stream.model(DRIVE, {"cache.size_kib": -1}), "cache.size_kib"),
        (stream.StreamModel, "drive"),
        (lambda: stream.model(DRIVE).run("erase", file_mb=1, record_kib=8), "erase"),
        (lambda: stream.model(DRIVE).run("read", file_mb=float("nan"), record_kib=8), "file_mb"),
        (lambda: stream.model(DRIVE).run("read", file_mb=1e9, record_kib=8), "does not fit"),
        (lambda: stream.model(DRIVE).run("read", file_mb=1, record_kib=8, start_percent=101), "start_percent"),
        (lambda: stream.model(DRIVE).fit([], ["cache.read_delay"]), "cannot tell"),
        (lambda: stream.model(DRIVE).fit([("read", 1, 8, 1, 30)], ["cache.colour"]), "cache.colour"),
        (lambda: stream.model(DRIVE).fit([("read", 1, 8, 1, 30)], ["cache.read_delay"], law="gauss"), "gauss"),
    ],
)
def test_what_cannot_be_is_refused(act, says: str) -> None:
    with pytest.raises(InputError, match=says):
        act()


def test_the_probe_fills_its_grid_and_its_page(tmp_path: Path) -> None:
    page, record = tmp_path / "m.html", tmp_path / "r.parquet"
    found = command("measure", f"sim:{DRIVE}", "stream", *SMALL, "--record", record, "--report", page, "--json").json()
    points = found["stream"]["points"]
    # A record of 64 MiB does not fit in 60 MB.
    assert [(point["mode"], point["record_kib"]) for point in points] == [("write", 512), ("read", 512)]
    for point in points:
        assert point["repeats"] == len(point["files_mb_per_s"]) == 2
        assert point["mb_per_s"] == pytest.approx(OUTER_MB_PER_S, rel=0.1)
    html = page.read_text()
    # The page said "written: nothing" below a chart of writes.
    written = re.search(r"<dt>written</dt><dd>(.*?) MB by [0-9,]+ writes</dd>", html)
    assert written
    # Two files of 60 MB, in whole records; a record of 64 MiB is longer than they are.
    assert float(written[1]) == pytest.approx(120, rel=0.01)
    assert "Streams: writes by record and file" in html
    assert "Streams: reads, MB/s by record (KiB) and file (MB)" in html
    again = command("measure", "--from", record, "--json").json()
    assert again["stream"] == found["stream"]
    shown = command("measure", "--from", record).out
    assert "×" in shown


def test_the_verb_of_the_library_charts_what_it_measured() -> None:
    found = measure.streams(f"sim:{DRIVE}", file_mb=[5], record_kib=[64, 256], repeats=2)
    assert len(found.found["stream"]["points"]) == 4
    assert found.plot_streams("write").to_dict()
    assert "stream" not in [step["probe"] for step in measure.plan(f"sim:{DRIVE}")]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("stream", "--file-mb", "ten"), "ten"),
        (("stream", "--record-kib", "0"), "0.001 to 1,048,576 KiB"),
        (("stream", "--repeats", "0"), "repeats"),
        (("stream", "--file-mb", "1e9"), "no stream fits"),
        (("stream", "--file-mb", "1e308"), "0.001 to 1,000,000,000 MB"),
        (("stream", "--record-kib", "0.5", "--repeats", "1000"), "transfers"),
        (("skippy", "--repeats", "2"), "--repeats"),
    ],
)
def test_a_grid_that_cannot_be(words: tuple[str, ...], says: str) -> None:
    assert says in refused("measure", f"sim:{DRIVE}", *words)


# ---- calibrate --record, --table --------------------------------------------------------------------------------------


TABLE = """# measured by hand
op,file_mb,record_kib,repeats,mb_per_s
{rows}
"""


def _planted(path: Path, ms: float = 0.05) -> Path:
    """A table of a model whose delay is known."""
    truth = stream.model(DRIVE, {"cache.write_delay": {"constant_ms": ms}})
    cells = [(size, record) for size in (20.0, 40.0) for record in (8, 16, 32, 64, 128)]
    found = stream.throughputs(truth, "write", cells, repeats=2)
    path.write_text(TABLE.format(rows="\n".join(f"write,{size},{kib},2,{rate}" for (size, kib), rate in found.items())))
    return path


def test_a_table_gives_the_planted_delay_and_is_scored_on_other_files(tmp_path: Path) -> None:
    table, saved = _planted(tmp_path / "t.csv"), tmp_path / "s.toml"
    found = command("calibrate", DRIVE, "--table", table, "--law", "constant", "--save", saved, "--json").json()
    delay = next(row for row in found["parameters"] if row["name"] == "cache.write_delay")
    assert delay["after"] == pytest.approx(0.05, rel=1e-3)
    assert delay["ci95"][0] <= 0.05 <= delay["ci95"][1]
    inner = next(row for row in found["parameters"] if row["name"] == "mechanism.inner_mb_per_s")
    assert not inner["identifiable"]
    # It keeps its share of an outer rate that is right.
    assert inner["after"] == pytest.approx(inner["before"], rel=1e-3)
    assert delay["before"] is None
    assert (found["train"]["throughputs"], found["test"]["throughputs"]) == (5, 5)
    assert {row["file_mb"] for row in found["rows"] if row["fitted"]} == {40.0}
    assert found["test"]["after"]["mean_percent"] < 0.01 < found["test"]["before"]["mean_percent"]
    assert stream.StreamModel(toml=saved.read_text()).spec == found["model"]
    shown = " ".join(command("calibrate", DRIVE, "--table", table).out.split())
    assert "no throughput of the table depends on it; it keeps its share" in shown
    assert "not in the file" in shown


def test_a_saved_model_goes_on_and_is_no_drive(tmp_path: Path) -> None:
    """It could be read in Python alone; verbs spoke of a field that a cache does not have."""
    table, saved = _planted(tmp_path / "t.csv"), tmp_path / "s.toml"
    words = ("--table", table, "--law", "constant", "--json")
    once = command("calibrate", DRIVE, *words, "--save", saved).json()
    assert stream.model(saved).spec == once["model"]
    again = command("calibrate", saved, *words).json()
    assert again["system"] == "s"
    assert again["train"]["before"]["mean_percent"] < 0.01
    assert again["test"]["before"]["mean_percent"] < 0.01
    for verb in (
        ("simulate", saved, "--workload", "unix-like"),
        ("drives", "check", saved),
        ("measure", f"sim:{saved}"),
    ):
        said = refused(*verb)
        assert "this is a model of streams" in said
        assert "headstack calibrate" in said


def test_a_saved_law_is_kept_unless_another_is_asked_for(tmp_path: Path) -> None:
    """A model with an exponential delay came back with a normal one."""
    table, saved, page = _planted(tmp_path / "t.csv"), tmp_path / "s.toml", tmp_path / "s.html"
    first = command("calibrate", DRIVE, "--table", table, "--law", "exponential", "--save", saved, "--json").json()
    assert (first["law"], first["is_law_asked"]) == ("exponential", True)
    shown = command(
        "calibrate",
        saved,
        "--table",
        _planted(tmp_path / "u.csv", 0.08),
        "--report",
        page,
        "--save",
        tmp_path / "v.toml",
    )
    assert "cache.write_delay exponential, as in the file" in shown.err
    assert "cache.write_delay exponential, as in the file" in page.read_text()
    assert stream.model(tmp_path / "v.toml").spec["cache"]["write_delay"]["exponential_ms"] == pytest.approx(
        0.08, rel=0.05
    )
    again = command("calibrate", saved, "--table", table, "--json").json()
    assert (again["law"], again["is_law_asked"]) == ("exponential", False)
    # The same model draws the same before and after.
    same = command("calibrate", saved, "--table", table, "--parameters", "cache.read_delay", "--json").json()
    assert same["test"]["before"] == same["test"]["after"]
    assert [row["law"] for row in again["parameters"]] == ["exponential", None, None]
    other = command("calibrate", saved, "--table", table, "--law", "constant", "--json").json()
    assert set(other["model"]["cache"]["write_delay"]) == {"constant_ms"}


def test_a_delay_that_is_not_in_the_file_has_no_value_before(tmp_path: Path) -> None:
    table, page = _planted(tmp_path / "t.csv"), tmp_path / "s.html"
    words = ("--table", table, "--parameters", "cache.write_delay,cache.read_delay,cache.overhead_ms")
    found = command("calibrate", DRIVE, *words, "--report", page, "--json").json()
    write, read, overhead = found["parameters"]
    assert (write["before"], read["before"], read["after"]) == (None, None, None)
    assert write["after"] > 0.0
    assert overhead["before"] is not None
    assert page.read_text().count("not in the file") == 3


def test_a_record_of_a_drive_whose_bus_is_faster_for_writes_is_fitted(tmp_path: Path) -> None:
    """The mean of its two rates, 1.1 MB/s, refused writes at 1.19."""
    record = tmp_path / "r.parquet"
    measure.streams("sim:hp-c2200a", file_mb=[4, 20], record_kib=[8, 32, 128, 512, 2048], repeats=2, record=record)
    found = command("calibrate", "hp-c2200a", "--record", record, "--json").json()
    assert max(row["mb_per_s"] for row in found["rows"]) > 1.1
    assert (found["model"]["cache"]["interface_mb_per_s"], found["model"]["cache"]["write_interface_mb_per_s"]) == (
        1.0,
        1.2,
    )
    # The drive's own model is about as near already.
    assert found["test"]["after"]["mean_percent"] < 2.5
    table = tmp_path / "t.csv"
    table.write_text("op,file_mb,record_kib,mb_per_s\n" + "".join(f"read,4,{8 * n},1.1\n" for n in range(1, 6)))
    assert "1.10 MB/s is above the interface's 1 MB/s" in refused("calibrate", "hp-c2200a", "--table", table)


def test_units_are_read_from_the_names_of_columns(tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text("op,file_mib,record_mib,mib_per_s\nread,100,1,30\n")
    read = from_table(table)
    assert read.rows == [("read", pytest.approx(104.8576), 1024.0, 1, pytest.approx(31.45728))]


@pytest.mark.parametrize("mark", [",", ", ", ";", "\t", " | ", "   "])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_a_table_is_read_however_its_cells_are_apart(tmp_path: Path, mark: str, encoding: str) -> None:
    table = tmp_path / "t.txt"
    lines = ["op file_mb record_kib mb_per_s", "read 100 64 30.5", "write 100 64 28.25"]
    table.write_text("# a remark\n" + "\n".join(line.replace(" ", mark) for line in lines) + "\n\n", encoding=encoding)
    assert from_table(table).rows == [("read", 100.0, 64.0, 1, 30.5), ("write", 100.0, 64.0, 1, 28.25)]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("# one\n# two\nop;file_mb;record_kib;mb_per_s\nread;100;64;30,5", "line 4: `30,5` in `mb_per_s` cannot be read as a number"),
        ("op,op,file_mb,record_kib,mb_per_s\nread,read,100,64,30.5", "two columns `op`"),
        ("op file_mb record_kib mb_per_s\nread 100 64", "line 2: there is no `mb_per_s`"),
        ("op file_mb record_kib mb_per_s\nread 100 64 30.5 1", "line 2: it has more cells than the head has columns"),
        ("op,file_mb,record_kib,mb_per_s\nread,100,64,nan", "line 2: nan in `mb_per_s` is impossible"),
    ],
)  # fmt: skip
def test_a_table_with_a_fault_says_its_line_in_the_file(tmp_path: Path, text: str, said: str) -> None:
    table = tmp_path / "t.txt"
    table.write_text(text)
    with pytest.raises(InputError, match=re.escape(said)):
        from_table(table)


def test_a_table_of_other_bytes_says_which_are_read(tmp_path: Path) -> None:
    table = tmp_path / "t.xlsx"
    table.write_bytes(b"PK\x03\x04\xff\xfe\x00")
    with pytest.raises(InputError, match="cannot read") as refused_:
        from_table(table)
    assert "UTF-8" in str(refused_.value.hint)


def test_of_files_of_one_size_reads_and_writes_are_trained_on_and_scored() -> None:
    """Rows of a record take turns: every other of them were the writes alone, and the reads were scored."""
    rows = [(op, 300.0, kib, 1, 30.0) for kib in (8.0, 64.0, 512.0, 2048.0) for op in ("write", "read")]
    train, test = Throughputs("t.csv", rows).apart()
    assert sorted(train + test) == sorted(rows)
    for part in (train, test):
        assert [row[0] for row in part] == ["read", "read", "write", "write"]


def test_values_have_the_digits_that_their_interval_makes_sensible() -> None:
    def written(after: float, low: float, high: float) -> tuple[str, str]:
        row = {"before": 0.05, "after": after, "ci95": [low, high]}
        return told_values(row)[1], span(low, high)

    assert written(0.0280775, 0.0147227, 0.0418886) == ("0.0281", "0.0147 to 0.0419")
    assert written(210.5168, 210.4412, 210.5248) == ("210.517", "210.441 to 210.525")
    # An end that is not known says nothing of the width, and neither do two ends that are the same.
    assert told_values({"before": 1.0, "after": 2.34567, "ci95": [1.5, None]})[1] == "2.34567"
    assert written(2.5, 2.5, 2.5) == ("2.5", "2.5 to 2.5")


def test_a_parameter_that_is_named_twice_is_fitted_once(tmp_path: Path) -> None:
    """The first of the two was said to be without effect."""
    words = ("calibrate", DRIVE, "--table", _planted(tmp_path / "t.csv"), "--json", "--parameters")
    found = command(*words, "cache.write_delay,cache.write_delay").json()
    assert [row["identifiable"] for row in found["parameters"]] == [True]


def test_a_rate_that_the_interface_hides_in_the_table_alone_is_raised(tmp_path: Path) -> None:
    """It was left 17.8 % off, as no throughput depends on it where it ended."""
    truth = stream.model("micropolis-3391ss", {"mechanism.outer_mb_per_s": 28.0, "mechanism.inner_mb_per_s": 15.7})
    cells = [(size, kib) for size in (10.0, 20.0) for kib in (8, 64, 512, 2048)]
    found = stream.throughputs(truth, "read", cells, repeats=1)
    table = tmp_path / "t.csv"
    # Noise, with which the table tells no more than that the media are not slower.
    noise = {8.0: 1.003, 64.0: 0.997, 512.0: 1.002, 2048.0: 0.998}
    rows = "\n".join(f"read,{size},{kib},1,{rate * noise[kib]}" for (size, kib), rate in found.items())
    table.write_text(TABLE.format(rows=rows))
    words = ("calibrate", "micropolis-3391ss", "--table", table, "--parameters", "mechanism.outer_mb_per_s")
    got = command(*words, "--json").json()
    [outer] = got["parameters"]
    assert got["train"]["after"]["max_percent"] < 1.0 < got["train"]["before"]["max_percent"]
    assert outer["after"] > 1.2 * outer["before"]
    assert "MB/s or more; it was moved, as the throughputs rule out the value before" in outer["why"]


def test_intervals_of_two_files_do_not_stretch_the_chart() -> None:
    """They went to -1,000 MB/s, and the lines were flat."""
    points = [
        {
            "mode": "read",
            "file_mb": 10.0,
            "record_kib": kib,
            "mb_per_s": 100.0,
            "ci95_mb_per_s": 1100.0,
            "is_cached": False,
        }
        for kib in (8.0, 64.0)
    ]
    streams = {"points": points, "grid": {"file_mb": [10.0], "record_kib": [8.0, 64.0], "repeats": 2}}
    drawn = json.dumps(stream_chart(streams, "read").to_dict())
    assert "1200" not in drawn
    assert "-1000" not in drawn
    assert "125.0" in drawn
    assert "up to a quarter above" in stream_sections(streams)[0].text


def test_a_record_is_fitted_without_what_a_cache_answered(tmp_path: Path) -> None:
    record = tmp_path / "r.parquet"
    host = {"host.buffer_cache.blocks": 4000, "host.buffer_cache.block_kib": 8, "host.buffer_cache.copy_us_per_kib": 2.5,
            "host.buffer_cache.cluster_blocks": 16}  # fmt: skip
    measure.streams(
        f"sim:{DRIVE}", file_mb=[4, 200], record_kib=[32, 128, 512], repeats=1, record=record, overrides=host
    )
    found = command("calibrate", DRIVE, "--record", record, "--parameters", "mechanism.outer_mb_per_s", "--json").json()
    assert found["left_out_cached"] >= 3
    assert [row["name"] for row in found["parameters"]] == ["mechanism.outer_mb_per_s"]
    # Rows of a record take turns: every other one of all was a write, and reads were scored alone.
    parts = {fitted: {row["op"] for row in found["rows"] if row["fitted"] is fitted} for fitted in (True, False)}
    assert parts == {True: {"read", "write"}, False: {"read", "write"}}


def test_the_order_of_a_table_and_a_name_given_twice_do_not_matter(tmp_path: Path) -> None:
    rows = [f"{op},300,{kib},{30 + kib / 1000}" for kib in (8, 32, 128, 512) for op in ("write", "read")]
    found = []
    for place, order in enumerate((rows, rows[::-1])):
        table = tmp_path / f"{place}.csv"
        table.write_text("\n".join(["op,file_mb,record_kib,mb_per_s", *order]) + "\n")
        names = "cache.read_delay,cache.write_delay,cache.read_delay"
        said = command("calibrate", DRIVE, "--table", table, "--parameters", names, "--json").json()
        found.append([said[key] for key in ("parameters", "rows", "train", "test")])
    assert found[0] == found[1]
    assert [row["name"] for row in found[0][0]] == ["cache.read_delay", "cache.write_delay"]


def test_a_fit_that_is_further_off_says_so() -> None:
    """Squares are fitted: the largest difference may fall while the mean grows."""
    scores = {
        "before": {"mean_percent": 0.64, "max_percent": 3.49},
        "after": {"mean_percent": 0.76, "max_percent": 2.82},
    }
    better = {"before": scores["after"], "after": scores["before"]}
    model = stream.model(DRIVE)
    told_apart = {"train": {"throughputs": 9, **better}, "test": {"throughputs": 4, **scores}, "parameters": []}
    fit = StreamCalibration(model, told_apart)  # type: ignore[arg-type]
    assert "0.64 to 0.76 % on average of the test throughputs." in fit.warning
    assert "training" not in fit.warning
    nearer = StreamCalibration(model, told_apart | {"test": {"throughputs": 4, **better}})  # type: ignore[arg-type]
    assert nearer.warning == ""
    far = {"before": {"mean_percent": 1635.0}, "after": {"mean_percent": 38.0, "max_percent": 99.0}}
    media = {"name": "mechanism.outer_mb_per_s", "before": 16.7, "after": 5.6}
    summary = {
        "system": DRIVE,
        "train": {"throughputs": 9, **far},
        "test": {"throughputs": 4, **far},
        "parameters": [media],
    }
    told = StreamCalibration(model, summary, "sim:hp-c3323a").warning  # type: ignore[arg-type]
    assert f"the simulated drive hp-c3323a, and the model is of {DRIVE}" in told
    assert "38 % off on average of what it was fitted to" in told
    one_row = {"train": {"throughputs": 9, "before": None, "after": {"mean_percent": 2.0, "max_percent": 41.0}}}
    assert "41 % at most" in StreamCalibration(model, summary | one_row).warning  # type: ignore[arg-type]
    assert "the fitted media are 0.34 times as fast as those of the file" in told
    assert "simulated drive" not in StreamCalibration(model, summary, f"sim:{DRIVE}").warning  # type: ignore[arg-type]


# What is fitted; a further row of smaller files is only scored.
GOOD_ROWS = "op,file_mb,record_kib,mb_per_s\n" + "".join(f"read,400,{32 * n},30\n" for n in range(1, 5))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("op,file,record_kib,mb_per_s\nread,1,8,30\n", "has no unit"),
        ("op,file_mb,record_kib\nread,1,8\n", "no column for the throughput"),
        ("file_mb,record_kib,mb_per_s\n1,8,30\n", "no column `op`"),
        ("op,file_mb,record_kib,mb_per_s\n", "no throughputs"),
        ("op,file_mb,record_kib,mb_per_s\nread,1,8,fast\n", "line 2"),
        ("op,file_mb,record_kib,repeats,mb_per_s\nread,1,8,inf,30\n", "whole number"),
        ("op,file_mb,record_kib,mb_per_s\nread,1e308,8,30\n", "file_mb"),
        ("op,file_mb,record_kib,mb_per_s\nerase,1,8,30\n", "erase"),
        ("op,file_mb,record_kib,mb_per_s\nread,1,8,30\n", "1 throughput to fit cannot tell 3 parameters"),
        (
            "op,file_mb,record_kib,mb_per_s\n"
            + "".join(f"read,400,{32 * n},30\n" for n in range(1, 6))
            + "read,400,32,5\nread,100,32,30\n",
            "both 30 and 5 MB/s of files of 400 MB in records of 32 KiB",
        ),
        ("op,file_mb,record_kib,mb_per_s,mib_per_s\nread,1,8,30,30\n", "two columns"),
        ("op,file_mb,record_kib,mb_per_s\nread,1,8,30,9\n", "line 2: it has more cells"),
        ("op,file_mb,record_kib,mb_per_s\nread,1,8\n", "line 2: there is no `mb_per_s`"),
        ("op,file_mb,record_kib,mb_per_s\nread,nan,8,30\n", "line 2: nan in `file_mb`"),
        ("op,file_mb,record_kib,mb_per_s\nread,1,-8,30\n", "line 2: -8 in `record_kib`"),
        ("op,file_mb,record_kib,mb_per_s,repeats\nread,1,8,30,0\n", "line 2: 0 repeats"),
        *(
            (GOOD_ROWS + f"read,100,32,{rate}\n", f"line 6: {rate} in `mb_per_s`")
            for rate in ("0", "-30", "nan", "inf")
        ),
        (GOOD_ROWS + "read,100,32,150\n", "above the interface's 133 MB/s"),
        (GOOD_ROWS + "read,100,32,30\nread,100,32,5\n", "both 30 and 5 MB/s"),
        (
            "op,file_mb,record_kib,mb_per_s\n" + "".join(f"read,400,{32 * n},0.03\n" for n in range(1, 6)),
            "the largest throughput is 0.03 MB/s",
        ),
    ],
)
def test_a_table_that_cannot_be_is_refused(tmp_path: Path, text: str, says: str) -> None:
    table = tmp_path / "t.csv"
    table.write_text(text)
    assert says in refused("calibrate", DRIVE, "--table", table)


def test_a_disk_slower_than_the_file_says_is_fitted_and_no_time_is_negative(tmp_path: Path) -> None:
    table, saved = tmp_path / "t.csv", tmp_path / "s.toml"
    slow = stream.model(DRIVE, {"mechanism.outer_mb_per_s": 18.0, "mechanism.inner_mb_per_s": 12.0})
    cells = [(size, record) for size in (20.0, 40.0) for record in (8, 16, 32, 64, 128)]
    found = stream.throughputs(slow, "read", cells, repeats=2)
    noise = {8: 1.003, 16: 0.998, 32: 1.002, 64: 0.997, 128: 1.001}
    rows = "".join(f"read,{size},{kib},2,{rate * noise[int(kib)]}\n" for (size, kib), rate in found.items())
    # With the mark that some spreadsheets put first.
    table.write_text("op,file_mb,record_kib,repeats,mb_per_s\n" + rows, encoding="utf-8-sig")
    page = tmp_path / "s.html"
    got = command("calibrate", DRIVE, "--table", table, "--save", saved, "--report", page, "--json").json()
    assert "20 MB, measured" in page.read_text()
    assert "it keeps its share of the outer rate" in page.read_text()
    by_name = {row["name"]: row for row in got["parameters"]}
    low, high = by_name["mechanism.outer_mb_per_s"]["ci95"]
    assert low <= 18.0 <= high
    assert by_name["cache.read_delay"]["ci95"][0] >= 0.0
    inner = by_name["mechanism.inner_mb_per_s"]
    assert not inner["identifiable"]
    assert inner["after"] == pytest.approx(
        inner["before"] * by_name["mechanism.outer_mb_per_s"]["after"] / by_name["mechanism.outer_mb_per_s"]["before"]
    )
    text = saved.read_text()
    assert "fitted to throughputs of t.csv" in text
    assert "Not identifiable: mechanism.inner_mb_per_s" in text
    assert stream.StreamModel(toml=text).spec == got["model"]


@pytest.mark.parametrize("words", [("--set", "rotation_rpm=5400"), ("--seed", "9"), ("--noise-percent", "2")])
def test_a_record_goes_on_with_the_device_it_is_of(tmp_path: Path, words: tuple[str, ...]) -> None:
    record = tmp_path / "r.parquet"
    grid = (
        "measure",
        f"sim:{DRIVE}",
        "stream",
        "--file-mb",
        "2",
        "--record-kib",
        "512",
        "--repeats",
        "2",
        "--record",
        record,
    )
    command(*grid)
    assert "now it would be" in refused(*grid, *words, "--resume")
    command(*grid, "--resume")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ((), "--table"),
        (("--table", "no-such.csv"), "no-such.csv"),
        (("--record", "no-such.parquet"), "no-such.parquet"),
        (("--table", "a.csv", "--record", "b.parquet"), "one of"),
        (("--table", "a.csv", "--split", "0.3"), "--split"),
        (("--table", "a.csv", "--set", "rotation_rpm=1"), "--set"),
        (("--trace", "a.trace", "--law", "normal"), "--law"),
    ],
)
def test_options_of_traces_and_of_throughputs_stay_apart(words: tuple[str, ...], says: str) -> None:
    assert says in refused("calibrate", DRIVE, *words)


# Media slower than a drive reads on for, so that it loses revolutions which the model does not know.
LOSE_READS = ("hp-c2247a", "hp-c2247a-fitted", "hp-c2249a", "hp-c3323a", "hp-c3323a-fitted")


@pytest.mark.long
def test_the_model_of_every_drive_follows_the_drive() -> None:
    """Half of them write through, and lost no revolution between records: writes were up to 48 % too fast."""
    off = {}
    for name in sorted(path.stem for path in (Path(__file__).parents[1] / "drives").glob("*.toml")):
        words = (
            "--file-mb",
            "10" if name == "conner-cp3100" else "100",
            "--record-kib",
            "8,128,2048",
            "--repeats",
            "2",
        )
        points = command("measure", f"sim:{name}", "stream", *words, "--json").json()["stream"]["points"]
        model = stream.model(name)
        for point in points:
            sizes = {"file_mb": point["file_mb"], "record_kib": point["record_kib"], "repeats": 2}
            modelled = model.run(point["mode"], **sizes)["mb_per_s"]
            off[name, point["mode"], point["record_kib"]] = abs(modelled / point["mb_per_s"] - 1)
    large = {
        cell: error
        for cell, error in off.items()
        if cell[2] == 2048 and not (cell[1] == "read" and cell[0] in LOSE_READS)
    }
    assert max(large.values()) < 0.065, {cell: error for cell, error in large.items() if error >= 0.065}
    # The dearest are small writes of drives that write through: each waits for a revolution.
    small = {cell: error for cell, error in off.items() if cell[1:] == ("write", 8)}
    assert max(small.values()) < 0.03, {cell: error for cell, error in small.items() if error >= 0.03}
    assert sum(error < 0.01 for error in off.values()) >= 0.55 * len(off)
    assert sum(error < 0.05 for error in off.values()) >= 0.85 * len(off)
