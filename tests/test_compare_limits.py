"""The limits of `compare`, and the words and units of a change."""

from __future__ import annotations

import pytest

from conftest import headstack as run_cli
from headstack.comparison import Limit
from headstack.comparison.result import Metric, _words
from headstack.errors import InputError
from headstack.report.comparison import cells


@pytest.mark.parametrize(
    ("text", "first", "second", "is_broken"),
    [
        ("p99 > +5%", 100.0, 106.0, True),
        ("p99 > +5%", 100.0, 104.0, False),
        ("p99 > +5%", 0.0, 1.0, True),
        ("p99 > +5%", 0.0, 0.0, False),
        ("p99 < -5%", 100.0, 94.0, True),
        ("p99 > +0.5ms", 10.0, 10.6, True),
        ("p99 > 20ms", 30.0, 19.0, False),
        ("p99>20", 10.0, 21.0, True),
    ],
)
def test_limits(text: str, first: float, second: float, *, is_broken: bool) -> None:
    assert Limit.parse(text).is_broken(first, second, "ms") is is_broken


def test_a_share_changes_in_points() -> None:
    assert not Limit.parse("demerit > +1%").is_broken(2.0, 2.9, "%")
    assert Limit.parse("demerit > +1%").is_broken(2.0, 3.1, "%")


def test_points_may_be_said() -> None:
    assert not Limit.parse("demerit > +0.5 points").is_broken(2.0, 2.02, "%")
    assert Limit.parse("demerit > +0.5points").is_broken(2.0, 2.6, "%")
    with pytest.raises(InputError, match="is in ms"):
        Limit.parse("p99 > +5 points").is_broken(1.0, 2.0, "ms")
    # What is told is what is compared: points.
    share = Metric(2.170, 2.192, "%", None)
    assert share.change_percent is None
    assert _words(share) == "goes from 2.170 to 2.192 % (+0.022 points)"
    assert cells("relative demerit", share)[4:6] == ("+0.022 points", "–")
    told = " ".join(run_cli("compare", "--help").out.replace("│", " ").split())
    assert "itself a percentage changes in points" in told


def test_a_unit_that_does_not_fit_is_refused() -> None:
    for given, meant in [
        ("p99 > 3s", "p99 > 3000ms"),
        ("mean > +20us", "mean > +0.02ms"),
        ("p99 < 1h", "give it in ms"),
    ]:
        with pytest.raises(InputError, match="is in ms") as refusal:
            Limit.parse(given).is_broken(1.0, 2.0, "ms")
        assert meant in (refusal.value.hint or "")


@pytest.mark.parametrize("unit", ["W", "IOPS", "MiB/s", "USD"])
def test_units_are_written_as_they_are_told(unit: str) -> None:
    assert Limit.parse(f"power.average_w > 7.5{unit}").is_broken(7.0, 8.0, unit)


def test_a_change_without_its_sign_is_explained() -> None:
    with pytest.raises(InputError) as refusal:
        Limit.parse("p99 > 5%").is_broken(1.0, 2.0, "ms")
    assert "`p99 > +5%`" in (refusal.value.hint or "")


def test_the_answer_has_no_more_digits_than_it_needs() -> None:
    far, near = Metric(347.5723, 282.4738, "ms", None), Metric(15.80871, 15.80899, "ms", None)
    assert _words(far).startswith("goes from 347.6 to 282.5 ms")
    assert _words(near).startswith("goes from 15.8087 to 15.8090 ms")
    # It was "goes from 1 to 1 ms (+0 %), which may be chance".
    assert _words(Metric(1.0, 1.0, "ms", None)) == "stays at 1 ms"
    assert _words(Metric(3.0, 3.0, "", None), "zones") == "stay at 3"
