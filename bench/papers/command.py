"""`touchstone bench PAPER`: runs models on data sets, and writes the paper's tables of the results.

Every answer is kept in the output folder; a second run sends no request again and writes the same
bytes. The jobs behind each cell are listed beside the tables.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bench.papers.answers import KeptAnswers
from bench.papers.cot2el import Cot2elPaper
from bench.papers.data_rows import DataSet, read_dataset, sample
from bench.papers.formats import as_csv, as_jobs, as_json, as_markdown
from bench.papers.ftc import FtcPaper
from bench.papers.haf import HafPaper
from bench.papers.hatexscore import HatexscorePaper
from bench.papers.ice import IcePaper
from bench.papers.protocol import Paper, RunOptions, cases
from bench.papers.run import ask_all, check_models, check_rows, observed, unanswered
from bench.papers.service_calls import Asking, OwnProcess, RunningService
from bench.papers.tables import PaperTable, table_of
from bench.papers.templates import check_datasets, described, read_templates
from services.registry import contracts
from shared.process import telemetry
from shared.process.settings import SERVICE_VERSION
from shared.statistics.bootstrap import Resampling
from touchstone_client._sync.client import Touchstone
from touchstone_client.cli.main import api_key
from touchstone_client.cli.output import DONE, INTERRUPTED, REFUSED, SOME_FAILED, WRONG
from touchstone_client.errors import TouchstoneError

PAPERS: dict[str, Paper] = {
    paper.name: paper
    for paper in (HatexscorePaper(), HafPaper(), IcePaper(), Cot2elPaper(), FtcPaper())
}
FEWEST_RESAMPLES, MOST_RESAMPLES = 100, 100_000
EMBEDDED = ""  # `--local` without a file


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(prog="touchstone bench", description=__doc__)
    made.add_argument(
        "paper", choices=sorted(PAPERS), metavar="PAPER", help=f"One of {', '.join(PAPERS)}."
    )
    made.add_argument(
        "--models", nargs="+", required=True, metavar="MODEL", help="Names of configured models."
    )
    _add_data(made)
    _add_requests(made)
    made.add_argument(
        "--resamples",
        type=whole(FEWEST_RESAMPLES, MOST_RESAMPLES),
        default=2_000,
        help="Resamples of the intervals (default 2000).",
    )
    made.add_argument(
        "--output", type=Path, metavar="FOLDER", help="Folder to write (default bench-PAPER)."
    )
    made.add_argument("--again", action="store_true", help="Send failed requests again.")
    made.add_argument(
        "--local", nargs="?", const=EMBEDDED, metavar="MODELS_FILE",
        help="Run in this process, without a service, with these models (default: embedded ones).",
    )  # fmt: skip
    made.add_argument("--url", help="Address of the service, instead of TOUCHSTONE_URL.")
    made.add_argument(
        "--json", action="store_true", help="Print the tables as JSON instead of Markdown."
    )
    return made


def _add_data(made: argparse.ArgumentParser) -> None:
    made.add_argument(
        "--data", nargs="+", required=True, metavar="[NAME=]FILE",
        help="Tables with text and gold, and optionally language, group, rationale, annotators and "
        "answers, as JSON Lines, CSV or Parquet.",
    )  # fmt: skip
    made.add_argument(
        "--map",
        nargs="+",
        default=[],
        metavar="FIELD=COLUMN",
        help="Column of a field, such as gold=label_majority.",
    )
    made.add_argument(
        "--label", nargs="+", default=[], metavar="LABEL=CELL",
        help="Cell that stands for a label, such as hateful=1 non-hateful=normal.",
    )  # fmt: skip
    made.add_argument(
        "--rows",
        type=whole(1, sys.maxsize),
        metavar="N",
        help="Rows of each data set, drawn by the seed.",
    )


def whole(least: int, most: int) -> Callable[[str], int]:
    """Return a function that parses a whole number from `least` to `most`."""

    def parse(text: str) -> int:
        if not text.isdecimal() or not least <= int(text) <= most:
            raise argparse.ArgumentTypeError(f"{text!r} is not a number from {least} to {most}")
        return int(text)

    return parse


def _add_requests(made: argparse.ArgumentParser) -> None:
    made.add_argument(
        "--set", nargs="+", default=[], dest="parameters", metavar="SERVICE.FIELD=VALUE",
        help="Field of the requests, such as hatexscore.options.tau=0.4. Lists are JSON.",
    )  # fmt: skip
    made.add_argument(
        "--shots", nargs="+", type=int, default=[0], help="Numbers of demonstrations (default 0)."
    )
    made.add_argument(
        "--prompt", nargs="+", help="Prompts instead of the paper's own. Several get a table each."
    )
    made.add_argument(
        "--templates", type=Path, metavar="FILE",
        help="For ice: prompts of a causal model by name, as TOML or JSON, the default one first.",
    )  # fmt: skip
    made.add_argument("--seed", type=int, default=0, help="Seed of draws (default 0).")


def main(arguments: list[str]) -> int:
    """Run the command and return its exit status, like `touchstone`. Raises SystemExit for an
    unknown option."""
    asked = parser().parse_args(arguments)
    try:
        return run(asked)
    except TouchstoneError as error:
        return _told(str(error), REFUSED)
    except (ValueError, OSError) as error:
        return _told(str(error), WRONG)
    except KeyboardInterrupt:
        return _told("interrupted; what was answered is kept: run it again", INTERRUPTED)


def run(asked: argparse.Namespace) -> int:
    paper, options = PAPERS[asked.paper], options_of(asked)
    check_taken(paper, asked)
    data = data_of(asked, options)
    settings = paper.settings(options)
    rows = [row for one in data for row in one.rows]
    every = list(cases(asked.models, settings, rows))
    check_rows(paper, every, options)
    folder: Path = asked.output or Path(f"bench-{paper.name}")
    folder.mkdir(parents=True, exist_ok=True)
    kept = KeptAnswers(folder / "answers.jsonl")
    if asked.again:
        kept.without_failures()
    with service_of(asked, folder) as asking:
        check_models(unanswered(paper, every, kept, options), asking)
        ask_all(paper, every, kept, asking, options)
    observations = list(observed(paper, every, kept, options))
    how = Resampling(options.seed, asked.resamples)
    order = [*(one.name for one in data), *asked.models, *settings]
    tables = [table_of(plan, observations, how, order) for plan in paper.tables(options)]
    write(folder, about(asked, options, data, how) | {"source": paper.source}, tables)
    sys.stdout.write((folder / ("tables.json" if asked.json else "tables.md")).read_text("utf-8"))
    return SOME_FAILED if any(one.outcome == "failed" for one in observations) else DONE


def data_of(asked: argparse.Namespace, options: RunOptions) -> list[DataSet]:
    """Return the chosen data sets. Raises ValueError, OSError."""
    columns = pairs(asked.map)
    every_row = [read_dataset(one, columns) for one in asked.data]
    data = [sample(one, asked.rows, asked.seed) for one in every_row]
    check_names(asked.models, data)
    check_columns(columns, data)
    check_datasets(options.templates, [one.name for one in data])
    return data


def options_of(asked: argparse.Namespace) -> RunOptions:
    """Return the options of the run. Raises ValueError."""
    parameters: dict[str, dict[str, Any]] = {}
    for name, value in pairs(asked.parameters).items():
        service, dot, field = name.partition(".")
        if not dot or service not in contracts():
            raise ValueError(f"{name}: say SERVICE.FIELD=VALUE, of {', '.join(contracts())}")
        whole, dot, part = field.partition(".")
        fields = parameters.setdefault(service, {})
        fields[whole] = {**fields.get(whole, {}), part: _value(value)} if dot else _value(value)
    return RunOptions(
        seed=asked.seed,
        labels=cell_labels(asked.label),
        parameters=parameters,
        shots=tuple(dict.fromkeys(asked.shots)),
        prompts=tuple(dict.fromkeys(asked.prompt or ())),
        templates={} if asked.templates is None else read_templates(asked.templates),
    )


def check_taken(paper: Paper, asked: argparse.Namespace) -> None:
    """Raise ValueError for an option that this paper does not use."""
    told = {"prompt": asked.prompt is not None, "shots": any(asked.shots)}
    told["templates"] = asked.templates is not None
    for name, is_told in told.items():
        if is_told and name not in paper.takes:
            takers = [one.name for one in PAPERS.values() if name in one.takes]
            raise ValueError(f"--{name} is for {', '.join(takers)}: {paper.name} has no use for it")


def pairs(told: Sequence[str]) -> dict[str, str]:
    """Parse NAME=VALUE. Raises ValueError."""
    found = {}
    for one in told:
        name, equals, value = one.partition("=")
        if not equals or not name:
            raise ValueError(f"{one!r} is not NAME=VALUE")
        found[name] = value
    return found


def cell_labels(told: Sequence[str]) -> dict[str, str]:
    """Return cell → label for LABEL=CELL words. Raises ValueError."""
    return {cell: label for one in told for label, cell in pairs([one]).items()}


def _value(told: str) -> Any:
    """Return the parsed JSON, or the text if it is not JSON."""
    try:
        return json.loads(told)
    except ValueError:
        return told


def check_names(models: Sequence[str], data: Sequence[DataSet]) -> None:
    """Raise ValueError for a repeated name, because its cells could not be distinguished."""
    for names in (models, [one.name for one in data]):
        twice = [name for name in names if names.count(name) > 1]
        if twice:
            raise ValueError(f"{twice[0]} is named twice; of data sets, say NAME=FILE")


def check_columns(columns: Mapping[str, str], data: Sequence[DataSet]) -> None:
    """Raise ValueError for a column that no file has. `columns` maps fields to columns."""
    known = {column for one in data for column in one.columns}
    if missing := sorted(set(columns.values()) - known):
        raise ValueError(f"no data set has a column {missing[0]!r}")


@contextmanager
def service_of(asked: argparse.Namespace, folder: Path) -> Iterator[Asking]:
    """Yield the chosen service."""
    if asked.local is not None:
        from cli.local import LocalService

        telemetry.configure_logging("error", "console")  # stdout has the tables
        yield OwnProcess(LocalService(asked.local or None))
        return
    with Touchstone(asked.url, api_key()) as client:
        yield RunningService(client, folder / "batch.txt")


def about(
    asked: argparse.Namespace, options: RunOptions, data: Sequence[DataSet], how: Resampling
) -> dict[str, Any]:
    return {
        "paper": asked.paper,
        "models": list(asked.models),
        "data": [{"name": one.name, "rows": len(one.rows), "sha256": one.sha256} for one in data],
        "shots": list(asked.shots),
        "prompt": asked.prompt,
        "templates": described(options.templates),
        "labels": cell_labels(asked.label),
        "parameters": pairs(asked.parameters),
        "seed": how.seed,
        "resamples": how.resamples,
        "confidence": how.confidence,
        "service_version": SERVICE_VERSION,
    }


def write(folder: Path, told: dict[str, Any], tables: Sequence[PaperTable]) -> None:
    """Write tables in three forms, and the jobs behind them."""
    (folder / "tables.md").write_text(as_markdown(told, tables), "utf-8")
    (folder / "tables.json").write_text(as_json(told, tables), "utf-8")
    (folder / "tables.csv").write_text(as_csv(tables), "utf-8")
    (folder / "jobs.json").write_text(as_jobs(tables), "utf-8")


def _told(said: str, code: int) -> int:
    sys.stderr.write(f"touchstone bench: {said}\n")
    return code
