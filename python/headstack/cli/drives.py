"""`headstack drives`: the library of drives."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import App, Parameter

from headstack.cli import offered, output, progress
from headstack.cli.options import OUT_NAMES, OUTPUT, Json, Overrides, model_overrides
from headstack.cli.verbs import VERBS, examples, helped
from headstack.counted import plural
from headstack.shown import between, capacity, number, percent, several, shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from headstack import Drive
    from headstack.results.drives import CheckedFile, ZoneFigures

app = App(name="drives", help=VERBS["drives"][1], help_epilogue=examples("drives"))


@app.command(name="list", help_epilogue=examples("drives list"))
def list_(*, json: Json = False) -> int:
    """List the drives of the library."""
    from headstack import Drive, library_drives

    drives = [{"id": name, **Drive(name).describe()} for name in library_drives()]
    if json:
        output.print_json({"drives": [_short(drive) for drive in drives]})
        return 0
    output.table(
        "Drives of the library",
        ["name", "drive", "capacity", "rpm", "heads", "cylinders", "average seek", "assumed"],
        [
            (
                drive["id"],
                drive["name"],
                capacity(drive["capacity_bytes"]),
                output.number(drive["rotation_rpm"], 0),
                output.number(drive["heads"]),
                output.number(drive["cylinders"]),
                output.number(drive["seek"]["distance_weighted_ms"], 2, "ms"),
                percent(drive["provenance"]["shares"]["assumed"]),
            )
            for drive in drives
        ],
        text_columns=(0, 1),
        spare=(5, 4, 6, 1),
        caption="assumed: the share of a drive's values that nobody has published or measured; results rest on them too",
    )
    return 0


@app.command(help_epilogue=examples("drives show"))
def show(
    drive: Annotated[str, Parameter(help="Library name, or a drive file.", completer=offered.drives)],
    *,
    set_: Overrides = (),
    toml: Annotated[bool, Parameter(help="Print the drive file instead.")] = False,
    json: Json = False,
) -> int:
    """Show everything about a drive: a library name, or the path of a drive file."""
    from headstack import Drive, InputError
    from headstack.checks import memory_sentences, physics_sentences, renamed_sentences

    if toml and json:
        raise InputError("--toml and --json are two ways to print the same", "choose one")
    model = Drive(drive, overrides=model_overrides(set_, None))
    for sentence in renamed_sentences(model) + physics_sentences(model.spec()) + memory_sentences(model.spec()):
        output.warning(sentence)
    if toml:
        output.line(model.to_toml().rstrip())
        return 0
    about = {"id": drive, **model.describe(), **_choices(model.to_toml())}
    if json:
        output.print_json(about)
        return 0
    _show(about)
    return 0


@app.command(**helped("drives check"))
def check(
    *drives: Annotated[str, Parameter(help="Library names, or drive files.", completer=offered.drives)],
    deep: Annotated[
        bool,
        Parameter(help="Run each drive, and hold it against its own geometry; without names: the whole library."),
    ] = False,
    json: Json = False,
) -> int:
    """Check drive files, or drives of the library: syntax, keys, physics, and the provenance of every value.

    Warnings tell of values that no known drive has, of skews that leave no time for their switch, and of a write cache larger
    than the drive's memory. With --deep, short runs tell whether the drive does what its description promises; exit code 1 if
    one does not.
    """
    from headstack import InputError, library_drives
    from headstack.checks import memory_sentences, physics_sentences, renamed_sentences, skew_sentences

    if not drives and not deep:
        raise InputError(
            "no drive file was named", "headstack drives check FILE.toml; --deep without a name runs the whole library"
        )
    results: list[CheckedFile] = []
    for source in drives or library_drives():
        try:
            drive = _named(source)
        except InputError as problem:
            results.append({"file": source, "ok": False, "problem": str(problem)})
            output.error(str(problem), problem.hint)
        else:
            shares = drive.provenance()["shares"]
            warnings = (
                renamed_sentences(drive)
                + physics_sentences(drive.spec())
                + skew_sentences(drive)
                + memory_sentences(drive.spec())
            )
            for sentence in warnings:
                output.warning(f"{source}: {sentence}")
            results.append(
                {"file": source, "ok": True, "name": drive.name, "shares": shares, "warnings": warnings,
                 "skews": drive.skew_warnings()}
            )  # fmt: skip
            if not json and not deep:
                found = f", with {plural(len(warnings), 'warning')}" if warnings else ""
                output.sentence(
                    f"{source}: {drive.name} is sound{found}; {percent(shares['assumed'])} of its values are assumed"
                )
    code = 0 if all(result["ok"] for result in results) else 2
    if deep:
        return _check_deep([result["file"] for result in results if result["ok"]], results, code, json=json)
    if json:
        output.print_json({"files": results})
    return code


def _named(source: str) -> Drive:
    """A drive file, or a drive of the library."""
    from headstack import Drive, InputError, library_drives

    if source not in library_drives() and not Path(source).exists():
        raise InputError(
            f"cannot read `{source}`: no such file", "`headstack drives list` tells the names of the library"
        )
    return Drive(source)


def _check_deep(sources: list[str], results: list[CheckedFile], code: int, *, json: bool) -> int:
    """Run the sound ones, as many at a time as there are cores."""
    from headstack.checks import deep_check
    from headstack.threads import Pool

    with progress.each("checking", deep_check, len(sources), "drives") as check, Pool() as pool:
        checks = list(pool.map(check, sources))
    missed = sum(1 for check in checks if check.missed)
    code = code or int(missed > 0)
    if json:
        output.print_json({"files": results, "drives": [check.json() for check in checks], "missed": missed})
        return code
    columns = [f"{op} {place}" for op in ("read", "write") for place in ("outer", "middle", "inner")]
    output.table(
        "Sequential rate in MB/s, and the share of what media, bus and overhead allow",
        ["drive", *columns],
        [
            (
                check.drive,
                *(
                    several(
                        "{} ({share of the bound} of the bound)",
                        shown(f"{row['mb_per_s']:.3g}", row["mb_per_s"], "MB/s"),
                        percent(row["share"]),
                    )
                    for row in sorted(check.sequential, key=lambda row: row["op"])
                ),
            )
            for check in checks
        ],
        text_columns=(0,),
    )
    output.table(
        "Random IOPS of 4 KiB, max responses, and time to write out a full cache",
        ["drive", "read QD 1", "read QD 16", "write QD 1", "write QD 16", "uncached QD 1", "uncached QD 16", "max read (ms)",
         "max write (ms)", "flush (s)"],
        [
            (
                check.drive,
                *(
                    output.number(check.random_iops.get(key), 0)
                    for key in ("read_qd1", "read_qd16", "write_cached_qd1", "write_cached_qd16", "write_uncached_qd1",
                                "write_uncached_qd16")
                ),
                output.number(check.longest_ms["read"], 0),
                output.number(check.longest_ms["write"], 0),
                output.number(check.flush_s, 1),
            )
            for check in checks
        ],
        text_columns=(0,),
        caption="QD: queue depth; uncached: writes with the write cache off; max: responses of readers beside writers that keep the "
        "write cache full",
    )  # fmt: skip
    for check in checks:
        output.sentence(f"{check.drive}: {check.verdict}")
    return code


@app.command(**helped("drives sheet"))
def sheet(
    *drives: Annotated[
        str, Parameter(help="Library names; if none, all drives whose data sheets are known.", completer=offered.drives)
    ],
    markdown: Annotated[bool, Parameter(help="Print the table in Markdown.")] = False,
    json: Json = False,
) -> int:
    """Hold drives of the library against the data sheets of their class: published figures beside the model's."""
    from headstack import InputError
    from headstack.checks.sheets import COLUMNS, published_drives, sheet_rows, table

    if markdown and json:
        raise InputError("--markdown and --json are two ways to print the same", "choose one")
    known = published_drives()
    if unknown := [drive for drive in drives if drive not in known]:
        raise InputError(f"no data sheet is known for `{unknown[0]}`", f"known: {', '.join(known)}")
    names = list(drives or known)
    with progress.each("running", sheet_rows, len(names), "drives") as run:
        rows = [row for name in names for row in run(name)]
    if json:
        output.print_json({"rows": [row.json() for row in rows]})
    elif markdown:
        for cells in (COLUMNS, ["---"] * len(COLUMNS), *table(rows)):
            output.line("| " + " | ".join(cells) + " |")
    else:
        caption = "remembered: not checked against the data sheet; read back: the drive file was made from it"
        output.table(
            "Data sheets beside the models", COLUMNS, table(rows), text_columns=(0, 1, 2, 6, 7), caption=caption
        )
    return 0


