"""`validate`: a trace that has measured times through a model, and how far the model is from them."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any, cast

from headstack import _core
from headstack.arguments import checked
from headstack.counted import plural, the_first
from headstack.errors import InputError
from headstack.gaps import settle_gap
from headstack.renamed import formerly
from headstack.results.common import SplitScore
from headstack.run import Replay, as_system, with_scheduler
from headstack.shown import error_ms, number
from headstack.slipped import said_of_lists

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import polars as pl

    from headstack.results.common import (
        AngleFit,
        GapChoice,
        GeometryDoubts,
        ListedTrack,
        SkippedTrack,
        SpareTracks,
        ZoneAngles,
    )
    from headstack.results.validations import Intervals, OverSeeds, ResidualClass, RetriesScored, ValidationSummary
    from headstack.run import Overrides


@formerly(limit="requests")
@checked(but=("system",))
def validate(
    system: str | Path | _core.Drive | _core.System,
    trace: str | Path | _core.Trace,
    *,
    overrides: Overrides | None = None,
    scheduler: str | None = None,
    replay: Replay | None = None,
    seed: int | None = None,
    requests: int | None = None,
    ladder: bool = False,
    phase_lock: bool | float = False,
    note: Callable[[str], None] | None = None,
    progress: Callable[[int, float], bool | None] | None = None,
) -> Validation:
    """Run a trace that has measured times through a model, and score the model.

    Parameters
    ----------
    system
        A library name, the path of a drive or system file, a `Drive` or a `System`.
    trace
        The trace, or its path.
    overrides
        Values of the system to replace, by dotted path (`--set` on the command line).
    scheduler
        Scheduling algorithm: `NAME` in the host's driver, `drive:NAME` in the drives.
    replay
        "measured" where the trace has start times, else "closed", unless said otherwise.
    seed
        Seed of everything random in the model.
    requests
        At most so many requests.
    ladder
        Score the rungs M0 to M5 of the model ladder, too.
    phase_lock
        Fit the spindle's speed, the skews and the zones' angles to the first half of the trace (or this share of it),
        follow the phase through the rest, and score that rest, with and without. Needs the measured replay.
    note
        Gets sentences about what was found out on the way.
    progress
        As for `simulate`.
    """
    source = _core.Trace(trace) if isinstance(trace, (str, Path)) else trace
    if phase_lock:
        _check_lock(phase_lock, replay, ladder)
    built = as_system(system, with_scheduler(overrides, scheduler))
    try:
        with said_of_lists(built):
            source, gap = settle_gap(built, source, note)
            result = _core.validate(
                built,
                source,
                replay=replay,
                seed=seed,
                requests=requests,
                ladder=ladder,
                phase_lock=0.5 if phase_lock is True else phase_lock or None,
                progress=progress,
            )
    except InputError as problem:
        raise _with_lock(problem) if phase_lock else problem from None
    drive = _core.Drive(toml=built.drive_toml()) if len(built.drives) == 1 else None
    validation = Validation(result, gap, drive.rotation_ms if drive else None)
    if drive is not None:
        entries = drive.provenance()["entries"].values()
        validation.fitted_sources = [entry["source"] for entry in entries if entry["kind"] == "fitted"]
        if drive.spec().get("soft_errors") and not ladder:
            how: dict[str, Any] = {
                "replay": replay,
                "requests": requests,
                "phase_lock": phase_lock,
                "progress": progress,
            }
            validation.summary["retries"] = _scored_with_retries(drive, source, how)
    return validation


RETRY_SEEDS = 20
"""Retries are drawn: one seed is one of many answers."""


def _scored_with_retries(drive: _core.Drive, source: _core.Trace, how: dict[str, Any]) -> RetriesScored:
    """Scores over several seeds, and those of the same drive that never retries."""
    text = drive.to_toml()

    def scores(seed: int, overrides: Overrides | None = None) -> ValidationSummary:
        system = _core.System.of_drive(_core.Drive(toml=text, overrides=overrides))
        lock = 0.5 if how["phase_lock"] is True else how["phase_lock"] or None
        result = _core.validate(system, source, seed=seed, **{**how, "phase_lock": lock})
        return cast("ValidationSummary", result.summary())

    drawn = [scores(seed) for seed in range(1, RETRY_SEEDS + 1)]
    never = scores(1, {f"soft_errors.{op}_probability": 0.0 for op in ("read", "write")})

    def over(values: list[float]) -> OverSeeds:
        return {"median": median(values), "range": [min(values), max(values)]}

    return {
        "seeds": RETRY_SEEDS,
        "demerit_ms": over([each["demerit_ms"] for each in drawn]),
        "demerit_percent": over([each["demerit_percent"] for each in drawn]),
        "mae_ms": over([each["per_request"]["mae_ms"] for each in drawn]),
        "mae_percent": over([each["per_request"]["mae_percent"] for each in drawn]),
        "without": cast("SplitScore", {key: never[key] for key in SplitScore.__annotations__ if key in never}),
    }


def _check_lock(phase_lock: bool | float, replay: Replay | None, ladder: bool) -> None:
    """Refuse what does not go together before anything is read."""
    share = 0.5 if phase_lock is True else phase_lock
    if not 0.05 <= share <= 0.95:
        raise InputError(
            f"the phase lock is fitted to {share:g} of the trace, which is not between 0.05 and 0.95",
            "`--fit-share 0.5`, or phase_lock=0.5, fits the first half and scores the second",
        )
    if replay in ("open", "closed"):
        raise InputError("a phase lock needs the measured clock", "use `--replay measured` with `--phase-lock`")
    if ladder:
        raise InputError(
            "the rungs of the ladder are not phase-locked", "use `--ladder` and `--phase-lock` one at a time"
        )


def _with_lock(problem: InputError) -> InputError:
    """What is wrong, where the hint names a replay that no phase lock goes with."""
    if "--replay" not in (problem.hint or ""):
        return problem
    return InputError(
        str(problem), "a phase lock needs the start and completion of each request: choose a trace that has them"
    )


NAMED = 5
"""Tracks named in a sentence, at most."""

UNLOCKED = "It turns at the speed of its file."
"""Of a drive whose period a phase lock did not find."""


def lock_counts(phase: Mapping[str, Any]) -> tuple[int, int]:
    """Of how many drives a phase lock found the period, and of how many it looked for it."""
    return sum(drive["fit"]["period_found"] for drive in phase["drives"]), len(phase["drives"])


def lock_words(phase: Mapping[str, Any]) -> str:
    """How scores are phase-locked: the phase is followed at the speed of the file where a period was not found."""
    found, drives = lock_counts(phase)
    if found == drives:
        return "phase-locked"
    whose = f" of {drives - found:,} of {drives:,} drives" if found else ""
    return f"phase-locked at the file's speed{whose}: {_why_not(phase)}"


RUNS = "the file describes runs of tracks, whose angles are not fitted"
"""Why a phase lock finds nothing whatever the times are."""


def _why_not(phase: Mapping[str, Any]) -> str:
    """Why the period of some drives was not found."""
    fits = [drive["fit"] for drive in phase["drives"] if not drive["fit"]["period_found"]]
    return RUNS if all(not fit["zones"] for fit in fits) else "the times do not tell the period"


def untold(fit: Mapping[str, Any], requests: int) -> str:
    """That so many requests do not tell the period, or that it was not looked for."""
    if not fit["zones"]:
        return RUNS
    return f"{the_first(requests, 'request')} {'does' if requests == 1 else 'do'} not tell the period"


def skipped_words(tracks: list[SkippedTrack]) -> str:
    """Where the angles of the file's layout begin to be wrong, and what mends it, in sentences."""
    sure = [track for track in tracks if track["is_sure"]]
    named = (sure or tracks)[0]
    first = named["between_lbas"]
    count = "A track is" if len(tracks) == 1 else f"{len(tracks):,} tracks are"
    return (
        f"{count} passed over that the file does not list{_doubt(len(sure), len(tracks))}: its angles jump first between LBA {first[0]:,} and {first[1]:,} "
        f"(cylinder {named['cylinder']:,}). The fitted drive lists {'it' if len(tracks) == 1 else 'them'} in `layout.slipped_tracks`."
    )


