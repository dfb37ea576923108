"""
The compiled core; import `headstack`, which re-exports what is public.
"""

from _typeshed import Incomplete, SupportsGetItem
from collections.abc import Mapping, Sequence
from headstack.results.common import PerRequest
from headstack.results.designs import CostSummary, PowerSummary, SchedulerEntry
from headstack.results.drives import DriveDescription, Provenance, SeekTimes, SkewWarning, ZoneFigures
from headstack.results.measurements import MeasurementSummary, PlannedProbe, ProbeEntry, RecordHead, ReplayScores, Stopped
from headstack.results.runs import FleetSummary, Plots, RunSummary, Timeline
from headstack.results.traces import Analysis, Converted, Iostat, Matching, TickHistogram, TraceInfo
from headstack.results.validations import DemeritScore, Intervals, ValidationSummary
from os import PathLike
from pathlib import Path
from typing import Any, Final, SupportsFloat, SupportsIndex, final

VERSION: Final[str]
"""
Version of the core and the package.
"""

@final
class CalibrationResult:
    """
    What a calibration comes to.
    """
    @property
    def drive(self, /) -> str:
        """
        The corrected drive, as the text of a drive file.
        """
    def summary(self, /) -> dict:
        """
        Parameters and scores.
        """

@final
class Completion:
    """
    How one request went.
    """
    def __repr__(self, /) -> str: ...
    @property
    def arrival_ns(self, /) -> int:
        """
        When the host issued it.
        """
    @property
    def finish_ns(self, /) -> int:
        """
        When it was complete.
        """
    @property
    def id(self, /) -> int:
        """
        The number that `submit` gave it.
        """
    @property
    def lba(self, /) -> int:
        """
        First sector.
        """
    @property
    def op(self, /) -> str:
        """
        "read" or "write".
        """
    def phases_ns(self, /) -> dict:
        """
        Where the time from arrival to finish went; the phases add up to it exactly.
        """
    @property
    def sectors(self, /) -> int:
        """
        Number of sectors.
        """
    @property
    def start_ns(self, /) -> int:
        """
        When the driver handed it to the drive.
        """

@final
class Drive:
    """
    A drive model.

    Parameters
    ----------
    source
        A name in the library (`hp-97560`) or the path of a drive file.
    toml
        The text of a drive file, instead of `source`.
    overrides
        Values to replace: dotted paths (`layout.zone.*.track_skew_sectors`) and what to set, as in a drive file.
    """
    def __new__(cls, /, source: str | PathLike[str] | None = None, *, toml: str | None = None, overrides: Mapping[str, object] | Sequence[tuple[str, object]] | None = ...) -> Drive: ...
    def __reduce__(self, /) -> tuple[Any, tuple[str, str]]: ...
    def __repr__(self, /) -> str: ...
    @staticmethod
    def _restored(id: str, spec: str) -> Drive:
        """
        The drive that was pickled.
        """
    def access_ms(self, /, from_lba: SupportsIndex, to_lba: SupportsIndex, at_ms: SupportsFloat | SupportsIndex = ..., *, sectors: SupportsIndex = ..., op: str = "read") -> float:
        """
        Time from the arm standing on the track of `from_lba` at the instant `at_ms` until the sectors at `to_lba` have
        passed under the head: seek, rotation and transfer, without controller, cache and bus.
        """
    @property
    def capacity_sectors(self, /) -> int:
        """
        Logical sectors.
        """
    def describe(self, /) -> DriveDescription:
        """
        Everything about the drive that `headstack drives show` tells.
        """
    def lba_at(self, /, cylinder: SupportsIndex, head: SupportsIndex, sector: SupportsIndex, *, actuator: SupportsIndex = ...) -> int | None:
        """
        The logical sector at a place; `None` where the slot holds no data.
        """
    def locate(self, /, lba: SupportsIndex) -> Place:
        """
        Where a logical sector is.
        """
    @property
    def name(self, /) -> str:
        """
        Maker and model.
        """
    def provenance(self, /) -> Provenance:
        """
        How many values are of each kind of provenance, and the entries.
        """
    @property
    def renamed_keys(self, /) -> list[tuple[str, str]]:
        """
        Keys of its drive file by names that go with the next version, each with its name now.
        """
    @property
    def rotation_ms(self, /) -> float:
        """
        Time of one revolution at nominal speed, in ms.
        """
    @property
    def sector_bytes(self, /) -> int:
        """
        Bytes in a logical sector.
        """
    def seek_averages(self, /) -> SeekTimes:
        """
        The "average seek" by each of the definitions in use, and the ends of the curve, in ms.
        """
    def seek_ms(self, /, distance: SupportsIndex) -> float:
        """
        Time of a seek over so many cylinders, in ms.
        """
    def skew_warnings(self, /) -> list[SkewWarning]:
        """
        Skews that are shorter than the switch they stand for, so that sequential work loses revolutions: a list of
        `zone`, `skew` (`track` or `cylinder`), `op`, `skew_ms`, `switch_ms`, `share` of the changes of track that lose a
        revolution, `missing_sectors`, and the rates `rate_mb_per_s` and `possible_mb_per_s`.
        """
    def spec(self, /) -> dict:
        """
        The drive file's values.
        """
    def to_toml(self, /) -> str:
        """
        The drive file's text.
        """
    def zones(self, /) -> list[ZoneFigures]:
        """
        The zones, outermost first: where they are, and what their media give sequential work (`media_mb_per_s` if no
        skew were too short, and what reads and writes get), without controller and bus.
        """

