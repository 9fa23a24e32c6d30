"""The command line: its commands, options and their help."""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Callable
from typing import Any, NoReturn, TypeAlias

from touchstone_client.cli.output import WRONG

Run = Callable[..., int]
VERDICTS = ("holds_up", "problem_found", "not_tested")
SPLITS = "metadata.KEY, model, language or verdict"
EPILOG = """\
environment:
  TOUCHSTONE_URL           Address of the service (default http://127.0.0.1:8000).
  TOUCHSTONE_API_KEY       Key, if the service requires one.
  TOUCHSTONE_API_KEY_FILE  File that contains the key.

exit codes: 0 done, 1 the service failed or refused, 2 worse than the baseline (compare --fail-if),
3 some lines failed, 64 wrong command line or setting, 130 Ctrl-C. Data goes to stdout, messages to
stderr.

examples:
  touchstone score hatexscore --text 'A post.' --explanation 'Why.' --decision hateful
  touchstone submit posts.csv --metric hatexscore --map text=body --wait --output scores.parquet
  touchstone report batch_01a1fc...
  touchstone compare batch_01a1fc... batch_02b7de... --fail-if 'high < 0'
  touchstone plan batch_01a1fc... --effect 0.05
"""
FILE_HELP = (
    "JSON Lines, CSV, TSV, Parquet, Arrow, or a folder that `datasets` saved. Addresses such as "
    "s3://, gs://, az:// and hf:// work, too."
)
OF_THE_SERVICE = {  # command → help; the service's own code parses its options
    "models": "List models; add, download, convert, check or reload your own.",
    "keys": "Create, list and revoke API keys, on the service's own machine.",
    "bench": "Print the tables of a paper: models side by side on several data sets.",
}
Parsers: TypeAlias = "argparse._SubParsersAction[Parser]"  # noqa: SLF001 - argparse names it nowhere else


class Parser(argparse.ArgumentParser):
    """A parser that exits with 64 for a wrong command line, since exit code 2 means that
    explanations became worse."""

    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        self.exit(WRONG, f"{self.prog}: {message}\n")


def runs(module: str, name: str) -> Run:
    """Return the function that runs a command. It imports the command's module when called."""

    def run(*arguments: object) -> int:
        function: Run = getattr(importlib.import_module(f"touchstone_client.cli.{module}"), name)
        return function(*arguments)

    return run


def parser() -> Parser:
    result = Parser(
        prog="touchstone",
        description="Score explanations with a Touchstone service.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    result.add_argument(
        "--version", action="store_true", help="Print the versions of client and service."
    )
    result.add_argument("--url", help="Address of the service, instead of TOUCHSTONE_URL.")
    commands: Parsers = result.add_subparsers(dest="command", metavar="COMMAND")
    for add in (_scoring, _objects, _reports, _webhooks, _files):
        add(commands)
    for name, says in OF_THE_SERVICE.items():
        commands.add_parser(name, help=says, add_help=False)
    return result


def command(commands: Parsers, name: str, says: str, run: Run) -> Parser:
    """Add a command with the options that all commands share."""
    result = commands.add_parser(name, help=says, description=says)
    result.add_argument(
        "--json", action="store_true", help="Print one JSON document instead of tables."
    )
    result.set_defaults(run=run)
    return result


