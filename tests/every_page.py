"""A page of each kind that headstack makes, and how Chromium shows it."""

from __future__ import annotations

import re
import subprocess
from typing import TYPE_CHECKING

import headstack
from headstack._core import analyse_trace
from headstack.calibration.streams import calibrate_streams
from headstack.calibration.throughputs import from_table
from headstack.report.calibration import calibration_page
from headstack.report.comparison import comparison_page
from headstack.report.cost import cost_page
from headstack.report.curves import lines
from headstack.report.explanation import explanation_page
from headstack.report.exploration import exploration_page
from headstack.report.measurement import measurement_page
from headstack.report.page import Section
from headstack.report.run import run_page
from headstack.report.streams import stream_calibration_page
from headstack.report.study import study_page
from headstack.report.sweep import sweep_page
from headstack.report.trace import trace_page
from headstack.report.validation import validation_page
from headstack.studies.framework import StudyResult, about, at_most, not_testable

if TYPE_CHECKING:
    from pathlib import Path

# Names the texts of charts that reach beyond their picture or are shortened, and whatever makes a page wider than its window.
CUT = """<script>setTimeout(() => {
  const beyond = (text) => { const at = text.getBoundingClientRect(), edge = text.closest("svg").getBoundingClientRect();
    return at.right > edge.right + 1 || at.left < edge.left - 1; };
  const texts = [...document.querySelectorAll("svg text")].filter((text) => text.textContent.trim());
  const cut = texts.filter((text) => beyond(text) || text.textContent.includes("…")).map((text) => text.textContent);
  const tiles = [...document.querySelectorAll(".number .value")].filter((tile) => tile.scrollWidth > tile.clientWidth + 1);
  const wide = document.documentElement.scrollWidth > document.documentElement.clientWidth + 1 ? ["the page"] : [];
  // On a screen all of a table is seen; a long one is scrolled on a phone.
  const boxes = [...document.querySelectorAll(".scroll")].filter((box) => innerWidth > 1200 || (innerWidth <= 480 && (box.querySelectorAll("tr").length <= 31 || box.querySelector("table.claims"))));
  const tables = boxes.filter((box) => box.scrollWidth > box.clientWidth + 1).map((box) => "table of " + box.closest("section").id);
  const blank = [...document.querySelectorAll(".chart")].filter((chart) => !chart.querySelector("svg")).map((chart) => chart.id + " is blank");
  console.log(`page NAME: texts ${texts.length}, cut ${JSON.stringify([...cut, ...tiles.map((tile) => tile.textContent), ...wide, ...tables, ...blank])}`);
}, 3000)</script>"""


# Systems of long names. So few runs of a heavy load and a light one that the interval of the first reaches below zero.
GRID = """
metrics = ["response_ms.p99", "power.average_w"]
[base]
system = "nearline-18tb"
workload = "thesis-4ms"
requests = 300
[[axis]]
name = "system"
cases = [
  { name = "4 × nearline-18tb, raid-5, 64 KiB, slow", set = { rotation_rpm = 5400 } },
  { name = "4 × nearline-18tb, raid-5, 64 KiB, fast", set = { rotation_rpm = 7200 } },
]
[[axis]]
name = "gap"
path = "workload.stream.0.inter_arrival.exponential_ms"
values = [7.0, 200.0]
[repeats]
count = 2
"""

CANDIDATES = """
drives = ["nearline-18tb", "cheetah-9lp"]
p99_ms = 200.0
[[arrays]]
level = "raid-5"
drives = 4
stripe_unit_kib = 64
[[arrays]]
level = "raid-0"
drives = 2
[usd]
"nearline-18tb" = 300
"cheetah-9lp" = 90
"""


