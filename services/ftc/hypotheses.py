"""The hypotheses that the model is asked about: counterfactual ones, and random ones beside each.

Source: Sia et al., AAAI 2023, arXiv:2205.12469, Table 2 and Propositions 1 to 3. The null is our
own, after that of arXiv:2603.18579 (ICE): a model that answers "entailment" to any edit satisfies
every explanation, so phrases of the same type, from other examples, stand in the same place. The
generator is keyed by seed and content, so that batches and order do not matter.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from services.ftc import llm_extraction
from services.ftc.contract import FtcRequest
from services.ftc.counterfactuals import EditedHypothesis, Slot, Window, same_words, windows
from services.ftc.extraction import extract
from services.ftc.phrases import MOST_CHARACTERS, Phrase, Shape, phrase, shape
from services.ftc.report import FtcExtraction, FtcSpanEvidence, Kind, NliLabel, PhraseType
from services.ftc.variants import VARIANTS
from shared.statistics.seeds import generator_1_0

SUBSTITUTES_FILE = Path(__file__).parent / "data" / "substitutes.json"  # written for this project
FEWEST = 5  # a null of fewer phrases says nothing

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
    null: tuple[str, ...]
    doubt: str | None  # why there is no null


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
            kind, given[kind], "supplied", edited_slot(given[kind], request.hypothesis), None
        )
        for kind in TARGETS[label]
        if kind in given
    ]
    extraction = FtcExtraction(extractor="supplied", rule=None, transformation=None)
    hypotheses = tuple(_with_null(request, one) for one in made)
    return FtcHypotheses(label, extraction, (), hypotheses, None)


def _from_language_model(
    request: FtcRequest, label: NliLabel, written: llm_extraction.WrittenCounterfactual
) -> FtcHypotheses:
    made = [
        EditedHypothesis(kind, text, "llm", edited_slot(text, request.hypothesis), None)
        for kind, text in written.texts
    ]
    extraction = FtcExtraction(
        extractor="llm", rule=None, transformation=None, completions=written.completions
    )
    spans = [_located(request.explanation, text) for text in written.spans]
    a, b = spans if len(spans) == 2 else (None, None)
    return FtcHypotheses(
        label,
        extraction,
        _evidence(request, a, b, ()),
        tuple(_with_null(request, one) for one in made),
        written.reason,
        (request.writer or "",),
    )


def _located(explanation: str, text: str) -> Phrase | None:
    start = explanation.lower().find(text.lower())
    return phrase(explanation, start, start + len(text)) if start >= 0 and text else None


def _with_null(request: FtcRequest, made: EditedHypothesis) -> Hypothesis:
    if request.draws == 0:
        return Hypothesis(made.kind, made.text, (), "no draws were requested")
    if made.slot is None:
        return Hypothesis(made.kind, made.text, (), "no place for a random phrase is known")
    null = random_hypotheses(made.slot, made.text, request.substitutes, request.seed, request.draws)
    doubt = None if null else f"too few phrases that fit there ({made.slot.takes})"
    return Hypothesis(made.kind, made.text, tuple(null), doubt)


def _evidence(
    request: FtcRequest,
    a: Phrase | None,
    b: Phrase | None,
    made: Sequence[EditedHypothesis],
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
    gaps = [one.slot.replaced for one in made if one.slot and one.how == "swap"]
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


def edited_slot(text: str, original: str) -> Slot | None:
    """The place where a counterfactual of unknown making differs from the hypothesis: the smallest
    phrase around it; the predicate where there is none."""
    if max(len(text), len(original)) > MOST_CHARACTERS:
        return None
    new, old = shape(text), shape(original)
    if new is None or old is None:
        return None
    first, end = _difference(new, old)
    around = [w for w in windows(new) if w.first <= first and end <= w.end and first < end]
    if around:
        best: Window = min(around, key=lambda w: w.end - w.first)
        return Slot(new, "swap", best)
    return Slot(new, "predicate") if new.who else None


def _difference(new: Shape, old: Shape) -> tuple[int, int]:
    """The words of `new` between the common beginning and the common end."""
    ours, theirs = ([w.text.lower() for w in one.words] for one in (new, old))
    first = 0
    while first < min(len(ours), len(theirs)) and ours[first] == theirs[first]:
        first += 1
    back = 0
    while back < min(len(ours), len(theirs)) - first and ours[-1 - back] == theirs[-1 - back]:
        back += 1
    return first, len(ours) - back


@lru_cache(maxsize=1)
def own_substitutes() -> tuple[str, ...]:
    found: list[str] = json.loads(SUBSTITUTES_FILE.read_text("utf-8"))["phrases"]
    return tuple(found)


def random_hypotheses(
    slot: Slot, observed: str, pool: Sequence[str], seed: int, draws: int
) -> list[str]:
    """At most `draws` hypotheses with a random phrase in the slot, no two the same, none of them
    the observed one or the hypothesis itself; fewer where the pool has fewer that can stand there.
    """
    candidates = _phrases_by_type(tuple(pool or own_substitutes())).get(slot.takes, ())
    fitting = dict.fromkeys(t for phrase in candidates if (t := slot.fill(phrase)) is not None)
    texts = [
        t for t in fitting if not same_words(t, observed) and not same_words(t, slot.shape.text)
    ]
    if len(texts) < FEWEST:
        return []
    generator = generator_1_0(seed, slot.shape.text, observed)
    chosen = generator.permutation(len(texts))[:draws]
    return [texts[place] for place in chosen]


@lru_cache(maxsize=64)
def _phrases_by_type(pool: tuple[str, ...]) -> dict[PhraseType, tuple[Phrase, ...]]:
    """The pool by type; what has none is left out."""
    found: dict[PhraseType, tuple[Phrase, ...]] = {}
    for text in pool:
        parsed = phrase(text)
        if parsed is not None:
            found[parsed.type] = (*found.get(parsed.type, ()), parsed)
    return found


def target(label: NliLabel, kind: Kind) -> NliLabel:
    """The label that the counterfactual should get. Raises KeyError for a kind without meaning."""
    return TARGETS[label][kind]
