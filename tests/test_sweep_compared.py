"""What a sweep says in the end: fronts, answers, limits and the page."""

from __future__ import annotations

import html
import json
import os
import re
from pathlib import Path

import pytest

import headstack
from conftest import ROOT, refused
from conftest import headstack as run_cli
from headstack.errors import InputError
from headstack.report.sweep import effects, sweep_page
from headstack.shown import with_minus
from headstack.sweeping import pareto, repeats
from headstack.sweeping.result import PointResult
from sweeps import BASE, GAP, NO_ROOM, RPM, written

UNKNOWN = "Whether these differences are chance is not known (one run a point)."


def test_nothing_on_the_front_is_beaten() -> None:
    costs = {"a": (3, 1), "b": (1, 3), "c": (2, 2), "d": (3, 3), "e": (2, 2), "f": (1, 4)}
    assert sorted(pareto.front(costs, costs.__getitem__)) == ["a", "b", "c", "e"]
    assert pareto.front([], costs.__getitem__) == []


def test_the_example_is_a_sweep(tmp_path: Path) -> None:
    found = run_cli("sweep", ROOT / "examples" / "dual-actuator.toml", "--out", tmp_path / "out", "--json").json()
    assert (found["points"], found["complete"], found["failed"], found["resumed"]) == (12, 12, 0, 0)
    # Two arms serve the heaviest load sooner, whichever scheduler.
    by_values = {tuple(each["values"].values()): each["metrics"] for each in found["results"]}
    for scheduler in ("drive:fcfs", "drive:asptf(0.03)"):
        one, two = (
            by_values[f"{name}-18tb", 5.0, scheduler]["response_ms.mean"] for name in ("nearline", "dual-actuator")
        )
        assert two["mean"] + two["ci95"] < one["mean"] - one["ci95"]


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("swept")
    text = (
        'summary = "Speeds and loads"\nmetrics = ["response_ms.p99", "response_ms.mean", "power.average_w", "usd"]\n'
        + BASE.replace("hp-97560", "nearline-18tb")
        + RPM.replace("4002, 5400", "7200, 6300").replace(", 7200]", ", 5400]")
        + GAP
        + '[repeats]\ncount = 4\n[usd]\n"nearline-18tb" = 300\n'
    )
    headstack.sweep(written(place, text), place / "out")
    return place / "out"


def test_points_are_compared_with_the_first_seed_by_seed(swept: Path) -> None:
    found = run_cli("compare", swept, "--json").json()
    assert (found["kind"], found["points"], found["loads"]) == ("sweep", 6, 2)
    results = headstack.Sweep(swept).results
    first, other = (list(result.of_seeds("response_ms.p99").values()) for result in (results[0], results[4]))
    changes = [(b or 0.0) - (a or 0.0) for a, b in zip(first, other, strict=True)]
    # Under a gap of 20 ms: the third speed against the first.
    compared = found["compared"][1]
    assert (compared["point"], compared["against"], compared["repeats_paired"]) == (4, 0, 4)
    told = compared["metrics"]["response_ms.p99"]
    assert told["change"] == pytest.approx(sum(changes) / 4)
    low, high = told["change_ci95"]
    assert low < told["change"] < high
    # A slower disk is slower: the same requests tell it in few runs.
    assert compared["metrics"]["response_ms.mean"]["change_ci95"][0] > 0
    for front in found["fronts"]:
        assert front["points"]
    assert {front["against"] for front in found["fronts"]} == {"power.average_w", "usd"}


def test_a_sweep_or_its_folder_is_compared_as_on_the_command_line(swept: Path) -> None:
    told = run_cli("compare", swept, "--json").json()
    assert headstack.compare(swept).summary == headstack.compare(headstack.Sweep(swept)).summary == told
    assert headstack.compare(str(swept), fail_if=["response_ms.p99 > 1ms"]).failed
    with pytest.raises(InputError, match="`seed` cannot be chosen"):
        headstack.compare(swept, seed=2)  # type: ignore[call-overload]
    with pytest.raises(InputError, match="compared alone"):
        headstack.compare([swept, swept])


