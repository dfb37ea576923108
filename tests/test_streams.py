"""Streams: the model of three parts, the probe, and the study of both."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from conftest import headstack as command
from conftest import refused
from headstack import InputError, measure, stream

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
    assert (hidden["identifiable"], hidden["ci95"], hidden["after"]) == (False, None, 0.0)
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
        (("stream", "--record-kib", "0"), "above 0"),
        (("stream", "--repeats", "0"), "repeats"),
        (("stream", "--file-mb", "1e9"), "no stream fits"),
        (("stream", "--record-kib", "0.5", "--repeats", "1000"), "transfers"),
        (("skippy", "--repeats", "2"), "--repeats"),
    ],
)
def test_a_grid_that_cannot_be(words: tuple[str, ...], says: str) -> None:
    assert says in refused("measure", f"sim:{DRIVE}", *words)
