"""What verbs print with `--json` follows the published schemas, and these are made of the types in `headstack.results`."""

from __future__ import annotations

import json
import shlex
import sys
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest

from conftest import ROOT, headstack
from headstack.cli import verbs
from headstack.results.outputs import OUTPUTS, schema_name
from supplies import supply

if TYPE_CHECKING:
    from pathlib import Path

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
simulate hp-c2200a --trace host.srt --replay measured
validate hp-c2200a --trace host.srt --ladder
validate hp-c2247a --trace host.trace --phase-lock
measure mock:
measure sim:maxtor-maxline-plus-ii stream --file-mb 30 --repeats 3
measure --probes
calibrate hp-c2247a --trace host.trace --parameters controller --rounds 1
calibrate maxtor-maxline-plus-ii --table measured.csv --parameters cache.read_delay --law exponential
explain hp-c2200a --lba 100000 --then 100008
explain hp-97560 --from run.parquet --id 100
compare before.parquet after.parquet
compare my-drive.toml my-drive.toml
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
study johnson
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


def test_every_verb_with_json_has_a_schema() -> None:
    groups = {"drives", "trace", "completion"}
    assert set(OUTPUTS) == set(verbs.EXAMPLES) - groups
    assert {path.stem for path in SCHEMAS.glob("*.json")} == {verb.replace(" ", "-") for verb in OUTPUTS}
    assert {verb_of(command) for command in COMMANDS} == set(OUTPUTS) - ELSEWHERE
    for verb in OUTPUTS:
        jsonschema.Draft202012Validator.check_schema(schema(verb))
        assert schema(verb)["$id"] == schema_name(verb)


@pytest.mark.parametrize("command", COMMANDS)
def test_output_follows_its_schema(command: str, folder: Path) -> None:
    supply(command, folder)
    if command == "compare results" and not (folder / "results").exists():
        headstack("sweep", "two-points.toml", "--out", "results", cwd=folder)
    done = headstack(*shlex.split(command), "--json", cwd=folder)
    assert done.code in (0, 1), done.err
    document = json.loads(done.out)
    assert next(iter(document)) == "schema"
    jsonschema.Draft202012Validator(schema(verb_of(command))).validate(document)


def test_a_wrong_output_is_refused() -> None:
    check = jsonschema.Draft202012Validator(schema("schedulers"))
    right = json.loads(headstack("schedulers", "--json").out)
    assert check.is_valid(right)
    assert not check.is_valid({**right, "schema": "headstack/schedulers/0"})
    assert not check.is_valid({**right, "schedulers": [{"name": "fcfs"}]})


def test_the_published_schemas_are_those_of_the_types(tmp_path: Path) -> None:
    pytest.importorskip("pydantic", reason="needs the development packages: pip install --group dev")
    import subprocess

    subprocess.run([sys.executable, ROOT / "docs" / "schemas.py", tmp_path], check=True)
    for made in sorted(tmp_path.glob("*.json")):
        assert made.read_text() == (SCHEMAS / made.name).read_text(), f"{made.name}: make schemas"
