"""Model calls of polarity: every pair of a unit and what resembles it once, one call a model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from services.cot2el.contract import DEFAULT_NLI, Cot2elRequest, Polarity
from services.cot2el.polarity import (
    CUES,
    UNREAD,
    PolarityReading,
    ReadPolarity,
    by_cues,
    by_probability,
    is_negated_copy,
    without_polarity,
)
from services.cot2el.refinement import AlignedReasoning, RefinedReasoning
from services.cot2el.segmentation import Language
from services.cot2el.variants import VARIANTS
from shared.contracts.calls import Example
from shared.contracts.errors import BadInput, pointing_to
from shared.contracts.messages import ModelUse
from shared.models.ports import Judge, models
from shared.text.language import canonical

CONTRADICTION = "contradiction"
LABELS = ("contradiction", "entailment", "neutral")

Texts = tuple[str, str]  # unit, explanation


def refine_drafts(
    aligned: Sequence[AlignedReasoning], requests: Sequence[Cot2elRequest]
) -> list[RefinedReasoning]:
    """With what became of every pair; one call a model for all requests."""
    told = [in_force(request, own) for request, own in zip(requests, aligned, strict=True)]
    wanted: dict[str, dict[Texts, None]] = {}
    for request, own, polarity in zip(requests, aligned, told, strict=True):
        if polarity == "nli":
            wanted.setdefault(_name(request), {}).update(dict.fromkeys(own.matching_pairs()))
    readings = {name: _classify_pairs(name, list(pairs)) for name, pairs in wanted.items()}
    return [
        own.refine(_reader(polarity, own, readings.get(_name(request), {})), polarity)
        for request, own, polarity in zip(requests, aligned, told, strict=True)
    ]


def in_force(request: Cot2elRequest, aligned: AlignedReasoning) -> Polarity:
    """As requested; cues where no model reads the language."""
    polarity = request.polarity or VARIANTS[request.variant].polarity
    if polarity != "nli":
        return polarity
    judge = _judge(request)
    if judge is None:
        return "cues"
    learned = {canonical(each) for each in judge.languages if each != "*"}
    known = request.accept_untrained_languages or not learned or aligned.language in learned
    return "nli" if known else "cues"


def nli_use(request: Cot2elRequest, refinement: RefinedReasoning) -> list[ModelUse]:
    """The model of inference, where it was asked."""
    judge = _judge(request) if refinement.polarity == "nli" else None
    return [] if judge is None else [judge.use]


def _judge(request: Cot2elRequest) -> Judge | None:
    """None where the service's own is not configured. Raises BadInput for a model that was named
    and does not tell the three labels."""
    try:
        with pointing_to("/nli_model"):
            judge = models().judge(_name(request))
            labels = judge.labels_of(Example(text="", text_pair=""))
            if sorted(label.lower() for label in labels) != list(LABELS):
                raise BadInput(f"the labels of {_name(request)} must be {', '.join(LABELS)}")
            return judge
    except BadInput:
        if request.nli_model is not None:
            raise
        return None


def _name(request: Cot2elRequest) -> str:
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


def _reader(
    polarity: Polarity, own: AlignedReasoning, readings: dict[Texts, PolarityReading]
) -> ReadPolarity:
    if polarity == "none":
        return without_polarity
    if polarity == "cues":
        return by_cues(own.language) if own.language in CUES else lambda unit, said: UNREAD
    return lambda unit, said: _correct_by_cues(readings[unit, said], unit, said, own.language)


def _correct_by_cues(
    found: PolarityReading, unit: str, said: str, language: Language
) -> PolarityReading:
    """The model's reading, unless it is blind to a "not"; a pair it did not read stays unread."""
    blind = found.polarity == "kept" and language in CUES
    if blind and is_negated_copy(unit, said, language):
        return replace(found, polarity="contradicted")
    return found
