"""Drafts by a language model, and comparisons with humans by a similarity model and a tagger.

One call per similarity model for all requests, and one per model of inference, which reads every
pair of a unit and an explanation that resembles it; see `stages` for the language model. Parts of
speech need an English spaCy model on the machine, which is a plug-in and no requirement.
"""

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
from services.cot2el.stages import ReasoningDraft, drafts
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
    """With what became of every pair; one call a model for all requests."""
    told = [in_force(request, own) for request, own in zip(requests, aligned, strict=True)]
    wanted: dict[str, dict[Texts, None]] = {}
    for request, own, polarity in zip(requests, aligned, told, strict=True):
        if polarity == "nli":
            wanted.setdefault(_nli_name(request), {}).update(dict.fromkeys(own.matching_pairs()))
    readings = {name: _classify_pairs(name, list(pairs)) for name, pairs in wanted.items()}
    return [
        own.refine(_polarity_reader(polarity, own, readings.get(_nli_name(request), {})), polarity)
        for request, own, polarity in zip(requests, aligned, told, strict=True)
    ]


def in_force(request: Cot2elRequest, aligned: AlignedReasoning) -> Polarity:
    """As requested; cues where no model reads the language."""
    polarity = request.polarity or VARIANTS[request.variant].polarity
    if polarity != "nli":
        return polarity
    judge = _nli_judge(request)
    if judge is None:
        return "cues"
    learned = {canonical(each) for each in judge.languages if each != "*"}
    known = request.accept_untrained_languages or not learned or aligned.language in learned
    return "nli" if known else "cues"


def nli_use(request: Cot2elRequest, refinement: RefinedReasoning) -> list[ModelUse]:
    """The model of inference, where it was asked."""
    judge = _nli_judge(request) if refinement.polarity == "nli" else None
    return [] if judge is None else [judge.use]


def _nli_judge(request: Cot2elRequest) -> Judge | None:
    """None where the service's own is not configured. Raises BadInput for a model that was named
    and does not tell the three labels."""
    try:
        with pointing_to("/nli_model"):
            judge = models().judge(_nli_name(request))
            labels = judge.labels_of(Example(text="", text_pair=""))
            if sorted(label.lower() for label in labels) != list(LABELS):
                raise BadInput(f"the labels of {_nli_name(request)} must be {', '.join(LABELS)}")
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
    examples = [Example(text=unit, text_pair=said) for unit, said in pairs]
    labels = [label.lower() for label in judge.labels_of(examples[0])]
    place = labels.index(CONTRADICTION)
    found = {}
    for pair, judgement in zip(pairs, judge.judgements(examples), strict=True):
        read = judgement.fine()
        whole = read.unread is None and read.read_share == 1
        found[pair] = by_probability(float(read.among_labels()[place])) if whole else UNREAD
    return found


def _polarity_reader(
    polarity: Polarity, own: AlignedReasoning, readings: dict[Texts, PolarityReading]
) -> ReadPolarity:
    if polarity == "none":
        return without_polarity
    if polarity == "cues":
        return by_cues(own.language) if own.language in NEGATIONS else lambda unit, said: UNREAD
    return lambda unit, said: _correct_by_cues(readings[unit, said], unit, said, own.language)


def _correct_by_cues(
    found: PolarityReading, unit: str, said: str, language: Language
) -> PolarityReading:
    """The model's reading, unless it is blind to a "not"; a pair it did not read stays unread."""
    blind = found.polarity == "kept" and language in NEGATIONS
    if blind and is_negated_copy(unit, said, language):
        return replace(found, polarity="contradicted")
    return found


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

    installed = sorted(
        name for name in spacy.util.get_installed_models() if name.startswith("en_core_web_")
    )
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
