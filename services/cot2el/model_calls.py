"""Drafts by a language model, and comparisons with humans by a similarity model and a tagger.

One call a similarity model for all requests; see `stages` for the language model. Parts of speech
need an English spaCy model on the machine: a plug-in, no requirement.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, islice
from threading import Lock
from typing import Any

from services.cot2el.agreement import TextSimilarity
from services.cot2el.contract import Cot2elRequest
from services.cot2el.polarity_calls import nli_use, refine_drafts
from services.cot2el.refinement import RefinedReasoning, align_draft
from services.cot2el.stages import ReasoningDraft, drafts
from shared.contracts.calls import Pair
from shared.contracts.errors import pointing_to
from shared.contracts.messages import ModelUse
from shared.contracts.questions import Explanation
from shared.models.ports import models
from shared.reports.metric import Collected
from shared.text.language import ModelLanguages
from shared.text.segments import segments

Texts = tuple[str, str]
Cosines = dict[str, tuple[ModelUse, dict[Texts, float]]]  # similarity model → cosines

LONGEST_RUN = 100  # characters without a blank
ALONE = Lock()  # one thread tags at a time
PREFERRED = ("en_core_web_md", "en_core_web_sm")  # the paper's own first


@dataclass(frozen=True, slots=True, kw_only=True)
class Cot2elCollected(Collected):
    """One request's draft, its refinement, and the similarities to human pairs."""

    draft: ReasoningDraft
    refinement: RefinedReasoning
    measures: TextSimilarity | None  # None: no human pairs
    tagger: str | None


def draft_and_compare(requests: Sequence[Cot2elRequest]) -> list[Cot2elCollected]:
    """Every request, drafted, refined and compared."""
    drafted = drafts(requests)
    refinements = refine_drafts([align_draft(draft) for draft in drafted], requests)
    cosines = _cosine_similarity(requests, refinements)
    return [
        _collect_one(draft, refinement, cosines)
        for draft, refinement in zip(drafted, refinements, strict=True)
    ]


def _collect_one(
    draft: ReasoningDraft, refinement: RefinedReasoning, cosines: Cosines
) -> Cot2elCollected:
    request, measures, tagger = draft.request, None, None
    uses = [models().writer(name).use for name in _model_names(request)]
    uses += nli_use(request, refinement)
    if request.human_pairs is not None:
        compared = cosines.get(request.similarity or "")
        if compared is not None:
            uses.append(compared[0])
        english = refinement.language == "en"
        pairs = (*refinement.filtered, *refinement.parsed, *request.human_pairs)
        measures = TextSimilarity(
            words=_words(refinement.language),
            tags=tags([pair.explanation for pair in pairs]) if english else None,
            cosines=compared[1] if compared is not None else None,
        )
        tagger = tagger_name() if english else None
    return Cot2elCollected(
        draft=draft,
        refinement=refinement,
        measures=measures,
        tagger=tagger,
        models=tuple(uses),
        warnings=draft.warnings,
    )


def model_languages(request: Cot2elRequest) -> tuple[ModelLanguages, ...]:
    names = _model_names(request)
    return tuple(ModelLanguages(name, models().writer(name).languages) for name in names)


def _model_names(request: Cot2elRequest) -> list[str]:
    """The language models that worked on it, each once."""
    if request.model is None:
        return []
    second = request.writing.structuring_model if request.writing else None
    return list(dict.fromkeys([request.model, second or request.model]))


def _cosine_similarity(
    requests: Sequence[Cot2elRequest], refinements: Sequence[RefinedReasoning]
) -> Cosines:
    """Of every found text and every human one, by similarity model."""
    by_model: dict[str, dict[Texts, None]] = {}
    for request, refinement in zip(requests, refinements, strict=True):
        if request.similarity is not None and request.human_pairs is not None:
            pairs = by_model.setdefault(request.similarity, {})
            pairs |= dict.fromkeys(_pairs(request.human_pairs, refinement))
    found = {}
    for name, pairs in by_model.items():
        with pointing_to("/similarity"):
            model = models().similarity(name)
        values = model.similarities([Pair(a=a, b=b) for a, b in pairs]).tolist()
        found[name] = model.use, dict(zip(pairs, values, strict=True))
    return found


def _pairs(human: Sequence[Explanation], refinement: RefinedReasoning) -> list[Texts]:
    """Texts that can meet: of the same label and stance."""
    return [
        (found.explanation, marked.explanation)
        for found in (*refinement.filtered, *refinement.parsed)
        for marked in human
        if (found.label, found.stance) == (marked.label, marked.stance)
    ]


def _words(language: str) -> Callable[[str], Sequence[str]]:
    """Lower-case words; characters where a script sets no spaces."""
    if language in ("zh", "ja"):
        return lambda text: [letter for letter in text.lower() if not letter.isspace()]
    return lambda text: text.lower().split()


@lru_cache(maxsize=1)
def tagger_name() -> str | None:
    """The installed model, or None. spaCy is imported here: the import alone takes seconds."""
    import spacy

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
    import spacy

    return spacy.load(tagger_name(), exclude=["parser", "ner", "lemmatizer"])


def _is_english(name: str) -> bool:
    return name.startswith("en_core_web_")
