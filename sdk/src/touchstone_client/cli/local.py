"""Commands that do not need a running service: `convert`, `completion`, and the commands of the
service's package."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable
from importlib.metadata import entry_points

from touchstone_client.cli.output import DONE, Output, WrongUse
from touchstone_client.data.conversion import convert as converted
from touchstone_client.data.mapping import from_words
from touchstone_client.data.readers import Reading

GROUP = "touchstone.commands"  # entry points: a name and a function of arguments
ELSEWHERE = (
    "`touchstone {name}` runs on the service's own machine and needs the service's code: "
    "clone the repository and run pip install -e path/to/touchstone"
)


def convert(options: Namespace, output: Output) -> int:
    """Convert a file of requests or results and print the number of rows."""
    count = converted(
        options.source,
        options.target,
        metric=options.metric,
        columns=from_words(options.map, options.value, options.field, options.keep),
        how=Reading(delimiter=options.delimiter, split=options.split),
    )
    output.document({"rows": count, "file": options.target})
    output.say(f"{count} rows in {options.target}")
    return DONE


def completion(options: Namespace, output: Output) -> int:
    """Print a shell completion script."""
    try:
        import shtab
    except ImportError:
        raise WrongUse(
            "completion needs the package shtab; run pip install 'path/to/sdk[cli]'"
        ) from None
    from touchstone_client.cli.parser import parser

    script = shtab.complete(parser(), options.shell)
    output.document({"shell": options.shell, "script": script})
    output.line(script)
    return DONE


def service_command(name: str) -> Callable[[list[str]], int] | None:
    """Return a command of the service's package, or None if the package is not installed."""
    entry = next(iter(entry_points(group=GROUP, name=name)), None)
    return None if entry is None else entry.load()
