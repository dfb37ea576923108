"""What is printed in a terminal: at any width, every number and every name is there in full."""

from __future__ import annotations

import csv
import html
import io
import json
import os
import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from conftest import headstack
from headstack.cli import layout, main, output
from headstack.report.page import Number, Page, Section
from headstack.shown import signed, with_minus

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

WIDTHS = (60, 80, 100, 120)
RUN = ("simulate", "hp-97560", "--workload", "unix-like", "--requests", "2000")
# Every verb that prints tables, with what it needs; `{…}` are files of the fixture.
VERBS = [
    ("drives", "list"),
    ("drives", "show", "hp-c2200a"),
    ("drives", "show", "atlas-10k-fitted"),
    ("drives", "check", "{drive}"),
    ("trace", "formats"),
    ("trace", "info", "{trace}"),
    ("trace", "info", "{run}"),
    ("trace", "analyze", "{run}", "--ticks", "60"),
    ("trace", "match", "{ticks}"),
    ("trace", "ticks", "{histogram}"),
    ("trace", "iostat", "{iostat}"),
    ("trace", "convert", "{trace}", "{out}"),
    ("trace", "make", "{out}", "--like", "{run}"),
    RUN,
    ("simulate", "hplajw", "--workload", "unix-like", "--requests", "500"),
    ("validate", "hp-97560", "--trace", "{run}", "--ladder"),
    ("validate", "hp-97560", "--trace", "{run}", "--phase-lock"),
    ("calibrate", "hp-97560", "--trace", "{run}", "--parameters", "controller", "--rounds", "1"),
    ("explain", "hp-97560", "--lba", "0", "--then", "1000000"),
    ("schedulers",),
    ("compare", "{run}", "{other}"),
    ("compare", "{drive}", "{drive}"),
    ("measure", "--probes"),
    ("measure", "mock:", "skippy", "zoned"),
    ("measure", "sim:hp-97560", "tracks", "random"),
    ("study", "list"),
    ("coefficients", "hp-97560"),
    ("power", "nearline-18tb", "--actuators", "1,2"),
    ("cost", "--design", "four-platter", "--actuators", "1,2,4"),
]
IOSTAT = """Linux 6.1 (host)  11/22/2026  _x86_64_  (2 CPU)

Device            r/s     rkB/s   rrqm/s  %rrqm r_await rareq-sz     w/s     wkB/s   wrqm/s  %wrqm w_await wareq-sz  aqu-sz  %util
nvme0n1-very-long-name 10123.00 123456.00 0.00 0.00 10.25 12.00 20.00 240.00 0.00 0.00 100.50 12.00 12.22 99.90

Device            r/s     rkB/s   rrqm/s  %rrqm r_await rareq-sz     w/s     wkB/s   wrqm/s  %wrqm w_await wareq-sz  aqu-sz  %util
nvme0n1-very-long-name 10123.00 123456.00 0.00 0.00 10.25 12.00 20.00 240.00 0.00 0.00 100.50 12.00 12.22 99.90
"""


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("files")
    paths = {name: folder / name for name in ("trace", "ticks", "histogram", "iostat")}
    paths |= {"run": folder / "run.parquet", "out": folder / "out.parquet", "drive": folder / "drive.toml"}
    lines = (f"{10 * number}.0 0 {(number * 7919) % 2_000_000} 8 {number % 2}" for number in range(300))
    paths["trace"].write_text("\n".join(lines) + "\n")
    pairs = (
        f"S: (32,0x6):2:R:{number}:{3 * number}\nR: (32,0x6):2:R:{number}:{3 * number + 1}\n" for number in range(90)
    )
    paths["ticks"].write_text("".join(pairs) + "S: (32,0x6):2:R:1984000:900\n")
    paths["histogram"].write_text("".join(f"{100 - n} responses took {n} ticks.\n" for n in range(9)))
    paths["iostat"].write_text(IOSTAT)
    paths["other"] = folder / "other-run-with-a-long-name.parquet"
    assert headstack(*RUN, "--out", paths["run"]).code == 0
    assert headstack(*RUN, "--seed", "2", "--out", paths["other"]).code == 0
    paths["drive"].write_text(headstack("drives", "show", "hp-97560", "--toml").out)
    return {name: str(path) for name, path in paths.items()}


