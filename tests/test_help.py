"""Help, examples, completion, manual pages, and hints at what a misspelt word was meant to be."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from conftest import ROOT, headstack
from headstack import hints
from headstack.cli import command_line, main, output, verbs

if TYPE_CHECKING:
    from pathlib import Path

COMMANDS = [("drives", "list", "show", "check", "sheet", "import"), ("study", "list")]
COMMANDS += [("trace", "info", "convert", "formats", "match", "ticks", "analyze", "iostat", "capture", "make", "join")]


def test_every_verb_has_an_example_in_its_help(capsys: pytest.CaptureFixture[str]) -> None:
    below = {f"{group} {name}" for group, *names in COMMANDS for name in names}
    assert set(verbs.EXAMPLES) == set(verbs.VERBS) | below
    for verb in verbs.EXAMPLES:
        assert main([*verb.split(), "--help"]) == 0
        text = " ".join(capsys.readouterr().out.replace("\\\n", "").split())
        for example in verbs.EXAMPLES[verb]:
            assert example in text
            assert example.startswith("headstack ")
        assert verbs.EXAMPLES[verb][-1].startswith(f"headstack {verb}")


def test_every_argument_is_explained_and_no_default_is_python(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    for verb in verbs.EXAMPLES:
        assert main([*verb.split(), "--help"]) == 0
        text = capsys.readouterr().out
        assert not re.findall(r"\[default:\s+(?:│\s+│\s+)?(?:\(\)|False|None)\]", text), verb
        # Nothing but the names of an argument on its line.
        assert not re.findall(r"^│ +(?:\* +)?[A-Z]+(?: --[a-z-]+)? +(?:\[required\] *)?│$", text, re.MULTILINE), verb
    assert main(["calibrate", "--help"]) == 0
    assert "[default: 3]" in capsys.readouterr().out


@pytest.mark.parametrize("verb", verbs.EXAMPLES)
def test_the_usage_names_every_argument(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    """`[ARGS...]` stood for the files of `compare`; each name is one that is explained below."""
    assert main([*verb.split(), "--help"]) == 0
    usage, _, below = capsys.readouterr().out.partition("\n\n")
    assert "ARGS" not in usage
    for name in set(re.findall(r"\b[A-Z]+\b", usage)) - {"COMMAND", "OPTIONS", "PATH"}:
        assert re.search(rf"^│ [ *] *{name}\b|^│ {name}\b", below, re.MULTILINE), name


@pytest.mark.parametrize("verb", verbs.EXAMPLES)
def test_examples_can_be_pasted_from_80_columns(
    verb: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ten of them went on in a second line, which a shell takes for another command."""
    monkeypatch.setenv("COLUMNS", "80")
    assert main([*verb.split(), "--help"]) == 0
    _, _, end = re.split(r"\n(Examples?): *\n", capsys.readouterr().out)
    # As a shell reads it: a backslash that ends a line joins it with the next one.
    read = [shlex.split(line) for line in end.replace("\\\n", "").splitlines() if line.startswith("headstack ")]
    assert read == [shlex.split(example) for example in verbs.EXAMPLES[verb]]


@pytest.mark.parametrize("example", [line for lines in verbs.EXAMPLES.values() for line in lines])
def test_examples_are_commands(example: str) -> None:
    words = output.choose(shlex.split(re.split(" >>? ~", example)[0])[1:])
    verb, bound, _ = command_line().parse_args(words, exit_on_error=False, print_error=False)
    assert callable(verb)
    assert bound.signature


def test_help_and_version_load_no_parser() -> None:
    check = (
        "import sys\nfrom headstack.cli import main\n"
        "assert main(['--help']) == 0 and main(['-h']) == 0 and main([]) == 0\n"
        "heavy = {'cyclopts', 'rich', 'polars'} & set(sys.modules)\nassert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", check], check=True, stdout=subprocess.DEVNULL)
    assert headstack("-V").out == headstack("--version").out


