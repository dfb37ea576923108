"""The corrected drive as a file: its values, where each comes from, and the evidence in its head comment."""

from __future__ import annotations

import re
import textwrap
import tomllib
from typing import Any

from headstack import _core
from headstack.calibration.parameters import Values, toml_value

# What a phase fit changes.
_PHASE = ("layout", "rotation_rpm")
_WIDTH = 120


def with_phases_of(drive: str, fitted: str) -> str:
    """Return a drive file with the layout and the speed of another: those that a phase fit finds."""
    found = tomllib.loads(fitted)
    overrides = [(key, toml_value(found[key])) for key in _PHASE]
    return _core.System(toml=drive, overrides=overrides).drive_toml()


def drive_file(
    *,
    base: str,
    values: Values,
    original: str,
    phases: str,
    sources: dict[str, str],
    told: str,
    head: list[str],
) -> str:
    """Write the corrected drive.

    Parameters
    ----------
    base, values
        The drive file the values are replaced in, and the values.
    original, phases
        The drive files whose provenance holds for what was not fitted, and for what the phase fit found.
    sources
        For each path that was fitted, how.
    told
        What the summary is to add.
    head
        The paragraphs of the head comment.
    """
    text = _core.System(toml=base, overrides=values.overrides()).drive_toml()
    body, found = text.split("\n[provenance", 1)[0], tomllib.loads(text)["provenance"]
    entries: dict[str, dict[str, str]] = dict(tomllib.loads(original).get("provenance", {}))
    fresh = tomllib.loads(phases).get("provenance", {})
    entries.update({key: entry for key, entry in fresh.items() if key.split(".")[0] in _PHASE})
    # Keys that are in the file only because one beside them is.
    for key, entry in found.items():
        if entry["source"].startswith("default, beside"):
            entries.setdefault(key, {"kind": "assumed", "source": "default"})
    for path, source in sources.items():
        entries[path] = {"kind": "fitted", "source": source}
        if not Values.of_toml(body).has(path):
            # Fitted to what it is where a file says nothing: there is no value that an entry could belong to.
            del entries[path]
    name, summary = _quoted(body, "name"), _quoted(body, "summary")
    if not name.endswith(", fitted"):
        body = _requote(body, "name", f"{name}, fitted")
    body = _requote(body, "summary", f"{summary.rstrip()} {told}".strip())
    comment = "\n#\n".join("\n".join(f"# {line}" for line in textwrap.wrap(part, _WIDTH - 2)) for part in head)
    lines = [f"{toml_value(key)} = {toml_value(entry)}" for key, entry in sorted(entries.items())]
    return f"{comment}\n\n{compact(body).strip()}\n\n[provenance]\n" + "\n".join(lines) + "\n"


def _quoted(body: str, key: str) -> str:
    return str(tomllib.loads(body).get(key, ""))


def _requote(body: str, key: str, value: str) -> str:
    line = f"{key} = {toml_value(value)}"
    changed, count = re.subn(rf"^{key} = .*$", lambda _: line, body, count=1, flags=re.MULTILINE)
    if count:
        return changed
    # A summary may be missing; it stands behind the name.
    return re.sub(r"^(name = .*)$", lambda found: f"{found[1]}\n{line}", body, count=1, flags=re.MULTILINE)


def compact(text: str) -> str:
    """Write lists that stand one number a line in as few lines as fit."""
    lines, out = text.split("\n"), []
    index = 0
    while index < len(lines):
        line = lines[index]
        if not line.endswith(" = ["):
            out.append(line)
            index += 1
            continue
        end = lines.index("]", index)
        value: Any = tomllib.loads("\n".join(lines[index : end + 1]))
        key, items = next(iter(value.items()))
        written = f"{key} = {toml_value(items)}"
        if len(written) > _WIDTH:
            words = [toml_value(item) for item in items]
            # Points must not be broken in two: their blanks are hidden from the wrapping.
            flowing = ", ".join(word.replace(" ", "\0") for word in words) + ","
            wrapped = textwrap.wrap(flowing, _WIDTH - 4, break_long_words=False, break_on_hyphens=False)
            written = "\n".join([f"{key} = [", *(f"    {row}" for row in wrapped), "]"]).replace("\0", " ")
        out.append(written)
        index = end + 1
    return "\n".join(out)
