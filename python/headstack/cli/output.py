"""What the command line prints: data to stdout, messages and progress to stderr."""

from __future__ import annotations

import io
import os
import re
import sys
from contextlib import contextmanager, redirect_stdout, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TextIO, TypeGuard

from headstack.cli import layout
from headstack.errors import InputError
from headstack.shown import grouped
from headstack.shown import number as number  # noqa: PLC0414 (part of what verbs print with)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from cyclopts import CycloptsError


def print_json(document: Mapping[str, Any]) -> None:
    """Print one JSON object; its first key names the schema that it follows."""
    import json

    from headstack.results.outputs import schema_name

    is_unicode = (sys.stdout.encoding or "").lower().startswith("utf")
    named = {"schema": schema_name(_form.verb), **document}
    _print(json.dumps(named, indent=2, ensure_ascii=not is_unicode, allow_nan=False) + "\n")


def error(message: str, hint: str | None = None) -> None:
    """Print `error: …` and, where there is something to do, `hint: …`."""
    from headstack import hints

    message, hint = hints.improved(message.rstrip(), hint, _form.given)
    _stderr("error", "red", grouped(message))
    if hint:
        _stderr("hint", "cyan", grouped(hint))


def warning(message: str, hint: str | None = None) -> None:
    """Print `warning: …` and, where there is something to do, `hint: …`."""
    _stderr("warning", "yellow", grouped(message))
    if hint:
        _stderr("hint", "cyan", grouped(hint))


def note(message: str) -> None:
    """Print a line about what was done."""
    _say(_broken(_harmless(message)))


def wrote(path: Path, about: str = "") -> None:
    """Say that a file was written, as soon as it has its name."""
    _form.written.append(f"wrote {path}" + (f" ({about})" if about else ""))


def broken_limits(limits: Sequence[str]) -> None:
    """Name the limits of `--fail-if` that are broken."""
    for limit in limits:
        note(f"limit broken: {limit}")


def say_written() -> None:
    """Say what was written: files have their names now."""
    for told in _form.written:
        note(told)
    _form.written.clear()


LONGEST_SAID = 2000
"""Characters of the longest message."""

_SGR = {"red": "31", "cyan": "36", "yellow": "33"}


def _stderr(label: str, colour: str, message: str) -> None:
    styled = sys.stderr.isatty() and "NO_COLOR" not in os.environ
    shown = f"\x1b[1;{_SGR[colour]}m{label}\x1b[0m" if styled else label
    _say(_broken(f"{label}: {_harmless(message)}").replace(label, shown, 1))


def _say(line: str) -> None:
    # A closed stderr must not end the work.
    with suppress(OSError):
        sys.stderr.write(line + "\n")


def _broken(message: str) -> str:
    """A message as a terminal shows it: in lines of whole words. Whoever searches a file or a pipe finds it in one line."""
    columns = _columns(sys.stderr)
    if columns is None or _form.is_plain:
        return message
    screen = layout.Screen(columns, sys.stderr.encoding or "utf-8")
    # What is to be typed stays in one piece, which can be copied.
    kept = re.sub(r"`[^`\n]+`", lambda quoted: quoted[0].replace(" ", "\u00a0"), message)
    return "\n".join(part for line in kept.split("\n") for part in layout.wrapped(line, screen)).replace("\u00a0", " ")


def _harmless(message: str) -> str:
    """A message in which names that anybody chose send a terminal no commands; numbers of errors help nobody."""
    # What is quoted from a file may be a line of any length.
    cut = f"{message[:LONGEST_SAID]} … ({len(message):,} characters)" if len(message) > LONGEST_SAID else message
    said = re.sub(r" \(os error \d+\)", "", cut)
    return "".join(sign if sign.isprintable() or sign == "\n" else "?" for sign in said)


def is_usage_problem(problem: BaseException) -> TypeGuard[CycloptsError]:
    """Whether a command line could not be parsed; only then the parser is loaded."""
    parser = sys.modules.get("cyclopts")
    return parser is not None and isinstance(problem, parser.CycloptsError)


