"""Schedulers on the command line: the list, and the notices when one cannot choose or cannot see."""

from __future__ import annotations

from pathlib import Path

import pytest

import headstack as package
from conftest import headstack, refused
from headstack.scheduler_names import form, idle_schedulers

SHORT = ("cheetah-9lp", "--workload", "overload-million", "--requests", "60")


def test_the_list_is_that_of_the_core() -> None:
    infos = package.schedulers()
    assert headstack("schedulers", "--json").json() == {"schedulers": infos}
    out = headstack("schedulers").out
    assert all(form(info) in out for info in infos)


@pytest.mark.long
def test_what_the_list_shows_can_be_typed() -> None:
    for info in package.schedulers():
        scheduler = "sptf" + form(info).replace("VALUE", "500") if info["is_modifier"] else form(info)
        headstack("simulate", *SHORT, "--scheduler", f"drive:{scheduler}", "--json").json()


def test_help_names_the_list() -> None:
    assert "headstack schedulers" in " ".join(headstack("simulate", "--help").out.split())


def test_an_unknown_scheduler_lists_the_known() -> None:
    assert "c-look" in refused("simulate", *SHORT, "--scheduler", "clook")


def test_marks_for_a_limit_that_a_drive_lacks_do_nothing() -> None:
    """The example asks for a limit to be set: without one it ran as if nothing were marked, and nobody said so."""
    run = ("simulate", "nearline-22tb", "--workload", "examples/cdl-mix.toml", "--requests", "200", "--json")
    said = " ".join(headstack(*run).err.split())
    assert "marks requests for duration limit 1, which nearline-22tb does not have" in said
    assert "duration limit" not in headstack(*run, "--set", "drive.*.controller.duration_limit_ms=50").err


def test_what_a_limit_holds_for_is_told_apart(tmp_path: Path) -> None:
    """The tail of the limited was in the JSON of no run: it lay within that of all."""
    page = tmp_path / "page.html"
    run = ("simulate", "nearline-22tb", "--workload", "examples/cdl-mix.toml", "--requests", "2000")
    limit = ("--set", "drive.*.controller.duration_limit_ms=50")
    summary = headstack(*run, *limit, "--json").json()
    without, limited = summary["by_duration_limit"]
    assert [(each["op"], each["duration_limit"]) for each in (without, limited)] == [("read", 0), ("read", 1)]
    assert without["requests"] + limited["requests"] == summary["requests"]
    assert limited["response_ms"]["p99"] < 100 < without["response_ms"]["p99"]
    told = headstack(*run, *limit, "--report", page).out
    p99 = f"{limited['response_ms']['p99']:,.2f}"
    assert "Responses by duration limit (ms)" in told
    assert p99 in told
    assert p99 in page.read_text(encoding="utf-8")
    assert "by_duration_limit" not in headstack(*run, "--json").json()


def test_a_drive_that_takes_one_command_has_no_choice() -> None:
    alone = headstack("simulate", *SHORT, "--scheduler", "drive:sptf", "--json")
    assert "nothing to choose from" in alone.err
    assert "queue_depth=64" in alone.err
    queued = headstack(
        "simulate", *SHORT, "--scheduler", "drive:sptf", "--set", "drive.*.controller.queue_depth=64", "--json"
    )
    assert "nothing to choose from" not in queued.err
    assert queued.json()["response_ms"]["mean"] < alone.json()["response_ms"]["mean"]
    assert idle_schedulers(package.System("cheetah-9lp")) == ""


def test_what_the_scheduler_could_not_see_is_told(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    words = ("simulate", *SHORT, "--scheduler", "c-look", "--report", page)
    limited = headstack(*words, "--set", "host.queue_limit=8")
    # 60 at once: one goes to the drive, eight are seen, 51 wait outside.
    assert "51 requests came when" in " ".join(limited.out.split())
    assert "51 requests came when" in page.read_text(encoding="utf-8").replace("\u00a0", " ")
    assert "requests came when" not in headstack(*words).out
    assert "requests came when" not in page.read_text(encoding="utf-8")
