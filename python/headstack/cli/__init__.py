"""The command `headstack`: one module a verb, loaded when the verb is used.

Data go to stdout, messages and progress to stderr. Exit codes: 0 done, 1 done in part or a defect of headstack,
2 bad input, 3 not the device asked for, 130 interrupted (128 and the number of the signal).
"""

from __future__ import annotations

import errno
import os
import re
import sys
from contextlib import suppress
from functools import cache
from math import isinf
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from headstack.cli import output, verbs

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from inspect import BoundArguments

    from cyclopts import App
    from rich.console import Console

    from headstack.cli.named import Named

DONE, IN_PART, BAD_INPUT, NOT_THE_DEVICE = 0, 1, 2, 3


def _version() -> str:
    from headstack import __version__

    return f"headstack {__version__}"


def _default(value: object) -> str:
    """The default of an option, for its help: none is worth a word where leaving the option out says as much."""
    # The parser leaves the words out for `None` alone, whatever its types say.
    return cast("str", None if value is None or value is False or value == () else str(value))


def _converted(kind: Any, tokens: Any) -> object:
    """The value of an option, of the type that its verb asks for."""
    from cyclopts import convert

    return convert(kind, tokens, converter=_one)


def _one(kind: Any, word: str) -> object:
    """One word: where a whole number is asked for, the parser would round 6.9 to 7."""
    from cyclopts import CoercionError, convert

    if kind is int:
        return int(word, 16 if word.lower().lstrip("+-").startswith("0x") else 10)
    if kind is Path and (word.startswith("~") or ":" in word):
        from headstack.files import to_read

        # A path object would make one slash of two.
        return to_read(word)
    if kind is str and ("~/" in word or ":/" in word):
        from headstack.files import named

        # A simulated drive is named by its file, too.
        simulated = "sim:" if word.startswith("sim:") else ""
        return simulated + named(word.removeprefix(simulated))
    try:
        return convert(kind, [word])
    except CoercionError as problem:
        # Whose value it is, the caller knows.
        problem.token = None
        raise


