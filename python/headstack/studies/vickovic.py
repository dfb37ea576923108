"""Vickovic, Celar & Mudnic 2010: a model of three parts for large sequential streams, step by step.

Nothing of the paper's measurements is left but percentages. What stands for the measured disk here is the full drive model
(`maxtor-maxline-plus-ii`) behind a host that takes `HOST_MS` for each request and whose clock misreads times by up to
`NOISE_PERCENT`: what the reduced model leaves out, the full one has.
"""

from __future__ import annotations

from itertools import pairwise
from statistics import fmean
from typing import TYPE_CHECKING, Any

from headstack import measure, stream
from headstack.report.page import Section
from headstack.studies.framework import Row, about, at_least, at_most, whole

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from headstack.studies.framework import Progress

TITLE = "Can three parts and one delay predict the throughput of large sequential streams?"
PAPER = "Vickovic, Celar & Mudnic, Disk drive simulation model development, DAAAM International Scientific Book 2010"

DRIVE = "maxtor-maxline-plus-ii"
FILES_MB = (30.0, 100.0, 300.0, 1000.0, 2000.0)
RECORDS_KIB = (8.0, 32.0, 128.0, 512.0, 2048.0, 8192.0, 32768.0, 131072.0)
LARGE_MB, SMALL_KIB = 2000.0, 8.0
TAIL_KIB = (32768.0, 131072.0)
REPEATS = 3
PAPER_REPEATS = 15
HOST_MS, NOISE_PERCENT, SEED = 0.02, 2.0, 1
HOST = {"host.cpu_ms_per_request": HOST_MS}
# The host's memory as a cache: 512 MiB in blocks of 8 KiB, requests to the disk of 128 KiB, 2.5 µs per KiB (410 MB/s) to copy.
CACHED_HOST = HOST | {
    "host.buffer_cache.blocks": 65536,
    "host.buffer_cache.block_kib": 8,
    "host.buffer_cache.cluster_blocks": 16,
    "host.buffer_cache.dirty_limit_blocks": 16384,
    "host.buffer_cache.copy_us_per_kib": 2.5,
}
CACHED_FILES_MB, CACHED_RECORDS_KIB = (30.0, 100.0, 300.0), (32.0, 512.0, 8192.0)
INTERFACE_MB_PER_S = 133.0
LAWS = ("normal", "exponential", "uniform")
COMMAND_KIB = 128.0
AS_PRINTED = {"cache.command_kib": None}
STANDS_FOR = "the full drive model stands for the measured disk"
SAID_IN_WORDS = "the paper says so in words; the bound is ours"

Cell = tuple[float, float]
"""Size of a file in MB, and of a record in KiB."""
Table = dict[Cell, float]
"""Throughput in MB/s."""


def run(data: Path | None, progress: Progress | None) -> tuple[list[Row], list[Section]]:
    """Climb the paper's ladder; no data are needed."""
    del data
    say = progress or (lambda _: None)
    say("the full model, measured")
    measured = {op: _measured(op) for op in ("write", "read")}
    say("deterministic model")
    rows, sections = _deterministic(measured["write"])
    say("stochastic model")
    fitted = {op: {law: _fit(op, law, measured[op]) for law in LAWS} for op in ("write", "read")}
    rows += _stochastic(fitted["write"], measured["write"])
    rows += _places()
    rows += _reads(fitted, measured["read"])
    say("all sizes of files")
    found, shown = _sizes({op: laws["normal"] for op, laws in fitted.items()}, measured)
    rows += found
    sections += shown
    say("a full disk")
    found, shown = _full_disk(fitted["write"]["normal"])
    rows += found
    sections += shown
    say("the host's cache")
    rows += _host_cache(fitted["read"]["normal"])
    return rows, sections


