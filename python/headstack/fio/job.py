"""fio's job files as workloads.

A job becomes a stream: `rw` (with a distance after a colon for sequential ones), `rwmixread`, `bs`, `bssplit`, `bsrange`,
`blockalign`, `offset`, `offset_increment`, `size`, `io_size`, `number_ios`, `runtime`, `time_based`, `startdelay`, `iodepth`,
`numjobs`, `thinktime`, `rate`, `rate_iops`, `rate_process`, `random_distribution`, `percentage_random`, `zonemode` (`none` and
`strided`), `randseed`, `direct=1`, and `fsync` or `fdatasync` as flushes. What cannot be said as a workload is refused by name.
Keys that say how fio itself works (`ioengine`, logs, verification of nothing) change nothing here, but that engines which do
one I/O at a time have a depth of 1, as in fio. Random blocks are drawn anew each time, as with `norandommap`.
"""

from __future__ import annotations

import configparser
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from headstack.errors import InputError
from headstack.fio.place import place
from headstack.fio.units import bytes_of, count_of, seconds_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from headstack import Workload

_RW = {
    "read": (1.0, True), "write": (0.0, True), "rw": (None, True), "readwrite": (None, True),
    "randread": (1.0, False), "randwrite": (0.0, False), "randrw": (None, False),
}  # fmt: skip
_ASYNCHRONOUS = {"libaio", "io_uring", "io_uring_cmd", "posixaio", "solarisaio", "windowsaio", "sg", "nvme", "xnvme"}
_NO_MATTER = {
    "name", "description", "filename", "directory", "ioengine", "group_reporting", "new_group", "norandommap", "randrepeat",
    "allrandrepeat", "invalidate", "thread", "fallocate", "create_on_open", "overwrite", "refill_buffers",
    "buffer_compress_percentage", "zero_buffers", "scramble_buffers", "userspace_reap", "iodepth_batch", "iodepth_batch_submit",
    "iodepth_batch_complete", "iodepth_batch_complete_min", "iodepth_batch_complete_max", "iodepth_low", "gtod_reduce",
    "clocksource", "cpus_allowed", "numa_cpu_nodes", "nice", "prio", "exitall", "end_fsync", "fsync_on_close", "unlink",
    "log_avg_msec", "log_offset", "write_lat_log", "write_bw_log", "write_iops_log", "write_hist_log", "per_job_logs",
    "percentile_list", "clat_percentiles", "lat_percentiles", "slat_percentiles", "disk_util", "hipri", "fixedbufs",
    "registerfiles", "sqthread_poll", "file_service_type", "nrfiles", "openfiles", "filesize", "do_verify",
}  # fmt: skip
_MORE = {
    "rw", "readwrite", "rwmixread", "rwmixwrite", "bs", "blocksize", "bssplit", "bsrange", "blocksize_range", "blockalign", "ba",
    "offset", "size", "io_size", "number_ios", "runtime", "timeout", "startdelay", "iodepth", "numjobs", "thinktime",
    "thinktime_blocks", "rate", "rate_iops", "rate_process", "random_distribution", "percentage_random", "zonemode", "randseed", "time_based", "zonesize", "zonerange", "zoneskip",
    "offset_increment", "direct", "buffered", "fsync", "fdatasync", "stonewall", "wait_for_previous", "ramp_time",
}  # fmt: skip
# No run takes thirty years.
_LATE_S = 1e9


def workload_of_job(path: Path, *, cut_s: float | None = None) -> Workload:
    """Make the workload a fio job file describes; `cut_s` ends jobs that say no end themselves.

    Raises
    ------
    InputError
        If it cannot be read, or asks for what a workload cannot say.
    """
    from headstack import Workload

    return Workload(toml=toml_of_job(path, cut_s=cut_s, must_end=True))


def capped_depth(path: Path) -> str:
    """Say which jobs ask for a depth that their engine, which does one at a time, does not keep, as fio notes."""
    capped = [name for name, keys in _read(path) if not _keeps_depth(keys) and keys.get("iodepth", "1") != "1"]
    if not capped:
        return ""
    jobs = ", ".join(capped)
    return (
        f"`{path.name}`: `iodepth` has no effect in {jobs}: the engine (`ioengine`, psync if absent) does one request at a time, "
        "and so does the run, as fio does; `ioengine=libaio` keeps a depth."
    )


def _keeps_depth(keys: dict[str, str]) -> bool:
    return keys.get("ioengine", "psync") in _ASYNCHRONOUS


