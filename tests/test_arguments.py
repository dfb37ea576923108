"""Every public function, called with arguments of other types: told by name, with what is allowed and what to do."""

from __future__ import annotations

import inspect
import re
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

import headstack
from conftest import ROOT
from headstack import InputError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SAMPLE = ROOT / "examples" / "sample.csv"
# What no parameter takes; a number, a text, a list and a dictionary are each of them right somewhere.
ODD = [object(), b"bytes", 2.5j, SimpleNamespace(x=1)]
OTHERS = [5, -1, 2.5, True, "no such thing", ["a"], {"a": 1}, {1, 2}]
# Compiled classes tell the parameter in a note of their TypeError.
COMPILED = ["Drive", "System", "Workload", "Trace", "Stepper"]


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """Arguments that each function takes, as few and as quick as they can be."""
    run = tmp_path_factory.mktemp("arguments") / "run.parquet"
    headstack.simulate("hp-97560", "unix-like", requests=50, out=run)
    system = {"system": "hp-97560"}
    return {
        "calibrate": {**system, "trace": run, "parameters": ["controller"], "rounds": 1},
        "coefficients": system,
        "compare": {"files": [run, run]},
        "cost": {},
        "demerit": {"measured": [1.0, 2.0], "model": [1.0, 2.0]},
        "explain": {**system, "lbas": [5]},
        "explain_completion": {**system, "completions": run, "request": 3},
        "explore": {"trace": SAMPLE, "candidates": ROOT / "examples" / "candidates.toml"},
        "fleet": {**system, "trace": run},
        "per_request_error": {"measured": [1.0, 2.0], "model": [1.0, 2.0]},
        "power_budget": {"system": "nearline-18tb"},
        "simulate": {**system, "workload": "unix-like", "requests": 5},
        "study": {"name": "skippy"},
        "sweep": {"file": ROOT / "examples" / "four-or-one.toml", "out": run.parent / "out"},
        "validate": {**system, "trace": run, "requests": 5},
    }


def functions() -> dict[str, Callable[..., object]]:
    """The public functions, those of measuring and of streams among them."""
    found = {name: getattr(headstack, name) for name in headstack.__all__ if name.islower() and name[0] != "_"}
    return {name: each for name, each in found.items() if callable(each)}


def parameters(function: Callable[..., object]) -> list[str]:
    signature = inspect.signature(function).parameters.values()
    return [each.name for each in signature if each.kind not in (each.VAR_KEYWORD, each.VAR_POSITIONAL)]


def test_no_function_is_forgotten(good: dict[str, dict[str, Any]]) -> None:
    assert {name for name, each in functions().items() if parameters(each)} == set(good)


def test_no_argument_ends_in_an_error_of_python(good: dict[str, dict[str, Any]]) -> None:
    tried = 0
    for name, function in functions().items():
        for parameter in parameters(function):
            for odd in ODD:
                arguments = {**good[name], parameter: odd}
                with pytest.raises(InputError) as told:
                    function(**arguments)
                tried += 1
                assert told.value.hint, (name, parameter, odd)
                assert (
                    parameter in f"{told.value} {told.value.hint}"
                    or "is not a system" in str(told.value)
                    or "neither" in str(told.value)
                    # One thing, whatever it is.
                    or "nothing to compare it with" in str(told.value)
                )
    assert tried > 400


