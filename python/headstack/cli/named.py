"""The files that a command line names: what will be written, and what is read."""

from __future__ import annotations

import inspect
import re
from contextlib import suppress
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_type_hints

from cyclopts import Parameter

from headstack.cli.options import OUTPUT
from headstack.files import to_write

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Named = list[tuple[str, Path]]

# Written, although it does not stand among the options of the output: it can be gone on with.
_RECORD = "record"

_QUOTED = re.compile(r"""["']([^"'\n\0]{1,255})["']""")
# Far more than any file has that names others.
_LONGEST_BYTES = 4 << 20
# What is written into a folder of inputs, and never read from it.
_OF_OURS = frozenset([".html", ".toml", ".json", ".csv"])


def files(command: Callable[..., Any], bound: inspect.BoundArguments) -> tuple[Named, Named]:
    """Outputs and inputs, each with the option that names it."""
    outputs: Named = []
    inputs: Named = []
    if not command.__module__.startswith("headstack."):
        # `--help` and `--version`, which name no files.
        return outputs, inputs
    hints = get_type_hints(command, include_extras=True)
    for name, value in bound.arguments.items():
        parameter = _parameter(hints.get(name))
        is_output = _is_output(name, parameter)
        option = next(iter(parameter.name or ()), _option(bound.signature.parameters[name]))
        if is_output:
            outputs += [(option, path) for path in _paths(value) if not path.is_dir()]
        else:
            inputs += [(option, path) for path in _read(value) if path.exists()]
    return outputs, inputs


def mean_outputs(command: Callable[..., Any], bound: inspect.BoundArguments) -> bool:
    """Have every path that is written to be the file that its name means; whether any is another than it was."""
    meant = False
    hints = get_type_hints(command, include_extras=True) if command.__module__.startswith("headstack.") else {}
    for name, value in bound.arguments.items():
        # The folder of a sweep is none of the outputs that appear together.
        if isinstance(value, Path) and (name == "out" or _is_output(name, _parameter(hints.get(name)))):
            bound.arguments[name] = to_write(value)
            meant |= bound.arguments[name] != value
    return meant


def also_read(inputs: Named) -> Named:
    """What is read because an input names it."""
    return [(f"{option} `{named}` reads", path) for option, named in inputs for path in _below(named)]


def _below(path: Path, depth: int = 3) -> Iterator[Path]:
    """The files that a file names beside itself (a system its drives, a sweep its traces), and those of a folder."""
    if path.is_dir():
        yield from _in_folder(path)
    elif depth and path.suffix == ".toml":
        for name in dict.fromkeys(_QUOTED.findall(_text(path))):
            # Beside the file, or where the command runs: both are looked up.
            for found in {path.parent / name, Path(name)}:
                if found.is_file():
                    yield found
                    yield from _below(found, depth - 1)


def _in_folder(path: Path) -> Iterator[Path]:
    from headstack.sweeping.folder import MANIFEST, RESULTS, RUNS, SWEEP

    if (path / MANIFEST).is_file():
        yield from (path / name for name in (MANIFEST, SWEEP, RESULTS) if (path / name).is_file())
        yield from (path / RUNS).glob("*")
    else:
        with suppress(OSError):
            yield from (each for each in path.iterdir() if each.suffix not in _OF_OURS and each.is_file())


def _text(path: Path) -> str:
    """The text of a file that may name others; what cannot be read is complained of by whoever needs it."""
    with suppress(OSError):
        if path.is_file() and path.stat().st_size < _LONGEST_BYTES:
            return path.read_text(encoding="utf-8", errors="replace")
    return ""


def _is_output(name: str, parameter: Parameter) -> bool:
    return name == _RECORD or parameter.group in (OUTPUT, (OUTPUT,))


def _parameter(hint: Any) -> Parameter:
    found = [each for each in getattr(hint, "__metadata__", ()) if isinstance(each, Parameter)]
    return found[0] if found else Parameter()


def _option(parameter: inspect.Parameter) -> str:
    name = parameter.name.strip("_").replace("_", "-")
    return "--" + name if parameter.kind is inspect.Parameter.KEYWORD_ONLY else name.upper()


def _paths(value: Any) -> Iterator[Path]:
    for each in value if isinstance(value, (tuple, list)) else [value]:
        if isinstance(each, Path):
            yield each


def _read(value: Any) -> Iterator[Path]:
    """Paths, and words that may be one: a system, a workload or a device is named by its file or otherwise."""
    if is_dataclass(value):
        for field in fields(value):
            yield from _paths(getattr(value, field.name))
        return
    if isinstance(value, str) and len(value) < 4096 and "\0" not in value:
        yield Path(value.removeprefix("sim:"))
    yield from _paths(value)
