"""`headstack simulate`: a workload or a trace through a system."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from headstack.cli import offered, output, progress
from headstack.cli.models import built_system
from headstack.cli.options import (
    OUT_NAMES,
    OUTPUT,
    RUN,
    Json,
    Overrides,
    Replay,
    Scheduler,
    TraceOptions,
    check_counts,
    seconds,
    warmup,
)
from headstack.conditions import CONDITION_COLUMNS, condition_rows
from headstack.counted import plural
from headstack.destaging import destage_words
from headstack.errors import InputError
from headstack.overload import held_back
from headstack.run_times import LIMIT_COLUMNS, TIME_COLUMNS, limit_rows, time_rows
from headstack.shown import Shown, joined, made_by, number, of_unit, percent, several, shown

if TYPE_CHECKING:
    from collections.abc import Mapping

    from headstack import System, Trace, Workload
    from headstack.results.runs import MeasuredByFio


def simulate(
    system: Annotated[str, Parameter(help="Library name, drive file or system file.", completer=offered.systems)],
    *,
    workload: Annotated[
        str | None,
        Parameter(
            group=RUN,
            help="Library name, workload file or fio job file; `headstack simulate` needs this or --trace.",
            completer=offered.workloads,
        ),
    ] = None,
    trace: Annotated[Path | None, Parameter(group=RUN, help="Trace to run instead of a workload.")] = None,
    how: Annotated[TraceOptions, Parameter(name="*")] = TraceOptions(),  # noqa: B008 (immutable)
    replay: Annotated[
        Replay | None,
        Parameter(
            group=RUN,
            help="When requests of a trace are issued: at their arrivals (open), each after the "
            "completion of the one before (closed), or at their measured starts (measured).",
        ),
    ] = None,
    requests: Annotated[int | None, Parameter(group=RUN, help="At most so many requests.")] = None,
    seed: Annotated[int | None, Parameter(group=RUN, help="Seed of everything random.")] = None,
    warmup_: Annotated[
        str | None,
        Parameter(
            name="--warmup",
            group=RUN,
            help="Leave the beginning out of the statistics: `1000` requests, or a time such as `60s`. Requests that "
            "arrive later count; those under way do not, so that rates of short closed runs come out low.",
        ),
    ] = None,
    until: Annotated[
        str | None, Parameter(group=RUN, help="Cut the run at this simulated time, such as `1h`, if more would come.")
    ] = None,
    threads: Annotated[
        int | None,
        Parameter(
            group=RUN,
            help="So many threads serve drives that do not depend on each other, or a single one; all cores' if left "
            "out. The results are the same.",
        ),
    ] = None,
    fio_json: Annotated[
        Path | None,
        Parameter(group=RUN, help="What `fio --output-format=json` measured, to be shown beside the run."),
    ] = None,
    scheduler: Scheduler = None,
    set_: Overrides = (),
    out: Annotated[
        Path | None,
        Parameter(name=OUT_NAMES, group=OUTPUT, help="Parquet file for the completions, one row a request."),
    ] = None,
    driver_out: Annotated[
        Path | None,
        Parameter(
            group=OUTPUT,
            help="Parquet file for the driver's requests below a host's buffer cache; `trace analyze` reads it.",
        ),
    ] = None,
    background_out: Annotated[
        Path | None,
        Parameter(
            group=OUTPUT, help="Parquet file for the drives' work that no command waited for: destage, early writes."
        ),
    ] = None,
    report: Annotated[Path | None, Parameter(group=OUTPUT, help="HTML page about the run.")] = None,
    save: Annotated[
        Path | None,
        Parameter(group=OUTPUT, help="Drive file with the values of --set (a system of one drive)."),
    ] = None,
    json: Json = False,
) -> int:
    """Run a workload or a trace on a drive or a system."""
    from headstack import simulate
    from headstack.files import check_report, check_saved, check_writable, write_toml
    from headstack.fio import cut_s, results

    for path in (out, driver_out, background_out):
        if path is not None:
            check_writable(path)
    if report is not None:
        check_report(report)
    if save is not None and save.suffix == ".parquet":
        raise InputError(
            f"--save writes a drive file, and `{save}` is named like completions", "--out writes completions"
        )
    if save is not None:
        check_saved(save)
    built = built_system(system, set_, scheduler)
    until_s = None if until is None else seconds(until, "--until")
    source = _source(workload, trace, how, cut_s(until_s, requests))
    measured = [] if fio_json is None else results(fio_json)
    saved = built.drive_toml() if save is not None else ""
    check_counts(requests=requests)
    if threads is not None and threads < 1:
        raise InputError(f"--threads {threads}: a run needs a thread", "give at least 1, or leave it out for all cores")
    total = requests if workload is None else requests or getattr(source, "requests", None)
    with progress.bar("simulating", total) as told:
        run = simulate(
            built,
            source,
            seed=seed,
            replay=replay,
            requests=requests,
            until_s=until_s,
            out=out,
            driver_out=driver_out,
            background_out=background_out,
            keep=False,
            sample=report is not None,
            progress=told,
            threads=threads,
            **warmup(warmup_),
        )
    if save is not None:
        write_toml(save, saved)
    if report is not None:
        run.report(report)
    if json:
        output.print_json({**run.summary, "fio": measured} if measured else run.summary)
    else:
        _show(run.summary)
        _show_measured(run.summary, measured)
    written = (out, driver_out, background_out, report, save)
    _say_beside(built, source, how, run.summary, [path for path in written if path is not None])
    return 1 if "data_loss" in run.summary else 0


def _say_beside(
    built: System, source: Workload | Trace, how: TraceOptions, summary: Mapping[str, Any], written: list[Path]
) -> None:
    from headstack import Workload
    from headstack.overload import cut_short, overload
    from headstack.scheduler_names import idle_limits, idle_schedulers

    none = "" if summary["requests"] else "no request was complete in time: there is nothing to tell"
    if none and summary["in_flight_cut"] == 0 and not isinstance(source, Workload):
        none = how.nothing_left()
    limits = idle_limits(built, source) if isinstance(source, Workload) else ""
    for warning in (none, overload(summary), cut_short(summary), idle_schedulers(built), limits):
        if warning:
            output.warning(warning)
    for path in written:
        output.wrote(path)


def _source(workload: str | None, trace: Path | None, how: TraceOptions, cut_s: float | None) -> Workload | Trace:
    from headstack import Workload

    if trace is not None and workload is not None:
        raise InputError("--trace and --workload are two sources of requests", "give one of them")
    if trace is not None:
        return how.open(trace)
    if workload is None:
        raise InputError("there is nothing to run", "name a workload (--workload unix-like) or a trace (--trace FILE)")
    if how.given():
        raise InputError(
            f"{how.given()[0]} is about traces, and --workload {workload} makes its requests",
            "leave it out, or run a trace with --trace",
        )
    if workload.endswith(".fio"):
        from headstack.fio import capped_depth, workload_of_job

        made = workload_of_job(Path(workload), cut_s=cut_s)
        if capped := capped_depth(Path(workload)):
            output.warning(capped)
        return made
    return Workload(workload)


def _show_measured(summary: Mapping[str, Any], measured: list[MeasuredByFio]) -> None:
    """Print what fio measured beside what the run came to."""
    if not measured:
        return
    keys = ("mean", "std", "max")
    rows = [
        (f"fio, {each['job']}, {each['op']}", number(each["iops"], 1), number(each["mib_per_s"], 2),
         *(number(each["response_ms"][key]) for key in keys))
        for each in measured
    ]  # fmt: skip
    directions = [each for each in ("reads", "writes") if summary[each]["requests"]]
    parts = [("simulated", summary, number(summary["mib_per_s"], 2))]
    if len(directions) > 1:
        parts += [(f"simulated, {each}", summary[each], "–") for each in directions]
    rows += [
        (name, number(summary["iops"] * part["requests"] / max(summary["requests"], 1), 1), mib_per_s,
         *(number(part["response_ms"].get(key)) for key in keys))
        for name, part, mib_per_s in parts
    ]  # fmt: skip
    output.line()
    columns = ["", "IOPS", "MiB/s", "mean (ms)", "std (ms)", "max (ms)"]
    output.table("Measured by fio, and simulated", columns, rows)


def _show(summary: Mapping[str, Any]) -> None:
    output.sentence(
        f"{summary['system']} under {summary['workload']}: {plural(summary['requests'], 'request')} in "
        f"{number(summary['simulated_s'], 1)} simulated s ({number(summary['wall_s'])} s here)"
    )
    output.line()
    output.table("Times (ms)", list(TIME_COLUMNS), time_rows(summary))
    if limited := limit_rows(summary):
        output.table("Responses by duration limit (ms)", list(LIMIT_COLUMNS), limited)
    kinds = [("all", summary["phases_ms"])]
    kinds += [(kind, summary[kind]["phases_ms"]) for kind in ("reads", "writes") if summary[kind]["requests"]]
    names = [name for name in summary["phases_ms"] if any(phases[name] for _, phases in kinds)]
    output.table(
        "Where the response went (mean ms)", ["", *names],
        [(kind, *(of_unit(phases[name], "ms") for name in names)) for kind, phases in kinds],
    )  # fmt: skip
    output.table(
        "Drives",
        ["drive", "requests", "commands", "utilisation", "mean queue depth", "max queue depth", "values assumed"],
        [
            (
                drive["name"],
                number(drive["requests"]),
                number(drive["commands"]),
                percent(drive["utilisation"], 1),
                number(drive["queue_mean"], 3),
                number(drive["queue_max"]),
                percent(drive["assumed_share"]),
            )
            for drive in summary["drives"]
        ],
    )
    if any("conditions" in drive for drive in summary["drives"]):
        output.table("Power conditions", list(CONDITION_COLUMNS), condition_rows(summary))
    cache = summary["cache"]
    interval = summary["response_ms"]["mean_ci95"]
    pairs = [
        ("throughput", several("{} IOPS, {} MiB/s", number(summary["iops"], 1), number(summary["mib_per_s"]))),
        ("mean response", "–" if interval is None else
         several("{} ± {} (95 %)", of_unit(summary["response_ms"]["mean"], "ms"), number(interval, 2, "ms"))),
        ("cache", several("{} read hits, {} partial, {} misses; {} writes reported early", *(
            cache[key] for key in ("read_hits", "read_partial_hits", "read_misses", "writes_reported_early")))),
        ("run", made_by(summary)),
    ]  # fmt: skip
    if parallel := summary.get("parallel"):
        guessed, proven = parallel["guessed_requests"], parallel["proven_requests"]
        told = several("{}; nothing simulated ahead of time: the requests leave the drive no rest", parallel["threads"])
        if guessed:
            told = several(
                "{}; {simulated ahead} requests simulated ahead of time from a guess of how the drive stands by then; {guessed right} of "
                "them guessed right, the others simulated again: results are those of one thread",
                parallel["threads"], guessed, percent(proven / guessed, 1),
            )  # fmt: skip
        pairs.append(("threads", told))
    if power := summary.get("power"):
        pairs.append(("power", _watts(power)))
    if buffers := summary.get("buffer_cache"):
        pairs.append(("buffer cache", _buffers(buffers)))
    pairs += [("controller", _array_cache(cache)) for cache in summary.get("array_caches", [])]
    pairs += [("rebuild", _rebuild(rebuild)) for rebuild in summary.get("rebuilds", [])]
    if loss := summary.get("data_loss"):
        pairs.append(("data lost", _loss(loss)))
    if ended := summary.get("without_data"):
        text = "{} unavailable, {} aborted, by a duration limit; in no other figure"
        pairs.append(("without data", several(text, ended["unavailable"], ended["aborted"])))
    if summary["in_flight_cut"]:
        pairs.append(("cut", several("{} in flight when the run was cut", summary["in_flight_cut"])))
    if words := destage_words(summary):
        pairs.append(("destage", words))
    if notice := held_back(summary):
        pairs.append(("backlog", notice))
    if summary["clamped"]:
        pairs.append(("clamped", several("{} moved: measured times overlap", summary["clamped"])))
    output.facts("", pairs)


def _array_cache(cache: Mapping[str, Any]) -> Shown:
    """What the cache of a volume's controller did."""
    populated = ", {} populations" if cache["populations"] else ""
    keys = [
        "read_hits",
        "read_misses",
        *(["populations"] if populated else []),
        "writes",
        "destages",
        "dirty_sectors_at_end",
    ]
    return several(
        f"{{}}: {{}} read hits, {{}} misses{populated}; {{}} writes, {{}} destages, {{}} sectors dirty at the end",
        cache["volume"],
        *(cache[key] for key in keys),
    )


