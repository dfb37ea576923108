"""`headstack measure`: probes on a device, and what they show."""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Group, Parameter

from headstack.cli import BAD_INPUT, DONE, IN_PART, NOT_THE_DEVICE, output, progress, signals
from headstack.cli.options import MODEL, OUTPUT, RUN, Json, Overrides, check_counts, model_overrides, seconds
from headstack.cli.progress import about, duration
from headstack.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from headstack.measure import Measurement
    from headstack.results.measurements import MeasurementSummary, PlannedProbe

CONSENT = Group("Writing to a real device", sort_key=0)
STREAMS = Group("The probe `stream`", sort_key=4)
NOISE = Group("Noise of a simulated device", sort_key=5)


PLANNED = (
    "whole_device", "file_mb", "record_kib", "repeats", "scan_percent", "write", "yes_destroy", "read_only", "overrides",
    "seed", "noise_percent", "outlier_percent", "outlier_ms",
)  # fmt: skip
"""The options that say what will be done, and how long it takes."""

LATE = 1.05
"""By how many times `--within` may be exceeded without a word."""


def measure(
    device: Annotated[
        str | None,
        Parameter(
            help="`sim:SYSTEM` (library name, drive file, system file), `mock:`, or the path of a disk or a file."
        ),
    ] = None,
    *probes: Annotated[
        str,
        Parameter(
            help="Probes (`--probes` lists them), `skippy` for its three kinds; if none, all that suit the device but `stream` and `scan`."
        ),
    ],
    list_: Annotated[bool, Parameter(name="--probes", help="List the probes, and measure nothing.")] = False,
    record: Annotated[
        Path | None, Parameter(group=RUN, help="Keep every access in this Parquet file, as it goes on.")
    ] = None,
    resume: Annotated[bool, Parameter(group=RUN, help="Go on with the record where it ended.")] = False,
    from_: Annotated[
        Path | None, Parameter(name="--from", group=RUN, help="Touch no device: tell what an older record shows.")
    ] = None,
    within: Annotated[
        str | None,
        Parameter(
            group=RUN,
            help="Leave probes out that would take longer: `20min`, `2h`; first those a drive file can do without.",
        ),
    ] = None,
    whole_device: Annotated[
        bool, Parameter(group=RUN, help="The probe `zoned` reads all of the device, not samples of it.")
    ] = False,
    file_mb: Annotated[
        str | None, Parameter(group=STREAMS, help="Sizes of files in MB: `300,1000` (30 to 2000 if absent).")
    ] = None,
    record_kib: Annotated[
        str | None, Parameter(group=STREAMS, help="Sizes of records in KiB: `8,512` (8 to 131072 if absent).")
    ] = None,
    repeats: Annotated[
        int | None, Parameter(group=STREAMS, help="How often each file is written or read (15 if absent).")
    ] = None,
    scan_percent: Annotated[
        float | None,
        Parameter(
            group=RUN, help="The probe `scan` reads so much of the device, spread evenly over it (100 if absent)."
        ),
    ] = None,
    write: Annotated[
        bool, Parameter(group=CONSENT, help="Probes may write: what is on the device is lost. With --yes-destroy.")
    ] = False,
    yes_destroy: Annotated[
        Path | None, Parameter(group=CONSENT, help="The path of the device once more: yes, that one.")
    ] = None,
    read_only: Annotated[
        bool, Parameter(group=MODEL, help="Do not write to a simulated device, as to a real one without consent.")
    ] = False,
    set_: Overrides = (),
    seed: Annotated[int | None, Parameter(group=NOISE, help="Seed of everything random in a simulated device.")] = None,
    noise_percent: Annotated[
        float | None,
        Parameter(group=NOISE, help="Every time is misread by up to this share of it, evenly distributed."),
    ] = None,
    outlier_percent: Annotated[float | None, Parameter(group=NOISE, help="So many completions are seen late.")] = None,
    outlier_ms: Annotated[
        float | None, Parameter(group=NOISE, help="How late these are on average (20 if absent).")
    ] = None,
    save: Annotated[
        Path | None, Parameter(group=OUTPUT, help="Write a drive file that simulates what was measured.")
    ] = None,
    report: Annotated[Path | None, Parameter(group=OUTPUT, help="HTML page with the charts.")] = None,
    json: Json = False,
) -> int:
    """Run probes on a device and tell what they show: rotation, geometry, zones, switches, seeks, caches, streams.

    A real device is only read, unless it is named twice: `--write --yes-destroy PATH`. Mounted devices are refused.
    Ctrl-C keeps the record. Exit code 1: done in part, or `--save` wrote a drive that replays what was measured with a demerit
    over 5 %, or with single accesses more than 10 % off; 3: the device does not rotate.
    """
    from headstack import library_drives
    from headstack.files import check_report, check_saved

    if list_:
        return _list(json=json)
    for path, check in ((save, check_saved), (report, check_report)):
        if path is not None:
            check(path)
    noise = {"seed": seed, "noise_percent": noise_percent, "outlier_percent": outlier_percent, "outlier_ms": outlier_ms}
    given = {name: value for name, value in noise.items() if value is not None}
    consent = {"write": write, "yes_destroy": yes_destroy}
    simulated = {"--set": set_, "--read-only": read_only, **{_option(name): True for name in given}}
    if from_ is not None:
        asked = {"DEVICE": device, "--record": record, "--resume": resume, "--whole-device": whole_device, "--within": within is not None,
                 **_given(file_mb, record_kib, repeats), "--scan-percent": scan_percent is not None,
                 **{_option(name): value for name, value in consent.items()}, **simulated}  # fmt: skip
        _refuse(asked, "does not go with --from, which only reads a record", "leave it out, or leave --from out")
        return _read(from_, save, report, json=json)
    if not device:
        raise InputError(
            "measure needs a device", "name a disk, a file or `sim:SYSTEM`; `--from F.parquet` reads a record"
        )
    if device in library_drives() and not Path(device).exists():
        raise InputError(
            f"`{device}` is neither a disk nor a file", f"did you mean `sim:{device}`, the simulated drive?"
        )
    if device in _probe_names() and not Path(device).exists():
        raise InputError(f"`{device}` is a probe: the device comes before it",
                         f"`headstack measure {probes[0] if probes else 'DEVICE'} {device}`")  # fmt: skip
    if _is_simulated(device):
        _refuse({_option(name): value for name, value in consent.items()},
                f"is for real devices, and `{device}` is none: it is written without", "leave it out")  # fmt: skip
    if not device.startswith("sim:"):
        _refuse(simulated, f"is for simulated devices, and `{device}` is none", "leave it out, or name `sim:SYSTEM`")
    if "stream" not in probes:
        _refuse(_given(file_mb, record_kib, repeats), "is for the probe `stream`", "leave it out, or name the probe")
    if "scan" not in probes:
        _refuse(
            {"--scan-percent": scan_percent is not None}, "is for the probe `scan`", "leave it out, or name the probe"
        )
    check_counts(repeats=repeats)
    grid = {
        "file_mb": _sizes(file_mb, "--file-mb", LARGEST_FILE_MB),
        "record_kib": _sizes(record_kib, "--record-kib", LARGEST_RECORD_KIB),
        "repeats": repeats,
    }
    opening = {
        "whole_device": whole_device,
        "scan_percent": 100.0 if scan_percent is None else scan_percent,
        **grid,
        **consent,
        "read_only": read_only,
        "overrides": model_overrides(set_, None),
    }
    within_s = None if within is None else _at_least_a_second(within)
    return _measure(device, probes, {**opening, **given}, (record, resume, within_s), (save, report), json=json)


