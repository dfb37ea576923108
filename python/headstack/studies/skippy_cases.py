"""Where the plain sawtooth misleads, and what is done about it: early switches, write buffers, serpentine tracks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import headstack
from headstack import measure
from headstack.studies.framework import Row, about, at_least, whole

if TYPE_CHECKING:
    from headstack.measure import Measurement

OVERLAP_MS = 0.5
BUFFERED = "quantum-fireball-ex"
SERPENTINE = "nearline-18tb"


def rows(measured: dict[str, Measurement]) -> list[Row]:
    """Rows on the failing cases."""
    return [*_dives(), *_write_buffer(measured[BUFFERED]), *_serpentine()]


def _dives() -> list[Row]:
    """Downward spikes before the drop: switches that the overhead hides lose no revolution (R2.8)."""
    plain = whole(measure.skippy("sim:mock-disk")).found["skippy"][0]
    diving = whole(measure.skippy("sim:mock-disk", overrides={"controller.overhead_beside_seek_ms": OVERLAP_MS}))
    dived = dict(diving.found["skippy"][0]["points"])
    turn, sector = 60_000 / 7_200, 60_000 / 7_200 / 150
    least, switch, skew = 2.0, 0.7, 13 * sector
    heads = [step for (step, _), kind in zip(plain["points"], plain["kinds"], strict=True) if kind == "head"]
    stayed = dict(plain["points"])
    # The head is there in time if step and skew leave it what the overhead does not cover.
    in_time = [step for step in heads if step < least / sector and step * sector + skew > least + switch - OVERLAP_MS]
    rows = []
    for step in in_time:
        for dives, points in ((False, stayed), (True, dived)):
            paper = (step + 1) * sector + skew + (0.0 if dives else turn)
            how = f"{OVERLAP_MS} ms of the overhead pass beside a switch" if dives else "the overhead passes first"
            claim = f"mock disk: the switch point at step {step}, where {how}"
            id_ = f"dive-{step}-{'with' if dives else 'without'}"
            note = "derived from the mock disk's values"
            rows.append(about(id_, claim, paper, points[step], "ms", within=0.001, note=note, kind="aim"))
    before = max(step for step in heads if step < min(in_time))
    claim = f"mock disk: the switch point at step {before}, too early to dive"
    paper = (before + 1) * sector + skew + turn
    rows.append(
        about(
            "dive-before",
            claim,
            paper,
            dived[before],
            "ms",
            within=0.001,
            note="derived from the mock disk's values",
            kind="aim",
        )
    )
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
        at_least("case-buffer-early", "Fireball: plain writes that are faster than the media at small steps", 1, early, "writes",
                 note="the paper shows it and prints no number; the bound is ours", kind="aim"),
        about("case-buffer-rotation", "Fireball: rotation all the same", true.rotation_ms, forced.found["rotation_ms"], "ms",
              within=0.001 * true.rotation_ms, note=f"the cache is noticed, and the writes are of the kind `{writes}`",
              kind="aim"),
        about("case-buffer-heads", "Fireball: surfaces all the same", 2, forced.found["heads"] or 0, "", within=0,
              kind="aim"),
    ]  # fmt: skip


def _serpentine() -> list[Row]:
    """Tracks along surfaces: switches between two cylinder switches are no count of heads."""
    found = whole(measure.run(f"sim:{SERPENTINE}", ["skippy", "surfaces"])).found
    heads = headstack.Drive(SERPENTINE).spec()["layout"]["heads"]
    counted = (found["naive"] or {}).get("heads")
    note = f"the paper's count gives {'nothing' if counted is None else counted}; order found: {found['order']}"
    claim = f"{SERPENTINE}, serpentine: surfaces by angle and seek"
    return [about("case-serpentine-heads", claim, heads, found.get("heads") or 0, "", within=0, note=note, kind="aim")]