def recorded(monkeypatch: pytest.MonkeyPatch) -> tuple[list[layout.Table], list[list[tuple[str, str]]]]:
    """Tables and facts as the verbs hand them over, while these run."""
    tables: list[layout.Table] = []
    facts: list[list[tuple[str, str]]] = []
    table_lines, fact_lines = layout.table_lines, layout.fact_lines

    def note_table(table: layout.Table, screen: layout.Screen) -> list[str]:
        tables.append(table)
        return table_lines(table, screen)

    def note_facts(title: str, pairs: list[tuple[str, str]], screen: layout.Screen) -> list[str]:
        facts.append(list(pairs))
        return fact_lines(title, facts[-1], screen)

    monkeypatch.setattr(layout, "table_lines", note_table)
    monkeypatch.setattr(layout, "fact_lines", note_facts)
    return tables, facts


def too_long(lines: list[str], width: int) -> list[str]:
    """Lines past the width, other than a single word that cannot be broken."""
    return [line for line in lines if len(line) > width and " " in line.strip()]


class Words:
    """The words of some lines, and what stands in a row on one of them."""

    def __init__(self, lines: list[str]) -> None:
        self.single = {word for line in lines for word in line.split()}
        self.text = "\n".join(f" {line} " for line in lines)

    def __contains__(self, cell: str) -> bool:
        return cell in self.single or f" {cell} " in self.text


def check_table(table: layout.Table, width: int) -> None:
    lines = layout.table_lines(table, layout.Screen(width))
    text, words = "\n".join(lines), Words(lines)
    assert not too_long(lines, width), text
    named = re.search(r"not shown at \d+ columns: (.*) \(--csv", text.replace("\n", " "))
    left_out = named[1].split(", ") if named else []
    empty = re.search(r"without values here: (.*?)(?= not shown|$)", text.replace("\n", " "))
    for name in empty[1].split(", ") if empty else []:
        index = list(table.columns).index("" if name == "(no name)" else name)
        assert {row[index] for row in table.rows} <= {"", "–"}
        left_out.append(table.columns[index])
    assert len(left_out) < len(table.columns)
    for index, name in enumerate(table.columns):
        if name in left_out:
            continue
        for row in table.rows:
            cell = with_minus(row[index])
            for word in cell.split() if index in table.prose else [cell]:
                assert word in words, (width, name, cell, text)


