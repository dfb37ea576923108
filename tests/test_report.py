"""Pages: self-contained, complete, written whole."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import pytest

import headstack
from conftest import data_file
from headstack.destaging import destage_words
from headstack.errors import InputError
from headstack.files import write_whole
from headstack.report import probes
from headstack.report.tables import brief, durations

LIGHT = """
requests = 4000
[[stream]]
read_fraction = 0.6
size.fixed_kib = 4
inter_arrival.exponential_ms = 30
"""


def self_contained(page: str) -> None:
    assert page.startswith("<!doctype html>")
    # No element, style or script fetches anything; the drawing library only names namespaces.
    assert not re.search(r"""(?:src|href)\s*=\s*["']?\s*(?:https?:)?//""", page)
    assert not re.search(r"@import|url\(\s*['\"]?http", page)
    assert '"$schema"' not in page.split("const charts = [")[1]


def charts(page: str) -> int:
    return page.count('<div class="chart"')


def test_the_page_of_a_run(tmp_path: Path) -> None:
    path = tmp_path / "run.html"
    run = headstack.simulate("nearline-18tb", headstack.Workload(toml=LIGHT), keep=False, sample=True)
    run.report(path)
    page = path.read_text()
    self_contained(page)
    assert charts(page) == 4
    assert page.count("vegaEmbed(") == 1
    for word in ("To cite", run.summary["config_hash"], "assumed", "Where the time went", "mean response", "seed"):
        assert word in page
    assert path.stat().st_size < 3_000_000
    assert [file.name for file in tmp_path.iterdir()] == ["run.html"]


def test_a_run_without_requests_has_a_page(tmp_path: Path) -> None:
    run = headstack.simulate("hp-97560", headstack.Workload(toml=LIGHT), until_s=0.0)
    assert run.summary["requests"] == 0
    run.report(tmp_path / "empty.html")
    assert "–" in (tmp_path / "empty.html").read_text()


def test_the_page_of_an_explanation(tmp_path: Path) -> None:
    path = tmp_path / "story.html"
    explanation = headstack.explain("hp-97560", [0, 500_000])
    explanation.report(path)
    page = path.read_text()
    self_contained(page)
    assert charts(page) == 1
    assert "read 8 sectors at LBA 500,000" in page
    assert "LBA 500,000 to 500,007" in page
    # What programs read is the core's.
    assert [step["note"] for step in explanation.timelines[1]["steps"] if step["label"] == "transfer"] == [
        "LBA 500000 to 500007"
    ]


def test_the_page_of_a_validation(tmp_path: Path) -> None:
    trace = headstack.Trace(data_file("hp/ajw.1week.srt"), devices=[(0, None)])
    path = tmp_path / "ladder.html"
    headstack.validate("hp-c2200a", trace, ladder=True, requests=5000).report(path)
    page = path.read_text()
    self_contained(page)
    assert charts(page) == 13
    assert "The ladder of models" in page


def test_what_people_typed_is_no_markup(tmp_path: Path) -> None:
    odd = tmp_path / "<b>&.toml"
    odd.write_text(LIGHT)
    path = tmp_path / "odd.html"
    headstack.simulate("hp-97560", odd, sample=True).report(path)
    page = path.read_text()
    assert "<b>&" not in page
    assert "&lt;b&gt;&amp;" in page


def test_a_page_that_cannot_be_written_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot create"):
        write_whole(tmp_path / "no" / "page.html", "x")
    (tmp_path / "taken").mkdir()
    with pytest.raises(InputError, match="cannot create"):
        write_whole(tmp_path / "taken", "x")
    assert [path.name for path in tmp_path.iterdir()] == ["taken"]


def test_words_beside_the_drop_of_a_backward_sawtooth_lie_on_no_dots() -> None:
    """`a revolution: 14.993 ms` was written over the dots of the same track."""
    found = headstack.measure.run("sim:hp-97560", ["skippy"]).found
    [backwards] = [each for each in found["skippy"] if each["probe"] == "skippy-backwards"]
    base = [point for point, kind in zip(backwards["points"], backwards["kinds"], strict=True) if kind == "base"]
    (before, high), (behind, low) = next(
        pair for pair in itertools.pairwise(base[1:]) if abs(pair[0][1] - pair[1][1]) > backwards["rotation_ms"] / 2
    )
    middle = (before + behind) / 2
    height = probes._clear_ms(backwards, middle, (low, high), is_left=True)
    beside = [ms for step, ms in backwards["points"] if 0.7 * middle <= step <= middle]
    assert beside
    assert min(abs(ms - height) for ms in beside) > 1.0
    assert min(low, high) < height < max(low, high)


def test_times_are_told_in_figures_that_say_something() -> None:
    """A device that answers in 3.4 us had "0.00 ms", and one answer had ms and s."""
    assert durations(0.0034, 0.05) == ["0.0034 ms", "0.0500 ms"]
    assert durations(9_255.97, 21_100.0) == ["9.256 s", "21.1 s"]
    assert [brief(ms) for ms in (0.00342, 0.0812, 23.456, 1_066.6)] == [
        "0.00342 ms",
        "0.0812 ms",
        "23.5 ms",
        "1,066.60 ms",
    ]


def test_the_assumed_rules_of_a_write_cache_are_told(tmp_path: Path) -> None:
    """When buffered writes go to the media decides what they cost, and stood nowhere on a result."""
    said = "after 10 ms in which no read needs the arm; from 80 % of 96 MiB full on down to 50 %"
    run = headstack.simulate("nearline-18tb", "thesis-4ms", requests=300)
    page = tmp_path / "page.html"
    run.report(page)
    text = page.read_text().replace("\u00a0", " ")
    assert f"No publication or measurement tells when writes leave the cache of nearline-18tb; here {said}" in text
    assert run.summary["drives"][0]["write_back"]["assumed"] is True
    # Turned off, the drive goes by other rules.
    off = headstack.simulate(
        "nearline-18tb", "thesis-4ms", requests=300, overrides={"drive.*.write_cache.enabled": False}
    )
    assert "write_back" not in off.summary["drives"][0]
    known = headstack.simulate("hp-97560", "thesis-4ms", requests=300)
    assert "write_back" not in known.summary["drives"][0]
    reads = headstack.Workload(
        toml="requests = 9\n[[stream]]\nread_fraction = 1.0\nsize.fixed_kib = 4\ninter_arrival.constant_ms = 9\n"
    )
    assert destage_words(headstack.simulate("nearline-18tb", reads).summary) == ""
