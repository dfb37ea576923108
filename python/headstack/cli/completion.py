"""`headstack completion`: what a shell needs to complete verbs, options and names of the library."""

from __future__ import annotations

from typing import Annotated, Literal

from cyclopts import Parameter

from headstack.cli import output


def completion(
    shell: Annotated[Literal["bash", "zsh", "fish"], Parameter(help="The shell that is to complete.")],
) -> int:
    """Print a completion script for a shell."""
    from headstack.cli import command_line

    script = command_line().generate_completion(prog_name="headstack", shell=shell).rstrip()
    # Where no name of the library is meant, it is a file.
    output.line(script.replace("complete -F _headstack", "complete -o default -F _headstack"))
    return 0
