"""`--csv` of every verb, as a spreadsheet or a program reads it."""

from __future__ import annotations

import csv
import io
import json
import math
import re
from typing import TYPE_CHECKING

import pytest

from conftest import ROOT
from headstack.cli import main
from headstack.shown import number, percent, several
from test_layout import RUN, VERBS, files

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["files"]
MORE = [
    ("drives", "check", "hp-97560", "--deep"),
    ("drives", "sheet", "nearline-18tb"),
    ("drives", "show", "dual-actuator-18tb"),
    ("simulate", "raid5-4x-cheetah-9lp", "--workload", "unix-like", "--requests", "300"),
    ("simulate", "nearline-18tb", "--workload", "unix-like", "--requests", "300"),
    ("fleet", "hp-97560", "--trace", "{run}"),
    ("sweep", str(ROOT / "examples/four-or-one.toml"), "--out", "{sweep}"),
    ("compare", "{sweep}"),
    ("explore", "{run}", "--candidates", str(ROOT / "examples/candidates.toml"), "--fit-lba", "wrap"),
    ("study", "skippy"),
    ("measure", "sim:hp-97560", "scan", "--scan-percent", "1"),
    ("measure", "sim:hp-97560", "stream", "--file-mb", "1,2", "--record-kib", "64,2048", "--repeats", "2"),
]
# Texts of people and makers, and lists, may hold any number.
PROSE = re.compile(
    r"drive|about|answer|retries|sizes: most common|not identifiable|lost|responses|scan|source|io\.cost\.model|fixed heads|out of use|"
    r"failures|angles|behind their arm|backlog|fitted|scored|.*from sector"
)
WITH_UNIT = re.compile(r"[+-]?\d[\d,]*(\.\d+)?( ?%| (ms|s|min|h|B|[KMGT]i?B|rpm|W|IOPS|USD|sectors)\b.*)")
THOUSANDS = re.compile(r"\d,\d{3}\b")


def tables(text: str) -> list[list[list[str]]]:
    """The tables of an output: an empty line parts them, as the reference says."""
    return [list(csv.reader(io.StringIO(block))) for block in text.split("\n\n") if block.strip()]


@pytest.mark.parametrize("verb", [*VERBS, *MORE], ids=" ".join)
@pytest.mark.long
def test_every_cell_is_one_number_or_one_text(
    verb: tuple[str, ...],
    files: dict[str, str],
    tmp_path_factory: pytest.TempPathFactory,
    capsys: pytest.CaptureFixture[str],
) -> None:
    files.setdefault("sweep", str(tmp_path_factory.mktemp("sweep") / "out"))
    words = [word.format(**files) for word in verb]
    if verb == ("compare", "{sweep}"):
        main(["sweep", str(ROOT / "examples/four-or-one.toml"), "--out", files["sweep"], "--resume"])
        capsys.readouterr()
    assert main([*words, *(["--resume"] if verb[0] == "sweep" else []), "--csv"]) == 0, capsys.readouterr().err
    text = capsys.readouterr().out
    for header, *rows in tables(text):
        assert header[0] == "table", header
        assert len(set(header)) == len(header), header
        assert all(name.strip() == name and name for name in header), header
        assert all(len(row) == len(header) for row in rows), rows
        assert len({row[0] for row in rows}) <= 1
        names = [(row[1], row[-1]) for row in rows] if header == ["table", "name", "value", "unit"] else []
        assert len(set(names)) == len(names), names
        for row in rows:
            for name, cell in zip(header[1:], row[1:], strict=True):
                what = row[1] if header[1:] == ["name", "value", "unit"] else name
                assert cell not in {"–", "-", "…"}, (name, row)
                if PROSE.fullmatch(what) or ((name, row[0]) == ("value", "summary") and PROSE.match(what)):
                    continue
                assert not WITH_UNIT.fullmatch(cell), (name, row)
                if not re.search("[a-z]{3}", cell):
                    assert not THOUSANDS.search(cell), (name, row)


def test_numbers_are_those_of_the_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*RUN, "--json"]) == 0
    summary = json.loads(capsys.readouterr().out)
    assert main([*RUN, "--csv"]) == 0
    times, phases, drives, facts = tables(capsys.readouterr().out)
    response = dict(zip(times[0], times[1], strict=True))
    for key in ("mean", "std", "p50", "p99"):
        assert float(response[f"{key} (ms)"]) == summary["response_ms"][key]
    assert dict(zip(phases[0], phases[1], strict=True))["seek (ms)"] == repr(summary["phases_ms"]["seek"])
    assert math.isclose(
        float(dict(zip(drives[0], drives[1], strict=True))["utilisation (%)"]),
        100 * summary["drives"][0]["utilisation"],
        rel_tol=1e-14,
    )
    told = {(row[1], row[3]): row[2] for row in facts[1:]}
    assert float(told["throughput", "IOPS"]) == summary["iops"]
    assert float(told["throughput", "MiB/s"]) == summary["mib_per_s"]
    assert float(told["mean response: ± 95 %", "ms"]) == summary["response_ms"]["mean_ci95"]


def test_what_is_said_around_a_number_tells_which_it_is() -> None:
    told = several(
        "{} reads, {} writes ({share of reads} reads); mean {} ms ± {} ms", 300, 200, percent(0.6), 4.25, number(0.5)
    )
    assert told == "300 reads, 200 writes (60 % reads); mean 4.25 ms ± 0.50 ms"
    assert [tuple(part) for part in told.parts] == [
        ("reads", 300, ""), ("writes", 200, ""), ("share of reads", 60.0, "%"), ("mean", 4.25, "ms"), ("± 95 %", 0.5, "ms"),
    ]  # fmt: skip


def test_nothing_but_tables_is_on_stdout(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "page.html"
    assert main(["coefficients", "hp-97560", "--csv"]) == 0
    out, err = capsys.readouterr()
    assert "promises" in err
    assert "promises" not in out
    # A page that is written meanwhile is for people.
    assert main([*RUN, "--csv", "--report", str(page)]) == 0
    assert " IOPS" in page.read_text()
