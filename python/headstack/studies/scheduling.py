"""Every scheduler under load: response against arrival rate, starvation and its cures, and what knowledge is worth.

All times are those of simulated drives whose writes go to the media before they are reported (write-through), unless a
row says otherwise: a write that is reported early waits for no arm, and its positioning would be in no response.
"""

from __future__ import annotations

from itertools import product
from math import log
from typing import TYPE_CHECKING

import headstack
from headstack.report.page import Section
from headstack.shown import number
from headstack.studies.framework import Progress, Row, about, at_least, at_most
from headstack.studies.repeats import Case, Outcome, each, estimate, next_value_within, run_all, run_one

if TYPE_CHECKING:
    from pathlib import Path

TITLE = "Which scheduling algorithm, where, and at what price?"
PAPER = (
    "Worthington, Ganger & Patt, Scheduling algorithms for modern disk drives, SIGMETRICS 1994; "
    "Seltzer, Chen & Ousterhout, Disk scheduling revisited, USENIX 1990; DiskSim 4.0's own queues"
)

DRIVES = ("hp-c2247a", "cheetah-9lp")
LABELS = {
    "hp-c2247a": "C2247A", "cheetah-9lp": "Cheetah 9LP", "nearline-18tb": "nearline 18 TB", "hp-97560": "97560",
}  # fmt: skip
SEEDS = range(1, 7)

# Q requests at once on the Cheetah 9LP, drained: mean positioning in ms, one run each, measured with the original program.
DISKSIM_DRAIN = {
    "fcfs": {300: 8.45, 1000: 8.49, 3000: 8.58, 9000: 8.58},
    "sstf": {300: 4.55, 1000: 4.46, 3000: 4.05, 9000: 3.70},
    "sptf": {300: 3.50, 1000: 3.02, 3000: 2.74, 9000: 2.38},
}
# The same Q = 1,000 with the scheduler in the host's driver: mean access, SPTF over SSTF.
DISKSIM_HOST = 6.81 / 5.41

# Arrivals per second; a scheduler's curve ends where its mean response passes STOP_MS.
RATES = {
    "hp-c2247a": (20, 30, 40, 45, 50, 55, 60, 65, 70, 75, 80, 90),
    "cheetah-9lp": (40, 60, 80, 90, 100, 110, 120, 130, 140, 150, 160, 180, 200),
}
STOP_MS = 200.0
LEVEL_MS = 100.0
LOAD_REQUESTS = 6000
LOAD_WARMUP = 500

# Where the claims about loads are decided: all but FCFS keep up, C-LOOK with some difficulty.
BUSY = {"hp-c2247a": 60, "cheetah-9lp": 130}
# Where SPTF itself has difficulties.
BUSIEST = {"hp-c2247a": 75, "cheetah-9lp": 165}
WEIGHTS = (0.0, 0.001, 0.003, 0.006, 0.01, 0.015, 0.02, 0.03)

DEPTHS = (1, 4, 16, 64, 256, 1024)
WAITERS = (
    "fcfs", "sstf", "look", "c-look", "batch-fcfs(16 commands)", "sptf", "asptf(0.01)", "sptf+age-limit(1000 ms)",
    "wstf(2000 ms)",
)  # fmt: skip
WAIT_DEPTHS = (16, 64, 256, 1024)
WAIT_SEEDS = range(1, 5)

THROUGH = ("drive.*.write_policy", "{ write-through = {} }")


def run(data: Path | None, progress: Progress | None) -> tuple[list[Row], list[Section]]:  # noqa: ARG001 (needs none)
    """Check what is said of schedulers; needs no data."""
    say = progress or (lambda _: None)
    rows: list[Row] = []
    sections: list[Section] = []
    for what, part in (
        ("queues drained", _drains),
        ("what the host's driver knows", _knowledge),
        ("what the buffer holds", _caches),
        ("loads", _loads),
        ("ageing", _ageing),
        ("the longest wait", _waits),
        ("service against depth", _depths),
    ):
        say(what)
        found, shown = part()
        rows += found
        sections += shown
    return rows, sections


