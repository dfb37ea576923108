"""Where the plain sawtooth misleads, and what is done about it: early switches, write buffers, serpentine tracks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import headstack
from headstack import measure
from headstack.studies.framework import Row, about, at_least

if TYPE_CHECKING:
    from headstack.measure import Measurement

OVERLAP_MS = 0.5
BUFFERED = "quantum-fireball-ex"
SERPENTINE = "nearline-18tb"


def rows(measured: dict[str, Measurement]) -> list[Row]:
    """Rows on the failing cases."""
    return [*_dives(), *_write_buffer(measured[BUFFERED]), *_serpentine()]


def _dives() -> list[Row]:
    """Downward spikes before the drop: switches that pass beside the overhead lose no turn (R2.8)."""
    plain = measure.skippy("sim:mock-disk").found["skippy"][0]
    diving = measure.skippy("sim:mock-disk", overrides={"controller.overhead_beside_seek_ms": OVERLAP_MS}).found[
        "skippy"
    ][0]
    expected = {(29, False): 10.722, (34, False): 11.0, (29, True): 2.389, (34, True): 2.667}
    rows = []
    for (step, dives), paper in expected.items():
        ours = dict(map(tuple, (diving if dives else plain)["points"]))[step]
        how = f"{OVERLAP_MS} ms of the overhead pass beside a switch" if dives else "the overhead passes first"
        claim = f"mock disk: the switch point at step {step}, where {how}"
        rows.append(about(f"dive-{step}-{'with' if dives else 'without'}", claim, paper, ours, "ms", within=0.001,
                          note="derived from the mock disk's values"))  # fmt: skip
    before, dived = 24, 29
    shallow, deep = ((36 - step) * diving["slope_ms"] for step in (before, dived))
    claim = "mock disk: the dive begins between the last switch point that stays and the first that dives"
    note = f"so the time the head gains lies between {deep:.3f} and {shallow:.3f} ms; it is {OVERLAP_MS}"
    gained = {step: ms for step, ms in map(tuple, diving["points"]) if step in (before, dived)}
    is_between = gained[before] > diving["rotation_ms"] > gained[dived] and deep <= OVERLAP_MS <= shallow
    rows.append(about("dive-width", claim, 1, int(is_between), "of 1", within=0, note=note))
    return rows


def plain_writes(drive: str, steps: int) -> list[float]:
    """Skippy as printed: every write may be reported early; latencies in ms."""
    stepper = headstack.Stepper(headstack.System(drive))
    now, lba, latencies = 0, 0, []
    for step in range(steps):
        lba += step
        number = stepper.submit(now, "write", lba, 1)
        finish = None
        while finish is None and (event := stepper.next_event_ns()) is not None:
            finish = next((each.finish_ns for each in stepper.advance(event) if each.id == number), None)
        finish = stepper.now_ns if finish is None else finish
        latencies.append((finish - now) / 1e6)
        now = max(finish, stepper.now_ns)
        lba += 1
    return latencies


def _write_buffer(forced: Measurement) -> list[Row]:
    """Section 5.1.2: the IDE drives report the first writes early, and their graph is shifted."""
    sawtooth, true = forced.found["skippy"][0], headstack.Drive(BUFFERED)
    plain = plain_writes(BUFFERED, sawtooth["drop_step"])
    early = sum(latency < sawtooth["mtm_ms"] for latency in plain)
    writes = forced.head["writes"]
    return [
        at_least("case-buffer-early", "Fireball: plain writes that are faster than the media at small steps", 1, early, "writes"),
        about("case-buffer-rotation", "Fireball: rotation all the same", true.rotation_ms, forced.found["rotation_ms"], "ms",
              within=0.001 * true.rotation_ms, note=f"the cache is noticed, and the writes are of the kind `{writes}`"),
        about("case-buffer-heads", "Fireball: surfaces all the same", 2, forced.found["heads"] or 0, "", within=0),
    ]  # fmt: skip


def _serpentine() -> list[Row]:
    """Tracks along surfaces: switches between two cylinder switches are no count of heads."""
    found = measure.run(f"sim:{SERPENTINE}", ["skippy", "surfaces"]).found
    heads = headstack.Drive(SERPENTINE).spec()["layout"]["heads"]
    counted = (found["naive"] or {}).get("heads")
    note = f"the paper's count gives {'nothing' if counted is None else counted}; order found: {found['order']}"
    claim = f"{SERPENTINE}, serpentine: surfaces by angle and seek"
    return [about("case-serpentine-heads", claim, heads, found.get("heads") or 0, "", within=0, note=note)]
