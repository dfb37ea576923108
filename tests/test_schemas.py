"""What verbs print with `--json` follows the published schemas, and these are made of the types in `headstack.results`."""

from __future__ import annotations

import json
import re
import shlex
import sys
from inspect import signature
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest

import headstack as headstack_package
from conftest import ROOT, headstack
from headstack.cli import command_line, verbs
from headstack.results import common, drives, measurements, runs, validations
from headstack.results.names import Result
from headstack.results.outputs import OUTPUTS, schema_name
from supplies import supply

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from cyclopts import App

SCHEMAS = ROOT / "docs" / "reference" / "schemas"
# Results that no command here comes to: it needs a device, root, or minutes.
ELSEWHERE = {"trace capture"}
COMMANDS = """
drives list
drives show nearline-22tb
drives show dec-ra81
drives show hc-sd --set arms.count=2
drives check my-drive.toml
drives check my-drive.toml --deep
drives sheet nearline-22tb
drives import cheetah9LP.diskspecs -o cheetah.toml
drives import synthopen.parv drives/ -o open.toml
trace info host.srt
trace info traces/run
trace convert host.srt c.parquet
trace formats
trace match ticks.txt
trace match traces/run
trace ticks ticks.hist
trace analyze host.parquet --ticks 60
trace analyze traces/run
trace iostat busy.txt --with-first
trace make more.parquet --like host.parquet --requests 500
trace join both.parquet monday.csv tuesday.csv --clocks follow
fleet hp-97560 --trace fleet.parquet
trace make again.parquet --like host.parquet --save-model model.json
simulate nearline-18tb --workload thesis-4ms --requests 200
simulate nearline-18tb --workload thesis-4ms --requests 200 --warmup 100
simulate raid5-4x-cheetah-9lp --workload thesis-4ms --requests 200
simulate uda50-ra81 --workload time-shared --requests 200
simulate hplajw --trace host.parquet --requests 200
simulate md-tpcc --workload unix-like --requests 200
simulate hp-97560 --workload examples/randread.fio --requests 200
simulate hp-c2200a --trace host.srt --replay measured
validate hp-c2200a --trace host.srt --ladder
validate hp-c2247a --trace host.trace --phase-lock
measure mock:
measure sim:maxtor-maxline-plus-ii stream --file-mb 30 --repeats 3
measure sim:hp-97560 scan --scan-percent 1
measure --from streams.parquet
measure --probes
calibrate hp-c2247a --trace host.trace --parameters controller --rounds 1
calibrate hp-c2247a --trace host.trace --parameters controller --rounds 1 --split 2-fold --retries
validate hp-97560 --trace reads.parquet
calibrate hp-97560 --trace reads.parquet --rounds 1 --parameters controller,mechanics.write_settle_ms,mechanics.seek_extra_by_distance_ms
calibrate maxtor-maxline-plus-ii --table measured.csv --parameters cache.read_delay --law exponential
explain hp-c2200a --lba 100000 --then 100008
explain hp-97560 --from run.parquet --id 100
compare before.parquet after.parquet
compare my-drive.toml my-drive.toml
compare before.json after.json
sweep two-points.toml --out results
compare results
explore host.trace --candidates small.toml --fit-lba wrap
cost --design four-platter --actuators 1,2,4
cost --systems 3x1,1x3
power nearline-18tb --actuators 1,2
power hp-97560
coefficients hp-97560
schedulers
study list
study ruemmler-wilkes
""".strip().splitlines()
GRID = """summary = "Two speeds"
metrics = ["response_ms.p99", "iops"]
base = { system = "nearline-18tb", workload = "thesis-4ms", requests = 100 }
axis = [{ path = "rotation_rpm", values = [5400, 7200] }]
repeats = { count = 2 }
"""
CANDIDATES = """drives = ["nearline-18tb"]
p99_ms = 60
arrays = [{ drives = 1 }]
usd = { "nearline-18tb" = 300 }
"""


def verb_of(command: str) -> str:
    pair = " ".join(command.split()[:2])
    return pair if pair in OUTPUTS else command.split(maxsplit=1)[0]