@app.command(name="import", **helped("drives import"))
def import_(
    *files: Annotated[Path, Parameter(help="Files of DiskSim: `.diskspecs`, `.model`, `.parv`.")],
    out: Annotated[
        Path | None,
        Parameter(
            name=OUT_NAMES,
            group=OUTPUT,
            help="Write the drive file here instead of printing it; of a .parv the system file, or into this directory.",
        ),
    ] = None,
    meaning: Annotated[
        Literal["measured", "disksim"],
        Parameter(
            help="What the parameters mean: what the drives did in measured traces, or what DiskSim does with them."
        ),
    ] = "measured",
    lenient: Annotated[bool, Parameter(help="Go on where something sensible can be done, and say so.")] = False,
    name: Annotated[str | None, Parameter(help="The drive's name; else that of its block.")] = None,
    summary: Annotated[str | None, Parameter(help="One line on what the drive is.")] = None,
    json: Json = False,
) -> int:
    """Make a drive file of the parameter files of DiskSim 4.0, or a system and a workload of a simulation file.

    The first file is the drive's .diskspecs (or a .model alone); further ones, the .parv of a simulation, add its bus. A
    .parv first becomes a system file, with the files of its drives and its workload beside it; further files and
    directories are places to look for what it sources. What is not carried over, and what is doubtful, is told on stderr.
    """
    from headstack import InputError
    from headstack._core import import_disksim
    from headstack.files import check_creatable, make_folder, write_toml

    if not files:
        raise InputError("no parameter file was named", "headstack drives import FILE.diskspecs")
    if files[0].suffix == ".parv":
        if name is not None or summary is not None:
            raise InputError("--name and --summary are a drive's", "name its .diskspecs file first to import a drive")
        return _import_simulation(files, out, meaning=meaning, lenient=lenient, json=json)
    if out is not None:
        check_creatable(out)
    text, report = import_disksim(list(files), meaning=meaning, lenient=lenient, name=name, summary=summary)
    if out is not None:
        make_folder(out)
        write_toml(out, text)
    if json:
        output.print_json({"file": None if out is None else str(out), "toml": text, **report})
        return 0
    if out is None:
        output.line(text.rstrip())
    where = "" if out is None else f"; `{out}` is written"
    _tell(report, where)
    return 0


