"""headstack: a laboratory for disk drives.

The nouns are those of the command line: a `Drive` or a `System`, a `Workload` or a `Trace`, and `simulate`, which
makes a `Run` of them.

>>> import headstack
>>> run = headstack.simulate("hp-97560", headstack.Workload("unix-like"))
>>> run.summary["response_ms"]["p99"]
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from headstack.errors import HeadstackError, InputError, InternalError, Interrupted

if TYPE_CHECKING:
    from headstack import measure, stream
    from headstack._core import VERSION as __version__
    from headstack._core import (
        Completion,
        Drive,
        Place,
        Stepper,
        System,
        Table,
        Trace,
        Workload,
        library_designs,
        library_drives,
        library_systems,
        library_workloads,
        schedulers,
        trace_formats,
    )
    from headstack.calibration import Calibration, calibrate
    from headstack.comparison import Comparison, compare
    from headstack.costing import Cost, cost
    from headstack.device_costs import Coefficients, coefficients
    from headstack.explanation import Explanation, explain, explain_completion
    from headstack.exploration import Exploration, explore
    from headstack.fleets import Fleet, fleet
    from headstack.power import PowerBudget, power_budget
    from headstack.run import Run, simulate
    from headstack.scores import demerit, per_request_error
    from headstack.studies import study
    from headstack.sweeping import Sweep, sweep
    from headstack.validation import Validation, validate

__all__ = [
    "Calibration",
    "Coefficients",
    "Comparison",
    "Completion",
    "Cost",
    "Drive",
    "Explanation",
    "Exploration",
    "Fleet",
    "HeadstackError",
    "InputError",
    "InternalError",
    "Interrupted",
    "Place",
    "PowerBudget",
    "Run",
    "Stepper",
    "Sweep",
    "System",
    "Table",
    "Trace",
    "Validation",
    "Workload",
    "__version__",
    "calibrate",
    "coefficients",
    "compare",
    "cost",
    "demerit",
    "explain",
    "explain_completion",
    "explore",
    "fleet",
    "library_designs",
    "library_drives",
    "library_systems",
    "library_workloads",
    "measure",
    "per_request_error",
    "power_budget",
    "schedulers",
    "simulate",
    "stream",
    "study",
    "sweep",
    "trace_formats",
    "validate",
]

# Loaded on first use, so that `headstack --help` and `import headstack` stay fast.
_HOMES = {
    "Calibration": "headstack.calibration",
    "calibrate": "headstack.calibration",
    "Cost": "headstack.costing",
    "cost": "headstack.costing",
    "Coefficients": "headstack.device_costs",
    "coefficients": "headstack.device_costs",
    "Comparison": "headstack.comparison",
    "compare": "headstack.comparison",
    "Explanation": "headstack.explanation",
    "explain": "headstack.explanation",
    "explain_completion": "headstack.explanation",
    "Exploration": "headstack.exploration",
    "explore": "headstack.exploration",
    "Fleet": "headstack.fleets",
    "fleet": "headstack.fleets",
    "PowerBudget": "headstack.power",
    "power_budget": "headstack.power",
    "Run": "headstack.run",
    "demerit": "headstack.scores",
    "per_request_error": "headstack.scores",
    "simulate": "headstack.run",
    "study": "headstack.studies",
    "Sweep": "headstack.sweeping",
    "sweep": "headstack.sweeping",
    "Validation": "headstack.validation",
    "validate": "headstack.validation",
}


def __getattr__(name: str) -> object:
    if name == "__version__":
        return import_module("headstack._core").VERSION
    if name in {"measure", "stream"}:
        return import_module(f"headstack.{name}")
    if name not in __all__:
        raise AttributeError(f"module 'headstack' has no attribute '{name}'")
    value = getattr(import_module(_HOMES.get(name, "headstack._core")), name)
    if name in {"Drive", "System", "Trace", "Workload"}:
        # Views are drawn in Python; the compiled classes take them on when they are first named.
        value._repr_html_ = getattr(import_module("headstack.notebook"), name.lower())
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
