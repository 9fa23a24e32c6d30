"""`touchstone models`, `keys`, `reader` and `bench`; also `python -m cli`.

The command `touchstone` is the client's (sdk/): it finds these by the entry points
`touchstone.commands`. They need the service's own code.
"""

from __future__ import annotations

import argparse
import subprocess
import sys

from cli.models import command as models_command

KEYS = "services.gateway.keys"


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = argparse.ArgumentParser(
        prog="python -m cli",
        description="What works on the service's own machine. The other commands of `touchstone` "
        "speak to a service over HTTP; they come with its client: pip install path/to/sdk",
    )
    commands = made.add_subparsers(dest="command", required=True, metavar="COMMAND")
    commands.add_parser("models", help="add, pull, convert, check, list, reload", add_help=False)
    commands.add_parser("keys", help="create, list, revoke API keys", add_help=False)
    commands.add_parser("bench", help="models side by side: a paper's tables", add_help=False)
    commands.add_parser("reader", help="train and measure the reader of prose", add_help=False)
    return made


def main(arguments: list[str] | None = None) -> int:
    """Run the command; 0 if all went well."""
    given = sys.argv[1:] if arguments is None else arguments
    command = parser().parse_args(given[:1]).command
    run = {"bench": bench, "keys": keys, "models": models_command.main, "reader": reader}[command]
    return run(given[1:])


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