def finding(ours: dict[str, float]) -> str:
    """The answer to the title."""
    return (
        f"Calibrated on 2 GB files, and with records cut into commands of 128 KiB, the model is off by {ours['write-fitted-commands']:.2f} % "
        f"(writes) and {ours['read-fitted-commands']:.2f} % (reads) of the full drive model's throughput on average, records of 32 kB and "
        f"more; with records as a whole, as in the paper, by {ours['write-normal-printed']:.2f} % (writes)."
    )


# ---- what is measured, and how far a model is from it ----


def _measured(op: str) -> Table:
    found = _run_streams(op, FILES_MB, RECORDS_KIB, REPEATS, HOST)
    return {cell: rate for cell, (rate, _) in found.items()}


def _run_streams(
    op: str, files: Iterable[float], records: Iterable[float], repeats: int, host: dict[str, Any]
) -> dict[Cell, tuple[float, bool]]:
    """Throughput, and whether it came out of a cache, for each cell."""
    done = whole(measure.run(
        f"sim:{DRIVE}", ["stream"], file_mb=list(files), record_kib=list(records), repeats=repeats, seed=SEED,
        noise_percent=NOISE_PERCENT, overrides=host,
    ))  # fmt: skip
    points = done.found["stream"]["points"]
    return {
        (point["file_mb"], point["record_kib"]): (point["mb_per_s"], point["is_cached"])
        for point in points
        if point["mode"] == op
    }


def _rows_of(op: str, table: Table) -> list[tuple[str, float, float, int, float]]:
    return [(op, file_mb, record_kib, REPEATS, rate) for (file_mb, record_kib), rate in table.items()]


def _of_file(table: Table, file_mb: float, *, small: bool = False) -> Table:
    """The cells of one size of file, records of 8 kB with `small` only."""
    return {cell: rate for cell, rate in table.items() if cell[0] == file_mb and (small or cell[1] > SMALL_KIB)}


def _difference(model: stream.StreamModel, op: str, table: Table) -> float:
    """The mean of the absolute differences, in percent."""
    return 100 * fmean(map(abs, model.differences(_rows_of(op, table), seed=SEED)))


def _fit(op: str, law: str, measured: Table, start: stream.StreamModel | None = None) -> stream.StreamModel:
    """The model with the mean of its delay fitted to 2 GB files in records of 32 kB and more."""
    model = start or stream.model(DRIVE)
    found = model.fit(_rows_of(op, _of_file(measured, LARGE_MB)), [f"cache.{op}_delay"], law=law, seed=SEED)
    return stream.model(model, {f"cache.{op}_delay": found["spec"]["cache"].get(f"{op}_delay")})


def _curve(table: Table, file_mb: float = LARGE_MB) -> list[tuple[float, float]]:
    return [(record, rate) for (size, record), rate in table.items() if size == file_mb]


def _modelled(model: stream.StreamModel, op: str, table: Table) -> Table:
    return stream.throughputs(model, op, table, repeats=REPEATS, seed=SEED)


# ---- the steps ----