def _scoring(commands: Parsers) -> None:
    add = command(commands, "score", "Score one request.", runs("scoring", "score")).add_argument
    add("metric", metavar="METRIC", help="Name of the metric; `touchstone metrics` lists them.")
    add("request", nargs="?", metavar="FILE", help="File with the request as JSON; - is stdin.")
    add("--text", help="Text that the decision is about.")
    add("--explanation", help="Explanation of the decision.")
    add("--decision", metavar="LABEL", help="Decision that is explained, such as hateful.")
    add("--model", help="Configured model; `touchstone models` lists them.")
    _fields(
        add,
        "Set any other field of the request, such as seed=7 or options.k=0.1. Write lists as "
        "JSON. Repeatable.",
    )
    add(
        "--timeout",
        type=float,
        metavar="SECONDS",
        help="Stop waiting after this time (default: never).",
    )

    says = "Score every line of a file as a batch."
    add = command(commands, "submit", says, runs("scoring", "submit")).add_argument
    add("file", metavar="FILE", help=FILE_HELP)
    _mapping(add)
    add(
        "--metadata", type=pair, action="append", default=[], metavar="KEY=VALUE",
        help="Metadata to store with the batch. Repeatable.",
    )  # fmt: skip
    add("--yes", action="store_true", help="Accept guessed columns without asking.")
    add(
        "--skip-invalid", action="store_true",
        help="Skip and print invalid lines, and score the others.",
    )  # fmt: skip
    add("--wait", action="store_true", help="Wait until the batch has ended.")
    add(
        "--output", metavar="FILE",
        help="With --wait: write the answers here instead of to stdout, as .jsonl, .csv, .tsv, "
        ".parquet or .arrow.",
    )  # fmt: skip
    add("--errors", metavar="FILE", help="With --wait: write the lines without a score here.")

    says = "Follow jobs or batches until they end."
    add = command(commands, "watch", says, runs("scoring", "watch")).add_argument
    add("ids", nargs="+", metavar="ID", help="Ids of jobs or batches.")
    add(
        "--until",
        choices=("running",),
        help="Stop following when the job or batch starts to run, instead of at its end.",
    )


def _fields(add: Callable[..., Any], says: str) -> None:
    add("--field", type=pair, action="append", default=[], metavar="NAME=VALUE", help=says)


def _mapping(add: Callable[..., Any]) -> None:
    """Add the options that map the columns of a table to request fields."""
    add("--metric", help="Metric of lines that do not name one, such as hatexscore.")
    add(
        "--map", action="append", default=[], metavar="FIELD=COLUMN",
        help="Column of a field, such as text=body. Repeatable. Without this option columns are "
            "guessed from their names. With it only the columns named here are sent.",
    )  # fmt: skip
    add(
        "--value", action="append", default=[], metavar="FIELD:VALUE=CELL",
        help="Meaning of a cell, as FIELD:VALUE=CELL: decision:hateful=1 reads a cell 1 as "
            "hateful. Repeatable.",
    )  # fmt: skip
    _fields(add, "Field with the same value in every line, such as seed=7. Repeatable.")
    add(
        "--keep", action="append", default=[], metavar="COLUMN,…",
        help="Column to store as metadata of each line. Repeatable.",
    )  # fmt: skip
    add("--delimiter", help="Delimiter of a CSV file (default: a comma; for .tsv files a tab).")
    add("--split", help="Split to read from a folder that contains several.")


