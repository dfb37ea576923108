"""`explore`: what to buy for a load."""

from __future__ import annotations

import html
import json
import random
import re
from dataclasses import replace
from pathlib import Path

import pytest

import headstack
from conftest import ROOT, refused
from conftest import headstack as run_cli
from headstack.report.exploration import exploration_page

CANDIDATES = """
drives = ["nearline-18tb", "cheetah-9lp"]
schedulers = ["drive:fcfs", "drive:sptf"]
p99_ms = 60
[[arrays]]
drives = 1
[[arrays]]
level = "mirror"
drives = 3
[usd]
"nearline-18tb" = 300
"""


@pytest.fixture(scope="module")
def load(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Random reads, 150 a second: more than one Cheetah 9LP can serve first come, first served."""
    place, chance, now = tmp_path_factory.mktemp("load"), random.Random(3), 0.0
    lines = []
    for _ in range(3000):
        now += chance.expovariate(0.15)
        lines.append(f"{now:.6f} 0 {chance.randrange(2_000_000) * 8} 8 1")
    (place / "load.trace").write_text("\n".join(lines) + "\n")
    (place / "candidates.toml").write_text(CANDIDATES)
    return place


def test_candidates_are_drives_times_arrays_times_schedulers(load: Path) -> None:
    found = run_cli("explore", load / "load.trace", "--candidates", load / "candidates.toml", "--json").json()
    assert len(found["candidates"]) == 8
    by_name = {(each["system"], each["scheduler"]): each for each in found["candidates"]}
    single = by_name["nearline-18tb", "drive:fcfs"]
    # The same as a run of its own.
    run = headstack.simulate(
        "nearline-18tb", load / "load.trace", overrides={"drive.*.controller.scheduler": "fcfs"}
    ).summary
    assert single["response_ms"]["p99"] == run["response_ms"]["p99"]
    assert single["watts"] == run["power"]["average_w"]
    assert (single["usd"], by_name["3 × nearline-18tb, mirror", "drive:fcfs"]["usd"]) == (300, 900)
    # Nobody said what the Cheetah costs, and nobody knows its watts.
    assert by_name["cheetah-9lp", "drive:fcfs"]["usd"] is None
    assert by_name["cheetah-9lp", "drive:fcfs"]["watts"] is None
    # It drowns first come, first served; the shortest positioning time or three copies help.
    assert not by_name["cheetah-9lp", "drive:fcfs"]["holds"]
    assert by_name["3 × cheetah-9lp, mirror", "drive:sptf"]["holds"]
    for each in found["candidates"]:
        assert not each["holds"] or each["response_ms"]["p99"] <= 60


def test_the_answer_has_three_sentences_that_agree_with_the_table(load: Path) -> None:
    found = headstack.explore(load / "load.trace", load / "candidates.toml")
    rows = found.summary["candidates"]
    holding = [each for each in rows if each["holds"]]
    sentences = found.answer().split(". ")
    assert len(sentences) == 3
    assert sentences[0] == f"{len(holding)} of 8 candidates hold the load with a p99 of at most 60 ms"
    cheapest = min(
        (each for each in holding if each["usd"] is not None),
        key=lambda each: (each["usd"], each["response_ms"]["p99"]),
    )
    quickest = min(holding, key=lambda each: each["response_ms"]["p99"])
    # Nobody knows whether a Cheetah is cheaper.
    assert any(each["usd"] is None for each in holding)
    assert f"cheapest of those of known price is {cheapest['system']}, {cheapest['scheduler']}" in sentences[1]
    assert f"quickest is {quickest['system']}, {quickest['scheduler']}" in sentences[2]


def test_candidates_that_cost_the_same_are_a_tie(load: Path) -> None:
    """The tile named one of them, as if the others cost more."""
    found = headstack.explore(load / "load.trace", load / "candidates.toml")
    least = min(each["usd"] for each in found.summary["candidates"] if each["usd"] is not None)
    alike = [each for each in found.summary["candidates"] if each["usd"] == least]
    quickest = min(alike, key=lambda each: each["response_ms"]["p99"])
    name = f"{quickest['system']}, {quickest['scheduler']}"
    tiles = {each.label: each.detail for each in exploration_page(found).numbers}
    assert len(alike) == 2
    assert tiles["lowest price"].startswith(f"a tie of 2; the quickest is {name}; of the 4 of ")
    # Under so light a load three copies are as quick with either scheduler.
    assert tiles["lowest p99"] == "a tie of 2; 3 × nearline-18tb, mirror, drive:fcfs among them"
    assert f"is {name}, the quickest of 2 that cost the same: p99" in found.answer()


def test_nothing_is_called_frugal_whose_watts_nobody_knows(load: Path, tmp_path: Path) -> None:
    old = tmp_path / "old.toml"
    old.write_text('drives = ["cheetah-9lp"]\nschedulers = ["drive:sptf"]\n[[arrays]]\nlevel = "mirror"\ndrives = 3\n')
    found = headstack.explore(load / "load.trace", old)
    assert "It is 3 × cheetah-9lp, mirror, drive:sptf" in found.answer()
    assert "frugal" not in found.answer()
    assert "None of them" not in found.answer()


def test_the_cheapest_is_that_of_all_whose_price_is_known(load: Path, tmp_path: Path) -> None:
    priced = tmp_path / "priced.toml"
    priced.write_text(CANDIDATES + '"cheetah-9lp" = 100\n')
    assert "The cheapest of them is " in headstack.explore(load / "load.trace", priced).answer()


def test_a_load_that_nobody_holds_is_said_so(load: Path) -> None:
    found = headstack.explore(load / "load.trace", load / "candidates.toml", p99_ms=0.5)
    times = sorted(each["response_ms"]["p99"] for each in found.summary["candidates"])
    one = replace(found, p99_ms=(times[0] + times[1]) / 2 if times[0] < times[1] else times[0])
    assert len(one.holding) > 1 or one.answer().startswith("1 of 8 candidates holds the load")
    assert found.holding == []
    assert found.answer().startswith("0 of 8 candidates hold the load with a p99 of at most 0.5 ms. The nearest is ")


def test_one_that_holds_alone_is_not_weighed_against_others(load: Path) -> None:
    (load / "alone.toml").write_text(
        'drives = ["nearline-18tb"]\n[[arrays]]\nlevel = "mirror"\ndrives = 3\n[usd]\n"nearline-18tb" = 300\n'
    )
    answer = headstack.explore(load / "load.trace", load / "alone.toml").answer()
    assert answer.startswith("1 of 1 candidate holds the load. It is 3 × nearline-18tb, mirror: p99 ")
    page = exploration_page(headstack.explore(load / "load.trace", load / "alone.toml", requests=1))
    assert page.subtitle == "1 candidate on load.trace, 1 request"
    assert "None of them" not in answer


def test_why_a_candidate_does_not_hold_the_load_is_said(load: Path) -> None:
    """Terminal and JSON said that it does not, and the page alone why."""
    words = ("explore", load / "load.trace", "--candidates", load / "candidates.toml", "--p99-ms", "30")
    found = run_cli(*words, "--json").json()["candidates"]
    assert {each["why_not"] for each in found} >= {"overloaded", "p99"}
    assert all((each["why_not"] is None) == each["holds"] for each in found)
    shown = run_cli(*words, "--plain").out
    assert shown.count("no: does not keep up") == sum(each["why_not"] == "overloaded" for each in found)
    assert shown.count("no: p99") == sum(each["why_not"] == "p99" for each in found)


def test_the_page_says_of_each_candidate_whether_it_holds_the_load(load: Path, tmp_path: Path) -> None:
    found = headstack.explore(load / "load.trace", load / "candidates.toml", requests=300, p99_ms=30)
    page = exploration_page(found)
    cited = dict(page.cite)
    assert (cited["candidates"], cited["p99 needed"]) == ("candidates.toml", "30 ms")
    assert cited["workload"].startswith("load.trace")
    assert {"replay", "configuration", "drive values"} <= cited.keys()
    captions = {section.title: section.text for section in page.sections if section.chart is not None}
    assert all(captions.values())
    # All eight of them are drawn, not only those on the fronts.
    assert "of every candidate" in captions["How long requests take"]
    assert "of every candidate" in captions["Where the time goes"]
    [table] = [section for section in page.sections if section.title == "All candidates"]
    verdicts = [row[-1] for row in table.rows]
    assert verdicts.count("yes") == len(found.holding)
    assert set(verdicts) == {"yes", "no: p99"}
    assert page.numbers[0].value == f"{len(found.holding)} of {len(found.comparison.points)}"
    assert page.subtitle == "8 candidates on load.trace, 300 requests each"
    # The p99 that is needed lies in the charts, and no caption calls a candidate a point.
    front = page.sections[0]
    assert front.chart is not None
    assert "strokeDash" in json.dumps(front.chart.to_dict())
    assert "the p99 that is needed, 30 ms" in front.text
    words = " ".join(section.title + section.text + " ".join(section.columns) for section in page.sections)
    assert not re.search(r"\bpoints?\b|\busd\b|\biops\b", words)
    # Of two at the same price the tile names the quicker one, as the answer does.
    path = tmp_path / "page.html"
    found.report(path)
    assert found.answer() in html.unescape(path.read_text()).replace("\u00a0", " ")
    tile = next(number for number in page.numbers if number.label == "lowest price")
    known = [each for each in found.summary["candidates"] if each["usd"] is not None]
    quickest = min(known, key=lambda each: (each["usd"], each["response_ms"]["p99"]))
    assert (
        tile.detail
        == f"a tie of 2; the quickest is {quickest['system']}, {quickest['scheduler']}; of the 4 of 8 whose price is known"
    )


def test_runs_can_be_kept_and_compared(load: Path, tmp_path: Path) -> None:
    words = ("explore", load / "load.trace", "--candidates", load / "candidates.toml", "--requests", "300")
    page, out = tmp_path / "page.html", tmp_path / "out"
    assert run_cli(*words, "--out", out, "--report", page).code == 0
    assert "candidates hold the load" in page.read_text()
    assert "p99 against price" in page.read_text()
    assert run_cli("compare", out, "--json").json()["points"] == 8
    assert "--resume" in refused(*words, "--out", out)
    assert run_cli(*words, "--out", out, "--resume", "--json").code == 0


def test_a_candidate_that_cannot_be_is_listed(load: Path, tmp_path: Path) -> None:
    file = tmp_path / "candidates.toml"
    file.write_text(CANDIDATES.replace('"mirror"\ndrives = 3', '"raid-5"\ndrives = 2'))
    outcome = run_cli("explore", load / "load.trace", "--candidates", file, "--requests", "100", "--json")
    assert outcome.code == 1
    found = json.loads(outcome.out)
    assert (len(found["candidates"]), len(found["failures"])) == (4, 4)
    assert "raid-5" in found["failures"][0]["error"]


@pytest.mark.long
def test_a_drive_is_rebuilt_in_the_time_of_its_surface_where_nothing_else_is_to_do(tmp_path: Path) -> None:
    """A request a second leaves a mirror all of its media's rate, and one that is kept busy less; a single drive has no copy."""
    candidates = tmp_path / "candidates.toml"
    candidates.write_text(
        'drives = ["nearline-18tb"]\n[[arrays]]\ndrives = 1\n[[arrays]]\nlevel = "mirror"\ndrives = 2\n'
        '[[arrays]]\nlevel = "mirror"\ndrives = 2\nspares = ["nearline-18tb"]\nrebuild = { rate_mb_per_s = 20 }\n'
    )
    hours: dict[str, list[float | None]] = {}
    for name, gap_ms, count in (("quiet", 1000, 40), ("busy", 12, 3000)):
        trace = tmp_path / f"{name}.trace"
        trace.write_text("".join(f"{i * gap_ms:.6f} 0 {i * 7_919_993 % 30_000_000 * 8} 8 1\n" for i in range(count)))
        found = run_cli("explore", trace, "--candidates", candidates, "--json").json()
        hours[name] = [each["rebuild_hours"] for each in found["candidates"]]
    zones = headstack.Drive("nearline-18tb").zones()
    surface = sum(zone["sectors"] * 512 / 1e6 / zone["sequential_write_mb_per_s"] for zone in zones) / 3600
    for single, mirror, limited in hours.values():
        assert single is None
        assert mirror is not None
        assert limited is not None
        assert limited > mirror
    assert hours["quiet"][1] == pytest.approx(surface, rel=0.03)
    assert (hours["busy"][1] or 0) > 1.5 * surface
    # A limit holds further in as well: there the media have more than 20 MB/s, too.
    size_mb = headstack.Drive("nearline-18tb").capacity_sectors * 512e-6
    assert hours["quiet"][2] == pytest.approx(size_mb / 20 / 3600, rel=0.03)
    page = tmp_path / "page.html"
    text = run_cli("explore", trace, "--candidates", candidates, "--report", page).out
    assert "rebuild" in text.splitlines()[1]
    assert "rebuilt in " in text
    assert "rebuild (h)" in page.read_text()


@pytest.mark.long
def test_a_trace_that_no_candidate_can_serve_is_why_there_is_no_answer(load: Path, tmp_path: Path) -> None:
    """Rows out of the order of their arrival, such as the completions of a run: all candidates fail alike."""
    trace = tmp_path / "unordered.trace"
    trace.write_text("5.0 0 8 8 1\n1.0 0 16 8 1\n")
    for kept in ([], ["--out", tmp_path / "out"]):
        told = refused("explore", trace, "--candidates", load / "candidates.toml", *kept)
        assert "none of the 8 candidates could be run" in told
        assert "unordered.trace" in told
        assert "--resume" not in told
    assert "8 failed, the first with: " in refused("compare", tmp_path / "out")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("drives = [", "drive = ["), "did you mean `drives`"),
        (('["nearline-18tb", "cheetah-9lp"]', "[]"), "must be a list of names"),
        (("drives = 3", "drives = 0"), "not a whole number"),
        (("p99_ms = 60", "p99_ms = -1"), "p99_ms: -1"),
        (("p99_ms = 60", "p99_ms = inf"), "p99_ms: inf is not a time that can be kept"),
        (('"nearline-18tb" = 300', '"nearline-18tb" = "dear"'), "must be a number"),
        (('["nearline-18tb", "cheetah-9lp"]', '["nearline-19tb"]'), "nearline-18tb"),
        (("drives = 3", "drives = 3\nstripes = 64"), "stripes"),
        (("p99_ms = 60", "p99_ms = true"), "p99_ms: true"),
        (('[usd]\n"nearline-18tb" = 300\n', "[[usd]]\n"), "usd: must be a table"),
        (('"nearline-18tb" = 300', '"nearline-16tb" = 300'), "did you mean `nearline-18tb`"),
        (('["nearline-18tb", "cheetah-9lp"]', '["cheetah-9lp", "cheetah-9lp"]'), "there twice"),
        (('["drive:fcfs", "drive:sptf"]', "[]"), "schedulers: must be a list"),
        (('["drive:fcfs", "drive:sptf"]', '["host:"]'), 'schedulers: "host:" names no scheduler'),
        (('["nearline-18tb", "cheetah-9lp"]', '["cheetah-9lp", "cheetah-9lp"]'), "`cheetah-9lp` is there twice"),
        (('"nearline-18tb" = 300', '"nearline-18tb" = -1'), "candidates.toml: usd.nearline-18tb: -1 is not a price"),
        (
            ('"nearline-18tb" = 300', '"nearline-18tb" = 1e999'),
            "candidates.toml: usd.nearline-18tb: must be a number, not 1e999",
        ),
        (("p99_ms = 60", "p99_ms = 60\nsummary = 1e999"), "candidates.toml: summary: must be a text, not 1e999"),
        (("p99_ms = 60", "p99_ms = 60\nsummary = []"), "candidates.toml: summary: must be a text, not []"),
    ],
)
def test_what_is_wrong_with_candidates_is_said(load: Path, tmp_path: Path, change: tuple[str, str], said: str) -> None:
    file = tmp_path / "candidates.toml"
    file.write_text(CANDIDATES.replace(*change, 1))
    outcome = run_cli("explore", load / "load.trace", "--candidates", file)
    assert said in outcome.err
    assert outcome.code in {1, 2}
    assert "Traceback" not in outcome.err


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ('spares = "60"', 'spares: must be a list, not "60" hint: spares = ["60"]'),
        ("spares = 1", 'spares: must be a list, not 1 hint: spares = ["…"]'),
        ("failed_drives = 0", "failed_drives: must be a list, not 0 hint: failed_drives = [0]"),
        ("failed_drives = 1e999", "failed_drives: must be a list, not 1e999 hint: failed_drives = [0]"),
        ("failed_drives = [[2]]", "failed_drives.0: must be a whole number, not [2]"),
        ("failed_drives = [-1]", "failed_drives.0: -1 is not a whole number from 0 to"),
        ('rebuild = { rate_mb_per_s = "60" }', 'rebuild.rate_mb_per_s: must be a number, not "60" hint: without quotes: rate_mb_per_s = 60'),
        ("rebuild = { order = 'x' }", 'rebuild.order: "x" is none of the words that go there hint: known: ascending, descending'),
        ("rebuild = { windw = 3 }", "rebuild: unknown key `windw` hint: did you mean `window`?"),
        ("failures = [{ drive = 1 }]", "failures.0: `at_s` is missing"),
        ("unequal_drives = 1", "unequal_drives: must be true or false, not 1"),
        ("copies = 5000000000", "copies: 5,000,000,000 is not a whole number from 0 to 4,294,967,295"),
    ],
)  # fmt: skip
def test_a_value_of_another_kind_in_an_array_is_named(load: Path, tmp_path: Path, given: str, said: str) -> None:
    """The error quoted a line of a text that nobody had written."""
    file = tmp_path / "candidates.toml"
    file.write_text(f'drives = ["cheetah-9lp"]\n[[arrays]]\ndrives = 3\nlevel = "raid-5"\n{given}\n')
    told = refused("explore", load / "load.trace", "--candidates", file)
    assert f"{file}: arrays.0.{said}" in " ".join(told.split())
    assert "TOML parse error" not in told