def _measure(
    device: str,
    probes: tuple[str, ...],
    options: dict[str, Any],
    keep: tuple[Path | None, bool, float | None],
    outputs: tuple[Path | None, Path | None],
    *,
    json: bool,
) -> int:
    from headstack import measure

    record, resume, within_s = keep
    opening = {name: value for name, value in options.items() if name in PLANNED}
    planned = measure.plan(device, probes, within_s=within_s, **opening)
    left_out = [each for each in planned if not each["fits"]]
    if left_out:
        if outputs[0] is not None:
            _refuse_without_file(planned, keep)
        names = ", ".join(f"{each['probe']} ({duration(each['expected_s'])})" for each in left_out)
        output.note(f"left out, to be through within {duration(within_s or 0)}{_clock(device)}: {names}")
        planned = [each for each in planned if each["fits"]]
        probes = tuple(each["probe"] for each in planned)
    try:
        with _progress(device, planned) as told:
            found = measure.run(
                device, probes, record=record, resume=resume, within_s=within_s, progress=told, **options
            )
    except KeyboardInterrupt:
        # It came when the core did not listen: what the journal holds is kept all the same.
        if record is None or not measure.journal(record).exists():
            raise
        word, code = signals.ending()
        output.error(word, _how_to_go_on(device, probes, record, 0))
        return code
    _tell_times(device, found, within_s)
    if record is not None:
        output.wrote(record, f"{len(found):,} accesses")
    stopped = found.stopped
    if stopped is not None and stopped["kind"] == "stopped":
        word, code = signals.ending()
        output.error(word, _how_to_go_on(device, probes, record, len(found)))
        return code
    if stopped is not None:
        output.error(stopped["message"], stopped["hint"] if record is not None else None)
        if not len(found):
            return IN_PART
    return _tell(found, outputs, shows_first=True, json=json)


