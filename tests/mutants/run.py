"""Would the tests notice? Mutants of the rooms where the numbers are made, switched on one after the other.

    python tests/mutants/run.py [--rooms NAMES] [--sample N] [--seconds S] [--again] [--table]

cargo-mutants says which mutants there are. All of a crate are built into one copy of the code, under target/mutants, each behind
a switch (`switches.py`): what would take a build for each takes one. A mutant is caught by the first test that fails, that
crashes, or that takes far longer than it should. What came out is kept: a run that was cut short goes on, and
`--again` tries those that no test noticed. Survivors that change nothing that can be seen are in `same.toml`, with the reason.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import random
import re
import resource
import select
import shutil
import subprocess
import sys
import time
import tomllib
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from switches import SWITCHBOARD, Mutant, Switched

ROOT = Path(__file__).resolve().parent.parent.parent
HOME = ROOT / "target" / "mutants"
SAME = Path(__file__).with_name("same.toml")
SEED = 20
SHARE = 0.9
COPIED = ("crates", "drives", "formats", "systems", "workloads", "designs", "benches")
MEMORY = 6 << 30


@dataclass(frozen=True)
class Room:
    """Files of a crate, and what the names of the tests hold that are asked first."""

    crate: str
    files: tuple[str, ...]
    first: str = ""


ROOMS = {
    "mechanics": Room("drive", ("crates/drive/src/mechanics/**/*.rs", "crates/drive/src/mechanism/**/*.rs")),
    "buffer": Room("drive", ("crates/drive/src/buffer/**/*.rs",)),
    "transfer": Room("drive", ("crates/drive/src/transfer/**/*.rs",)),
    "scheduler": Room("drive", ("crates/drive/src/scheduler/**/*.rs",)),
    "stats": Room("stats", ("crates/stats/src/**/*.rs",)),
    "pairing": Room(
        "trace", ("crates/trace/src/event/pairing.rs", "crates/trace/src/event/pairing/*.rs"), "event::pairing"
    ),
    "ledger": Room("system", ("crates/system/src/engine/ledger.rs",), "engine::ledger"),
}
# Which tests of a crate are asked, quick ones first: a binary, or some modules of one.
TESTS = {
    "drive": (
        "expectations",
        *(
            f"drive/{module}"
            for module in ("controller", "physics", "timeline", "sequential_first", "destage", "ncq", "schedulers")
        ),
        *(f"drive/{module}" for module in ("twin", "always", "arms", "heads", "sameness", "skews", "overrides")),
        "--lib",
    ),
    "stats": ("twins", "--lib"),
    "trace": ("--lib",),
    "system": ("--lib",),
}


@dataclass(frozen=True)
class Binary:
    """Tests of a crate, built: all of a binary, or a module of it."""

    name: str
    path: str
    folder: Path
    module: str = ""

    def run(self, mutant: int, seconds: float, only: str = "") -> tuple[str, str]:
        """Run the tests, or some, with one mutant switched on: "missed", "caught" or "timeout", and by which test."""
        environment = os.environ | {
            "MUTANT": str(mutant),
            "CARGO_MANIFEST_DIR": str(self.folder),
            # The first failure is enough.
            "PROPTEST_DISABLE_FAILURE_PERSISTENCE": "1",
            "PROPTEST_MAX_SHRINK_ITERS": "0",
        }
        run = subprocess.Popen([self.path, "--test-threads", "1", only or self.module], cwd=self.folder, env=environment,
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, preexec_fn=_limited)  # noqa: PLW1509 # fmt: skip
        assert run.stdout is not None
        end, said = time.monotonic() + seconds, b""
        try:
            while select.select([run.stdout], [], [], max(end - time.monotonic(), 0))[0]:
                more = os.read(run.stdout.fileno(), 1 << 16)
                said += more
                if failed := re.search(rb"^test (\S+).*FAILED$", said, re.MULTILINE):
                    return "caught", failed[1].decode()
                if not more:
                    return ("caught", f"status {run.wait()}") if run.wait() else ("missed", "")
            return "timeout", ""
        finally:
            run.kill()
            run.wait()
            run.stdout.close()


def _limited() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def listed(rooms: list[str], sample: int) -> list[Mutant]:
    """All mutants of rooms, or a sample of each."""
    mutants: list[Mutant] = []
    for name in rooms:
        room = ROOMS[name]
        files = [word for pattern in room.files for word in ("--file", pattern)]
        command = ["cargo", "mutants", "--list", "--json", "--package", f"headstack-{room.crate}", *files]
        found = json.loads(subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout)
        if sample and sample < len(found):
            found = random.Random(SEED).sample(found, sample)
        for one in found:
            start, end = ((one["span"][side]["line"], one["span"][side]["column"]) for side in ("start", "end"))
            number = len(mutants) + 1
            mutants.append(Mutant(number, name, one["file"], one["name"], one["genre"], one["replacement"], start, end))
    return mutants


class Copy:
    """The code of a crate and what it stands on, with its mutants behind switches."""

    def __init__(self, crate: str, mutants: list[Mutant]) -> None:
        self.crate, self.mutants = crate, mutants
        self.home = HOME / crate
        self.unviable: set[int] = set()
        self.without_switch: set[int] = set()
        for part in COPIED:
            shutil.copytree(ROOT / part, self.home / part, dirs_exist_ok=True, copy_function=_renew)
        for name in ("Cargo.toml", "Cargo.lock"):
            _renew(ROOT / name, self.home / name)
        units = Path("crates/units/src/lib.rs")
        _write(self.home / units, (ROOT / units).read_text(encoding="utf-8") + SWITCHBOARD)

    def cargo(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run cargo for the crate."""
        command = ["cargo", *words, "--message-format=json", "--package", f"headstack-{self.crate}"]
        # A folder of its own: cargo takes what another copy of a crate was built to for that of this one.
        flags = {"RUSTFLAGS": "-Awarnings -Cdebuginfo=0", "CARGO_TARGET_DIR": str(self.home / "target")}
        return subprocess.run(
            command, cwd=self.home, env=os.environ | flags, capture_output=True, text=True, check=False
        )

    def switch(self) -> None:
        """Put the mutants in, and take out those that do not compile until the others do."""
        while True:
            texts = self._written()
            built = self._build_tests()
            if built.returncode == 0:
                return
            errors = [message["message"] for message in _messages(built.stdout, "compiler-message")
                      if message["message"]["level"] == "error"]  # fmt: skip
            spans = [span for error in errors for span in error["spans"]]
            blamed = {texts[span["file_name"]].mutant_at(span["line_start"])
                      for span in spans if span["file_name"] in texts} - {None}  # fmt: skip
            if not blamed:
                said = "".join(error["rendered"] for error in errors) or built.stderr
                raise SystemExit(f"{self.crate} does not build with its mutants:\n{said[-3000:]}")
            self.unviable |= {number for number in blamed if number is not None}

    def _written(self) -> dict[str, Switched]:
        texts = {}
        for file in sorted({mutant.file for mutant in self.mutants}):
            own = [mutant for mutant in self.mutants if mutant.file == file and mutant.number not in self.unviable]
            texts[file] = Switched((ROOT / file).read_bytes(), own)
            self.without_switch |= {mutant.number for mutant in texts[file].without_switch}
            _write(self.home / file, texts[file].text)
        return texts

    def tests(self) -> list[Binary]:
        """Return the tests, in the order in which they are asked."""
        found = {}
        for message in _messages(self._build_tests().stdout, "compiler-artifact"):
            if message["executable"] and message["profile"]["test"]:
                name = message["target"]["name"]
                found[name] = Binary(name, message["executable"], Path(message["manifest_path"]).parent)
        order = [f"headstack_{self.crate}" if name == "--lib" else name for name in TESTS[self.crate]]
        parts = [name.partition("/") for name in order]
        return [
            dataclasses.replace(found[binary], name=binary + slash + module, module=f"{module}::" if module else "")
            for binary, slash, module in parts
        ]

    def _build_tests(self) -> subprocess.CompletedProcess[str]:
        binaries = dict.fromkeys(name.partition("/")[0] for name in TESTS[self.crate])
        which = [word for name in binaries for word in ([name] if name.startswith("--") else ["--test", name])]
        return self.cargo("test", "--no-run", *which)


