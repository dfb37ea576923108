"""What pages say first, whom they credit, and how they look on paper and in the dark."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, Any, cast

import polars as pl
import pytest

import headstack
from conftest import data_file
from conftest import headstack as run_cli
from every_page import colours, console, cut, every_page
from headstack.device_costs import Coefficients, Error, Form
from headstack.errors import InputError
from headstack.report import bundle, causes, charts, origin, style, vega
from headstack.report.comparison import comparison_page
from headstack.report.explanation import explanation_page
from headstack.report.measurement import measurement_page
from headstack.report.page import Number, Page, Section
from headstack.report.run import run_page
from headstack.report.study import PAGE_COLUMNS, row_cells, study_page
from headstack.report.validation import validation_page
from headstack.residuals import residual_frame
from headstack.shown import number
from headstack.studies.framework import Row, StudyResult, about, at_most, not_testable

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from headstack.results.analyses import Analysis

ROWS = [
    about("printed", "a number of the source", 10.0, 10.1, "ms", within=0.5),
    about("other", "another one", 10.0, 12.0, "ms", within=0.5, note="it was another drive"),
    at_most("aim", "our own bound", 5.0, 4.0, "%", kind="aim"),
    about("given", "what the model was given", 7.0, 7.0, "ms", within=0.1, kind="input"),
    not_testable("none", "needs data", 1.0, "ms", "no data"),
]


def answer(page: str) -> str:
    found = re.search(r'<p class="answer">(.*?)</p>', page, re.DOTALL)
    assert found
    return found[1].replace("\u00a0", " ")


def study(rows: list[Row] = ROWS) -> StudyResult:
    return StudyResult("a-study", "Does it hold?", "A source", rows, finding="It does.")


def test_a_study_page_answers_first_and_keeps_aims_apart() -> None:
    page = study_page(study()).html()
    assert (
        answer(page)
        == "It does. 1 of 2 printed numbers reproduced; 1 of 1 aims of ours met; inputs read back: 1; not testable here: 1."
    )
    assert [row_cells(row)[2:4] for row in ROWS[:3]] == [("10.00", "–"), ("10.00", "–"), ("–", "5.00")]
    assert [row.word for row in ROWS] == ["reproduced", "not reproduced", "met", "input read back", "not testable"]
    # The sign before the verdict is there without colour, and in print nothing is cut off.
    assert '.not-reproduced::before, .missed::before { content: "✗ "; }' in page
    assert ".scroll { overflow: visible; background: none; }" in page


def test_the_numbers_of_a_row_have_one_precision() -> None:
    """9 surfaces were 9 beside 9.00, and 8.39 was within 0.0006 of 8.39."""
    rows = [
        Row("a", "surfaces", 9, 9.0, "", "± 0", "holds", ""),
        Row("b", "a revolution", 8.3916, 8.39112, "ms", "± 0.0006", "holds", ""),
        Row("c", "cylinders", 2516.0, 2496.0, "", "± 0.5", "differs", ""),
        Row("d", "sectors", 142.37, 141.0, "sectors", "± 4.27", "holds", ""),
    ]
    assert [row_cells(row)[2:5:2] for row in rows] == [
        ("9", "9"), ("8.3916", "8.3911"), ("2,516.0", "2,496.0"), ("142.37", "141.00"),
    ]  # fmt: skip


def test_a_page_quotes_what_is_typed_in_tables_too() -> None:
    page = Page(
        "t", "", [], [Section("", columns=["value", "note"], rows=[["a", "the probe `switches` shows <more>"]])]
    ).html()
    assert "the probe <code>switches</code> shows &lt;more&gt;" in page


def test_paper_holds_a_page_that_was_drawn_wider() -> None:
    """A chart as wide as a screen made the whole page smaller, and numbers were parted from their units."""
    page = Page("t", "", [], [Section("t")]).html()
    printed = page[page.index("@media print") :]
    assert ".chart svg { max-width: 100%; height: auto; }" in printed
    assert "td:not(.left):not(:first-child) { white-space: nowrap; }" in printed


def test_the_command_of_a_page_is_broken_between_words_only() -> None:
    """On a phone `--report` was a hyphen at the end of a line, and `-report` on the next."""
    page = Page("t", "", [], [], cite=[("command", "headstack explain --report <x>")]).html()
    words = re.findall(r"<span>(.*?)</span>", page)
    assert words[:4] == ["headstack", "explain", "--report", "&lt;x&gt;"]


def test_a_comparison_of_drives_has_no_columns_for_intervals() -> None:
    page = comparison_page(headstack.compare("hp-97560", "hp-c2247a")).html()
    assert "95 % of the change" not in page
    assert "change (%)" in page


def test_a_study_page_begins_its_rows_with_the_verdict_and_has_the_note_below_the_claim() -> None:
    page = study_page(study([Row("a", "a claim", 1.0, 2.0, "ms", "± 0.1", "differs", "why & how")])).html()
    [row] = re.findall(r"<tbody>\s*<tr>(.*?)</tr>", page, re.DOTALL)
    assert row.startswith('<td class="left not-reproduced">not reproduced</td>')
    assert 'a claim<div class="note">why &amp; how</div></td>' in row


def test_a_page_shows_what_is_typed_as_code_and_no_backticks() -> None:
    page = Page("t", "", [], [Section("", "look at `a<b`")], notices=["`skippy-backwards` sees the media"]).html()
    assert "<code>a&lt;b</code>" in page
    assert '<p class="notice"><code>skippy-backwards</code> sees the media</p>' in page


def test_a_number_stays_with_its_unit_and_a_noun_with_its_number() -> None:
    """On a phone an answer had "12.5" at the end of one line and "ms" on the next."""
    said = "It takes 12.5 ms at LBA 1,000 for 3 of 4 drives, as `sweep --count 3 points` says"
    page = Page("t", "", [], [], answer=said).html()
    assert answer(page) == said.replace("`sweep --count 3 points`", "<code>sweep --count 3 points</code>")
    for whole in ("12.5\u00a0ms", "LBA\u00a01,000", "4\u00a0drives", "3 of 4", "--count 3 points"):
        assert whole in page, whole


def test_a_study_finds_its_answer_in_our_numbers() -> None:
    from headstack.studies import ruemmler_wilkes

    ours = {"fig4a-m0": 36.3, "fig4b-m1": 15.2, "fig4c-m2": 6.3, "fig4d-m3": 2.03}
    assert "2.03 %" in ruemmler_wilkes.finding(ours)
    assert ruemmler_wilkes.finding({}) == ""


def test_the_timeline_begins_where_the_request_does(tmp_path: Path) -> None:
    rows = tmp_path / "run.parquet"
    run = headstack.simulate("hp-97560", "unix-like", requests=2000, out=rows)
    assert run.summary["simulated_s"] > 100
    found = headstack.explain_completion("hp-97560", rows, 1500)
    path = tmp_path / "page.html"
    found.report(path)
    page = path.read_text()
    data = [float(each) for each in re.findall(r'"end_ms":([0-9.]+)', page)]
    span = max(line["finish_ms"] for line in found.timelines) - min(line["arrival_ms"] for line in found.timelines)
    assert 0 < max(data) <= max(span * 3, 200)
    assert f"{found.timelines[-1]['response_ms']:.3f} ms" in answer(page)
    assert f"{found.timelines[-1]['response_ms']:.3f} ms" in found._repr_html_()


def test_an_answer_names_what_was_waited_for() -> None:
    """`other` says nothing to who asks where the time went."""
    found = headstack.explain("hp-97560", [0, 500_000])
    timeline = found.timelines[-1]
    timeline["phases_ms"] = {**timeline["phases_ms"], "other": 2 * timeline["response_ms"]}
    step = timeline["steps"][0]
    timeline["steps"] = [
        {**step, "label": "wait", "note": "the arm was parked", "start_ms": 0.0, "end_ms": 9.0},
        {**step, "label": "wait", "note": "the heads were cold", "start_ms": 9.0, "end_ms": 12.0},
        {**step, "label": "seek", "note": "a long way", "start_ms": 12.0, "end_ms": 90.0},
    ]
    assert "waiting, as the arm was parked" in answer(explanation_page(found).html())


def test_steps_at_the_same_time_lie_in_lanes() -> None:
    steps = pl.DataFrame(
        {"row": ["a", "a", "a", "b"], "label": ["seek", "bus", "rotation", "seek"], "note": [""] * 4,
         "start_ms": [0.0, 1.0, 5.0, 0.0], "end_ms": [5.0, 3.0, 6.0, 1.0]}
    )  # fmt: skip
    data = next(iter(charts.timeline(steps).to_dict()["datasets"].values()))
    assert [step["lane"] for step in data] == [0, 1, 0, 0]
    assert charts.timeline(steps).to_dict()["encoding"]["x"]["scale"]["zero"] is False


def test_the_error_is_that_of_the_highest_rung() -> None:
    table = pl.DataFrame(
        {"id": [0], "op": ["read"], "lba": [0], "sectors": [8], "measured_ms": [10.0], "M4_ms": [12.0], "M5_ms": [11.0],
         "cache": ["miss"]}
    )  # fmt: skip
    assert residual_frame(table, None)["error_ms"].to_list() == [1.0]  # type: ignore[arg-type]


def test_a_validation_says_what_was_fitted_and_how_it_is_without_the_lock(tmp_path: Path) -> None:
    trace = headstack.Trace(data_file("hp/ajw.1week.srt"), devices=[(0, None)])
    validation = headstack.validate("hp-c2200a", trace, phase_lock=True, requests=4000)
    path = tmp_path / "lock.html"
    validation.report(path)
    page = path.read_text()
    unlocked = validation.summary["without_phase_lock"]["per_request"]["mae_ms"]
    assert f"{unlocked:.2f} ms" in answer(page)
    assert "not phase-locked" in page
    assert "11 of the drive&#39;s values were fitted to parts of this very trace" in page
    assert "are fitted to the first 2,000 requests" in page


def test_a_page_says_how_it_was_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    trace, page = tmp_path / "a b.trace", tmp_path / "run.html"
    trace.write_text("0.0 0 0 8 1\n10.0 0 5000 8 1\n")
    assert run_cli("simulate", "hp-97560", "--trace", trace, "--report", page).code == 0
    # Each word of the command stands in one piece.
    text = re.sub("</?span>", "", page.read_text().replace("&#39;", "'"))
    assert f"headstack simulate hp-97560 --trace '{trace}' --report {page}" in text
    assert "sha256 " in text
    assert "1970-01-01T00:00+00:00" in text


def test_a_program_that_imports_headstack_has_no_command() -> None:
    assert "command" not in dict(origin.rows())


@pytest.mark.skipif(shutil.which("chromium") is None, reason="needs chromium")
@pytest.mark.parametrize("look", ["light", "dark"])
@pytest.mark.parametrize("width", [400, 1100])
@pytest.mark.long
def test_pages_draw_without_a_complaint(tmp_path: Path, look: str, width: int) -> None:
    path = tmp_path / "run.html"
    headstack.simulate("hp-97560", "unix-like", requests=500, sample=True).report(path)
    shown = subprocess.run(
        ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=5000", "--enable-logging=stderr",
         f"--window-size={width},900", f"--user-data-dir={tmp_path / 'profile'}", *colours(look), "--dump-dom", path.as_uri()],
        capture_output=True, text=True, timeout=90, check=True,
    )  # fmt: skip
    assert "CONSOLE" not in shown.stderr
    assert shown.stdout.count("<svg") >= 4


@pytest.mark.skipif(not (shutil.which("chromium") and shutil.which("pdftotext")), reason="needs chromium and pdftotext")
def test_a_page_printed_from_a_dark_screen_is_whole(tmp_path: Path) -> None:
    """Charts were drawn anew for paper while its pages were laid out: what stood below them was lost."""
    path, paper = tmp_path / "run.html", tmp_path / "run.pdf"
    headstack.simulate("hp-97560", "unix-like", requests=500, sample=True).report(path)
    subprocess.run(
        ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=5000", "--window-size=1280,900",
         f"--user-data-dir={tmp_path / 'profile'}", *colours("dark"), f"--print-to-pdf={paper}", path.as_uri()],
        capture_output=True, timeout=90, check=True,
    )  # fmt: skip
    text = subprocess.run(["pdftotext", paper, "-"], capture_output=True, text=True, check=True).stdout
    assert "To cite" in text
    assert "configuration" in text.split("To cite")[1]


def test_wide_cells_may_go_on_in_further_lines() -> None:
    """Long sentences in the first column kept one line: at 1280 px no number of the table was in sight."""
    section = Section("", columns=["what", "a"], rows=[["word " * 20, "3.38 % (2.84 to 3.91)"]], dense=True)
    page = Page("t", "", [], [section]).html()
    assert re.search(r'<td class="left words">(word ){20}</td>', page)
    assert '<span class="kept">3.38 %</span> <span class="kept">(2.84 to 3.91)</span>' in page


@pytest.mark.skipif(shutil.which("chromium") is None, reason="needs chromium")
@pytest.mark.long
def test_nothing_is_cut_on_any_page_at_any_width(tmp_path: Path) -> None:
    pages = every_page(tmp_path)
    # In the dark a list of one colour was taken for a colour, and charts stayed blank.
    for width, look in ((400, "light"), (900, "dark"), (1280, "light")):
        said = console(tmp_path, pages, width, look)
        found = cut(said)
        assert found.keys() == pages.keys(), said
        assert all(texts > 0 for texts, _ in found.values()), (width, found)
        assert [(name, words) for name, (_, words) in found.items() if words != "[]"] == [], (width, look)
        assert len(said) == len(pages), said


def test_an_interval_that_says_nothing_is_no_number() -> None:
    """Of 16 reads the answer said "91480.41 times (0.00 to 252554410928864329728.00)"."""
    effect = {"cause": "after-write", "name": None, "occurrences": 16, "reads": 40, "reads_around": 92, "found": False,
              "withheld": None, "times_as_long": 91480.41, "low": 1e-20, "high": 2.5e20}  # fmt: skip
    about = cast("Analysis", {"bursts": None, "effects": [effect]})
    assert causes.sentence(about).endswith("a write came just before, and nothing waits, reads are too few to tell.")
    assert causes.rows(about)[0][-3:-1] == ["over 1,000", "0.00 … over 1,000"]
    assert number(-0.0002, 3) == "0.000"
    assert number(-0.002, 3) == "-0.002"


def test_names_of_parameters_break_where_they_have_parts() -> None:
    section = Section("Values", columns=["parameter", "is"], rows=[["mechanics.read_<settle>_ms", "a_b"], ["1.5", ""]])
    page = Page("t", "s", [], [section]).html()
    assert '<td class="left">mechanics.<wbr>read_<wbr>&lt;settle&gt;_<wbr>ms</td>' in page
    assert "<td>a_b</td>" in page
    # No number goes on in a second line.
    assert '<td class="left">1.5</td>' in page


def test_a_measurement_answers_first() -> None:
    found = headstack.measure.skippy("mock:")
    page = measurement_page(found).html()
    assert answer(page).startswith("One revolution takes")
    assert f"{found.found['heads']:.0f} heads" in answer(page)


def tiles(page: str) -> dict[str, tuple[str, str]]:
    """The key numbers of a page by their labels: what they are, and what stands below."""
    words = [re.sub(r"<[^>]+>", "\n", part).split("\n") for part in page.split('<div class="number">')[1:]]
    shown = [[word.strip() for word in each if word.strip()] for each in words]
    return {each[0]: (each[1], each[2] if len(each) > 2 else "") for each in shown}


def test_tiles_of_a_measurement_keep_reads_and_writes_apart() -> None:
    record = headstack.measure.run("sim:hp-c2247a", ["rotation", "tracks", "zones", "switches"])
    values, shown = record.found, tiles(measurement_page(record).html())
    for label, read, write in (
        ("minimum time to media", "mtm_read_ms", "mtm_ms"),
        ("head switch", "head_switch_ms", "write_head_switch_ms"),
        ("cylinder switch", "cylinder_switch_ms", "write_cylinder_switch_ms"),
    ):
        amounts = {each["name"]: each["value"] for each in values["parameters"]}
        assert shown[label] == (f"{amounts[read]:.3f} / {amounts[write]:.3f}", "ms, reads / writes")
    first, last = values["zones"][0], values["zones"][-1]
    assert shown["sectors per track"] == (
        f"{first['sectors_per_track']} … {last['sectors_per_track']}",
        f"sectors, {len(values['zones'])}\u00a0zones",
    )
    assert f"{len(values['zones'])} zones" in answer(measurement_page(record).html())


def test_what_reads_and_writes_share_is_told_once() -> None:
    shown = tiles(measurement_page(headstack.measure.run("sim:mock-disk", ["rotation", "tracks", "switches"])).html())
    assert shown["cylinder switch"][1] == "ms, reads and writes"
    assert "/" not in shown["cylinder switch"][0]


def test_a_zone_that_nobody_looked_beyond_is_not_told_as_all_of_the_device() -> None:
    page = measurement_page(headstack.measure.run("sim:hp-c2247a", ["rotation", "tracks"])).html()
    assert "zone" not in tiles(page)["sectors per track"][1]
    assert page.count("the first zone is taken for the whole device") == 2


def test_notebooks_show_tables(tmp_path: Path, ascii_trace: Path) -> None:
    shown = headstack.Drive("hp-97560")._repr_html_()  # pyright: ignore[reportAttributeAccessIssue]
    assert "4,002 rpm" in shown
    assert re.search(r"1,962 cylinders, 19 heads, (1 zone|[0-9]+ zones)<", shown)
    odd = tmp_path / "<b>.trace"
    odd.write_bytes(ascii_trace.read_bytes())
    trace = headstack.Trace(odd)._repr_html_()  # pyright: ignore[reportAttributeAccessIssue]
    assert "&lt;b&gt;.trace" in trace
    assert "<b>.trace" not in trace
    rows = tmp_path / "run.parquet"
    headstack.simulate("hp-97560", "unix-like", requests=200, out=rows)
    trace = headstack.Trace(rows)._repr_html_()  # pyright: ignore[reportAttributeAccessIssue]
    assert re.search(r">200<.*>span<.* s<.*>mix<.*% reads \([0-9]+ reads, [0-9]+ writes\)<", trace)
    validation = headstack.validate("hp-97560", rows, replay="closed")
    assert f"{validation.summary['demerit_percent']:.2f} %" in validation._repr_html_()


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (lambda: headstack.System("hp-97560"), ["hp-97560", "single", "1.262 GiB", "fcfs"]),
        (lambda: headstack.Workload("unix-like"), ["unix-like", "100,000", "stream read-runs", "100 % reads"]),
        (lambda: headstack.cost("four-platter", actuators=[1, 2]), ["67.70 to 80.80 USD", "2 actuators", "4 drives of 1 actuator"]),
        (lambda: headstack.power_budget("nearline-18tb"), ["7,200 rpm, 1 arm", "5.30 W idle, 12.28 W with all arms seeking"]),
        (lambda: headstack.power_budget("hp-97560"), ["not known"]),
        (lambda: headstack.stream.model("maxtor-maxline-plus-ii"), ["mechanism.outer_mb_per_s", "42.025"]),
    ],
)  # fmt: skip
def test_notebooks_show_what_is_described_and_what_it_costs(made: Callable[[], Any], said: list[str]) -> None:
    shown = made()._repr_html_()
    assert shown.startswith("<table>")
    assert [word for word in said if word not in shown] == []


def test_notebooks_show_the_constants_of_forms() -> None:
    errors = [Error("read", 4, 1, 100.0, 125.0)]
    iocost = Form("iocost", {"rbps": 1.5}, errors)
    mclock, head_time = (Form(name, {"read_iops": 1.5}, errors) for name in ("mClock", "head time"))
    shown = Coefficients("<a disk>", iocost, mclock, head_time)._repr_html_()
    assert "&lt;a disk&gt;" in shown
    assert "ctrl=user model=linear rbps=2" in shown
    assert "(+25 %)" in shown


def test_notebooks_show_the_constants_of_all_forms_and_how_writes_were_measured() -> None:
    """Only iocost's were there, and its row was called `iocost`, before a sentence that begins so."""
    errors = [Error("read", 4, 1, 100.0, 125.0)]
    iocost = Form("iocost", {"rbps": 1.5}, errors)
    mclock = Form("mClock", {"read_iops": 81.0, "write_bytes_per_s": 2_000_000.0}, errors)
    head_time = Form("head time", {"read_ms": 12.5}, errors)
    shown = Coefficients("<a disk>", iocost, mclock, head_time, "media-cache")._repr_html_()
    assert "random writes with the write cache off (media-cache)" in shown
    for name, value in (
        ("mClock, reads: requests", "81.00 IOPS"),
        ("mClock, writes: bytes", "2,000,000 bytes/s"),
        ("head time, reads: positioning", "12.50 ms"),
    ):
        assert f">{name}</th><td style='text-align:left'>{value}</td>" in shown
    assert ">iocost</th>" not in shown