def _deterministic(measured: Table) -> tuple[list[Row], list[Section]]:
    from headstack.report.curves import lines

    large = _of_file(measured, LARGE_MB, small=True)
    plain = stream.model(DRIVE)
    steps = {
        "records as a whole": stream.model(plain, AS_PRINTED),
        "0.001 ms": stream.model(plain, AS_PRINTED | {"cache.write_delay": {"constant_ms": 0.001}}),
        "0.01 ms": stream.model(plain, AS_PRINTED | {"cache.write_delay": {"constant_ms": 0.01}}),
        "in commands of 128 KiB": plain,
    }
    curves = {name: _modelled(model, "write", large) for name, model in steps.items()}
    whole, short, long, split = curves.values()
    small = (LARGE_MB, SMALL_KIB)
    rows = [
        about("deterministic", "deterministic writes: average difference", 17.0,
              _difference(steps["records as a whole"], "write", large), "%", within=5.0, note=STANDS_FOR),
        at_least("tail", "deterministic writes: 32 and 128 MB records fall below 2 MB records by", 1.0, _tail(whole), "%",
                 kind="aim", note=f"a record that fills the cache waits for the interface, then for the media; {SAID_IN_WORDS}"),
        at_least("tail-constant", "so with a delay of 0.001 ms", 1.0, _tail(short), "%",
                 kind="aim", note=SAID_IN_WORDS),
        about("tail-commands", "in commands of 128 KiB, as ATA hosts cut them", 0.0, _tail(split), "%", within=0.5,
              kind="aim", note="the tail is of the records' being indivisible, not of a missing delay"),
        at_most("constant-short", "0.001 ms lowers throughput slightly: at 8 kB, by at most", 1.0, _lower(whole, short, small), "%",
                kind="aim", note=SAID_IN_WORDS),
        at_least("constant-long", "0.01 ms lowers small records: at 8 kB, by at least", 2.0, _lower(whole, long, small), "%",
                 kind="aim", note=SAID_IN_WORDS),
        at_most("constant-long-large", "and not large ones: at 8192 kB, by at most", 0.1,
                _lower(whole, long, (LARGE_MB, 8192.0)), "%", kind="aim", note=SAID_IN_WORDS),
    ]  # fmt: skip
    repeats = [
        steps["records as a whole"].run("write", file_mb=LARGE_MB, record_kib=512, repeats=count)["mb_per_s"]
        for count in (1, 5, 10, 20)
    ]
    falls = sum(after < before for before, after in pairwise(repeats))
    rows.append(about("repeats", "more repeats, less throughput: falls from 1 to 5, 10, 20", 3, falls, "", within=0,
                      kind="aim", note=f"{repeats[0]:.2f} to {repeats[-1]:.2f} MB/s; {SAID_IN_WORDS}"))  # fmt: skip
    shown = {"full model": _curve(large)} | {name: _curve(table) for name, table in curves.items()}
    text = "Writes of 2 GB files without a fitted delay, over the size of the record."
    return rows, [Section("The deterministic model", text, lines(shown, "record (KiB)", "MB/s", log=(True, False)))]


def _tail(table: Table) -> float:
    """By how much records of 32 and 128 MB are slower than those of 2 MB, in percent."""
    return 100 * (1 - fmean(table[LARGE_MB, record] for record in TAIL_KIB) / table[LARGE_MB, 2048.0])


def _lower(before: Table, after: Table, cell: Cell) -> float:
    return 100 * (1 - after[cell] / before[cell])


def _stochastic(fitted: dict[str, stream.StreamModel], measured: Table) -> list[Row]:
    every, large = _of_file(measured, LARGE_MB, small=True), _of_file(measured, LARGE_MB)
    plain = stream.model(DRIVE)
    in_server = stream.model(plain, {"server.write_delay": {"normal_ms": [0.05, 0.01]}})
    no_effect = _lower(_modelled(plain, "write", large), _modelled(in_server, "write", large), (LARGE_MB, 32.0))
    printed = _fit("write", "normal", measured, stream.model(DRIVE, AS_PRINTED))
    law_note = "fitted by its mean; throughput depends on nothing else of a delay while the disk is the bottleneck"
    off = {law: _difference(model, "write", large) for law, model in fitted.items()}
    return [
        about("server-delay", "a delay of 0.05 ms in the server changes writes of 32 kB by", 0.0, no_effect, "%", within=0.1,
              kind="aim", note=SAID_IN_WORDS),
        about("write-normal-printed", "normal delay, records as a whole: without 8 kB", 0.98,
              _difference(printed, "write", large), "%", within=0.5, note="no delay removes the tail of whole records"),
        at_most("write-normal-all", "normal delay, commands of 128 KiB: all records", 2.22,
                _difference(fitted["normal"], "write", every), "%", note=STANDS_FOR),
        at_most("write-exponential-all", "exponential delay: all records", 2.01,
                _difference(fitted["exponential"], "write", every), "%", note=STANDS_FOR),
        at_most("write-fitted-commands", "normal delay, without 8 kB: calibrated writes differ by", 1.0, off["normal"], "%",
                kind="aim", note="paper: 0.98 %"),
        at_most("write-exponential", "exponential delay, without 8 kB", 1.03, off["exponential"], "%"),
        at_least("write-uniform", "uniform is worse than the better of the others by", 0.05,
                 off["uniform"] - min(off["normal"], off["exponential"]), "points", kind="aim",
                 note=f"{law_note}; {SAID_IN_WORDS}"),
    ]  # fmt: skip


