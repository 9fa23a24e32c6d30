"""Which texts go to which model: drafts by a language model, comparisons by a similarity model.

One call a similarity model for all requests; see `drafting` for the language model.

Parts of speech, where an English spaCy model is installed: a plug-in, not a requirement.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, islice
from threading import Lock
from typing import Any

import spacy

from services.cot2el.agreement import Measures
from services.cot2el.contract import Cot2elRequest
from services.cot2el.refinement import RefinedReasoning, read
from services.cot2el.stages import ReasoningDraft, drafts
from shared.contracts import ModelUse
from shared.errors import pointing_to
from shared.metric import Collected
from shared.models.calls import Pair
from shared.models.ports import Similarity, models
from shared.questions import Explanation
from shared.segments import segments

Texts = tuple[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cot2elCollected(Collected):
    """One request's draft, what its refinement gave, and what compares it with humans."""

    draft: ReasoningDraft
    reading: RefinedReasoning
    measures: Measures | None  # None: no human pairs
    tagger: str | None


def gather(requests: Sequence[Cot2elRequest]) -> list[Cot2elCollected]:
    """Every request, drafted, refined and measured."""
    drafted = drafts(requests)
    readings = [read(draft) for draft in drafted]
    cosines = _cosines(requests, readings)
    return [
        _gathered(draft, reading, cosines) for draft, reading in zip(drafted, readings, strict=True)
    ]


def _gathered(
    draft: ReasoningDraft,
    reading: RefinedReasoning,
    cosines: dict[str, tuple[ModelUse, dict[Texts, float]]],
) -> Cot2elCollected:
    request = draft.request
    uses = [models().writer(name).use for name in _writers(request)]
    if request.human_pairs is None:
        return _collected(draft, reading, uses)
    compared = cosines.get(request.similarity or "")
    if compared is not None:
        uses.append(compared[0])
    english = reading.language == "en"
    texts = _texts(request.human_pairs, reading)
    measures = Measures(
        words=_words(reading.language),
        tags=tags(texts) if english else None,
        cosines=compared[1] if compared is not None else None,
    )
    tagger = tagger_name() if english else None
    return _collected(draft, reading, uses, measures, tagger)


def _collected(
    draft: ReasoningDraft,
    reading: RefinedReasoning,
    uses: Sequence[ModelUse],
    measures: Measures | None = None,
    tagger: str | None = None,
) -> Cot2elCollected:
    return Cot2elCollected(
        draft=draft,
        reading=reading,
        measures=measures,
        tagger=tagger,
        models=tuple(uses),
        warnings=draft.warnings,
    )


def _writers(request: Cot2elRequest) -> list[str]:
    """The language models that worked on it, each once."""
    if request.model is None:
        return []
    second = request.writing.structuring_model if request.writing else None
    return list(dict.fromkeys([request.model, second or request.model]))


def _cosines(
    requests: Sequence[Cot2elRequest], readings: Sequence[RefinedReasoning]
) -> dict[str, tuple[ModelUse, dict[Texts, float]]]:
    """Per similarity model, how alike every found text is to every human one."""
    asked: dict[str, dict[Texts, None]] = {}
    for request, reading in zip(requests, readings, strict=True):
        if request.similarity is not None and request.human_pairs is not None:
            pairs = asked.setdefault(request.similarity, {})
            pairs |= dict.fromkeys(_pairs(request.human_pairs, reading))
    found = {}
    for name, pairs in asked.items():
        model = _similarity(name)
        values = model.similarities([Pair(a=a, b=b) for a, b in pairs]).tolist()
        found[name] = model.use, dict(zip(pairs, values, strict=True))
    return found


def _similarity(name: str) -> Similarity:
    with pointing_to("/similarity"):
        return models().similarity(name)


def _pairs(human: Sequence[Explanation], reading: RefinedReasoning) -> list[Texts]:
    """Texts that can meet: of the same label and stance."""
    return [
        (found.explanation, marked.explanation)
        for found in (*reading.filtered, *reading.parsed)
        for marked in human
        if (found.label, found.stance) == (marked.label, marked.stance)
    ]


def _texts(human: Sequence[Explanation], reading: RefinedReasoning) -> list[str]:
    return [pair.explanation for pair in (*reading.filtered, *reading.parsed, *human)]


def _words(language: str) -> Callable[[str], Sequence[str]]:
    """Lower-case words; characters where a script sets no spaces."""
    if language in ("zh", "ja"):
        return lambda text: [letter for letter in text.lower() if not letter.isspace()]
    return lambda text: text.lower().split()


LONGEST_RUN = 100  # characters without a blank
ALONE = Lock()  # one thread tags at a time
PREFERRED = ("en_core_web_md", "en_core_web_sm")  # the paper's own first


@lru_cache(maxsize=1)
def tagger_name() -> str | None:
    """The installed model, or None."""
    installed = sorted(name for name in spacy.util.get_installed_models() if _is_english(name))
    return next((name for name in PREFERRED if name in installed), next(iter(installed), None))


def tags(texts: Sequence[str]) -> dict[str, tuple[str, ...]] | None:
    """text → its universal part-of-speech tags; None where no model is installed."""
    if tagger_name() is None:
        return None
    distinct = list(dict.fromkeys(texts))
    parts = [[text[a:b] for a, b in segments(text, LONGEST_RUN)] for text in distinct]
    with ALONE:
        docs = _tagger().pipe(chain.from_iterable(parts))
        return {
            text: tuple(token.pos_ for doc in islice(docs, len(own)) for token in doc)
            for text, own in zip(distinct, parts, strict=True)
        }


@lru_cache(maxsize=1)
def _tagger() -> Any:
    return spacy.load(tagger_name(), exclude=["parser", "ner", "lemmatizer"])


def _is_english(name: str) -> bool:
    return name.startswith("en_core_web_")