@pytest.mark.parametrize(
    ("given", "hint"),
    [
        ('"60"', "without quotes: p99_ms = 60"),
        ("1e999", "p99_ms = 60"),
        ("true", "p99_ms = 60"),
        ("-inf", "p99_ms = 60"),
        ("[60]", "p99_ms = 60"),
        ("0", "p99_ms = 60"),
    ],
)
def test_a_p99_in_the_file_is_named_as_it_was_typed(load: Path, tmp_path: Path, given: str, hint: str) -> None:
    """A text in quotes was told without them, 1e999 as inf, true as True."""
    file = tmp_path / "candidates.toml"
    file.write_text(CANDIDATES.replace("p99_ms = 60", f"p99_ms = {given}"))
    said = " ".join(refused("explore", load / "load.trace", "--candidates", file).split())
    assert f"p99_ms: {given} is not a time that can be kept: it must be a number of ms above 0" in said
    assert hint in said


@pytest.mark.parametrize("given", ["inf", "1e999", "nan", "0"])
def test_a_p99_that_is_no_time_is_refused(load: Path, given: str) -> None:
    """An infinite one ended as an internal error with --json, and as "of at most inf ms" without."""
    words = ("explore", load / "load.trace", "--candidates", load / "candidates.toml", "--p99-ms", given)
    for form in ((), ("--json",)):
        assert "is not a time that can be kept" in refused(*words, *form)