def _doubt(sure: int, tracks: int) -> str:
    """How many of so many tracks may be there by chance."""
    if sure == tracks:
        return ""
    if sure == 0:
        return ", which may be by chance"
    return f", of which {tracks - sure:,} may be by chance"


def not_skipped_words(tracks: list[ListedTrack]) -> str:
    """Which listed tracks are there after all, in a sentence."""
    sure = [track for track in tracks if track["is_sure"]]
    named = sure or tracks
    places = [f"{track['cylinder']:,}/{track['head']}" for track in named[:NAMED]]
    more = f" and {len(named) - NAMED:,} more" if len(named) > NAMED else ""
    which = "A track" if len(tracks) == 1 else f"{len(tracks):,} tracks"
    verb, pronoun = ("is", "it") if len(tracks) == 1 else ("are", "them")
    return (
        f"{which} that the file lists in `layout.slipped_tracks` {verb} not passed over{_doubt(len(sure), len(tracks))} "
        f"(cylinder/head {', '.join(places)}{more}). The fitted drive leaves {pronoun} out."
    )


def spare_words(zones: list[SpareTracks]) -> str:
    """Where the file's spare tracks do not go with its list of skipped ones, in sentences."""
    named = [
        f"`layout.zone.{zone['zone']}.spare_tracks_at_end` = {zone['instead']} (not {zone['file']})" for zone in zones
    ]
    more = f" and {len(named) - NAMED:,} more" if len(named) > NAMED else ""
    return (
        "The spare tracks of the file do not go with its list: each track in `layout.slipped_tracks` takes a spare one of its zone, "
        f"and by where the zones behind begin some are still counted as spare, or too few: {', '.join(named[:NAMED])}{more}. The fitted "
        "drive has these numbers."
    )


