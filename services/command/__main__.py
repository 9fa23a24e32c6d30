"""`touchstone submit`, `get`, `report`, `keys`, `models`; also `python -m services.command`.

What needs `rich` is imported where it is used: help and `models` work from the bare package.
"""

from __future__ import annotations

import argparse
import importlib.util
import subprocess
import sys
from pathlib import Path

from pydantic import ValidationError

from services.command import models
from services.command.api import Api, Refused
from shared.setting_faults import wrong_settings
from shared.settings import CommandSettings

KEYS = "services.gateway.keys"
EPILOG = """\
environment:
  TOUCHSTONE_URL      where the service is (default http://127.0.0.1:8000)
  TOUCHSTONE_API_KEY  a key of it, where it requires one

examples:
  touchstone submit posts.jsonl --metric hatexscore --wait --output scores.jsonl
  touchstone report batch_01a1fc...
  touchstone report batch_01a1fc... --html report.html
  touchstone report batch_01a1fc... --against batch_02b7de...
"""


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = argparse.ArgumentParser(
        prog="touchstone",
        description="Score explanations with a Touchstone service.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = made.add_subparsers(dest="command", required=True, metavar="COMMAND")
    _submit(commands.add_parser("submit", help="score every line of a file"))
    _get(commands.add_parser("get", help="show a job or a batch, or the content of a file"))
    _report(commands.add_parser("report", help="sum up the results of a batch that has ended"))
    commands.add_parser(
        "models", help="own models: add, pull, convert, check, list, reload", add_help=False
    )
    commands.add_parser(
        "keys", help="make and revoke API keys (on the service's own machine)", add_help=False
    )
    return made


def _submit(made: argparse.ArgumentParser) -> None:
    made.description = "Upload a file of JSON Lines and score every line as a batch."
    made.add_argument("file", type=Path, metavar="FILE.jsonl", help="batch lines, or see --metric")
    made.add_argument(
        "--metric",
        help="the lines are plain requests to this metric, as in hatexscore; an `id` becomes the "
        "custom_id, else the line's number does",
    )
    made.add_argument("--wait", action="store_true", help="stay until the batch has ended")
    made.add_argument("--output", type=Path, help="with --wait: the answers, instead of to stdout")
    made.add_argument("--errors", type=Path, help="with --wait: the lines without a score")
    made.add_argument(
        "--metadata",
        type=_pair,
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="repeatable",
    )
    made.set_defaults(run="submit")


def _get(made: argparse.ArgumentParser) -> None:
    made.description = "Show what the service knows about an id."
    made.add_argument("id", metavar="ID", help="begins with job_, batch_ or file_")
    made.add_argument("--output", type=Path, help="into this file, instead of to stdout")
    made.set_defaults(run="get")


def _report(made: argparse.ArgumentParser) -> None:
    made.description = "The report of a batch that has ended; made at the first ask."
    made.add_argument("batch", metavar="BATCH", help="its id")
    made.add_argument(
        "--against",
        metavar="BATCH",
        help="another system's batch on the same texts: the report has a `comparison` with it",
    )
    instead = made.add_mutually_exclusive_group()
    instead.add_argument(
        "--plot", help="one of the report's plots, by name, instead of the numbers"
    )
    instead.add_argument(
        "--html",
        type=Path,
        metavar="FILE",
        help="tables, plots and the worst lines as one HTML file that needs nothing else; no text "
        "but the custom ids is in it",
    )
    instead.add_argument(
        "--csv",
        type=Path,
        metavar="FILE",
        help="every line with its scores, a row a line, instead of the report",
    )
    made.add_argument("--format", choices=("svg", "png"), default="svg", help="of the plot")
    made.add_argument("--output", type=Path, help="into this file, instead of to stdout")
    made.set_defaults(run="report")


def _pair(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not key or not equals:
        raise argparse.ArgumentTypeError(f"{text!r} is not KEY=VALUE")
    return key, value


def main(arguments: list[str] | None = None) -> int:
    """Run the command; 0 if all went well, 1 if the service said no, 2 for a wrong command line."""
    given = sys.argv[1:] if arguments is None else arguments
    if given[:1] == ["keys"]:
        return keys(given[1:])
    if given[:1] == ["models"]:
        return models.main(given[1:])
    asked = parser().parse_args(given)
    try:
        import rich  # noqa: F401 - not in the bare package
    except ModuleNotFoundError:
        _say(f"{asked.command} needs more: pip install 'touchstone[command]'")
        return 1
    return _asked(asked)


def _asked(asked: argparse.Namespace) -> int:
    """One of the commands over HTTP."""
    from rich.console import Console

    from services.command import batches

    said = Console(stderr=True)
    run = {"submit": batches.submit, "get": batches.get, "report": batches.report}[asked.run]
    try:
        with Api(CommandSettings()) as api:
            return run(api, asked, Console(), said)
    except (Refused, OSError) as error:
        said.print("[bold red]touchstone:[/bold red] ", end="")
        said.print(str(error), markup=False, highlight=False, soft_wrap=True)
    except ValidationError as error:
        for line in wrong_settings(error):
            said.print(f"touchstone: {line}", markup=False, highlight=False, soft_wrap=True)
    except KeyboardInterrupt:
        said.print("interrupted; a batch that was made continues")
        return 130
    return 1


def keys(arguments: list[str]) -> int:
    """Hand over to the gateway's own command: it needs the ledger, not the API."""
    if importlib.util.find_spec(KEYS) is None:
        _say("this version has no keys")
        return 1
    return subprocess.run([sys.executable, "-m", KEYS, *arguments], check=False).returncode  # noqa: S603


def _say(line: str) -> None:
    sys.stderr.write(f"touchstone: {line}\n")


if __name__ == "__main__":
    sys.exit(main())
