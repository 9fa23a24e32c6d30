"""What a statement says, read by a language model: where the trained reader did not learn its
language, or if asked.

A model may invent: what it quotes must stand in the statement word for word, else the item counts
as not said. Its answer replaces that of the trained reader, and is never merged with it. The facts
of the post are found without it. The prompt is `readers/items.v1.toml`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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
INVENTED = "quote-not-found: {items}: what the reader quotes does not stand in the statement"


class ItemQuotations(BaseModel):
    """Item → the words that say it; more is ignored."""

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
    """How a statement was read. reader, use: of a language model, None where none was asked;
    obstacle: why nothing is known."""

    read: ReadStatement
    reader: SorReaderUse | None = None
    use: ModelUse | None = None
    obstacle: Obstacle | None = None
    warnings: tuple[str, ...] = ()


def is_read_by_model(request: SorRequest) -> bool:
    """`llm`; `auto`: where the trained reader does not know the language of a plain statement."""
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
    """As the trained reader read them, or as a language model does where one is to; in one call of
    each model."""
    asked = [place for place, one in enumerate(requests) if is_read_by_model(one)]
    with pointing_to("/reader_model", only=("/model",)):
        answers = generate([_question(place, requests[place]) for place in asked])
        uses = [models().writer(requests[place].reader_model or "").use for place in asked]
    found = [StatementReading(one) for one in read]
    for place, answer, use in zip(asked, answers, uses, strict=True):
        found[place] = _reading(requests[place], read[place], answer, use)
    return found


def _question(place: int, request: SorRequest) -> PromptOfRequest:
    [statement] = request.documents().values()
    schema = ItemQuotations.model_json_schema()
    return PROMPT.question(place, request.reader_model or "", statement, {}, schema)


def _reading(
    request: SorRequest, read: ReadStatement, completion: Completion, use: ModelUse
) -> StatementReading:
    told = SorReaderUse(model=use.name, prompt=PROMPT.name, prompt_sha256=PROMPT.sha256)
    answer = answer_in(completion.text, ItemQuotations)
    if answer is None:
        return StatementReading(read, told, use, UNREADABLE)
    [text] = read.texts
    quoted = {name: quote for name, quote in answer.model_dump().items() if quote}
    found = tuple(_matches(text.normalized.text, quoted))
    named = {one.route or one.item for one in found}
    lost = sorted(set(quoted) - named)
    warnings = (INVENTED.format(items=", ".join(lost)),) if lost else ()
    return StatementReading(_replaced(request, read, found), told, use, warnings=warnings)


def _matches(statement: str, quoted: dict[str, str]) -> Iterator[ItemMatch]:
    """Of the quotations that stand in the normalised statement, where they first do."""
    for name, quote in quoted.items():
        said = normalize(quote).text
        start = statement.find(said) if said else -1
        if start >= 0:
            yield from matches(name, (start, start + len(said)))


def _replaced(
    request: SorRequest, read: ReadStatement, found: tuple[ItemMatch, ...]
) -> ReadStatement:
    """Items, routes and evidence are the model's. Words count as facts in English and German: of
    other languages nobody knows which words say something."""
    routes = frozenset(one.route for one in found if one.route)
    said = {one.item for one in found}
    items = {name: float(name in said) for name in read.items} | {
        "redress": len(routes) / len(ROUTES)
    }
    [text] = read.texts
    return replace(
        read,
        texts=[replace(text, disclosed=found)],
        items=items,
        routes=routes,
        ground_in_policy=None,
        quotes_only=language_obstacle(request) is not None,
    )