def every_page(folder: Path) -> dict[str, str]:
    """A page of each kind that draws charts."""
    rows = folder / "run-with-a-long-name.parquet"
    run = headstack.simulate("hp-97560", "unix-like", requests=2000, sample=True, out=rows)
    slower = headstack.simulate(
        "hp-97560", "unix-like", requests=2000, overrides={"rotation_rpm": 3600}, out=folder / "b.parquet"
    )
    assert slower.summary["requests"] == 2000
    scan = headstack.measure.run("sim:hp-97560", ["scan"], scan_percent=1)
    streams = headstack.measure.run("sim:maxtor-maxline-plus-ii", ["stream"], file_mb=[30], repeats=2)
    grid, candidates = folder / "grid.toml", folder / "candidates.toml"
    grid.write_text(GRID)
    candidates.write_text(CANDIDATES)
    explored = headstack.explore(rows, candidates, requests=500)
    return {
        "run": run_page(run).html(),
        "sweep": sweep_page(headstack.sweep(grid, folder / "swept").compare()).html(),
        "exploration": exploration_page(explored).html(),
        "explanation": explanation_page(headstack.explain_completion("hp-97560", rows, 1500)).html(),
        "validation": validation_page(headstack.validate("hp-97560", rows, ladder=True)).html(),
        "comparison": comparison_page(headstack.compare([rows, folder / "b.parquet"])).html(),
        "trace": trace_page(rows.name, analyse_trace(headstack.Trace(rows))).html(),
        "measurement": measurement_page(headstack.measure.skippy("mock:")).html(),
        "whole_measurement": measurement_page(headstack.measure.run("sim:mock-disk")).html(),
        "scan": measurement_page(scan).html(),
        "streams": measurement_page(streams).html(),
        "calibration": calibration_page(
            headstack.calibrate("hp-97560", rows, rounds=1, parameters=["controller", "mechanics"])
        ).html(),
        "stream_calibration": stream_calibration_page(_fitted_streams(folder)).html(),
        "cost": cost_page(headstack.cost("four-platter", actuators=[1, 2, 4])).html(),
        "study": study_page(_study()).html(),
    }


def _fitted_streams(folder: Path):
    table = folder / "streams.csv"
    rows = [f"{op},{file_mb},{kib},{30 + 5 * kib / (kib + 30) + file_mb / 1000}" for op in ("write", "read")
            for file_mb in (50, 200) for kib in (8, 32, 128, 512, 2048)]  # fmt: skip
    table.write_text("\n".join(["op,file_mb,record_kib,mb_per_s", *rows]) + "\n")
    return calibrate_streams("maxtor-maxline-plus-ii", from_table(table))


def _study() -> StudyResult:
    """Every verdict, with words as long as studies have them."""
    rows = [
        about("fig4a-m0-demerit", "demerit of the model without any detail, of the whole trace of a week", 35.0, 36.3, "%", within=3.5),
        about("fig4d-m3-demerit", "demerit of the whole model", 1.9, 2.53, "%", within=0.3, note="another drive of the same model, "
              "whose firmware is not that of the paper; its cache decides otherwise in one of nine requests"),
        at_most("aim-of-our-own", "the error of a request, phase-locked, as our own bound", 1.0, 0.8, "%", kind="aim"),
        at_most("aim-missed", "the same of writes", 1.0, 1.8, "%", kind="aim"),
        about("given", "the rotational speed that the model was given", 4002.0, 4002.0, "rpm", within=0.1, kind="input"),
        not_testable("none", "what needs a trace that is not here", 1.0, "ms", "no data"),
    ]  # fmt: skip
    drawn = {"the paper's figure": [(1.0, 36.3), (10.0, 15.2)], "ours": [(1.0, 35.0), (10.0, 14.0)]}
    chart = lines(drawn, "requests a second", "demerit (%)")
    section = Section("Demerit by load", "The paper's curve beside ours.", chart)
    return StudyResult(
        "a-study", "Does the model hold?", "A source (1994)", rows, [section], finding="It does, to 2.53 %."
    )


def console(folder: Path, pages: dict[str, str], width: int, look: str = "light") -> list[str]:
    """What Chromium's console says of pages in frames of a width, since its windows cannot be as narrow as a phone."""
    frames = []
    for name, page in pages.items():
        path = folder / f"{name}.html"
        path.write_text(CUT.replace("NAME", name).join(page.rpartition("</body>")[::2]) + "</body></html>")
        frames.append(f"<iframe src='{path.name}' style='border:0;width:{width}px;height:3000px'></iframe>")
    (folder / "frames.html").write_text("".join(frames))
    done = subprocess.run(
        ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=9000", "--window-size=1700,900",
         f"--user-data-dir={folder / 'profile'}", *colours(look), "--enable-logging=stderr", "--dump-dom",
         (folder / "frames.html").as_uri()],
        capture_output=True, text=True, timeout=180, check=True,
    )  # fmt: skip
    return [line for line in done.stderr.splitlines() if "CONSOLE" in line]


def colours(look: str) -> list[str]:
    """Options of Chromium for a light page or a dark one."""
    return ["--blink-settings=preferredColorScheme=0"] if look == "dark" else []


def cut(said: list[str]) -> dict[str, tuple[int, str]]:
    """By page how many texts its charts have, and what is cut off, as its console said."""
    found = re.findall(r"page (\w+): texts (\d+), cut (\[.*?\])\"", "\n".join(said))
    return {name: (int(texts), words) for name, texts, words in found}