def test_a_unit_stays_with_its_number_in_tiles_and_heads() -> None:
    """A tile ended its line in `71.888 → 74.051`, a head in `within ± 0.1`."""
    tile = Number("p90", "+3.0 %", "71.888 → 74.051 ms, may be chance")
    page = Page(
        "A page", "", [tile], [Section("Errors", columns=["", "within ± 0.1 ms"], rows=[["all", "90 %"]])]
    ).html()
    assert "74.051\u00a0ms" in page
    assert "within ±\u00a00.1\u00a0ms</th>" in page


def test_long_tables_of_claims_fold_on_a_phone() -> None:
    """The numbers of a study stood out of sight there: what else is longer than a screen is better scrolled."""
    row = ["reproduced", "a claim", "1.00", "–", "1.00", "ms", "± 0.1", "id"]
    cases: list[tuple[list[str], bool]] = [([*PAGE_COLUMNS], True), (["claim", "kind", *"abcdef"], False)]
    for columns, folds in cases:
        page = Page("A study", "", [], [Section("Beside ours", columns=columns, rows=[row] * 50)]).html()
        assert ('<table class=" claims">' in page) is folds
        assert "(claims ? 900 : 480)" in page


def test_a_page_is_not_written_by_the_name_of_another(tmp_path: Path) -> None:
    for name in ("f.parquet", "f.csv", "f.JSON", "f.json.gz", "f.html.zst"):
        with pytest.raises(InputError, match="HTML page by the name of another"):
            Page("A page", "", [], []).write(tmp_path / name)
    assert list(tmp_path.iterdir()) == []
    Page("A page", "", [], []).write(tmp_path / "f.htm")