@pytest.mark.parametrize(
    "name", ["demerit", "explain", "explain_completion", "cost", "power_budget", "validate", "simulate", "compare"]
)
def test_values_of_types_that_are_right_elsewhere(
    name: str, good: dict[str, dict[str, Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Texts are names of files somewhere.
    monkeypatch.chdir(tmp_path)
    function = functions()[name]
    for parameter in parameters(function):
        for other in OTHERS:
            try:
                function(**{**good[name], parameter: other})
            except InputError:
                pass
            except Exception as problem:
                pytest.fail(f"{name}({parameter}={other!r}): {problem!r}")


@pytest.mark.parametrize("name", COMPILED)
def test_compiled_classes_name_the_argument(name: str) -> None:
    for parameter in parameters(getattr(headstack, name)):
        source = {"Trace": {"path": SAMPLE}, "Stepper": {"system": headstack.System("hp-97560")}}.get(
            name, {"source": "hp-97560"}
        )
        with pytest.raises((TypeError, InputError)) as told:
            getattr(headstack, name)(**{**source, parameter: object()})
        said = " ".join(
            [str(told.value), *getattr(told.value, "__notes__", ()), getattr(told.value, "hint", None) or ""]
        )
        assert parameter in said, (name, parameter, said)


def test_what_is_allowed_is_told_in_words() -> None:
    five: Any = 5
    words: Any = ["a"]
    misspelt: Any = "oepn"
    for call, said, hint in (
        (
            lambda: headstack.simulate("hp-97560", "unix-like", scheduler=five),
            "`simulate` does not take `scheduler=5`",
            "scheduler: a text",
        ),
        (
            lambda: headstack.validate("hp-97560", five),
            "`validate` does not take `trace=5`",
            "trace: a text, a path or a Trace",
        ),
        (
            lambda: headstack.validate("hp-97560", "x", replay=misspelt),
            "`validate` does not take `replay='oepn'`",
            "replay: `open` or `closed` or `measured`",
        ),
        (
            lambda: headstack.demerit([1.0], words),
            "`demerit` does not take `model=['a']`",
            "model: a list, each of it a number",
        ),
        (
            lambda: headstack.calibrate("hp-97560", "x", threads=-1),
            "`calibrate` does not take `threads=-1`",
            "threads: a whole number, at least 1",
        ),
    ):
        with pytest.raises(InputError, match=re.escape(said)) as told:
            call()
        assert told.value.hint == hint


def test_numbers_and_lists_of_other_libraries_are_taken() -> None:
    import numpy as np
    import polars as pl

    times: Any = np.array([1.0, 2.0, 4.0])
    series: Any = pl.Series([1.0, 2.0, 4.0])
    lbas: Any = np.array([5, 100])
    five: Any = np.int64(5)
    assert headstack.demerit(times, list(times))["demerit_ms"] == 0.0
    assert headstack.per_request_error(series, times)["mae_ms"] == 0.0
    assert headstack.explain("hp-97560", lbas, sectors=five).timelines
    assert headstack.simulate("hp-97560", "unix-like", requests=five).summary["requests"] == 5


def test_who_only_walks_along_takes_the_keys_of_a_dictionary() -> None:
    """The measured rates of a table stand by cell."""
    from headstack import stream

    model = stream.model("hp-97560")
    measured = {(1.0, 64.0): 3.2, (2.0, 64.0): 3.1}
    assert stream.throughputs(model, "read", measured, repeats=1).keys() == measured.keys()
    with pytest.raises(InputError, match="cells"):
        stream.throughputs(model, "read", {"large": 3.2}, repeats=1)  # type: ignore[dict-item]  # pyright: ignore[reportArgumentType]


def test_a_misspelt_override_gets_the_key_that_was_meant() -> None:
    for key, meant in (
        ("rotaton_rpm", "rotation_rpm"),
        ("spindle.rotaton_rpm", "rotation_rpm"),
        ("controller.queue_dept", "queue_depth"),
    ):
        with pytest.raises(InputError, match="unknown field") as told:
            headstack.simulate("hp-97560", "unix-like", overrides={key: 1})
        assert told.value.hint == f"did you mean `{meant}`?"
        assert "expected one of" not in str(told.value)


def test_a_misspelt_keyword_gets_the_one_that_was_meant() -> None:
    with pytest.raises(TypeError, match=r"simulate\(\) got .* 'requets'\. Did you mean 'requests'\?"):
        headstack.simulate("hp-97560", "unix-like", requets=5)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match=r"run\(\) got .* 'noise_pct'\. Did you mean 'noise_percent'\?"):
        headstack.measure.skippy("mock:", noise_pct=1.0)  # type: ignore[call-arg]
    # What is near nothing, Python tells as it is.
    with pytest.raises(TypeError, match=r"unexpected keyword argument 'zzz'$"):
        headstack.simulate("hp-97560", "unix-like", zzz=5)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="missing"):
        headstack.simulate("hp-97560")  # type: ignore[call-arg]