def _in_drive(scheduler: str, *, through: bool = True) -> tuple[tuple[str, str], ...]:
    """The scheduler in the drive, which takes all commands that wait."""
    placed = (("drive.*.controller.scheduler", scheduler), ("drive.*.controller.queue_depth", "1_000_000"))
    return (THROUGH, *placed) if through else placed


def _in_host(scheduler: str, knowledge: str | None = None) -> tuple[tuple[str, str], ...]:
    """The scheduler in the host's driver, which hands the drive one command after the other."""
    placed = (THROUGH, ("host.scheduler", scheduler), ("host.outstanding_per_drive", "1"))
    return placed if knowledge is None else (*placed, ("host.knowledge", f'"{knowledge}"'))


def _workload(requests: int, arrivals: str, read_fraction: float = 0.6, more: str = "") -> str:
    return (
        f"requests = {requests}\n[[stream]]\nread_fraction = {read_fraction}\nsize.fixed_kib = 4\nalign_kib = 4\n"
        f"{arrivals}\n{more}"
    )


def _at_once(requests: int) -> str:
    return _workload(requests, "inter_arrival.constant_ms = 0")


def _open(rate: float, requests: int = LOAD_REQUESTS) -> str:
    return _workload(requests, f"inter_arrival.exponential_ms = {1000 / rate!r}")


def _closed(users: int) -> str:
    """So many requests wait or are in service at any instant."""
    return _workload(max(4000, 30 * users), f"think.constant_ms = 0\nusers = {users}")


def _ratios(above: list[Outcome], below: list[Outcome], what: str) -> tuple[float, float]:
    """The mean over the seeds of a ratio, each of two runs of the same requests, and its 95 % half-width."""
    return estimate([getattr(a, what) / getattr(b, what) for a, b in zip(above, below, strict=True)])


# ---- queues drained ----


def _drains() -> tuple[list[Row], list[Section]]:
    # DiskSim's SSTF goes by addresses: so does ours in the host.
    placed = {"fcfs": _in_drive("fcfs"), "sstf": _in_host("sstf", "addresses"), "sptf": _in_drive("sptf")}
    placed["host sptf"] = _in_host("sptf")
    lengths = tuple(DISKSIM_DRAIN["fcfs"])
    cases = {
        (name, length): [Case("cheetah-9lp", _at_once(length), over, seed) for seed in SEEDS]
        for (name, over), length in product(placed.items(), lengths)
    }
    done = run_all(case for cell in cases.values() for case in cell)
    cells = {key: [done[case] for case in cell] for key, cell in cases.items()}
    rows = []
    for name, numbers in DISKSIM_DRAIN.items():
        for length, theirs in numbers.items():
            values = [outcome.positioning for outcome in cells[name, length]]
            mean, ci95 = estimate(values)
            id_ = f"drain-{name}-{length}"
            claim = f"{name.upper()}, {length:,} requests at once: mean positioning"
            if name == "sptf":
                rows.append(at_most(id_, claim, theirs, mean, "ms", ci95=ci95))
                continue
            # Theirs is one run: as far off as one of ours may be.
            within = next_value_within(values) + 0.005
            note = f"{mean:.3f} ± {ci95:.3f} (95 %); DiskSim's is one run"
            rows.append(about(id_, claim, theirs, mean, "ms", within=within, note=note))
    ratio, ci95 = _ratios(cells["host sptf", 1000], cells["sstf", 1000], "per_request")
    rows.append(
        at_most("host-sptf", "in the host, SPTF over SSTF: mean access, 1,000 at once", 1.0, ratio, "times", ci95=ci95,
                note=f"DiskSim: {DISKSIM_HOST:.2f}, its estimate leaves out the overhead a command will meet")
    )  # fmt: skip
    table = [
        [f"{length:,}", *(f"{estimate([one.positioning for one in cells[name, length]])[0]:.2f}" for name in placed)]
        for length in lengths
    ]
    text = (
        f"Mean seek and rotation of a request (ms), all of them there at the beginning; {len(SEEDS)} seeds. Writes go to "
        "the media before they are reported, so that their positioning counts as that of reads does."
    )
    columns = ["requests", "FCFS", "SSTF by addresses, in the host", "SPTF in the drive", "SPTF in the host"]
    return rows, [Section("Draining a queue on the Cheetah 9LP", text, columns=columns, rows=table)]


