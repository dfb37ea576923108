"""Measure a device: what is on a disk's data sheet, and what is not, from the times of its accesses.

The same probes run on a raw disk, on a file, on a simulated drive (`sim:hp-97560`) and on the paper's formula (`mock:`).

>>> from headstack import measure
>>> measure.skippy("sim:hp-97560").found["heads"]
19
"""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

from headstack import _core, unusual
from headstack.arguments import checked
from headstack.errors import InputError
from headstack.files import check_writable, parquet, write_toml

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Unpack

    from headstack.report.vega import Drawn
    from headstack.results.measurements import (
        MeasurementSummary,
        PlannedProbe,
        ProbeEntry,
        RecordHead,
        ReplayScores,
        SmartAttribute,
        Stopped,
    )
    from headstack.run import Overrides

__all__ = ["Measurement", "plan", "probes", "read", "run", "scan", "seeker", "skippy", "streams", "zoned"]


class Options(TypedDict, total=False):
    """The options of `run`."""

    record: str | Path | None
    resume: bool
    whole_device: bool
    file_mb: Sequence[float] | None
    record_kib: Sequence[float] | None
    repeats: int | None
    scan_percent: float
    write: bool
    yes_destroy: str | Path | None
    read_only: bool
    seed: int
    noise_percent: float
    outlier_percent: float
    outlier_ms: float
    overrides: Overrides | None
    progress: Callable[[dict[str, Any]], bool | None] | None


class Measurement:
    """What was measured on a device, and what it shows.

    Attributes
    ----------
    samples
        Every access, raw: a table for any Arrow library, `polars.DataFrame(measurement.samples)`.
    head
        What is known beside the samples: `device`, `version`, `finished` (probes), `writes`, `sessions`.
    stopped
        Why it did not come to its end, or `None`: `kind` ("stopped", "gone", "unreadable", "other"), `message`, `hint`.
    left_out
        Probes that were left out on the way, to be through within `within_s`.
    took_s
        How long it took on the device's clock, or `None` of a record that was read.
    """

    def __init__(self, record: _core.Measurement) -> None:
        self._record = record
        self.samples: _core.Table = record.samples
        self.head: RecordHead = record.head
        self.stopped: Stopped | None = record.stopped
        self.left_out: list[str] = record.left_out
        self.took_s: float | None = record.took_s

    def __reduce__(self) -> tuple[Callable[..., Measurement], tuple[bytes, Stopped | None]]:
        """What `pickle` keeps: the record, and why it did not come to its end."""
        return _unpickled, (self._record._to_bytes(), self.stopped)

    @cached_property
    def found(self) -> MeasurementSummary:
        """The values the record shows, as `headstack measure --json` prints them; `InputError` for an empty record."""
        return self._record.extract()

    @property
    def device(self) -> str:
        """The device as it was named."""
        return self.head["device"]["name"]

    @cached_property
    def replay(self) -> ReplayScores | None:
        """How well the drive of `drive_toml` replays the accesses of the record.

        `reads` and `writes`, random and one at a time, and the lists `queued`, `sequential` and `by_size` (reads of each size): each with
        `demerit_percent`, `measured_mean_ms` and more; `within_limit` says whether no demerit of random ones, one at a time, is over
        `limit_percent`, no error per request over `limit_per_request_percent`, and no mean of reads of a size off by more than
        `limit_percent`. `None` where too little was measured.
        """
        try:
            return self._drive_file[1]
        except InputError:
            return None

    @cached_property
    def _drive_file(self) -> tuple[str, ReplayScores | None]:
        return self._record.drive_file(f"{short_name(self.device)}, as measured")

    def drive_toml(self, name: str | None = None) -> str:
        """A drive file of what the record shows; `InputError` where too little was measured.

        What was not measured is assumed, and marked so. Its head says how well it replays what was measured.
        """
        return self._drive_file[0] if name is None else self._record.drive_file(name)[0]

    def drive(self, name: str | None = None) -> _core.Drive:
        """The drive of that file, to be simulated."""
        return _core.Drive(toml=self.drive_toml(name))

    def save_drive(self, path: str | Path, name: str | None = None) -> None:
        """Write that drive file: whole, or not at all."""
        write_toml(path, self.drive_toml(name))

    def save(self, path: str | Path) -> None:
        """Write the record as a Parquet file, for `read`."""
        path = parquet(path, converts=False) or Path(path)
        check_writable(path)
        self._record.save(path)

    def plot_skippy(self, probe: str | None = None) -> Drawn:
        """Skippy's sawtooth with its lines; of the first Skippy in the record, or of `probe`."""
        from headstack.report.probes import skippy_chart
        from headstack.report.vega import drawn

        sawtooths = [each for each in self.found["skippy"] if probe in (None, each["probe"])]
        if not sawtooths:
            raise InputError("the record shows no sawtooth", "measure with the probe `skippy`")
        return drawn(skippy_chart(sawtooths[0]))

    def plot_bandwidth(self) -> Drawn:
        """Bandwidth over the device, with the laws fitted to it."""
        from headstack.report.probes import bandwidth_chart
        from headstack.report.vega import drawn

        if self.found["bandwidth"] is None:
            raise InputError("the record shows no bandwidth", "measure with the probe `zoned`")
        return drawn(bandwidth_chart(self.found["bandwidth"], self.head["device"]["sector_bytes"]))

    def plot_seek(self) -> Drawn:
        """The seek curve with the law fitted to it."""
        from headstack.report.probes import seek_chart
        from headstack.report.vega import drawn

        if not self.found["seek"]["write"] and not self.found["seek"]["read"]:
            raise InputError("the record shows no seek curve", "measure with the probe `seek-curve`")
        return drawn(seek_chart(self.found["seek"]))

    def plot_streams(self, mode: str = "read") -> Drawn:
        """Throughput over record size, a line for each size of file; of reads or of writes."""
        from headstack.report.streams import stream_chart
        from headstack.report.vega import drawn

        streams = self.found["stream"]
        if streams is None or not any(point["mode"] == mode for point in streams["points"]):
            raise InputError(f"the record shows no {mode}s of streams", "measure with the probe `stream`")
        return drawn(stream_chart(streams, mode))

    def plot_scan(self) -> Drawn:
        """How fast each part of the surface was read, and where reads failed or took long."""
        from headstack.report.scan import scan_chart
        from headstack.report.vega import drawn

        if self.found["scan"] is None:
            raise InputError("the record shows no scan", "measure with the probe `scan`")
        return drawn(scan_chart(self.found["scan"]))

    @cached_property
    def smart(self) -> list[SmartAttribute]:
        """What the device says of itself: its SMART attributes, as `smartctl` tells them now; empty where it does not.

        Each has `name`, `raw` and, where the device gives them, `value`, `worst` and `threshold`.
        """
        from headstack.smart import attributes

        return attributes(self.device) if self.head["device"]["kind"] == "block-device" else []

    def report(self, path: str | Path) -> None:
        """Write the measurement's page: one self-contained HTML file."""
        from headstack.files import to_write
        from headstack.report.measurement import measurement_page

        measurement_page(self).write(to_write(path))

    def __len__(self) -> int:
        return len(self._record)

    def __repr__(self) -> str:
        return f"Measurement({self.device!r}, {len(self):,} accesses, {', '.join(self.head['finished'])})"

    def _repr_html_(self) -> str:
        from headstack.report.measurement import values_html

        return values_html(self)