def _watts(power: Mapping[str, Any]) -> Shown:
    """Mean power, and what it was drawn for."""
    states = {name: of_unit(watts, "W") for name, watts in power["by_state_w"].items() if watts}
    by_state = ", ".join(f"{name} {{}}" for name in states)
    template, each = f"{{}} on average ({by_state}), {{}}", []
    if "per_request_j" in power:
        template += ": {} a request, {} of it at work"
        each = [number(1000 * power[name], 1, "mJ") for name in ("per_request_j", "at_work_per_request_j")]
    total = number(power["energy_j"], 1, "J")
    return several(template, number(power["average_w"], 2, "W"), *states.values(), total, *each)


def _rebuild(rebuild: Mapping[str, Any]) -> Shown:
    """How a failed drive was rebuilt, and how requests fared meanwhile."""
    failed = several("{}, failed at {}", rebuild["drive"], number(rebuild["failed_s"], 1, "s"))
    if rebuild["began_s"] is None:
        return several("{}: there was no spare for it", failed)
    onto = f"onto {rebuild['onto']}" if rebuild["onto"] else "onto the room distributed over the others"
    took = "not finished" if rebuild["hours"] is None else number(rebuild["hours"], 3, "h")
    if not rebuild["held_mb"]:
        return several("{}, {}: nothing of the volume was on it", failed, onto)
    parts = [several("{}, {}: {} done", failed, onto, percent(rebuild["progress"], 1)), several("{}", took)]
    if rebuild["mb_per_s"] is not None:
        parts[-1] = several("{} at {}", took, number(rebuild["mb_per_s"], 1, "MB/s"))
    if rebuild["done_before_mb"]:
        share = percent(rebuild["done_before_mb"] / rebuild["held_mb"], 1)
        parts.append(several("{} of it before the run", share))
    homeless_mb = rebuild["held_mb"] - rebuild["done_before_mb"] - rebuild["rebuilt_mb"]
    if rebuild["finished_s"] is not None and homeless_mb > 1e-6 * rebuild["held_mb"]:
        share = percent(homeless_mb / rebuild["held_mb"], 1)
        parts.append(several("{} of it without room, which was on another drive that failed", share))
    told = joined(", ", parts)
    if not rebuild["requests"]:
        return told
    response = rebuild["response_ms"]
    meanwhile = several("response meanwhile, {}: mean {}, p99 {}, max {} ms", shown(plural(rebuild["requests"], "request"), rebuild["requests"], "requests"),
                        *(of_unit(response[key], "ms") for key in ("mean", "p99", "max")))  # fmt: skip
    return joined("; ", [told, meanwhile])