def test_the_answer_says_how_much_is_known(tmp_path: Path) -> None:
    drives = '[[axis]]\npath = "system"\nvalues = ["nearline-18tb", "hp-97560"]\n' + GAP.replace("20.0, ", "")
    found = headstack.sweep(written(tmp_path, BASE + drives), tmp_path / "out").compare()
    assert found.answer().startswith("The lowest p99, ")
    assert "Nothing is compared by watts, which are known of 1 of 2 points." in found.answer()


def test_a_load_by_itself_is_compared_with_nothing(tmp_path: Path) -> None:
    answer = headstack.sweep(written(tmp_path, BASE + GAP), tmp_path / "out").compare().answer()
    assert answer.startswith("Each of the 2 loads has one point, and none to compare it with; their p99 is ")


def test_what_is_near_or_the_same_is_said_of_one_load(tmp_path: Path) -> None:
    speeds = RPM.replace("4002, 5400, 7200", "7200, 7201")
    near = headstack.sweep(
        written(tmp_path, BASE.replace("hp-97560", "nearline-18tb") + speeds + "[repeats]\ncount = 3\n"),
        tmp_path / "near",
    ).compare()
    assert "rotation_rpm 7201; another is so near that it may be chance." in near.answer()
    # The same without intervals, too: one run a point.
    same = RPM.replace("rotation_rpm", "controller.queue_depth").replace("4002, 5400, 7200", "400, 500")
    twins = headstack.sweep(
        written(tmp_path, BASE.replace("hp-97560", "nearline-18tb") + same), tmp_path / "same"
    ).compare()
    assert "; another has the same." in twins.answer()
    assert UNKNOWN not in twins.answer()


def test_one_run_a_point_leaves_chance_open(swept: Path, tmp_path: Path) -> None:
    grid = BASE + RPM + GAP.replace("20.0, ", "")
    file = written(tmp_path, grid)
    for words in (("sweep", file, "--out", tmp_path / "out"), ("compare", tmp_path / "out")):
        assert "differences are chance is not known" in " ".join(run_cli(*words).out.split())
    again = written(tmp_path, grid + "[repeats]\ncount = 2\n")
    assert "not known" not in run_cli("sweep", again, "--out", tmp_path / "twice").out
    assert "not known" not in headstack.compare(swept).answer()


def test_a_point_that_does_not_keep_up_wins_nothing(tmp_path: Path) -> None:
    text = BASE.replace("hp-97560", "nearline-18tb") + RPM.replace("4002, 5400, 7200", "1000, 7200")
    text += GAP.replace("20.0, 40.0", "4.0, 20.0")
    found = headstack.sweep(written(tmp_path, text.replace("300", "1_000")), tmp_path / "out").compare()
    assert found.left_behind == {0}
    assert found.answer().endswith("1 of 4 points does not keep up with its load, and wins nothing.")
    # Nor is it on a front: the fewest watts bought nothing.
    assert found.fronts
    assert all(point.point.number != 0 for front in found.fronts for point in front.points)
    assert all(row["point"] != 0 for front in found.summary["fronts"] for row in front["points"])
    # The slow spindle draws less, and does not do what is asked.
    assert "rotation_rpm 1000 has the fewest watts at the one load" in found.answer()
    tiles = {number.label: number.detail for number in sweep_page(found).numbers}
    assert all(label.endswith(", heaviest load") for label in tiles)
    assert not any("rotation_rpm 1000" in detail for detail in tiles.values())
    # And the medians of its page are of those that keep up.
    by_speed = next(section for section in effects(found) if "rotation_rpm" in section.title)
    assert by_speed.text.endswith("A grey cross: a point that does not keep up, and is in no median.")
    assert by_speed.chart is not None
    medians = by_speed.chart.layers[-1].data
    assert medians is not None
    # At 1000 rpm under the heavier load there is none.
    assert len(medians) == len(found.points) - 1
    # Beside the bar of a queue that grows nobody would see the others.
    bars = next(section for section in sweep_page(found).sections if section.title == "Where the time goes")
    assert bars.chart is not None
    assert "but for points that do not keep up" in bars.text
    assert "rotation_rpm 1000" not in json.dumps(bars.chart.to_dict())


