"""`touchstone models`, `keys`, `reader` and `bench`; also `python -m cli`.

The command `touchstone` is the client's (sdk/): it finds these by the entry points
`touchstone.commands`. They need the service's own code.
"""

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
    """Run the command; 0 if all went well."""
    words = sys.argv[1:] if arguments is None else arguments
    commands = {"bench": bench, "keys": keys, "models": models_command.main, "reader": reader}
    if not words or words[0] not in commands:
        is_help = words in (["-h"], ["--help"])
        (sys.stdout if is_help else sys.stderr).write(USAGE)
        return 0 if is_help else 2
    return commands[words[0]](words[1:])


def bench(arguments: list[str]) -> int:
    """The papers' tables; the other commands need nothing of theirs."""
    from bench.papers import command

    return command.main(arguments)


def reader(arguments: list[str]) -> int:
    """Training of the reader; imported here because it needs torch."""
    from training.reader import command

    return command.main(arguments)


def keys(arguments: list[str]) -> int:
    """Hand over to the gateway's own command: it needs the database, not the API."""
    return subprocess.run([sys.executable, "-m", KEYS, *arguments], check=False).returncode  # noqa: S603


if __name__ == "__main__":
    sys.exit(main())