@pytest.mark.parametrize("verb", VERBS, ids=" ".join)
def test_no_verb_cuts_a_number_or_a_name(
    verb: tuple[str, ...], files: dict[str, str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    tables, facts = recorded(monkeypatch)
    monkeypatch.setenv("COLUMNS", "60")
    words = [word.format(**files) for word in verb]
    code = main(words)
    printed = capsys.readouterr()
    assert code == 0, printed.err
    assert tables or facts or printed.out
    assert tables or not facts or not too_long(printed.out.splitlines(), 60), printed.out
    monkeypatch.undo()
    for width in WIDTHS:
        for table in list(tables):
            check_table(table, width)
        for pairs in list(facts):
            lines = layout.fact_lines("", pairs, layout.Screen(width))
            assert not too_long(lines, width)
            assert {word for pair in pairs for part in pair for word in with_minus(part).split()} <= Words(lines).single


@pytest.mark.parametrize("width", [60, 80])
@pytest.mark.parametrize("lock", [(), ("--phase-lock",)])
def test_validate_begins_with_how_far_the_times_are_off(
    width: int,
    lock: tuple[str, ...],
    files: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = ["validate", "hp-97560", "--trace", files["run"], "--set", "controller.read_overhead_ms=2", *lock]
    assert main([*words, "--json"]) == 0
    scores = json.loads(capsys.readouterr().out)
    monkeypatch.setenv("COLUMNS", str(width))
    assert main(words) == 0
    shown = capsys.readouterr().out
    first = " ".join(shown.split("\n\n")[0].split())
    off = f"{scores['per_request']['mae_ms']:.2f} ms on average ({scores['per_request']['mae_percent']:.2f} %)"
    assert f"The simulated times of {scores['requests']:,} measured requests are off by {off}" in first
    assert first.endswith(f"their distribution is off by {scores['demerit_percent']:.2f} % (demerit).")
    assert not too_long(shown.splitlines(), width), shown


@pytest.mark.parametrize("width", WIDTHS)
def test_sentences_are_broken_between_words_where_tables_are(
    width: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    assert main(["coefficients", "hp-97560"]) == 0
    piped = capsys.readouterr().out
    monkeypatch.setenv("COLUMNS", str(width))
    assert main(["coefficients", "hp-97560"]) == 0
    shown = capsys.readouterr().out
    assert too_long(piped.splitlines(), width)
    assert not too_long(shown.splitlines(), width), shown
    sentences = [line for line in too_long(piped.splitlines(), width) if line.endswith(".")]
    assert sentences
    assert all(" ".join(line.split()) in " ".join(shown.split()) for line in sentences)


@pytest.mark.parametrize("width", WIDTHS)
def test_messages_are_broken_between_words_in_a_terminal(
    width: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    said = "cheetah9LP.seek:1: 8 of 106 seek times are below the one before, the worst by 0.037 ms at 4,021 cylinders"
    monkeypatch.setenv("NO_COLOR", "1")
    output.warning(said)
    assert capsys.readouterr().err == f"warning: {said}\n"
    monkeypatch.setattr(output, "_columns", lambda _stream: width)
    command = "`headstack drives import cheetah9LP.diskspecs -o c.toml`"
    output.warning(said)
    output.note(f"{said}; to do so, type {command}")
    lines = capsys.readouterr().err.splitlines()
    assert max(map(len, lines)) <= width
    assert " ".join(lines) == f"warning: {said} {said}; to do so, type {command}"
    assert any(command in line for line in lines)


@pytest.mark.parametrize("width", WIDTHS)
def test_a_wide_table_keeps_its_rows_apart(width: int) -> None:
    columns = ["name", *(f"a column number {n}" for n in range(9))]
    rows = [[f"row-{n}", *(f"{n * 1_234_567 + m:,}" for m in range(9))] for n in range(20)]
    check_table(layout.Table("Wide", columns, rows, frozenset({0})), width)
    check_table(layout.Table("Wide", columns, rows, frozenset({0}), "", (3, 4, 5, 6, 7, 8)), width)
    check_table(layout.Table("Few", columns, rows[:3], frozenset({0})), width)


def test_long_prose_stands_below_its_row() -> None:
    note = "expected: the printed value is the time of fifteen sectors, so that simulator charged more than the drive takes"
    columns = ["row", "source", "ours", "unit", "verdict", "note"]
    rows = [
        [f"cylinder-switch-of-drive-{n}", "1,234.50", "1,198.25", "sectors", "not reproduced", note] for n in range(9)
    ]
    table = layout.Table("", columns, rows, frozenset({0, 3, 4, 5}))
    check_table(table, 80)
    lines = layout.table_lines(table, layout.Screen(80))
    assert lines[:4] == [
        "row                           source      ours  unit     verdict",
        "  note",
        "─" * 71,
        "cylinder-switch-of-drive-0  1,234.50  1,198.25  sectors  not reproduced",
    ]
    assert lines[4] == "  expected: the printed value is the time of fifteen sectors, so that simulator"


def test_a_step_of_a_timeline_stays_a_row_at_80_columns(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert main(["explain", "hp-c2200a", "--lba", "5", "--then", "100000"]) == 0
    text = capsys.readouterr().out
    assert re.search(r"^step +ms +takes +cylinder +head +angle +what happens$", text, re.MULTILINE), text
    assert len(text.splitlines()) < 40


def test_a_table_of_many_numbers_goes_on_below() -> None:
    columns = ["point", *(f"metric-{n}" for n in range(6))]
    rows = [[str(point), *(f"{1000 * point + n:,}.25 ± 12.5" for n in range(6))] for point in range(20)]
    lines = layout.table_lines(layout.Table("", columns, rows, frozenset({0})), layout.Screen(80))
    assert len(lines) == 2 * 22 + 1
    assert lines[0].split()[0] == lines[23].split()[0] == "point"
    assert lines[22] == ""


def test_columns_without_a_value_go_first() -> None:
    columns = ["name", "first value", "second value", "95 % of the change", "clear"]
    rows = [[f"{n} long name of a row", f"{n * 1_000_000:,} sectors", f"{n:,} sectors", "–", ""] for n in range(9)]
    table = layout.Table("", columns, rows, frozenset({0}))
    assert "without" not in "".join(layout.table_lines(table, layout.Screen(120)))
    text = "\n".join(layout.table_lines(table, layout.Screen(60)))
    assert text.endswith("without values here: 95 % of the change, clear")


def test_a_word_longer_than_the_line_runs_over_its_end() -> None:
    path = "/very/long/" + "x" * 90
    table = layout.Table("", ["file", "requests"], [[path, "1,234"]], frozenset({0}))
    assert path in "\n".join(layout.table_lines(table, layout.Screen(60)))
    assert f"  {path}" in layout.fact_lines("", [("file", path)], layout.Screen(60))


def test_columns_that_are_left_out_are_named() -> None:
    table = layout.Table(
        "", ["name", "one", "two"], [[f"row {n}", "1" * 30, "2" * 30] for n in range(20)], frozenset({0}), "", (2,)
    )
    text = "\n".join(layout.table_lines(table, layout.Screen(60)))
    assert "not shown at 60 columns: two" in text
    assert "22" not in text


def test_a_pipe_gets_lines_as_long_as_they_are() -> None:
    environment = {key: value for key, value in os.environ.items() if key != "COLUMNS"}
    command = [sys.executable, "-m", "headstack", "drives", "list"]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
    assert max(map(len, done.stdout.splitlines())) > 100
    assert "not shown" not in done.stdout


def test_names_from_files_cannot_move_the_cursor() -> None:
    table = layout.Table("a\x1b[2Jb", ["x"], [["c\x1b]0;title\x07d\n"]], frozenset({0}))
    assert not re.search(r"[\x00-\x1f\x7f-\x9f]", "".join(layout.table_lines(table, layout.Screen(80))))


@pytest.mark.parametrize("encoding", ["latin-1", "ascii", "cp1252"])
@pytest.mark.parametrize(
    "verb", [("explain", "hp-97560", "--lba", "0"), ("drives", "list"), ("--help",), ("simulate", "-h")]
)
def test_an_encoding_without_our_signs_gets_others(encoding: str, verb: tuple[str, ...]) -> None:
    environment = {**os.environ, "PYTHONIOENCODING": encoding, "COLUMNS": "80"}
    done = subprocess.run([sys.executable, "-m", "headstack", *verb], capture_output=True, env=environment, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    text = done.stdout.decode(encoding)
    assert "?" not in text
    assert not too_long(text.splitlines(), 80)


def test_json_in_any_encoding_is_the_same_object() -> None:
    import json

    command = [sys.executable, "-m", "headstack", "drives", "show", "hp-97560", "--json"]
    shown = [
        json.loads(
            subprocess.run(
                command, capture_output=True, env={**os.environ, "PYTHONIOENCODING": name}, check=True
            ).stdout
        )
        for name in ("ascii", "utf-8")
    ]
    assert shown[0] == shown[1]


@pytest.fixture
def printed(capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    def run(*words: str | Path) -> str:
        assert main([str(word) for word in words]) == 0
        return capsys.readouterr().out

    return run


def test_csv_is_what_the_tables_say_in_plain_numbers(printed: Callable[..., str]) -> None:
    rows = list(csv.DictReader(io.StringIO(printed("drives", "list", "--csv"))))
    atlas = next(row for row in rows if row["name"] == "atlas-10k")
    assert (atlas["cylinders"], atlas["capacity (B)"]) == ("10042", "9184760832")
    assert round(float(atlas["average seek (ms)"]), 2) == 5.60
    blocks = printed(*RUN, "--csv").split("\n\n")
    assert [block.split("\n")[1].split(",")[0] for block in blocks] == [
        "Times (ms)", "Where the response went (mean ms)", "Drives", "summary",
    ]  # fmt: skip


def test_plain_is_ascii_and_never_wraps(printed: Callable[..., str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    text = printed("explain", "hp-97560", "--lba", "5", "--plain")
    assert text.isascii()
    assert "->" in text
    assert max(map(len, text.splitlines())) > 60


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("-0.8 %", "−0.8 %"),
        ("-7.424 to +18.379", "−7.424 to +18.379"),
        ("bias (-.5 ms)", "bias (−.5 ms)"),
        # Names, dates, ranges, keys and options are as they were given, and so is what is to be typed.
        ("hp-97560, 2026-11-26", "hp-97560, 2026-11-26"),
        ("1-3", "1-3"),
        ("step=-1", "step=-1"),
        (
            "`headstack simulate x --lba-offset -8` moves it by -8",
            "`headstack simulate x --lba-offset -8` moves it by −8",
        ),
        ("--seed", "--seed"),
    ],
)
def test_a_negative_number_has_a_minus_sign_for_people(text: str, shown: str) -> None:
    """A hyphen stood before some numbers of a page, and a minus sign before others."""
    assert with_minus(text) == shown
    assert layout.wrapped(text, layout.Screen(None)) == [shown]
    assert layout.wrapped(text, layout.Screen(None, "ascii")) == [text]
    table = layout.Table("", ["what", "n"], [[text, "-1.5"]])
    assert layout.csv_rows(table, "t")[1][2] == "-1.5"
    number = Number("change", text, text)
    page = Page(
        text, text, [number], [Section(text, text, columns=["n"], rows=[[text]])], cite=[("given", text)]
    ).html()
    said = html.unescape(re.sub(r"<[^>]*>", "", page))
    assert shown.replace("`", "") in said
    # The last one is to be copied.
    assert f"<dd>{html.escape(text)}</dd>" in page
    assert text == shown or page.count(html.escape(text)) == 1


@pytest.mark.parametrize(("value", "text"), [(-0.001, "0.00"), (0.0, "0.00"), (-1234.5, "-1,234.50"), (0.006, "+0.01")])
def test_what_comes_to_nothing_has_no_sign(value: float, text: str) -> None:
    """A bias of 1 µs stood as -0.00 ms."""
    assert signed(value, 2) == text
    assert signed(value, 2, "%") == f"{text} %"
    assert signed(value, 2).parts[0].exact == value


def test_one_way_to_print_at_a_time() -> None:
    done = headstack("drives", "list", "--json", "--csv")
    assert done.code == 2
    assert "--json and --csv" in done.err


@pytest.mark.parametrize("width", range(20, 121))
@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("The cheapest of them is hp-97560, raid-5 of 4 drives: p99 42.1 ms, 31.4 W, 360 USD, rebuilt in 2.1 h.",
         ["4 drives", "42.1 ms", "31.4 W", "360 USD", "2.1 h"]),
        ("the head passes 39 sectors, which is 1,234.5 µs, and 2 revolutions", ["39 sectors", "1,234.5 µs", "2 revolutions"]),
        ("sizes 86 x 1 KiB, 107 ± 32 ms, 3 × 4 KiB, −0.8 %", ["86 x 1 KiB", "107 ± 32 ms", "3 × 4 KiB", "−0.8 %"]),
    ],
)  # fmt: skip
def test_a_number_stays_with_its_unit(text: str, kept: list[str], width: int) -> None:
    """At 80 columns a line ended with 360, and the next one began with USD."""
    for encoding in ("utf-8", "ascii"):
        lines = layout.wrapped(text, layout.Screen(width, encoding))
        assert not too_long(lines, width)
        assert " ".join(lines) == layout.writable(text, encoding)
        for words in kept:
            assert any(layout.writable(words, encoding) in line for line in lines), (words, lines)


def test_a_year_goes_with_no_word_behind_it() -> None:
    assert layout.wrapped("of 2024 and 2025 or", layout.Screen(8)) == ["of 2024", "and 2025", "or"]
