"""The commands `touchstone models`, `keys`, `reader` and `bench`, also available as `python -m
cli`. The client (sdk/) provides the command `touchstone`. It finds these commands through the entry
points `touchstone.commands`."""

from __future__ import annotations

import subprocess
import sys

from cli.models import command as models_command

KEYS = "services.gateway.keys"
USAGE = """\
usage: python -m cli {models,keys,bench,reader} ...

Commands for the service's own machine. The other commands of `touchstone` use the service over
HTTP and come with its client: pip install path/to/sdk
"""


def main(arguments: list[str] | None = None) -> int:
    """Run the command and return its exit status, 0 for success."""
    words = sys.argv[1:] if arguments is None else arguments
    commands = {"bench": bench, "keys": keys, "models": models_command.main, "reader": reader}
    if not words or words[0] not in commands:
        is_help = words in (["-h"], ["--help"])
        (sys.stdout if is_help else sys.stderr).write(USAGE)
        return 0 if is_help else 2
    return commands[words[0]](words[1:])


def bench(arguments: list[str]) -> int:
    """Run `touchstone bench`, which writes the tables of the papers."""
    from bench.papers import command

    return command.main(arguments)


def reader(arguments: list[str]) -> int:
    """Run `touchstone reader`, which trains the reader model."""
    from training.reader import command

    return command.main(arguments)


def keys(arguments: list[str]) -> int:
    """Run `touchstone keys`, which manages API keys. It needs the database but not the API."""
    return subprocess.run([sys.executable, "-m", KEYS, *arguments], check=False).returncode  # noqa: S603


if __name__ == "__main__":
    sys.exit(main())