def test_lists_of_an_array_are_in_words(load: Path, tmp_path: Path) -> None:
    """A candidate was called `failures [{'drive': 0, 'at_s': 5.0}]`."""
    failures = "failures = [{ drive = 0, at_s = 5.0 }, { drive = 1, at_s = 7.5 }]"
    file = tmp_path / "candidates.toml"
    file.write_text(f'drives = ["cheetah-9lp"]\n[[arrays]]\nlevel = "mirror"\ndrives = 3\n{failures}\n')
    found = headstack.explore(load / "load.trace", file, requests=100).summary
    (candidate,) = found["candidates"]
    assert candidate["system"] == "3 × cheetah-9lp, mirror, failures (drive 0 at 5 s; drive 1 at 7.5 s)"


def test_the_example_explores(load: Path) -> None:
    file = ROOT / "examples" / "candidates.toml"
    found = headstack.explore(load / "load.trace", file, requests=200).summary
    assert (len(found["candidates"]), found["failures"]) == (12, [])


def test_a_device_of_the_trace_is_explored(load: Path) -> None:
    both = load / "both.trace"
    lines = (load / "load.trace").read_text().splitlines()
    both.write_text("".join(f"{line}\n{line.replace(' 0 ', ' 1 ', 1)}\n" for line in lines))
    words = ("--candidates", load / "candidates.toml", "--json", "--requests", "500")
    alone = run_cli("explore", load / "load.trace", *words).json()
    chosen = run_cli("explore", both, "--device", "1", *words).json()
    assert [each["response_ms"] for each in chosen["candidates"]] == [
        each["response_ms"] for each in alone["candidates"]
    ]


