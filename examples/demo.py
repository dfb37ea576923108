"""The demo: the main job on a recorded trace if there is one, else on a made workload.

Run by `make demo`. Leaves a page in out/, and ends with its path and three findings.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path

COMMAND = Path(sys.executable).with_name("headstack")
OUT = Path(__file__).parents[1] / "out"


def headstack(*arguments: object) -> dict:
    """Run the command and return what it prints as JSON."""
    words = [str(argument) for argument in arguments]
    print("$ headstack", " ".join(words), flush=True)
    run = subprocess.run([COMMAND, *words, "--json"], stdout=subprocess.PIPE, text=True, check=False)
    if run.returncode != 0:
        raise SystemExit(run.returncode)
    return json.loads(run.stdout)


def on_a_trace(trace: Path, page: Path) -> list[str]:
    """Score the model of an HP C2200A on a week of its real life."""
    score = headstack("validate", "hp-c2200a", "--trace", trace, "--device", 0, "--ladder", "--report", page)
    ladder = {rung["step"]: rung["demerit_percent"] for rung in score["ladder"]}
    measured, model = score["measured_mean_ms"], score["model_mean_ms"]
    return [
        f"{score['requests']:,} requests of a real HP C2200A took {measured:.2f} ms on average; "
        f"the model says {model:.2f} ms.",
        f"The two distributions lie {score['demerit_percent']:.2f} % of the mean apart, where Ruemmler & "
        f"Wilkes, who published model and measure, reached 2.6 %; the mean alone has {ladder['M0']:.1f} %.",
        f"Seek curve and track switches bring it from {ladder['M1']:.1f} to {ladder['M2']:.1f} %, rotational "
        f"position and the buffer to {ladder['M3']:.2f} %.",
    ]


def on_a_workload(page: Path) -> list[str]:
    """Run a Unix-like load on an HP 97560."""
    rows = page.with_suffix(".parquet")
    run = headstack("simulate", "hp-97560", "--workload", "unix-like", "--report", page, "--out", rows)
    phases = {name: mean for name, mean in run["phases_ms"].items() if name != "queue"}
    largest = max(phases, key=lambda name: phases[name])
    cache = run["cache"]
    reads = cache["read_hits"] + cache["read_partial_hits"] + cache["read_misses"]
    hits = (cache["read_hits"] + cache["read_partial_hits"]) / reads
    service, response = run["service_ms"], run["response_ms"]
    return [
        f"{run['requests']:,} requests of a Unix-like load take an HP 97560 {service['mean']:.2f} ms on "
        f"average and {service['p99']:.1f} ms at the 99 % point, {response['mean']:.2f} ms with the queue.",
        f"{hits:.0%} of the reads find data in the cache, and {cache['writes_reported_early']:,} writes are "
        f"reported complete before they are on the media.",
        f"Within the drive most of a request's time is {largest}: {phases[largest]:.2f} ms on average.",
    ]


def main() -> None:
    """Choose the job, run it, and tell what came out."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, help="where recorded traces lie")
    data = parser.parse_args().data
    trace = data / "hp" / "ajw.1week.srt" if data else None
    OUT.mkdir(exist_ok=True)
    page = OUT / "demo.html"
    findings = on_a_trace(trace, page) if trace and trace.exists() else on_a_workload(page)
    print(f"\nThe page: {page}\n")
    for finding in findings:
        print(finding)


if __name__ == "__main__":
    main()