@pytest.fixture(scope="module")
def crowded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of four points one does not keep up, and of three loads all points of the heaviest."""
    place = tmp_path_factory.mktemp("crowded")
    text = BASE.replace("hp-97560", "nearline-18tb") + RPM.replace("4002, 5400, 7200", "1000, 7200")
    text += GAP.replace("20.0, 40.0", "0.5, 4.0, 20.0")
    headstack.sweep(written(place, text.replace("300", "1_000")), place / "out")
    return place / "out"


def test_points_that_do_not_keep_up_are_marked(crowded: Path) -> None:
    """How many there were was said, and which nowhere; `sweep` itself said nothing."""
    wanted = {0, 1, 3}
    found = run_cli("compare", crowded, "--json").json()
    again = ("sweep", crowded.parent / "grid.toml", "--out", crowded, "--resume")
    assert {each["point"] for each in found["behind"]} == wanted
    assert {each["why"] for each in found["behind"]} == {"overloaded"}
    assert run_cli(*again, "--json").json()["behind"] == found["behind"]
    for words in (("compare", crowded), again):
        said = run_cli(*words).out
        rows = re.findall(r"^ +(\d) .*? (yes|no) ", said, re.MULTILINE)
        assert {int(number) for number, keeps_up in rows if keeps_up == "no"} == wanted
        assert len(rows) == 6
        assert "do not keep up  3 of 6 points: point 0 (rotation_rpm 1000, gap 0.5)" in said
    comparison = headstack.Sweep(crowded).compare()
    place = comparison.columns.index("keeps up")
    assert [row[place] for row in comparison.rows()] == ["no" if n in wanted else "yes" for n in range(6)]


def test_a_column_is_there_only_where_a_point_does_not_keep_up(swept: Path) -> None:
    found = headstack.Sweep(swept).compare()
    assert "keeps up" not in found.columns
    assert found.summary["behind"] == []
    assert "do not keep up" not in run_cli("compare", swept).out


def test_points_that_do_not_keep_up_are_drawn_apart(crowded: Path) -> None:
    found = headstack.Sweep(crowded).compare()
    page = sweep_page(found)
    for section in (section for section in page.sections if " by " in section.title or "against" in section.title):
        assert "A grey cross: a point that does not keep up" in section.text
        assert section.chart is not None
        marks = [layer.parts["mark"] for layer in section.chart.layers]
        assert any(mark.get("shape") == "cross" for mark in marks), section.title
    # Under the heaviest load nothing keeps up, and it is drawn nevertheless.
    for title in ("How long requests take", "Where the time goes"):
        section = next(section for section in page.sections if section.title == title)
        assert "None of them keeps up" in section.text


def test_notebooks_show_a_sweep_as_the_command_line_does(crowded: Path, swept: Path) -> None:
    """A comparison had only its `repr`, and a sweep a row for each run, without answer and intervals."""
    done, found = headstack.Sweep(crowded), headstack.Sweep(swept).compare()
    shown, compared = done._repr_html_(), found._repr_html_()
    assert "6 of 6 points complete. 3 do not keep up with their load." in shown
    assert shown.count("<tr>") == 1 + 6
    assert ">keeps up<" in shown
    assert found.answer().split(". ")[0] in html.unescape(compared)
    for head in found.columns:
        assert f">{html.escape(head)}<" in compared
    for row in found.rows():
        assert all(f"<td>{html.escape(with_minus(cell))}</td>" in compared for cell in row)


def test_what_costs_the_same_is_not_called_chance(swept: Path) -> None:
    """One model at three speeds: the price is the same, whatever the seed."""
    answer = headstack.Sweep(swept).compare().answer()
    price = next(sentence for sentence in answer.split(". ") if "USD" in sentence)
    assert price == "All of them cost the same: 300 USD."


def test_points_under_one_load_are_weighed_together(tmp_path: Path) -> None:
    found = headstack.sweep(written(tmp_path, BASE + RPM + GAP), tmp_path / "out").compare()
    assert [[point.values["rotation_rpm"] for point in points] for points in found.loads] == [[4002, 5400, 7200]] * 2
    assert [point.values["gap"] for points in found.loads for point in points] == [20.0] * 3 + [40.0] * 3
    assert found.answer() == f"rotation_rpm 7200 has the lowest p99 at 2 of 2 loads. {UNKNOWN}"


def test_a_limit_is_broken_by_a_point(swept: Path) -> None:
    outcome = run_cli("compare", swept, "--fail-if", "response_ms.p99 > +5%")
    assert outcome.code == 1
    assert "limit broken: response_ms.p99 > +5%: rotation_rpm 5400" in outcome.err
    assert "there is no `p98`" in refused("compare", swept, "--fail-if", "p98 > +5%")
    # A value is asked of every point, the first under its load, too.
    known = [result.estimate("response_ms.p99") for result in headstack.Sweep(swept).results]
    slowest = max(found.mean for found in known if found)
    for share, code in [(0.9999, 1), (1.0001, 0)]:
        assert run_cli("compare", swept, "--fail-if", f"response_ms.p99 > {share * slowest:.6f}ms").code == code
    first = run_cli("compare", swept, "--fail-if", "response_ms.p99 > 0.001ms").err
    assert first.count("limit broken") == 6


def test_a_sweep_ends_with_1_where_a_limit_is_broken(tmp_path: Path) -> None:
    file = written(tmp_path, BASE.replace("thesis-4ms", "light-million") + RPM)
    words = ("sweep", file, "--out", tmp_path / "out")
    # What cannot be asked is refused before anything runs.
    assert "did you mean `response_ms.p99`" in refused(*words, "--fail-if", "response_ms.p9 > 1ms")
    assert "response_ms.p99 is in ms" in refused(*words, "--fail-if", "response_ms.p99 > 1W")
    assert "is not a limit" in refused(*words, "--fail-if", "p99 5%")
    assert not (tmp_path / "out").exists()
    kept = run_cli(*words, "--fail-if", "response_ms.p99 > 1000000ms")
    assert (kept.code, kept.err.count("limit broken")) == (0, 0)
    outcome = run_cli(
        *words, "--resume", "--json", "--fail-if", "response_ms.p99 > 0.001ms", "--fail-if", "response_ms.mean < -1%"
    )
    assert outcome.code == 1
    # Every point is above the value, and the two faster ones are quicker than the first.
    assert outcome.err.count("limit broken: response_ms.p99 > 0.001ms") == 3
    assert outcome.err.count("limit broken: response_ms.mean < -1%: rotation_rpm") == 2
    assert json.loads(outcome.out)["complete"] == 3


DRIVES = '[[axis]]\npath = "system"\nvalues = ["nearline-18tb", "archive-8tb"]\n'


def test_a_limit_is_asked_of_the_points_that_have_its_metric(tmp_path: Path) -> None:
    """One drive file tells no watts, and has no price: the other one is tested all the same, and this one is named."""
    text = (
        'metrics = ["response_ms.p99", "power.average_w", "usd"]\n' + BASE + DRIVES + '[usd]\n"nearline-18tb" = 300\n'
    )
    file = written(tmp_path, text.replace('system = "hp-97560"\n', ""))
    limit = ("--fail-if", "power.average_w > 1W")
    for words in (("sweep", file, "--out", tmp_path / "out"), ("compare", tmp_path / "out")):
        outcome = run_cli(*words, *limit, "--fail-if", "usd > 500USD")
        assert outcome.code == 1
        assert outcome.err.count("limit broken") == 1
        assert "limit broken: power.average_w > 1W: nearline-18tb" in outcome.err
        told = "limit not tested: {}: point 1 (archive-8tb): no {}"
        for each, metric in ((limit[1], "power.average_w"), ("usd > 500USD", "usd")):
            assert told.format(each, metric) in " ".join(outcome.err.split())
    found = headstack.compare(tmp_path / "out", fail_if=["power.average_w > 100W"])
    assert (found.failed, found.summary["untested"]) == (
        [],
        ["power.average_w > 100W: point 1 (archive-8tb): no power.average_w"],
    )
    # Of no point the change is known: nothing would ever break it.
    assert "no point has a change of usd" in refused("compare", tmp_path / "out", "--fail-if", "usd > +5%")


def test_a_limit_that_no_point_can_be_asked_is_refused(tmp_path: Path) -> None:
    text = 'metrics = ["response_ms.p99", "power.average_w", "usd"]\n' + BASE
    file, out = written(tmp_path, text + GAP), tmp_path / "out"
    # Without a price, and without another point under a load, before anything runs.
    assert "there is no `usd`" in refused("sweep", file, "--out", out, "--fail-if", "usd > 5USD")
    assert "no point has another under its load" in refused(
        "sweep", file, "--out", out, "--fail-if", "response_ms.p99 > +5%"
    )
    assert not out.exists()
    headstack.sweep(file, out)
    told = refused("compare", out, "--fail-if", "power.average_w > 5W")
    assert "no point has a power.average_w" in told
    assert "known: response_ms.p99" in told


def test_a_failed_point_is_told_and_breaks_limits(tmp_path: Path) -> None:
    text = 'metrics = ["response_ms.p99"]\n' + BASE.replace("thesis-4ms", "light-million") + NO_ROOM
    headstack.sweep(written(tmp_path, text), tmp_path / "out")
    plain = run_cli("compare", tmp_path / "out")
    assert plain.code == 0
    assert "1 of 2 points: point 1 ([0, 4000000])" in plain.out
    assert "warning: point 1 failed" in plain.err
    # Its axis is the load: no design is left to name it by.
    assert "The only point is [0, 1000000], with a p99 of " in plain.out
    found = run_cli("compare", tmp_path / "out", "--json").json()
    assert [each["point"] for each in found["failures"]] == [1]
    assert (found["points"], found["incomplete"]) == (1, [])
    gate = run_cli("compare", tmp_path / "out", "--fail-if", "response_ms.p99 > 1000000ms")
    assert gate.code == 1
    assert "point 1 ([0, 4000000]): failed, so that there is no value" in " ".join(gate.err.split())
    # A sweep was called whole, and its comparison said nothing of it in a notebook.
    done = headstack.Sweep(tmp_path / "out")
    assert repr(done).endswith(", 1 of 2 points, 1 failed)")
    assert "1 of 2 points complete. 1 failed." in done.compare()._repr_html_()


def test_a_point_that_is_not_complete_breaks_limits(tmp_path: Path) -> None:
    headstack.sweep(written(tmp_path, BASE.replace("thesis-4ms", "light-million") + RPM), tmp_path / "out")
    last = max((tmp_path / "out" / "runs").iterdir())
    last.unlink()
    found = headstack.compare(tmp_path / "out", fail_if=["response_ms.p99 > 1000000ms"])
    assert found.summary["incomplete"] == [2]
    assert len(found.failed) == 1
    assert "point 2 (rotation_rpm 7200): not complete" in found.failed[0]
    assert "1 of 3 points: point 2 (rotation_rpm 7200)" in run_cli("compare", tmp_path / "out").out


def test_a_point_without_a_request_breaks_limits(tmp_path: Path) -> None:
    """One of two arrays of loads is cut before its first request is complete."""
    cut = '[[axis]]\npath = "until_s"\nvalues = [10.0, 1e-6]\n'
    headstack.sweep(written(tmp_path, BASE.replace("thesis-4ms", "light-million") + cut), tmp_path / "out")
    found = headstack.compare(tmp_path / "out", fail_if=["response_ms.p99 > 1000000ms"])
    assert found.failed == ["response_ms.p99 > 1000000ms: point 1 (until_s 1e-06): no request was complete in time"]


def test_what_a_stopping_rule_does_to_intervals_is_said_beside_them(tmp_path: Path) -> None:
    rule = '[stop]\nmetric = "response_ms.mean"\nwithin_percent = {}\nmost = {}\n'
    said = "fewer than 95 % of the intervals hold the mean"
    file = written(tmp_path, BASE + RPM + rule.format(0.001, 4))
    for words in (("sweep", file, "--out", tmp_path / "out"), ("compare", tmp_path / "out")):
        shown = " ".join(run_cli(*words).out.split())
        assert said in shown
        assert re.search(r"still wide +3 after 4 repeats", shown)
        assert said in run_cli(*words, *(["--resume"] if words[0] == "sweep" else []), "--json").json()["ci95_note"]
    comparison = headstack.compare(tmp_path / "out")
    assert comparison.summary["wide"] == [0, 1, 2]
    notices = sweep_page(comparison).notices
    assert any(said in notice for notice in notices)
    assert any(notice.startswith("3 points are still wider than") for notice in notices)
    # Nobody looks again where no more repeats are allowed.
    fixed = headstack.sweep(written(tmp_path, BASE + RPM + rule.format(0.001, 3)), tmp_path / "fixed")
    assert fixed.summary["ci95_note"] is fixed.compare().summary["ci95_note"] is None


def test_a_point_without_a_rival_wins_nothing(tmp_path: Path) -> None:
    rule = 'constraints = ["gap < 30 or rotation_rpm < 5000"]\n'
    found = headstack.sweep(written(tmp_path, rule + BASE + RPM + GAP), tmp_path / "out").compare()
    assert (
        found.answer()
        == "rotation_rpm 7200 has the lowest p99 at the one load that more than one point has. " + UNKNOWN
    )


def test_of_one_load_there_is_no_one_of_them(tmp_path: Path) -> None:
    """The answer said "at the one load that more than one point has; at 1 of them another is so near …"."""
    rule = 'constraints = ["gap < 30 or rotation_rpm < 5000"]\n'
    twice = "[repeats]\ncount = 2\n"
    near = RPM.replace("[4002, 5400, 7200]", "[4002, 4003]")
    text = rule + BASE + near + GAP + twice
    found = headstack.sweep(
        written(tmp_path, text.replace("rotation_rpm < 5000", "rotation_rpm < 4003")), tmp_path / "out"
    )
    answer = found.compare().answer()
    assert "the one load that more than one point has; there another is so near that it may be chance" in answer
    assert "of them" not in answer


def test_loads_at_which_one_point_alone_keeps_up_are_not_counted(swept: Path) -> None:
    """Where three loads had two points, and one of two did not keep up at one, the best was so at 2 of 2 that had more than one."""
    found = headstack.compare(swept)
    shared = [load for load in found.loads if len(load) > 1]
    assert len(shared) >= 2
    found.__dict__["left_behind"] = {point.point.number for point in shared[0][1:]}
    answer = found.answer()
    assert "that more than one point has" not in answer
    assert "at which more than one point is compared" in answer


def test_the_page_shows_fronts_and_all_points(swept: Path, tmp_path: Path) -> None:
    page = tmp_path / "sweep.html"
    assert run_cli("compare", swept, "--report", page).code == 0
    text = page.read_text()
    for part in ("Speeds and loads", "p99 against watts", "p99 against price", "All points", "data (CSV)"):
        assert part in text
    assert len(text) < 5_000_000
    assert os.environ.get("HOME", "/nowhere") + "/" not in text.replace(str(page), "").split("To cite")[0]


def test_the_head_of_changes_in_percent_has_no_other_unit(swept: Path) -> None:
    found = headstack.Sweep(swept).compare()
    heads = dict(zip(found.columns, zip(*found.rows(), strict=True), strict=True))
    assert "response p99 (ms)" in heads
    assert any("%" in cell for cell in heads["change of response p99"])


def test_an_interval_below_zero_has_no_logarithm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of few runs an interval may reach below zero; a logarithmic axis would lose all its points."""
    speeds = '[[axis]]\npath = "rotation_rpm"\nvalues = [4002, 7200]\n'
    gap = '[[axis]]\npath = "workload.stream.0.inter_arrival.exponential_ms"\nvalues = [0.5, 200.0]\n'
    text = BASE.replace("hp-97560", "nearline-18tb") + speeds + gap + "[repeats]\ncount = 2\n"
    metrics = 'metrics = ["response_ms.p99", "power.average_w"]\n'
    found = headstack.sweep(written(tmp_path, metrics + text), tmp_path / "out").compare()
    estimate = PointResult.estimate

    def unsure(point: PointResult, metric: str) -> repeats.Estimate | None:
        known = estimate(point, metric)
        return known and repeats.Estimate(known.mean, 1.2 * known.mean)

    monkeypatch.setattr(PointResult, "estimate", unsure)
    chart = next(section.chart for section in sweep_page(found).sections if section.title == "p99 against watts")
    assert chart is not None
    drawn = chart.to_dict()
    assert '"type": "log"' in json.dumps(drawn)
    (rows,) = drawn["datasets"].values()
    assert all(row["low"] > 0 for row in rows)


