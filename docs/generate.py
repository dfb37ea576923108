"""Write the reference pages: the drive file's keys, the library, schedulers, the command line, what a drive must do.

Run by `make docs`. The pages land in docs/reference/generated and are not kept in the repository.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import expectations

import headstack
from headstack import _core
from headstack.cli import command_line
from headstack.results.outputs import OUTPUTS, schema_name
from headstack.scheduler_names import KNOWLEDGE, form, meaning

HERE = Path(__file__).parent / "reference" / "generated"
COMMAND = Path(sys.executable).with_name("headstack")

Schema = dict[str, Any]


# ---- files: the keys of a TOML file, from its JSON Schema ----


def resolve(schema: Schema, root: Schema) -> Schema:
    """Follow `$ref`, keeping what stands beside it."""
    reference = schema.get("$ref")
    if reference is None and len(schema.get("allOf", [])) == 1:
        reference = schema["allOf"][0].get("$ref")
    if reference is None:
        return schema
    return {**root["$defs"][reference.rsplit("/", 1)[1]], **{k: v for k, v in schema.items() if k != "$ref"}}


def without_null(schema: Schema, root: Schema) -> Schema:
    """Strip the `null` of an optional value."""
    for choice in ("anyOf", "oneOf"):
        options = [option for option in schema.get(choice, []) if option.get("type") != "null"]
        if len(options) == 1 and len(schema[choice]) == 2:
            rest = {key: value for key, value in schema.items() if key != choice}
            return {**resolve(options[0], root), **rest}
    return schema


def type_word(schema: Schema, root: Schema) -> str:
    """Say in a word or two what a value is."""
    schema = without_null(resolve(schema, root), root)
    kind = schema.get("type")
    if isinstance(kind, list):
        kind = next((word for word in kind if word != "null"), None)
    if words(schema):
        return "one of the words below"
    if "oneOf" in schema or "anyOf" in schema:
        return "one of the tables below"
    if kind == "array":
        items = schema.get("items")
        many = "list of " + type_word(items, root) if isinstance(items, dict) else "list"
        return f"{schema['minItems']} values" if schema.get("minItems") else many
    names = {"integer": "whole number", "number": "number", "string": "text", "boolean": "true or false"}
    return names.get(str(kind), "table")


def words(schema: Schema) -> list[tuple[str, str]]:
    """Return the words a value may be, each with its meaning; empty if it is not a choice of words."""
    found = []
    for option in schema.get("oneOf", schema.get("anyOf", [])):
        if "const" in option:
            found.append((option["const"], option.get("description", "")))
        elif "enum" in option:
            found += [(word, option.get("description", "")) for word in option["enum"]]
        elif option.get("type") != "null":
            return []
    return found or [(word, "") for word in schema.get("enum", []) if isinstance(word, str)]


def one_line(text: str) -> str:
    """Fold a description into a table cell."""
    return " ".join(text.split()).replace("|", "\\|")


def default_word(schema: Schema) -> str:
    """Say what holds where the key is absent."""
    value = schema.get("default")
    return "" if value in (None, "") or isinstance(value, (dict, list)) else f"`{json.dumps(value).strip(chr(34))}`"


def table(title: str, path: str, schema: Schema, root: Schema, level: int) -> list[str]:
    """Write one TOML table and everything below it."""
    schema = without_null(resolve(schema, root), root)
    lines = ["", f"{'#' * level} {title}", "", schema.get("description", ""), ""]
    properties: Schema = schema.get("properties", {})
    required = set(schema.get("required", []))
    below: list[list[str]] = []
    if properties:
        lines += ["| key | value | default | meaning |", "| --- | --- | --- | --- |"]
    for key, raw in properties.items():
        value = without_null(resolve(raw, root), root)
        default = "required" if key in required else default_word(raw)
        meaning = raw.get("description") or value.get("description", "")
        lines.append(f"| `{key}` | {type_word(value, root)} | {default} | {one_line(meaning)} |")
        inner = f"{path}.{key}" if path else key
        below.append(beneath(inner, value, root, level + 1))
    if not properties and "oneOf" in schema:
        below.append(beneath(path, schema, root, level + 1))
    return lines + [line for part in below for line in part]


def beneath(path: str, value: Schema, root: Schema, level: int) -> list[str]:
    """Write what a value of more than one line needs: its words, its kinds, its inner tables."""
    if choices := words(value):
        head = ["", f"{'#' * level} `{path}`: the words", "", "| word | meaning |", "| --- | --- |"]
        return head + [f"| `{word}` | {one_line(meaning)} |" for word, meaning in choices]
    if value.get("type") == "array" and isinstance(value.get("items"), dict):
        items = resolve(value["items"], root)
        return table(f"`[[{path}]]`", path, items, root, level) if items.get("properties") else []
    if value.get("properties"):
        return table(f"`[{path}]`", path, value, root, level)
    lines: list[str] = []
    for option in value.get("oneOf", value.get("anyOf", [])):
        for kind, inner in option.get("properties", {}).items():
            described = {**resolve(inner, root), "description": option.get("description", "")}
            lines += table(f"`[{path}.{kind}]`", f"{path}.{kind}", described, root, level)
    return lines


def file_page(title: str, kind: str, text: str) -> None:
    """Write the page of one kind of file."""
    if not hasattr(_core, "json_schema"):
        example = headstack.Drive("hp-97560").to_toml()
        page = f"# {title}\n\n{text} All values of one of them, defaults included:\n\n```toml\n{example}\n```\n"
        (HERE / f"{kind}-file.md").write_text(page, encoding="utf-8")
        return
    schema: Schema = json.loads(_core.json_schema(kind))
    body = table("Top level", "", schema, schema, 2)
    (HERE / f"{kind}-file.md").write_text("\n".join([f"# {title}", "", text, *body, ""]), encoding="utf-8")
    (HERE / f"{kind}-file.schema.json").write_text(json.dumps(schema, indent=2) + "\n", encoding="utf-8")


# ---- the library ----


KINDS = ("spec", "measured", "fitted", "assumed")


def row(*cells: str) -> str:
    """Write one line of a table."""
    return f"| {' | '.join(cells)} |"


def library_page() -> None:
    """Write the list of drives, with what a data sheet would say of each."""
    head = ["name", "drive", "GB", "rpm", "heads", "cylinders", "average seek ms", *KINDS]
    lines = ["# The library", "", "## Drives", "", row(*head), row(*("---" for _ in head))]
    for name in sorted(headstack.library_drives()):
        about = headstack.Drive(name).describe()
        shares = about["provenance"]["shares"]
        lines.append(
            row(
                f"`{name}`",
                about["name"],
                f"{about['capacity_bytes'] / 1e9:,.2f}",
                f"{about['rotation_rpm']:g}",
                f"{about['heads']}",
                f"{about['cylinders']:,}",
                f"{about['seek']['distance_weighted_ms']:.2f}",
                *(f"{shares.get(kind, 0):.0%}" for kind in KINDS),
            )
        )
    lines += [
        "",
        "The average seek is the mean over all possible seeks; the last four columns are shares of its values by",
        "their [provenance](../../concepts/provenance.md). `headstack drives show NAME` tells more.",
        "",
    ]
    others = {
        "Systems": headstack.library_systems(),
        "Workloads": headstack.library_workloads(),
        "Designs": headstack.library_designs(),
    }
    for title, names in others.items():
        lines += [f"## {title}", "", *(f"- `{name}`" for name in sorted(names)), ""]
    (HERE / "library.md").write_text("\n".join(lines), encoding="utf-8")


# ---- schedulers ----


def scheduler_page() -> None:
    """Write the list of schedulers and of what modifies them."""
    infos = headstack.schedulers()
    lines = [
        "# Schedulers",
        "",
        "What `--scheduler`, `host.scheduler` and `controller.scheduler` may be, with the usual values;",
        "[Scheduling algorithms](../../concepts/schedulers.md) says what they do and at what price.",
        "",
        row("written", "scheduling algorithm", "must know"),
        row("---", "---", "---"),
    ]
    lines += [
        row(f"`{form(info)}`", one_line(meaning(info)), info["needs"]) for info in infos if not info["is_modifier"]
    ]
    lines += ["", "Behind any of them, one after the other:", "", row("written", "what it does"), row("---", "---")]
    lines += [row(f"`{form(info)}`", one_line(meaning(info))) for info in infos if info["is_modifier"]]
    needs = dict.fromkeys(info["needs"] for info in infos if not info["is_modifier"])
    lines += ["", "Who knows enough:", "", *(f"- {need}: {KNOWLEDGE[need]}" for need in needs), ""]
    (HERE / "schedulers.md").write_text("\n".join(lines), encoding="utf-8")


# ---- the command line ----


def help_of(*verb: str) -> str:
    """Return a command's own help."""
    plain = {**os.environ, "COLUMNS": "110", "NO_COLOR": "1", "TERM": "dumb"}
    run = subprocess.run([COMMAND, *verb, "--help"], capture_output=True, text=True, env=plain, check=True)  # noqa: S603
    return "\n".join(line.rstrip() for line in run.stdout.splitlines()).strip()


