"""Short runs of a drive, held against its own geometry: whether it does what a drive of its description does.

Sequential reads and writes at the outer, middle and inner tracks against what the media and the bus allow; random reads and
writes at queue depths 1 and 16, with the write cache on and off; the longest response of reads beside writes that wait for
room in the write cache; how long the full write cache takes to reach the media; what the skews of every zone leave of its
rate. Aims follow from physics, not from this model: where today's model misses one, the verdict says so.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import headstack

if TYPE_CHECKING:
    from collections.abc import Mapping

    from headstack.results import drives
    from headstack.results.drives import DriveAim, FilledCache, SequentialRate, ZoneFigures

# Sequential requests are as long as hosts of the drive's time make them: what fits a small buffer, and what a large one is for.
SEQUENTIAL_KIB = {"small": 64, "large": 1024}
LARGE_BUFFER_KIB = 8192
# Enough tracks for every kind of switch, and enough requests for a mean.
LEAST_TRACKS = 40
LEAST_REQUESTS = 48
MOST_CACHES = 20.0
"""No more is written than this many times the write cache before sequential writes are counted."""
RANDOM_KIB = 4
RANDOM_REQUESTS = {1: 600, 16: 1600, 32: 3200}
MIXED_REQUESTS = 4000
READERS = 2
WRITERS = 2
FILLING_WRITERS = 8
"""Writers that never rest: whatever room the write cache makes is filled at once, also where a drive takes one command at a time
and a write waits behind the reads before it."""
DEPTHS = (1, 16)

SEQUENTIAL_SHARE = 0.95
"""Of what media and bus allow, and of writes against reads where a cache takes them."""
LONG_WAIT_MS = 1000.0
"""A longer read is what drive makers call a long-latency read."""
WRITE_CACHE_OFF = ("drive.*.write_cache.enabled", "false")


@dataclass(frozen=True)
class DeepCheck:
    """What the runs of one drive came to."""

    drive: str
    name: str
    sequential: list[SequentialRate]
    random_iops: dict[str, float]
    longest_ms: dict[str, float]
    flush_s: float
    write_cache: FilledCache | None = None
    """How full the write cache was in the mixed load; `None` without a write cache that has a size."""
    skews: list[str] = field(default_factory=list)
    aims: list[DriveAim] = field(default_factory=list)

    @property
    def missed(self) -> list[DriveAim]:
        """The aims that the drive misses."""
        return [aim for aim in self.aims if not aim["met"]]

    @property
    def verdict(self) -> str:
        """One sentence."""
        if not self.missed:
            share = min(row["share"] for row in self.sequential if row["op"] == "read")
            warned = f"; warned of: {'; '.join(self.skews)}" if self.skews else ""
            return (
                f"meets all {len(self.aims)} aims: sequential reads at {100 * share:.0f} % of its geometry or better, "
                f"{self.random_iops['read_qd1']:.0f} random reads a second at queue depth 1, {self.random_iops['read_qd16']:.0f} at 16{warned}"
            )
        return "misses " + "; ".join(
            f"{aim['what']}: {_amount(aim['value'])} instead of {_amount(aim['aim'])} {aim['unit']}"
            + (f" ({aim['cause']})" if aim["cause"] else "")
            for aim in self.missed
        )

    def json(self) -> drives.DeepCheck:
        """All of it as a JSON object."""
        return {
            "drive": self.drive,
            "name": self.name,
            "ok": not self.missed,
            "verdict": self.verdict,
            "sequential": self.sequential,
            "random_iops": self.random_iops,
            "longest_ms": self.longest_ms,
            "flush_s": self.flush_s,
            "write_cache": self.write_cache,
            "skew_warnings": self.skews,
            "aims": self.aims,
        }


def deep_check(drive: str) -> DeepCheck:
    """Run a drive of the library, or a drive file, through the checks: about a second."""
    from headstack.checks.skews import skew_sentences

    bench = Bench(drive)
    sequential = [bench.sequential(place, op) for place in ("outer", "middle", "inner") for op in ("read", "write")]
    random = bench.random()
    mixed = bench.mixed()
    result = DeepCheck(
        drive, bench.model.name, sequential, random, mixed.longest_ms, mixed.flush_s, mixed.cache, skew_sentences(bench.model)
    )  # fmt: skip
    result.aims.extend(_aims(result, bench))
    return result


@dataclass(frozen=True)
class Mixed:
    """What reads beside writes came to, with the write cache full."""

    longest_ms: dict[str, float]
    flush_s: float
    cache: FilledCache | None


class Bench:
    """A drive, and what is run on it."""

    def __init__(
        self,
        drive: str,
        *,
        write_cache_mib: int | None = None,
        sequential_kib: int | None = None,
        replaced: tuple[str, str] | None = None,
    ) -> None:
        """Replaced: by `write_cache_mib` the size of its write cache, by `replaced` any value; the length of requests."""
        self.source = drive
        self.own_sequential_kib = sequential_kib
        values = (
            [] if write_cache_mib is None else [("write_policy.write-back.size_kib", f"{1024.0 * write_cache_mib}")]
        )
        if replaced is not None:
            values.append((replaced[0].removeprefix("drive.*."), replaced[1]))
        self.overrides = [(f"drive.*.{path}", value) for path, value in values]
        self.model = headstack.Drive(drive, overrides=values)
        self.spec = self.model.spec()
        self.zones = self.model.zones()
        self.sector_bytes = self.model.sector_bytes
        self.actuators = self.spec.get("actuators", 1)

    @property
    def write_cache_kib(self) -> float:
        """What the drive may hold of writes it has reported, all actuators together."""
        return self._held_kib(self.spec["write_policy"])

    @property
    def policy_when_off(self) -> dict[str, Any]:
        """What takes the place of the write policy while the write cache is off."""
        return self.spec.get("write_cache", {}).get("when_off", {"write-through": {}})

    def _held_kib(self, policy: dict[str, Any]) -> float:
        (kind, values), *_ = policy.items()
        held = 0.0 if kind == "write-through" else values.get("size_kib", self.segment_kib)
        return held * self.actuators

    @property
    def segment_kib(self) -> float:
        """The cache's segment: what immediate reporting may hold."""
        return (self.spec.get("cache") or {}).get("segment_kib", self.spec["buffer"]["size_kib"])

    @property
    def sequential_kib(self) -> int:
        """The length of a sequential request."""
        if self.own_sequential_kib is not None:
            return self.own_sequential_kib
        return SEQUENTIAL_KIB["large" if self.spec["buffer"]["size_kib"] >= LARGE_BUFFER_KIB else "small"]

    @property
    def caches_writes(self) -> bool:
        """Whether writes may be reported before they are on the media."""
        return "write-through" not in self.spec["write_policy"]

    @property
    def reads_ahead(self) -> bool:
        """Whether the drive goes on reading between commands."""
        return (self.spec.get("cache") or {}).get("read_ahead", "none") != "none"

    def run(self, stream: str, requests: int, warmup: int = 0, *, off: bool = False) -> headstack.Run:
        """A closed workload of one stream."""
        return self.run_streams(f"[[stream]]\nthink.constant_ms = 0\n{stream}", requests, warmup, off=off)

    def run_streams(
        self, streams: str, requests: int, warmup: int, *, off: bool = False, seed: int = 1
    ) -> headstack.Run:
        """A workload of several streams; `off` turns the write cache off."""
        text = f"seed = {seed}\nrequests = {requests + warmup}\n{streams}"
        overrides = [*self.overrides, WRITE_CACHE_OFF] if off else self.overrides
        system = headstack.System(self.source, overrides=overrides)
        return headstack.simulate(system, headstack.Workload(toml=text), warmup_requests=warmup, threads=1)

    # ---- sequential ----

    def zone_at(self, place: str) -> int:
        """The zone at the outer edge, at half of an actuator's addresses, or at the inner edge."""
        if place == "outer":
            return 0
        held = [number for number, zone in enumerate(self.zones) if zone["sectors"] > 0]
        if place == "inner":
            return held[-1]
        half = (self.zones[held[-1]]["first_lba"] + self.zones[held[-1]]["sectors"]) // 2
        return max(number for number in held if self.zones[number]["first_lba"] <= half)

    def sequential(self, place: str, op: str) -> SequentialRate:
        """Long requests one behind the other, at queue depth 1, after the write cache is full."""
        number = self.zone_at(place)
        zone = self.zones[number]
        track_bytes = zone["sectors_per_track"] * self.sector_bytes
        zone_bytes = zone["sectors"] * self.sector_bytes
        # The last request must not reach beyond the zone.
        size = min(self.sequential_kib * 1024, max(zone_bytes // 8, self.sector_bytes))
        sectors = max(size // self.sector_bytes, 1)
        size = sectors * self.sector_bytes
        bus_s = size / 1e6 / self.spec["bus"][f"{op}_mb_per_s"] + self._overhead_ms(op) / 1e3
        warmup = self._requests_to_fill(size, size / 1e6 / bus_s / zone["media_mb_per_s"]) if op == "write" else 4
        requests = max(LEAST_REQUESTS, int(LEAST_TRACKS * track_bytes / size))
        first, last = zone["first_lba"], zone["first_lba"] + zone["sectors"] - 1
        # From the zone's beginning: a range of one request to begin in, then on from there.
        stream = (
            f"read_fraction = {float(op == 'read')}\nsequential_fraction = 1.0\nrange_lba = [{first}, {last}]\n"
            f"size.fixed_kib = {size / 1024!r}\nalign_kib = {size / 1024!r}\n"
        )
        summary = self.run(stream, requests, warmup).summary
        rate = requests * size / _span_s(summary, requests) / 1e6
        geometry = min(zone["media_mb_per_s"], size / 1e6 / bus_s)
        seconds = size / (rate * 1e6) - size / (geometry * 1e6)
        lost = seconds / (self.model.rotation_ms / 1e3) * track_bytes / size
        share = rate / geometry
        return {
            "place": place, "op": op, "zone": number, "geometry_mb_per_s": geometry, "mb_per_s": rate, "lost_per_track": lost,
            "cause": "" if share >= SEQUENTIAL_SHARE else self._cause(op, zone, lost, size), "share": share,
        }  # fmt: skip

    def _requests_to_fill(self, size: int, times_media: float) -> int:
        """So many writes of a size, which come at so many times the rate of the media, fill the write cache, and a quarter more."""
        # What comes no faster than it goes never fills it.
        caches = 1.25 / (1 - 1 / times_media) if times_media > 1 else 0.0
        return int(min(max(caches, 2.0), MOST_CACHES) * self.write_cache_kib * 1024 / size) + 4

    def _overhead_ms(self, op: str) -> float:
        """What a sequential command costs beside its data: while it is worked on, the bus rests."""
        controller = self.spec["controller"]
        history = controller.get("by_history")
        if op == "read":
            plain = controller.get("hit_overhead_ms", controller["read_overhead_ms"])
            return (history["read_hit_ms"][0] if history else plain) + controller["read_completion_ms"]
        # Data may cross the bus beside the overhead.
        plain = controller.get("write_data_after_ms", controller["write_overhead_ms"])
        return (history["write_hit_ms"][1] if history else plain) + controller["write_completion_ms"]

    def _cause(self, op: str, zone: ZoneFigures, lost: float, size: int) -> str:
        """Why sequential work falls short."""
        media, reached = zone["media_mb_per_s"], zone[f"sequential_{op}_mb_per_s"]
        if reached < SEQUENTIAL_SHARE * media:
            return f"skews shorter than the switch: {reached:.3g} of {media:.3g} MB/s from the media"
        per_request = lost * size / (zone["sectors_per_track"] * self.sector_bytes)
        if op == "write" and not self.caches_writes:
            return f"no write cache: {per_request:.2f} revolutions between one command and the next"
        if op == "write":
            return f"{lost:.2f} revolutions a track lost between destaged pieces, not to skews: the write cache's doing"
        if not self.reads_ahead:
            return f"no read-ahead: {per_request:.2f} revolutions between one command and the next"
        fence = self.spec["buffer"].get("read_fence_fraction") or 0.0
        if fence > 0.5:
            return f"a read asks for the bus when {100 * fence:.0f} % of it are in the buffer: {lost:.2f} revolutions a track"
        if zone["media_mb_per_s"] > self.spec["bus"]["read_mb_per_s"]:
            return f"the media outrun the bus, and the buffer runs full: {lost:.2f} revolutions a track"
        return f"read-ahead ends between commands: {per_request:.2f} revolutions a command"

    # ---- random ----

    def random(self) -> dict[str, float]:
        """IOPS of random requests: reads, writes as the drive is set, and writes without the write cache."""
        found = {}
        for depth in DEPTHS:
            found[f"read_qd{depth}"] = self.iops("read", depth)
            found[f"write_cached_qd{depth}"] = self.iops("write", depth)
            if self.caches_writes:
                found[f"write_uncached_qd{depth}"] = self.iops("write", depth, off=True)
        return found

    def iops(self, op: str, depth: int, *, off: bool = False, requests: int | None = None, seed: int = 1) -> float:
        """Random requests a second in a closed loop, after the write cache is full; `off` turns it off."""
        filled_kib = (
            self._held_kib(self.policy_when_off if off else self.spec["write_policy"]) if op == "write" else 0.0
        )
        warmup = int(1.5 * filled_kib / RANDOM_KIB) + 100
        counted = requests or max(RANDOM_REQUESTS.get(depth, 100 * depth), warmup // 4)
        stream = f"[[stream]]\nthink.constant_ms = 0\nread_fraction = {float(op == 'read')}\nusers = {depth}\n{self._small()}"
        # As many again as are under way at the end.
        run = self.run_streams(stream, warmup + counted + depth, 0, off=off, seed=seed)
        return steady_rates(run, warmup)[0]

    def sector_iops(self) -> float:
        """Random reads of one sector, one behind the other: a seek, a wait and hardly a transfer, on one actuator at a time."""
        kib = self.sector_bytes / 1024
        stream = f"read_fraction = 1.0\nusers = 1\nsize.fixed_kib = {kib!r}\nalign_kib = {kib!r}\n"
        return RANDOM_REQUESTS[1] / _span_s(self.run(stream, RANDOM_REQUESTS[1], 100).summary, RANDOM_REQUESTS[1])

    def watts(self, *, idle: bool) -> float | None:
        """What the drive draws at rest, or with random reads one after another; `None` where its file does not tell."""
        budget = headstack.power_budget(self.model).drives[0]["power"]
        if budget is None:
            return None
        if idle:
            return budget[0]["by_state_w"]["idle"]
        stream = f"read_fraction = 1.0\nusers = 1\n{self._small()}"
        return self.run(stream, RANDOM_REQUESTS[1], 100).summary["power"]["average_w"]

    @property
    def _small_bytes(self) -> int:
        return max(RANDOM_KIB * 1024, self.sector_bytes)

    def _small(self) -> str:
        kib = self._small_bytes / 1024
        return f"size.fixed_kib = {kib!r}\nalign_kib = {kib!r}\n"

    # ---- the longest wait, and the flush ----

    def mixed(self) -> Mixed:
        """The longest read and write while writes wait for room in the write cache, and the time to empty it after."""
        import polars as pl

        kib = self.write_cache_kib
        small = self._small()
        has_size = any("size_kib" in values for values in self.spec["write_policy"].values())
        writers = FILLING_WRITERS if has_size else WRITERS
        streams = "".join(
            f"[[stream]]\nthink.constant_ms = 0\nread_fraction = {float(op == 'read')}\nusers = {users}\n{small}"
            for op, users in (("read", READERS), ("write", writers))
        )
        # While the cache has room, nearly all requests are writes.
        run = self.run_streams(streams, int(1.1 * kib * 1024 / self._small_bytes) + MIXED_REQUESTS, 0)
        rows = pl.DataFrame(run.completions).select(
            "arrival_ns", "finish_ns", "sectors", "other_ns",
            op=pl.col("op").cast(pl.String), ms=(pl.col("finish_ns") - pl.col("arrival_ns")) / 1e6,
        )  # fmt: skip
        background = pl.DataFrame(run.background)
        last = int(rows["finish_ns"].max() or 0)  # pyright: ignore[reportArgumentType]
        drained = int(background["finish_ns"].max() or last) if len(background) else last  # pyright: ignore[reportArgumentType]
        cache: FilledCache | None = None
        full_ns = 0
        if has_size:
            waited = rows.filter((pl.col("op") == "write") & (pl.col("other_ns") > 0))
            # Not before: a read waits longest where writes crowd.
            full_ns = int(waited["arrival_ns"].min() or 0)  # pyright: ignore[reportArgumentType]
            written = int(rows.filter(pl.col("op") == "write")["sectors"].sum())
            if len(background):
                written -= int(background.filter(pl.col("finish_ns") <= last)["sectors"].sum())
            held = min(written * self.sector_bytes / 1024, kib)
            cache = {"size_kib": kib, "held_kib": held, "writes_that_waited": len(waited)}
        since = rows.filter(pl.col("arrival_ns") >= full_ns)
        longest = {
            op: float(since.filter(pl.col("op") == op)["ms"].max() or 0.0)  # pyright: ignore[reportArgumentType]
            for op in ("read", "write")
        }
        return Mixed(longest, max(0.0, (drained - last) / 1e9), cache)


def steady_rates(run: headstack.Run, warmup: int) -> tuple[float, float]:
    """Requests and sectors a second of a closed loop, by what completes after `warmup` requests and before the last one is issued.

    A summary after a warm-up counts requests that arrive after it: those under way take their share of the time and are not
    counted, and at the end there are ever fewer.
    """
    import polars as pl

    rows = pl.DataFrame(run.completions).select("arrival_ns", "finish_ns", "sectors").sort("finish_ns")
    begin, end = int(rows["finish_ns"][warmup - 1]), int(rows["arrival_ns"].max() or 0)  # pyright: ignore[reportArgumentType]
    counted = rows.filter((pl.col("finish_ns") > begin) & (pl.col("finish_ns") <= end))
    span_s = (end - begin) / 1e9
    return len(counted) / span_s, int(counted["sectors"].sum()) / span_s


def _amount(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.2f}"


def _span_s(summary: Mapping[str, Any], requests: int) -> float:
    """The time in which the counted requests completed."""
    return requests / summary["iops"]


def _aims(found: DeepCheck, bench: Bench) -> list[DriveAim]:
    return [
        *_sequential_aims(found, bench),
        *_skew_aims(found, bench),
        *_random_aims(found, bench),
        _wait_aim(found, bench),
    ]


def _sequential_aims(found: DeepCheck, bench: Bench) -> list[DriveAim]:
    """Reads keep up with the geometry where the drive reads ahead, and writes with reads where a write cache takes them."""
    aims = []
    for op, applies in (("read", bench.reads_ahead), ("write", bench.caches_writes)):
        rows = [row for row in found.sequential if row["op"] == op]
        worst = min(rows, key=lambda row: row["share"])
        if applies:
            what = f"sequential {op}s of {bench.sequential_kib} KiB at the {worst['place']} tracks, share of what media, bus and overhead allow"
            aims.append(
                _aim(
                    f"sequential-{op}",
                    what,
                    worst["share"],
                    SEQUENTIAL_SHARE,
                    "times",
                    met=worst["share"] >= SEQUENTIAL_SHARE,
                    cause=worst["cause"],
                )
            )
    return aims


def _skew_aims(found: DeepCheck, bench: Bench) -> list[DriveAim]:
    """No zone loses revolutions at its track changes, whether a write cache and the bus hide it or not."""
    aims = []
    for op, key in (("read", "sequential_read_mb_per_s"), ("write", "sequential_write_mb_per_s")):
        zones = {
            number: zone[key] / zone["media_mb_per_s"] for number, zone in enumerate(bench.zones) if zone["sectors"] > 0
        }
        worst = min(zones, key=lambda number: zones[number])
        cause = "; ".join(sentence for sentence in found.skews if f"sequential {op}s" in sentence)
        what = f"sequential {op}s in zone {worst}, share of the media rate that the skews leave"
        met = zones[worst] >= SEQUENTIAL_SHARE
        aims.append(_aim(f"skew-{op}", what, zones[worst], SEQUENTIAL_SHARE, "times", met=met, cause=cause))
    return aims


def _random_aims(found: DeepCheck, bench: Bench) -> list[DriveAim]:
    """A deeper queue and a write cache never make a drive slower; a large write cache pays."""
    iops = found.random_iops
    # A tenth for chance: the two runs draw other rotations.
    aims = [
        _at_least(
            "queue", "random reads at queue depth 16 against 1", iops["read_qd16"] / iops["read_qd1"], 0.9, "times"
        )
    ]
    if not bench.caches_writes:
        return aims
    # Against writes that go through to the media.
    pays = bench.write_cache_kib >= 16 * 1024 and "write-through" in bench.policy_when_off
    for depth in DEPTHS:
        gain = iops[f"write_cached_qd{depth}"] / iops[f"write_uncached_qd{depth}"]
        least = 2.0 if pays and depth == 1 else 0.9
        what = f"random writes at queue depth {depth} with the write cache against without"
        aims.append(_at_least(f"write-cache-qd{depth}", what, gain, least, "times"))
    return aims


def _wait_aim(found: DeepCheck, bench: Bench) -> DriveAim:
    longest = found.longest_ms["read"]
    cache = found.write_cache
    scheduler = bench.spec["controller"].get("scheduler", "fcfs")
    what = f"longest read of {READERS} readers beside {WRITERS if cache is None else FILLING_WRITERS} writers"
    cause = f"the drive's scheduler, {scheduler}, lets others overtake it"
    if bench.spec["controller"].get("queue_depth", 1) == 1:
        cause = "the drive takes one command at a time"
    if cache is not None:
        what += ", the write cache full"
        cause = (
            f"{cache['held_kib']:,.0f} of {cache['size_kib']:,.0f} KiB held, and {cache['writes_that_waited']:,} writes waited for "
            "room: one piece goes to the media before each read"
        )
    met = longest <= LONG_WAIT_MS
    return _aim("longest-read", what, longest, LONG_WAIT_MS, "ms", met=met, cause="" if met else cause)


def _aim(id_: str, what: str, value: float, aim: float, unit: str, *, met: bool, cause: str = "") -> DriveAim:
    return {"id": id_, "what": what, "value": value, "aim": aim, "unit": unit, "met": met, "cause": cause}


def _at_least(id_: str, what: str, value: float, aim: float, unit: str) -> DriveAim:
    return _aim(id_, what, value, aim, unit, met=value >= aim)