def _tell_times(device: str, found: Measurement, within_s: float | None) -> None:
    """Say what was left out on the way, and where it took longer all the same."""
    if within_s is None:
        return
    if found.left_out:
        output.note(
            f"left out on the way, to be through within {duration(within_s)}{_clock(device)}: {', '.join(found.left_out)}"
        )
    if found.took_s is not None and found.took_s > LATE * within_s:
        output.note(
            f"it took {duration(found.took_s)}{_clock(device)}, longer than the {duration(within_s)} of --within: what a drive file is made of took longer than announced"
        )


def _refuse_without_file(planned: list[PlannedProbe], keep: tuple[Path | None, bool, float | None]) -> None:
    """Raise where too little time is left for what a drive file is made of: all of it would be spent, and no file come."""
    from headstack import measure

    record, resume, within_s = keep
    finished: list[str] = []
    if record is not None and resume and (record.exists() or measure.journal(record).exists()):
        finished = measure.read(record).head["finished"]
    needed = [each for each in planned if each["for_drive_file"]]
    lacking = [each for each in needed if not each["fits"] and each["probe"] not in finished]
    if lacking:
        names = ", ".join(f"{each['probe']} ({duration(each['expected_s'])})" for each in lacking)
        enough_min = ceil(sum(each["expected_s"] for each in needed) / 60)
        raise InputError(
            f"--within {duration(within_s or 0)} leaves no time for what a drive file is made of: {names}",
            f"`--within {enough_min}min` is enough for it; or leave --save out, to measure what fits",
        )


def _read(path: Path, save: Path | None, report: Path | None, *, json: bool) -> int:
    from headstack import measure

    return _tell(measure.read(path), (save, report), shows_first=False, json=json)