def _messages(text: str, reason: str) -> list[dict]:
    lines = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
    return [line for line in lines if line["reason"] == reason]


def _write(path: Path, text: str) -> None:
    """Write what has changed only: the rest needs no build."""
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def _renew(source: str | Path, target: str | Path) -> str:
    if not Path(target).exists() or Path(target).read_bytes() != Path(source).read_bytes():
        shutil.copyfile(source, target)
    return str(target)


class Results:
    """What became of each mutant, kept in a file."""

    def __init__(self, crate: str) -> None:
        self._path = HOME / f"{crate}.json"
        self.of: dict[str, str] = json.loads(self._path.read_text()) if self._path.exists() else {}

    def note(self, mutant: Mutant, outcome: str) -> None:
        self.of[mutant.name] = outcome
        self._path.write_text(json.dumps(self.of, indent=1))


def try_all(crate: str, mutants: list[Mutant], end: float, *, again: bool) -> Results:
    """Switch the mutants of a crate on, one after the other, those in hand first that were not tried yet."""
    copy, results = Copy(crate, mutants), Results(crate)
    # What did not compile before is not built again to find that out.
    copy.unviable = {mutant.number for mutant in mutants if results.of.get(mutant.name) == "unviable"}
    copy.switch()
    tests = copy.tests()
    patience = {}
    for binary in tests:
        began = time.monotonic()
        if binary.run(0, 600)[0] != "missed":
            raise SystemExit(f"without a mutant the tests `{binary.name}` of {crate} should pass")
        patience[binary.name] = 20 + 5 * (time.monotonic() - began)
    untried = []
    for mutant in mutants:
        if mutant.number in copy.unviable | copy.without_switch:
            results.note(mutant, "unviable" if mutant.number in copy.unviable else "no switch")
        elif results.of.get(mutant.name) in ((None, "missed") if again else (None,)):
            untried.append(mutant)

    def try_one(mutant: Mutant) -> tuple[Mutant, str]:
        if time.monotonic() >= end:
            return mutant, ""
        first = ROOMS[mutant.room].first
        asked = [(binary, only) for only in ([first, ""] if first else [""]) for binary in tests]
        outcomes = (binary.run(mutant.number, patience[binary.name], only)[0] for binary, only in asked)
        return mutant, next((outcome for outcome in outcomes if outcome != "missed"), "missed")

    # Each test has a thread of its own, and each processor a mutant.
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for mutant, outcome in pool.map(try_one, untried):
            if outcome:
                results.note(mutant, outcome)
            if outcome == "missed":
                print(f"no test notices: {mutant.name}", flush=True)
    return results