def test_a_misspelt_drive_is_refused_before_anything_runs(load: Path, tmp_path: Path) -> None:
    candidates = tmp_path / "candidates.toml"
    candidates.write_text('drives = ["hp-97560", "hp-97650"]\n')
    assert "did you mean hp-97560" in refused("explore", load / "load.trace", "--candidates", candidates)


def test_a_misspelt_scheduler_is_refused_before_anything_runs(load: Path, tmp_path: Path) -> None:
    """The others ran, and the answer counted those alone."""
    candidates = tmp_path / "candidates.toml"
    for word in ("host:clook", "drive:stpf", "clook"):
        candidates.write_text(f'drives = ["hp-97560"]\nschedulers = ["fcfs", "{word}"]\n')
        said = refused("explore", load / "load.trace", "--candidates", candidates)
        assert "schedulers: " in said
        assert "did you mean" in said
    candidates.write_text('drives = ["hp-97560"]\nschedulers = ["host:vscan(7)"]\n')
    assert "`7` in `vscan(…)` is not a number" in refused("explore", load / "load.trace", "--candidates", candidates)


@pytest.mark.long
def test_a_candidate_that_loses_data_holds_nothing(load: Path, tmp_path: Path) -> None:
    """It stopped serving early, and was the cheapest that held the load."""
    candidates = tmp_path / "candidates.toml"
    text = 'drives = ["nearline-18tb"]\n[[arrays]]\nlevel = "raid-5"\ndrives = 3\n'
    candidates.write_text(text + "failures = [{ drive = 1, at_s = 1 }, { drive = 2, at_s = 2 }]\n")
    found = run_cli("explore", load / "load.trace", "--candidates", candidates, "--json").json()
    assert [(each["holds"], each["why_not"]) for each in found["candidates"]] == [(False, "lost data")]
    assert found["answer"].endswith("; but its array loses data.")