def _import_simulation(files: tuple[Path, ...], out: Path | None, *, meaning: str, lenient: bool, json: bool) -> int:
    """Make a system file, drive files and a workload file of a simulation file."""
    from headstack import InputError
    from headstack._core import import_disksim_simulation
    from headstack.files import check_creatable, make_folder, write_together

    file = files[0]
    if out is None and not json:
        raise InputError("a simulation becomes several files", f"say where: -o {file.stem}.toml, or -o DIRECTORY")
    folders = [other if other.is_dir() else other.parent for other in files[1:]]
    into_directory = out is not None and out.is_dir()
    stem = out.stem if out is not None and not into_directory else file.stem
    found = import_disksim_simulation(
        file, meaning=meaning, lenient=lenient, prefix="" if into_directory else f"{stem}.", folders=folders
    )
    written: dict[str, str] = {}
    if out is not None:
        directory = out if into_directory else out.parent
        system = directory / "system.toml" if into_directory else out
        workload = directory / ("workload.toml" if into_directory else f"{stem}.workload.toml")
        texts = {directory / drive: text for drive, text in found["drives"]} | {system: found["system"]}
        if found["workload"] is not None:
            texts[workload] = found["workload"]
        for path in texts:
            check_creatable(path)
        make_folder(system)
        write_together(texts)
        written = {"system": str(system)} | ({"workload": str(workload)} if found["workload"] is not None else {})
    if json:
        output.print_json({"files_written": written, **found})
        return 0
    _tell(found, f"; {', '.join(f'`{path}`' for path in written.values())} written")
    if "workload" in written:
        output.note(f"run it: headstack simulate {written['system']} --workload {written['workload']}")
    if found["trace_options"] or "workload" not in written:
        words = " ".join(found["trace_options"])
        output.note(f"run a trace: headstack simulate {written['system']} --trace FILE {words}".rstrip())
    return 0


