"""Options that several verbs share, and how their words become values."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from math import isinf
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Group, Parameter

from headstack.cli import offered
from headstack.errors import InputError
from headstack.overrides import scheduler_override

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from headstack import Trace

MODEL = Group("Model", sort_key=1)
TRACE = Group("Trace", sort_key=2)
RUN = Group("Run", sort_key=3)
OUTPUT = Group("Output", sort_key=4)

Strict = Annotated[
    bool,
    Parameter(group=TRACE, help="Refuse a trace with a record that makes no sense, instead of leaving it out."),
]
WrittenAs = Annotated[
    str | None,
    Parameter(
        name="--as",
        group=OUTPUT,
        help="The format to write, where the file's name does not say it; `trace formats` lists them.",
    ),
]
OUT_NAMES = ("--out", "-o")
Json = Annotated[bool, Parameter(name="--json", group=OUTPUT, help="Print one JSON object instead of tables.")]
Overrides = Annotated[
    tuple[str, ...],
    Parameter(
        name="--set",
        group=MODEL,
        help="Replace a value of the model: `dotted.path=value`, `*` for every element of a list. Repeatable.",
    ),
]
Scheduler = Annotated[
    str | None,
    Parameter(
        group=MODEL,
        help="Scheduling algorithm: NAME in the host's driver, drive:NAME in the drives; `headstack schedulers` lists them.",
        completer=offered.schedulers,
    ),
]
Dask = Annotated[
    str | None,
    Parameter(group=RUN, help="Run on a Dask cluster: the ADDRESS of its scheduler, or local:N for N processes here."),
]
Replay = Literal["open", "closed", "measured"]


@dataclass(frozen=True, kw_only=True)
class ReadOptions:
    """How a trace is read, and which part of it."""

    format: Annotated[
        str | None,
        Parameter(
            group=TRACE,
            help="Format of the trace, or a file NAME.toml that describes a table; recognised from its contents if absent.",
        ),
    ] = None
    column: Annotated[
        tuple[str, ...],
        Parameter(group=TRACE, help="For CSV: `NAME=FIELD`, the column called NAME holds FIELD. Repeatable."),
    ] = ()
    columns: Annotated[
        str | None,
        Parameter(
            group=TRACE,
            help="For any table, with a header or without: which column holds what: FIELD:COLUMN[:UNIT], commas between "
            "(`time:0:us,op:2,offset:3:bytes,size:4`).",
        ),
    ] = None
    gap: Annotated[
        Literal["after", "before", "auto"] | None,
        Parameter(
            group=TRACE,
            help="For disksim-validate: the request the gap on a line belongs to; `auto` (the default of validate and "
            "calibrate, and theirs alone) lets the measured times tell.",
        ),
    ] = None
    sector_bytes: Annotated[
        int | None, Parameter(group=TRACE, help="Sector size of the trace, where it states none.")
    ] = None
    blkparse_format: Annotated[str | None, Parameter(group=TRACE, help="For text of `blkparse -f`: that format.")] = (
        None
    )
    iolog_unit: Annotated[
        Literal["us", "ms"] | None,
        Parameter(
            group=TRACE,
            help="For fio's iolog of version 3: the unit of its stamps; us if absent. For a latency log of fio 2: us.",
        ),
    ] = None
    slices: Annotated[
        Path | None, Parameter(group=TRACE, help="For tick traces: a TOML file that says where the slices lie.")
    ] = None
    sort: Annotated[
        bool, Parameter(group=TRACE, help="Order the requests by arrival; the whole trace goes into memory.")
    ] = False
    skip_zero_length: Annotated[bool, Parameter(group=TRACE, help="Leave out requests that move nothing.")] = False
    device: Annotated[
        tuple[str, ...],
        Parameter(
            group=TRACE,
            help="Take only this device of the trace: its number, or MAJOR,MINOR. Repeatable; where the trace is run or "
            "converted, `N=M` sends device N to volume M.",
        ),
    ] = ()
    from_: Annotated[
        str | None,
        Parameter(name="--from", group=TRACE, help="Leave out what arrives before: `90`, `90s`, `15m`, `6h`, `3d`."),
    ] = None
    to: Annotated[str | None, Parameter(group=TRACE, help="Leave out what arrives at or after this.")] = None
    op: Annotated[
        Literal["read", "write"] | None,
        Parameter(group=TRACE, help="Take only reads, or only writes: flushes and discards go with writes."),
    ] = None
    process: Annotated[
        tuple[str, ...],
        Parameter(group=TRACE, help="Take only what this process asked for: its name or number. Repeatable."),
    ] = ()
    pairing: Annotated[
        Literal["strict", "btt"] | None,
        Parameter(
            group=TRACE,
            help="For traces of events: `strict`, the default, leaves out pairs that lost events may have made up; `btt` "
            "pairs whatever is left, as btt does.",
        ),
    ] = None

    def paired(self, about: Mapping[str, Any]) -> str | None:
        """By which rule the events of a trace were paired; None where it is none of events."""
        return (self.pairing or "strict") if "pairs" in about else None

    def given(self) -> list[str]:
        """The options that were given, as typed."""
        changed = (field.name for field in fields(self) if getattr(self, field.name) != field.default)
        return ["--" + name.rstrip("_").replace("_", "-") for name in changed]

    def devices(self) -> dict[str, int]:
        """The numbers of the devices that were chosen, by what was typed."""
        return {word: _device(word)[0] for word in self.device}

    def nothing_left(self) -> str:
        """Why no request is left: all are left out, or none is whole."""
        chosen = self.device or self.from_ or self.to or self.op or self.process or self.skip_zero_length
        if chosen:
            return "nothing of the trace was chosen: no request is left by what options leave out"
        return "the trace holds no whole request"

    def open(self, path: Path) -> Trace:
        """Open the trace with these options."""
        from headstack import Trace

        for word in self.device:
            if "=" in word:
                raise InputError(
                    f"--device `{word}` sends a device to a volume, and there is none here",
                    f"--device {word.partition('=')[0]} takes the device alone",
                )
        return Trace(path, **self.keywords())

    def keywords(self) -> dict[str, Any]:
        """What `Trace` is opened with."""
        if self.gap == "auto":
            raise InputError(
                "`--gap auto` compares a disksim-validate trace with a drive, which only validate and calibrate do",
                "`headstack validate DRIVE --trace …` tells; then give `--gap after` or `--gap before`",
            )
        from_s = None if self.from_ is None else seconds(self.from_, "--from")
        to_s = None if self.to is None else seconds(self.to, "--to")
        if to_s is not None and to_s <= (from_s or 0.0):
            problem = f"no time lies between --from {self.from_ or 0} and --to {self.to}"
            raise InputError(problem, "--to is an instant of the trace, after --from")
        return {
            "format": self.format,
            "columns": pairs(self.column, "--column"),
            "table": self.columns,
            "gap": self.gap,
            "sector_bytes": self.sector_bytes,
            "sort": self.sort,
            "skip_zero_length": self.skip_zero_length,
            "devices": [_device(word) for word in self.device],
            "from_s": from_s,
            "to_s": to_s,
            "op": self.op,
            "processes": list(self.process),
            "pairing": self.pairing,
            "blkparse_format": self.blkparse_format,
            "iolog_unit": self.iolog_unit,
            "slices": self.slices,
        }


@dataclass(frozen=True, kw_only=True)
class TraceOptions(ReadOptions):
    """How a trace is read, and fitted to the system it is run on."""

    time_scale: Annotated[float | None, Parameter(group=TRACE, help="Multiply all times between requests by this.")] = (
        None
    )
    inter_arrival_ms: Annotated[
        float | None, Parameter(group=TRACE, help="Requests arrive at this constant distance instead.")
    ] = None
    lba_offset: Annotated[int | None, Parameter(group=TRACE, help="Add this many sectors to every address.")] = None
    lba_scale: Annotated[float | None, Parameter(group=TRACE, help="Multiply every address by this.")] = None
    fit_lba: Annotated[
        Literal["wrap", "scale", "offset"] | None,
        Parameter(group=TRACE, help="What to do about addresses past the end of the system."),
    ] = None

    def open(self, path: Path, *, settles_gap: bool = False) -> Trace:
        """Open the trace with these options; `settles_gap` says that the caller can let the measured times tell."""
        from headstack import Trace

        read = replace(self, gap=None) if settles_gap and self.gap == "auto" else self
        return Trace(
            path,
            **{
                **read.keywords(),
                "gap": self.gap,
                "time_scale": self.time_scale,
                "inter_arrival_ms": self.inter_arrival_ms,
                "lba_offset": self.lba_offset,
                "lba_scale": self.lba_scale,
                "fit_lba": self.fit_lba,
            },
        )


def pairs(words: Iterable[str], option: str) -> list[tuple[str, str]]:
    """Split `name=value` words."""
    split = []
    for word in words:
        name, equals, value = word.partition("=")
        if not (equals and name.strip() and value.strip()):
            lacking = (
                "has no `=` between name and value" if not equals
                else "has no name before the `=`" if not name.strip() else "has no value after the `=`"
            )  # fmt: skip
            said = name.strip() or "rotation_rpm"
            example = f"{option} {said}={value.strip() or 'VALUE'}"
            raise InputError(f"{option} `{word}` {lacking}", f"it takes the form name=value: `{example}`")
        split.append((name.strip(), value.strip()))
    return split


def model_overrides(set_: Iterable[str], scheduler: str | None) -> list[tuple[str, str]]:
    """Values to replace in the system; `scheduler` is `NAME` or `host:NAME` for the driver, `drive:NAME` for the drives."""
    overrides = [(name, _finite(value)) for name, value in pairs(set_, "--set")]
    if scheduler is not None:
        overrides.append(scheduler_override(scheduler, "--scheduler"))
    return overrides


def _finite(value: str) -> str:
    """A value of the model: a number that no computer holds is infinite, which is refused with what is allowed."""
    try:
        return str(float(value)) if isinf(float(value)) else value
    except ValueError:
        return value


_UNITS = {"": 1.0, "us": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "d": 86400.0}


def check_counts(**options: int | None) -> None:
    """Refuse options that count something and leave nothing; they are named as in Python."""
    for name, value in options.items():
        if value is not None and value < 1:
            raise InputError(f"--{name.replace('_', '-')} {value} leaves nothing to do", "give at least 1")


def seconds(word: str, option: str) -> float:
    """Read a length of time: a number and, if not seconds, a unit."""
    number = word.rstrip("dhimnsu")
    unit = word[len(number) :]
    try:
        value = float(number) * _UNITS[unit]
    except (ValueError, KeyError):
        value = -1.0
    if not 0 <= value < 1e10:
        raise InputError(f"{option} `{word}` is not a duration", "a number and a unit: 90, 90s, 250ms, 15m, 6h, 3d")
    return value


def _device(word: str) -> tuple[int, int | None]:
    source, equals, target = word.partition("=")
    major, comma, minor = source.partition(",")
    try:
        device = _kernel_device(int(major), int(minor)) if comma else int(source)
        return device, int(target) if equals else None
    except ValueError:
        hint = "a number, MAJOR,MINOR as in `8,52`, or N=M"
        raise InputError(f"--device `{word}` is not a device number", hint) from None


def _kernel_device(major: int, minor: int) -> int:
    """Number a device as Linux does."""
    if not (0 <= major < 1 << 12 and 0 <= minor < 1 << 20):
        raise ValueError
    return major << 20 | minor


def warmup(word: str | None) -> dict[str, Any]:
    """Read `--warmup`: a plain number counts requests, a number with a unit is a time."""
    if word is None:
        return {}
    if word.isdecimal() and len(word) <= 30:
        return {"warmup_requests": int(word)}
    return {"warmup_s": seconds(word, "--warmup")}