def _tell(found: Measurement, outputs: tuple[Path | None, Path | None], *, shows_first: bool, json: bool) -> int:
    """Show what was found and write what was asked for.

    What is measured now is shown even if no drive file can be made of it: it took long enough.
    """
    save, report = outputs
    from headstack.report.findings import replay_warnings

    refusal, drive = None, ""
    rotates = found.found["rotating"] is not False
    if save is not None and rotates:
        try:
            drive = found.drive_toml()
        except InputError as problem:
            if not shows_first:
                raise
            refusal = problem
    in_part = found.stopped is not None or found.found["failed"] > 0
    if json:
        smart = {"smart": found.smart} if found.found["scan"] is not None else {}
        output.print_json({"replay": found.replay, **found.found, **smart, "partial": in_part})
    else:
        from headstack.cli.measured import show

        show(found)
    for warning in [*replay_warnings(found.replay), *found.found["warnings"]]:
        output.warning(warning)
    if report is not None:
        found.report(report)
        output.wrote(report)
    if refusal is not None:
        output.error(f"`{save}` was not written: {refusal}", refusal.hint)
        return BAD_INPUT
    if save is not None and rotates:
        from headstack.files import write_toml

        write_toml(save, drive)
        output.wrote(save, zones_apart(found.found, drive))
        if found.replay is None:
            output.warning(
                "nothing says how well the drive file replays the device: no random accesses were recorded (probe `random`)"
            )
        in_part = in_part or found.replay is None or not found.replay["within_limit"]
    if not rotates:
        output.error(
            f"{found.device} does not rotate: its times do not depend on any angle",
            "what was measured is shown; headstack describes disk drives"
            + (f", `{save}` was not written" if save else ""),
        )
        return NOT_THE_DEVICE
    return IN_PART if in_part else DONE


def zones_apart(found: MeasurementSummary, drive: str) -> str:
    """Why a drive file has more zones than were found, where it does."""
    zones, parts = len(found["zones"] or ()), drive.count("[[layout.zone]]")
    if not zones < parts:
        return ""
    return f"{parts} zones for the {zones} found: skew or track angle changes within a zone"


def _probe_names() -> set[str]:
    from headstack import measure

    return {"skippy", *(probe["name"] for probe in measure.probes())}


def _list(*, json: bool) -> int:
    from headstack import measure

    probes = measure.probes()
    if json:
        output.print_json({"probes": probes})
    else:
        output.table(
            "Probes, in the order in which they run",
            ["name", "what it does", "needs", "writes"],
            [(each["name"], each["about"], ", ".join(each["needs"]), "where allowed" if each["writes"] else "")
             for each in probes],
            name="Probes", text_columns=(0, 1, 2, 3),
        )  # fmt: skip
    return DONE


def _refuse(options: dict[str, Any], why: str, hint: str) -> None:
    for name, value in options.items():
        if value:
            raise InputError(f"{name} {why}", hint)


def _given(file_mb: str | None, record_kib: str | None, repeats: int | None) -> dict[str, Any]:
    """What was asked of the probe `stream`, by option."""
    return {"--file-mb": file_mb, "--record-kib": record_kib, "--repeats": repeats is not None}


SMALLEST_SIZE = 0.001
LARGEST_FILE_MB = 1_000_000_000
LARGEST_RECORD_KIB = 1 << 20


def _sizes(text: str | None, option: str, largest: int) -> list[float] | None:
    if text is None:
        return None
    try:
        sizes = [float(word) for word in text.split(",")]
    except ValueError:
        raise InputError(f"{option} `{text}` is not a list of numbers", f"for example {option} 512,2048") from None
    for word, size in zip(text.split(","), sizes, strict=True):
        if not SMALLEST_SIZE <= size <= largest:
            unit = "MB" if option == "--file-mb" else "KiB"
            raise InputError(
                f"{option}: `{word.strip()}` is not a size of a stream",
                f"{option}: {SMALLEST_SIZE} to {largest:,} {unit}",
            )
    return sizes


def _at_least_a_second(word: str) -> float:
    length = seconds(word, "--within")
    if length < 1.0:
        raise InputError(f"--within `{word}` is shorter than the shortest, 1 s", "for example --within 20min")
    return length


def _option(name: str) -> str:
    return "--" + name.replace("_", "-")