def _tell(report: Mapping[str, Any], where: str) -> None:
    """Say on stderr what became of the parameters."""
    for doubt in report["warnings"]:
        output.warning(f"{doubt['place']}: {doubt['message']}")
    for missing in report["not_carried"]:
        if missing["matters"]:
            output.note(f"not carried: {missing['parameter']} = {missing['value']}: {missing['reason']}")
    carried, left = len(report["carried"]), len(report["not_carried"])
    output.note(f"{carried} parameters carried, {left} not{where}")


def _short(drive: Mapping[str, Any]) -> dict[str, Any]:
    left_out = {"zones", "bus", "buffer", "cache", "controller", "write_policy"}
    short = {key: value for key, value in drive.items() if key not in left_out}
    short["provenance"] = {key: drive["provenance"][key] for key in ("values", "shares")}
    return short


RULED = ("mechanics", "controller", "buffer", "cache", "write_policy", "write_cache")


def _choices(toml: str) -> dict[str, Any]:
    """The parallel arms of a drive file, and what it chooses where drives differ: words, and things done or not."""
    import tomllib

    file = tomllib.loads(toml)

    def chosen(path: str, table: dict[str, Any]) -> Iterator[tuple[str, str | bool]]:
        for key, value in table.items():
            if isinstance(value, dict):
                yield from chosen(f"{path}.{key}", value)
            elif isinstance(value, (str, bool)):
                yield f"{path}.{key}", value

    rules = {path: value for name in RULED for path, value in chosen(name, file.get(name, {}))}
    return {"arms": file.get("arms", {}), "rules": rules}


def _density(zone: ZoneFigures) -> str:
    """Sectors on a track: from the sparsest head to the densest, where they differ."""
    by_head = zone["sectors_per_track_by_head"]
    least, most = (min(by_head), max(by_head)) if by_head else (zone["sectors_per_track"],) * 2
    return between("–", least, most)