def table(mutants: list[Mutant], results: dict[str, str]) -> tuple[str, bool]:
    """Count by room, and tell whether enough is caught in each."""
    reasons: dict[str, str] = tomllib.loads(SAME.read_text(encoding="utf-8"))["same"]
    lines = ["| room | mutants | tried | caught | change nothing | missed | caught of those that change something |",
             "| --- | --- | --- | --- | --- | --- | --- |"]  # fmt: skip
    enough = True
    for room in ROOMS:
        own = [mutant for mutant in mutants if mutant.room == room]
        counts = Counter(
            "same" if results.get(mutant.name) == "missed" and mutant.change in reasons else results.get(mutant.name)
            for mutant in own
        )
        caught = counts["caught"] + counts["timeout"]
        viable = caught + counts["missed"]
        if viable == 0:
            continue
        share = caught / viable
        enough &= share >= SHARE
        lines.append(f"| {room} | {len(own)} | {viable + counts['same']} | {caught} | {counts['same']} | {counts['missed']} | {share:.0%} |")  # fmt: skip
    return "\n".join(lines), enough


def main() -> int:
    """Try the mutants of some rooms, or all."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rooms", default="", help=f"some of {', '.join(ROOMS)}, with commas; without: all")
    parser.add_argument("--sample", type=int, default=45, help="so many of each room, drawn with a fixed seed; 0: all")
    parser.add_argument("--seconds", type=float, default=1e9, help="begin no further mutant after so long")
    parser.add_argument("--again", action="store_true", help="try those again that no test noticed")
    parser.add_argument("--table", action="store_true", help="print what is known, and try nothing")
    chosen = parser.parse_args()
    rooms = chosen.rooms.split(",") if chosen.rooms else list(ROOMS)
    if unknown := set(rooms) - set(ROOMS):
        parser.error(f"--rooms: no room `{', '.join(sorted(unknown))}`; there are {', '.join(ROOMS)}")
    end = time.monotonic() + chosen.seconds
    HOME.mkdir(parents=True, exist_ok=True)
    mutants, results = listed(rooms, chosen.sample), {}
    for crate in dict.fromkeys(ROOMS[room].crate for room in rooms):
        own = [mutant for mutant in mutants if ROOMS[mutant.room].crate == crate]
        tried = Results(crate) if chosen.table else try_all(crate, own, end, again=chosen.again)
        results |= tried.of
    text, enough = table(mutants, results)
    print(text)
    return 0 if enough else 1


if __name__ == "__main__":
    sys.exit(main())