def geometry_words(geometry: GeometryDoubts) -> str:
    """Where the file's geometry is wrong and what mends it, in sentences; empty where nothing speaks against it."""
    said = [_out_of_step_words(geometry)] if geometry["out_of_step"] else []
    for mend in geometry["mended_by"]:
        changes = " and ".join(
            f"`{change['path']}` = {change['instead']} (not {change['file']})" for change in mend["changes"]
        )
        said.append(
            f"The file's geometry seems wrong: of single numbers that were tried, {changes} suits the angles best, from LBA "
            f"{mend['from_lba']:,} on (coherence of pairs from {mend['coherence_before']:.2f} to {mend['coherence_after']:.2f}). It may be one "
            "beside it, or another that does alike: change the file, and see whether errors fall to those of other zones. The fitted drive "
            "does not have it."
        )
    return " ".join(said)


def _out_of_step_words(geometry: GeometryDoubts) -> str:
    """From which LBA on angles have nothing to do with the file's."""
    ranges = [
        f"LBA {first['begins_between_lbas'][1]:,} to {first['ends_between_lbas'][0]:,}"
        for first in geometry["out_of_step"]
    ]
    more = f" and {len(ranges) - NAMED:,} more ranges" if len(ranges) > NAMED else ""
    begins = geometry["out_of_step"][0]["begins_between_lbas"]
    text = (
        f"Angles are out of step with the file in {', '.join(ranges[:NAMED])}{more}: something is wrong between LBA "
        f"{begins[0]:,} and {begins[1]:,}."
    )
    if geometry["mended_by"]:
        return text
    return f"{text} No single number of heads, sectors a track, zone boundary or spare tracks that was tried mends it."


def skew_words(fit: AngleFit) -> str:
    """Which zones have other skews than the file says, in a sentence; empty where all or none have."""

    def is_other(zone: ZoneAngles) -> bool:
        skews = (zone["track_skew"], zone["cylinder_skew"])
        return any(skew is not None and skew["from"] in ("one-value", "zone") for skew in skews)

    zones = fit["zones"]
    others = [zone for zone in zones if is_other(zone)]
    if not others or len(others) == len(zones):
        return ""
    named = ", ".join(f"{zone['zone']} (from LBA {zone['first_lba']:,})" for zone in others[:NAMED])
    more = f" and {len(others) - NAMED:,} more" if len(others) > NAMED else ""
    which = "Zone" if len(others) == 1 else "Zones"
    verb = "has" if len(others) == 1 else "have"
    return f"{which} {named}{more} {verb} other skews than the file says; the fitted drive has them."