def _places() -> list[Row]:
    model = stream.model(DRIVE)
    rates = [
        model.run("write", file_mb=LARGE_MB, record_kib=512, start_percent=percent)["mb_per_s"]
        for percent in (0, 2, 20, 50)
    ]
    fall = 100 * (1 - rates[1] / rates[0])
    falls = sum(after < before for before, after in pairwise(rates))
    bytes_ = 16 << 20
    at_random = stream.model(model, AS_PRINTED).run(
        "read",
        file_mb=bytes_ / 1e6,
        record_kib=bytes_ / 1024,
        repeats=1000,
        start_percent=None,
        positioning=True,
        seed=SEED,
    )
    ms = 1e3 * at_random["time_s"] / 1000
    analytic = model.average_service_time_ms(bytes_)
    return [
        about("start-2-percent", "a start 2 % inwards lowers throughput by", 0.7, fall, "%", within=0.16,
              note="24 to 42 MB/s over the tracks: the rate falls 0.86 %; 0.7 takes 1.9 ms of switches on tracks that all hold the same"),
        about("start-further", "further inwards, slower: falls from 0 to 2, 20, 50 %", 3, falls, "", within=0,
              kind="aim", note=SAID_IN_WORDS),
        about("equation-1", "equation 1 against the simulated mean of random 16 MiB requests", analytic, ms, "ms",
              within=0.01 * analytic, kind="aim"),
    ]  # fmt: skip


def _reads(fitted: dict[str, dict[str, stream.StreamModel]], measured: Table) -> list[Row]:
    every, large = _of_file(measured, LARGE_MB, small=True), _of_file(measured, LARGE_MB)
    small = {cell: rate for cell, rate in every.items() if cell not in large}
    delay = fitted["write"]["normal"].spec["cache"].get("write_delay")
    borrowed = stream.model(DRIVE, {"cache.read_delay": delay})
    own = fitted["read"]["normal"]
    delays = [_mean_delay(model, op) for model, op in ((own, "read"), (fitted["write"]["normal"], "write"))]
    return [
        about("read-borrowed-8", "reads with the write's delay: 8 kB", 18.02, _difference(borrowed, "read", small), "%",
              within=5.0, note=STANDS_FOR),
        about("read-borrowed", "reads with the write's delay: other records", 7.7, _difference(borrowed, "read", large), "%",
              within=3.0, note="the full model reads and writes streams alike; the paper's disk did not"),
        at_most("read-smaller", "the read's own delay is smaller than the write's", 1e3 * delays[1], 1e3 * delays[0], "µs",
                kind="aim", note="the bound is our fitted delay of writes; the paper says that it is smaller"),
        at_most("read-normal-all", "reads with their own normal delay: all records", 1.29, _difference(own, "read", every), "%",
                note=STANDS_FOR),
        at_most("read-fitted-commands", "the same without 8 kB: calibrated reads differ by", 1.0,
                _difference(own, "read", large), "%", kind="aim", note="paper: 0.8 %"),
    ]  # fmt: skip


def _mean_delay(model: stream.StreamModel, op: str) -> float:
    law = model.spec["cache"].get(f"{op}_delay")
    return law["normal_ms"][0] if law else 0.0


# ---- sizes of files, the full disk, the host's cache ----