def page_of(place: Path, speeds: int) -> str:
    """The page of a sweep of `speeds` points under each of ten loads."""
    place.mkdir()
    rpm = f'[[axis]]\npath = "rotation_rpm"\nrange = {{ from = 4000, to = {4000 + 10 * (speeds - 1)}, step = 10 }}\n'
    gap = GAP.replace("[20.0, 40.0]", str([20.0 + step for step in range(10)]))
    base = BASE.replace("300", "20").replace("hp-97560", "nearline-18tb")
    metrics = 'metrics = ["response_ms.p99", "response_ms.mean", "iops", "power.average_w"]\n'
    headstack.sweep(written(place, metrics + base + rpm + gap), place / "out").compare().report(place / "page.html")
    return (place / "page.html").read_text()


def test_the_page_of_a_thousand_points_is_small(tmp_path: Path) -> None:
    few, many = page_of(tmp_path / "few", 2), page_of(tmp_path / "many", 12)
    assert few.count("<tr>") == 22  # with the head of the table, and one in the text of the charts' library
    assert many.count("<tr>") == 122
    a_point = (len(many.encode()) - len(few.encode())) / 100
    assert 100 < a_point < 1_000
    assert len(few.encode()) + 980 * a_point < 2_000_000


def test_captions_say_whose_curves_are_drawn(swept: Path) -> None:
    captions = {section.title: section.text for section in sweep_page(headstack.Sweep(swept).compare()).sections}
    assert "the mean over the seeds, of every point under the heaviest load" in captions["How long requests take"]
    assert "of every point under the heaviest load" in captions["Where the time goes"]


