"""Commands that do not need a running service: `convert`, `completion`, and the commands of the
service's package."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import entry_points
from typing import Literal

from touchstone_client.cli.app import GUESSED, Columns, Out, Source, app
from touchstone_client.data.conversion import convert as converted

GROUP = "touchstone.commands"  # entry points: a name and a function of arguments
ELSEWHERE = (
    "`touchstone {name}` runs on the service's own machine and needs the service's code: "
    "clone the repository and run pip install -e path/to/touchstone"
)


@app.command
def convert(source: Source, target: str, /, *, columns: Columns = GUESSED, output: Out) -> None:
    """Convert a file of requests or answers into another format.

    Args:
        target: File to write. Its ending sets the format: .jsonl, .csv, .tsv, .parquet or .arrow.
    """
    count = converted(
        source,
        target,
        metric=columns.metric,
        columns=columns.mapping(),
        how=columns.reading(),
    )
    output.document({"rows": count, "file": target})
    output.say(f"{count} rows in {target}")


@app.command
def completion(shell: Literal["bash", "zsh", "fish"], /, *, output: Out) -> None:
    """Print a script that adds completion of commands to a shell.

    Args:
        shell: Shell that sources the script.
    """
    script = app.generate_completion(shell=shell)
    output.document({"shell": shell, "script": script})
    output.line(script)


def service_command(name: str) -> Callable[[list[str]], int] | None:
    """Return a command of the service's package, or None if the package is not installed."""
    entry = next(iter(entry_points(group=GROUP, name=name)), None)
    return None if entry is None else entry.load()
