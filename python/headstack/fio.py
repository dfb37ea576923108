"""fio's job files as workloads, and its JSON beside a run.

A job becomes a stream: `rw`, `rwmixread`, `bs`, `bssplit`, `bsrange`, `blockalign`, `offset`, `size`, `io_size`, `number_ios`,
`runtime`, `startdelay`, `iodepth`, `numjobs`, `thinktime`, `rate`, `rate_iops`, `rate_process`, `random_distribution` (`random`
and `zoned`), `percentage_random`, `zonemode=none`, `randseed`, `direct=1`, and `fsync` or `fdatasync` as flushes. What cannot be
said as a workload is refused by name. Keys that say how fio itself works (`ioengine`, logs, verification of nothing) change
nothing here, but that engines which do one I/O at a time have a depth of 1, as in fio.
"""

from __future__ import annotations

import configparser
import json
from math import gcd
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from headstack.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from headstack import Workload
    from headstack.results.runs import FioTimes, MeasuredByFio

_RW = {
    "read": (1.0, True), "write": (0.0, True), "rw": (None, True), "readwrite": (None, True),
    "randread": (1.0, False), "randwrite": (0.0, False), "randrw": (None, False),
}  # fmt: skip
_ASYNCHRONOUS = {"libaio", "io_uring", "io_uring_cmd", "posixaio", "solarisaio", "windowsaio", "sg", "nvme", "xnvme"}
_NO_MATTER = {
    "name", "description", "filename", "directory", "ioengine", "group_reporting", "new_group", "norandommap", "randrepeat",
    "allrandrepeat", "time_based", "invalidate", "thread", "fallocate", "create_on_open", "overwrite", "refill_buffers",
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
    "thinktime_blocks", "rate", "rate_iops", "rate_process", "random_distribution", "percentage_random", "zonemode", "randseed",
    "direct", "buffered", "fsync", "fdatasync", "stonewall", "wait_for_previous", "ramp_time",
}  # fmt: skip
_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4, "p": 5}
_TIMES = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0, "ms": 1e-3, "us": 1e-6}
_SECTOR = 512


def workload_of_job(path: Path) -> Workload:
    """Make the workload a fio job file describes.

    Raises
    ------
    InputError
        If it cannot be read, or asks for what a workload cannot say.
    """
    from headstack import Workload

    return Workload(toml=toml_of_job(path))


def toml_of_job(path: Path) -> str:
    """Write a fio job file as the text of a workload file."""
    jobs = _read(path)
    if not jobs:
        raise InputError(f"`{path}` has no job", "a job is a section: [name], then rw=randread and more")
    streams: list[str] = []
    seed = 1
    for name, keys in jobs:
        job = _Job(path, name, keys, alone=len(jobs) == 1)
        seed = job.whole("randseed", seed)
        streams += job.streams()
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