def cut_s(until_s: float | None, requests: int | None) -> float | None:
    """When a run is over at the latest, by what cuts it; with a number of requests alone, later than any."""
    return until_s if until_s is not None or requests is None else _LATE_S


def toml_of_job(path: Path, *, cut_s: float | None = None, must_end: bool = False) -> str:
    """Write a fio job file as the text of a workload file; `cut_s` ends jobs that say no end themselves."""
    jobs = _read(path)
    if not jobs:
        raise InputError(f"`{path}` has no job", "a job is a section: [name], then rw=randread and more")
    streams: list[str] = []
    seed = 1
    for name, keys in jobs:
        job = Job(path, name, keys, alone=len(jobs) == 1)
        seed = job.whole("randseed", seed)
        streams += job.streams(cut_s)
        if must_end and cut_s is None:
            job.refuse_without_end()
    head = [f"summary = {json.dumps(f'the fio job file {path.name}')}", f"seed = {seed}"]
    return "\n".join([*head, *streams]) + "\n"


def _read(path: Path) -> list[tuple[str, dict[str, str]]]:
    parser = configparser.RawConfigParser(
        allow_no_value=True, delimiters=("=",), comment_prefixes=("#", ";"), strict=False, interpolation=None
    )
    try:
        parser.read_string(path.read_text())
    except FileNotFoundError:
        raise InputError(f"there is no file `{path}`") from None
    except (OSError, UnicodeDecodeError, configparser.Error) as problem:
        raise InputError(f"`{path}` is not a fio job file: {str(problem).splitlines()[0]}") from None
    common: dict[str, str] = {}
    jobs = []
    for name in parser.sections():
        keys = {key: (value or "1").strip() for key, value in parser.items(name)}
        if name == "global":
            common |= keys
        else:
            jobs.append((name, common | keys))
    return jobs


@dataclass(frozen=True)
class _Part:
    """What becomes one stream: a job, or one direction of a mixed job that keeps a rate."""

    name: str
    read_fraction: float
    #: Its share of the job's requests.
    share: float = 1.0
    #: Its rate, if it keeps one.
    iops: float | None = None


def _parts(name: str, read_fraction: float, rates: dict[float, float]) -> list[_Part]:
    """A job's parts: its directions, where each keeps a rate."""
    if len(rates) < 2:
        return [_Part(name, read_fraction, iops=next(iter(rates.values()), None))]
    total = sum(rates.values())
    of = {1.0: "read", 0.0: "write"}
    return [_Part(f"{name}.{of[fraction]}", fraction, iops / total, iops) for fraction, iops in rates.items()]