@final
class Fleet:
    """
    What a fleet comes to, or a part of one.
    """
    def devices(self, /) -> Table:
        """
        One row a device.
        """
    @staticmethod
    def merged(packed: SupportsGetItem[int, str]) -> Fleet:
        """
        Adds up parts of one fleet, as `packed` gives them; the same as if one run had had all devices.
        """
    def packed(self, /) -> str:
        """
        All of it in a text, to be sent elsewhere and merged there.
        """
    def summary(self, /, worst: SupportsIndex) -> FleetSummary:
        """
        The key numbers, with so many of the worst devices.
        """

@final
class Measurement:
    """
    What was measured: every access of every probe, raw.
    """
    def __len__(self, /) -> int: ...
    def __repr__(self, /) -> str: ...
    def _to_bytes(self, /) -> bytes:
        """
        The record for another process: `_measurement_of` makes it again.
        """
    def drive_file(self, /, name: str) -> tuple[str, ReplayScores | None]:
        """
        A drive file of what the record shows, as text, and how well it replays the record's accesses (`None` where none of them are
        random): `reads` and `writes` one at a time, `queued`, and reads of each size, `sequential` and `by_size` (lists), each with
        `demerit_percent` and more, and `within_limit`.
        Values that the record does not show are assumed and marked so. Raises `InputError` where too little was measured.
        """
    def extract(self, /) -> MeasurementSummary:
        """
        The values that the record shows; see the reference for the keys. Raises `InputError` for a record without samples.
        """
    @property
    def head(self, /) -> RecordHead:
        """
        What is known beside the samples: `device` (`name`, `kind`, `sectors`, `sector_bytes`, `physical_sector_bytes`,
        `writable`, `queue_depth`, `rotational`, `overhead_ns`), `version`, `finished` (probes), `writes`, `sessions`.
        """
    @property
    def left_out(self, /) -> list[str]:
        """
        Probes that were left out on the way, to be through within `within_s`.
        """
    @property
    def samples(self, /) -> Table:
        """
        The samples: `probe`, `series`, `step`, `role`, `mode`, `lba`, `sectors`, `depth`, `start_ns`, `end_ns`, `ok`, `session`.
        """
    def save(self, /, path: str | PathLike[str]) -> None:
        """
        Writes the record as a Parquet file.
        """
    @property
    def stopped(self, /) -> Stopped | None:
        """
        Why it did not come to its end: `None` if it did, else `kind` ("stopped", "gone", "unreadable", "other"), `message`,
        `hint`.
        """
    @property
    def took_s(self, /) -> float | None:
        """
        How long it took on the device's clock, in s; `None` of a record that was read.
        """

@final
class Place:
    """
    Where one sector is.
    """
    def __eq__(self, value: object, /) -> bool: ...
    def __ne__(self, value: object, /) -> bool: ...
    def __repr__(self, /) -> str: ...
    @property
    def actuator(self, /) -> int:
        """
        Actuator that serves the address, counted from 0.
        """
    @property
    def angle_revolutions(self, /) -> float:
        """
        The angle at which the sector begins, in turns from the index.
        """
    @property
    def cylinder(self, /) -> int:
        """
        Physical cylinder, 0 at the outer edge.
        """
    @property
    def head(self, /) -> int:
        """
        Head (surface).
        """
    @property
    def sector(self, /) -> int:
        """
        Slot on the track, counted from the track's first sector, spares included.
        """
    @property
    def sectors_on_track(self, /) -> int:
        """
        Slots on the track, spares included.
        """
    @property
    def zone(self, /) -> int:
        """
        Zone, counted from 0.
        """

@final
class RunResult:
    """
    What a run comes to.
    """
    def __reduce__(self, /) -> tuple[Any, tuple[str, tuple[bytes | None, bytes | None, bytes | None, tuple[int, bytes] | None]]]:
        """
        What `pickle` keeps: the numbers as text, and the tables as they stand in memory.
        """
    @staticmethod
    def _restored(told: str, streams: tuple[bytes | bytearray | None, bytes | bytearray | None, bytes | bytearray | None, tuple[SupportsIndex, bytes | bytearray] | None]) -> RunResult:
        """
        The run that was pickled.
        """
    def background(self, /) -> Table | None:
        """
        One row for each piece of work that no command waited for; `None` if they were not kept.
        """
    def completions(self, /) -> Table | None:
        """
        One row a request; `None` if they were not kept.
        """
    def driver_requests(self, /) -> Table | None:
        """
        One row for each request of the driver below a buffer cache; `None` if they were not kept, or there is no cache.
        """
    def plots(self, /) -> Plots:
        """
        Curves for a report.
        """
    def sample(self, /) -> tuple[int, Table] | None:
        """
        Every how many-th request is in the sample, and the sample; `None` if there was none taken.
        """
    def summary(self, /) -> RunSummary:
        """
        The key numbers.
        """

@final
class SignalWatch:
    """
    Waits for signals beside Python: their numbers come out of a pipe (`signal.set_wakeup_fd`). If Python has not said within
    0.4 s of the processor's time, or 3 s of anybody's, that it `heard` one of them, the process ends there and then, with `says` on
    stderr and the code 128 and the number.
    """
    def __new__(cls, /, pipe: str, says: SupportsGetItem[int, tuple[SupportsIndex, str]]) -> SignalWatch: ...
    def heard(self, /) -> None:
        """
        Python has heard the signal, and is clearing up.
        """

