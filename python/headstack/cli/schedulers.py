"""`headstack schedulers`: the scheduling algorithms there are."""

from __future__ import annotations

from headstack.cli import output
from headstack.cli.options import Json  # noqa: TC001 (cyclopts reads annotations at run time)


def schedulers(*, json: Json = False) -> int:
    """List the scheduling algorithms, for `--scheduler`, `host.scheduler` and `controller.scheduler`."""
    from headstack import schedulers as known
    from headstack.scheduler_names import KNOWLEDGE, form, meaning

    infos = known()
    if json:
        output.print_json({"schedulers": infos})
        return 0
    output.table(
        "Schedulers", ["written", "scheduling algorithm", "must know"],
        [(form(info), meaning(info), info["needs"]) for info in infos if not info["is_modifier"]], text_columns=(0, 1, 2),
    )  # fmt: skip
    output.table(
        "Modifiers, behind any of them", ["written", "what it does"],
        [(form(info), meaning(info)) for info in infos if info["is_modifier"]], text_columns=(0, 1),
    )  # fmt: skip
    used = dict.fromkeys(info["needs"] for info in infos if not info["is_modifier"])
    output.facts("", [(needs, KNOWLEDGE[needs]) for needs in used])
    return 0