def _announcement(device: str, planned: list[PlannedProbe]) -> str:
    total = sum(each["expected_s"] for each in planned)
    parts = ", ".join(f"{each['probe']} {duration(each['expected_s'])}" for each in planned)
    return f"measuring {device.rstrip(':')}: {about(total)}{_clock(device)} ({parts})"


def _is_simulated(device: str) -> bool:
    return device.startswith(("sim:", "mock:"))


def _clock(device: str) -> str:
    """Whose time is told: that of a simulated device is over sooner."""
    return " of simulated time" if _is_simulated(device) else ""


def _how_to_go_on(device: str, probes: tuple[str, ...], record: Path | None, samples: int) -> str:
    if record is None:
        return (
            f"{samples:,} accesses are lost; with `--record F.parquet` they are kept, and `--resume` goes on with them"
        )
    words = " ".join(["headstack measure", device, *probes, f"--record {record} --resume"])
    return f"what was measured is kept; go on with `{words}` (and the same other options)"


@contextmanager
def _progress(device: str, planned: list[PlannedProbe]) -> Iterator[Callable[[dict[str, Any]], bool]]:
    """Say how long it will take when everything is found fit and the first access is next; then how far it is.

    On a terminal that is a bar, else a line for each probe.
    """
    told_of: list[str] = []
    bar = _Bar(planned, is_simulated=_is_simulated(device)) if sys.stderr.isatty() else None

    def report(told: dict[str, Any]) -> bool:
        if not told_of:
            output.note(_announcement(device, planned))
        if bar is not None:
            bar.update(told)
        elif told["probe"] not in told_of:
            # What the probes before it found may change the estimate of all that follow.
            rest = f", {duration(told['rest_s'])} remaining after it" if told["rest_s"] else ""
            output.note(f"{told['probe']}: {about(told['expected_s'])}{_clock(device)}{rest}")
        if told["probe"] not in told_of:
            told_of.append(told["probe"])
        return True

    try:
        yield report
    finally:
        if bar is not None:
            bar.stop()


class _Bar:
    """How far all probes are, on a terminal."""

    def __init__(self, planned: list[PlannedProbe], *, is_simulated: bool) -> None:
        self._order = [each["probe"] for each in planned]
        self._expected = {each["probe"]: each["expected_s"] for each in planned}
        self._is_simulated = is_simulated
        self._begun = time.monotonic()
        self._first_s: float | None = None
        self._bar = progress.drawn()
        self._task = self._bar.add_task("", total=sum(self._expected.values()) or 1.0, detail="")

    def update(self, told: dict[str, Any]) -> None:
        """Show it; a probe knows better how long it takes when those before it have run."""
        self._bar.start()
        place = self._order.index(told["probe"])
        self._expected[told["probe"]] = told["expected_s"]
        before = sum(self._expected[name] for name in self._order[:place])
        done, total = before + min(told["elapsed_s"], told["expected_s"]), before + told["expected_s"] + told["rest_s"]
        what = f"{told['probe']} ({place + 1} of {len(self._order)})"
        parts = [*self._remaining(told, done, total), f"{told['samples']:,} accesses"]
        if self._is_simulated:
            parts.append(f"{duration(done)} of {duration(total)} simulated")
        detail = progress.fitting(parts, progress.room(self._bar, what))
        self._bar.update(self._task, completed=done, total=total, description=what, detail=detail)

    def _remaining(self, told: dict[str, Any], done_s: float, total_s: float) -> list[str]:
        """The time that remains: a device's own is as long as ours, that of a simulated one passes as quickly as it did so far."""
        if not self._is_simulated:
            return [f"{about(max(told['expected_s'] - told['elapsed_s'], 0) + told['rest_s'])} remaining"]
        # A record that is gone on with has its beginning already.
        self._first_s = done_s if self._first_s is None else self._first_s
        return progress.remaining(done_s - self._first_s, total_s - self._first_s, time.monotonic() - self._begun)

    def stop(self) -> None:
        """Take it away."""
        self._bar.stop()