def short_name(device: str) -> str:
    """A device's name without where it lies."""
    return Path(device.removeprefix("sim:")).stem or device.rstrip(":")


def probes() -> list[ProbeEntry]:
    """The probes in the order in which they run: `name`, `about`, `needs` (probes that run before it), `writes`."""
    return _core.measure_probes()


@checked()
def plan(
    device: str | Path,
    probes: Iterable[str] = (),
    *,
    whole_device: bool = False,
    file_mb: Sequence[float] | None = None,
    record_kib: Sequence[float] | None = None,
    repeats: int | None = None,
    scan_percent: float = 100.0,
    write: bool = False,
    yes_destroy: str | Path | None = None,
    read_only: bool = False,
    seed: int = 1,
    noise_percent: float = 0.0,
    outlier_percent: float = 0.0,
    outlier_ms: float = 20.0,
    overrides: Overrides | None = None,
    within_s: float | None = None,
) -> list[PlannedProbe]:
    """What `run` would do, without doing it: for each probe its name, `expected_s` on the device's clock, `fits`, and `for_drive_file`: none can be made without it.

    Some hundred reads show how fast the device is, and how exactly its completions are seen. Where all would take longer than `within_s`, some do not fit: first those that a
    drive file can do without. `InputError` where none does.
    """
    return _core.measure_plan(
        str(device),
        probes=list(probes),
        whole_device=whole_device,
        **_grid(file_mb, record_kib, repeats),
        scan_percent=scan_percent,
        write=write,
        yes_destroy=None if yes_destroy is None else Path(yes_destroy),
        seed=seed,
        noise_percent=noise_percent,
        outlier_percent=outlier_percent,
        outlier_ms=outlier_ms,
        read_only=read_only,
        overrides=overrides,
        within_s=within_s,
    )