@cache
def command_line() -> App:
    """The parser of the command line."""
    from cyclopts import App, Parameter

    app = App(
        name="headstack",
        help=verbs.ABOUT,
        help_epilogue=verbs.EVERY_VERB,
        version=_version,
        version_flags=["--version", "-V"],
        help_format="markdown",
        # No `--no-…` twins: an option is given or it is not.
        default_parameter=Parameter(negative=(), show_default=_default, converter=_converted),
        suppress_keyboard_interrupt=False,
    )
    for name, (home, about) in verbs.VERBS.items():
        # A verb with verbs of its own says in its module what its help ends with.
        more = {} if home.endswith(":app") else verbs.helped(name)
        app.command(home, name=name, help=about, **more)
    return app


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code; no traceback reaches the user."""
    from headstack.cli import signals

    output.mend_streams()
    try:
        with signals.obeyed():
            return _run(sys.argv[1:] if arguments is None else list(arguments))
    except KeyboardInterrupt as problem:
        return signals.report(problem)
    except BrokenPipeError:
        # A file that was asked for is a pipe (`--out /dev/stdout`), and its reader went away: nothing is left to do.
        output.silence_stdout()
        return DONE
    except SystemExit as problem:
        # What prints the help ends the process by itself when its reader goes away.
        if not isinstance(problem.__context__, BrokenPipeError):
            raise
        return DONE
    except (Exception, _NoDescriptors) as problem:
        if not _lacks_descriptors(problem):
            raise
        # Nothing more can be loaded, not even what makes messages.
        sys.stderr.write("error: too few files may be open at a time\nhint: ulimit -n 256\n")
        return BAD_INPUT


def _is_left_unread(said: str) -> bool:
    """Whether all that went wrong is that the reader of a pipe that was written went away."""
    return said.startswith("cannot write `") and os.strerror(errno.EPIPE) in said


class _NoDescriptors(BaseException):
    """The process may open no more files; nothing else is to be made of that."""


def _lacks_descriptors(problem: BaseException) -> bool:
    """Whether the process may open no more files: everything can fail of that."""
    return isinstance(problem, _NoDescriptors) or os.strerror(errno.EMFILE) in str(problem)


def _answer(arguments: list[str]) -> int | None:
    try:
        words = output.choose(arguments)
        _refuse_empty(words)
        return DONE if _overview(words) else _call(words)
    except Exception as problem:
        if _lacks_descriptors(problem):
            raise _NoDescriptors from problem
        raise


def _refuse_empty(words: list[str]) -> None:
    """Refuse an empty word, as of a shell variable that is not set: as a path it would be the folder we are in."""
    from headstack.errors import InputError

    for place, word in enumerate(words):
        before = words[place - 1] if place else ""
        option = word.removesuffix("=") if re.fullmatch(r"--[\w-]+=", word) else before if not word else None
        if option is None:
            continue
        named = option if option.startswith("--") else f"the word after `{option}`" if option else "the first word"
        raise InputError(
            f"{named} is empty: what was given is `{word or chr(34) * 2}`",
            "give a value, or leave it out (in a shell, a variable that is not set leaves an empty word)",
        )


def _refuse_folders(words: list[str], outputs: Named) -> None:
    """Refuse a file that is named as a folder is: without its slash it would be written beside where it was meant to be."""
    from headstack.errors import InputError

    for option, path in outputs:
        named = [each for word in words if word.endswith(os.sep) for each in (word, word.partition("=")[2]) if each]
        if os.path.normpath(path) in map(os.path.normpath, named):
            raise InputError(
                f"{option} `{path}{os.sep}`: there is no such folder",
                f"make it and name a file in it, as `{path / 'NAME'}`, or leave out the `{os.sep}`",
            )


def _overview(arguments: list[str]) -> bool:
    """Answer what needs no verb; parsing would take longer than the answer."""
    if not arguments or arguments in (["--help"], ["-h"]):
        with output.stdout_told():
            output.line(verbs.overview(output.width() or 100))
    elif arguments in (["--version"], ["-V"]):
        with output.stdout_told():
            output.line(_version())
    else:
        return False
    return True


def _console(words: list[str]) -> Console | None:
    """What help is printed on, if it is asked for: a verb that has verbs of its own, alone, asks for it too."""
    if len(words) > 1 and not {"--help", "-h"} & set(words):
        return None
    from headstack.cli import help_console

    return help_console.console()


def _call(arguments: list[str]) -> int | None:
    """Call the verb. What it writes appears when it is through, all together."""
    from headstack import unusual
    from headstack.cli import named
    from headstack.errors import InputError
    from headstack.report import origin

    # A dash alone would be an option without a name.
    words = ["/dev/stdin" if word == "-" else word for word in arguments]
    verb, bound, _ = command_line().parse_args(
        words, console=_console(words), exit_on_error=False, print_error=False, help_on_error=False
    )
    outputs, inputs = named.files(verb, bound)
    _refuse_folders(words, outputs)
    if named.mean_outputs(verb, bound):
        outputs, inputs = named.files(verb, bound)
    if "-" in arguments and any(str(path) == "/dev/stdin" for _, path in outputs):
        raise InputError("`-` is standard input, which is read", "/dev/stdout writes to standard output")
    told = origin.command.set(origin.Origin(tuple(arguments), tuple(path for _, path in inputs)))
    try:
        with unusual.told_by(output.warning):
            return _called(verb, bound, outputs, inputs)
    finally:
        origin.command.reset(told)


def _called(verb: Callable[..., int | None], bound: BoundArguments, outputs: Named, inputs: Named) -> int | None:
    if not outputs:
        with output.stdout_told():
            code = verb(*bound.args, **bound.kwargs)
        output.say_written()
        return code
    from headstack._core import Together, check_apart, leftovers
    from headstack.cli import named, signals
    from headstack.files import check_page, is_named_pipe

    check_apart(outputs, inputs + named.also_read(inputs))
    for option, path in outputs:
        if option == "--report":
            check_page(path)
    for name, path in outputs:
        for left in leftovers(path):
            output.warning(f"`{left}` was left by a run that was killed while it wrote `{path}`; it can be removed")
        # A record is gone on with, and no pipe is one: its verb says so.
        if is_named_pipe(path) and name != "--record":
            output.note(f"`{path}` is a pipe: it is written once somebody reads it")
    with Together():
        with output.apart_from(path for _, path in outputs), output.stdout_told():
            code = verb(*bound.args, **bound.kwargs)
        signals.too_late()
    output.say_written()
    return code


def _as_typed(said: str, arguments: list[str]) -> str:
    """A message in which an infinite number is written as it was typed: `1e400` is one to a computer."""
    for word in arguments:
        value = word.rpartition("=")[2]
        with suppress(ValueError):
            if isinf(float(value)):
                said = re.sub(r"(`?)(?<![\w.-])-?inf(?![\w.])\1", f"`{value}`", said)
    return said


def _run(arguments: list[str]) -> int:
    from headstack.errors import PAGE_PACKAGES, HeadstackError, InternalError, package_hint

    try:
        code = _answer(arguments)
    except InternalError as problem:
        output.error(str(problem), problem.hint)
        return IN_PART
    except HeadstackError as problem:
        if _is_left_unread(str(problem)):
            raise BrokenPipeError from problem
        output.error(_as_typed(str(problem), arguments), problem.hint)
        return BAD_INPUT
    except (KeyboardInterrupt, BrokenPipeError, _NoDescriptors):
        raise
    except UnicodeEncodeError as problem:
        output.error(f"`{problem.object}` holds bytes that are not text (UTF-8)")
        return BAD_INPUT
    except OSError as problem:
        where = f"`{problem.filename}`: " if problem.filename else ""
        output.error(f"{where}{problem.strerror or problem}")
        return BAD_INPUT
    except ModuleNotFoundError as problem:
        if problem.name not in PAGE_PACKAGES:
            raise
        output.error(
            f"this needs the Python package `{problem.name}`, which is not installed",
            package_hint(problem.name),
        )
        return BAD_INPUT
    except BaseException as problem:
        if isinstance(problem, (SystemExit, GeneratorExit)):
            raise
        if output.is_usage_problem(problem):
            output.error(*output.usage_problem(problem, arguments))
            return BAD_INPUT
        output.defect(problem)
        return IN_PART
    return code if isinstance(code, int) else DONE