def test_the_overview_names_every_verb(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    for width in (60, 80, 120):
        monkeypatch.setenv("COLUMNS", str(width))
        assert main(["--help"]) == 0
        text = capsys.readouterr().out
        assert all(re.search(rf"^  {verb} ", text, re.MULTILINE) for verb in verbs.VERBS)
        assert max(map(len, text.splitlines())) <= max(width, 72)


@pytest.mark.parametrize("width", [60, 80, 100, 120])
@pytest.mark.long
def test_help_breaks_no_option(width: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    for verb in verbs.EXAMPLES:
        monkeypatch.setenv("COLUMNS", "300")
        main([*verb.split(), "--help"])
        wanted = set(re.findall(r"(?<![\w-])--[a-z-]+\b", capsys.readouterr().out))
        monkeypatch.setenv("COLUMNS", str(width))
        main([*verb.split(), "--help"])
        text = capsys.readouterr().out
        assert wanted <= set(re.findall(r"(?<![\w-])--[a-z-]+\b", text)), verb


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_knows_verbs_and_options(shell: str, tmp_path: Path) -> None:
    script = headstack("completion", shell).out
    for word in (*verbs.VERBS, "phase-lock"):
        assert word in script
    if shell == "bash":
        path = tmp_path / "headstack"
        path.write_text(script)
        subprocess.run(["bash", "-n", path], check=True)


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (("simulate", "hp-c22"), "hp-c2200a"),
        (("simulate", "raid"), "raid5-4x-cheetah-9lp"),
        (("drives", "show", "near"), "nearline-24tb"),
        (("validate", "atlas"), "atlas-10k-fitted"),
        (("simulate", "hp-97560", "--workload", "unix"), "unix-like"),
        (("simulate", "hp-97560", "--scheduler", "spt"), "sptf"),
        (("cost", "--design", "four"), "four-platter"),
        (("study", "sk"), "skippy"),
    ],
)
@pytest.mark.long
def test_completion_knows_the_names_of_the_library(words: tuple[str, ...], offered: str, tmp_path: Path) -> None:
    asked = headstack("__complete", *words)
    assert offered in asked.out.split()
    # As bash asks for it.
    (tmp_path / "script").write_text(headstack("completion", "bash").out)
    (tmp_path / "headstack").write_text(f'#!/bin/sh\nexec {sys.executable} -m headstack "$@"\n')
    (tmp_path / "headstack").chmod(0o755)
    typed = " ".join(("headstack", *words))
    script = f'. {tmp_path}/script; COMP_WORDS=({typed}); COMP_CWORD={len(words)}; _headstack; echo "${{COMPREPLY[@]}}"'
    path = f"{tmp_path}:{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", script], env={**os.environ, "PATH": path}, check=True, capture_output=True, text=True
    )
    assert offered in done.stdout.split()


@pytest.mark.parametrize("script", ["schemas.py", "man.py", "built.py"])
def test_scripts_of_the_documents_take_no_option_for_a_folder(script: str, tmp_path: Path) -> None:
    """`docs/schemas.py --help` made a folder of that name, which was committed."""
    helped = subprocess.run(
        [sys.executable, ROOT / "docs" / script, "--help"], cwd=tmp_path, check=True, capture_output=True, text=True
    )
    assert "folder" in helped.stdout
    for words in (["--out"], []):
        wrong = subprocess.run(
            [sys.executable, ROOT / "docs" / script, *words], cwd=tmp_path, check=False, capture_output=True
        )
        assert wrong.returncode == 2
    assert not list(tmp_path.iterdir())


def test_the_readme_says_how_to_have_completion_and_manual_pages(tmp_path: Path) -> None:
    text = (ROOT / "README.md").read_text()
    for words in ("headstack completion bash", "~/.bash_completion", "make man"):
        assert words in text
    folder = tmp_path / "man" / "man1"
    subprocess.run([sys.executable, ROOT / "docs" / "man.py", folder], check=True, capture_output=True)
    [shown] = re.findall(r"`man -M dist/share/man (\S+)`", text)
    assert (folder / f"{shown}.1").is_file()
    assert "$(SHARE)/man/man1" in (ROOT / "Makefile").read_text()


