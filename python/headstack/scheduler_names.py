"""Schedulers as people name them: how each is written, and where one is placed that cannot choose."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from headstack import System, Workload
    from headstack.results.designs import SchedulerEntry

KNOWLEDGE = {
    "addresses": "nothing but addresses: host or drive",
    "rotation": 'layout, seek times and rotation: the drive, or a host with `host.knowledge = "layout"` (the default)',
    "cache": "what the buffer holds, too: the drive",
    "any": "follows any scheduler",
}


def form(info: SchedulerEntry) -> str:
    """How an entry of `headstack.schedulers()` is written: `wstf(2000 ms)`, `+reads-first`."""
    parameter = info["parameter"]
    name = f"+{info['name']}" if info["is_modifier"] else info["name"]
    if parameter is None:
        return name
    default = parameter["default"]
    value = "VALUE" if default is None else f"{default:g}"
    return f"{name}({value} {parameter['unit']})" if parameter["unit"] else f"{name}({value})"


def meaning(info: SchedulerEntry) -> str:
    """What it does; of its parameter, what it is and from where to where it goes."""
    parameter = info["parameter"]
    if parameter is None:
        return info["what"]
    return f"{info['what']} ({parameter['what']}; {_number(parameter['least'])} to {_number(parameter['most'])})"


def idle_schedulers(system: System) -> str:
    """Say so if a drive has a scheduler but takes one command at a time, so that it never has a choice."""
    idle = [
        f"{drive['name']} ({controller['scheduler']})"
        for drive in system.config()["drives"]
        if (controller := drive["spec"]["controller"])["scheduler"] != "fcfs" and controller["queue_depth"] == 1
    ]
    if not idle:
        return ""
    return (
        f"The scheduler in {', '.join(idle)} has nothing to choose from: the drive takes one command at a time "
        "(`--set drive.*.controller.queue_depth=64` gives it a queue)"
    )


def idle_limits(system: System, workload: Workload) -> str:
    """Say so if a workload marks requests for duration limits of which the system's drives have none, or not so many."""
    marked = [stream for stream in workload.spec()["stream"] if stream.get("duration_limit_fraction")]
    if not marked:
        return ""
    asked = max(stream.get("duration_limit") or 1 for stream in marked)
    controllers = [drive["spec"]["controller"] for drive in system.config()["drives"]]
    has = [len(it.get("duration_limits") or ()) or int(it.get("duration_limit_ms") is not None) for it in controllers]
    if min(has, default=0) >= asked:
        return ""
    names = ", ".join(drive["name"] for drive, many in zip(system.config()["drives"], has, strict=True) if many < asked)
    return (
        f"The workload marks requests for duration limit {asked}, which {names} does not have: the marks do nothing there "
        "(`--set drive.*.controller.duration_limit_ms=50` sets the first; it takes a scheduler that knows limits, `ncq`)"
    )


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 else f"{value:g}"
