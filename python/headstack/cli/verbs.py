"""The verbs: where each lives, what it does in a line, and how it is typed. Loads nothing, so that `--help` is fast."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

VERBS: dict[str, tuple[str, str]] = {
    "drives": ("headstack.cli.drives:app", "The drive library; show, check and import drive files."),
    "trace": ("headstack.cli.trace:app", "Describe a trace; convert, join, match, analyze, capture and make traces."),
    "simulate": ("headstack.cli.simulate:simulate", "Run a workload or a trace on a drive or a system."),
    "validate": (
        "headstack.cli.validate:validate",
        "Replay a trace that has measured times, and score the model against them.",
    ),
    "measure": (
        "headstack.cli.measure:measure",
        "Run probes on a disk, a file or a simulated drive, and report what they show.",
    ),
    "calibrate": (
        "headstack.cli.calibrate:calibrate",
        "Fit parameters of a drive to measured times, on the first part of a trace, and score it on the rest.",
    ),
    "explain": ("headstack.cli.explain:explain", "Show one request, or a few, as a timeline, phase by phase."),
    "compare": (
        "headstack.cli.compare:compare",
        "Compare runs, traces, validations, measurements or the points of a sweep, with 95 % intervals.",
    ),
    "sweep": (
        "headstack.cli.sweep:sweep",
        "Run a workload or a trace over a grid of systems, parameters and seeds, on all cores or a cluster.",
    ),
    "fleet": (
        "headstack.cli.fleet:fleet",
        "Run a trace of very many devices, each on a drive of its own: percentiles of all, and the worst devices.",
    ),
    "explore": (
        "headstack.cli.explore:explore",
        "Run a trace on candidate systems, and see which holds the load, at which p99, watts and price.",
    ),
    "cost": (
        "headstack.cli.cost:cost",
        "List what a drive is made of and what that costs, for any number of actuators.",
    ),
    "power": (
        "headstack.cli.power:power",
        "Show what drives draw, by state, spindle speed and number of arms.",
    ),
    "coefficients": (
        "headstack.cli.coefficients:coefficients",
        "Compute what iocost, mClock and disk-head time assume of a drive, and how far each is from it.",
    ),
    "schedulers": (
        "headstack.cli.schedulers:schedulers",
        "List the scheduling algorithms that hosts and drives can have.",
    ),
    "study": ("headstack.cli.study:app", "Reproduce a paper: its numbers beside ours."),
    "completion": ("headstack.cli.completion:completion", "Print a completion script for bash, zsh or fish."),
}

EXAMPLES: dict[str, tuple[str, ...]] = {
    "drives": ("headstack drives list", "headstack drives show hp-97560"),
    "drives list": ("headstack drives list --csv",),
    "drives show": ("headstack drives show hp-97560", "headstack drives show hp-97560 --toml"),
    "drives check": ("headstack drives check drives/hp-97560.toml", "headstack drives check nearline-22tb --deep"),
    "drives sheet": ("headstack drives sheet nearline-18tb",),
    "drives import": ("headstack drives import cheetah9LP.diskspecs -o cheetah.toml",),
    "trace": (
        "headstack trace info examples/sample.csv",
        "headstack trace analyze examples/sample.csv --report trace.html",
    ),
    "trace info": ("headstack trace info examples/sample.csv", "headstack trace info host.srt --device 0"),
    "trace convert": ("headstack trace convert examples/sample.csv minute.parquet --from 10s --to 70s",),
    "trace formats": ("headstack trace formats",),
    "trace match": ("headstack trace match ticks.txt --histogram histogram.txt",),
    "trace ticks": ("headstack trace ticks histogram.txt",),
    "trace analyze": ("headstack trace analyze examples/sample.csv --report trace.html",),
    "trace iostat": ("headstack trace iostat iostat.txt",),
    "trace capture": ("headstack trace capture /dev/sda host.parquet --for 10m",),
    "trace join": ("headstack trace join both.parquet monday.csv tuesday.csv --clocks follow",),
    "trace make": ("headstack trace make more.parquet --like examples/sample.csv --requests 100000",),
    "simulate": (
        "headstack simulate hp-97560 --workload unix-like --report run.html",
        "headstack simulate cheetah-9lp --trace examples/sample.csv --fit-lba wrap",
        "headstack simulate hp-97560 --workload unix-like --out run.parquet",
    ),
    "validate": (
        "headstack simulate hp-97560 --workload unix-like --set controller.read_overhead_ms=2.5 --out slower.parquet",
        "headstack validate hp-97560 --trace slower.parquet --report scores.html",
        "headstack validate hp-97560 --trace slower.parquet --phase-lock",
    ),
    "measure": (
        "headstack measure sim:hp-97560 skippy",
        "headstack measure /dev/sdb --record sdb.parquet --save sdb.toml",
        "headstack measure sim:maxtor-maxline-plus-ii stream --file-mb 300 --repeats 3 --record streams.parquet",
    ),
    "calibrate": (
        "headstack simulate hp-97560 --workload unix-like --requests 5000 --set controller.read_overhead_ms=2.5 --out slower.parquet",
        "headstack calibrate hp-97560 --trace slower.parquet --parameters controller --save fitted.toml",
        "headstack measure sim:maxtor-maxline-plus-ii stream --file-mb 300 --repeats 3 --record files.parquet",
        "headstack calibrate maxtor-maxline-plus-ii --record files.parquet --save files.toml",
    ),
    "explain": (
        "headstack explain hp-97560 --lba 0 --then 1000000",
        "headstack explain hp-97560 --from run.parquet --id 1234 --report request.html",
    ),
    "compare": (
        "headstack compare drives/hp-97560.toml drives/hp-c2247a.toml --report out.html",
        "headstack compare before.parquet after.parquet --fail-if 'p99 > +5%'",
        "headstack compare results --report sweep.html",
    ),
    "sweep": (
        "headstack sweep examples/dual-actuator.toml --out results",
        "headstack sweep examples/dual-actuator.toml --out results --resume",
        "headstack sweep examples/dual-actuator.toml --out results --dask local:2",
    ),
    "fleet": (
        "headstack fleet nearline-18tb --trace examples/sample.csv",
        "headstack fleet nearline-18tb --trace parts --dask local:2 --out devices.parquet",
    ),
    "explore": (
        "headstack explore examples/sample.csv --candidates examples/candidates.toml --fit-lba wrap --report explore.html",
    ),
    "cost": ("headstack cost --design four-platter --actuators 1,2,4",),
    "power": ("headstack power nearline-18tb",),
    "coefficients": ("headstack coefficients nearline-18tb",),
    "schedulers": ("headstack schedulers",),
    "study": ("headstack study list", "headstack study skippy --report skippy.html"),
    "study list": ("headstack study list",),
    "completion": ("headstack completion bash >> ~/.bash_completion",),
}

ARGUMENTS: dict[str, str] = {
    "drives check": "[OPTIONS] [DRIVES...]",
    "drives sheet": "[OPTIONS] [DRIVES...]",
    "drives import": "[OPTIONS] FILES...",
    "trace join": "[OPTIONS] OUT TRACES...",
    "trace make": "[OPTIONS] OUT",
    "measure": "[OPTIONS] [DEVICE] [PROBES...]",
    "compare": "[OPTIONS] FILES...",
}
"""What is typed behind a verb, where the parser would call it ARGS."""
NARROW = 80
"""Columns of a terminal that nobody has made wider."""
ABOUT = "A laboratory for disk drives: describe, simulate, validate, explore."
OF_A_CHECKOUT = "Files in examples/ and drives/ come with the source of headstack; other files are your own."
STAND_IN = "A simulated drive stands in for a real one here, whose times `headstack trace capture` and `headstack measure` record."
OTHER_FORMS = (
    "Besides --json: --csv prints the tables for other programs (an empty line separates them; sentences go to stderr), "
    "--plain in ASCII, with no line wrapped."
)
EVERY_VERB = "Every verb but completion takes --json, --csv and --plain (ASCII, no line is wrapped)."


def helped(verb: str) -> dict[str, Any]:
    """How the help of a verb begins, where the parser does not know it, and what it ends with."""
    begins = {"usage": f"Usage: headstack {verb} {ARGUMENTS[verb]}"} if verb in ARGUMENTS else {}
    return {**begins, "help_epilogue": examples(verb)}


def examples(verb: str) -> str:
    """The examples of a verb, as the end of its help."""
    known = EXAMPLES.get(verb, ())
    shown = [f"Example{'s' if len(known) > 1 else ''}:", *map(_typed, known)] if known else []
    if any(name in line for line in known for name in ("examples/", "drives/")):
        shown.append(OF_A_CHECKOUT)
    if verb in {"validate", "calibrate"}:
        shown.append(STAND_IN)
    return "\n\n".join([*shown, *([] if verb == "completion" else [OTHER_FORMS])])


def _typed(command: str) -> str:
    """A command for the help: one too long for a line goes on behind a backslash, so that it can be pasted."""
    if len(command) <= NARROW:
        return f"`{command}`"
    first, *options = command.split(" --")
    lines = [first]
    for option in options:
        if len(f"{lines[-1]} --{option} \\") <= NARROW:
            lines[-1] += f" --{option}"
        else:
            lines.append(f"    --{option}")
    # Two spaces at the end of a line keep the next one on its own.
    return " \\`  \n`".join(lines).join("``")


def overview(width: int) -> str:
    """The text of `headstack --help`."""
    from textwrap import wrap

    column = max(map(len, VERBS)) + 4
    options = {
        "-h, --help": "This text; `headstack VERB --help` lists a verb's options.",
        "-V, --version": "The version.",
    }

    def listed(rows: dict[str, str]) -> list[str]:
        lines = []
        for name, about in rows.items():
            first, *rest = wrap(about, max(width - column - 2, 20))
            lines += [f"  {name:<{column}}{first}", *(" " * (column + 2) + part for part in rest)]
        return lines

    return "\n".join(
        [
            "Usage: headstack VERB …",
            "",
            *wrap(ABOUT, width),
            "",
            "Verbs:",
            *listed({name: about for name, (_, about) in VERBS.items()}),
            "",
            "Options:",
            *listed(options),
            "",
            *wrap(EVERY_VERB, width),
            "",
            "Example:",
            f"  {EXAMPLES['simulate'][0]}",
        ]
    )
