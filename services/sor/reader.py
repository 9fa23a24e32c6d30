"""What a statement says, read by a language model: where the trained reader did not learn its
language, or if asked.

A model may invent: what it quotes must stand in the statement word for word, else the item counts
as not said. Its answer replaces that of the trained reader, and is never merged with it. The facts
of the post are found without it. The prompt is `readers/items.v1.toml`.
"""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from services.sor.contract import SorRequest
from services.sor.disclosures import ItemMatch, matches
from services.sor.parsing import ReadStatement, language_obstacle
from services.sor.report import ROUTES, SorReaderUse
from shared.contracts.calls import Completion, Prompt, Sampling, Turn
from shared.contracts.errors import pointing_to
from shared.contracts.messages import ModelUse
from shared.models.ports import PromptOfRequest, generate, models
from shared.text.language import ModelLanguages, Obstacle
from shared.text.normalized import normalize

FILE = Path(__file__).parent / "readers" / "items.v1.toml"
FENCE = "====="
UNREADABLE = Obstacle("answer-unread", "the reader's answer is no JSON of the shape that is asked")
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


@lru_cache(maxsize=1)
def _prompt_file() -> tuple[dict[str, str], str]:
    content = FILE.read_bytes()
    return tomllib.loads(content.decode()), hashlib.sha256(content).hexdigest()


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
        answers = generate([_prompt(place, requests[place]) for place in asked])
        uses = [models().writer(requests[place].reader_model or "").use for place in asked]
    found = [StatementReading(one) for one in read]
    for place, answer, use in zip(asked, answers, uses, strict=True):
        found[place] = _reading(requests[place], read[place], answer, use)
    return found


def _prompt(place: int, request: SorRequest) -> PromptOfRequest:
    """Greedy. The fence is longer than any that the statement holds."""
    held, _ = _prompt_file()
    [statement], fence = request.documents().values(), FENCE
    while fence in statement:
        fence += "="
    head, _, tail = held["user"].strip().partition("{statement}")
    asked = statement.join(part.replace("{fence}", fence) for part in (head, tail))
    turns = (
        Turn(role="system", content=held["system"].strip()),
        Turn(role="user", content=asked),
    )
    schema = json.dumps(ItemQuotations.model_json_schema())
    most = int(held["max_tokens"])
    sampling = Sampling(temperature=0, top_p=1, max_tokens=most, answer_schema=schema)
    return PromptOfRequest(place, request.reader_model or "", Prompt(turns=turns), sampling)


def _reading(
    request: SorRequest, read: ReadStatement, completion: Completion, use: ModelUse
) -> StatementReading:
    held, sha256 = _prompt_file()
    told = SorReaderUse(
        model=use.name, prompt=f"{held['name']}.v{held['version']}", prompt_sha256=sha256
    )
    answer = _answer(completion.text)
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


def _answer(text: str) -> ItemQuotations | None:
    """The JSON object of an answer, with whatever stands before and behind it."""
    start, end = text.find("{"), text.rfind("}")
    if not 0 <= start < end:
        return None
    try:
        return ItemQuotations.model_validate_json(text[start : end + 1])
    except ValidationError:
        return None
