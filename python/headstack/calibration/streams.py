"""Fit the stream model of a drive to throughputs that were measured."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any, Literal, cast

from headstack import stream
from headstack._core import VERSION, StreamModel
from headstack.calibration.throughputs import OPS
from headstack.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from headstack.calibration.throughputs import Row, Throughputs
    from headstack.results.validations import StreamCalibrationSummary, StreamError, StreamParameter, StreamScores

Law = Literal["constant", "uniform", "normal", "exponential"]

FAR_OFF_PERCENT = 10.0
"""A model that is so far off on average what it was fitted to is of another drive, or leaves out what decides."""
FAR_OFF_AT_MOST_PERCENT = 15.0
"""So is one that is so far off in a single throughput."""


@dataclass(frozen=True)
class StreamCalibration:
    """A stream model fitted to throughputs."""

    model: StreamModel
    """The fitted model."""
    summary: StreamCalibrationSummary
    """`system`, `source`, `parameters`, `train` and `test` (scores before and after), `rows`, as `--json` prints them."""
    device: str = ""
    """What a record was measured on."""

    @property
    def warning(self) -> str:
        """What a user should know before the fitted model is used."""
        return " ".join(filter(None, (self._other_drive(), self._further_off(), self._far_off(), self._moved_media())))

    def _other_drive(self) -> str:
        """The record is of a simulated drive, and not of this one."""
        if not self.device.startswith("sim:"):
            return ""
        of, name = self.device.removeprefix("sim:"), self.summary["system"]
        if Path(of).stem == Path(name).stem:
            return ""
        return f"the record was made of the simulated drive {of}, and the model is of {name}."

    def _moved_media(self) -> str:
        """Another rate of the media may make up for what the model does not know of the drive."""
        outer = next((row for row in self.summary["parameters"] if row["name"] == "mechanism.outer_mb_per_s"), None)
        if outer is None or not outer["before"] or not outer["after"]:
            return ""
        ratio = outer["after"] / outer["before"]
        if 1 / MOVED_MEDIA <= ratio <= MOVED_MEDIA:
            return ""
        return (
            f"the fitted media are {ratio:.2f} times as fast as those of the file: either the drive's are, or that makes up for what the model "
            "does not know, and files elsewhere on the disk come at other rates. A table with files further inwards tells."
        )

    def _far_off(self) -> str:
        """What is left is more than a model of this drive leaves."""
        after = self.summary["train"]["after"]
        if after is None or (
            after["mean_percent"] < FAR_OFF_PERCENT and after["max_percent"] < FAR_OFF_AT_MOST_PERCENT
        ):
            return ""
        return (
            f"the fitted model is {after['mean_percent']:.0f} % off on average of what it was fitted to, and {after['max_percent']:.0f} % at most: its "
            "parameters and their intervals say little. Is the table of this drive, and without what a host's cache answers?"
        )

    def _further_off(self) -> str:
        worse = []
        for words, part in (("training", self.summary["train"]), ("test", self.summary["test"])):
            before, after = part["before"], part["after"]
            if before is not None and after is not None and after["mean_percent"] > before["mean_percent"] + 0.005:
                change = f"{before['mean_percent']:.2f} to {after['mean_percent']:.2f} %"
                worse.append(f"{change} on average of the {words} throughputs")
        if not worse:
            return ""
        return (
            f"the fitted model is further off: {' and '.join(worse)}. Squares are fitted, so that one large difference counts more "
            "than many small ones: look at both before you use it."
        )

    def save(self, path: str | Path) -> None:
        """Write the fitted model as a TOML file, with what it was fitted to in its head: whole, or not at all."""
        from headstack.files import write_toml

        write_toml(path, "".join(f"# {line}\n" for line in self._head()) + "\n" + self.model.to_toml())

    def report(self, path: str | Path) -> None:
        """Write the page: throughputs before and after, the parameters, and what the table cannot tell."""
        from headstack.files import to_write
        from headstack.report.streams import stream_calibration_page

        stream_calibration_page(self).write(to_write(path))

    def _head(self) -> list[str]:
        summary, train, test = self.summary, self.summary["train"], self.summary["test"]
        off = ", ".join(
            f"{part['after']['mean_percent']:.2f} % on average of the {part['throughputs']} {words} throughputs"
            for part, words in ((train, "training"), (test, "test"))
            if part["after"] is not None
        )
        rows = summary["parameters"]
        told = [
            f"{row['name']} = {row['after']:.6g} {row['unit']}"
            + (f" ({row['ci95'][0]:.6g} to {row['ci95'][1]:.6g}, 95 %)" if row["ci95"] else "")
            for row in rows
            if row["identifiable"]
        ]
        unknown = [f"{row['name']}: {row['why']}" for row in rows if not row["identifiable"]]
        return [
            f"The stream model of {summary['system']}, fitted to throughputs of {Path(summary['source']).name} by headstack "
            f"{summary['version']}.",
            f"Off by {off}.",
            *(f"Fitted: {it}." for it in told),
            *(f"Not identifiable: {it}." for it in unknown),
            "In Python: headstack.stream.model(NAME). `headstack calibrate NAME --table F` goes on from it.",
        ]


def calibrate_streams(
    drive: str | Path | StreamModel,
    measured: Throughputs,
    *,
    parameters: Sequence[str] = (),
    law: Law | None = None,
    seed: int = 1,
) -> StreamCalibration:
    """Fit the stream model of a drive to a part of the throughputs, and score it on the rest.

    Parameters
    ----------
    drive
        A library name, a drive file or a model to start from.
    measured
        What `from_record` or `from_table` read. The largest files are the training set, the others the test set, of reads and of
        writes each.
    parameters
        Paths of the values to fit; those of `DEFAULTS` if empty, with the delays of what is read or written.
    law
        The form of fitted delays; absent: that of the model's own, and normal where it has none.
    """
    start = stream.model(drive)
    train, test = measured.apart()
    ops = {row[0] for row in train}
    names = list(dict.fromkeys(parameters)) or [f"cache.{op}_delay" for op in OPS if op in ops] + list(DEFAULTS)
    _check_plausible(start, measured, names)
    before = _differences(start, [*train, *test], seed)
    found = start.fit(train, names, law=law, seed=seed)
    fitted = _model(found["spec"])
    # All rows at once, as before: each draws the random numbers of its place.
    after = _differences(fitted, [*train, *test], seed)
    summary: StreamCalibrationSummary = {
        "system": start.name,
        "source": measured.name,
        "left_out_cached": measured.cached,
        "law": law or _laws(found["parameters"]),
        "is_law_asked": law is not None,
        "seed": seed,
        "version": VERSION,
        "parameters": cast("list[StreamParameter]", found["parameters"]),
        "train": _scores(train, before, after),
        "test": _scores(test, before, after),
        "rows": [
            {"op": op, "file_mb": file_mb, "record_kib": record_kib, "repeats": repeats, "mb_per_s": rate,
             "fitted": place < len(train), "before_percent": 100 * before[row], "after_percent": 100 * after[row]}
            for place, row in enumerate([*train, *test])
            for op, file_mb, record_kib, repeats, rate in [row]
        ],
        "model": found["spec"],
    }  # fmt: skip
    return StreamCalibration(fitted, summary, measured.device)


def _laws(rows: Sequence[Mapping[str, Any]]) -> str:
    """The forms of the fitted delays; where there is none, the one that a new delay would have had."""
    return ", ".join(dict.fromkeys(row["law"] for row in rows if row["law"])) or "normal"


def law_words(summary: Mapping[str, Any]) -> str:
    """Say which form the delays have, and whose choice that was."""
    kept = [] if summary["is_law_asked"] else [row for row in summary["parameters"] if row["law"] and row["before"]]
    if not kept:
        return f"delays {summary['law']}"
    words = [f"{row['name']} {row['law']}, as in the file" for row in kept]
    new = [f"{row['name']} {row['law']}" for row in summary["parameters"] if row["law"] and not row["before"]]
    return "; ".join([*words, *new])


LEAST_OF_INNER = 0.01
"""A table whose largest throughput is a smaller share of the rate on the innermost track is of other units, or another drive."""


def _check_plausible(start: StreamModel, measured: Throughputs, names: Sequence[str]) -> None:
    spec = start.spec
    inner, reads = spec["mechanism"]["inner_mb_per_s"], spec["cache"]["interface_mb_per_s"]
    interface = {"read": reads, "write": spec["cache"].get("write_interface_mb_per_s", reads)}
    rates = [row[-1] for row in measured.rows]
    if rates and max(rates) < LEAST_OF_INNER * inner:
        raise InputError(
            f"`{measured.name}`: the largest throughput is {max(rates):g} MB/s, the drive gives {inner:.0f} on its innermost track",
            "name the column by its unit (mb_per_s, mib_per_s), or the drive that was measured",
        )
    faster = max((row for row in measured.rows if row[-1] > interface[row[0]]), key=lambda row: row[-1], default=None)
    if faster is not None and "cache.interface_mb_per_s" not in names:
        raise InputError(
            f"`{measured.name}`: a throughput of {faster[-1]:.2f} MB/s is above the interface's {interface[faster[0]]:g} MB/s",
            "leave out what a cache of the host answered, fit `cache.interface_mb_per_s` too, name the column by its unit "
            "(mb_per_s, mib_per_s), or name the drive that was measured",
        )


MOVED_MEDIA = 1.2
"""The rate on a track of the file that was measured is known better than to this factor, if it is of the same drive."""


DEFAULTS = ("mechanism.outer_mb_per_s", "mechanism.inner_mb_per_s")
"""What is fitted beside the delays if nothing is said."""


def _model(spec: dict[str, Any]) -> StreamModel:
    import json

    return StreamModel(json=json.dumps(spec))


def _differences(model: StreamModel, rows: list[Row], seed: int) -> dict[Row, float]:
    return dict(zip(rows, model.differences(rows, seed=seed), strict=True))


def _scores(rows: list[Row], before: dict[Row, float], after: dict[Row, float]) -> StreamScores:
    def score(differences: dict[Row, float]) -> StreamError | None:
        amounts = [100 * abs(differences[row]) for row in rows]
        return {"mean_percent": fmean(amounts), "max_percent": max(amounts)} if amounts else None

    return {"throughputs": len(rows), "before": score(before), "after": score(after)}