class _Job:
    """One job, and how its words become values."""

    def __init__(self, path: Path, name: str, keys: dict[str, str], *, alone: bool) -> None:
        self.path, self.name, self.keys = path, name, keys
        # Bytes of the smallest request, and of one on average.
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
        if keys.get("zonemode", "none") != "none":
            raise self.problem("zonemode", keys["zonemode"], "only `none` is modelled", "zonemode=none")
        if "ramp_time" in keys:
            raise self.problem(
                "ramp_time", keys["ramp_time"], "a workload has no ramp", "leave it out, and give --warmup"
            )

    def problem(self, key: str, value: str, problem: str, hint: str) -> InputError:
        return InputError(f"`{self.path}`, job {self.name}: {key}={value}: {problem}", hint)

    def value(self, key: str, read: Callable[[str], float]) -> float | None:
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
        value = self.value(key, int)
        return default if value is None else int(value)

    def streams(self) -> list[str]:
        """One stream a job; one a clone, where each goes on from its own place or has its own rate."""
        read_fraction, sequential = self._direction()
        depth = self._depth(sequential=sequential)
        clones = max(self.whole("numjobs", 1), 1)
        lines = [f"read_fraction = {read_fraction}", *self._sizes(), *self._place(), *self._end(clones), "raw = true"]
        if sequential:
            lines.append(f"sequential_fraction = {1.0 - (self.value('percentage_random', float) or 0.0) / 100.0}")
        if delay := self.value("startdelay", _seconds):
            lines.append(f"start_s = {delay}")
        for key in ("fsync", "fdatasync"):
            if (every := self.whole(key, 0)) and read_fraction < 1:
                lines.append(f"flush_fraction = {1.0 / every}")
                break
        rate = self._rate()
        if rate is not None:
            each = [f"inter_arrival.{rate}"]
            return self._clones(clones, [*lines, *each])
        think_ms = self._thinktime_ms()
        # fio waits for all that is under way before it thinks: with thought after each, one is under way at a time.
        depth = 1 if think_ms else depth
        thinking = f"think.constant_ms = {think_ms}"
        return self._clones(1, [*lines, f"users = {depth * clones}", thinking])

    def _clones(self, count: int, lines: list[str]) -> list[str]:
        names = [self.name] if count == 1 else [f"{self.name}.{number}" for number in range(count)]
        return [line for name in names for line in ("", "[[stream]]", f"name = {json.dumps(name)}", *lines)]

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

    def _depth(self, *, sequential: bool) -> int:
        depth = max(self.whole("iodepth", 1), 1)
        if self.keys.get("ioengine", "psync") not in _ASYNCHRONOUS:
            depth = 1
        if sequential and depth > 1:
            raise self.problem(
                "iodepth", str(depth), "one sequential stream with several requests at a time cannot be said as a workload",
                "iodepth=1, or rw=randread",
            )  # fmt: skip
        return depth

    def _sizes(self) -> list[str]:
        align = self.value("blockalign" if "blockalign" in self.keys else "ba", _size)
        if split := self.keys.get("bssplit"):
            try:
                parts = [part.partition("/") for part in split.split(":")]
                sizes = [(_size(size), float(share or 0)) for size, _, share in parts]
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
                    ends = [_size(low) / 1024, _size(high) / 1024]
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
                    f"align_kib = {(align or _size(low)) / 1024}",
                ]
        word = self.keys.get("bs", self.keys.get("blocksize", "4k"))
        parts = {part for part in word.split(",") if part}
        if len(parts) != 1:
            raise self.problem(
                "bs", word, "reads and writes of different sizes", "two jobs, one that reads and one that writes"
            )
        self.keys = {**self.keys, "bs": parts.pop()}
        size = self.value("bs", _size) or 0.0
        if size < 1:
            raise self.problem("bs", word, "is not a size", "bs=4k")
        self.smallest = self.mean = size
        return [f"size.fixed_kib = {size / 1024}", f"align_kib = {(align or size) / 1024}"]

    def _place(self) -> list[str]:
        word = self.keys.get("random_distribution", "random")
        kind, _, zones = word.partition(":")
        offset, size = self.keys.get("offset", "0"), self.keys.get("size", "100%")
        if kind == "zoned":
            return self._zones(word, zones)
        if kind != "random":
            raise self.problem(
                "random_distribution", word, "only `random` and `zoned` can be said as a workload", "zoned:50/10:50/90"
            )
        if offset.endswith("%") or size.endswith("%"):
            start = float(offset.rstrip("%")) if offset.endswith("%") else 0.0
            if not offset.endswith("%") and _size(offset):
                raise self.problem(
                    "offset", offset, "bytes beside a size in percent", "give both in bytes, or both in percent"
                )
            if not size.endswith("%"):
                raise self.problem(
                    "size", size, "bytes beside an offset in percent", "give both in bytes, or both in percent"
                )
            end = min(start + float(size.rstrip("%")), 100.0)
            return [] if (start, end) == (0.0, 100.0) else [f"range_percent = [{start}, {end}]"]
        first = int(self.value("offset", _size) or 0) // _SECTOR
        sectors = int(self.value("size", _size) or 0) // _SECTOR
        if sectors < 1:
            raise self.problem("size", size, "is less than a sector", "size=10g")
        return [f"range_lba = [{first}, {first + sectors - 1}]"]

    def _zones(self, word: str, zones: str) -> list[str]:
        """Each range is taken equally often: one that is used more stands there more often."""
        try:
            pairs = [tuple(float(number) for number in zone.split("/")) for zone in zones.split(":")]
            shares, widths = [round(share) for share, _ in pairs], [width for _, width in pairs]
        except ValueError:
            raise self.problem(
                "random_distribution", word, "is not zoned:SHARE/PERCENT:…", "zoned:50/10:50/90"
            ) from None
        if sum(shares) != 100 or sum(widths) > 100.0001:
            raise self.problem(
                "random_distribution", word, "shares must add up to 100, widths to 100 at most", "zoned:50/10:50/90"
            )
        unit = gcd(*shares)
        ranges, start = [], 0.0
        for share, width in zip(shares, widths, strict=True):
            ranges += [[start, start + width]] * (share // unit)
            start += width
        return [f"ranges_percent = {ranges}"]

    def _end(self, clones: int) -> list[str]:
        seconds = self.value("runtime" if "runtime" in self.keys else "timeout", _seconds)
        if seconds:
            return [f"end_s = {seconds + (self.value('startdelay', _seconds) or 0.0)}"]
        requests = self.whole("number_ios", 0)
        if not requests and "io_size" in self.keys:
            requests = int((self.value("io_size", _size) or 0.0) / self.mean)
        return [f"requests = {requests * clones}"] if requests else []

    def _rate(self) -> str | None:
        """Arrivals at a rate, whatever the drive does: the law of the times between them.

        fio keeps a rate of bytes. For `rate_iops` it is that of the smallest size, so that there are fewer of several sizes.
        """
        iops = self.value("rate_iops", _count)
        rate = self.value("rate", _size) if iops is None else iops * self.smallest
        if rate is None:
            return None
        iops = rate / self.mean
        if iops <= 0:
            raise self.problem("rate", self.keys.get("rate", "0"), "is not a rate", "rate_iops=100")
        if self.keys.get("rate_process", "linear") == "poisson":
            return f"exponential_ms = {1000 / iops}"
        return f"constant_ms = {1000 / iops}"

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
        value = self.value("thinktime", (lambda text: float(text) / 1e6) if plain else _seconds)
        return 1000.0 * (value or 0.0)


def _size(word: str) -> float:
    word = word.strip().lower().removesuffix("b").removesuffix("i")
    number = word.rstrip("kmgtp")
    return float(number) * 1024.0 ** _POWERS[word[len(number) :]]


def _count(word: str) -> float:
    word = word.strip().lower()
    number = word.rstrip("kmgtp")
    return float(number) * 1000.0 ** _POWERS[word[len(number) :]]


def _seconds(word: str) -> float:
    word = word.strip().lower()
    number = word.rstrip("smhdu")
    return float(number) * _TIMES[word[len(number) :]]


def results(path: Path) -> list[MeasuredByFio]:
    """What `fio --output-format=json` measured: a row a job and direction.

    Raises
    ------
    InputError
        If the file is not fio's.
    """
    try:
        text = path.read_text()
        about = json.loads(text[text.index("{") :])
        jobs = about["jobs"]
        return [row for job in jobs for row in _rows(job)]
    except OSError as problem:
        raise InputError(f"cannot read `{path}`: {problem.strerror}") from None
    except (ValueError, KeyError, TypeError):
        raise InputError(f"`{path}` is not a result of fio", "write one with fio --output-format=json") from None


def _rows(job: Mapping[str, Any]) -> Iterable[MeasuredByFio]:
    for direction in ("read", "write"):
        one = job[direction]
        if not one["total_ios"]:
            continue
        latency, scale = (one["lat_ns"], 1e6) if "lat_ns" in one else (one["lat"], 1e3)
        completion = one.get("clat_ns") or one.get("clat") or {}
        percentiles = {
            f"p{float(key):g}".replace(".", ""): value / scale
            for key, value in (completion.get("percentile") or {}).items()
        }
        times = {"mean": latency["mean"] / scale, "std": latency["stddev"] / scale}
        times |= percentiles | {"max": latency["max"] / scale}
        yield {
            "job": job["jobname"],
            "op": direction,
            "requests": one["total_ios"],
            "iops": one["iops"],
            "mib_per_s": one["bw_bytes"] / 2**20 if "bw_bytes" in one else one["bw"] / 1024,
            "response_ms": cast("FioTimes", times),
        }