class Job:
    """One job, and how its words become values."""

    #: Bytes of the smallest request, and of one on average.
    smallest: float
    mean: float

    def __init__(self, path: Path, name: str, keys: dict[str, str], *, alone: bool) -> None:
        self.path, self.name, self.keys = path, name, keys
        self.smallest = self.mean = 4096.0
        for key, value in keys.items():
            if key not in _NO_MATTER | _MORE:
                raise self.problem(key, value, "no workload can say this", "leave it out")
        for key in ("stonewall", "wait_for_previous"):
            if key in keys and not alone:
                raise self.problem(
                    key, keys[key], "jobs run at the same time here", "run them one by one, from files of their own"
                )
        if keys.get("direct", "0") == "0" and keys.get("buffered", "1") != "0":
            raise self.problem(
                "direct", keys.get("direct", "0"), "the page cache would answer, which is not modelled", "direct=1"
            )
        if "ramp_time" in keys:
            raise self.problem(
                "ramp_time", keys["ramp_time"], "a workload has no ramp", "leave it out, and give --warmup"
            )

    def problem(self, key: str, value: str, problem: str, hint: str) -> InputError:
        """What is wrong with a key, and what would be right."""
        return InputError(f"`{self.path}`, job {self.name}: {key}={value}: {problem}", hint)

    def value(self, key: str, read: Callable[[str], float]) -> float | None:
        """A key's value, or nothing where it is absent."""
        if key not in self.keys:
            return None
        try:
            value = read(self.keys[key])
        except (ValueError, KeyError):
            value = -1.0
        if not 0 <= value < float(1 << 62):
            raise self.problem(key, self.keys[key], "is not a value of this key", "see `man fio`")
        return value

    def whole(self, key: str, default: int) -> int:
        """A key that is a whole number."""
        value = self.value(key, int)
        return default if value is None else int(value)

    def streams(self, cut_s: float | None = None) -> list[str]:
        """One stream a job; one a clone, where each has its own region or its own rate."""
        self.read_fraction, self.is_sequential = self._direction()
        clones = max(self.whole("numjobs", 1), 1)
        asked = self.whole("iodepth", 1)
        if asked == 0:
            raise self.problem("iodepth", self.keys["iodepth"], "nothing is ever asked for", "iodepth=1")
        depth = asked if _keeps_depth(self.keys) else 1
        sizes, rates = self._sizes(), self._rates()
        is_apart = bool(rates) or "offset_increment" in self.keys
        together = 1 if is_apart else clones
        parts = _parts(self.name, self.read_fraction, rates)
        streams = []
        for clone in range(clones if is_apart else 1):
            for part in parts:
                name = f"{part.name}.{clone}" if is_apart and clones > 1 else part.name
                lines = [*sizes, *self._times(part, cut_s, together), *self._asked(part, together, depth)]
                streams += ["", "[[stream]]", f"name = {json.dumps(name)}", *lines, *place(self, clone)]
        return streams

    def _times(self, part: _Part, cut_s: float | None, together: int) -> list[str]:
        """When a part of the job begins and ends, and what it does."""
        lines = [
            f"read_fraction = {part.read_fraction}",
            *(self._end(together, part.share) or ([] if cut_s is None else [f"end_s = {cut_s}"])),
            "raw = true",
        ]
        if delay := self.value("startdelay", seconds_of):
            lines.append(f"start_s = {delay}")
        for key in ("fsync", "fdatasync"):
            if (every := self.whole(key, 0)) and part.read_fraction < 1:
                lines.append(f"flush_fraction = {1.0 / every}")
                break
        return lines

    def _asked(self, part: _Part, together: int, depth: int) -> list[str]:
        """How a part of the job asks: at a rate, or when it has what it asked for before."""
        if part.iops is not None:
            law = "exponential" if self.keys.get("rate_process", "linear") == "poisson" else "constant"
            return [f"inter_arrival.{law}_ms = {1000 / part.iops}"]
        think_ms = self._thinktime_ms()
        # fio waits for all that is under way before it thinks: with thought after each, one is under way at a time.
        return [
            f"think.constant_ms = {think_ms}",
            f"users = {together}",
            f"queue_depth = {1 if think_ms else depth}",
        ]

    def _direction(self) -> tuple[float, bool]:
        word = self.keys.get("rw", self.keys.get("readwrite", "read")).split(":")[0]
        if word not in _RW:
            raise self.problem("rw", word, "no workload can say this", "one of " + ", ".join(_RW))
        read, sequential = _RW[word]
        if read is None:
            mix = self.value("rwmixread", float)
            other = self.value("rwmixwrite", float)
            read = (mix if mix is not None else 50.0 if other is None else 100.0 - other) / 100.0
            if not 0 <= read <= 1:
                raise self.problem("rwmixread", str(mix), "is not a percentage", "0 to 100")
        return read, sequential

    def _sizes(self) -> list[str]:
        align = self.value("blockalign" if "blockalign" in self.keys else "ba", bytes_of)
        if split := self.keys.get("bssplit"):
            try:
                parts = [part.partition("/") for part in split.split(":")]
                sizes = [(bytes_of(size), float(share or 0)) for size, _, share in parts]
            except (ValueError, KeyError):
                raise self.problem("bssplit", split, "is not SIZE/PERCENT:…", "bssplit=4k/60:64k/40") from None
            if "," in split:
                raise self.problem("bssplit", split, "reads and writes of different sizes", "two jobs")
            left = max(100.0 - sum(share for _, share in sizes), 0.0)
            open_ends = sum(1 for _, share in sizes if not share)
            weighted = [[size / 1024, share or left / open_ends] for size, share in sizes]
            self.smallest = min(size for size, _ in sizes)
            total = sum(share for _, share in weighted)
            if not total or self.smallest < 1:
                raise self.problem("bssplit", split, "is not SIZE/PERCENT:…", "bssplit=4k/60:64k/40")
            self.mean = 1024 * sum(size * share for size, share in weighted) / total
            return [f"size.weighted_kib = {weighted}", f"align_kib = {(align or self.smallest) / 1024}"]
        for key in ("bsrange", "blocksize_range"):
            if key in self.keys:
                low, _, high = self.keys[key].partition("-")
                try:
                    ends = [bytes_of(low) / 1024, bytes_of(high) / 1024]
                except (ValueError, KeyError):
                    raise self.problem(key, self.keys[key], "is not SIZE-SIZE", "bsrange=4k-64k") from None
                if not 0 < ends[0] <= ends[1]:
                    raise self.problem(key, self.keys[key], "is not SIZE-SIZE", "bsrange=4k-64k")
                # Multiples of the smallest, each as often: sizes are rounded up to them.
                most = ends[1] // ends[0]
                self.smallest = 1024 * ends[0]
                self.mean = self.smallest * (1 + most) / 2
                return [
                    f"size.uniform_kib = {[0.0, most * ends[0]]}",
                    f"size_step_kib = {ends[0]}",
                    f"align_kib = {(align or bytes_of(low)) / 1024}",
                ]
        word = self.keys.get("bs", self.keys.get("blocksize", "4k"))
        parts = {part for part in word.split(",") if part}
        if len(parts) != 1:
            raise self.problem(
                "bs", word, "reads and writes of different sizes", "two jobs, one that reads and one that writes"
            )
        self.keys = {**self.keys, "bs": parts.pop()}
        size = self.value("bs", bytes_of) or 0.0
        if size < 1:
            raise self.problem("bs", word, "is not a size", "bs=4k")
        self.smallest = self.mean = size
        return [f"size.fixed_kib = {size / 1024}", f"align_kib = {(align or size) / 1024}"]

    def _end(self, clones: int, share: float = 1.0) -> list[str]:
        """When it is over: fio moves `io_size` or `size` bytes and no more, unless it is `time_based`; `share` is that of a direction."""
        lines = []
        if seconds_left := self.value("runtime" if "runtime" in self.keys else "timeout", seconds_of):
            lines.append(f"end_s = {seconds_left + (self.value('startdelay', seconds_of) or 0.0)}")
        ends = [self.whole("number_ios", 0)]
        if not (lines and self.keys.get("time_based", "0") != "0"):
            moved = next((key for key in ("io_size", "size") if key in self.keys), None)
            if moved and not self.keys[moved].endswith("%"):
                ends.append(max(int((self.value(moved, bytes_of) or 0.0) / self.mean), 1))
        if requests := min((end for end in ends if end), default=0):
            lines.append(f"requests = {max(round(requests * clones * share), 1)}")
        return lines

    def refuse_without_end(self) -> None:
        """Such a job goes over its whole file or device once; on a disk that takes days, and nobody waits for it."""
        if not self._end(1):
            raise InputError(
                f"`{self.path}`, job {self.name}: says no end, so fio would go on to the end of the device",
                "give `--until 60s` or `--requests 10000`, or write runtime=60 with time_based, io_size=1g or number_ios=10000",
            )

    def _rates(self) -> dict[float, float]:
        """Requests a second that reads (1.0) and writes (0.0) keep, whatever the drive does, of those that the job does.

        fio keeps the rate of each direction by itself, and one of bytes. For `rate_iops` it is that of the smallest size, so that there are
        fewer of several sizes.
        """
        key = next((key for key in ("rate_iops", "rate") if key in self.keys), None)
        if key is None:
            return {}
        words = self.keys[key].split(",")
        # One value is that of both; of several the third is that of trims.
        words = [words[0], words[1] if len(words) > 1 else words[0]]
        done = [self.read_fraction] if self.read_fraction in {0.0, 1.0} else [1.0, 0.0]
        found = {fraction: words[fraction == 0.0].strip() for fraction in done}
        if not all(found.values()):
            if not any(found.values()):
                return {}
            raise self.problem(key, self.keys[key], "a rate of one direction alone", "two jobs, or a rate for each")
        return {fraction: self._iops(key, word) for fraction, word in found.items()}

    def _iops(self, key: str, word: str) -> float:
        try:
            rate = count_of(word) * self.smallest if key == "rate_iops" else bytes_of(word)
        except (ValueError, KeyError):
            raise self.problem(key, self.keys[key], "is not a value of this key", "see `man fio`") from None
        if not 0 < rate < float(1 << 62):
            raise self.problem(key, self.keys[key], "is not a rate", "rate_iops=100")
        return rate / self.mean

    def _thinktime_ms(self) -> float:
        if self.whole("thinktime_blocks", 1) != 1:
            raise self.problem(
                "thinktime_blocks",
                self.keys["thinktime_blocks"],
                "only 1 can be said as a workload",
                "thinktime_blocks=1",
            )
        word = self.keys.get("thinktime", "0")
        plain = word.isdigit()
        value = self.value("thinktime", (lambda text: float(text) / 1e6) if plain else seconds_of)
        return 1000.0 * (value or 0.0)