def answer(summary: Mapping[str, Any]) -> str:
    """How far the simulated times are off, on how many requests, in a sentence."""
    text = f"The simulated times of {plural(summary['requests'], 'measured request')} are off by {_off(summary)}"
    if "without_phase_lock" in summary:
        unlocked = _off(summary["without_phase_lock"])
        found, drives = lock_counts(summary["phase"])
        if not found:
            nothing = "does not find the period in these times"
            if _why_not(summary["phase"]) == RUNS:
                nothing = f"fits nothing: {RUNS}"
            text = f"The phase lock {nothing}. {text} with it, and by {unlocked} without"
        else:
            whose = "the spindle's phase" if found == drives else f"the phase of {found:,} of {drives:,} spindles"
            text += f" where {whose} is followed, and by {unlocked} where it is not"
    return f"{text}; their distribution is off by {number(summary['demerit_percent'], 2, '%')} (demerit)."


def _off(scores: Mapping[str, Any]) -> str:
    """The error per request."""
    errors = scores["per_request"]
    return f"{error_ms(errors['mae_ms'], 'ms')} on average ({number(errors['mae_percent'], 2, '%')})"


class Validation:
    """How a model compares with measured times.

    Attributes
    ----------
    summary
        The scores, as `headstack validate --json` prints them.
    rotation_ms
        Time of one revolution, as fitted by a phase lock or as in the drive file; `None` for several drives.
    fitted_sources
        What each value of the drive that was fitted was fitted to; empty for several drives.
    """

    def __init__(
        self, result: _core.ValidationResult, gap: GapChoice | None = None, rotation_ms: float | None = None
    ) -> None:
        self._result = result
        self.summary = cast("ValidationSummary", result.summary())
        if gap is not None:
            self.summary["gap"] = gap
        self.fitted_sources: list[str] = []
        fits = [drive["fit"] for drive in self.summary.get("phase", {}).get("drives", [])]
        fitted = len(fits) == 1 and fits[0]["period_found"]
        self.rotation_ms: float | None = fits[0]["rotation_ms"] if fitted and rotation_ms is not None else rotation_ms

    @property
    def times(self) -> _core.Table:
        """One row a request: the measured service time, the model's (or each rung's), and what the model did."""
        return self._result.times()

    @cached_property
    def residuals(self) -> pl.DataFrame:
        """The table of times with the model's error and the class of each request. Needs polars."""
        from headstack.residuals import residual_frame

        return residual_frame(self.times, self.rotation_ms)

    def residual_classes(self) -> list[ResidualClass]:
        """Where the error is: requests by class, the class with the largest share of the total error first. Needs polars."""
        from headstack.residuals import classes

        return classes(self.residuals)

    def answer(self) -> str:
        """How far the simulated times are off, on how many requests, in a sentence."""
        return answer(self.summary)

    def intervals(self, *, samples: int = 200, seed: int = 1) -> Intervals:
        """95 % intervals of `demerit_ms` and `mae_percent`, of `all` requests, `reads` and `writes`: a bootstrap of blocks.

        Parameters
        ----------
        samples
            How often the blocks of requests are drawn anew.
        seed
            What decides the draws.
        """
        return self._result.intervals(samples=samples, seed=seed)

    @property
    def fitted_drive(self) -> str | None:
        """The drive as a phase lock fitted it, as the text of a drive file."""
        return self._result.fitted_drive

    def save_drive(self, path: str | Path) -> None:
        """Write the drive as a phase lock fitted it."""
        from headstack.files import write_toml

        if self.fitted_drive is None:
            raise InputError(
                "there is no fitted drive to save",
                "validate one drive with `--phase-lock`; systems of several drives have no drive file",
            )
        write_toml(path, self.fitted_drive)

    def report(self, path: str | Path) -> None:
        """Write the page: measured and model distributions over each other, the scores, and where the error is."""
        from headstack.files import to_write
        from headstack.report.validation import validation_page

        validation_page(self).write(to_write(path))

    def _repr_html_(self) -> str:
        from headstack.notebook import validation

        return validation(self.summary)

    def __repr__(self) -> str:
        summary = self.summary
        return (
            f"Validation({summary['system']!r}, {plural(summary['requests'], 'request')}, "
            f"demerit {summary['demerit_percent']:.2f} %)"
        )