def test_what_the_nearest_candidate_lacks_is_said(load: Path, tmp_path: Path) -> None:
    candidates = tmp_path / "candidates.toml"
    candidates.write_text('drives = ["cheetah-9lp"]\np99_ms = 5000\n')
    burst = tmp_path / "burst.trace"
    burst.write_text("".join(f"5.0 0 {i * 7_919_993 % 1_000_000 * 8} 8 1\n" for i in range(200)))
    answer = run_cli("explore", burst, "--candidates", candidates, "--json").json()["answer"]
    assert "it does not keep up, with many requests still waiting when the last one arrives" in answer
    options = ("--candidates", candidates, "--from", "1h", "--json")
    answer = run_cli("explore", load / "load.trace", *options).json()["answer"]
    assert answer.endswith("No request was served: choose a part of the trace that has some.")


def test_hours_to_rebuild_are_near_those_of_a_whole_rebuild(tmp_path: Path) -> None:
    """Each command of a Cheetah's rebuild waits for a revolution, at 4.8 MB/s everywhere; and requests all over the drives are farther
    from its outermost tracks, which alone were looked at, than from others: 10 % too long at 20 IOPS."""
    candidates = tmp_path / "candidates.toml"
    candidates.write_text('drives = ["cheetah-9lp"]\n[[arrays]]\nlevel = "mirror"\ndrives = 2\n')
    failed = (
        '[volume.data]\nlevel = "mirror"\nfailed_drives = [0]\nspares = ["cheetah-9lp"]\n'
        'drives = ["cheetah-9lp", "cheetah-9lp"]\n'
    )
    for gap_ms, within in ((1000, 0.02), (50, 0.05)):
        chance, now, lines = random.Random(5), 0.0, []
        for _ in range(int(2_500_000 / gap_ms)):
            now += chance.expovariate(1 / gap_ms)
            lines.append(f"{now:.6f} 0 {chance.randrange(1_100_000) * 16} 16 {int(chance.random() < 0.67)}\n")
        trace = tmp_path / f"{gap_ms}.trace"
        trace.write_text("".join(lines))
        load = headstack.Trace(trace, format="disksim-ascii")
        (found,) = headstack.explore(load, candidates, threads=1).summary["candidates"]
        (whole,) = headstack.simulate(headstack.System(toml=failed), load, keep=False).summary["rebuilds"]
        assert whole["progress"] == 1.0
        assert found["rebuild_hours"] == pytest.approx(whole["hours"], rel=within)
        assert (found["rebuild_hours_idle"] or 0) < 1.02 * (whole["hours"] or 0)


