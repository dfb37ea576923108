"""Kinds of values in a table of somebody's file, by the schema of what they become: said before another text is made of them."""

from __future__ import annotations

import json
from functools import cache
from math import isfinite
from typing import TYPE_CHECKING, Any

from headstack import _core
from headstack.errors import InputError
from headstack.sweeping.reading import is_number, nearest, number_hint, toml_key, typed

if TYPE_CHECKING:
    from collections.abc import Mapping

_WORDS = {
    "string": "a text", "number": "a number", "integer": "a whole number", "boolean": "true or false", "array": "a list",
    "object": "a table",
}  # fmt: skip
_EXAMPLES = {"string": '"…"', "integer": "0", "number": "1.5"}
_MOST = {"uint8": 2**8 - 1, "uint16": 2**16 - 1, "uint32": 2**32 - 1}


def check_volume(table: Mapping[str, Any], where: str) -> None:
    """Refuse keys that a volume does not have, and values of another kind than theirs."""
    _check(table, _schemas()["VolumeSpec"], "", where)


@cache
def _schemas() -> dict[str, Any]:
    return json.loads(_core.json_schema("system"))["$defs"]


def _resolved(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """What a schema refers to; of one that may be absent what it is where it is there."""
    for word in ("anyOf", "oneOf"):
        others = [each for each in schema.get(word, ()) if each.get("type") != "null"]
        if len(others) == 1:
            return _resolved(others[0])
    if "$ref" in schema:
        return _resolved(_schemas()[schema["$ref"].rpartition("/")[2]])
    return schema


def _check(value: Any, schema: Mapping[str, Any], key: str, where: str) -> None:
    schema = _resolved(schema)
    kinds = schema.get("type", [])
    kind = next((each for each in ([kinds] if isinstance(kinds, str) else kinds) if each != "null"), None)
    if words := _words(schema):
        if value not in words:
            near = nearest(value, words) if isinstance(value, str) else f"one of {', '.join(words)}"
            raise InputError(f"{where}: {typed(value)} is none of the words that go there", near)
        return
    if kind is None:
        return
    if not _is_of(kind, value):
        raise InputError(f"{where}: must be {_WORDS[kind]}, not {typed(value)}", _hint(kind, schema, key, value))
    if kind == "integer":
        _check_bounds(value, schema, where)
    for number, each in enumerate(value if kind == "array" else ()):
        _check(each, schema.get("items", {}), "", f"{where}.{number}")
    if kind == "object" and "properties" in schema:
        _check_table(value, schema, where)


def _check_table(table: Mapping[str, Any], schema: Mapping[str, Any], where: str) -> None:
    for key, value in table.items():
        if key in schema["properties"]:
            _check(value, schema["properties"][key], key, f"{where}.{key}")
        elif schema.get("additionalProperties") is False:
            raise InputError(f"{where}: unknown key `{key}`", nearest(key, schema["properties"]))
    for key in schema.get("required", ()):
        if key not in table:
            raise InputError(f"{where}: `{key}` is missing", f"{toml_key(key)} = …")


def _words(schema: Mapping[str, Any]) -> list[str]:
    """The words that a choice has, where it has nothing else."""
    if "enum" in schema:
        return list(schema["enum"])
    each = [_words(one) or ([one["const"]] if "const" in one else []) for one in schema.get("oneOf", ())]
    return [word for words in each for word in words] if all(each) else []


def _is_of(kind: str, value: Any) -> bool:
    if kind == "number":
        return is_number(value) and isfinite(value)
    if kind == "integer":
        return isinstance(value, int) and not isinstance(value, bool)
    of = {"string": str, "boolean": bool, "array": list, "object": dict}
    return isinstance(value, of[kind])


def _check_bounds(value: int, schema: Mapping[str, Any], where: str) -> None:
    least, most = schema.get("minimum"), schema.get("maximum", _MOST.get(schema.get("format", ""), 2**63 - 1))
    if (least is not None and value < least) or value > most:
        bounds = f"up to {most:,}" if least is None else f"from {least:,} to {most:,}"
        raise InputError(f"{where}: {typed(value)} is not a whole number {bounds}", "give one within these")


def _hint(kind: str, schema: Mapping[str, Any], key: str, value: Any) -> str | None:
    if kind in ("number", "integer") and key:
        return number_hint(key, value)
    if kind == "array" and key:
        of = str(_resolved(schema.get("items", {})).get("type"))
        alone = typed(value) if of in _WORDS and _is_of(of, value) else _EXAMPLES.get(of, "…")
        return f"{toml_key(key)} = [{alone}]"
    return None