@final
class Stepper:
    """
    A system driven from outside, one event at a time; instants are integer nanoseconds from 0.

    Submit requests in order of arrival; before each, `advance` to its arrival. Between them, advance to the instants that
    `next_event_ns` tells. Steppers are independent of each other.
    """
    def __new__(cls, /, system: System, *, seed: SupportsIndex = ...) -> Stepper: ...
    def __repr__(self, /) -> str: ...
    def advance(self, /, to_ns: SupportsIndex) -> list[Completion]:
        """
        Lets everything happen up to and including an instant; the requests completed thereby, in order.
        """
    @property
    def in_flight(self, /) -> int:
        """
        Requests submitted and not yet complete.
        """
    def next_event_ns(self, /) -> int | None:
        """
        When something will happen next, as far as is known now; `None` if nothing will.
        """
    @property
    def now_ns(self, /) -> int:
        """
        The instant it has reached.
        """
    def submit(self, /, arrival_ns: SupportsIndex, op: str, lba: SupportsIndex, sectors: SupportsIndex, *, device: SupportsIndex = ..., force_media: bool = False, raw: bool = False) -> int:
        """
        A request arrives; returns its number. A `raw` one goes around the host's buffer cache.
        """

@final
class StreamModel:
    """
    A model of a drive that serves sequential streams: server, disk cache, mechanism (Vickovic, Celar & Mudnic 2010).

    Parameters
    ----------
    drive
        A name in the library, or the path of a drive file: its media rates, switches, bus, buffer and overhead are taken over,
        without delays. Or the path of a model that was saved.
    json
        A description instead, as `spec` gives it, in JSON.
    toml
        A description instead, in TOML.
    """
    def __new__(cls, /, drive: str | None = None, *, json: str | None = None, toml: str | None = None) -> StreamModel: ...
    def __reduce__(self, /) -> tuple[Any, tuple[str, str]]: ...
    def __repr__(self, /) -> str: ...
    @staticmethod
    def _restored(name: str, spec: str) -> StreamModel:
        """
        The model that was pickled.
        """
    def average_service_time_ms(self, /, size_bytes: SupportsIndex) -> float:
        """
        The paper's equation 1: what a request takes on average that finds the arm anywhere, in ms.
        """
    @property
    def capacity_bytes(self, /) -> int:
        """
        Whole bytes on all tracks.
        """
    def differences(self, /, rows: SupportsGetItem[int, tuple[str, SupportsFloat | SupportsIndex, SupportsFloat | SupportsIndex, SupportsIndex, SupportsFloat | SupportsIndex]], *, seed: SupportsIndex = ...) -> list[float]:
        """
        Relative differences of the model from measured throughputs (`rows` as for `fit`): model less measured, over measured.
        """
    def fit(self, /, rows: SupportsGetItem[int, tuple[str, SupportsFloat | SupportsIndex, SupportsFloat | SupportsIndex, SupportsIndex, SupportsFloat | SupportsIndex]], parameters: SupportsGetItem[int, str], *, law: str | None = None, seed: SupportsIndex = ...) -> dict:
        """
        Fits values to measured throughputs.

        Parameters
        ----------
        rows
            Throughputs: "read" or "write", file in 10⁶ bytes, record in KiB, files over which it is the mean, 10⁶ bytes a second.
        parameters
            Paths of the values to fit, or tables of them (`cache`): `cache.read_delay`, `cache.write_delay`, `server.read_delay`, `server.write_delay` (their
            means), `cache.overhead_ms`, `cache.interface_mb_per_s`, `mechanism.outer_mb_per_s`, `mechanism.inner_mb_per_s`,
            `mechanism.head_switch_ms`.
        law
            The form of fitted delays: "constant", "uniform" (from 0 to twice the mean), "normal" (a quarter of the mean as standard
            deviation), "exponential"; `None`: that of the model's own delays, and "normal" where it has none.

        Returns
        -------
        dict
            `spec`, `parameters` (each with `name`, `unit`, `before` (`None` of a delay that the model does not have), `after`, `law`
            (of a delay), `ci95` (two ends), `identifiable`, `why`), and `differences` of the fitted model from each row, relative.
        """
    @property
    def name(self, /) -> str:
        """
        The drive it was made of, or "stream model".
        """
    def run(self, /, op: str, *, file_mb: SupportsFloat | SupportsIndex, record_kib: SupportsFloat | SupportsIndex, repeats: SupportsIndex | None = ..., start_percent: SupportsFloat | SupportsIndex | None = ..., positioning: bool = False, seed: SupportsIndex = ...) -> dict:
        """
        Writes or reads files in records of one size, one file behind the other.

        Parameters
        ----------
        op
            "read" or "write".
        file_mb, record_kib
            Size of a file, in 10⁶ bytes, and of a record. A file is whole records, as many as hold it.
        repeats
            How many files; `None`: until the disk is full.
        start_percent
            So many percent of the tracks further in the first file begins; `None`: each file on a track drawn at random.
        positioning
            Whether each file begins with half a full stroke and half a revolution.
        seed
            Of everything random.

        Returns a dict: `files` (each with `start_track`, `bytes`, `time_ns`, `mb_per_s`), `bytes`, `time_s`, `mb_per_s` (mean of
        the files), `mechanism_busy` and `interface_busy` (shares of the time).
        """
    @property
    def spec(self, /) -> dict:
        """
        Its description: `server`, `cache` and `mechanism`.
        """
    def to_toml(self, /) -> str:
        """
        The description as a TOML file.
        """
    @property
    def tracks(self, /) -> int:
        """
        Tracks.
        """

