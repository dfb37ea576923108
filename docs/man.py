"""Write manual pages from the help texts: `headstack.1`, and one a verb (`headstack-simulate.1`).

Run by `make man`; the pages land in the directory that is named.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import re
from pathlib import Path

from headstack import __version__
from headstack.cli import main, verbs


def help_text(*words: str) -> str:
    """The help as it is printed at 72 columns, without frames: `man` sets it in by 7."""
    os.environ["COLUMNS"] = "72"
    printed = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    with contextlib.redirect_stdout(printed):
        main([*words, "--help"])
    printed.flush()
    text = printed.buffer.getvalue().decode()  # type: ignore[attr-defined]
    heading = re.compile(r"(?m)^╭─ (.*?) ─*╮$")
    lines = heading.sub(r"\n\1:", text).splitlines()
    kept = [line for line in lines if not line.startswith("╰")]
    return "\n".join(re.sub(r"^│ ?(.*?) *│$", r"  \1", line).rstrip() for line in kept)


def page(words: tuple[str, ...], about: str) -> str:
    """A manual page in troff."""
    name = "-".join(("headstack", *words))
    body = help_text(*words).replace("\\", "\\e")
    guarded = "\n".join("\\&" + line if line[:1] in {".", "'"} else line for line in body.splitlines())
    return (
        f'.TH {name.upper()} 1 "" "headstack {__version__}" "headstack"\n.SH NAME\n{name} \\- {about}\n'
        f".SH DESCRIPTION\n.nf\n{guarded}\n.fi\n"
    )


def write(folder: Path) -> int:
    """Write all pages and return how many."""
    folder.mkdir(parents=True, exist_ok=True)
    names = [((), verbs.ABOUT), *(((name,), about) for name, (_, about) in verbs.VERBS.items())]
    names += [(tuple(words), verbs.VERBS[words[0]][1]) for verb in verbs.EXAMPLES if len(words := verb.split()) > 1]
    for words, about in names:
        path = folder / ("-".join(("headstack", *words)) + ".1")
        path.write_text(page(words, about), encoding="utf-8")
    return len(names)


if __name__ == "__main__":
    words = argparse.ArgumentParser(description="Write the manual pages of headstack and of each verb.")
    words.add_argument("folder", type=Path, help="where they are written; made if it is not there")
    folder: Path = words.parse_args().folder
    print(f"{write(folder)} manual pages in {folder}")
