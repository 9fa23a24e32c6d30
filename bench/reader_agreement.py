"""Measures how well a language model agrees with the trained reader and with people on
explanations.

python -m bench.reader_agreement MODEL [FILE]

MODEL: a causal model of models.toml, here or behind a server. FILE: JSON Lines of `language` (BCP
47), `explanation` and `label` (hateful, non-hateful or none: the stated verdict by a person);
without it 60 statements each in English, Chinese and Korean, of our own. By language: Cohen's kappa
with its 95 % interval of the conclusion (model and label, model and reader, reader and label) and
of the naming of a group (model and reader). The trained reader is used in the languages that it
learned. The last line is JSON; no text is printed.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import ValidationError

from services.hatexscore.contract import HatexscoreRequest
from services.hatexscore.explanation import ParsedExplanation
from services.hatexscore.reader import PROMPT, read_by_model
from services.hatexscore.variants import VARIANTS
from services.worker import local
from shared.contracts.errors import ScoringError
from shared.contracts.messages import Message
from shared.contracts.validation_messages import plain
from shared.models.catalogue.catalogue import load_catalogue
from shared.models.ports import bind
from shared.process.settings import disable_download, settings_or_exit
from shared.statistics.agreement import kappa_of_pairs
from shared.text.language import canonical

OWN = Path(__file__).with_suffix(".jsonl")
TEXT = "A post that is not shown."
Stated = Literal["hateful", "non-hateful", "none"]
Json = dict[str, Any]


class LabelledExplanation(Message):
    """An explanation with the conclusion that a person found in it."""

    language: str
    explanation: str
    label: Stated


@dataclass(frozen=True)
class ReadTwice:
    """The readings of an explanation by the model and by the trained reader. None means not
    read."""

    language: str
    label: str
    model: str | None
    reader: str | None
    model_group: str | None
    reader_group: str | None


def labelled(file: Path = OWN) -> list[LabelledExplanation]:
    """Read the file. Raises ValueError with the line of an invalid explanation."""
    found = []
    for number, line in enumerate(file.read_text("utf-8").splitlines(), 1):
        try:
            found.append(LabelledExplanation.model_validate_json(line))
        except ValidationError as error:
            raise ValueError(f"{file}, line {number}: {plain(error.errors()[0])}") from None
    return found


def compared(model: str, rows: Sequence[LabelledExplanation]) -> list[ReadTwice]:
    """Read each explanation with the trained reader, if it supports the language, and with this
    model. Raises ScoringError."""
    requests = [
        HatexscoreRequest.model_validate(
            {"text": TEXT, "explanation": row.explanation, "language": row.language,
             "options": {"reader": "llm", "reader_model": model}}
        )
        for row in rows
    ]  # fmt: skip
    robust = VARIANTS["robust"]
    parsed = robust.read(requests)
    read = read_by_model(requests, parsed)
    return [
        ReadTwice(
            language=canonical(row.language),
            label=row.label,
            model=_stated(by_model),
            reader=_stated(by_reader),
            model_group=_group(by_model),
            reader_group=_group(by_reader),
        )
        for row, by_reader, by_model in zip(rows, parsed, read, strict=True)
    ]


def _stated(parsed: ParsedExplanation) -> str | None:
    return None if parsed.htc is None else parsed.stated_decision or "none"


def _group(parsed: ParsedExplanation) -> str | None:
    return None if parsed.no_tgi else str(bool(parsed.groups))


def agreement(rows: Sequence[ReadTwice]) -> Json:
    """Return for each language the kappas with intervals, and the number of explanations that the
    model could not read."""
    return {
        language: dict(_kappas(language, [row for row in rows if row.language == language]))
        for language in sorted({row.language for row in rows})
    }


def _kappas(language: str, rows: Sequence[ReadTwice]) -> Iterator[tuple[str, Any]]:
    pairs: dict[str, list[tuple[str | None, str | None]]] = {
        "conclusion: model and label": [(row.model, row.label) for row in rows],
        "conclusion: model and reader": [(row.model, row.reader) for row in rows],
        "conclusion: reader and label": [(row.reader, row.label) for row in rows],
        "group: model and reader": [(row.model_group, row.reader_group) for row in rows],
    }
    yield "explanations", len(rows)
    yield "not read by the model", sum(row.model is None for row in rows)
    for name, both in pairs.items():
        known = [(a, b) for a, b in both if a is not None and b is not None]
        found = asdict(kappa_of_pairs(f"{language} {name}", known))
        yield name, {key: found[key] for key in ("value", "low", "high", "rows")}


def main(arguments: Sequence[str] | None = None) -> int:
    made = argparse.ArgumentParser(
        prog="python -m bench.reader_agreement",
        description="How a language model reads explanations: kappa with our reader and people",
    )
    made.add_argument("model", help="of models.toml")
    made.add_argument("file", nargs="?", type=Path, default=OWN, help="JSON Lines of your own")
    asked = made.parse_args(arguments)
    disable_download()
    chosen = settings_or_exit()
    try:
        bind(local(load_catalogue(chosen.models_file)))
        found = agreement(compared(asked.model, labelled(asked.file)))
    except (OSError, ValueError, ScoringError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    told = {"model": asked.model, "prompt": PROMPT.name, "languages": found}
    sys.stdout.write(json.dumps(told, ensure_ascii=False) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