def usage_problem(problem: CycloptsError, arguments: list[str]) -> tuple[str, str]:
    """Put a command line that cannot be parsed into our words."""
    message = _in_our_words(problem, arguments)
    verb = [word for word in arguments[:2] if word.replace("-", "").isalpha() and not word.startswith("-")]
    chain = list(problem.command_chain or ()) or verb[:0]
    listed = "options" if chain else "verbs"
    hint = f"`headstack {' '.join([*chain, '--help'])}` lists the {listed}"
    if chain[:1] == ["trace"] and re.search("takes no (more )?argument", message):
        hint = f"`headstack trace join` makes one of several traces; {hint}"
    # As all that is printed has them.
    if apart := re.search(r"`(\d{1,3}(?:,\d{3})+(?:\.\d+)?)` is not a ", message):
        hint = f"write it without separators: `{apart[1].replace(',', '')}`"
    return message.rstrip(".").replace('"', "`"), hint


FLAGS = ("--help", "--version", "--json", "--csv", "--plain")
"""Options of every verb, which the parser does not think of when one is misspelt."""


MEANT = ("--out", "--report", "--json", "--set", "--requests", "--trace", "--workload", "--data")
"""What letters such as `-r` mean to people: the first of these that a verb has."""


def _in_our_words(problem: CycloptsError, arguments: list[str]) -> str:
    message = _with_flags(" ".join(str(problem).split()).partition(" Available commands:")[0], problem)
    if extra := re.fullmatch(r"Unused Tokens: \[(.*)\]\.?", message):
        words = re.findall(r"'([^']*)'", extra[1]) or [extra[1]]
        verb = " ".join(problem.command_chain or ()) or "headstack"
        # Some arguments may have been taken before these.
        taken = len(arguments) - len(words) > len(problem.command_chain or ())
        given = ", ".join(f"`{word}`" for word in words)
        return f"{verb} takes no {'more arguments' if taken else 'argument'}; {given} given"
    if odd := re.fullmatch(
        r"Invalid value for (.+): unable to convert [`\"](.*)[`\"] into (?:an? )?(int|float)\.?", message
    ):
        name, value, kind = odd.groups()
        return f"{name} `{value}` is not a {'whole ' if kind == 'int' else ''}number"
    absent = re.fullmatch(r'Command "(.*)" parameter "?(--?[\w-]+)"? requires an argument\.?', message)
    if absent is None:
        return message
    verb, option = absent.groups()
    if option in arguments:
        after = "".join(arguments[arguments.index(option) + 1 :][:1])
        if re.match(r"-\.?\d", after):
            return f"{option} cannot be `{after}`: it is less than 0"
        return f"{option} needs a value" + (f", and `{after}` is an option" if after.startswith("-") else "")
    argument = getattr(problem, "argument", None)
    is_positional = getattr(argument, "index", None) is not None
    return f"{verb} needs {option.removeprefix('--').upper() if is_positional else option}"


def _with_flags(message: str, problem: CycloptsError) -> str:
    """Tell a misspelt option which of all options is meant, with those that every verb has; a letter, which begins with it."""
    from difflib import get_close_matches

    told = re.fullmatch(
        r'(Unknown (?:command|option):? ["`]?(--?[\w-]+)["`]?)\.?(?: Did you mean ["`]?([^"`?]+)["`]?\?)?', message
    )
    if told is None:
        return message
    if re.fullmatch(r"-[a-zA-Z]", told[2]):
        options = {name for each in getattr(problem, "argument_collection", ()) for name in each.names} | {*FLAGS}
        near = [
            name for name in (*MEANT, *sorted(options)) if name in options and name.startswith("-" + told[2].lower())
        ]
        return f"Unknown option `{told[2]}`" + (f". Did you mean `{near[0]}`?" if near else "")
    known = [*FLAGS, *filter(None, [told[3]])]
    near = get_close_matches(told[2], known, n=1)
    word = near[0] if near else told[3]
    # Known elsewhere, and not here.
    if word == told[2]:
        return f"Option `{word}` does not go with this command"
    return f"Unknown option `{told[2]}`" + (f". Did you mean `{word}`?" if word else "")