def schema(verb: str) -> dict[str, Any]:
    return json.loads((SCHEMAS / f"{verb.replace(' ', '-')}.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("outputs")
    (path / "two-points.toml").write_text(GRID)
    (path / "small.toml").write_text(CANDIDATES)
    return path


def verbs_with_json(app: App, path: str = "") -> Iterator[str]:
    """Every verb of the command line that takes `--json`, as its parser has them."""
    for name in app:
        if not name.startswith("-"):
            verb, found = f"{path} {name}".strip(), app[name]
            if found.default_command is not None and "json" in signature(found.default_command).parameters:
                yield verb
            yield from verbs_with_json(found, verb)


def test_every_verb_with_json_has_a_schema() -> None:
    assert set(OUTPUTS) == set(verbs_with_json(command_line()))
    assert set(OUTPUTS) == set(verbs.EXAMPLES) - {"drives", "trace", "completion"}
    assert {path.stem for path in SCHEMAS.glob("*.json")} == {verb.replace(" ", "-") for verb in OUTPUTS}
    assert {verb_of(command) for command in COMMANDS} == set(OUTPUTS) - ELSEWHERE
    for verb in OUTPUTS:
        jsonschema.Draft202012Validator.check_schema(schema(verb))
        assert schema(verb)["$id"] == schema_name(verb)


# Results whose other keys have names of their own: what was measured, axes.
OPEN = {"MeasureOutput", "Candidate"}


def closed(node: Any, name: str = "") -> Any:
    """A schema that refuses keys it does not name."""
    if isinstance(node, list):
        return [closed(each) for each in node]
    if not isinstance(node, dict):
        return node
    copy = {
        key: {inner: closed(each, inner if key == "$defs" else "") for inner, each in value.items()}
        if key in {"properties", "$defs"}
        else closed(value)
        for key, value in node.items()
    }
    if "properties" in node and name not in OPEN:
        copy.setdefault("additionalProperties", False)
    return copy


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.long
def test_output_follows_its_schema(command: str, folder: Path) -> None:
    supply(command, folder)
    if command == "compare before.json after.json":
        for name in ("before", "after"):
            supply(f"{name}.parquet", folder)
            scores = headstack("validate", "hp-97560", "--trace", f"{name}.parquet", "--json", cwd=folder)
            (folder / f"{name}.json").write_text(scores.out)
    if command == "compare results" and not (folder / "results").exists():
        headstack("sweep", "two-points.toml", "--out", "results", cwd=folder)
    done = headstack(*shlex.split(command), "--json", cwd=folder)
    assert done.code in (0, 1), done.err
    document = json.loads(done.out)
    assert next(iter(document)) == "schema"
    jsonschema.Draft202012Validator(closed(schema(verb_of(command)))).validate(document)


def test_a_wrong_output_is_refused() -> None:
    check = jsonschema.Draft202012Validator(schema("schedulers"))
    right = json.loads(headstack("schedulers", "--json").out)
    assert check.is_valid(right)
    assert not check.is_valid({**right, "schema": "headstack/schedulers/0"})
    assert not check.is_valid({**right, "schedulers": [{"name": "fcfs"}]})


STATISTICS = r"mean|std|min|p\d+|median|max"
# Means that a score is made of, beside its percentages.
SCORES = {"measured_mean_ms", "model_mean_ms"}
# Tables of other things than times: requests outstanding, a metric whose name has its unit, what `iostat` prints.
NO_TIMES = {"depth", "over_time", "metrics", "devices", "by_start", "bins"}


def tables(document: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every table of a schema, and the key it stands below."""

    def below(key: str, node: Any) -> Iterator[tuple[str, dict[str, Any]]]:
        if isinstance(node, list):
            for each in node:
                yield from below(key, each)
        elif isinstance(node, dict):
            if "$ref" in node:
                yield from below(key, document["$defs"][node["$ref"].rpartition("/")[2]])
            if properties := node.get("properties"):
                yield key, properties
                for name, each in properties.items():
                    yield from below(name, each)
            for part in ("items", "anyOf", "additionalProperties"):
                yield from below(key, node.get(part))

    yield from below("", document)


def misspelt(document: dict[str, Any]) -> set[str]:
    """Keys of times that are not spelt `WHAT_ms` with bare statistics below: `response_ms.p99`.

    A table of several units (`mae_ms` beside `mae_percent`) says the unit in each key.
    """
    found: set[str] = set()
    for key, properties in tables(document):
        mixed = any(re.search(r"_(percent|ticks)$", name) for name in properties)
        for name in properties:
            with_unit = re.fullmatch(rf"(.*_)?({STATISTICS})_ms", name) and not mixed and name not in SCORES
            bare = re.fullmatch(STATISTICS, name) and "type" in str(properties[name]) and key not in NO_TIMES
            if with_unit or (bare and not key.endswith(("_ms", "_percent")) and key != "boxplot"):
                found.add(f"{key}.{name}")
    return found


def test_times_are_spelt_one_way() -> None:
    for verb in OUTPUTS:
        assert not misspelt(schema(verb)), verb
    both = {"properties": {"response": {"properties": {"mean_ms": {"type": "number"}}},
                           "service_ms": {"properties": {"mean": {"type": "number"}}},
                           "wait": {"properties": {"p99": {"type": "number"}}}}}  # fmt: skip
    assert misspelt(both) == {"response.mean_ms", "wait.p99"}


def test_results_in_python_have_the_same_spelling(folder: Path) -> None:
    """No row of a run or an analysis says both `response` and `response_ms`."""
    supply("trace info host.srt", folder)
    run = headstack_package.simulate("hp-97560", headstack_package.Workload("thesis-4ms"), requests=100)
    trace = headstack_package.Trace(folder / "host.srt")
    for times in (run.summary["response_ms"], trace.info()["response_ms"]):
        assert times is not None
        assert {"mean", "std", "p50", "p99", "max"} <= set(times)
        assert not any(key.endswith("_ms") for key in times)


@pytest.mark.parametrize(
    ("table", "old", "new"),
    [
        ({"response_ms": {"mean": 1.0}}, "response", {"mean": 1.0}),
        ({"mean": 2.0}, "mean_ms", 2.0),
        ({"response_ms": {"mean": 3.0}}, "response_mean_ms", 3.0),
        ({"response_ms": {"p99": 4.0}}, "p99_ms", 4.0),
        ({"seen_ms": {"p50": 5.0}}, "median_seen_ms", 5.0),
        ({"read_ms": {"max": 6.0}}, "longest_ms", 6.0),
        ({"read_response_ms": {"max": 7.0}}, "read_max_ms", 7.0),
        ({"median": 8.0}, "median_ms", 8.0),
        ({"wait_ms": {"mean": 9.0, "max": 10.0}}, "wait_max_ms", 10.0),
        ({"response_ms": None}, "mean_ms", None),
    ],
)
def test_old_names_of_times_answer_with_a_warning(table: dict[str, Any], old: str, new: Any) -> None:
    with pytest.warns(FutureWarning, match=f"`{old}` is now `"):
        assert Result(table)[old] == new
    with pytest.warns(FutureWarning):
        assert Result(table).get(old) == new


def test_what_never_was_a_name_is_none() -> None:
    result = Result({"response_ms": {"mean": 1.0}, "rotation_ms": 8.3})
    for key in ("rotation", "response_s", "requests", "mean_percent", "seek_mean_ms"):
        with pytest.raises(KeyError, match=key):
            result[key]
        assert result.get(key, 5) == 5
    assert "response" not in result
    assert list(result) == ["response_ms", "rotation_ms"]


def test_what_the_core_tells_knows_its_old_names() -> None:
    run = headstack_package.simulate("hp-97560", headstack_package.Workload("thesis-4ms"), requests=100)
    summary: dict[str, Any] = dict(run.summary)
    with pytest.warns(FutureWarning, match=r"`response_mean_ms` is now `response_ms\.mean`"):
        assert summary["reads"]["response_mean_ms"] == summary["reads"]["response_ms"]["mean"]
    assert json.loads(json.dumps(run.summary)) == run.summary


def typed(kind: Any, found: object) -> None:
    """Hold a result against its type, and the keys that the type does not name."""
    pydantic = pytest.importorskip("pydantic", reason="needs the development packages: pip install --group dev")
    check = jsonschema.Draft202012Validator(closed(pydantic.TypeAdapter(kind).json_schema()))
    check.validate(json.loads(json.dumps(found)))


def test_what_python_hands_out_has_the_keys_of_its_types(folder: Path) -> None:
    """The types that no verb prints; those that one does are held against the schemas."""
    drive = headstack_package.Drive("hp-c2200a")
    typed(list[drives.ZoneFigures], drive.zones())
    typed(drives.SeekTimes, drive.seek_averages())
    typed(drives.Provenance, drive.provenance())
    typed(drives.DriveDescription, drive.describe())
    typed(validations.DemeritScore, headstack_package.demerit([1.0, 2.0], [1.5, 2.0]))
    typed(common.PerRequest, headstack_package.per_request_error([1.0, 2.0], [1.5, 2.0]))
    supply("trace info host.srt", folder)
    run = headstack_package.simulate(drive, headstack_package.Trace(folder / "host.srt"))
    typed(runs.Plots, run.plots)
    typed(runs.RunSummary, run.summary)
    typed(validations.Intervals, headstack_package.validate(drive, folder / "host.srt").intervals(samples=20))
    typed(list[measurements.PlannedProbe], headstack_package.measure.plan("mock:"))
    found = headstack_package.measure.skippy("mock:")
    typed(measurements.RecordHead, found.head)
    typed(list[measurements.Sawtooth], found.found["skippy"])


def test_a_published_type_is_not_any_table() -> None:
    """Whoever reads a result is told its keys: nothing public returns `dict[str, Any]` but what users name themselves."""
    named_by_users = {"PointResult.values"}
    loose = {
        f"{home.__name__}.{name}"
        for home in (getattr(headstack_package, name) for name in headstack_package.__all__)
        if isinstance(home, type) and home.__module__.startswith("headstack.")
        for name, member in vars(home).items()
        if not name.startswith("_") and (what := getattr(member, "fget", None) or getattr(member, "func", member))
        if "dict[str, Any]" in str(getattr(what, "__annotations__", {}).get("return", ""))
    }
    assert not loose - named_by_users


def test_the_published_schemas_are_those_of_the_types(tmp_path: Path) -> None:
    pytest.importorskip("pydantic", reason="needs the development packages: pip install --group dev")
    import subprocess

    subprocess.run([sys.executable, ROOT / "docs" / "schemas.py", tmp_path], check=True)
    for made in sorted(tmp_path.glob("*.json")):
        assert made.read_text() == (SCHEMAS / made.name).read_text(), f"{made.name}: make schemas"
