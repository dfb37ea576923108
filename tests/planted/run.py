"""Plant bugs: leave out each physical rule of the drive in turn, and see that the test named for it fails.

    python tests/planted/run.py [--only TEXT] [--sample N] [--table]

Works in a copy of the code under target/planted. The last line counts; a bug that no test catches, or a rule whose text is no
longer there, ends it with status 1.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import time
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
BUGS = Path(__file__).with_name("bugs.toml")
COPY = ROOT / "target" / "planted"
CRATES = ("units", "drive")
# What the copy is built with: many short builds, each of one changed file.
PROFILE = [
    *("--config", "profile.dev.debug=false"),
    *(flag for crate in CRATES for flag in ("--config", f"profile.dev.package.headstack-{crate}.opt-level=0")),
]


def copy() -> Path:
    """Copy the two crates, and the library they test with, into a workspace of their own; return the drive's sources."""
    for part in ("drives", *(f"crates/{crate}" for crate in CRATES)):
        shutil.rmtree(COPY / part, ignore_errors=True)
        # With times of their own: what was built with a bug of the run before must not pass for fresh.
        shutil.copytree(ROOT / part, COPY / part, copy_function=shutil.copyfile)
    manifest = (ROOT / "Cargo.toml").read_text(encoding="utf-8")
    members = ", ".join(f'"crates/{crate}"' for crate in CRATES)
    manifest = re.sub(r"^members = .*$", f"members = [{members}]", manifest, flags=re.M)
    (COPY / "Cargo.toml").write_text(manifest, encoding="utf-8")
    shutil.copy(ROOT / "Cargo.lock", COPY / "Cargo.lock")
    return COPY / "crates" / "drive" / "src"


def test(binary: str, names: list[str]) -> tuple[set[str], set[str], str]:
    """Run tests of one binary; return those that passed, those that failed, and what cargo said."""
    which = ["--lib"] if binary == "lib" else ["--test", binary]
    command = ["cargo", "test", "--quiet", *PROFILE, "--package", "headstack-drive", *which, "--", "--exact", *names]
    command += ["--format", "pretty"]
    run = subprocess.run(command, cwd=COPY, capture_output=True, text=True, check=False)
    said = re.findall(r"^test (\S+) \.\.\. (ok|FAILED)$", run.stdout, flags=re.M)
    passed = {name for name, word in said if word == "ok"}
    return passed, {name for name, _ in said} - passed, run.stdout + run.stderr


def sound(bugs: list[dict[str, str]]) -> bool:
    """Without a bug every named test passes."""
    for binary in sorted({bug["binary"] for bug in bugs}):
        names = sorted({bug["test"] for bug in bugs if bug["binary"] == binary})
        passed, _, said = test(binary, names)
        if missing := set(names) - passed:
            print(f"without a bug {', '.join(sorted(missing))} of {binary} should pass:\n{said[-3000:]}")
            return False
    return True


def plant(bug: dict[str, str], source: Path) -> str:
    """Plant one bug, run its test, take the bug out again; return what went wrong, or nothing."""
    path = source / bug["file"]
    text = path.read_text(encoding="utf-8")
    if (found := text.count(bug["find"])) != 1:
        return f"its text stands {found} times in {bug['file']}: bring {BUGS.relative_to(ROOT)} up to date"
    path.write_text(text.replace(bug["find"], bug["put"]), encoding="utf-8")
    try:
        passed, failed, said = test(bug["binary"], [bug["test"]])
    finally:
        path.write_text(text, encoding="utf-8")
    if failed:
        return ""
    return f"{bug['test']} does not notice" if passed else f"it does not build:\n{said[-2000:]}"


def table(bugs: list[dict[str, str]]) -> str:
    """Write rule and test side by side."""
    return "\n".join(
        ["| rule left out | test that fails |", "| --- | --- |"] + [f"| {b['rule']} | `{b['test']}` |" for b in bugs]
    )


def main() -> int:
    """Try all bugs, or some that lie evenly over the list."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--sample", type=int, default=0, help="so many, evenly over the list; 0: all")
    parser.add_argument("--only", default="", help="those whose rule, file or test holds this text")
    parser.add_argument("--table", action="store_true", help="print rules and tests, and try nothing")
    chosen = parser.parse_args()
    bugs: list[dict[str, str]] = tomllib.loads(BUGS.read_text(encoding="utf-8"))["bug"]
    bugs = [{"binary": "expectations", **bug} for bug in bugs]
    bugs = [bug for bug in bugs if any(chosen.only in bug[key] for key in ("rule", "file", "test"))]
    if chosen.table:
        print(table(bugs))
        return 0
    if chosen.sample:
        step = max(1, len(bugs) // chosen.sample)
        bugs = bugs[step // 2 :: step][: chosen.sample]
    source = copy()
    if not sound(bugs):
        return 1
    unnoticed = 0
    for bug in bugs:
        began = time.monotonic()
        problem = plant(bug, source)
        unnoticed += bool(problem)
        print(
            f"{'NOT CAUGHT' if problem else 'caught':10} {bug['rule']} ({time.monotonic() - began:.0f} s)", flush=True
        )
        if problem:
            print(f"           {problem}", flush=True)
    print(f"planted: {len(bugs)} bugs, {len(bugs) - unnoticed} caught by the test named for them")
    return 1 if unnoticed else 0


if __name__ == "__main__":
    sys.exit(main())
