"""One term for one thing: the words of the field in what people read, and none of those that they replaced."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

import pytest

from conftest import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

INSTEAD = {
    r"orders? of service": "scheduler, scheduling algorithm",
    r"\b(?:a|the|no|whole|of|per|of a|one|two|half a) turns?\b(?! (?:of events|out|to|takes?))": "revolution",
    r"\bturns (?:a|per) (?:minute|second)|\bturns (?:early|late)\b|count of the turns": "revolutions",
    r"least times? (?:to|over|from|on|is|time)\b": "minimum time (to media: MTM)",
    r"taken for (?:a |the )?(?:partial )?(?:hit|miss|times of)": "predicted as a cache hit, a cache miss",
    r"what the model took a request for": "error by predicted cache outcome",
    r"how many requests have which error": "error histogram",
    r"\bhal(?:f|ves) (?:stays? alone|without the other)|the halves of a trace|halves of requests|(?:whose|of|\*)halves\b"
    r"|traces of \*?halves": "events, unpaired events",
    r"(?:counts|are) what stays alone": "unpaired events",
    r"gaps vary by": "coefficient of variation",
    r"found on average|as arrivals find": "queue depth at arrival",
    r"passe?s? beside (?:it|the (?:seek|overhead|command))": "time overlapped with command processing",
    r"cannot be told from": "fits about as well as",
    r"\bnot told\b|does not tell at all": "not identifiable from this trace",
    r"and then \{|, and then \d": "remaining",
    r"\} a second\b|\d a second\b(?! time)": "IOPS",
    r"(?<!there )\bis no (?!longer|more|less|later|larger|farther|better|worse|faster|\{)\w+": "is not a duration, not a device number",
    r"values? (?:of the drive |of the drive's )?cannot be\b(?! \w)|cannot be$": "is impossible",
    r"\bthe middle half\b|\bmiddle (?:of|over) (?:the )?(?:eight|reads|writes|tracks|distances)|their middle is|, middle:": "median",
    r"^9[09](?:\.9)? %$": "p90, p99",
    r"\bheld back\b": "waiting in the driver's queue",
    r"by dribbling": "by trickle flush",
    r"busy with destage, read-ahead or recalibration": "the one that it was",
    r"the paper's numbers beside": "the source's numbers",
    r"\bfitted part\b|part (?:that is |not )(?:fitted|scored)\b|held-out requests|requests that were (?:not fitted|scored)": "training "
    "requests, test requests",
    r"^longest queue$|^mean queue$|^at a time$": "queue depth",
    r"^longest (?:read |write |wait )?\(ms\)$": "max",
    r"US\$|\} dollars\b": "USD",
    r"seek of one cylinder|^error of one": "single-cylinder seek, error per request",
    r"what each parameter is worth": "gain",
    r"(?-i:\bMAE\b)|mean absolute error|per-request errors?\b": "error per request",
    r"\bdribbl(?!ing(?:\)|\*))": "trickle flush (S4 calls it dribbling: name both once)",
    r"\bstor(?:y|ies)\b": "timeline",
}
# What is written otherwise is somebody else's: a quotation, an old name that still answers.
QUOTED = {"dribble_every_s", "dribble_blocks", "stories", "written_by_dribble"}
# Folders and files that people read as they are written.
TEXTS = [ROOT / f"{name}.md" for name in ("README", "VALIDATION", "ARCHITECTURE", "CONTRIBUTING", "SECURITY")]
TEXTS += sorted((ROOT / "docs").glob("**/*.md"))
TEXTS = [path for path in TEXTS if "generated" not in path.parts and "_build" not in path.parts]
LIBRARY = [
    path for name in ("drives", "systems", "workloads", "designs", "formats") for path in (ROOT / name).glob("*.toml")
]
SOURCES = sorted((ROOT / "python" / "headstack").glob("**/*.py"))
# Messages, and the comments that become the reference pages (of files and results) and the docstrings (of the bindings).
RUST = [path for path in sorted((ROOT / "crates").glob("*/src/**/*.rs")) if not re.search("test|twin", path.name)]
RUST = [path for path in RUST if "tests" not in path.parts]


def spoken(path: Path) -> Iterator[tuple[int, str]]:
    """The strings of a module, `{` for a value put in; docstrings too, for help comes from them."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.JoinedStr):
            parts = (each.value if isinstance(each, ast.Constant) else "{}" for each in node.values)
            yield node.lineno, "".join(map(str, parts))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.lineno, node.value


STRING = re.compile(r'^\s*//[^\n]*|"((?:[^"\\]|\\.)*)"', re.MULTILINE | re.DOTALL)
PUBLISHED = re.compile(r"(?:^ *///[^\n]*\n)+", re.MULTILINE)


def printed(path: Path) -> Iterator[tuple[int, str]]:
    """The strings of a Rust file, and the comments in it that are published."""
    text = path.read_text(encoding="utf-8").partition("#[cfg(test)]\nmod tests {")[0]
    pieces = [(match.start(), re.sub(r"\\\n\s*", "", match[1])) for match in STRING.finditer(text) if match[1]]
    if "JsonSchema" in text or path.is_relative_to(ROOT / "crates" / "python"):
        pieces += [(match.start(), match[0].replace("///", "")) for match in PUBLISHED.finditer(text)]
    for place, piece in pieces:
        yield 1 + text.count("\n", 0, place), piece


def paragraphs(path: Path) -> Iterator[tuple[int, str]]:
    """What stands between empty lines: a word may be broken at the end of one."""
    number = 1
    for part in re.split(r"(\n\n+)", path.read_text(encoding="utf-8")):
        yield number, part
        number += part.count("\n")


def found(text: str) -> list[str]:
    flat = " ".join(text.split())
    return [
        f"`{hit[0]}`: say {instead}"
        for pattern, instead in INSTEAD.items()
        for hit in re.finditer(pattern, flat, re.IGNORECASE)
        if not any(word in QUOTED and hit[0] in word for word in [*flat.split("`"), flat])
    ]


def problems(texts: Iterator[tuple[int, str]]) -> str:
    return "\n".join(f"line {line}: {problem}" for line, text in texts for problem in found(text))


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_words_in_the_package(path: Path) -> None:
    assert not problems(spoken(path))


@pytest.mark.parametrize("path", TEXTS + LIBRARY, ids=lambda path: str(path.relative_to(ROOT)))
def test_words_in_the_documentation(path: Path) -> None:
    assert not problems(paragraphs(path))


def test_words_in_the_core() -> None:
    wrong = {str(path.relative_to(ROOT)): found for path in RUST if (found := problems(printed(path)))}
    assert not wrong, "\n".join(f"{path}, {line}" for path, lines in wrong.items() for line in lines.splitlines())


def test_an_old_word_is_found() -> None:
    assert found("List the\n    orders of service.")
    assert found("a seek of half a turn")
    assert found("The story of two requests")
    assert found("1 of the drive's values cannot be\n")
    assert found("`5` is no parameter of it")
    assert found("The MAE of reads")
    assert not found("`mae` is a key")
    assert not found("there is no parameter; it is no longer than before")
    assert not found("a seek of half a revolution; it turns out well")