# ---- what knowledge is worth ----


def _compare(drive: str, workload: str, schedulers: dict[str, tuple[tuple[str, str], ...]]) -> dict[str, list[Outcome]]:
    cases = {
        name: [Case(drive, workload, over, seed, LOAD_WARMUP) for seed in SEEDS] for name, over in schedulers.items()
    }
    done = run_all(case for cell in cases.values() for case in cell)
    return {name: [done[case] for case in cell] for name, cell in cases.items()}


def _knowledge() -> tuple[list[Row], list[Section]]:
    rows = []
    for rate in (40, 50, 60):
        runs = _compare(
            "hp-c2247a",
            _open(rate),
            {"addresses": _in_host("c-look", "addresses"), "cylinders": _in_host("c-look", "cylinders")},
        )
        ratio, ci95 = _ratios(runs["addresses"], runs["cylinders"], "mean")
        claim = f"C2247A, {rate}/s, C-LOOK in the host: mean response by addresses over that by cylinders"
        rows.append(
            about(f"c-look-addresses-{rate}", claim, 1.0, ratio, "times", within=0.05, ci95=ci95,
                  note='Worthington: addresses do "nearly as well"; the 5 % are ours')
        )  # fmt: skip
    for drive, rate in BUSY.items():
        runs = _compare(drive, _open(rate), {name: _in_drive(name) for name in ("c-look", "sstf", "sptf")})
        for other in ("c-look", "sstf"):
            ratio, ci95 = _ratios(runs["sptf"], runs[other], "mean")
            claim = f"{LABELS[drive]}, {rate}/s: mean response of SPTF over that of {other.upper()}"
            note = "rotation matters; the paper's figures are not at hand"
            rows.append(at_most(f"sptf-{other}-{drive}", claim, 1.0, ratio, "times", ci95=ci95, note=note))
    runs = {
        name: [Case("hp-97560", _closed(1000), _in_drive(name), seed) for seed in SEEDS] for name in ("fcfs", "sptf")
    }
    done = run_all(case for cell in runs.values() for case in cell)
    ratio, ci95 = _ratios([done[case] for case in runs["fcfs"]], [done[case] for case in runs["sptf"]], "per_request")
    rows.append(
        about("seltzer-throughput", "97560, 1,000 waiting: throughput of SPTF over that of FCFS", 4.0, ratio, "times",
              within=0.5, ci95=ci95, note='Seltzer: "nearly four times" the utilisation, on another drive of the time')
    )  # fmt: skip
    return rows, []


def _streams(rate: float, sequential: float, streams: int) -> str:
    gap = f"inter_arrival.exponential_ms = {1000 * streams / rate!r}"
    one = _workload(LOAD_REQUESTS, gap, 0.9, f"sequential_fraction = {sequential}\n").split("[[stream]]")
    return one[0] + streams * f"[[stream]]{one[1]}"


def _caches() -> tuple[list[Row], list[Section]]:
    rows = []
    for drive, rate in (("cheetah-9lp", 220), ("hp-97560", 60)):
        workload = _streams(rate, 0.6, 4)
        runs = _compare(drive, workload, {name: _in_drive(name) for name in ("sptf", "spctf")})
        ratio, ci95 = _ratios(runs["spctf"], runs["sptf"], "mean")
        claim = f"{LABELS[drive]}, four streams, {rate}/s: mean response of cache-aware SPCTF over that of SPTF"
        note = "90 % reads, 60 % of all continue the one before; Worthington: what the cache holds should go first"
        rows.append(at_most(f"spctf-{drive}", claim, 1.0, ratio, "times", ci95=ci95, note=note))
    return rows, []