def test_the_page_names_points_by_what_tells_them_apart(tmp_path: Path) -> None:
    """All points of a closer look are under one load, which their names need not repeat."""
    text = page_of(tmp_path / "names", 2)
    charts = text[text.index("How long requests take") :]
    assert '"curve": "rotation_rpm 4000"' in charts or '"curve":"rotation_rpm 4000"' in charts
    assert "rotation_rpm 4000, gap" in text


def test_an_array_that_lost_its_data_is_no_result(tmp_path: Path) -> None:
    """It had served a few requests fast until then: it was complete, the quickest, and kept every limit."""
    (tmp_path / "gone.toml").write_text(
        '[volume.data]\nlevel = "raid-5"\ndrives = ["cheetah-9lp", "cheetah-9lp", "cheetah-9lp"]\n'
        "failures = [{ drive = 0, at_s = 0.1 }, { drive = 1, at_s = 0.2 }]\n"
    )
    grid = tmp_path / "grid.toml"
    grid.write_text(
        'summary = "x"\nmetrics = ["response_ms.p99", "iops"]\n[base]\nworkload = "thesis-4ms"\nrequests = 300\n'
        '[[axis]]\npath = "system"\nvalues = ["nearline-18tb", "gone.toml"]\n'
    )
    run_cli("sweep", grid, "--out", tmp_path / "out")
    told = run_cli("compare", tmp_path / "out", "--fail-if", "response_ms.p99 > 100000ms", "--json")
    assert told.code == 1
    summary = json.loads(told.out)
    assert any("lost data" in broken for broken in summary["failed"])
    assert summary["answer"].endswith("1 of 2 points lost data, and wins nothing.")


