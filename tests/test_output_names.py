"""Names of outputs: a home folder, `file://`, and URLs that nothing is written to."""

from __future__ import annotations

from pathlib import Path

import pytest

import headstack
from conftest import headstack as run_cli
from conftest import refused
from headstack.files import named, to_read, to_write

SWEEP = """
[base]
system = "hp-97560"
workload = "unix-like"
requests = 20
[[axis]]
path = "rotation_rpm"
values = [4002, 5400]
"""
RUN = ("simulate", "hp-97560", "--workload", "unix-like", "--requests", "20")
CANDIDATES = 'drives = ["hp-97560"]\n'


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to be in, beside a home folder, with a sweep, candidates and a trace."""
    (tmp_path / "home").mkdir()
    (tmp_path / "here").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path / "here")
    Path("s.toml").write_text(SWEEP)
    Path("c.toml").write_text(CANDIDATES)
    run_cli(*RUN, "--out", "t.parquet")
    return tmp_path / "here"


VERBS = [
    ("sweep", "s.toml", "--out"),
    ("explore", "t.parquet", "--candidates", "c.toml", "--out"),
    (*RUN, "--out"),
    (*RUN, "--driver-out"),
    (*RUN, "--report"),
    (*RUN, "--save"),
    ("fleet", "hp-97560", "--trace", "t.parquet", "--out"),
    ("trace", "convert", "t.parquet"),
    ("trace", "make", "--like", "t.parquet", "--requests", "5", "--out"),
    ("drives", "import", "disksim", "x.diskspecs", "--out"),
    ("measure", "sim:hp-97560", "--record"),
]


@pytest.mark.parametrize("url", ["s3://b/x", "memory://x", "zip://a::s3://b/x"])
@pytest.mark.parametrize("verb", VERBS, ids=" ".join)
def test_a_url_is_refused_before_anything_is_run_or_made(here: Path, verb: tuple[str, ...], url: str) -> None:
    """It was a folder called `s3:`, and the command said that it had written there."""
    before = sorted(here.iterdir())
    said = refused(*verb, url)
    assert "cannot write to" in said
    assert "nothing is written to" in said
    assert sorted(here.iterdir()) == before


@pytest.mark.parametrize("named", ["~/{}", "file://{}", "file:{}"])
@pytest.mark.parametrize("verb", [*VERBS[:3], VERBS[6], VERBS[7]], ids=lambda verb: verb[0])
def test_a_home_folder_and_a_file_url_are_where_they_say(here: Path, verb: tuple[str, ...], named: str) -> None:
    """All runs of a sweep were made in a folder called `~`, and could not be read from there."""
    meant = here.parent / "home" / "made.parquet"
    run_cli(*verb, named.format("made.parquet" if named[0] == "~" else meant))
    assert meant.exists()
    assert sorted(path.name for path in here.iterdir()) == ["c.toml", "s.toml", "t.parquet"]


def test_a_home_folder_is_one_for_inputs_too(here: Path) -> None:
    (here / "t.parquet").rename(here.parent / "home" / "t.parquet")
    assert "requests" in run_cli("trace", "analyze", "~/t.parquet").out


def test_python_means_the_same(here: Path) -> None:
    for url in ("s3://b/x.parquet", Path("memory://x")):
        for write in (
            lambda url=url: headstack.sweep("s.toml", url),
            lambda url=url: headstack.explore("t.parquet", "c.toml", out=url),
            lambda url=url: headstack.simulate("hp-97560", "unix-like", requests=20, out=url),
        ):
            with pytest.raises(headstack.InputError, match="cannot write to"):
                write()
    assert headstack.sweep("s.toml", "~/swept").complete
    headstack.simulate("hp-97560", "unix-like", requests=20, out=f"file://{here.parent}/home/run.parquet")
    assert {path.name for path in (here.parent / "home").iterdir()} == {"swept", "run.parquet"}


@pytest.mark.usefixtures("here")
def test_a_file_url_of_a_host_is_refused() -> None:
    """`file://made.parquet` was written to, and read from, the root folder."""
    said = "`file://made.parquet` names a host and no path"
    for verb in VERBS:
        told = refused(*verb, "file://made.parquet")
        assert said in told
        assert "file:///" in told
    assert "names a host" in refused("trace", "info", "file://t.parquet")
    assert "names a host" in refused("simulate", "hp-97560", "--trace", "file://t.parquet")
    run = headstack.simulate("hp-97560", "unix-like", requests=20)
    for write in (
        lambda: headstack.sweep("s.toml", "file://made.parquet"),
        lambda: headstack.simulate("hp-97560", "unix-like", requests=20, out="file://made.parquet"),
        lambda: run.report("file://made.parquet"),
    ):
        with pytest.raises(headstack.InputError, match="names a host"):
            write()
    text = Path("s.toml").read_text().replace('workload = "unix-like"', 'trace = "file://t.parquet"')
    Path("s.toml").write_text(text)
    assert "names a host" in refused("sweep", "s.toml", "--out", "swept")


def test_a_trace_is_written_where_python_says(here: Path) -> None:
    """`Trace.convert` made a folder called `~`, or failed for want of one called `s3:`; `Trace` read `/t.parquet`."""
    trace = headstack.Trace("t.parquet")
    for url in ("s3://b/x.csv", "file://x.csv"):
        for write in (trace.convert, trace.convert_all):
            with pytest.raises(headstack.InputError, match=r"cannot write to|names a host"):
                write(url)
    trace.convert("~/one.csv")
    trace.convert_all(f"file://{here.parent}/home/two.csv")
    assert {path.name for path in (here.parent / "home").iterdir()} == {"one.csv", "two.csv"}
    with pytest.raises(headstack.InputError, match="names a host"):
        headstack.Trace("file://t.parquet")


def test_what_is_there_by_such_a_name_is_meant(here: Path) -> None:
    for name in ("~", "s3:"):
        (here / name).mkdir()
    assert to_write("~/x") == Path("~/x")
    # A command that knew no URLs made such folders, and later ones wrote into them.
    with pytest.raises(headstack.InputError, match="cannot write to `s3://x`"):
        to_write("s3://x")
    assert to_write("s3:x.parquet") == Path("s3:x.parquet")
    with pytest.raises(headstack.InputError, match="there is no user `nobody-by-this-name`"):
        to_write("~nobody-by-this-name/x")


@pytest.mark.parametrize(
    "words",
    [("simulate", "hp-97560", "--workload", "unix-like", "--requests", "20"), ("trace", "convert", "t.parquet")],
)
def test_out_has_a_short_name_on_every_verb(here: Path, words: tuple[str, ...]) -> None:
    """`drives import` alone took `-o`."""
    assert run_cli(*words, "-o", "made.parquet").code == 0
    assert (here / "made.parquet").is_file()
    # What would be unpacked by its name is not written under it.
    assert "name it `made.parquet`" in refused(*RUN, "--out", "made.parquet.gz")


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (("measure", "sim:hp-97560", "rotation", "--record", "m.csv"), "m.parquet"),
        (("measure", "sim:hp-97560", "rotation", "--record", "m.json.gz"), "m.parquet"),
        (("measure", "sim:hp-97560", "rotation", "--save", "m.html"), "m.toml"),
        ((*RUN, "--save", "m.csv"), "m.toml"),
    ],
)
def test_records_and_drive_files_are_not_written_by_the_name_of_another(
    here: Path, words: tuple[str, ...], meant: str
) -> None:
    """A Parquet file was called `m.csv`, a drive `m.html`."""
    assert f"`{meant}`" in refused(*words)
    assert not (here / words[-1]).exists()


@pytest.mark.parametrize("url", ["file:made", "file:made.parquet", "file:"])
@pytest.mark.parametrize("verb", VERBS, ids=" ".join)
def test_a_url_without_slashes_is_refused_before_anything_is_run(here: Path, verb: tuple[str, ...], url: str) -> None:
    """A sweep ran into a folder called `file:made`, and could not be read from there."""
    before = sorted(here.iterdir())
    assert f"`{url}` is the URL of a file without its slashes" in refused(*verb, url)
    assert sorted(here.iterdir()) == before
    with pytest.raises(headstack.InputError, match="without its slashes"):
        to_write(url)


@pytest.mark.parametrize("verb", VERBS, ids=" ".join)
def test_the_url_of_the_root_folder_is_that_folder(here: Path, verb: tuple[str, ...]) -> None:
    """A sweep made a folder called `file:`."""
    before = sorted(here.iterdir())
    refused(*verb, "file:///")
    assert sorted(here.iterdir()) == before


@pytest.mark.parametrize("named", ["file://localhost{}", "FILE://LOCALHOST{}", "FILE://{}"])
@pytest.mark.parametrize("verb", [*VERBS[:3], VERBS[6], VERBS[7]], ids=lambda verb: verb[0])
def test_localhost_is_this_machine(here: Path, verb: tuple[str, ...], named: str) -> None:
    meant = here.parent / "home" / "made.parquet"
    run_cli(*verb, named.format(meant))
    assert meant.exists()
    assert sorted(path.name for path in here.iterdir()) == ["c.toml", "s.toml", "t.parquet"]


FORMS = ["~/{}", "file://{home}/{}", "file://localhost{home}/{}", "FILE://{home}/{}"]


@pytest.mark.parametrize("form", FORMS)
def test_inputs_are_named_as_outputs_are(here: Path, form: str) -> None:
    """`file:///` was read for traces alone, and `~` not for systems, nor in sweep files and candidates."""
    home = here.parent / "home"
    run_cli(*RUN, "--save", home / "one.toml")
    for name in ("s.toml", "c.toml", "t.parquet"):
        (here / name).rename(home / name)
    system, sweep, candidates, trace = (
        form.format(name, home=home) for name in ("one.toml", "s.toml", "c.toml", "t.parquet")
    )
    assert run_cli("simulate", system, "--workload", "unix-like", "--requests", "5", "--json").json()["requests"] == 5
    assert run_cli("simulate", system, "--trace", trace, "--json").json()["requests"] == 20
    assert run_cli("drives", "check", system).code == 0
    assert run_cli("power", system).code == 0
    swept = form.format("swept", home=home)
    run_cli("sweep", sweep, "--out", swept)
    assert run_cli("compare", swept, "--json").json()["points"]
    assert run_cli("explore", trace, "--candidates", candidates, "--json").json()["candidates"]
    assert run_cli("compare", trace, trace, "--json").code == 0
    assert headstack.sweep(sweep, "again").complete
    assert headstack.explore(trace, candidates).summary["candidates"]
    assert headstack.simulate(system, "unix-like", requests=5).summary["requests"] == 5
    # And within files.
    Path("s.toml").write_text(SWEEP.replace("hp-97560", system).replace('workload = "unix-like"', f'trace = "{trace}"'))
    assert headstack.sweep("s.toml", "inside").complete
    Path("c.toml").write_text(f'drives = ["{system}"]\n[usd]\n"{system}" = 5\n')
    assert headstack.explore(trace, "c.toml").summary["candidates"][0]["usd"] == 5


@pytest.mark.usefixtures("here")
def test_what_is_read_by_such_a_name_is_there() -> None:
    assert to_read("hp-97560") == Path("hp-97560")
    assert to_read("s3://b/x") == Path("s3://b/x")
    assert named("~") == "~"
    Path("file:x").mkdir()
    assert to_read("file:x") == Path("file:x")
    with pytest.raises(headstack.InputError, match="without its slashes"):
        to_read("file:y")
