"""What is said of a sweep of which points or loads are left out of the comparison."""

from __future__ import annotations

import re
from pathlib import Path

import headstack
from conftest import headstack as run_cli
from headstack.report.sweep import sweep_page
from sweeps import BASE, GAP, NO_ROOM, RPM, written


def test_loads_with_a_point_each_tell_the_times_of_those_that_keep_up(tmp_path: Path) -> None:
    """The p99 of a queue that grew without end was told as one among others, and its page had a chart without axes."""
    text = (BASE + GAP).replace("hp-97560", "nearline-18tb").replace("300", "1_000")
    text = text.replace("20.0, 40.0", "0.5, 20.0, 40.0")
    found = headstack.sweep(written(tmp_path, text), tmp_path / "out").compare()
    assert found.left_behind == {0}
    times = [point.estimate("response_ms.p99") for point in found.points[1:]]
    ends = sorted(time.mean for time in times if time is not None)
    assert (
        f"none to compare it with; the p99 of those that keep up is {ends[0]:.4g} to {ends[1]:.4g} ms."
        in found.answer()
    )
    assert "1 of 3 points does not keep up with its load" in found.answer()
    # Of crosses alone there is no key.
    found.__dict__["left_behind"] = {0, 1, 2}
    chart = next(section for section in sweep_page(found).sections if "against" in section.title).chart
    assert chart is not None
    assert {
        layer.parts["encoding"]["color"].get("legend", "")
        for layer in chart.layers
        if "color" in layer.parts["encoding"]
    } == {None}


def test_points_that_failed_or_are_not_complete_are_in_the_answer(tmp_path: Path) -> None:
    """A load of which every point failed was in no number at all: "at 2 of 2 loads" of three."""
    ranges = NO_ROOM.replace("[0, 1000000], ", "[0, 1000000], [0, 2000000], ")
    text = 'metrics = ["response_ms.p99"]\n' + BASE.replace("thesis-4ms", "light-million") + RPM + ranges
    headstack.sweep(written(tmp_path, text), tmp_path / "out")
    found = run_cli("compare", tmp_path / "out", "--json").json()
    assert (found["points"], found["grid_points"], found["loads"], found["loads_compared"]) == (6, 9, 3, 2)
    assert [(each["points"], each["why"]) for each in found["loads_left_out"]] == [([2, 5, 8], {"failed": 3})]
    assert "at 2 of the 2 loads at which more than one point is compared" in found["answer"]
    assert "3 of 9 points failed." in found["answer"]
    assert "Nothing is compared at 1 of 3 loads: [0, 4000000], where 3 of 3 points failed." in found["answer"]
    # And one that is not run to its end.
    min((tmp_path / "out" / "runs").iterdir()).unlink()
    answer = headstack.compare(tmp_path / "out").answer()
    assert "1 of 9 points is not complete." in answer
    assert "Nothing is compared at 1 of 3 loads" in answer


def test_loads_of_one_point_each_are_not_left_out(tmp_path: Path) -> None:
    found = headstack.sweep(written(tmp_path, BASE + GAP), tmp_path / "out").compare()
    assert (found.summary["loads"], found.summary["loads_compared"], found.summary["loads_left_out"]) == (2, 0, [])
    min((tmp_path / "out" / "runs").iterdir()).unlink()
    left = headstack.Sweep(tmp_path / "out").compare()
    assert left.answer().endswith("1 of 2 points is not complete.")
    assert left.summary["loads"] == 2
    # It would have had nothing to be compared with, and it is not there.
    assert [each["why"] for each in left.summary["loads_left_out"]] == [{"not complete": 1}]


def test_one_point_is_told_as_one(tmp_path: Path) -> None:
    """It was "1 of 1 points, 1 runs", and "1 of 1 points: point 0 …; their response times grow"."""
    text = BASE.replace("300", "1_000") + RPM.replace("4002, 5400, 7200", "1000") + GAP.replace("20.0, 40.0", "0.5")
    file = written(tmp_path, text.replace("hp-97560", "nearline-18tb"))
    said = " ".join(run_cli("sweep", file, "--out", tmp_path / "out").out.split())
    assert "1 of 1 point: point 0 (rotation_rpm 1000, gap 0.5); its response times grow" in said
    done = headstack.Sweep(tmp_path / "out")
    page = sweep_page(done.compare())
    assert page.subtitle == "1 of 1 point, 1 run"
    assert "1 of 1 point complete. 1 does not keep up with its load." in done._repr_html_()
    assert repr(done).endswith(", 1 of 1 point)")
    assert repr(done.compare()).endswith(", 1 point)")
    texts = [page.answer, page.subtitle, *page.notices, *(section.text for section in page.sections), said]
    assert not [
        each for each in texts if re.search(r"(?<![\d.,±] )\b1 (?:points|runs|loads|candidates|requests)\b", each)
    ]


def test_a_page_of_points_of_which_one_served_nothing_is_drawn(tmp_path: Path) -> None:
    """It ended with an internal error: of a point without responses the curve had no kind of number."""
    text = (
        '[base]\nsystem = "lost.toml"\nworkload = "thesis-4ms"\nrequests = 50\n[[axis]]\nname = "fails"\n'
        'path = "volume.data.failures"\nvalues = [[{ drive = 0, at_s = 0.0001 }, { drive = 1, at_s = 0.0002 }], []]\n'
    )
    array = '[volume.data]\nlevel = "raid-5"\ndrives = ["cheetah-9lp", "cheetah-9lp", "cheetah-9lp"]\n'
    (tmp_path / "lost.toml").write_text(array)
    found = headstack.sweep(written(tmp_path, text), tmp_path / "out").compare()
    assert "1 of 2 points lost data, and wins nothing." in found.answer()
    found.report(tmp_path / "page.html")
    assert (tmp_path / "page.html").is_file()