# ---- response against arrival rate ----


def _curve(drive: str, overrides: tuple[tuple[str, str], ...]) -> list[Outcome]:
    """Runs at one rate after the other, until requests wait for too long."""
    outcomes: list[Outcome] = []
    for rate in RATES[drive]:
        outcome = run_one(Case(drive, _open(rate), overrides, 1, LOAD_WARMUP))
        if not outcome.keeps_up or outcome.mean > STOP_MS:
            break
        outcomes.append(outcome)
    return outcomes


def _loads() -> tuple[list[Row], list[Section]]:
    from headstack.report.curves import lines

    known = [info for info in headstack.schedulers() if not info["is_modifier"]]
    in_drive = {info["name"]: _in_drive(info["name"]) for info in known}
    in_host = {info["name"]: _in_host(info["name"]) for info in known if info["needs"] == "addresses"}
    places = {"in the drive": in_drive, "in the host, by addresses": in_host}
    tasks = [
        (drive, place, name, over)
        for drive in DRIVES
        for place, names in places.items()
        for name, over in names.items()
    ]
    found = each(_curve, [(drive, over) for drive, _, _, over in tasks])
    curves = {task[:3]: outcomes for task, outcomes in zip(tasks, found, strict=True)}
    sections = []
    for drive, place in product(DRIVES, places):
        for what, title in (("mean", "mean response (ms)"), ("p95", "95th percentile of the response (ms)")):
            shown = {
                name: [
                    (rate, getattr(one, what))
                    for rate, one in zip(RATES[drive], curves[drive, place, name], strict=False)
                ]
                for name in places[place]
            }
            text = f"Random 4 KiB requests, 60 % reads, in the {LABELS[drive]}; schedulers {place}, their usual parameters."
            chart = lines(shown, "arrivals per second", title, log=(False, True))
            sections.append(Section(f"{LABELS[drive]}, {place}: {title.split(' (')[0]}", text, chart, half=True))
    sections.append(_carried(curves, places))
    return [], sections


def _carried(
    curves: dict[tuple[str, str, str], list[Outcome]], places: dict[str, dict[str, tuple[tuple[str, str], ...]]]
) -> Section:
    """The rate at which each scheduler's mean response passes a level."""
    names = places["in the drive"]
    rows = []
    for name in names:
        cells = [
            number(_rate_at(RATES[drive], curves[drive, place, name]), 0) if name in places[place] else "–"
            for drive, place in product(DRIVES, places)
        ]
        rows.append([name, *cells])
    columns = ["scheduler", *(f"{LABELS[drive]} {place}" for drive, place in product(DRIVES, places))]
    text = f"Arrivals per second at which the mean response reaches {LEVEL_MS:.0f} ms; between two rates of the charts."
    return Section("What each carries", text, columns=columns, rows=rows)


def _rate_at(rates: tuple[int, ...], outcomes: list[Outcome]) -> float:
    """Where the mean reaches the level, its logarithm taken as straight between two rates; else the last rate that is kept up."""
    for (rate, one), (following, other) in zip(
        zip(rates, outcomes, strict=False), zip(rates[1:], outcomes[1:], strict=False), strict=False
    ):
        if one.mean <= LEVEL_MS < other.mean:
            return rate + (following - rate) * log(LEVEL_MS / one.mean) / log(other.mean / one.mean)
    return float(rates[len(outcomes) - 1])


# ---- ageing ----