@final
class System:
    """
    Drives, volumes, buses and a host.

    Parameters
    ----------
    source
        The name of a system or a drive in the library, or the path of a system file or a drive file.
    toml
        The text of such a file, instead of `source`.
    overrides
        Values to replace: dotted paths (`host.scheduler`, `drive.*.rotation_rpm`; for a drive alone also the plain paths
        of its drive file) and what to set.
    """
    def __new__(cls, /, source: str | PathLike[str] | None = None, *, toml: str | None = None, overrides: Mapping[str, object] | Sequence[tuple[str, object]] | None = ...) -> System: ...
    def __reduce__(self, /) -> tuple[Any, tuple[str, str]]: ...
    def __repr__(self, /) -> str: ...
    @staticmethod
    def _restored(_name: str, config: str) -> System:
        """
        The system that was pickled.
        """
    def config(self, /) -> dict:
        """
        Everything that describes it.
        """
    @property
    def config_hash(self, /) -> str:
        """
        Hash of everything that describes it.
        """
    def drive_toml(self, /) -> str:
        """
        The drive file of a system that is one drive, overrides included.
        """
    @property
    def drives(self, /) -> list[tuple[str, str]]:
        """
        Names and drive files of the drives.
        """
    def ladder(self, /, step: str, *, constant_ms: SupportsFloat | SupportsIndex) -> System:
        """
        The system as a rung of the model ladder sees its drives: "M0" (every request takes `constant_ms`) to "M5".
        """
    @property
    def name(self, /) -> str:
        """
        Its name.
        """
    @staticmethod
    def of_drive(drive: Drive) -> System:
        """
        A system of one drive on its own bus.
        """
    @property
    def sector_bytes(self, /) -> int:
        """
        Bytes in a sector of the host's requests.
        """
    @property
    def volumes(self, /) -> list[tuple[str, int]]:
        """
        Names and sizes, in sectors, of the volumes; a request's device is a position in this list.
        """

@final
class Table:
    """
    A table that any Arrow library takes without a copy: `polars.DataFrame(table)`, `pyarrow.table(table)`,
    `pandas.DataFrame.from_arrow(table)`.
    """
    def __arrow_c_stream__(self, /, requested_schema: Any | None = None) -> Any:
        """
        The table as an Arrow stream.
        """
    def __len__(self, /) -> int: ...
    def __repr__(self, /) -> str: ...
    @property
    def column_names(self, /) -> list[str]:
        """
        Names of the columns.
        """

@final
class Together:
    """
    While this is entered, files that are complete wait for their names; they appear together when it is left, and none
    when it is left by an exception.
    """
    def __enter__(self, /) -> None: ...
    def __exit__(self, /, kind: Any, _problem: Any, _traceback: Any) -> None: ...
    def __new__(cls, /) -> Together: ...