def verbs(app: Any, *above: str) -> list[tuple[str, ...]]:
    """List all verbs, each with those above it."""
    found: list[tuple[str, ...]] = []
    for name in app:
        if name.startswith("-"):
            continue
        found.append((*above, name))
        found += verbs(app[name], *above, name)
    return found


def command_page() -> None:
    """Write the help of every verb."""
    lines = ["# Command line", "", "```text", help_of(), "```", ""]
    for verb in verbs(command_line()):
        lines += [f"## headstack {' '.join(verb)}", "", "```text", help_of(*verb), "```", ""]
    (HERE / "command-line.md").write_text("\n".join(lines), encoding="utf-8")


# ---- JSON ----


def json_page() -> None:
    """Write which schema the output of each verb follows, and which type it has in Python."""
    lines = [
        "# JSON",
        "",
        "Every verb prints one JSON object with `--json`. Its first key, `schema`, names the JSON Schema that it follows:",
        "`headstack/VERB/VERSION`. New keys do not change the version; a key that goes or changes its meaning does.",
        "Units stand last in a key, and once: below a table `response_ms` its statistics are bare (`response_ms.p99`). In Python, the results have the types of `headstack.results`.",
        "",
        row("verb", "schema", "type in Python"),
        row("---", "---", "---"),
    ]
    for verb, homes in OUTPUTS.items():
        file = f"{verb.replace(' ', '-')}.json"
        types = ", ".join(f"`headstack.results.{home.replace(':', '.')}`" for home in homes)
        lines.append(row(f"`{verb}`", f"{{download}}`{schema_name(verb)} <../schemas/{file}>`", types))
    (HERE / "json.md").write_text("\n".join([*lines, ""]), encoding="utf-8")


def main() -> None:
    """Write all pages."""
    HERE.mkdir(parents=True, exist_ok=True)
    file_page("Drive file", "drive", "Everything about one drive model, in TOML. `drives/` holds examples.")
    library_page()
    scheduler_page()
    command_page()
    json_page()
    (HERE / "expectations.md").write_text(expectations.page(expectations.load()), encoding="utf-8")


if __name__ == "__main__":
    main()
