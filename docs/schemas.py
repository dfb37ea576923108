"""Write the JSON Schema of what each verb prints with `--json`, from the types in `headstack.results`.

python docs/schemas.py docs/reference/schemas
"""

from __future__ import annotations

import argparse
import json
from importlib import import_module
from pathlib import Path
from typing import Any, Union

from pydantic import ConfigDict, TypeAdapter

from headstack.results.outputs import OUTPUTS, schema_name

Schema = dict[str, Any]
ABOUT = "Names this schema and its version."


def typed(home: str) -> Any:
    """The type `MODULE:NAME` of the results."""
    module, _, name = home.partition(":")
    return getattr(import_module(f"headstack.results.{module}"), name)


def modules() -> list[Any]:
    """The modules with types of results."""
    names = {home.partition(":")[0] for homes in OUTPUTS.values() for home in homes} | {"common"}
    return [import_module(f"headstack.results.{name}") for name in sorted(names)]


def describe_keys() -> None:
    """Let the text below a key become its description."""
    for module in modules():
        for kind in vars(module).values():
            if isinstance(kind, type) and issubclass(kind, dict) and kind.__module__ == module.__name__:
                kind.__pydantic_config__ = ConfigDict(use_attribute_docstrings=True)  # pyright: ignore


def _plain(node: Any) -> Any:
    """A schema without the titles that only repeat a key's name."""
    if isinstance(node, list):
        return [_plain(each) for each in node]
    if not isinstance(node, dict):
        return node
    return {
        key: {name: _plain(each) for name, each in value.items()} if key in {"properties", "$defs"} else _plain(value)
        for key, value in node.items()
        if not (key == "title" and isinstance(value, str))
    }


def schema(verb: str) -> Schema:
    """The JSON Schema of what a verb prints."""
    homes = [typed(home) for home in OUTPUTS[verb]]
    made = _plain(TypeAdapter(Union[tuple(homes)]).json_schema())  # noqa: UP007 (a union of what is known at run time)
    name = schema_name(verb)
    for each in _outputs(made):
        each["properties"] = {"schema": {"const": name, "description": ABOUT}, **each["properties"]}
        each["required"] = ["schema", *each.get("required", [])]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": name,
        "title": f"headstack {verb} --json",
        **made,
    }


def _outputs(made: Schema) -> list[Schema]:
    """The objects that can be the whole output."""
    if "anyOf" in made:
        return [made["$defs"][each["$ref"].rpartition("/")[2]] for each in made["anyOf"]]
    return [made]


def main() -> None:
    """Write all of them."""
    words = argparse.ArgumentParser(description="Write the JSON Schema of what each verb prints with --json.")
    words.add_argument("folder", type=Path, help="where they are written, as VERB.json; made if it is not there")
    folder: Path = words.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    describe_keys()
    for verb in OUTPUTS:
        path = folder / f"{verb.replace(' ', '-')}.json"
        path.write_text(json.dumps(schema(verb), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