@final
class Trace:
    """
    A trace of requests in a file.

    Opening it reads the beginning, so that a missing file or an unknown format is an error here and not later. As an
    Arrow stream (`polars.DataFrame(trace)`, `pyarrow.table(trace)`) it gives its requests as they are in the file; the
    shaping (`devices` to `to_s`) applies when it is converted or run on a system.

    Parameters
    ----------
    path
        The file, a pipe, `-` for standard input, or a URL that fsspec opens (`s3://bucket/host.parquet`), which is copied
        first; gzip and zstd unpack by themselves.
    format
        Its format, one of `trace_formats()`; recognised from the contents if absent.
    columns
        For CSV: pairs of a column's name and the field it holds.
    table
        For any table: which column holds what, as `time:0:us,op:2,offset:3:bytes,size:4`.
    gap
        For disksim-validate: whether the gap on a line comes "after" or "before" its request.
    sector_bytes
        Sector size, where the trace states none.
    sort
        Order the requests by arrival, in memory.
    skip_zero_length
        Leave out requests that move nothing.
    devices
        Devices of the trace, each alone or as a pair with the volume it becomes (`None`: volume 0); empty: all, as they are.
    time_scale, inter_arrival_ms
        Multiply the times between requests, or replace them by a constant.
    lba_offset, lba_scale
        Move addresses.
    fit_lba
        What to do about addresses past the end: "wrap", "scale" or "offset".
    from_s, to_s
        Leave out what arrives before or after.
    blkparse_format
        For text of `blkparse -f`: that format.
    iolog_unit
        For fio's iolog of version 3: the unit of its stamps, "us" or "ms".
    slices
        For tick traces: a file that says where the slices of the drives lie.
    pairing
        For traces of events: "strict" leaves out what lost events may have made up, "btt" pairs as btt does.
    op
        Only "read"s or "write"s.
    processes
        For traces that know processes: only these, by name or number.
    """
    def __arrow_c_stream__(self, /, requested_schema: Any | None = None) -> Any:
        """
        The requests as an Arrow stream, in constant memory.
        """
    def __getnewargs_ex__(self, /) -> tuple[tuple[Path], dict]:
        """
        What `pickle` opens it with in another process: the path and the options.
        """
    def __new__(cls, /, path: str | PathLike[str], *, format: str | None = None, columns: SupportsGetItem[int, tuple[str, str]] = ..., table: str | None = None, gap: str | None = None, sector_bytes: SupportsIndex | None = None, sort: bool = False, skip_zero_length: bool = False, devices: SupportsGetItem[int, SupportsIndex | tuple[SupportsIndex, SupportsIndex | None]] = ..., time_scale: SupportsFloat | SupportsIndex | None = None, inter_arrival_ms: SupportsFloat | SupportsIndex | None = None, lba_offset: SupportsIndex | None = None, lba_scale: SupportsFloat | SupportsIndex | None = None, fit_lba: str | None = None, from_s: SupportsFloat | SupportsIndex | None = None, to_s: SupportsFloat | SupportsIndex | None = None, blkparse_format: str | None = None, iolog_unit: str | None = None, slices: str | PathLike[str] | None = None, pairing: str | None = None, op: str | None = None, processes: SupportsGetItem[int, str] = ...) -> Trace: ...
    def __repr__(self, /) -> str: ...
    def convert(self, /, out: str | PathLike[str], *, format: str | None = None, strict: bool = True, progress: Any | None = None) -> int:
        """
        Writes the trace, shaped, to a file, and returns the number of requests: Parquet or CSV by the file's name, or the
        format named, one of `written_formats()`. A record that makes no sense is an error, or with `strict=False` left out.
        """
    def convert_all(self, /, out: str | PathLike[str], *, format: str | None = None, strict: bool = True, progress: Any | None = None) -> Converted:
        """
        The same, and tells what became of the rest: `requests`, `others` (flushes, discards) and `notes`.
        """
    @property
    def format(self, /) -> str:
        """
        The name of its format.
        """
    @property
    def gap_is_open(self, /) -> bool:
        """
        Whether it has gaps, and nobody has said which request they belong to: "auto" or nothing was given.
        """
    def info(self, /, *, strict: bool = True, progress: Any | None = None) -> TraceInfo:
        """
        Reads the trace through and tells what is in the chosen part of it: devices, time, direction, processes. A record
        that makes no sense is an error, or with `strict=False` left out and counted.
        """
    @property
    def path(self, /) -> Path:
        """
        The file.
        """
    @property
    def sector_bytes(self, /) -> int:
        """
        The size of the sectors in which its addresses are counted.
        """
    def with_gap(self, /, gap: str) -> Trace:
        """
        The same trace with its gaps "after" or "before" their requests.
        """

@final
class ValidationResult:
    """
    How a model compares with measured times.
    """
    @property
    def fitted_drive(self, /) -> str | None:
        """
        The drive as fitted to the first part of the trace, as the text of a drive file; `None` without a phase lock, and
        for systems that are not one drive.
        """
    def intervals(self, /, *, samples: SupportsIndex = 200, seed: SupportsIndex = 1) -> Intervals:
        """
        95 % intervals of demerit and error per request, of all requests, of reads and of writes, from blocks of requests drawn
        anew so often; of the (first) model.
        """
    def summary(self, /) -> ValidationSummary:
        """
        The scores.
        """
    def times(self, /) -> Table:
        """
        One row a request: number, arrival, operation, address and size; measured service time, and the model's, or one
        column for each rung of the ladder; what the cache did and the phases in the (first) model; times in ms. Systems of
        one drive also have the distance of the seek from the request before, in cylinders.
        """

@final
class Workload:
    """
    A workload that is made, request by request, from a description.

    Parameters
    ----------
    source
        The name of a workload in the library, or the path of a workload file.
    toml
        The text of a workload file, instead of `source`.
    overrides
        Values to replace: dotted paths (`stream.0.read_fraction`) and what to set.
    """
    def __new__(cls, /, source: str | PathLike[str] | None = None, *, toml: str | None = None, overrides: Mapping[str, object] | Sequence[tuple[str, object]] | None = ...) -> Workload: ...
    def __reduce__(self, /) -> tuple[Any, tuple[str, str]]: ...
    def __repr__(self, /) -> str: ...
    @staticmethod
    def _restored(name: str, spec: str) -> Workload:
        """
        The workload that was pickled.
        """
    @property
    def name(self, /) -> str:
        """
        Its name.
        """
    @property
    def requests(self, /) -> int | None:
        """
        How many requests it makes at most.
        """
    @property
    def seed(self, /) -> int:
        """
        Its seed.
        """
    def spec(self, /) -> dict:
        """
        Everything that describes it.
        """

def _measurement_of(bytes: bytes) -> Measurement:
    """
    The record that `_to_bytes` was asked of.
    """

def analyse_trace(trace: Trace, *, strict: bool = False, ticks_per_s: SupportsIndex | None = None, progress: Any | None = None) -> Analysis:
    """
    Analyses a trace in one pass; with `ticks_per_s` also as a clock of so many ticks would have seen it.
    """