@pytest.mark.parametrize(
    ("drive", "rebuild"),
    [
        ("ibm-9zx", 'order = "descending"'),
        # Commands go backwards over tracks, and writes lose revolutions: half too short.
        ("maxtor-maxline-plus-ii", 'order = "descending"'),
        # As much slower further in as the media are, each write having the drive for twice as long: 30 % too short.
        ("maxtor-maxline-plus-ii", "write_efficiency = 0.5"),
        # Each command loses a revolution, and waits for its sectors, which are fewer a track further in: 11 % too short.
        ("scsi-10k-37gb", "window = 4"),
        # One step of 1 MiB in 35 s, which counted as one in ten: 43 % too short.
        ("conner-cp3100", "rate_mb_per_s = 0.03"),
    ],
)
def test_a_rebuild_is_looked_at_all_over_the_drive(drive: str, rebuild: str, tmp_path: Path) -> None:
    candidates, trace = tmp_path / "candidates.toml", tmp_path / "low.trace"
    array = f'level = "mirror"\nspares = ["{drive}"]\nrebuild = {{ {rebuild} }}\n'
    candidates.write_text(f'drives = ["{drive}"]\n[[arrays]]\ndrives = 2\n{array}')
    trace.write_text("".join(f"{30_000 * i}.0 0 {i * 16} 16 1\n" for i in range(40)))
    load = headstack.Trace(trace, format="disksim-ascii")
    (found,) = headstack.explore(load, candidates, threads=1).summary["candidates"]
    system = headstack.System(toml=f'[volume.data]\ndrives = ["{drive}", "{drive}"]\nfailed_drives = [0]\n{array}')
    (whole,) = headstack.simulate(system, load, keep=False).summary["rebuilds"]
    assert whole["progress"] == 1.0
    assert found["rebuild_hours_idle"] == pytest.approx(whole["hours"], rel=0.02)
    # One request in half a minute is next to nothing; in 200 s of it six slow steps tell nothing.
    if "0.03" in rebuild:
        assert found["rebuild_hours"] is None
    else:
        assert found["rebuild_hours"] == pytest.approx(whole["hours"], rel=0.02)


