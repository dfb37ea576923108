"""Arrays, as a user writes and runs them."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING

import pytest

import headstack as package
from conftest import data_file, headstack, refused
from headstack._core import import_disksim_simulation

if TYPE_CHECKING:
    from pathlib import Path

LOAD = ("--workload", "thesis-4ms", "--requests", "2000")


def commands(*more: str) -> list[int]:
    summary = headstack("simulate", "raid5-4x-cheetah-9lp", *LOAD, *more, "--json").json()
    assert summary["requests"] == 2000
    return [drive["commands"] for drive in summary["drives"]]


def test_the_library_s_array_runs_whole_and_degraded() -> None:
    whole = commands()
    assert min(whole) > 0.8 * max(whole)
    degraded = commands("--set", "volume.data.failed_drives=[0]")
    assert degraded[0] == 0
    # What the failed drive held is worked out from the three others.
    assert all(after > before for after, before in zip(degraded[1:], whole[1:], strict=True))


@pytest.mark.parametrize("columns", [80, 120])
def test_the_table_of_drives_has_the_commands_that_each_served(
    columns: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # A request counts for one drive, that of its last command: the others would seem to be at work for nothing.
    from headstack.cli import main

    monkeypatch.setenv("COLUMNS", str(columns))
    main(["simulate", "raid5-4x-cheetah-9lp", *LOAD])
    lines = capsys.readouterr().out.splitlines()
    start = lines.index("Drives")
    table = lines[start : lines.index("", start)]
    assert max(map(len, table)) <= columns
    rows = [line.split() for line in table]
    header = next(row for row in rows if row[:1] == ["drive"])
    assert header[1:4] == ["requests", "commands", "utilisation"]
    assert [int(row[2].replace(",", "")) for row in rows if row[0].startswith("data.")] == commands()


SMALL_WRITES = [
    ("raid-4", 3, 1), ("raid-5", 3, 1), ("raid-5", 4, 2), ("raid-5", 6, 2),
    ("raid-6", 4, 1), ("raid-6", 5, 2), ("raid-6", 6, 3), ("raid-6", 8, 3),
]  # fmt: skip


@pytest.mark.parametrize(("level", "drives", "reads"), SMALL_WRITES)
def test_a_small_write_reads_what_the_guide_says(level: str, drives: int, reads: int, tmp_path: Path) -> None:
    system, trace = tmp_path / "array.toml", tmp_path / "one.csv"
    names = ", ".join(['"cheetah-9lp"'] * drives)
    trace.write_text("arrival_ms,device,op,lba,sectors\n0,0,write,0,8\n")
    for choice, expected in (("", reads), ('small_writes = "read-modify-write"', 3 if level == "raid-6" else 2)):
        system.write_text(f'[volume.data]\nlevel = "{level}"\ndrives = [{names}]\nstripe_unit_kib = 64\n{choice}\n')
        found = package.simulate(system, trace, keep=False).summary
        written = 3 if level == "raid-6" else 2
        assert sum(drive["commands"] for drive in found["drives"]) == written + expected


def test_levels_cost_what_they_say(tmp_path: Path) -> None:
    per_request = {}
    for level in ("raid-0", "raid-10", "raid-5", "raid-6"):
        path = tmp_path / f"{level}.toml"
        drives = ", ".join(['"cheetah-9lp"'] * 6)
        path.write_text(f'[volume.data]\nlevel = "{level}"\nstripe_unit_kib = 64\ndrives = [{drives}]\n')
        summary = headstack("simulate", path, *LOAD, "--json").json()
        sent = sum(drive["commands"] for drive in summary["drives"])
        writes = summary["writes"]["requests"] / summary["requests"]
        per_request[level] = (sent / summary["requests"] - (1 - writes)) / writes
    expected = {"raid-0": 1, "raid-10": 2, "raid-5": 4, "raid-6": 6}
    assert per_request == pytest.approx(expected)


@pytest.mark.parametrize(
    ("setting", "says"),
    [
        ("failed_drives=[0,1]", "data are lost"),
        ("failed_drives=[7]", "7 is not one of the 4 drives"),
        ("stripe_unit_kib=0.3", "is not a positive multiple"),
        ("read_choice=first", "means nothing to level"),
        ("level=raid-7", "raid-5"),
    ],
)
def test_arrays_that_cannot_be(setting: str, says: str) -> None:
    assert says in refused("simulate", "raid5-4x-cheetah-9lp", *LOAD, "--set", f"volume.data.{setting}")


def host_requests(name: str, last_device: int, path: Path) -> None:
    """Write the requests that DiskSim's generators made; left out are writes that waited for reads, noted as arrivals, too."""
    with gzip.open(data_file(f"disksim-runs/{name}.completions.csv.gz"), "rt") as lines:
        completions = {round(float(line.split(",")[0]), 3) for line in lines if line[0].isdigit()}
    with gzip.open(data_file(f"disksim-runs/{name}.arrivals.gz"), "rt") as lines, path.open("w") as out:
        for line in lines:
            at, device, *_ = line.split()
            near = (round(float(at) + shift, 3) for shift in (-0.001, 0.0, 0.001))
            if int(device) <= last_device and not any(time in completions for time in near):
                out.write(line)