def calibrate(system: System, trace: Trace, *, share: SupportsFloat | SupportsIndex = 0.5, folds: SupportsIndex | None = None, objective: str = "mae_ms", parameters: SupportsGetItem[int, str] = ..., rounds: SupportsIndex = 3, threads: SupportsIndex | None = None, retries: bool = False, resume: str | PathLike[str] | None = None, note: Any | None = None, progress: Any | None = None) -> CalibrationResult:
    """
    Fits parameters of a system's one drive to a part of a trace, and scores it on the rest.

    The part is the first `share` of the requests; with `folds`, every block of so many is scored by a drive fitted to the
    others. With `retries` the corrected drive gets `[soft_errors]`. `resume` is a file that keeps what was tried. `objective`
    is "balanced_ms", "mae_ms", "rmse_ms" or "demerit_ms". `note` gets sentences, `progress` the number of drives tried.
    """

def capture_trace(device: str | PathLike[str], out: str | PathLike[str], *, duration_s: SupportsFloat | SupportsIndex | None = None, buffer_kib: SupportsIndex = ...) -> dict:
    """
    Captures the requests of a block device to a file, for `duration_s` or until Ctrl-C, which ends it as well as time does.
    """

def check_apart(outputs: SupportsGetItem[int, tuple[str, str | PathLike[str]]], inputs: SupportsGetItem[int, tuple[str, str | PathLike[str]]]) -> None:
    """
    Refuses outputs that are also an input, or one another, by whatever name. Each comes with the word that messages call
    it.
    """

def check_number(argument: str, number: Any) -> None:
    """
    Refuses a number that an argument of this name cannot be; `None` is an argument that was left out.
    """

def cost(design: str, actuators: SupportsGetItem[int, SupportsIndex], *, platters: SupportsIndex | None = None, systems: SupportsGetItem[int, tuple[SupportsIndex, SupportsIndex]] | None = None) -> CostSummary:
    """
    Bills of a design for these numbers of actuators, and systems of such drives (drives, actuators of each) compared; those
    of the design where none are given.
    """

def decide_trace_gap(system: System, trace: Trace) -> dict:
    """
    Which request the gaps of a disksim-validate trace belong to, as its measured times and the drive's rotation tell:
    "after", "before" or "undecided", with the coherence of either reading.
    """

def demerit(measured: SupportsGetItem[int, SupportsFloat | SupportsIndex], model: SupportsGetItem[int, SupportsFloat | SupportsIndex]) -> DemeritScore:
    """
    The demerit of a model (Ruemmler & Wilkes 1994): the root mean square horizontal distance between the distributions of
    measured and modelled times, in ms and in percent of the measured mean. Both are sequences of times in ms.
    """

def explain(system: System, requests: SupportsGetItem[int, tuple[SupportsIndex | None, SupportsIndex | None, SupportsIndex | None, str, SupportsIndex, SupportsIndex, SupportsIndex, SupportsIndex, bool]], *, replay: str = "open", seed: SupportsIndex = ..., gap_ns: SupportsIndex = ...) -> list[Timeline]:
    """
    Serves requests as a run with this replay and seed does, and gives the timeline of those that are wanted.

    `gap_ns`: from when those before are complete to an arrival that is not given.
    """

def fit_workload(trace: Trace, *, strict: bool = False) -> dict:
    """
    Fits a workload model to a trace.
    """

def import_disksim(files: SupportsGetItem[int, str | PathLike[str]], *, meaning: str = "measured", lenient: bool = False, name: str | None = None, summary: str | None = None) -> tuple[str, dict]:
    """
    Read the drive parameter files of DiskSim 4.0 into a drive file.

    The first file describes the drive (a `.diskspecs`, a `.parv` with one drive, or a `.model` alone); further ones (the
    `.parv` of a simulation) add the bus. `meaning` is what the parameters mean: `measured`, what the drives did, as far as
    measured traces tell; `disksim`, what DiskSim 4.0 does with them. With `lenient`, doubtful input is a warning where
    something sensible can be done. Returns the text of the drive file, and a report: `files` read, `carried`, `not_carried` with reasons, and
    `warnings`. Raises `InputError` with file and line.
    """

def import_disksim_simulation(file: str | PathLike[str], *, meaning: str = "measured", lenient: bool = False, prefix: str = ..., folders: SupportsGetItem[int, str | PathLike[str]] = ...) -> dict:
    """
    Read a simulation file of DiskSim 4.0 (a `.parv`) into a system file, the files of its drives, and a workload file.

    `meaning` as for `import_disksim`. The names of the drive files begin with `prefix`. What the file sources is looked for beside it and in `folders`. With `lenient`, components that headstack does not have are left
    out. Returns a mapping: the text of the `system`, `drives` (pairs of file name and text), the text of the `workload` or
    `None`, `trace_options` with which a trace runs as the file means it, and the report as `import_disksim` gives it.
    Raises `InputError` with file and line.
    """

def independent_values(off: SupportsGetItem[int, SupportsFloat | SupportsIndex]) -> float:
    """
    How many independent values so many neighbours in a stream are worth, given how far each is off their mean.
    """

def join_traces(traces: SupportsGetItem[int, Trace], out: str | PathLike[str], *, clocks: str | None = None, devices_apart: bool = False, format: str | None = None, strict: bool = True) -> dict:
    """
    Writes several traces as one, merged by arrival, and tells the number of requests and how the clocks were read.

    Parameters
    ----------
    traces
        Two or more, all read with the options of the first.
    out
        The file, as `Trace.convert` writes it.
    clocks
        "same": one clock; "begin": all begin together; "follow": one after the other, with the mean time between
        arrivals of the one before in between. May be left out if all have times of day.
    devices_apart
        Number the devices of each trace anew; otherwise one number is one device in all of them.
    """