def _show(about: Mapping[str, Any]) -> None:
    seek, zones, shares = about["seek"], about["zones"], about["provenance"]["shares"]
    output.facts(
        about["name"],
        [
            ("", about["summary"]),
            ("capacity", several("{} sectors of {sector size}, {}", number(about["capacity_sectors"]), number(about["sector_bytes"], 0, "B"),
                                 capacity(about["capacity_bytes"]))),
            ("geometry", several(f"{{}} cylinders, {{}} heads, {{zones}} {'zone' if len(zones) == 1 else 'zones'}, "
                                 f"{{actuators}} {'actuator' if about['actuators'] == 1 else 'actuators'}",
                                 about["cylinders"], about["heads"], len(zones), about["actuators"])),
            ("rotation", several("{} rpm, {revolution} ms a revolution", number(about["rotation_rpm"], 1), number(about["rotation_ms"], 4))),
            ("head switch", number(about["head_switch_ms"], 2, "ms")),
        ],
    )  # fmt: skip
    output.line()
    output.table(
        "Seek",
        ["which", "ms"],
        [
            ("one cylinder", number(seek["single_cylinder_ms"])),
            ("full stroke", number(seek["full_stroke_ms"])),
            ("average: a third of the stroke", number(seek["third_stroke_ms"])),
            ("average: full stroke / 3", number(seek["full_stroke_third_ms"])),
            ("average: over all distances", number(seek["unweighted_ms"])),
            ("average: over all pairs of cylinders", number(seek["distance_weighted_ms"])),
        ],
    )
    output.table(
        "Zones",
        ["zone", "cylinders", "sectors per track", "first LBA", "sectors", "read MB/s", "write MB/s"],
        [
            (
                str(index),
                between("–", zone["first_cylinder"], zone["last_cylinder"]),
                _density(zone),
                number(zone["first_lba"]),
                number(zone["sectors"]),
                number(zone["sequential_read_mb_per_s"]),
                number(zone["sequential_write_mb_per_s"]),
            )
            for index, zone in enumerate(zones)
        ],
        text_columns=(0, 1),
    )
    if about["arms"]:
        output.facts("Parallel arms", _arms(about["arms"]), table="Parallel arms")
        output.line()
    if about["rules"]:
        output.table(
            "What the drive does where drives differ",
            ["rule", "value"],
            [
                (path, value if isinstance(value, str) else "yes" if value else "no")
                for path, value in about["rules"].items()
            ],
            text_columns=(0, 1),
        )
    output.table(
        "Where the values come from",
        ["values", "kind", "source"],
        [(path, entry["kind"], entry["source"]) for path, entry in sorted(about["provenance"]["entries"].items())],
        text_columns=(0, 1, 2),
        caption=", ".join(f"{percent(share)} {kind}" for kind, share in shares.items()),
    )


def _arms(arms: dict[str, Any]) -> list[tuple[str, str]]:
    """The arms around the spindle: how many, what they may do at a time, where they stand, their heads, which fail."""
    count = arms["count"]
    angles = arms.get("angles_revolutions") or [number / count for number in range(count)]
    rows = [
        ("arms", output.number(count)),
        ("design", arms["design"]),
        ("angles", ", ".join(f"{angle:.3g}" for angle in angles) + " revolutions"),
    ]
    if out_of_use := arms.get("deconfigured"):
        rows.append(("out of use", ", ".join(f"arm {arm}" for arm in out_of_use)))
    rows += _heads(arms)
    if failures := arms.get("failures"):
        rows.append(("failures", ", ".join(f"{_failing(each)} after {each['at_s']:,.12g} s" for each in failures)))
    return rows


def _failing(each: dict[str, Any]) -> str:
    return f"head {each['head']} of arm {each['arm']}" if "head" in each else f"arm {each['arm']}"


def _heads(arms: dict[str, Any]) -> list[tuple[str, str]]:
    """Several heads on an arm, heads that stand still, surfaces at once: what there is of them."""
    rows: list[tuple[str, str]] = []
    heads, placement = arms.get("heads_per_surface", 1), arms.get("head_placement", "equidistant")
    if heads > 1:
        rows.append(("heads of an arm over a surface", f"{heads}, {placement}"))
    if heads > 1 and placement == "equidistant":
        behind = arms.get("head_angles_revolutions") or [head / (heads * arms["count"]) for head in range(heads)]
        rows.append(("behind their arm", ", ".join(f"{angle:.3g}" for angle in behind) + " revolutions"))
    if out_of_use := arms.get("heads_deconfigured"):
        rows.append(("heads out of use", ", ".join(_failing(each) for each in out_of_use)))
    rows += [
        (
            "fixed heads",
            f"cylinders {each['first_cylinder']:,}–{each['last_cylinder']:,}, at {each['angle_revolutions']:.3g} revolutions",
        )
        for each in arms.get("fixed_heads", [])
    ]
    if (surfaces := arms.get("surfaces_at_once", 1)) > 1:
        rows.append(("surfaces at once", output.number(surfaces)))
    return rows
