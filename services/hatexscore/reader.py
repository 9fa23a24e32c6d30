"""Reads the conclusion and groups of an explanation with a language model, if no rule can read
them.

A model may invent quotes, so its quotes must occur in the explanation word for word. A
component without valid quotes is null. Source: Hu & Lee, arXiv:2601.13547, sections 3.1 and
3.3; the prompt is `readers/htc-tgi.v1.toml`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from services.hatexscore.conclusion import ConclusionStatement
from services.hatexscore.contract import DEFAULT_MODEL, HatexscoreRequest
from services.hatexscore.explanation import (
    LABEL_UNKNOWN,
    ParsedExplanation,
    lexicon_of,
    unread,
)
from services.hatexscore.report import HatexscoreGroupEvidence, HatexscoreReaderUse, Label
from shared.contracts.calls import Completion
from shared.contracts.errors import BadInput, pointing_to
from shared.models.ports import PromptOfRequest, generate, models
from shared.readers.llm import UNREADABLE, answer_in, reader_prompt
from shared.text.language import ModelLanguages, Obstacle

PROMPT = reader_prompt(Path(__file__).parent / "readers" / "htc-tgi.v1.toml", "{explanation}")
MOST_GROUPS = 100  # of an answer
TWO_CLASSES = '"hateful" | "non-hateful"'  # in the prompt, in place of a vocabulary's own classes
READ = "according to the language model the group is attacked"
NAMED = (
    "according to the language model the group is named; a non-hateful decision does not "
    "require an attack"
)
UNATTACKED = "according to the language model the group is named but not attacked"
INVENTED = Obstacle(
    "quote-not-found", "the reader's quote does not occur in the explanation; it was dropped"
)


class NamedGroup(BaseModel):
    """One group in the answer of the language model that reads explanations."""

    model_config = ConfigDict(extra="ignore")
    quote: str = Field(min_length=1)
    category: str
    attacked: bool


class ReaderAnswer(BaseModel):
    """The required form of the answer of a language model that reads explanations. Other keys are
    ignored."""

    model_config = ConfigDict(extra="ignore")
    conclusion: str  # a class of the vocabulary, or `none`
    conclusion_quote: str | None = None
    groups: list[NamedGroup] = Field(default=[], max_length=MOST_GROUPS)


def read_by_model(
    requests: Sequence[HatexscoreRequest], parsed: Sequence[ParsedExplanation]
) -> list[ParsedExplanation]:
    """Read explanations with a language model, with one call per model. Explanations that do not
    need it are returned unchanged. The request or else the classifier's catalogue entry names the
    model."""
    results = list(parsed)
    positions = []
    requests = list(map(_with_reader, requests, parsed))
    for index, (request, explanation) in enumerate(zip(requests, parsed, strict=True)):
        if not _is_asked(request, explanation):
            continue
        obstacle = _language_obstacle(request, explanation)
        if obstacle is None:
            positions.append(index)
        elif not _is_second_try(request, explanation):
            results[index] = replace(_without_result(request, explanation, obstacle), reader=None)
    with pointing_to("/options/reader_model", only=("/model",)):
        answers = generate([_prompt(index, requests[index]) for index in positions])
    for index, answer in zip(positions, answers, strict=True):
        results[index] = _apply_completion(requests[index], parsed[index], answer)
    return results


def _with_reader(request: HatexscoreRequest, parsed: ParsedExplanation) -> HatexscoreRequest:
    """If the option `reader` is `auto` and rules and classifier could not read the explanation, add
    the reader model that the classifier's entry names. An unknown classifier is reported later,
    when it is called. A request with `probabilities` gets a reader only for a language without
    rules."""
    options = request.options
    if options.reader != "auto" or options.reader_model is not None or not parsed.is_unread:
        return request
    if request.probabilities is not None and parsed.languages.no_rules is None:
        return request
    with suppress(BadInput):
        reader = models().reader_of(request.model or DEFAULT_MODEL)
        options = options.model_copy(update={"reader_model": reader})
        return request.model_copy(update={"options": options}) if reader else request
    return request


def _is_asked(request: HatexscoreRequest, parsed: ParsedExplanation) -> bool:
    """Return True if the reader model should read the explanation. It never reads fields, or texts
    without letters. With reader `auto` it reads only explanations that the rules could not read."""
    if request.explanation_fields is not None:
        return False
    if request.options.reader_model is None or not any(map(str.isalpha, request.explanation_text)):
        return False
    reader = request.options.reader
    return reader == "llm" or (reader == "auto" and parsed.is_unread)


def _is_second_try(request: HatexscoreRequest, parsed: ParsedExplanation) -> bool:
    """Return True for the reader `auto` if word rules exist for the language. The reader model is
    then optional, so its failure is ignored."""
    return request.options.reader == "auto" and parsed.languages.no_rules is None


def _language_obstacle(request: HatexscoreRequest, parsed: ParsedExplanation) -> Obstacle | None:
    languages = _model_languages(request)
    if request.accept_untrained_languages:
        return None
    return languages.obstacle(parsed.languages.found_explanation, "explanation")


def _model_languages(request: HatexscoreRequest) -> ModelLanguages:
    name = request.options.reader_model or ""
    with pointing_to("/options/reader_model", only=("/model",)):
        return ModelLanguages(name, models().writer(name).languages)


def _prompt(place: int, request: HatexscoreRequest) -> PromptOfRequest:
    classes = request.vocabulary.classes
    schema = ReaderAnswer.model_json_schema()
    schema["properties"]["conclusion"]["enum"] = [*classes, "none"]
    categories, listed = (
        mark.join(json.dumps(name, ensure_ascii=False) for name in names)
        for mark, names in ((", ", _categories(request)), (" | ", classes))
    )
    put = {"{categories}": categories, TWO_CLASSES: listed}
    model = request.options.reader_model or ""
    return PROMPT.question(place, model, request.explanation_text, put, schema)


def _categories(request: HatexscoreRequest) -> tuple[str, ...]:
    return lexicon_of(request, "en").category_names


def _apply_completion(
    request: HatexscoreRequest, parsed: ParsedExplanation, completion: Completion
) -> ParsedExplanation:
    answer = answer_in(completion.text, ReaderAnswer)
    if answer is not None and answer.conclusion not in (*request.vocabulary.classes, "none"):
        answer = None
    if answer is None and _is_second_try(request, parsed):
        return replace(parsed, warnings=(*parsed.warnings, UNREADABLE.detail))
    if answer is None:
        return _without_result(request, parsed, UNREADABLE)
    statement, no_htc = _statement(request.explanation_text, answer)
    stated: Label | None = statement.label if statement else None
    label = request.decision_class or stated
    groups, lost = _groups(request, answer, label)
    tgi = float(any(group.counts for group in groups))
    no_tgi = INVENTED if lost and not tgi else None
    absent = None if tgi or no_tgi else parsed.tgi_not_applicable
    return replace(
        parsed,
        statement=statement,
        htc=None if no_htc else float(statement is not None),
        label=label,
        stated_decision=stated,
        groups=groups,
        tgi=None if no_tgi or absent else tgi,
        attacked=None if parsed.attacked is None else any(group.attacked for group in groups),
        tgi_not_applicable=absent,
        no_htc=no_htc,
        no_tgi=no_tgi,
        reader=_use(request),
        warnings=tuple(_validity_warnings(request, parsed, label, lost=lost or no_htc is not None)),
    )


def _validity_warnings(
    request: HatexscoreRequest, parsed: ParsedExplanation, label: Label | None, *, lost: bool
) -> Iterator[str]:
    """Yield the warnings for an explanation that a language model parsed: unsupported languages, an
    invented quotation (`lost`), and an unknown decision."""
    yield from _model_languages(request).get_warnings(
        parsed.languages.found_explanation, "explanation"
    )
    if lost:
        yield f"{INVENTED.code}: {INVENTED.detail}"
    if label is None:
        yield LABEL_UNKNOWN


def _without_result(
    request: HatexscoreRequest, parsed: ParsedExplanation, obstacle: Obstacle
) -> ParsedExplanation:
    """Set the components that need the reader model to null, with this reason. Rules are not used
    instead, because the request asked for the model."""
    return unread(request, replace(parsed, warnings=(obstacle.detail,)), obstacle, _use(request))


def _use(request: HatexscoreRequest) -> HatexscoreReaderUse:
    return HatexscoreReaderUse(
        by="llm",
        model=request.options.reader_model,
        prompt=PROMPT.name,
        prompt_sha256=PROMPT.sha256,
    )


def _statement(
    explanation: str, answer: ReaderAnswer
) -> tuple[ConclusionStatement | None, Obstacle | None]:
    """Return the stated conclusion and the reason if it is rejected. Both are None if no conclusion
    is stated."""
    if answer.conclusion == "none":
        return None, None
    quote = answer.conclusion_quote or ""
    start = explanation.rfind(quote) if quote.strip() else -1  # the last statement concludes
    if start < 0:
        return None, INVENTED
    return ConclusionStatement(start, start + len(quote), answer.conclusion, "llm"), None


def _groups(
    request: HatexscoreRequest, answer: ReaderAnswer, label: Label | None
) -> tuple[tuple[HatexscoreGroupEvidence, ...], bool]:
    """Return the groups whose category is known and whose quote is in the explanation, each named
    after its category. The boolean is True if a quote is not in the explanation."""
    categories = {name.casefold(): name for name in _categories(request)}
    free = label not in (None, "hateful")
    by_place: dict[tuple[int, str], HatexscoreGroupEvidence] = {}
    lost = False
    for group in answer.groups:
        start = request.explanation_text.find(group.quote) if group.quote.strip() else -1
        lost |= start < 0
        category = categories.get(group.category.strip().casefold())
        if start >= 0 and category is not None:
            by_place[start, category] = HatexscoreGroupEvidence(
                start=start,
                end=start + len(group.quote),
                text=group.quote,
                group=category,
                category=category,
                found_as="language model",
                counts=group.attacked or free,
                attacked=group.attacked,
                reason=READ if group.attacked else NAMED if free else UNATTACKED,
                by="llm",
            )
    return tuple(by_place[key] for key in sorted(by_place)), lost