def _ageing() -> tuple[list[Row], list[Section]]:
    from headstack.report.curves import lines

    rows: list[Row] = []
    sections: list[Section] = []
    for drive, rate in BUSIEST.items():
        runs = _compare(drive, _open(rate), {f"{weight:g}": _in_drive(f"asptf({weight:g})") for weight in WEIGHTS})
        label = f"{LABELS[drive]}, {rate}/s, aged SPTF (0.006) over SPTF"
        for what, claim, bound, note in (
            ("std", "standard deviation of the response", 1.0, "much less variance"),
            ("p95", "95th percentile of the response", 1.0, ""),
            ("mean", "mean response", 1.1, 'Worthington: ageing costs "a little mean"; the 10 % are ours'),
        ):
            ratio, ci95 = _ratios(runs["0.006"], runs["0"], what)
            id_ = f"ageing-{what}-{drive}"
            rows.append(at_most(id_, f"{label}: {claim}", bound, ratio, "times", ci95=ci95, note=note))
        kept = [weight for weight in WEIGHTS if all(one.keeps_up for one in runs[f"{weight:g}"])]
        shown = {
            name: [(weight, estimate([getattr(one, what) for one in runs[f"{weight:g}"]])[0]) for weight in kept]
            for what, name in (("mean", "mean"), ("std", "standard deviation"), ("p95", "95th percentile"))
        }
        text = (
            f"Aged SPTF by its weight at {rate} arrivals per second: ms of positioning that a ms of waiting is worth; mean "
            f"of {len(SEEDS)} seeds. Where the line ends, the drive no longer keeps up."
        )
        chart = lines(shown, "weight", "response (ms)")
        sections.append(Section(f"Ageing, {LABELS[drive]}", text, chart, half=True))
    return rows, sections


# ---- the longest wait ----


def _waits() -> tuple[list[Row], list[Section]]:
    from headstack.report.curves import lines

    cases = {
        (name, depth): [Case("cheetah-9lp", _closed(depth), _in_drive(name), seed, depth) for seed in WAIT_SEEDS]
        for name, depth in product(WAITERS, WAIT_DEPTHS)
    }
    done = run_all(case for cell in cases.values() for case in cell)
    runs = {key: [done[case] for case in cell] for key, cell in cases.items()}

    def rounds(name: str, depth: int, what: str = "longest") -> tuple[float, float]:
        """In rounds: one round is the time in which as many are served as wait, so that FCFS has 1."""
        return estimate([getattr(one, what) / (depth * one.per_request) for one in runs[name, depth]])

    def in_rounds(id_: str, claim: str, name: str, depth: int, bound: float, note: str, *, least: bool = False) -> Row:
        longest, ci95 = rounds(name, depth)
        row = at_least if least else at_most
        return row(id_, f"{depth:,} waiting: longest wait of {claim}", bound, longest, "rounds", ci95=ci95, note=note)

    per_cycle = "derived: the arm passes everything in one cycle, and the mean wait of half a cycle is one round"
    cyclic, ci95 = rounds("c-look", 1024)
    rows = [
        about("wait-c-look", "1,024 waiting: longest wait of C-LOOK", 2.0, cyclic, "rounds", within=0.1, ci95=ci95,
              note=per_cycle),
        in_rounds("wait-batch", "batches of 16", "batch-fcfs(16 commands)", 256, 1 + 32 / 256,
                 "derived: what came before, its own batch and the one begun"),
    ]  # fmt: skip
    starved = "starvation: longer than C-LOOK's bound"
    rows += [in_rounds(f"wait-sptf-{depth}", "SPTF", "sptf", depth, 2.0, starved, least=True) for depth in WAIT_DEPTHS]
    rows.append(in_rounds("wait-sstf-16", "SSTF", "sstf", 16, 2.0, starved, least=True))
    for depth in (16, 64):
        longest, ci95 = estimate([one.longest for one in runs["wstf(2000 ms)", depth]])
        rows.append(
            at_most(f"wait-wstf-{depth}", f"{depth} waiting: longest wait of WSTF (2,000 ms)", 2000.0, longest, "ms",
                    ci95=ci95, note="Seltzer: a maximum wait is guaranteed")
        )  # fmt: skip
    longest, ci95 = estimate([one.longest for one in runs["sptf+age-limit(1000 ms)", 64]])
    in_order = 64 * estimate([one.per_request for one in runs["fcfs", 64]])[0]
    rows.append(
        at_most("wait-age-limit-64", "64 waiting: longest wait of SPTF with an age limit of 1,000 ms", 1000 + in_order,
                longest, "ms", ci95=ci95, note="derived: the limit, and at worst all others in order of arrival")
    )  # fmt: skip
    shown = {name: [(depth, rounds(name, depth)[0]) for depth in WAIT_DEPTHS] for name in WAITERS}
    late = {name: [(depth, rounds(name, depth, "p999")[0]) for depth in WAIT_DEPTHS] for name in WAITERS}
    text = (
        "So many requests wait at any time. In rounds: the time in which as many requests are served as wait, so that first "
        f"come, first served waits for one round. Mean of {len(WAIT_SEEDS)} seeds. Bounds of time (ageing, WSTF, an age "
        "limit) become first come, first served where the queue is longer than they are."
    )
    sections = [
        Section(f"{title}, Cheetah 9LP", text, lines(data, "requests waiting", "rounds", log=(True, True)), half=True)
        for title, data in (("Longest wait", shown), ("99.9th percentile of the wait", late))
    ]
    return rows, sections


