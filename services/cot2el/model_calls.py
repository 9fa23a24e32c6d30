"""Calls the models of CoT2EL: inference models, similarity models and a tagger. All requests share
one call per model. `stages` calls the language model. Part-of-speech tags need an English spaCy
model, which is optional."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain, islice
from threading import Lock
from typing import Any

from services.cot2el.agreement import TextSimilarity
from services.cot2el.contract import DEFAULT_NLI, Cot2elRequest, Polarity
from services.cot2el.refinement import (
    UNREAD,
    AlignedReasoning,
    PolarityReading,
    ReadPolarity,
    RefinedReasoning,
    align_draft,
    by_cues,
    by_probability,
    is_negated_copy,
    without_polarity,
)
from services.cot2el.segmentation import Language
from services.cot2el.stages import ReasoningDraft, write_drafts
from services.cot2el.variants import VARIANTS
from shared.contracts.calls import Example, Pair
from shared.contracts.errors import BadInput, pointing_to
from shared.contracts.messages import ModelUse
from shared.contracts.questions import Explanation
from shared.models.ports import Judge, models
from shared.reports.metric import Collected
from shared.text.changed_meaning import NEGATIONS
from shared.text.language import ModelLanguages, canonical
from shared.text.segments import segments

CONTRADICTION = "contradiction"
LABELS = ("contradiction", "entailment", "neutral")

Texts = tuple[str, str]


def refine_drafts(
    aligned: Sequence[AlignedReasoning], requests: Sequence[Cot2elRequest]
) -> list[RefinedReasoning]:
    """Check if the unit (part of the chain of thought) aligned with each explanation says the same,
    and return the refined explanations. Makes one call per inference model for all requests."""
    polarities = [
        in_force(request, draft) for request, draft in zip(requests, aligned, strict=True)
    ]
    rows = list(zip(requests, aligned, polarities, strict=True))
    pairs_by_model: dict[str, dict[Texts, None]] = {}
    for request, draft, polarity in rows:
        if polarity == "nli":
            pairs = pairs_by_model.setdefault(_nli_name(request), {})
            pairs.update(dict.fromkeys(draft.matching_pairs()))
    readings = {name: _classify_pairs(name, list(pairs)) for name, pairs in pairs_by_model.items()}
    return [
        draft.refine(
            _polarity_reader(polarity, draft.language, readings.get(_nli_name(request), {})),
            polarity,
        )
        for request, draft, polarity in rows
    ]


def in_force(request: Cot2elRequest, aligned: AlignedReasoning) -> Polarity:
    """Return the polarity check to use: the request's, or `cues` if `nli` has no model for the
    language."""
    polarity = request.polarity or VARIANTS[request.variant].polarity
    if polarity != "nli":
        return polarity
    judge = _nli_judge(request)
    if judge is None:
        return "cues"
    languages = {canonical(language) for language in judge.languages if language != "*"}
    accepted = request.accept_untrained_languages or not languages or aligned.language in languages
    return "nli" if accepted else "cues"


def _nli_judge(request: Cot2elRequest) -> Judge | None:
    """Return the inference model, or None if the default model is not configured. Raises BadInput
    if the request's model does not have the three labels."""
    try:
        with pointing_to("/nli_model"):
            judge = models().judge(_nli_name(request))
            labels = judge.labels_of(Example(text="", text_pair=""))
            if sorted(label.lower() for label in labels) != list(LABELS):
                raise BadInput(
                    f"the labels of {_nli_name(request)} must be {', '.join(LABELS)}; choose a "
                    "model that has them"
                )
            return judge
    except BadInput:
        if request.nli_model is not None:
            raise
        return None


def _nli_name(request: Cot2elRequest) -> str:
    return request.nli_model or DEFAULT_NLI


def _classify_pairs(name: str, pairs: Sequence[Texts]) -> dict[Texts, PolarityReading]:
    if not pairs:
        return {}
    judge = models().judge(name)
    examples = [Example(text=unit, text_pair=explanation) for unit, explanation in pairs]
    labels = [label.lower() for label in judge.labels_of(examples[0])]
    contradiction = labels.index(CONTRADICTION)
    readings = {}
    for pair, judgement in zip(pairs, judge.judgements(examples), strict=True):
        fine = judgement.fine()
        is_read = fine.unread is None and fine.read_share == 1
        readings[pair] = (
            by_probability(float(fine.among_labels()[contradiction])) if is_read else UNREAD
        )
    return readings


