"""Three questions about a design, each a sweep file beside this one, with the answers and what physics says of them."""

from pathlib import Path
from tempfile import TemporaryDirectory

import headstack

HERE = Path(__file__).parent


def asked(name: str, place: Path) -> dict[tuple, dict[str, float]]:
    """Run a sweep, print what it says, and return the means of its metrics by the values of its axes."""
    done = headstack.sweep(HERE / f"{name}.toml", place / name)
    assert not done.failures, done.failures
    found = done.compare()
    print(f"\n{done.definition.summary}")
    print("  " + " | ".join(found.columns))
    for row in found.rows():
        print("  " + " | ".join(row))
    print(f"  {found.answer()}")
    return {
        tuple(each["values"].values()): {metric: known["mean"] for metric, known in each["metrics"].items() if known}
        for each in done.summary["results"]
    }


with TemporaryDirectory() as folder:
    out = Path(folder)

    designs = asked("four-or-one", out)
    four, one = (
        {gap: designs[name, gap]["response_ms.mean"] for gap in (5.0, 20.0)}
        for name in ("four of 8 TB", "one with two arms")
    )
    # Alone, a request is served sooner by the disk that turns faster; the more wait, the more four arms are worth.
    assert one[20.0] < four[20.0]
    assert four[5.0] / one[5.0] < 0.9 * four[20.0] / one[20.0]
    # Nobody has published the watts of the 8 TB drive.
    assert "power.average_w" not in designs["four of 8 TB", 5.0]

    schedulers = asked("backup-scheduler", out)
    writes = {name: found["writes.response_ms.mean"] for (name,), found in schedulers.items()}
    # Whoever goes to the nearest address stays with the backup's files; whoever knows the rotation and the age does not.
    assert writes["drive:sstf"] > writes["drive:fcfs"] > 2 * writes["drive:asptf(0.03)"]
    # The backup hardly feels it.
    rates = [found["mib_per_s"] for found in schedulers.values()]
    assert min(rates) > 0.9 * max(rates)

    spindles = asked("slower-spindle", out)
    for load in (10.0, 20.0, 40.0):
        fast, slow = spindles[7200, load], spindles[5200, load]
        # Half a revolution is 4.17 ms at 7,200 rpm and 5.77 ms at 5,200; queues make more of it.
        assert slow["response_ms.mean"] - fast["response_ms.mean"] > 1.2
        assert slow["power.average_w"] < fast["power.average_w"]