def test_every_drive_system_and_workload_of_the_library_has_a_view() -> None:
    for kind, names in (
        (headstack.System, headstack.library_systems()),
        (headstack.Workload, headstack.library_workloads()),
    ):
        assert all(kind(name)._repr_html_() for name in names)  # pyright: ignore[reportAttributeAccessIssue]


@pytest.mark.long
def test_charts_follow_the_schema_of_vega_lite(tmp_path: Path) -> None:
    run = headstack.simulate("hp-97560", "unix-like", requests=500, out=tmp_path / "run.parquet")
    scores = headstack.validate("hp-97560", tmp_path / "run.parquet", overrides={"controller.write_overhead_ms": 2.7})
    pages = [run_page(run), validation_page(scores)]
    drawn = [section.chart for page in pages for section in page.sections if section.chart is not None]
    assert len(drawn) > 8
    for chart in drawn:
        vega.drawn(chart).configure(**style.CONFIG).to_dict(validate=True)


def test_the_grammar_of_charts_is_that_of_altair() -> None:
    import altair

    assert altair.SCHEMA_VERSION.startswith(f"v{bundle.VEGA_LITE}.")
    table = pl.DataFrame({"ms": [1.0, 2.0], "op": ["read", "write"]})
    ours = vega.Chart(table).mark("bar", size=3).encode(x=vega.X("sum(ms):Q", title=None), y="op:N", tooltip=["op:N"])
    theirs = (
        altair.Chart(table).mark_bar(size=3).encode(x=altair.X("sum(ms):Q", title=None), y="op:N", tooltip=["op:N"])
    )
    made, wanted = ours.to_dict(), theirs.to_dict()
    assert made["encoding"] == wanted["encoding"]
    assert made["mark"] == wanted["mark"]
    assert list(made["datasets"].values()) == list(wanted["datasets"].values())
    unknown = vega.Chart(pl.DataFrame({"ms": [float("nan"), float("inf")]})).to_dict()
    assert list(unknown["datasets"].values()) == [[{"ms": None}, {"ms": None}]]
    with pytest.raises(ValueError, match="ms:T"):
        vega.X("ms:T")


def test_a_page_loads_no_library_of_charts() -> None:
    code = (
        "import sys; sys.modules['altair'] = None\nfrom headstack.cli import main\n"
        "assert main(['simulate', 'hp-97560', '--workload', 'unix-like', '--requests', '50', '--report', '/dev/null']) == 0"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


def test_the_program_of_charts_is_kept_where_nobody_else_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = []
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(bundle, "_made", lambda: made.append(1) or "draw()")
    again = bundle.bundle.__wrapped__
    assert [again(), again(), len(made)] == ["draw()", "draw()", 1]
    (kept,) = (tmp_path / "headstack").iterdir()
    # A file that others can write is not believed, and one that cannot be kept is no error.
    kept.write_text("steal()")
    kept.chmod(0o666)
    assert again() == "draw()"
    monkeypatch.setenv("XDG_CACHE_HOME", "/dev/null")
    assert again() == "draw()"
    assert len(made) == 3
