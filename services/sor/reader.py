"""Reads a statement with a language model, on request or for languages that the trained reader (a
text classifier) does not support.

The model may invent quotes. An item therefore counts as missing unless its quotes occur in the
statement word for word. The model's answer replaces the result of the trained reader. The prompt is
`readers/items.v1.toml`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from services.sor.contract import SorRequest
from services.sor.disclosures import ItemMatch, matches
from services.sor.parsing import ReadStatement, language_obstacle
from services.sor.report import ROUTES, SorReaderUse
from shared.contracts.calls import Completion
from shared.contracts.errors import pointing_to
from shared.contracts.messages import ModelUse
from shared.models.ports import PromptOfRequest, generate, models
from shared.readers.llm import UNREADABLE, answer_in, reader_prompt
from shared.text.language import ModelLanguages, Obstacle
from shared.text.normalized import normalize

PROMPT = reader_prompt(Path(__file__).parent / "readers" / "items.v1.toml", "{statement}")
INVENTED = "quote-not-found: {items}: the reader's quotes are not in the statement"


class ItemQuotations(BaseModel):
    """A mapping from each item to the words that state it. Other keys are ignored."""

    model_config = ConfigDict(extra="ignore")
    restriction: str | None = None
    territorial_scope: str | None = None
    duration: str | None = None
    automated_detection: str | None = None
    automated_decision: str | None = None
    ground: str | None = None
    explanation: str | None = None
    internal_complaint: str | None = None
    out_of_court_settlement: str | None = None
    court: str | None = None


@dataclass(frozen=True)
class StatementReading:
    """The facts read from a statement, and the language model that read them, if any."""

    read: ReadStatement
    reader: SorReaderUse | None = None  # of a language model
    use: ModelUse | None = None
    obstacle: Obstacle | None = None  # why nothing is known
    warnings: tuple[str, ...] = ()


def is_read_by_model(request: SorRequest) -> bool:
    """True if the request asks for a language model, or the trained text classifier does not
    support the language."""
    if request.reader_model is None or request.statement is None or request.reader == "rules":
        return False
    return request.reader == "llm" or language_obstacle(request) is not None


def reader_languages(request: SorRequest) -> ModelLanguages:
    name = request.reader_model or ""
    with pointing_to("/reader_model", only=("/model",)):
        return ModelLanguages(name, models().writer(name).languages)


def read_by_model(
    requests: Sequence[SorRequest], read: Sequence[ReadStatement]
) -> list[StatementReading]:
    """Read the statements that need a language model, with one call per model."""
    indices = [index for index, request in enumerate(requests) if is_read_by_model(request)]
    with pointing_to("/reader_model", only=("/model",)):
        answers = generate([_question(index, requests[index]) for index in indices])
        uses = [models().writer(requests[index].reader_model or "").use for index in indices]
    readings = [StatementReading(statement) for statement in read]
    for index, answer, use in zip(indices, answers, uses, strict=True):
        readings[index] = _reading(requests[index], read[index], answer, use)
    return readings


def _question(index: int, request: SorRequest) -> PromptOfRequest:
    [statement] = request.documents().values()
    schema = ItemQuotations.model_json_schema()
    return PROMPT.question(index, request.reader_model or "", statement, {}, schema)


def _reading(
    request: SorRequest, read: ReadStatement, completion: Completion, use: ModelUse
) -> StatementReading:
    reader = SorReaderUse(model=use.name, prompt=PROMPT.name, prompt_sha256=PROMPT.sha256)
    answer = answer_in(completion.text, ItemQuotations)
    if answer is None:
        return StatementReading(read, reader, use, UNREADABLE)
    [text] = read.texts
    quotes = {name: quote for name, quote in answer.model_dump().items() if quote}
    disclosed: list[ItemMatch] = []
    for name, quote in quotes.items():
        words = normalize(quote).text
        start = text.normalized.text.find(words) if words else -1
        if start >= 0:
            disclosed += matches(name, (start, start + len(words)))
    invented = sorted(set(quotes) - {match.route or match.item for match in disclosed})
    warnings = (INVENTED.format(items=", ".join(invented)),) if invented else ()
    routes = frozenset(match.route for match in disclosed if match.route)
    stated = {match.item for match in disclosed}
    items = {name: float(name in stated) for name in read.items}
    statement = replace(
        read,
        texts=[replace(text, disclosed=tuple(disclosed))],
        items=items | {"redress": len(routes) / len(ROUTES)},
        routes=routes,
        ground_in_policy=None,
        # content words are known in English and German only
        quotes_only=language_obstacle(request) is not None,
    )
    return StatementReading(statement, reader, use, warnings=warnings)