def defect(problem: BaseException) -> None:
    """Report a defect of headstack without a traceback, unless `HEADSTACK_TRACEBACK` is set."""
    if os.environ.get("HEADSTACK_TRACEBACK"):
        import traceback

        traceback.print_exception(problem)
    error(
        f"internal error: {type(problem).__name__}: {problem}",
        "this is a defect of headstack: please report it with the command; "
        "HEADSTACK_TRACEBACK=1 shows where it happened",
    )


def mend_streams() -> None:
    """Let a closed standard stream lead nowhere, before another file gets its number; the others write any sign."""
    for descriptor, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            null = os.open(os.devnull, os.O_RDWR)
            try:
                os.fstat(descriptor)
            except OSError:
                os.dup2(null, descriptor)
            setattr(sys, name, os.fdopen(null, "w" if descriptor else "r"))
        elif descriptor and isinstance(stream := getattr(sys, name), io.TextIOWrapper):
            stream.reconfigure(errors="headstack.signs")


@contextmanager
def stdout_told() -> Iterator[None]:
    """Hand on what is printed meanwhile; `InputError` where that is impossible."""
    try:
        yield
        with _reader_may_leave():
            sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as problem:
        # An error about a file says which.
        if problem.filename is not None:
            raise
        silence_stdout()
        raise InputError(f"cannot write to stdout: {problem.strerror}") from None


_STDOUT = {"/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"}


@contextmanager
def apart_from(written: Iterable[Path]) -> Iterator[None]:
    """Print to stderr where a file that is written is stdout itself, so that what reads it finds nothing else in it.

    Not where a form was asked for by name: then both are wanted.
    """
    asked = _form.is_csv or "--json" in _form.given
    if asked or _STDOUT.isdisjoint(map(str, written)):
        yield
        return
    with redirect_stdout(sys.stderr):
        yield


@contextmanager
def _reader_may_leave() -> Iterator[None]:
    """Go on where the reader of our output went away (`| head`): files are yet to be written, limits to be checked."""
    try:
        yield
    except BrokenPipeError:
        silence_stdout()


def _print(text: str) -> None:
    with _reader_may_leave():
        sys.stdout.write(text)


