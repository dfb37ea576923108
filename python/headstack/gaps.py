"""Which request the gaps of a DiskSim validation trace belong to.

In the traces of the early 1990s the gap on a line follows its request; in those of the late 1990s it precedes it, though
DiskSim reads them all the first way. Only under the right reading does the disk turn from one completion to the next as
far as the two sectors lie apart.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from headstack import _core

if TYPE_CHECKING:
    from collections.abc import Callable

    from headstack.results.common import GapChoice


def settle_gap(
    system: _core.System, trace: _core.Trace, note: Callable[[str], None] | None = None
) -> tuple[_core.Trace, GapChoice | None]:
    """Read a trace the way its measured times speak for.

    Returns the trace and what was found: the keys `gap` ("after" or "before"), `decided`, `coherence_after`,
    `coherence_before`, `pairs` and `confidence`. A trace without gaps, or whose reading was given, comes back as it is,
    with `None`. Where the times do not tell, the gaps come after their requests, as in DiskSim, and `decided` is false.
    `note` gets a sentence for people.
    """
    if not trace.gap_is_open:
        return trace, None
    found = _core.decide_trace_gap(system, trace)
    decided = found["gap"] != "undecided"
    gap = found["gap"] if decided else "after"
    if note is not None:
        coherences = f"coherence {found['coherence_after']:.2f} after, {found['coherence_before']:.2f} before"
        if decided:
            note(f"the gaps come {gap} their requests ({coherences}, {found['pairs']:,} pairs)")
        else:
            note(
                f"the measured times do not tell whether the gaps come after or before their requests ({coherences}, "
                f"{found['pairs']:,} pairs): read as after; --gap says which"
            )
    choice = cast("GapChoice", {**found, "gap": gap, "decided": decided})
    return trace.with_gap(gap), choice
