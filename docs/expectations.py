"""The page of expectations: the table that the tests of the model and of the probes read, for people."""

from __future__ import annotations

import ast
import operator
import tomllib
from itertools import groupby
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
TABLE = ROOT / "crates" / "drive" / "tests" / "expectations.toml"
PLANTED = ROOT / "tests" / "planted" / "bugs.toml"

OPERATORS: dict[type[ast.operator], Any] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}

INTRODUCTION = """# What a drive must do

Every rule of the model, as scenarios that can be worked out with pencil and paper. The tests of the model hold each of them
to 20 ns, in closed form and as events; the tests of the probes hold the simulated device to them; and this page is written
from the same table, `crates/drive/tests/expectations.toml`. `make planted` leaves the rules out one by one, and shows that
a scenario notices.

The drive is a plain one: 4 heads, 100 cylinders, 100 sectors on a track. Sector 0 lags by 10 sectors from track to track and
by 20 from cylinder to cylinder. A row says what it changes, which commands are sent (`+0`: when the one before is complete),
and what follows for the last of them, in ms.

The formulas are written in these times:

| | ms | |
| --- | --- | --- |
"""

MEANINGS = {
    "rev": "a revolution, at 6,000 rpm",
    "sector": "a sector passes under the head",
    "switch": "a change of head",
    "cylinder": "a seek over one cylinder; 0.1 more for each further one",
    "bus": "a sector on the bus, at 512 MB/s",
}


def load() -> dict[str, Any]:
    """Read the table."""
    return tomllib.loads(TABLE.read_text(encoding="utf-8"))


def value(formula: str, times: dict[str, float]) -> float:
    """Work out a formula: numbers, the named times, + − * / and parentheses."""

    def of(node: ast.expr) -> float:
        match node:
            case ast.Constant(value=int() | float() as number):
                return float(number)
            case ast.Name(id=name):
                return times[name]
            case ast.UnaryOp(op=ast.USub(), operand=inner):
                return -of(inner)
            case ast.BinOp(left=left, op=op, right=right):
                return OPERATORS[type(op)](of(left), of(right))
        message = f"`{formula}` is not arithmetic"
        raise ValueError(message)

    return of(ast.parse(formula, mode="eval").body)


def setting(path: str, given: Any) -> list[str]:
    """Write the values a row sets, each with its dotted path."""
    if isinstance(given, dict) and given:
        return [line for key, inner in given.items() for line in setting(f"{path}.{key}" if path else key, inner)]
    word = str(given).lower() if isinstance(given, bool) else given
    return [f"{path} = {word}"]


def code(lines: list[str]) -> str:
    """Write lines of code in a cell of a table."""
    return "<br>".join(f"`{line}`" for line in lines)


def row(scenario: dict[str, Any]) -> str:
    """Write one scenario as a line of a table."""
    told = [f"{what} `{formula}` = {ms:g}" for what, formula, ms in scenario["expect"]]
    told += [f"cache: {scenario['cache']}"] if "cache" in scenario else []
    told += ["order: " + ", ".join(map(str, scenario["order"]))] if "order" in scenario else []
    told += [f"bus transfers: {scenario['bus_transfers']}"] if "bus_transfers" in scenario else []
    name = scenario["name"].replace("_", " ")
    sets = code(setting("", scenario["drive"])) if "drive" in scenario else ""
    return f"| {name} | {sets} | {code(scenario['commands'])} | {'<br>'.join(told)} |"


def page(table: dict[str, Any]) -> str:
    """Write the page."""
    lines = [f"| `{name}` | {ms:g} | {MEANINGS[name]} |" for name, ms in table["times"].items()]
    for rule, scenarios in groupby(table["row"], key=lambda scenario: scenario["rule"]):
        lines += ["", f"## {rule[0].upper()}{rule[1:]}", "", "| what holds | the drive | commands | expected, in ms |"]
        lines += ["| --- | --- | --- | --- |", *map(row, scenarios)]
    found = [f"| `{name}` | `{formula}` | {number:g} |" for name, (formula, number, _) in table["probes"].items()]
    lines += ["", "## What probes find", "", "| parameter | formula | value |", "| --- | --- | --- |", *found, ""]
    return INTRODUCTION + "\n".join([*lines, *planted()])


def planted() -> list[str]:
    """Write which scenario notices when a rule is left out."""
    bugs = tomllib.loads(PLANTED.read_text(encoding="utf-8"))["bug"]
    lines = [
        "",
        "## Rules left out",
        "",
        "What `make planted` does to the model, and the test that must fail then.",
        "",
    ]
    found = [f"| {bug['rule']} | {bug['test'].rsplit('::', 1)[-1].replace('_', ' ')} |" for bug in bugs]
    return [*lines, "| without the rule that | fails |", "| --- | --- |", *found, ""]