def json_schema(kind: str) -> str:
    """
    The JSON Schema of a kind of file, for editors that complete and check TOML.

    `kind` is `drive`, `system`, `workload` or `design`. Returns the schema as JSON text; raises `InputError` if there is no such
    kind of file.
    """

def leftovers(path: str | PathLike[str]) -> list[Path]:
    """
    Hidden files beside `path` that a process left which was killed while it wrote `path`.
    """

def library_designs() -> list[str]:
    """
    Names of the designs in the library: what drives are made of, for `cost`.
    """

def library_drives() -> list[str]:
    """
    Names of the drives in the library.
    """

def library_systems() -> list[str]:
    """
    Names of the systems in the library.
    """

def library_workloads() -> list[str]:
    """
    Names of the workloads in the library.
    """

def make_trace(model: str, out: str | PathLike[str], *, requests: SupportsIndex, seed: SupportsIndex = ..., format: str | None = None) -> int:
    """
    Writes a trace of `requests` requests after a workload model (the JSON text of one); returns their number.
    """

def match_trace(trace: Trace, *, strict: bool = False) -> Matching:
    """
    Pairs the events of a trace, and counts those that stay unpaired.
    """

def mean_interval(values: SupportsGetItem[int, SupportsFloat | SupportsIndex]) -> tuple[float, float | None]:
    """
    The mean of independent values, such as those of runs with different seeds, and half the width of its 95 % interval
    (Student): `None` for a single value. Raises `InputError` if there is none.
    """

def measure(device: str, *, probes: SupportsGetItem[int, str] = ..., record: str | PathLike[str] | None = None, resume: bool = False, whole_device: bool = False, file_mb: SupportsGetItem[int, SupportsFloat | SupportsIndex] | None = None, record_kib: SupportsGetItem[int, SupportsFloat | SupportsIndex] | None = None, repeats: SupportsIndex | None = None, scan_percent: SupportsFloat | SupportsIndex = ..., write: bool = False, yes_destroy: str | PathLike[str] | None = None, seed: SupportsIndex = ..., noise_percent: SupportsFloat | SupportsIndex = ..., outlier_percent: SupportsFloat | SupportsIndex = ..., outlier_ms: SupportsFloat | SupportsIndex = ..., read_only: bool = False, overrides: Mapping[str, object] | Sequence[tuple[str, object]] | None = ..., within_s: SupportsFloat | SupportsIndex | None = None, progress: Any | None = None) -> Measurement:
    """
    Runs probes on a device.

    Parameters
    ----------
    device
        `sim:SYSTEM` (a library name, a drive file, a system file; virtual time), `mock:` (the paper's formula; parameters after
        the colon as `rpm=5400,heads=9,…`), or the path of a block device or a file (read unless both consents are given).
    probes
        Names from `measure_probes`, or `skippy` for its three kinds; those they need run before. None: all that suit the device.
    record
        File of the record (Parquet). While measuring, `RECORD.part` beside it grows. Absent: the record stays in memory.
    resume
        Go on with the record if the file or its `.part` exists. Otherwise a new one takes its place.
    whole_device
        `zoned` reads the whole device, not samples of it.
    file_mb, record_kib, repeats
        What `stream` reads and writes: sizes of files in 10⁶ bytes, sizes of records in KiB, and how often. Those of Vickovic et
        al. (2010) if absent.
    scan_percent
        How much of the device `scan` reads, spread evenly over it.
    write, yes_destroy
        Consent to losing what is on a real device: `write` and the device's path once more.
    seed, noise_percent, outlier_percent, outlier_ms, read_only, overrides
        For simulated devices: the seed; by how much times are misread, up to this share, evenly; how many completions are seen
        late, and by how much on average; that it must not be written; values of the system to replace.
    within_s
        In how much time of the device's clock to be through: what a drive file can do without is left out where that turns out to be
        too short (`Measurement.left_out`).
    progress
        Called about twenty times a second with a dict: `probe`, `samples`, `elapsed_s`, `expected_s`, and
        `rest_s` for the probes after it (of the device's clock). An answer of `False` stops; so does Ctrl-C. What was
        measured until then is kept.

    Raises `InputError` for unknown probes, unusable devices and unreadable records. What ends a measurement under way (stopped,
    device gone, too many errors) does not raise: see `Measurement.stopped`.
    """

def measure_plan(device: str, *, probes: SupportsGetItem[int, str] = ..., whole_device: bool = False, file_mb: SupportsGetItem[int, SupportsFloat | SupportsIndex] | None = None, record_kib: SupportsGetItem[int, SupportsFloat | SupportsIndex] | None = None, repeats: SupportsIndex | None = None, scan_percent: SupportsFloat | SupportsIndex = ..., write: bool = False, yes_destroy: str | PathLike[str] | None = None, seed: SupportsIndex = ..., noise_percent: SupportsFloat | SupportsIndex = ..., outlier_percent: SupportsFloat | SupportsIndex = ..., outlier_ms: SupportsFloat | SupportsIndex = ..., read_only: bool = False, overrides: Mapping[str, object] | Sequence[tuple[str, object]] | None = ..., within_s: SupportsFloat | SupportsIndex | None = None) -> list[PlannedProbe]:
    """
    What `measure` would do, without doing it: a list of `{"probe", "expected_s", "fits", "for_drive_file"}` (on the device's clock) in
    order. A few reads show how fast the device is. Where all would take longer than `within_s`, some do not fit: first those that a
    drive file can do without.
    """