def test_a_point_without_a_request_breaks_limits_of_whatever(tmp_path: Path) -> None:
    text = BASE.replace("requests = 300", "until_s = 0.0001") + RPM
    found = run_cli("sweep", written(tmp_path, text), "--out", tmp_path / "out", "--fail-if", "iops > 1000000")
    assert found.code == 1
    assert "no request was complete in time" in found.out + found.err


def test_each_reason_why_points_do_not_keep_up_is_told(tmp_path: Path) -> None:
    """Of three points marked "no" the line below the table told the overloaded one alone."""
    (tmp_path / "lost.toml").write_text("""
[base]
system = "raid5-4x-cheetah-9lp"
workload = "thesis-4ms"
requests = 300
[[axis]]
path = "workload.stream.0.inter_arrival.exponential_ms"
values = [40]
[[axis]]
name = "failed"
cases = [{ name = "one", set = { "volume.data.failed_drives" = [0] } }, \
  { name = "two", set = { "volume.data.failures" = [{ drive = 0, at_s = 0.5 }, { drive = 1, at_s = 1.0 }] } }]
""")
    said = run_cli("sweep", "lost.toml", "--out", "lost", cwd=tmp_path).out
    assert "no: lost data" in said
    assert "lost data" in said.split("points ")[1]
    assert "1 of 2 points: point 1" in said