def silence_stdout() -> None:
    """Keep the interpreter from complaining about a closed pipe when it exits."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def table(
    title: str,
    columns: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    text_columns: Iterable[int] = (0,),
    caption: str | None = None,
    spare: Sequence[int] = (),
    name: str = "",
) -> None:
    """Print a table: text columns on the left of their cells, numbers on the right.

    `spare` are the columns that a narrow terminal can do without, the least important first; `name` is what programs know
    the table by, where its title says more than that.
    """
    shown = layout.Table(title, columns, list(rows), frozenset(text_columns), caption or "", spare)
    if _form.is_csv:
        _csv(layout.csv_rows(shown, name or title))
    else:
        _block(layout.table_lines(shown, _form.screen()))


def facts(title: str, pairs: Iterable[tuple[str, str]], *, table: str = "summary") -> None:
    """Print names and values, one pair a line; `table` is what programs know them by."""
    if _form.is_csv:
        _csv(layout.csv_facts(table, pairs))
    else:
        _block(layout.fact_lines(title, pairs, _form.screen()))


def line(text: str = "") -> None:
    """Print a line of data; without words, a gap before what follows, if anything was printed before."""
    if not text:
        _form.gap = _form.begun
    elif _form.is_csv:
        note(text)
    else:
        _print(("\n" if _form.gap else "") + text + "\n")
        _form.begun, _form.gap = True, False


def sentence(text: str) -> None:
    """Print prose: where there is a width, lines of whole words; whoever searches a pipe finds it in one line."""
    line(text if _form.is_csv else "\n".join(layout.wrapped(text, _form.screen())))


@dataclass
class _Form:
    """How this command prints, and whether it has printed anything."""

    verb: str = ""
    # The options as they were typed.
    given: frozenset[str] = frozenset()
    is_plain: bool = False
    is_csv: bool = False
    begun: bool = False
    gap: bool = False
    # What to say once files have their names.
    written: list[str] = field(default_factory=list)

    def screen(self) -> layout.Screen:
        encoding = sys.stdout.encoding or "utf-8"
        if self.is_plain:
            return layout.Screen(None, "ascii")
        is_styled = sys.stdout.isatty() and "NO_COLOR" not in os.environ
        return layout.Screen(width(), encoding, _bold if is_styled else str)


_form = _Form()


def choose(arguments: Sequence[str]) -> list[str]:
    """Take `--plain` and `--csv`, which every verb has, from the command line."""
    global _form  # noqa: PLW0603 (a process has one stdout)
    words = list(arguments)
    end = words.index("--") if "--" in words else len(words)
    given = {word for word in words[:end] if word in {"--plain", "--csv"}}
    _form = _Form(_verb(words), _options(words), is_plain="--plain" in given, is_csv="--csv" in given)
    ways = [word for word in ("--json", "--csv", "--plain") if word in words[:end]]
    if len(ways) > 1:
        raise InputError(f"{ways[0]} and {ways[1]} are two ways to print the same", "choose one")
    return [word for word in words[:end] if word not in given] + words[end:]


def _options(words: Sequence[str]) -> frozenset[str]:
    return frozenset(word.partition("=")[0] for word in words if word.startswith("--"))


def _verb(words: Sequence[str]) -> str:
    """The verb that a command line begins with: `simulate`, `trace info`."""
    from headstack.results.outputs import OUTPUTS

    pair = " ".join(words[:2])
    return pair if pair in OUTPUTS else " ".join(words[:1])


def width() -> int | None:
    """The columns of the terminal; a file or a pipe gets lines as long as they are."""
    columns = os.environ.get("COLUMNS", "")
    if columns.isdecimal() and 0 < int(columns) < 100_000:
        return int(columns)
    return _columns(sys.stdout)


def _columns(stream: TextIO) -> int | None:
    """The columns of the terminal that a stream goes to, if it goes to one."""
    if not stream.isatty():
        return None
    with suppress(OSError):
        return os.get_terminal_size(stream.fileno()).columns or None
    return None


def _bold(text: str) -> str:
    return f"\x1b[1m{text}\x1b[0m"


def _block(lines: Sequence[str]) -> None:
    """Print lines that belong together, apart from what stands before them."""
    _print(("\n" if _form.begun else "") + "\n".join(lines) + "\n")
    _form.begun, _form.gap = True, False


def _csv(rows: Sequence[Sequence[str]]) -> None:
    """Print a table for other programs (RFC 4180, lines as they end here); an empty line parts it from the one before."""
    import csv

    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    _print(("\n" if _form.begun else "") + text.getvalue())
    _form.begun = True


def trace_notes(notes: Mapping[str, Any]) -> None:
    """Warn of what was left out of a trace."""
    if notes["bad_records"]:
        warning(f"{notes['bad_records']:,} records make no sense and were left out; the first:")
        for line in notes["first"][:3]:
            note(f"  {line}")
    if notes["without_length"]:
        warning(f"{notes['without_length']:,} requests move nothing (a length of zero) and were left out")
    if notes["doubled"]:
        warning(
            f"{notes['doubled']:,} lines tell the same as one before: the text, or a part of it, is there twice. Each was read once"
        )
    if notes["out_of_order"]:
        warning(f"{notes['out_of_order']:,} records stand before an earlier one")