def measure_probes() -> list[ProbeEntry]:
    """
    The probes, in the order in which they run: `name`, `about`, `needs` (names of probes that run before it), `writes`
    (whether it writes where the device may be written), `when_named` (whether it runs only when it is named).
    """

def per_request_error(measured: SupportsGetItem[int, SupportsFloat | SupportsIndex], model: SupportsGetItem[int, SupportsFloat | SupportsIndex]) -> PerRequest:
    """
    How far the model's time of each request is from its measured one. Both are sequences of times in ms, in the same order.
    """

def power_budget(system: System, *, rpm: SupportsGetItem[int, SupportsFloat | SupportsIndex] = ..., actuators: SupportsGetItem[int, SupportsIndex] = ...) -> PowerSummary:
    """
    What each drive draws, for these spindle speeds and numbers of actuators; as it is described where none are given.
    """

def read_iostat(path: str | PathLike[str], *, strict: bool = False, with_first: bool = False) -> Iostat:
    """
    Reads the reports of `iostat -x`: what they say of each device on average and at most, and every row.
    """

def read_measurement(path: str | PathLike[str]) -> Measurement:
    """
    Reads a record: a Parquet file that `measure` wrote, or the `.part` beside it where it was cut off. Raises `InputError` if
    it is none.
    """

def run_fleet(system: System, trace: Trace, *, seed: SupportsIndex | None = None, requests: SupportsIndex | None = None, share: tuple[SupportsIndex, SupportsIndex] | None = None, progress: Any | None = None, threads: SupportsIndex | None = None) -> Fleet:
    """
    Runs a trace of many devices, each on a system of its own like `system`, which has one volume.

    `share` is a pair: only devices whose number leaves the first as remainder when divided by the second are run. `progress` is
    called now and then with the number of requests done and the simulated time in seconds; it stops the run by returning
    `False`.
    """

def schedulers() -> list[SchedulerEntry]:
    """
    The schedulers that the host's driver and drives know, and the modifiers that may follow their names after a `+`.

    Returns a list of dicts: `name`, `what` (one line), `needs` (`addresses`, `rotation`, `cache`; `any` for a modifier),
    `is_modifier`, and `parameter`: `None`, or a dict of `what`, `unit`, `default`, `least`, `most`.
    """

def simulate(system: System, workload: Trace | Workload, *, seed: SupportsIndex | None = None, replay: str | None = None, requests: SupportsIndex | None = None, warmup_requests: SupportsIndex | None = None, warmup_s: SupportsFloat | SupportsIndex | None = None, until_s: SupportsFloat | SupportsIndex | None = None, out: str | PathLike[str] | None = None, driver_out: str | PathLike[str] | None = None, background_out: str | PathLike[str] | None = None, keep: bool = False, sample: bool = False, progress: Any | None = None, threads: SupportsIndex | None = None) -> RunResult:
    """
    Runs a workload or a trace on a system.

    `out` is a Parquet file that gets a row per request as the run goes on, `driver_out` one that gets a row per request of
    the driver below a buffer cache, `background_out` one that gets a row for each piece of work that no command waited for;
    `keep` keeps the rows in memory; `sample` keeps an even selection of the completions. `progress` is called now and then
    with the number of requests done and the simulated time in seconds; it stops the run by returning `False`. `threads`
    serve independent drives, or a single one: all cores' where absent, with the same results.
    """

def student_975(degrees: SupportsIndex) -> float | None:
    """
    The 0.975 quantile of Student's t; `None` for no degree of freedom.
    """

def tick_histogram(path: str | PathLike[str]) -> TickHistogram:
    """
    Reads a histogram of ticks: lines `N responses took T ticks.`
    """

def trace_formats() -> list[tuple[str, str]]:
    """
    Names and descriptions of the trace formats.
    """

def trace_likeness(trace: Trace, *, strict: bool = False) -> dict:
    """
    What a trace should have in common with one made after it: burstiness over scales, long memory, seeks, returns.
    """

def validate(system: System, trace: Trace, *, replay: str | None = None, seed: SupportsIndex | None = None, requests: SupportsIndex | None = None, ladder: bool = False, phase_lock: SupportsFloat | SupportsIndex | None = None, progress: Any | None = None) -> ValidationResult:
    """
    Runs a trace that has measured times through a model, and scores the model.

    `replay` is "measured" where the trace has start times, unless said otherwise; `ladder` scores the rungs of the ladder
    of models too. `phase_lock` is the share of the trace to which speed, skews and zone offsets are fitted; the rest is
    scored, with the spindle's phase followed from request to request.
    """

def write_at_once(path: str | PathLike[str], content: bytes) -> None:
    """
    Writes a file that is either complete or not there, at once, whoever else waits: what took long is not lost to what comes
    after.
    """

def write_whole(path: str | PathLike[str], text: str) -> None:
    """
    Writes a text file that is either complete or not there; what is not a regular file (`/dev/null`, a pipe) is written
    through.
    """

def written_formats() -> list[str]:
    """
    Names of the formats that can be written.
    """

def __getattr__(name: str) -> Incomplete: ...