def _objects(commands: Parsers) -> None:
    says = "List jobs, batches or files, newest first."
    add = command(commands, "list", says, runs("objects", "listing")).add_argument
    add("kind", choices=("jobs", "batches", "files"), help="Kind of object to list.")
    add("--status", help="List only those with this status.")
    add("--metric", help="List only those with this metric.")
    add("--verdict", choices=VERDICTS, help="List only jobs with this verdict.")
    add("--batch", metavar="BATCH", help="List only jobs of this batch.")
    add(
        "--metadata", type=pair, action="append", default=[], metavar="KEY=VALUE",
        help="List only jobs or batches with this metadata. Repeatable.",
    )  # fmt: skip
    add(
        "--since", metavar="TIME",
        help="List only what was created since this time: a duration such as 30m, 1h30m or 2d, or "
            "a date such as 2026-11-26.",
    )  # fmt: skip
    add("--limit", type=at_least_one, default=20, help="Maximum number to list (default 20).")
    add("--full", action="store_true", help="With --json: print whole jobs instead of summaries.")

    says = "Show a job or a batch, or the content of a file."
    add = command(commands, "get", says, runs("objects", "get")).add_argument
    add("id", metavar="ID", help="Id that begins with job_, batch_ or file_.")
    add(
        "--output",
        metavar="FILE",
        help="Write the file's content or the batch's answers to this file.",
    )

    add = command(
        commands, "cancel", "Cancel jobs or batches.", runs("objects", "cancel")
    ).add_argument
    add("ids", nargs="+", metavar="ID", help="Ids of jobs or batches.")

    says = "Delete ended jobs: their requests, results and lines in batch files."
    add = command(commands, "delete", says, runs("objects", "delete")).add_argument
    add("ids", nargs="*", metavar="JOB_ID", help="Ids of jobs.")
    add(
        "--metadata", type=pair, action="append", default=[], metavar="KEY=VALUE",
        help="Delete all jobs and batch lines with this metadata. Repeatable: all must match.",
    )  # fmt: skip
    add("--yes", action="store_true", help="Delete without a question.")

    says = "List the metrics, or show the required fields of a metric with an example."
    add = command(commands, "metrics", says, runs("objects", "metrics")).add_argument
    add("name", nargs="?", metavar="NAME", help="Metric to show.")

    says = "Export or import people's judgements of scores."
    actions = group(commands, "judgements", says)
    run = runs("objects", "judgements")
    add = command(actions, "export", "Write judgements into a file.", run).add_argument
    add("--batch", help="Export only judgements of this batch.")
    add("--queue", help="Export only judgements of this review queue.")
    add(
        "--format", choices=("jsonl", "csv", "label-studio"),
        help="Format of the file (default: by its ending, .csv or JSON Lines).",
    )  # fmt: skip
    add("--output", metavar="FILE", required=True, help="File to write.")
    says = (
        "Import judgements that were made in another system. If one line is invalid, none is "
        "imported."
    )
    add = command(actions, "import", says, run).add_argument
    add(
        "file",
        metavar="FILE",
        help="JSON Lines file with job_id, reviewer and verdict, in the format of the export.",
    )
    add("--source", required=True, help="Name of the system that the judgements come from.")


def group(commands: Parsers, name: str, says: str) -> Parsers:
    """Add a command that has sub-commands."""
    result = commands.add_parser(name, help=says, description=says)
    return result.add_subparsers(dest="action", required=True, metavar="ACTION")


def _reports(commands: Parsers) -> None:
    says = "Summarise the results of a batch that has ended."
    report = command(commands, "report", says, runs("reports", "report"))
    add, instead = report.add_argument, report.add_mutually_exclusive_group().add_argument
    add("batch", metavar="BATCH", help="Id of the batch.")
    add("--by", metavar="WHAT", help=f"Split the mean scores by {SPLITS}.")
    add(
        "--against", metavar="BATCH",
        help="Compare with this baseline batch on the same texts, and print the report as JSON "
            "with its `comparison`.",
    )  # fmt: skip
    instead("--plot", help="Plot to write.")
    instead(
        "--html", metavar="FILE", help="Write tables and plots as one HTML file, without texts."
    )
    instead("--csv", metavar="FILE", help="Write a CSV with one row per line of the batch.")
    instead(
        "--parquet",
        metavar="FILE",
        help="Write a Parquet file with the whole result of every line.",
    )
    add("--format", choices=("svg", "png"), default="svg", help="Format of the plot.")
    add("--output", metavar="FILE", help="Write the report as JSON, or the plot, to this file.")

    says = (
        "Compare two batches on the same texts. Differences are the new batch minus the baseline."
    )
    add = command(commands, "compare", says, runs("reports", "compare")).add_argument
    part = "or part of a batch: ID:metadata.KEY=VALUE or ID:model=NAME"
    add("a", metavar="NEW", help=f"Id of the new batch, {part}. The output calls it A.")
    add(
        "b",
        metavar="BASELINE",
        help="Id of the baseline batch, or part of it. The output calls it B.",
    )
    add("--by", metavar="WHAT", help=f"Differences by {SPLITS}.")
    add(
        "--fail-if", metavar="RULE",
        help="Exit with code 2 if this condition is true. It may use the difference of the mean "
            "scores (new minus baseline), the ends low and high of its interval, and p. 'high < "
            "0' fails if the new batch is shown to be worse. 'low < -0.05' fails unless a loss "
            "of more than 0.05 is ruled out. Identical scores always pass. Exit code 2 also "
            "means that significantly more lines lost their score or verdict than gained one.",
    )  # fmt: skip

    says = (
        "Estimate how many texts and draws a study needs, from how much the results of a batch "
        "vary."
    )
    add = command(commands, "plan", says, runs("reports", "plan")).add_argument
    add("batch", metavar="BATCH", help="Id of the batch.")
    add("--against", metavar="BATCH", help="Also plan for the difference from this batch.")
    add(
        "--effect", type=float,
        help="Smallest difference of mean scores that the study should detect, or largest loss "
            "that it should rule out.",
    )  # fmt: skip
    add(
        "--beat-rate", type=float, metavar="SHARE",
        help="Share of random explanations that a good explanation beats, such as 0.98.",
    )  # fmt: skip
    add("--power", type=float, help="Power: the probability of detecting the effect (default 0.8).")
    add("--alpha", type=float, help="Significance level of the tests (default 0.05).")