def imported(name: str, folder: Path) -> package.System:
    found = import_disksim_simulation(
        data_file(f"validate/{name}.parv"), folders=[data_file("drives/ibm18es.diskspecs").parent]
    )
    for file, text in found["drives"]:
        (folder / file).write_text(text, encoding="utf-8")
    (folder / "system.toml").write_text(found["system"], encoding="utf-8")
    return package.System(str(folder / "system.toml"))


def commands_of_disksim(name: str, drives: int) -> list[int]:
    counts = [0] * drives
    with gzip.open(data_file(f"disksim-runs/{name}.completions.csv.gz"), "rt") as lines:
        for line in lines:
            if line[0].isdigit():
                counts[int(line.split(",")[1])] += 1
    return counts


def test_raid_5_goes_as_in_disksim(tmp_path: Path) -> None:
    system = imported("synthraid5", tmp_path)
    assert "raid-5" in (tmp_path / "system.toml").read_text()
    trace = tmp_path / "arrivals.ascii"
    host_requests("synthraid5", 0, trace)
    summary = package.simulate(system, package.Trace(trace)).summary
    ours = [drive["commands"] for drive in summary["drives"]]
    # DiskSim makes one request of neighbours with up to 16 KiB between them; here they stay two.
    assert ours == pytest.approx(commands_of_disksim("synthraid5", 9), rel=0.02)
    assert summary["response_ms"]["mean"] == pytest.approx(35.749, rel=0.02)


def test_spindles_that_stand_apart_cost_a_mirror_a_sixth_of_a_turn() -> None:
    """The later of two even waits is two thirds of a turn on average, one wait half of one; all arrays were synchronised, and said so nowhere."""
    text = '[volume.data]\nlevel = "raid-1"\ndrives = ["hc-sd", "hc-sd"]\n'
    load = package.Workload(
        toml="seed = 1\nrequests = 400\n[[stream]]\nread_fraction = 0.0\nsize.fixed_kib = 4\ninter_arrival.exponential_ms = 200\n"
    )

    def mean_ms(spindles: str, seed: int) -> float:
        system = package.System(
            toml=text + f'spindles = "{spindles}"\n', overrides={"drive.*.write_cache.enabled": False}
        )
        return package.simulate(system, load, seed=seed).summary["response_ms"]["mean"]

    gains = [mean_ms("apart", seed) - mean_ms("synchronised", seed) for seed in range(1, 17)]
    assert mean_ms("apart", 1) == mean_ms("apart", 1)
    assert len(set(gains)) == len(gains)
    turn = package.Drive("hc-sd").rotation_ms
    assert sum(gains) / len(gains) == pytest.approx(turn / 6, abs=0.06 * turn)