def test_a_load_that_is_lost_is_told(crowded: Path) -> None:
    """At the heaviest of three loads nothing keeps up: the answer spoke of those that are left, and JSON counted them alone."""
    found = run_cli("compare", crowded, "--json").json()
    assert (found["points"], found["grid_points"], found["loads"], found["loads_compared"]) == (6, 6, 3, 1)
    assert found["loads_left_out"] == [
        {"values": {"gap": 0.5}, "points": [0, 3], "why": {"overloaded": 2}},
        {"values": {"gap": 4.0}, "points": [1, 4], "why": {"overloaded": 1}},
    ]
    said = (
        "Nothing is compared at 2 of 3 loads: gap 0.5, where 2 of 2 points do not keep up; "
        "gap 4.0, where 1 of 2 points does not keep up."
    )
    assert said in found["answer"]
    assert said in " ".join(run_cli("compare", crowded).out.split())
    assert said in sweep_page(headstack.Sweep(crowded).compare()).answer
    assert "at the one load at which more than one point is compared" in found["answer"]


def test_a_queue_that_grows_keeps_within_no_limit(crowded: Path) -> None:
    """A p99 of 1,400 ms passed a limit of 5,000, and was 19,870 in a run ten times as long."""
    gate = run_cli("compare", crowded, "--fail-if", "response_ms.p99 > 1000000ms")
    assert gate.code == 1
    said = " ".join(gate.err.split())
    assert "point 0 (rotation_rpm 1000, gap 0.5)" in said
    assert "not keeping up, so that times grow with the length of the run" in said
    # What does not grow with the run is asked as of any other point.
    assert run_cli("compare", crowded, "--fail-if", "power.average_w > 1000W").code == 0
