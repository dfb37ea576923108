"""What each verb prints with `--json`: its type, and the version of that."""

from __future__ import annotations

# Where the type of each verb's output is; several where options choose among them.
OUTPUTS: dict[str, tuple[str, ...]] = {
    "drives list": ("drives:ListOutput",),
    "drives show": ("drives:ShowOutput",),
    "drives check": ("drives:CheckOutput",),
    "drives sheet": ("drives:SheetOutput",),
    "drives import": ("drives:ImportOutput",),
    "trace info": ("traces:InfoOutput",),
    "trace convert": ("traces:ConvertOutput",),
    "trace formats": ("traces:FormatsOutput",),
    "trace match": ("matching:MatchOutput",),
    "trace ticks": ("matching:TicksOutput",),
    "trace analyze": ("analyses:AnalyzeOutput",),
    "trace iostat": ("traces:IostatOutput",),
    "trace capture": ("traces:CaptureOutput",),
    "trace make": ("traces:MakeOutput",),
    "trace join": ("traces:JoinOutput",),
    "simulate": ("runs:RunSummary",),
    "validate": ("validations:ValidateOutput",),
    "measure": ("measurements:MeasureOutput", "measurements:ProbesOutput"),
    "calibrate": ("validations:CalibrationSummary", "validations:StreamCalibrationSummary"),
    "explain": ("runs:ExplainOutput",),
    "compare": ("comparisons:ComparisonSummary",),
    "fleet": ("runs:FleetOutput",),
    "sweep": ("comparisons:SweepSummary",),
    "explore": ("comparisons:ExplorationSummary",),
    "cost": ("designs:CostSummary",),
    "power": ("designs:PowerSummary",),
    "coefficients": ("designs:CoefficientsSummary",),
    "schedulers": ("designs:SchedulersOutput",),
    "study": ("comparisons:StudyOutput", "comparisons:AllStudiesOutput"),
    "study list": ("comparisons:StudiesOutput",),
}
VERSIONS = (
    dict.fromkeys(OUTPUTS, 1)
    | dict.fromkeys(("trace info", "trace match", "fleet", "explore", "measure", "study", "validate", "calibrate"), 2)
    | dict.fromkeys(("trace analyze", "simulate"), 3)
)
"""A version goes up where a key is removed, renamed, or changes its meaning; a new key leaves it as it is."""


def schema_name(verb: str) -> str:
    """What stands as `schema` in the output of a verb: `headstack/VERB/VERSION`."""
    return f"headstack/{verb.replace(' ', '-')}/{VERSIONS[verb]}"