def _sizes(fitted: dict[str, stream.StreamModel], measured: dict[str, Table]) -> tuple[list[Row], list[Section]]:
    from headstack.report.curves import lines

    printed = {("write", 2000.0): 0.86, ("write", 1000.0): 1.52, ("write", 300.0): 4.05, ("read", 2000.0): 1.7,
               ("read", 1000.0): 1.7}  # fmt: skip
    rows = []
    for (op, file_mb), paper in printed.items():
        ours = _difference(fitted[op], op, _of_file(measured[op], file_mb))
        rows.append(at_most(f"{op}-{file_mb:.0f}", f"{op}s of {file_mb:.0f} MB files, without 8 kB", paper, ours, "%",
                            note="fitted on 2 GB files"))  # fmt: skip
    sections = []
    for op, model in fitted.items():
        modelled = _modelled(model, op, measured[op])
        shown = {f"{size:g} MB, full model": _curve(measured[op], size) for size in FILES_MB}
        shown |= {f"{size:g} MB, stream model": _curve(modelled, size) for size in FILES_MB}
        title = f"All sizes of files: {op}s"
        sections.append(Section(title, "", lines(shown, "record (KiB)", "MB/s", log=(True, False))))
        cells = [
            [f"{record:g}", *(_cell(modelled, measured[op], (size, record)) for size in FILES_MB)]
            for record in RECORDS_KIB
        ]
        columns = ["record (KiB)", *(f"{size:g} MB" for size in FILES_MB)]
        sections.append(
            Section(f"Difference of {op}s, %", "× : the record is larger than the file.", columns=columns, rows=cells)
        )
    return rows, sections


def _cell(modelled: Table, measured: Table, cell: Cell) -> str:
    return f"{100 * (modelled[cell] / measured[cell] - 1):+.2f}" if cell in measured else "×"


def _full_disk(model: stream.StreamModel) -> tuple[list[Row], list[Section]]:
    from headstack.report.curves import lines

    rows, shown = [], {}
    for size in (1000.0, 2000.0):
        files = model.run("write", file_mb=size, record_kib=2048, repeats=None, seed=SEED)["files"]
        rates = [file["mb_per_s"] for file in files]
        shown[f"{size / 1000:g} GB files"] = [
            (index * size / 1000, rate) for index, rate in enumerate(rates) if index % max(1, len(rates) // 60) == 0
        ]
        claim = f"{size / 1000:g} GB files until the disk is full: the last against the first"
        rows.append(about(f"full-{size:.0f}", claim, 24 / 42, rates[-1] / rates[0], "", within=0.02,
                          kind="aim", note=f"{len(rates)} files; the model is made of the paper's 24 to 42 MB/s"))  # fmt: skip
    text = "Throughput of each file while the disk fills up, from the outermost track inwards."
    return rows, [Section("Filling the disk", text, lines(shown, "GB on the disk", "MB/s"))]


def _host_cache(model: stream.StreamModel) -> list[Row]:
    measured = _run_streams("read", CACHED_FILES_MB, CACHED_RECORDS_KIB, 1, CACHED_HOST)
    off = {
        size: _difference(model, "read", {cell: rate for cell, (rate, _) in measured.items() if cell[0] == size})
        for size in CACHED_FILES_MB
    }
    fastest = max(rate for (size, _), (rate, _) in measured.items() if size < CACHED_FILES_MB[-1])
    memory = "each file is read right after it was written, through 512 MiB of the host's memory, 410 MB/s to copy"
    return [
        about("cached-small", "reads of 30 and 100 MB files through a host's cache: average difference", 66.3,
              fmean([off[30.0], off[100.0]]), "%", within=15.0, note=memory),
        about("cached-medium", "the same, 300 MB files", 23.4, off[300.0], "%", within=15.0,
              note="a cache that gives up the least recently used holds all of a file that fits, and none of one that does not"),
        at_least("cached-faster", "30 and 100 MB files come faster than the interface", INTERFACE_MB_PER_S, fastest, "MB/s",
                 note=memory),
    ]  # fmt: skip