def _polarity_reader(
    polarity: Polarity, language: Language, readings: dict[Texts, PolarityReading]
) -> ReadPolarity:
    if polarity == "none":
        return without_polarity
    if polarity == "cues":
        return by_cues(language) if language in NEGATIONS else lambda unit, explanation: UNREAD

    def read(unit: str, explanation: str) -> PolarityReading:
        reading = readings[unit, explanation]
        # small models miss a "not"; cues find it in texts that are otherwise equal
        may_miss = reading.polarity == "kept" and language in NEGATIONS
        if may_miss and is_negated_copy(unit, explanation, language):
            return replace(reading, polarity="contradicted")
        return reading

    return read


Cosines = dict[str, tuple[ModelUse, dict[Texts, float]]]  # similarity model → cosines

LONGEST_RUN = 100  # characters without white space
ALONE = Lock()  # spaCy's pipeline is not thread-safe
PREFERRED = ("en_core_web_md", "en_core_web_sm")  # the paper's model first


@dataclass(frozen=True, slots=True, kw_only=True)
class Cot2elCollected(Collected):
    """The explanations extracted for one request, and their similarities to human ones."""

    draft: ReasoningDraft
    refinement: RefinedReasoning
    measures: TextSimilarity | None  # None: no human pairs
    tagger: str | None


def draft_and_compare(requests: Sequence[Cot2elRequest]) -> list[Cot2elCollected]:
    """Extract the explanations of every request, align them with units of the reasoning, and
    compare them with human ones."""
    drafted = write_drafts(requests)
    refinements = refine_drafts([align_draft(draft) for draft in drafted], requests)
    cosines = _cosine_similarity(requests, refinements)
    pairs = zip(drafted, refinements, strict=True)
    return [_collect(draft, refinement, cosines) for draft, refinement in pairs]


def _collect(
    draft: ReasoningDraft, refinement: RefinedReasoning, cosines: Cosines
) -> Cot2elCollected:
    request, measures, tagger = draft.request, None, None
    uses = [models().writer(name).use for name in _model_names(request)]
    judge = _nli_judge(request) if refinement.polarity == "nli" else None
    uses += [] if judge is None else [judge.use]
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
    if request.model is None:
        return []
    second = request.writing.structuring_model if request.writing else None
    return list(dict.fromkeys([request.model, second or request.model]))


def _cosine_similarity(
    requests: Sequence[Cot2elRequest], refinements: Sequence[RefinedReasoning]
) -> Cosines:
    by_model: dict[str, dict[Texts, None]] = {}
    for request, refinement in zip(requests, refinements, strict=True):
        if request.similarity is not None and request.human_pairs is not None:
            pairs = by_model.setdefault(request.similarity, {})
            pairs |= dict.fromkeys(_pairs(request.human_pairs, refinement))
    cosines = {}
    for name, pairs in by_model.items():
        with pointing_to("/similarity"):
            model = models().similarity(name)
        values = model.similarities([Pair(a=a, b=b) for a, b in pairs]).tolist()
        cosines[name] = model.use, dict(zip(pairs, values, strict=True))
    return cosines


def _pairs(human: Sequence[Explanation], refinement: RefinedReasoning) -> list[Texts]:
    """Return all (explanation, human explanation) pairs that have the same label and stance."""
    return [
        (parsed.explanation, marked.explanation)
        for parsed in (*refinement.filtered, *refinement.parsed)
        for marked in human
        if (parsed.label, parsed.stance) == (marked.label, marked.stance)
    ]


def _words(language: str) -> Callable[[str], Sequence[str]]:
    if language in ("zh", "ja"):
        return lambda text: [letter for letter in text.lower() if not letter.isspace()]
    return lambda text: text.lower().split()


@lru_cache(maxsize=1)
def tagger_name() -> str | None:
    """Return the name of the installed spaCy model, or None. Importing spaCy takes seconds."""
    import spacy

    installed = sorted(
        name for name in spacy.util.get_installed_models() if name.startswith("en_core_web_")
    )
    return next((name for name in PREFERRED if name in installed), next(iter(installed), None))


def tags(texts: Sequence[str]) -> dict[str, tuple[str, ...]] | None:
    """Return a mapping from each text to its universal part-of-speech tags, or None if no model is
    installed."""
    if tagger_name() is None:
        return None
    distinct = list(dict.fromkeys(texts))
    parts = [[text[a:b] for a, b in segments(text, LONGEST_RUN)] for text in distinct]
    with ALONE:
        docs = _tagger().pipe(chain.from_iterable(parts))
        return {
            text: tuple(token.pos_ for doc in islice(docs, len(segments_of_text)) for token in doc)
            for text, segments_of_text in zip(distinct, parts, strict=True)
        }


@lru_cache(maxsize=1)
def _tagger() -> Any:
    import spacy

    return spacy.load(tagger_name(), exclude=["parser", "ner", "lemmatizer"])