@pytest.mark.parametrize(
    ("drives", "layout"),
    [
        (8, "group_width = 4, parities = 2, distributed_spares = 2"),
        # What a block has room for is more than a slice has, and rows that do not make up a whole pass stay empty: 50 and 84 % too long.
        (7, 'group_width = 3, parities = 1, distributed_spares = 2, design = "block-design"'),
        (8, "group_width = 4, parities = 1, distributed_spares = 1, row_kib = 65536"),
    ],
)
def test_spare_room_on_all_drives_is_not_rebuilt(drives: int, layout: str, tmp_path: Path) -> None:
    """It held nothing: hours were those of a whole drive, 19 to 70 % too long."""
    candidates, trace = tmp_path / "candidates.toml", tmp_path / "low.trace"
    spread = f"declustered = {{ {layout} }}\n"
    candidates.write_text(f'drives = ["hp-97560"]\n[[arrays]]\nlevel = "declustered"\ndrives = {drives}\n{spread}')
    trace.write_text("".join(f"{second}.0 0 {second * 16} 16 1\n" for second in range(40)))
    load = headstack.Trace(trace, format="disksim-ascii")
    (found,) = headstack.explore(load, candidates, threads=1).summary["candidates"]
    names = ", ".join(['"hp-97560"'] * drives)
    system = headstack.System(
        toml=f'[volume.data]\nlevel = "declustered"\ndrives = [{names}]\nfailed_drives = [0]\n{spread}'
    )
    (whole,) = headstack.simulate(system, load, until_s=20_000.0, keep=False).summary["rebuilds"]
    assert whole["progress"] == 1.0
    assert found["rebuild_hours_idle"] == pytest.approx(whole["hours"], rel=0.02)
    # A load of 39 ms tells nothing of a rebuild under it.
    assert found["rebuild_hours"] is None