# ---- service against depth ----


def _depths() -> tuple[list[Row], list[Section]]:
    from headstack.report.curves import lines

    drives = (*DRIVES, "nearline-18tb")
    cases = {
        (drive, depth): [Case(drive, _closed(depth), _in_drive("sptf"), seed, depth) for seed in WAIT_SEEDS]
        for drive, depth in product(drives, DEPTHS)
    }
    done = run_all(case for cell in cases.values() for case in cell)
    runs = {key: [done[case] for case in cell] for key, cell in cases.items()}
    rows = []
    for drive in drives:
        points = [[(depth, runs[drive, depth][index].per_request) for depth in (1, 4, 16, 64)]
                  for index in range(len(WAIT_SEEDS))]  # fmt: skip
        exponent, ci95 = estimate([_exponent(line) for line in points])
        claim = f"{LABELS[drive]}: exponent of the mean service under SPTF, 1 to 64 waiting"
        note = (
            'Hsu & Smith: "about -1/5" at moderate depth; from 1/6 to 1/4 counts as a fifth. What is above the fixed '
            "minimum falls by -1/3 where seeks grow with the square root of many cylinders, so drives with little fixed "
            "time are steeper"
        )
        rows.append(about(f"depth-{drive}", claim, -0.2, exponent, "", within=0.05, ci95=ci95, note=note))
    shown = {
        LABELS[drive]: [(depth, estimate([one.per_request for one in runs[drive, depth]])[0]) for depth in DEPTHS]
        for drive in drives
    }
    chart = lines(shown, "requests waiting", "mean service (ms)", log=(True, True))
    text = "SPTF in the drive; so many requests wait at any time."
    return rows, [Section("Mean service against the length of the queue", text, chart, half=True)]


def _exponent(points: list[tuple[int, float]]) -> float:
    """The slope of a straight line through the logarithms (least squares)."""
    xs, ys = [log(x) for x, _ in points], [log(y) for _, y in points]
    x, y = sum(xs) / len(xs), sum(ys) / len(ys)
    return sum((a - x) * (b - y) for a, b in zip(xs, ys, strict=True)) / sum((a - x) ** 2 for a in xs)


def finding(ours: dict[str, float]) -> str:
    """What knowing the rotation is worth."""
    gain = ours.get("seltzer-throughput")
    if gain is None:
        return ""
    return f"With 1,000 requests waiting, SPTF serves {gain:.1f} times as many requests a second as first come, first served."