def _webhooks(commands: Parsers) -> None:
    actions = group(commands, "webhooks", "Manage the webhook endpoints that receive events.")
    run = runs("endpoints", "webhooks")
    command(actions, "list", "List the endpoints.", run)
    says = "Create an endpoint, and print its secret, which is not shown again."
    add = command(actions, "create", says, run).add_argument
    add("receiver", metavar="URL", help="Address that receives the events.")
    add("--event", action="append", default=[], help="Event to send. Repeatable (default: all).")
    add("--description", default="", help="What the endpoint is for.")
    add(
        "--format", choices=("otlp-logs", "langfuse-scores", "phoenix-annotations"),
        help="Send scores in the format of this tool instead of signed events. Set the URL to the "
            "tool's base address.",
    )  # fmt: skip
    add(
        "--authorization", metavar="VALUE",
        help="Authorization header that the tool needs, such as 'Bearer …', or @FILE.",
    )  # fmt: skip
    add(
        "--sample",
        type=float,
        metavar="SHARE",
        help="Share of the jobs whose scores are sent, such as 0.1.",
    )
    add("--metric", action="append", help="Send only scores of this metric. Repeatable.")
    add("--parts", action="store_true", help="Also send each part of a score as a separate score.")
    for name, says in (
        ("test", "Send a test event."),
        ("rotate", "Create a new secret. The previous one is valid for another day."),
        ("failed", "List the deliveries that failed."),
        ("enable", "Enable the endpoint again. `replay` sends the events that it missed."),
        ("disable", "Disable the endpoint until it is enabled again."),
        ("delete", "Delete the endpoint and its pending deliveries."),
    ):
        command(actions, name, says, run).add_argument(
            "id", metavar="ENDPOINT", help="Id of the endpoint."
        )
    add = command(
        actions, "replay", "Send one failed delivery, or all of them, again.", run
    ).add_argument
    add("id", metavar="ENDPOINT", help="Id of the endpoint.")
    add("delivery", nargs="?", metavar="DELIVERY", help="Id of the delivery.")


def _files(commands: Parsers) -> None:
    says = "Check the connection and the service, and print a remedy for each problem."
    command(commands, "doctor", says, runs("doctor", "doctor"))

    says = "Convert a file of requests or answers into another format."
    add = command(commands, "convert", says, runs("local", "convert")).add_argument
    add("source", metavar="IN", help=FILE_HELP)
    add(
        "target",
        metavar="OUT",
        help="File to write; its ending sets the format: .jsonl, .csv, .tsv, .parquet or .arrow.",
    )
    _mapping(add)

    says = "Print a script that adds completion of commands to a shell."
    add = command(commands, "completion", says, runs("local", "completion")).add_argument
    add("shell", choices=("bash", "zsh", "tcsh"), help="Shell that sources the script.")

    says = "Run an MCP server on stdin and stdout that scores explanations and reads results."
    command(commands, "mcp", says, runs("mcp_server", "serve"))


def pair(text: str) -> tuple[str, str]:
    """Split NAME=VALUE."""
    key, equals, value = text.partition("=")
    if not key or not equals:
        raise argparse.ArgumentTypeError(f"{text!r} does not have the form NAME=VALUE")
    return key, value


def at_least_one(text: str) -> int:
    """Parse a whole number that is at least 1."""
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least 1")
    return int(text)
