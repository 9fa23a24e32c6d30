"""What can be typed."""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Callable
from typing import TypeAlias

Run = Callable[..., int]
SPLITS = "metadata.KEY, model, language, verdict, …"
EPILOG = """\
environment:
  TOUCHSTONE_URL           where the service is (default http://127.0.0.1:8000)
  TOUCHSTONE_API_KEY       a key of it, where it requires one; _FILE: the file that holds it

exit codes: 0 done, 1 the service said no, 2 wrong command line or setting, 3 some lines failed,
130 Ctrl-C. Data goes to stdout, words for people to stderr.

examples:
  touchstone score hatexscore --text 'A post.' --explanation 'Why it is hateful.'
  touchstone submit posts.csv --metric hatexscore --map text=body --wait --output scores.parquet
  touchstone report batch_01a1fc...
  touchstone compare batch_01a1fc... batch_02b7de...
  touchstone plan batch_01a1fc... --effect 0.05
"""
FILE_HELP = (
    "JSON Lines, CSV, TSV, Parquet, Arrow, or a folder that `datasets` saved; also s3://, gs://, "
    "az://, hf://"
)
Parsers: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"  # noqa: SLF001 - argparse names it nowhere else


def runs(module: str, name: str) -> Run:
    """The command's function, imported when it runs."""

    def run(*arguments: object) -> int:
        found: Run = getattr(importlib.import_module(f"touchstone_client.cli.{module}"), name)
        return found(*arguments)

    return run


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = argparse.ArgumentParser(
        prog="touchstone",
        description="Score explanations with a Touchstone service.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    made.add_argument("--version", action="store_true", help="of this client and of the service")
    made.add_argument("--url", help="of the service, in place of TOUCHSTONE_URL")
    commands = made.add_subparsers(dest="command", metavar="COMMAND")
    for add in (_score, _submit, _watch, _list, _get, _cancel, _report, _compare, _plan):
        add(commands)
    for add in (
        _judgements,
        _models,
        _metrics,
        _webhooks,
        _keys,
        _bench,
        _doctor,
        _convert,
        _completion,
        _mcp,
    ):
        add(commands)
    return made


def command(commands: Parsers, name: str, says: str, run: Run) -> argparse.ArgumentParser:
    """A command with the options that all have."""
    made: argparse.ArgumentParser = commands.add_parser(name, help=says, description=says)
    made.add_argument("--json", action="store_true", help="one JSON document in place of tables")
    made.set_defaults(run=run)
    return made


def _score(commands: Parsers) -> None:
    made = command(commands, "score", "score one request", runs("scoring", "score"))
    made.add_argument("metric", metavar="METRIC", help="as `touchstone metrics` lists them")
    made.add_argument("request", nargs="?", metavar="FILE", help="a JSON object; -: of stdin")
    made.add_argument("--text")
    made.add_argument("--explanation")
    made.add_argument("--model", help="a configured name")
    made.add_argument(
        "--field", type=pair, action="append", default=[], metavar="NAME=VALUE",
        help="any other field, as in seed=7; lists and objects as JSON; repeatable",
    )  # fmt: skip
    made.add_argument("--timeout", type=float, help="seconds (default: as long as it takes)")


def _mapping(made: argparse.ArgumentParser) -> None:
    """How a table becomes requests."""
    made.add_argument("--metric", help="of requests that do not say it, as in hatexscore")
    made.add_argument(
        "--map", action="append", default=[], metavar="FIELD=COLUMN",
        help="which column is which field, as in text=body; columns that are not named are not "
        "sent; repeatable (default: columns named as a field)",
    )  # fmt: skip
    made.add_argument(
        "--value", action="append", default=[], metavar="FIELD:CELL=VALUE",
        help="what a cell means, as in predicted_label:1=hateful; seed:=7 for all rows; repeatable",
    )  # fmt: skip
    made.add_argument("--delimiter", help="of CSV (default a comma, of .tsv a tab)")
    made.add_argument("--split", help="of a folder")


def _submit(commands: Parsers) -> None:
    says = "score every line of a file as a batch"
    made = command(commands, "submit", says, runs("scoring", "submit"))
    made.add_argument("file", metavar="FILE", help=FILE_HELP)
    _mapping(made)
    made.add_argument(
        "--metadata", type=column_or_pair, action="append", default=[],
        metavar="KEY=VALUE|COLUMN,…",
        help="of the batch; or columns that each line keeps as its own; repeatable",
    )  # fmt: skip
    made.add_argument("--yes", action="store_true", help="take guessed columns without a question")
    made.add_argument(
        "--skip-invalid", action="store_true",
        help="leave out lines that are no valid request, as where a cell is empty, say which, and "
        "score the others",
    )  # fmt: skip
    made.add_argument("--wait", action="store_true", help="stay until the batch has ended")
    made.add_argument(
        "--output", metavar="FILE", help="with --wait: the answers, .jsonl, .csv, .tsv, .parquet "
        "or .arrow, instead of to stdout",
    )  # fmt: skip
    made.add_argument("--errors", metavar="FILE", help="with --wait: the lines without a score")


def _watch(commands: Parsers) -> None:
    says = "follow jobs or batches until they end"
    made = command(commands, "watch", says, runs("scoring", "watch"))
    made.add_argument("ids", nargs="+", metavar="ID")
    made.add_argument("--until", choices=("running",), help="no longer than until it runs")


def _list(commands: Parsers) -> None:
    says = "list jobs, batches or files, newest first"
    made = command(commands, "list", says, runs("objects", "listing"))
    made.add_argument("kind", choices=("jobs", "batches", "files"))
    made.add_argument("--status")
    made.add_argument("--metric")
    made.add_argument("--since", metavar="2d", help="no older than that: 30m, 12h, 2d")
    made.add_argument("--limit", type=at_least_one, default=20, help="at most so many (default 20)")


def _get(commands: Parsers) -> None:
    says = "show a job or a batch, or the content of a file"
    made = command(commands, "get", says, runs("objects", "get"))
    made.add_argument("id", metavar="ID", help="begins with job_, batch_ or file_")
    made.add_argument("--output", metavar="FILE", help="of a file its content, of a batch answers")


def _cancel(commands: Parsers) -> None:
    made = command(commands, "cancel", "cancel jobs or batches", runs("objects", "cancel"))
    made.add_argument("ids", nargs="+", metavar="ID")


def _report(commands: Parsers) -> None:
    says = "sum up the results of a batch that has ended"
    made = command(commands, "report", says, runs("reports", "report"))
    made.add_argument("batch", metavar="BATCH", help="its id")
    made.add_argument("--by", metavar="WHAT", help=f"mean scores by {SPLITS}")
    made.add_argument(
        "--against", metavar="BATCH", help="another batch on the same texts: the report as JSON "
        "with its `comparison`",
    )  # fmt: skip
    instead = made.add_mutually_exclusive_group()
    instead.add_argument("--plot", help="one of the report's plots, by name")
    instead.add_argument("--html", metavar="FILE", help="one HTML file with tables and plots; no "
                         "text but the custom ids is in it")  # fmt: skip
    instead.add_argument("--csv", metavar="FILE", help="a row a line, as the service writes it")
    instead.add_argument("--parquet", metavar="FILE", help="a row a line, each with its result")
    made.add_argument("--format", choices=("svg", "png"), default="svg", help="of the plot")
    made.add_argument("--output", metavar="FILE", help="the report as JSON, or the plot, in a file")


def _compare(commands: Parsers) -> None:
    says = "compare two batches on the same texts: the new one minus the baseline"
    made = command(commands, "compare", says, runs("reports", "compare"))
    made.add_argument("a", metavar="NEW", help="a batch's id; A in what is printed. A "
                      "part of it: ID:metadata.KEY=VALUE or ID:model=NAME")  # fmt: skip
    made.add_argument("b", metavar="BASELINE", help="another's, B: a difference above 0 says that "
                      "the new one has more")  # fmt: skip
    made.add_argument("--by", metavar="WHAT", help=f"differences by {SPLITS}")
    made.add_argument(
        "--fail-if", metavar="RULE", help="exit with 1 where it holds of the score's difference, "
        "new minus baseline: 'low < -0.02'; also difference, high, p",
    )  # fmt: skip


def _plan(commands: Parsers) -> None:
    says = "how many texts and draws a further study needs, from how the results of a batch vary"
    made = command(commands, "plan", says, runs("reports", "plan"))
    made.add_argument("batch", metavar="BATCH", help="its id")
    made.add_argument("--against", metavar="BATCH", help="another on the same texts: plan for the "
                      "difference of the two, too")  # fmt: skip
    made.add_argument("--effect", type=float, help="the smallest difference of mean scores worth "
                      "finding, in units of the score")  # fmt: skip
    made.add_argument("--beat-rate", type=float, help="of one explanation that a test should find: "
                      "the share of random ones that it beats, as 0.98")  # fmt: skip
    made.add_argument("--power", type=float, help="how often it is to be found (default 0.8)")
    made.add_argument("--alpha", type=float, help="level of the tests (default 0.05)")


def _judgements(commands: Parsers) -> None:
    says = "what people think of scores, out into a file and in from one"
    made: argparse.ArgumentParser = commands.add_parser("judgements", help=says, description=says)
    actions = made.add_subparsers(dest="action", required=True, metavar="ACTION")
    run = runs("objects", "judgements")
    export = command(actions, "export", "into a file", run)
    export.add_argument("--batch", help="of this batch alone")
    export.add_argument("--queue", help="of this review queue alone")
    export.add_argument("--format", choices=("jsonl", "csv", "label-studio"),
                        help="else by the file's ending: .csv, or JSON Lines")  # fmt: skip
    export.add_argument("--output", metavar="FILE", required=True)
    says = "take in what was judged elsewhere: all of a file, or nothing"
    take_in = command(actions, "import", says, run)
    take_in.add_argument("file", metavar="FILE", help="JSON Lines with job_id, reviewer, verdict; "
                         "an export does")  # fmt: skip
    take_in.add_argument("--source", required=True, help="where they are from")


def _models(commands: Parsers) -> None:
    commands.add_parser(
        "models", help="list models; add, pull, convert, check, reload own ones", add_help=False
    )


def _metrics(commands: Parsers) -> None:
    says = "list metrics; what one needs, with an example"
    made = command(commands, "metrics", says, runs("objects", "metrics"))
    made.add_argument("name", nargs="?", metavar="NAME")


def _webhooks(commands: Parsers) -> None:
    says = "endpoints that are told what happened"
    made: argparse.ArgumentParser = commands.add_parser("webhooks", help=says, description=says)
    actions = made.add_subparsers(dest="action", required=True, metavar="ACTION")
    run = runs("endpoints", "webhooks")
    command(actions, "list", "list endpoints", run)
    create = command(actions, "create", "make an endpoint; its secret is shown this once", run)
    create.add_argument("receiver", metavar="URL")
    create.add_argument("--event", action="append", default=[], help="repeatable (default: all)")
    create.add_argument("--description", default="")
    _push(create)
    for name, help_text in (
        ("test", "send a test event at once"),
        ("rotate", "a new secret; the former one signs as well for a day"),
        ("failed", "list what was not delivered"),
        ("enable", "send to it again; `replay` sends what it missed"),
        ("disable", "send nothing to it for now"),
        ("delete", "forget it and what is owed to it"),
    ):
        command(actions, name, help_text, run).add_argument("id", metavar="ENDPOINT")
    replay = command(actions, "replay", "send once more: one delivery, or all failed ones", run)
    replay.add_argument("id", metavar="ENDPOINT")
    replay.add_argument("delivery", nargs="?", metavar="DELIVERY")


def _push(made: argparse.ArgumentParser) -> None:
    """Scores themselves, as another tool takes them."""
    made.add_argument(
        "--format", choices=("otlp-logs", "langfuse-scores", "phoenix-annotations"),
        help="push scores to such a tool; URL is then its base (default: events, signed)",
    )  # fmt: skip
    made.add_argument(
        "--authorization", metavar="VALUE", help="the header that the tool wants, as in 'Bearer "
        "…'; @FILE: what the file holds",
    )  # fmt: skip
    made.add_argument("--sample", type=float, metavar="SHARE", help="of the jobs, as 0.1")
    made.add_argument(
        "--metric", action="append", help="push this metric's scores alone; repeatable"
    )
    made.add_argument("--parts", action="store_true", help="each part as a score of its own, too")


def _keys(commands: Parsers) -> None:
    says = "create, list, revoke API keys (on the service's own machine)"
    commands.add_parser("keys", help=says, add_help=False)


def _bench(commands: Parsers) -> None:
    says = "models side by side over data sets: a paper's tables (with the service's own code)"
    commands.add_parser("bench", help=says, add_help=False)


def _doctor(commands: Parsers) -> None:
    command(commands, "doctor", "look for what is wrong, with its cure", runs("doctor", "doctor"))


def _convert(commands: Parsers) -> None:
    says = "requests or answers from one form of file into another"
    made = command(commands, "convert", says, runs("local", "convert"))
    made.add_argument("source", metavar="IN", help=FILE_HELP)
    made.add_argument("target", metavar="OUT", help=".jsonl, .csv, .tsv, .parquet or .arrow")
    _mapping(made)
    made.add_argument(
        "--metadata", action="append", default=[], metavar="COLUMN,…", help="columns of metadata"
    )


def _completion(commands: Parsers) -> None:
    says = "a script that completes commands, for a shell to source"
    made = command(commands, "completion", says, runs("local", "completion"))
    made.add_argument("shell", choices=("bash", "zsh", "tcsh"))


def _mcp(commands: Parsers) -> None:
    says = "an MCP server on stdin and stdout: score and read, nothing else"
    command(commands, "mcp", says, runs("mcp_server", "serve"))


def pair(text: str) -> tuple[str, str]:
    """Of KEY=VALUE."""
    key, equals, value = text.partition("=")
    if not key or not equals:
        raise argparse.ArgumentTypeError(f"{text!r} is not KEY=VALUE")
    return key, value


def at_least_one(text: str) -> int:
    """A number of things."""
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError(f"{text!r} is no number from 1")
    return int(text)


def column_or_pair(text: str) -> str | tuple[str, str]:
    """KEY=VALUE is the batch's; names alone are columns."""
    return pair(text) if "=" in text else text
