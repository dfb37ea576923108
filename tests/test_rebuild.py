"""Rebuilding, as a user configures it and reads it."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import pytest

import headstack as headstack_package
from conftest import headstack, refused
from headstack.studies import rebuild as rebuild_study
from headstack.studies.rebuild.drive import media_mb_per_s, write_full
from headstack.studies.rebuild.loads import Array, whole_surface, workload
from headstack.studies.rebuild.loads import rebuild as rebuild_under
from headstack.studies.rebuild.pools import FIRST, LAST, Pool, Rebuilt, rebuild, whole_s

LOAD = ("--workload", "thesis-4ms", "--requests", "2000")
FAILS = ("--set", "volume.data.failures=[{ drive = 1, at_s = 2 }]")
SPARE = ("--set", 'volume.data.spares=["cheetah-9lp"]')


def test_a_drive_fails_and_is_rebuilt_until_the_run_is_cut() -> None:
    summary = headstack("simulate", "raid5-4x-cheetah-9lp", *LOAD, *FAILS, *SPARE, "--until", "60s", "--json").json()
    (rebuild_,) = summary["rebuilds"]
    assert (rebuild_["drive"], rebuild_["onto"], rebuild_["failed_s"]) == ("data.1", "data.spare0", 2.0)
    assert 0 < rebuild_["progress"] < 1
    assert rebuild_["finished_s"] is None
    assert rebuild_["requests"] > 500
    times = rebuild_["response_ms"]
    assert times["p50"] <= times["p99"] <= times["max"]
    text = headstack("simulate", "raid5-4x-cheetah-9lp", *LOAD, *FAILS, *SPARE, "--until", "60s").out
    assert "onto data.spare0" in text


def test_lost_data_are_told_and_the_command_is_done_in_part() -> None:
    lost = ("--set", "volume.data.failures=[{ drive = 1, at_s = 1 }, { drive = 2, at_s = 3 }]")
    done = headstack("simulate", "raid5-4x-cheetah-9lp", *LOAD, *lost, "--json")
    assert done.code == 1
    loss = json.loads(done.out)["data_loss"]
    assert (loss["at_s"], loss["drives"]) == (3.0, ["data.1", "data.2"])
    # Of three data units of a stripe two are gone, or one with the parity.
    assert loss["lost_share"] == pytest.approx(0.5, abs=0.01)


@pytest.mark.parametrize(
    ("drives", "keys", "says"),
    [
        (9, "row_kib = 256\ngroup_width = 4\nparities = 2\ndistributed_spares = 2", "11.7 % of it without room"),
        (8, "group_width = 4\nparities = 1\ndistributed_spares = 1", "nothing of the volume was on it"),
    ],
)
def test_what_of_a_failed_drive_is_not_rebuilt_is_told(tmp_path: Path, drives: int, keys: str, says: str) -> None:
    """A rebuild was "100.0 % done" with room for a tenth of it on another drive that had failed, and "not finished" of nothing."""
    system = tmp_path / "system.toml"
    names = ", ".join(['"conner-cp3100"'] * drives)
    failed = "[0, 5]" if drives == 9 else "[0]"
    unit = 16 if drives == 9 else 64
    system.write_text(
        f'[volume.data]\nlevel = "declustered"\nstripe_unit_kib = {unit}\ndrives = [{names}]\nfailed_drives = {failed}\n'
        f"[volume.data.declustered]\n{keys}\n"
    )
    assert says in headstack("simulate", system, "--workload", "thesis-4ms", "--requests", "2").out


@pytest.mark.parametrize(
    ("setting", "says"),
    [
        ("failures=[{ drive = 9, at_s = 1 }]", "9 is not one of the 4 drives"),
        ("rebuild={ window = 8 }", "nothing to rebuild onto"),
        ("rebuild={ write_efficiency = 80 }", "`volume.data.rebuild.write_efficiency`: 80 is not between 0.01 and 1"),
        ('spares=["hp-97560"]', "fewer than"),
        ("declustered={ group_width = 3 }", "means nothing to level"),
    ],
)
def test_failures_that_cannot_be(setting: str, says: str) -> None:
    assert says in refused("simulate", "raid5-4x-cheetah-9lp", *LOAD, "--set", f"volume.data.{setting}")


@pytest.mark.long
def test_a_distributed_spare_is_written_faster_than_a_spare_drive_s_media() -> None:
    spare, spread = (rebuild(Pool(12, 4, 1, is_distributed=is_spread)) for is_spread in (False, True))
    assert spare.mb_per_s == pytest.approx(media_mb_per_s(), rel=0.1)
    assert spread.mb_per_s > spare.mb_per_s
    # The published hours: about two drives are written to at a time.
    assert rebuild(Pool(90, 16, 1)).hours == pytest.approx(14.2, rel=0.1)


def test_requests_beside_a_rebuild_seek_as_on_a_drive_of_full_size() -> None:
    """A drive of 16 cylinders a zone has seeks of half a ms, and one of full size of 8 ms."""
    with tempfile.TemporaryDirectory() as name:
        full = headstack_package.Drive(str(Path(name) / write_full(Path(name))))
        model = headstack_package.Drive("nearline-18tb")
        assert full.capacity_sectors * 512e-12 == pytest.approx(16, rel=0.1)
        assert full.zones()[-1]["last_cylinder"] == model.zones()[-1]["last_cylinder"]
    quiet, loaded = (rebuild_under(Array("raid-10"), iops) for iops in (0, 300))
    # An idle mirror is rebuilt at the mean rate of its surface, not at that of the outermost tracks (258 MB/s).
    assert quiet.mb_per_s == pytest.approx(media_mb_per_s(), rel=0.03)
    assert loaded.mb_per_s < 0.8 * quiet.mb_per_s
    assert (loaded.p50 or 0) > 10


def test_a_spare_that_takes_writes_at_a_share_of_its_rate_is_rebuilt_at_that_share() -> None:
    whole, share = (
        rebuild(Pool(12, 4, 1, is_distributed=False, write_efficiency=efficiency)).mb_per_s for efficiency in (1.0, 0.5)
    )
    assert share == pytest.approx(whole / 2, rel=0.02)


def test_a_limit_holds_on_the_inner_tracks_too() -> None:
    rates = [(100, 250.0), (100, 125.0)]
    assert whole_surface(rates, 200.0, 200.0) == pytest.approx(2 / (1 / 200 + 1 / 100))
    assert whole_surface(rates, 200.0, 50.0) == pytest.approx(50)
    assert whole_surface(rates, 200.0, 150.0) == pytest.approx(2 / (1 / 150 + 1 / 100))


def test_the_zones_at_both_ends_count_as_much_as_those_between() -> None:
    """At constant linear density a rate is in proportion to the radius, and what is written to its square.

    So the mean rate of a whole surface is that of its first and its last track, which a mean of the middle alone is not.
    """
    outer, inner, size = 261.0, 123.0, 1000.0

    def at(share: float) -> float:
        rate = (outer**2 - share * (outer**2 - inner**2)) ** 0.5
        return 2 * size * (outer - rate) / (outer**2 - inner**2)

    shares = [step / 20 for step in range(21)]
    found = size / whole_s([(share, at(share)) for share in shares if FIRST <= share <= LAST])
    assert found == pytest.approx((outer + inner) / 2, rel=0.005)
    middle = (LAST - FIRST) * size / (at(LAST) - at(FIRST))
    assert middle > 1.02 * (outer + inner) / 2


def test_requests_notice_a_rebuild_less_that_is_limited() -> None:
    quiet, full = (rebuild_under(Array("raid-5", limit=limit), 100) for limit in (20, None))
    assert quiet.mb_per_s == pytest.approx(20, rel=0.03)
    assert full.mb_per_s > 2 * quiet.mb_per_s
    assert quiet.p99 is not None
    assert full.p99 is not None
    assert full.p99 > quiet.p99


def test_the_drives_own_order_prefers_the_reads_of_a_rebuild(tmp_path: Path) -> None:
    """Why requests wait longer under a light load than under a heavy one: not so where drives serve in order of arrival."""
    path = tmp_path / "array.toml"
    path.write_text(Array("raid-5").toml(write_full(tmp_path)))
    in_order = {"drive.*.controller.scheduler": "fcfs"}

    def p99(iops: int, overrides: dict[str, str]) -> float:
        load = headstack_package.Workload(toml=workload(iops))
        run = headstack_package.simulate(path, load, overrides=overrides, keep=False, until_s=10.0)
        return run.summary["rebuilds"][0]["response_ms"]["p99"] or 0.0

    assert p99(100, {}) > p99(300, {})
    assert p99(100, in_order) < p99(300, in_order)
    assert p99(100, in_order) < p99(100, {}) / 2


def test_the_finding_says_what_its_row_compares() -> None:
    said = rebuild_study.finding({"even-width": 0.56, "load-p99": 3.4})
    assert "as fast as it can be is 3.4 times that with a limit of 20 MB/s" in said


def test_what_a_fitted_constant_gives_is_not_called_reproduced() -> None:
    """Of one width of the traditional spare it is fitted to; that row says so, and all others are told apart from what nothing is fitted to."""
    spare, published = Rebuilt(23.3, 191.0, 0.5), {8: {"traditional_spare": 28.7}}
    pools = {Pool(90, 8, 1, is_distributed=False): spare}
    efficiency = rebuild_study.fitted_efficiency(pools, published)
    assert efficiency == pytest.approx(23.3 / 28.7, abs=5e-4)
    hours = Rebuilt(28.7, 155.0, 0.5)
    fitted, other, spread = (
        rebuild_study._fitted_row(pool, 28.7, hours, efficiency)
        for pool in (*pools, Pool(90, 4, 1, is_distributed=False), Pool(90, 8, 1))
    )
    assert (fitted.word, other.word, spread.word) == ("input read back", "agrees after a fit", "agrees after a fit")
    assert "fitted to these hours" in fitted.note
    assert "fitted to the hours of 8 data + 1 parity with a spare drive" in spread.note
    assert rebuild_study._fitted_row(Pool(90, 4, 1), 2.9, hours, efficiency).word == "differs after a fit"
    ids = [row.id for row in rebuild_study._fitted(pools, {})]
    assert len(ids) == len(set(ids)) == 22


def test_rates_are_exported_by_one_study_only(tmp_path: Path) -> None:
    assert "rebuild" in refused("study", "intra-disk", "--export-rates", str(tmp_path / "rates.csv"))


def test_what_was_rebuilt_before_the_run_is_not_lost() -> None:
    """Half of it was "without room, which was on another drive that failed"."""
    failed = ("--set", "volume.data.failed_drives=[0]", "--set", "volume.data.rebuild.done_percent=99.99")
    text = headstack("simulate", "raid5-4x-cheetah-9lp", *LOAD, *failed, *SPARE).out
    assert "100.0 % of it before the run" in " ".join(text.split())
    assert "without room" not in text
