"""What the documents show: their fenced blocks, and the commands among them."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING

from conftest import ROOT
from headstack.cli import verbs

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

LANGUAGES = {"sh", "python", "toml", "text"}
# Lines of a comment that show a command: `#   headstack …`.
IN_A_COMMENT = re.compile(r"^#\s{2,}(headstack .*)$", re.MULTILINE)
NAMED_FILE = re.compile(r"# ([\w.-]+\.toml)$")


@dataclass(frozen=True)
class Block:
    """One fenced block: what it is in, where it begins, and its text."""

    language: str
    line: int
    text: str

    @property
    def file(self) -> str | None:
        """The name of the file that the block is, where its first line is a comment that says so."""
        named = NAMED_FILE.match(self.text.partition("\n")[0])
        return named[1] if self.language == "toml" and named else None

    def commands(self) -> Iterator[str]:
        """The commands of a block of them, one by one; a quotation mark that is open takes in the next line."""
        lines: list[str] = []
        for line in self.text.splitlines():
            lines.append(line)
            try:
                words = shlex.split("\n".join(lines), comments=True)
            except ValueError:
                continue
            if words:
                yield "\n".join(lines)
            lines.clear()


@dataclass(frozen=True)
class Document:
    """A page with commands in it."""

    name: str
    blocks: tuple[Block, ...]


def _fenced(path: Path) -> Document:
    blocks, begun, language, lines = [], 0, "", []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not line.startswith("```"):
            lines.append(line)
        elif begun:
            blocks.append(Block(language, begun, "\n".join(lines) + "\n"))
            begun = 0
        else:
            begun, language, lines = number, line[3:].strip(), []
    assert not begun, f"{path}: the block of line {begun} has no end"
    return Document(str(path.relative_to(ROOT)), tuple(blocks))


def _commented(path: Path) -> Document:
    text = "\n".join(IN_A_COMMENT.findall(path.read_text(encoding="utf-8")))
    return Document(str(path.relative_to(ROOT)), (Block("sh", 1, text),))


def documents() -> list[Document]:
    """Every document with a block or a command: pages, examples, and what `--help` shows."""
    pages = [
        ROOT / name for name in ("README.md", "CONTRIBUTING.md", "VALIDATION.md", "SECURITY.md", "ARCHITECTURE.md")
    ]
    pages += [path for path in sorted((ROOT / "docs").glob("**/*.md")) if not {"generated", "_build"} & set(path.parts)]
    found = [_fenced(path) for path in pages]
    found += [_commented(path) for path in sorted((ROOT / "examples").iterdir()) if path.suffix in {".toml", ".py"}]
    # What others leave behind is compared last.
    in_order = sorted(verbs.EXAMPLES, key=lambda verb: verb == "compare")
    shown = "\n".join(line for verb in in_order for line in verbs.EXAMPLES[verb])
    found.append(Document("--help", (Block("sh", 1, shown),)))
    return [document for document in found if any(block.text.strip() for block in document.blocks)]
