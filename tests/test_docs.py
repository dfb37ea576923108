"""Every command that the documents show is run as it stands, or left out for a reason that is named here."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tomllib
from typing import TYPE_CHECKING

import pytest

from conftest import ROOT
from documents import LANGUAGES, Document, documents
from headstack import schedulers
from headstack.cli import command_line, output
from headstack.studies import STUDIES
from supplies import supply

if TYPE_CHECKING:
    from pathlib import Path

DOCUMENTS = documents()
NUMBERS = {15: "Fifteen", 16: "Sixteen", 17: "Seventeen", 18: "Eighteen", 19: "Nineteen", 20: "Twenty"}
# What is not run, and why. Those of headstack are parsed all the same.
NOT_RUN = {
    r"^sudo |/dev/sd|^iostat|^bpftrace": "needs a device, or root",
    r"^make |^cargo ": "builds; CI has a step for it",
    r"--data DIR|path/to/disksim": "needs what stands for it",
    r"^headstack study (?!list)": "CI reproduces all studies",
    r"--dask |\.local/share": "changes the host, or opens ports",
}
# A simulation of a whole drive's measurement and the like: seconds, on a busy machine minutes.
PATIENCE_S = 600
# The page whose prose tells what its commands print.
TUTORIAL = "docs/guides/round-the-loop.md"


def left_out(command: str) -> str | None:
    return next((why for pattern, why in NOT_RUN.items() if re.search(pattern, command)), None)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda document: document.name)
def test_every_block_says_what_it_is(document: Document) -> None:
    wrong = [f"line {block.line}: `{block.language}`" for block in document.blocks if block.language not in LANGUAGES]
    assert not [each for each in wrong if "{" not in each], f"{document.name}: say one of {sorted(LANGUAGES)}"
    for block in document.blocks:
        if block.language == "toml":
            tomllib.loads(block.text)


LINK = re.compile(r"\]\(([^)\s#]*)(?:#([^)\s]+))?\)")


def anchors(path: Path) -> set[str]:
    """What the headings of a page are called in links."""
    heads = re.findall(r"^#+ (.+)$", path.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", head.lower()).strip().replace(" ", "-") for head in heads}


def test_every_link_leads_somewhere() -> None:
    wrong = []
    for path in sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]):
        for file, anchor in LINK.findall(path.read_text()):
            target = path.parent / file if file else path
            # What `make docs` generates need not be there.
            if ":" in file or "/generated/" in str(target):
                continue
            if not target.exists() or (anchor and target.suffix == ".md" and anchor not in anchors(target)):
                wrong.append(f"{path.relative_to(ROOT)}: {file}#{anchor}")
    assert not wrong


def test_the_readme_counts_what_is_there() -> None:
    text = (ROOT / "README.md").read_text()
    algorithms = [each for each in schedulers() if not each["is_modifier"]]
    assert f"**{NUMBERS[len(algorithms)]} scheduling algorithms**" in text
    row = next(line for line in text.splitlines() if line.startswith("| a paper reproduced"))
    assert [name for name in STUDIES if f"`{name}`" not in row.replace("headstack study ", "")] == []


def test_every_reason_to_leave_out_is_needed() -> None:
    commands = [each for document in DOCUMENTS for block in document.blocks for each in block.commands()]
    idle = [pattern for pattern in NOT_RUN if not any(re.search(pattern, command) for command in commands)]
    assert not idle


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda document: document.name)
def test_commands_left_out_are_commands(document: Document) -> None:
    for block in document.blocks:
        for command in block.commands() if block.language == "sh" else ():
            words = shlex.split(re.sub(r" > [^\s']+$", "", command.removeprefix("sudo ")), comments=True)
            if left_out(command) and words[0] == "headstack":
                verb, bound, _ = command_line().parse_args(output.choose(words[1:]), exit_on_error=False)
                assert callable(verb), command
                assert bound.signature


def run(command: list[str] | str, folder: Path, line: int, document: Document) -> str:
    """Run a command in a page's folder; it must come to a good end. What it printed."""
    environment = {**os.environ, "NO_COLOR": "1", "PATH": f"{ROOT / '.venv/bin'}:{os.environ['PATH']}"}
    done = subprocess.run(
        command, shell=isinstance(command, str), executable="/bin/bash" if isinstance(command, str) else None,
        cwd=folder, env=environment, capture_output=True, text=True, timeout=PATIENCE_S, check=False,
    )  # fmt: skip
    shown = command if isinstance(command, str) else command[-1]
    assert done.returncode == 0, f"{document.name}, line {line}:\n{shown}\nexit code {done.returncode}\n{done.stderr}"
    return done.stdout + done.stderr


@pytest.mark.docs
@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda document: document.name)
def test_commands_run(document: Document, tmp_path: Path) -> None:
    ran, left = 0, []
    printed = ""
    code: list[str] = []
    for block in document.blocks:
        if block.file is not None:
            (tmp_path / block.file).write_text(block.text)
        if block.language == "python":
            code.append(block.text)
            supply(block.text, tmp_path)
        for command in block.commands() if block.language == "sh" else ():
            try:
                if why := left_out(command):
                    pytest.skip(why)
                supply(command, tmp_path)
            except pytest.skip.Exception as skipped:
                left.append(f"{command}: {skipped}")
                continue
            printed += run(command, tmp_path, block.line, document)
            ran += 1
    if code:
        run([sys.executable, "-c", "\n".join(code)], tmp_path, 0, document)
        ran += 1
    if not ran:
        pytest.skip("; ".join(left) or "shows no commands")
    if document.name == TUTORIAL:
        # Its conclusion stood there for a while after the numbers had gone another way.
        prose = re.sub(r"^```.*?^```", "", (ROOT / document.name).read_text(), flags=re.MULTILINE | re.DOTALL)
        told = re.findall(r"(?<![\d.])\d+\.\d+(?!\.?\d)", prose)
        assert len(told) > 5
        assert [number for number in told if number not in printed] == []