@checked()
def run(
    device: str | Path,
    probes: Iterable[str] = (),
    *,
    record: str | Path | None = None,
    resume: bool = False,
    whole_device: bool = False,
    file_mb: Sequence[float] | None = None,
    record_kib: Sequence[float] | None = None,
    repeats: int | None = None,
    scan_percent: float = 100.0,
    write: bool = False,
    yes_destroy: str | Path | None = None,
    read_only: bool = False,
    seed: int = 1,
    noise_percent: float = 0.0,
    outlier_percent: float = 0.0,
    outlier_ms: float = 20.0,
    overrides: Overrides | None = None,
    within_s: float | None = None,
    progress: Callable[[dict[str, Any]], bool | None] | None = None,
) -> Measurement:
    """Run probes on a device.

    Parameters
    ----------
    device
        `sim:SYSTEM` (a library name, a drive file, a system file; in virtual time), `mock:` (the paper's formula, with
        parameters after the colon as `rpm=5400,heads=9`), or the path of a block device or a file.
    probes
        Names (see `probes`), or `skippy` for its three kinds; those they need run before. None: all that suit the device.
    record
        A Parquet file of the record. While probes run, `RECORD.part` beside it grows. Refused if there is one already,
        unless `resume` goes on with it.
    resume
        Go on with the record where it ended, if it is there.
    whole_device
        The probe `zoned` reads all of the device, not samples of it.
    file_mb, record_kib, repeats
        What the probe `stream` writes and reads: files of these sizes (10⁶ bytes), in records of these sizes, so often. As
        Vickovic et al. (2010) did if absent: hours on a real disk.
    scan_percent
        How much of the device the probe `scan` reads, spread evenly over it.
    write, yes_destroy
        Consent to losing what is on a real device: `write`, and the device's path once more. Without both it is only read.
    read_only
        Do not write to a simulated device either.
    seed, noise_percent, outlier_percent, outlier_ms
        For simulated devices: times are misread, evenly by up to `noise_percent`, and so many completions are seen late, by
        so much on average.
    overrides
        For simulated devices: values of the system to replace, by dotted path.
    within_s
        In how much time of the device's clock to be through. What a drive file can do without is left out where that turns out to be too short.
    progress
        Called about twenty times a second with `probe`, `samples`, `elapsed_s`, `expected_s` and `rest_s`, the time of the probes after it; stops by answering `False`.

    Raises `InputError` for devices, probes and records that cannot be used. What ends a measurement under way (Ctrl-C
    included) does not raise: see `Measurement.stopped`.
    """
    path = parquet(record, converts=False)
    if path is None and resume:
        raise InputError("there is no record to go on with", "name it: `--record F.parquet`")
    if path is not None:
        check_writable(path)
        if not resume:
            _refuse_replacing(path)
    if str(device).startswith("sim:"):
        unusual.tell_named(str(device).removeprefix("sim:"), overrides)
    return Measurement(
        _core.measure(
            str(device),
            probes=list(probes),
            record=path,
            resume=resume,
            whole_device=whole_device,
            **_grid(file_mb, record_kib, repeats),
            scan_percent=scan_percent,
            write=write,
            yes_destroy=None if yes_destroy is None else Path(yes_destroy),
            seed=seed,
            noise_percent=noise_percent,
            outlier_percent=outlier_percent,
            outlier_ms=outlier_ms,
            read_only=read_only,
            overrides=overrides,
            within_s=within_s,
            progress=progress,
        )
    )


def _unpickled(record: bytes, stopped: Stopped | None) -> Measurement:
    measurement = Measurement(_core._measurement_of(record))
    measurement.stopped = stopped
    return measurement


def _grid(file_mb: Sequence[float] | None, record_kib: Sequence[float] | None, repeats: int | None) -> dict[str, Any]:
    """The arguments of the core that say what `stream` does."""
    return {
        "file_mb": None if file_mb is None else list(file_mb),
        "record_kib": None if record_kib is None else list(record_kib),
        "repeats": repeats,
    }


@checked()
def read(path: str | Path) -> Measurement:
    """A record that `run` wrote, or the `.part` beside it where it was cut off; `InputError` if it is none."""
    return Measurement(_core.read_measurement(Path(path)))


def skippy(device: str | Path, **options: Unpack[Options]) -> Measurement:
    """Skippy (writes, reads, reads backwards; what the device allows): rotation, sectors, heads, switches in seconds.

    `options` are those of `run`.
    """
    return run(device, ["skippy"], **options)


def zoned(device: str | Path, **options: Unpack[Options]) -> Measurement:
    """Zoned: bandwidth over the device. `options` are those of `run`."""
    return run(device, ["zoned"], **options)


def seeker(device: str | Path, **options: Unpack[Options]) -> Measurement:
    """Seeker: seek time over distance in sectors, by writes at the start and elsewhere. `options` are those of `run`."""
    return run(device, ["seeker"], **options)


def streams(device: str | Path, **options: Unpack[Options]) -> Measurement:
    """Throughput of files by the sizes of file and record. `options` are those of `run`: see `file_mb`."""
    return run(device, ["stream"], **options)


def scan(device: str | Path, **options: Unpack[Options]) -> Measurement:
    """Read the surface, or the share `scan_percent` of it: unreadable and slow sectors. `options` are those of `run`."""
    return run(device, ["scan"], **options)


def journal(record: Path) -> Path:
    """The file that grows beside a record while probes run."""
    return record.with_name(record.name + ".part")


def _may_be_record(path: Path) -> bool:
    """Whether a file that is there begins as a record does, or its journal; a pipe or a folder is not looked into."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(4) in {b"PAR1", b"\xff\xff\xff\xff"}


def _refuse_replacing(record: Path) -> None:
    for path in (record, journal(record)):
        if path.exists():
            if not _may_be_record(path):
                raise InputError(f"--record `{path}` exists, and is not a record", "name another file for the record")
            raise InputError(
                f"`{path}` holds a measurement already",
                "`--resume` goes on with it; to begin anew, remove it or name another record",
            )
