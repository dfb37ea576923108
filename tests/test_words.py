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
    r"\b(?:a|whole|of|per|of a|one|two|half a) turns?\b|\bturns (?:a|per) (?:minute|second)|\bturns early|\bturns late": "revolution",
    r"least time to media": "minimum time to media (MTM)",
    r"taken for (?:a )?(?:partial )?(?:hit|miss)": "predicted as a cache hit, a cache miss",
    r"what the model took a request for": "error by predicted cache outcome",
    r"how many requests have which error": "error histogram",
    r"\bhal(?:f|ves) (?:stays? alone|without the other)|the halves of a trace": "events, unpaired events",
    r"gaps vary by": "coefficient of variation",
    r"found on average|as arrivals find": "queue depth at arrival",
    r"cannot be told from": "fits about as well as",
    r"\bnot told\b|does not tell at all": "not identifiable from this trace",
    r"and then \{|, and then \d": "remaining",
    r"\} a second\b": "IOPS",
    r"is no (?:time|device|number|seed)\b": "is not a duration, not a device number",
    r"\bthe middle half\b": "the middle 50 %, quartiles",
    r"\bheld back\b": "waiting in the driver's queue",
    r"by dribbling": "by trickle flush",
    r"busy with destage, read-ahead or recalibration": "the one that it was",
    r"the paper's numbers beside": "the source's numbers",
    r"[Tt]ells? the story|the story of": "shows as a timeline",
}
# Folders and files that people read as they are written.
TEXTS = [ROOT / "README.md", ROOT / "VALIDATION.md", *sorted((ROOT / "docs").glob("**/*.md"))]
TEXTS = [path for path in TEXTS if "generated" not in path.parts and "_build" not in path.parts]
SOURCES = sorted((ROOT / "python" / "headstack").glob("**/*.py"))


def spoken(path: Path) -> Iterator[tuple[int, str]]:
    """The strings of a module, `{` for a value put in; docstrings too, for help comes from them."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.JoinedStr):
            parts = (each.value if isinstance(each, ast.Constant) else "{}" for each in node.values)
            yield node.lineno, "".join(map(str, parts))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.lineno, node.value


def found(text: str) -> list[str]:
    flat = " ".join(text.split())
    return [
        f"`{hit[0]}`: say {instead}"
        for pattern, instead in INSTEAD.items()
        for hit in [re.search(pattern, flat)]
        if hit
    ]


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_words_in_the_package(path: Path) -> None:
    wrong = [f"line {line}: {problem}" for line, text in spoken(path) for problem in found(text)]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_words_in_the_documentation(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    wrong = [f"line {number}: {problem}" for number, line in enumerate(text.splitlines(), 1) for problem in found(line)]
    assert not wrong, "\n".join(wrong)


def test_an_old_word_is_found() -> None:
    assert found("List the\n    orders of service.")
    assert found("a seek of half a turn")
    assert not found("a seek of half a revolution; it turns out well")