def _loss(loss: Mapping[str, Any]) -> Shown:
    """What no drives tell any more."""
    return several(
        "at {}, with {} missing: {}, {} of {}, sectors from {} to {}; the run ended there",
        number(loss["at_s"], 1, "s"), ", ".join(loss["drives"]), number(loss["lost_mb"], 1, "MB"), percent(loss["lost_share"], 2),
        loss["volume"], loss["first_lba"], loss["last_lba"],
    )  # fmt: skip


def _buffers(cache: Mapping[str, Any]) -> Shown:
    """What the host's buffer cache did, in blocks."""
    hits, misses = (cache[f"read_{what}"] + cache[f"write_{what}"] for what in ("hits", "misses"))
    written = {
        word: cache[key]
        for key, word in (
            ("written_by_sync", "by sync"),
            ("written_by_trickle", "by trickle flush"),
            ("written_by_eviction", "to make room"),
            ("written_by_limit", "by the limit"),
            ("written_through", "through"),
        )
        if cache[key]
    }
    return several(
        f"{{}} blocks hit, {{}} missed; written {', '.join(f'{{}} {word}' for word in written) or 'none'}; dirty for {{}} at most; "
        "{} dirty at the end",
        hits, misses, *written.values(), number(cache["longest_dirty_s"], 2, "s"), cache["dirty_at_end"],
    )  # fmt: skip