def test_manual_pages(tmp_path: Path) -> None:
    subprocess.run([sys.executable, ROOT / "docs" / "man.py", tmp_path], check=True, capture_output=True)
    pages = {path.name: path.read_text() for path in tmp_path.glob("*.1")}
    assert {f"headstack-{verb.replace(' ', '-')}.1" for verb in verbs.EXAMPLES} | {"headstack.1"} == set(pages)
    assert "--phase-lock" in pages["headstack-validate.1"]
    assert not re.search("[╭│╰]", "".join(pages.values()))


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (("simulat", "hp-97560"), "simulate"),
        (("drives", "show", "hp-97561"), "hp-97560"),
        (("drives", "show", "hp-97560", "--set", "rotaton_rpm=5400"), "rotation_rpm"),
        (("study", "jonson"), "johnson"),
        (("measure", "mock:", "skipy-read"), "skippy-read"),
        (("measure", "mock:", "skipy"), "skippy"),
        (("drives", "show", "hp-97560", "--set", "spindle.rotaton_rpm=5400"), "rotation_rpm"),
        (
            ("calibrate", "hp-97560", "--trace", str(ROOT / "examples/sample.csv"), "--parameters", "contrller"),
            "controller",
        ),
        (("simulate", "hp-97560", "--workload", "unixlike"), "unix-like"),
        (("--versoin",), "--version"),
        (("drives", "--hlep"), "--help"),
        (("simulate", "--hepl"), "--help"),
        (("simulate", "hp-97560", "--jsno"), "--json"),
    ],
)
def test_a_misspelt_word_gets_the_word_that_was_meant(
    words: tuple[str, ...], meant: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(list(words)) == 2
    assert re.search(rf"[Dd]id you mean `?{meant}`?", capsys.readouterr().err)


def test_a_misspelt_key_of_a_file_gets_the_key_that_was_meant(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "drive.toml"
    path.write_text((ROOT / "drives" / "hp-97560.toml").read_text().replace("rotation_rpm =", "rotaton_rpm =", 1))
    assert main(["drives", "check", str(path)]) == 2
    message = capsys.readouterr().err
    assert "did you mean `rotation_rpm`?" in message
    assert "write_policy" not in message


def test_a_word_far_from_all_gets_all() -> None:
    message, hint = hints.improved("unknown field `zzz`, expected one of `a_key`, `b_key`", None, ())
    assert (message, hint) == ("unknown field `zzz`", "known: a_key, b_key")


def test_studies_are_listed_without_the_packages_of_pages() -> None:
    code = (
        "import sys\nfor name in ('altair', 'polars', 'jinja2', 'vl_convert'): sys.modules[name] = None\n"
        "from headstack.cli import main\nsys.exit(main(['study', 'list']))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "johnson" in done.stdout


def test_a_missing_package_is_named_as_the_index_names_it() -> None:
    code = (
        "import sys\nsys.modules['vl_convert'] = sys.modules['jinja2'] = None\n"
        "import headstack.files as files\nfind = files.find_spec\n"
        "files.find_spec = lambda name: None if name in ('jinja2', 'vl_convert') else find(name)\n"
        "from headstack.cli import main\n"
        "sys.exit(main(['simulate', 'hp-97560', '--workload', 'unix-like', '--report', 'x.html']))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "pip install jinja2 vl-convert-python" in done.stderr


def test_the_reference_pages_list_every_verb() -> None:
    code = f"import sys; sys.path.insert(0, {str(ROOT / 'docs')!r}); import generate; print(*map(' '.join, generate.verbs(generate.command_line())), sep=chr(10))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert set(done.stdout.splitlines()) == set(verbs.EXAMPLES)


MADE = {"run.parquet", "results", "slower.parquet", "files.parquet"}
"""What another example leaves behind."""
OWN = {"before.parquet", "after.parquet", "host.srt", "ticks.txt", "histogram.txt", "iostat.txt", "parts", "monday.csv", "tuesday.csv",
       "cheetah9LP.diskspecs"}  # fmt: skip
"""Files that only their reader can have: results, and traces of formats that no file of the tree is in."""
OUTPUTS = ("--out", "--report", "--save", "--record", "-o")


def test_every_file_of_an_example_is_in_the_tree_or_plainly_the_readers_own() -> None:
    for verb, lines in verbs.EXAMPLES.items():
        for line in lines:
            words = shlex.split(line.partition(" > ~")[0])
            named = [
                word for before, word in pairwise(words)
                if re.search(r"\.(toml|csv|srt|txt|parquet|trace|diskspecs)$", word) and (before not in OUTPUTS or ("calibrate" in line and before == "--record"))
            ]  # fmt: skip
            written = {"trace convert": 1, "trace capture": 1, "trace join": 0, "trace make": 0}.get(verb)
            if written is not None:
                del named[min(written, len(named) - 1)]
            for word in named:
                assert word in MADE | OWN or (ROOT / word).is_file(), line


def test_examples_on_files_of_the_tree_run(tmp_path: Path) -> None:
    for name in ("examples", "drives"):
        (tmp_path / name).symlink_to(ROOT / name)
    for verb in ("trace info", "trace analyze", "trace convert", "compare", "fleet"):
        words = shlex.split(verbs.EXAMPLES[verb][0])[1:]
        done = subprocess.run(
            [sys.executable, "-m", "headstack", *words], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, (verb, done.stderr)


@pytest.mark.parametrize("verb", ["validate", "calibrate"])
@pytest.mark.long
def test_what_needs_measured_times_begins_with_nothing(verb: str, tmp_path: Path) -> None:
    """The examples one after the other, in an empty folder."""
    for line in verbs.EXAMPLES[verb]:
        command = [sys.executable, "-m", *shlex.split(line)]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, (line, done.stderr)
    assert verbs.STAND_IN in verbs.examples(verb)
