"""The command `headstack`: one module a verb, loaded when the verb is used.

Data go to stdout, messages and progress to stderr. Exit codes: 0 done, 1 done in part or a defect of headstack,
2 bad input, 3 not the device asked for, 130 interrupted (128 and the number of the signal).
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from cyclopts import App, CycloptsError, Parameter

from headstack.cli import output

if TYPE_CHECKING:
    from collections.abc import Sequence

DONE, IN_PART, BAD_INPUT, NOT_THE_DEVICE, INTERRUPTED = 0, 1, 2, 3, 130


def _version() -> str:
    from headstack import __version__

    return f"headstack {__version__}"


app = App(
    name="headstack",
    help="A laboratory for disk drives: describe, simulate, validate, explore.",
    help_epilogue="`headstack VERB --help` tells the options of a verb. Every verb takes `--json`, `--csv` and `--plain`.",
    version=_version,
    help_format="markdown",
    # No `--no-…` twins: an option is given or it is not.
    default_parameter=Parameter(negative=()),
    suppress_keyboard_interrupt=False,
)
app.command("headstack.cli.drives:app", name="drives", help="The drive library; show and check drive files.")
app.command(
    "headstack.cli.trace:app",
    name="trace",
    help="Tell what is in a trace; convert, pair, analyse, capture and make traces.",
)
app.command(
    "headstack.cli.simulate:simulate",
    name="simulate",
    help="Run a workload or a trace on a drive or a system.",
)
app.command(
    "headstack.cli.validate:validate",
    name="validate",
    help="Replay a trace that has measured times, and score the model against them.",
)
app.command(
    "headstack.cli.measure:measure",
    name="measure",
    help="Run probes on a disk, a file or a simulated drive, and tell what they show.",
)
app.command(
    "headstack.cli.calibrate:calibrate",
    name="calibrate",
    help="Fit parameters of a drive to measured times, on the first part of a trace, and score it on the rest.",
)
app.command(
    "headstack.cli.explain:explain",
    name="explain",
    help="Tell the story of one request, or of a few, phase by phase.",
)
app.command(
    "headstack.cli.schedulers:schedulers",
    name="schedulers",
    help="The orders of service that hosts and drives can have.",
)
app.command("headstack.cli.study:app", name="study", help="Reproduce a paper: its numbers beside ours.")


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
        # The reader of our output went away (`| head`): nothing is wrong, and nothing is left to say.
        output.silence_stdout()
        return DONE


def _call(arguments: list[str]) -> int | None:
    """Call the verb. What it writes appears when it is through, all together."""
    from headstack.cli import named

    verb, bound, _ = app.parse_args(arguments, exit_on_error=False, print_error=False, help_on_error=False)
    outputs, inputs = named.files(verb, bound)
    if not outputs:
        with output.stdout_told():
            return verb(*bound.args, **bound.kwargs)
    from headstack._core import Together, check_apart, leftovers
    from headstack.cli import signals

    check_apart(outputs, inputs)
    for _, path in outputs:
        for left in leftovers(path):
            output.warning(f"`{left}` was left by a run that was killed while it wrote `{path}`; it can be removed")
    with Together():
        with output.stdout_told():
            code = verb(*bound.args, **bound.kwargs)
        signals.too_late()
    return code


def _run(arguments: list[str]) -> int:
    from headstack.errors import HeadstackError, InternalError

    try:
        code = _call(output.choose(arguments))
    except CycloptsError as problem:
        output.error(*output.usage_problem(problem, arguments))
        return BAD_INPUT
    except InternalError as problem:
        output.error(str(problem), problem.hint)
        return IN_PART
    except HeadstackError as problem:
        output.error(str(problem), problem.hint)
        return BAD_INPUT
    except (KeyboardInterrupt, BrokenPipeError):
        raise
    except OSError as problem:
        where = f"`{problem.filename}`: " if problem.filename else ""
        output.error(f"{where}{problem.strerror or problem}")
        return BAD_INPUT
    except ModuleNotFoundError as problem:
        if problem.name not in {"altair", "jinja2", "polars", "vl_convert"}:
            raise
        output.error(
            f"this needs the Python package `{problem.name}`, which is not installed",
            "pip install 'headstack[report]'",
        )
        return BAD_INPUT
    except BaseException as problem:
        if isinstance(problem, (SystemExit, GeneratorExit)):
            raise
        output.defect(problem)
        return IN_PART
    return code if isinstance(code, int) else DONE
