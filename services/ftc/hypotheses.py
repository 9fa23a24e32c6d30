"""The hypotheses that the model is asked about: counterfactual ones, and random ones beside each.

Source: Sia et al., AAAI 2023, arXiv:2205.12469, Table 2 and Propositions 1 to 3.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from services.ftc import llm_extraction
from services.ftc.contract import FtcRequest
from services.ftc.counterfactuals import EditedHypothesis, Slot, Window, windows
from services.ftc.extraction import extract
from services.ftc.kernel import Floats
from services.ftc.nulls import RandomPhrases, random_phrases
from services.ftc.phrases import MOST_CHARACTERS, Phrase, Shape, phrase, shape
from services.ftc.report import LABELS, FtcExtraction, FtcSpanEvidence, Kind, NliLabel
from services.ftc.variants import VARIANTS

# A equals B: what holds of the one holds of the other.            E -> E
# A does not equal B: with the other span the hypothesis holds.    C -> E
# A does not imply B: A holds, B stays open.                       N[A] -> E, N[B] -> N
TARGETS: dict[NliLabel, dict[Kind, NliLabel]] = {
    "entailment": {"substituted": "entailment"},
    "contradiction": {"substituted": "entailment"},
    "neutral": {"a": "entailment", "b": "neutral"},
}


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """A counterfactual hypothesis and its random counterparts."""

    kind: Kind
    text: str
    random: RandomPhrases


@dataclass(frozen=True, slots=True)
class FtcHypotheses:
    """The counterfactuals of a request's hypothesis, or why there are none."""

    label: NliLabel
    extraction: FtcExtraction
    evidence: tuple[FtcSpanEvidence, ...]
    hypotheses: tuple[Hypothesis, ...]
    abstained: str | None
    writers: tuple[str, ...] = ()  # language models that wrote them


def derive_hypotheses(
    requests: Sequence[FtcRequest], labels: Sequence[NliLabel]
) -> list[FtcHypotheses]:
    """One a request, in order; extractor `llm` takes two calls for all of them."""
    pairs = list(zip(requests, labels, strict=True))
    places = [
        i
        for i, request in enumerate(requests)
        if request.counterfactuals is None and request.extractor == "llm"
    ]
    written = llm_extraction.write_counterfactuals([pairs[i] for i in places])
    by_place = dict(zip(places, written, strict=True))
    return [
        _from_language_model(*pair, by_place[i])
        if i in by_place
        else _from_caller(*pair)
        if pair[0].counterfactuals is not None
        else _from_rules(*pair)
        for i, pair in enumerate(pairs)
    ]


def _from_rules(request: FtcRequest, label: NliLabel) -> FtcHypotheses:
    printed = VARIANTS[request.variant].printed_patterns
    found = extract(label, request.hypothesis, request.explanation, printed=printed)
    how = " + ".join(made.how for made in found.made) or None
    return FtcHypotheses(
        label,
        FtcExtraction(extractor="rules", rule=found.rule, transformation=how),
        _evidence(request, found.a, found.b, found.made),
        tuple(_with_null(request, made) for made in found.made),
        found.reason,
    )


def _from_caller(request: FtcRequest, label: NliLabel) -> FtcHypotheses:
    given = {one.kind: one.text for one in request.counterfactuals or ()}
    made = [
        EditedHypothesis(
            kind, given[kind], "supplied", changed_slot(given[kind], request.hypothesis), None
        )
        for kind in TARGETS[label]
        if kind in given
    ]
    extraction = FtcExtraction(extractor="supplied", rule=None, transformation=None)
    hypotheses = tuple(_with_null(request, one) for one in made)
    return FtcHypotheses(label, extraction, (), hypotheses, None)


def _from_language_model(
    request: FtcRequest, label: NliLabel, written: llm_extraction.GeneratedCounterfactual
) -> FtcHypotheses:
    made = [
        EditedHypothesis(kind, text, "llm", changed_slot(text, request.hypothesis), None)
        for kind, text in written.texts
    ]
    extraction = FtcExtraction(
        extractor="llm", rule=None, transformation=None, completions=written.completions
    )
    spans = [_find_span(request.explanation, text) for text in written.spans]
    a, b = spans if len(spans) == 2 else (None, None)
    return FtcHypotheses(
        label,
        extraction,
        _evidence(request, a, b, ()),
        tuple(_with_null(request, one) for one in made),
        written.reason,
        (request.writer or "",),
    )


def _find_span(explanation: str, text: str) -> Phrase | None:
    start = explanation.lower().find(text.lower())
    return phrase(explanation, start, start + len(text)) if start >= 0 and text else None


def _with_null(request: FtcRequest, made: EditedHypothesis) -> Hypothesis:
    return Hypothesis(made.kind, made.text, random_phrases(request, made))


def _evidence(
    request: FtcRequest, a: Phrase | None, b: Phrase | None, made: Sequence[EditedHypothesis]
) -> tuple[FtcSpanEvidence, ...]:
    spans = [
        FtcSpanEvidence(
            kind="a" if side is a else "b",
            offsets_into="explanation",
            start=side.start,
            end=side.end,
            text=side.text,
            phrase=side.type,
        )
        for side in (a, b)
        if side is not None
    ]
    gaps = [one.slot.target_span for one in made if one.slot and one.how == "swap"]
    replaced = [
        FtcSpanEvidence(
            kind="replaced",
            offsets_into="hypothesis",
            start=gap[0],
            end=gap[1],
            text=request.hypothesis[gap[0] : gap[1]],
            phrase=None,
        )
        for gap in gaps
        if gap
    ]
    return (*spans, *replaced)


def changed_slot(text: str, original: str) -> Slot | None:
    """The place where a counterfactual of unknown making differs from the hypothesis: the smallest
    phrase around it; the predicate where there is none."""
    if max(len(text), len(original)) > MOST_CHARACTERS:
        return None
    new, old = shape(text), shape(original)
    if new is None or old is None:
        return None
    first, end = _diff_span(new, old)
    around = [w for w in windows(new) if w.first <= first and end <= w.end and first < end]
    if around:
        best: Window = min(around, key=lambda w: w.end - w.first)
        return Slot(new, "swap", best)
    return Slot(new, "predicate") if new.who else None


def _diff_span(new: Shape, old: Shape) -> tuple[int, int]:
    """The words of `new` between the common beginning and the common end."""
    ours, theirs = ([w.text.lower() for w in one.words] for one in (new, old))
    first = 0
    while first < min(len(ours), len(theirs)) and ours[first] == theirs[first]:
        first += 1
    back = 0
    while back < min(len(ours), len(theirs)) - first and ours[-1 - back] == theirs[-1 - back]:
        back += 1
    return first, len(ours) - back


def target(label: NliLabel, kind: Kind) -> NliLabel:
    """The label that the counterfactual should get. Raises KeyError for a kind without meaning."""
    return TARGETS[label][kind]


def targets_of(request: FtcRequest, derived: FtcHypotheses) -> Floats:
    """(N, 3): the logic's own, or the distributions that were sent."""
    rows = []
    for hypothesis in derived.hypotheses:
        sent = request.targets.get(hypothesis.kind)
        if sent is not None:
            row = np.array([sent.entailment, sent.neutral, sent.contradiction])
            rows.append(row / row.sum())
        else:
            rows.append(np.eye(3)[LABELS.index(target(derived.label, hypothesis.kind))])
    return np.array(rows).reshape(-1, 3)
