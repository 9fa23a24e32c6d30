"""The hypotheses that the model classifies: counterfactuals, and random hypotheses to compare with.

Random phrases show how often the model answers "entailment" to any edit. Human explanations repeat
words of the premise, which makes entailment likely. `phrases` therefore uses random phrases of the
same type that overlap about equally with the premise. `any` uses any phrase of the type, for the
variants that follow the paper. Source: Sia et al., AAAI 2023, arXiv:2205.12469, Table 2 and
Propositions 1 to 3. The comparison with random phrases is not in that paper. It follows
arXiv:2603.18579 (ICE)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from sys import getsizeof

import numpy as np

from services.ftc import llm_extraction
from services.ftc.contract import DRAWS, FtcRequest
from services.ftc.counterfactuals import EditedHypothesis, Slot, Window, same_words, windows
from services.ftc.extraction import extract
from services.ftc.kernel import Floats
from services.ftc.lead_ins import bare_explanation
from services.ftc.phrases import (
    KEPT_BYTES,
    MOST_CHARACTERS,
    WORD_BYTES,
    Phrase,
    Shape,
    coverage,
    parse,
    phrase,
    shape,
)
from services.ftc.report import (
    LABELS,
    FtcExtraction,
    FtcSpanEvidence,
    Kind,
    NliLabel,
    PhraseNull,
    PhraseType,
)
from services.ftc.variants import VARIANTS
from shared.process.cached import cache_results
from shared.statistics.group_sequential import LOOKS, GroupSequential, looks_up_to, one_look
from shared.statistics.seeds import generator, generator_1_0
from shared.text.normalized import NormalizedText

SUBSTITUTES_FILE = Path(__file__).parent / "data" / "substitutes.json"  # written for this project
FEWEST = 5  # of `any`: a null of fewer phrases says nothing
LEAST_RIVALS = 19  # for p = 0.05

PhrasesByType = dict[PhraseType, tuple[Phrase, ...]]


@dataclass(frozen=True, slots=True)
class RandomPhrases:
    """Hypotheses with random phrases, in the order in which they were drawn."""

    kind: PhraseNull
    texts: tuple[str, ...] = ()
    placements: int = 0  # that there are
    premise_overlap: float | None = None  # of the observed phrase, [0, 1]
    doubt: str | None = None  # why there are none


def random_phrases(request: FtcRequest, edit: EditedHypothesis) -> RandomPhrases:
    """Draw up to `draws` distinct random phrases that overlap with the premise as much as the
    explanation's phrase does. Phrases with any overlap are used if the matched phrases are too few
    to reach p = 0.05."""
    kind = null_kind(request)
    if draw_count(request) == 0:
        return RandomPhrases(kind, doubt="the request asks for no random draws")
    if edit.slot is None:
        return RandomPhrases(
            kind, doubt="the position at which to insert a random phrase is unknown"
        )
    if kind == "any":
        return _any_phrases(request, edit, edit.slot)
    observed = edit.phrase or _content_of(edit.slot)
    if observed is None:
        matched = RandomPhrases(
            kind, doubt="the phrase that a random phrase would replace could not be found"
        )
    else:
        matched = matched_phrases(request, edit, edit.slot, observed)
    if matched.placements >= LEAST_RIVALS:
        return matched
    others = _any_phrases(request, edit, edit.slot)
    return others if others.placements > matched.placements else matched


def null_kind(request: FtcRequest) -> PhraseNull:
    """Return the kind of null distribution that the request states, or else the variant's
    default."""
    return request.null or VARIANTS[request.variant].null


def draw_count(request: FtcRequest) -> int:
    return DRAWS[request.variant] if request.draws is None else request.draws


def first_draws(request: FtcRequest) -> int:
    """Return the number of random phrases to test before a sequential rule may stop."""
    return LOOKS[0] if VARIANTS[request.variant].sequential else draw_count(request)


def rule_of(request: FtcRequest, placements: int) -> GroupSequential:
    """Return the stopping rule for the random phrases. Sequential variants may stop early; the
    variants that follow the paper make all draws."""
    most = min(draw_count(request), placements)
    return looks_up_to(most) if VARIANTS[request.variant].sequential else one_look(most)


def _any_phrases(request: FtcRequest, edit: EditedHypothesis, slot: Slot) -> RandomPhrases:
    texts = random_hypotheses(
        slot, edit.text, request.substitutes, request.seed, draw_count(request)
    )
    if not texts:
        why = f"too few random phrases fit at this position ({slot.required_type})"
        return RandomPhrases("any", doubt=why)
    placements = len(fill_all(slot, edit.text, _pool(request, slot.required_type)))
    return RandomPhrases("any", tuple(texts), placements)


def matched_phrases(
    request: FtcRequest, edit: EditedHypothesis, slot: Slot, observed: Phrase
) -> RandomPhrases:
    """Return random phrases of the same type that overlap with the premise about as much as the
    explanation's phrase."""
    supported = content_stems(request.premise)
    overlap = coverage(observed.stems, supported)
    here = (*phrases_in(request.premise), *phrases_in(request.hypothesis))
    candidates = [
        candidate
        for candidate in (*_pool(request, observed.type), *here)
        if candidate.type == observed.type
        and overlap_class(coverage(candidate.stems, supported)) == overlap_class(overlap)
    ]
    about = (request.premise, request.hypothesis, edit.kind, observed.type, overlap_class(overlap))
    order = generator(request.seed, "null", "phrases", *about).permutation(len(candidates))
    texts = fill_all(slot, edit.text, [candidates[index] for index in order])
    return RandomPhrases(
        "phrases",
        tuple(texts[: draw_count(request)]),
        len(texts),
        overlap,
        None if texts else "no other phrase has as many of its words in the premise",
    )


def overlap_class(share: float) -> int:
    """Return a class, 0 to 3, for the share of a phrase's word stems that are in the premise. The
    classes are: none, at most half, more than half, all."""
    return 0 if share == 0 else 3 if share == 1 else 1 if share <= 0.5 else 2


def fill_all(slot: Slot, observed: str, candidates: Iterable[Phrase]) -> list[str]:
    """Insert each phrase in the slot of the hypothesis, and return the distinct results in order.
    The original hypothesis and the counterfactual `observed` are left out."""
    filled = dict.fromkeys(t for phrase in candidates if (t := slot.fill(phrase)) is not None)
    return [t for t in filled if not same_words(t, observed) and not same_words(t, slot.shape.text)]


def random_hypotheses(
    slot: Slot, observed: str, pool: Sequence[str], seed: int, draws: int
) -> list[str]:
    """Return up to `draws` hypotheses with random phrases of the right type, or [] if too few
    phrases fit."""
    candidates = _phrases_by_type(tuple(pool or load_substitutes())).get(slot.required_type, ())
    texts = fill_all(slot, observed, candidates)
    if len(texts) < FEWEST:
        return []
    random = generator_1_0(seed, slot.shape.text, observed)
    return [texts[index] for index in random.permutation(len(texts))[:draws]]


def content_stems(text: str) -> frozenset[str]:
    return frozenset(word.stem for piece in _chunks(text) for word in parse(piece) if word.content)


def _bytes_of(phrases: Iterable[Phrase], *_: object) -> int:
    return WORD_BYTES * sum(len(item.words) for item in phrases)


@cache_results(KEPT_BYTES, _bytes_of)
def phrases_in(text: str) -> tuple[Phrase, ...]:
    """Return the phrases in the first 600 characters. Each phrase begins with the first word that
    belongs to its head."""
    built = shape(next(_chunks(text), ""))
    if built is None:
        return ()
    words = built.words
    whole = [
        window
        for window in windows(built)
        if window.first in (window.head, words[window.head].left)
    ]
    begins = {(window.head, window.type): min(w.first for w in whole if w.head == window.head)
              for window in whole}  # fmt: skip
    spans = dict.fromkeys(
        (window.first, window.end)
        for window in whole
        if window.first == begins[window.head, window.type]
    )
    phrases = (phrase(built.text, words[a].start, words[b - 1].end) for a, b in spans)
    return tuple(parsed for parsed in phrases if parsed is not None)


def _chunks(text: str) -> Iterator[str]:
    """Yield parts of the text that are short enough for the parser."""
    for start in range(0, len(text), MOST_CHARACTERS):
        yield text[start : start + MOST_CHARACTERS]


def _content_of(slot: Slot) -> Phrase | None:
    """Return the hypothesis' phrase that fills the slot, or None. This is used for counterfactuals
    that the rules did not build."""
    words, window, subject = slot.shape.words, slot.window, slot.shape.subject
    if window is not None:
        return phrase(slot.shape.text, words[window.first].start, words[window.end - 1].end)
    if slot.move != "predicate" or subject is None or subject[1] >= len(words):
        return None
    return phrase(slot.shape.text, words[subject[1]].start, words[-1].end)


def _pool(request: FtcRequest, kind: PhraseType) -> tuple[Phrase, ...]:
    """Return the phrases of one type from which random ones are drawn."""
    return _phrases_by_type(request.substitutes or load_substitutes()).get(kind, ())


@lru_cache(maxsize=1)
def load_substitutes() -> tuple[str, ...]:
    phrases: list[str] = json.loads(SUBSTITUTES_FILE.read_text("utf-8"))["phrases"]
    return tuple(phrases)


def _pool_bytes(by_type: PhrasesByType, pool: tuple[str, ...]) -> int:
    return sum(map(getsizeof, pool)) + sum(map(_bytes_of, by_type.values()))


@cache_results(KEPT_BYTES, _pool_bytes)
def _phrases_by_type(pool: tuple[str, ...]) -> PhrasesByType:
    """Group the phrases by type. Phrases of unknown type are left out."""
    by_type: PhrasesByType = {}
    for text in pool:
        parsed = phrase(text)
        if parsed is not None:
            by_type[parsed.type] = (*by_type.get(parsed.type, ()), parsed)
    return by_type


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
    """A counterfactual hypothesis and the random hypotheses that it is compared with."""

    kind: Kind
    text: str
    random: RandomPhrases


@dataclass(frozen=True, slots=True)
class FtcHypotheses:
    """The counterfactual hypotheses of one request. If there are none, `abstained` is the
    reason."""

    label: NliLabel
    extraction: FtcExtraction
    evidence: tuple[FtcSpanEvidence, ...]
    hypotheses: tuple[Hypothesis, ...]
    abstained: str | None
    writers: tuple[str, ...] = ()  # language models that wrote them


def derive_hypotheses(
    requests: Sequence[FtcRequest], labels: Sequence[NliLabel]
) -> list[FtcHypotheses]:
    """Return hypotheses for each request, in order. The extractor `llm` makes two calls for all
    requests together."""
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
    bare = None if printed else bare_explanation(request.explanation_text)
    explanation = request.explanation_text if bare is None else bare.text
    extracted = extract(label, request.hypothesis, explanation, printed=printed)
    how = " + ".join(edit.how for edit in extracted.made) or None
    return FtcHypotheses(
        label,
        FtcExtraction(extractor="rules", rule=extracted.rule, transformation=how),
        _evidence(request, extracted.a, extracted.b, extracted.made, bare),
        _hypotheses(request, extracted.made),
        extracted.reason,
    )


def _from_caller(request: FtcRequest, label: NliLabel) -> FtcHypotheses:
    supplied = {sent.kind: sent.text for sent in request.counterfactuals or ()}
    edits = [
        EditedHypothesis(
            kind, supplied[kind], "supplied", changed_slot(supplied[kind], request.hypothesis), None
        )
        for kind in TARGETS[label]
        if kind in supplied
    ]
    extraction = FtcExtraction(extractor="supplied", rule=None, transformation=None)
    return FtcHypotheses(label, extraction, (), _hypotheses(request, edits), None)


def _from_language_model(
    request: FtcRequest, label: NliLabel, written: llm_extraction.GeneratedCounterfactual
) -> FtcHypotheses:
    edits = [
        EditedHypothesis(kind, text, "llm", changed_slot(text, request.hypothesis), None)
        for kind, text in written.texts
    ]
    extraction = FtcExtraction(
        extractor="llm", rule=None, transformation=None, completions=written.completions
    )
    spans = [_find_span(request.explanation_text, text) for text in written.spans]
    a, b = spans if len(spans) == 2 else (None, None)
    return FtcHypotheses(
        label,
        extraction,
        _evidence(request, a, b, ()),
        _hypotheses(request, edits),
        written.reason,
        (request.writer or "",),
    )


def _find_span(explanation: str, text: str) -> Phrase | None:
    start = explanation.lower().find(text.lower())
    return phrase(explanation, start, start + len(text)) if start >= 0 and text else None


def _hypotheses(request: FtcRequest, edits: Sequence[EditedHypothesis]) -> tuple[Hypothesis, ...]:
    return tuple(Hypothesis(edit.kind, edit.text, random_phrases(request, edit)) for edit in edits)


def _evidence(
    request: FtcRequest,
    a: Phrase | None,
    b: Phrase | None,
    edits: Sequence[EditedHypothesis],
    bare: NormalizedText | None = None,
) -> tuple[FtcSpanEvidence, ...]:
    """Return the spans of phrases A and B in the explanation, and the spans of the hypothesis that
    these phrases replace. `bare` is the normalised text that contains A and B."""
    spans = []
    for side in (a, b):
        if side is None:
            continue
        start, end = bare.original(side.start, side.end) if bare else (side.start, side.end)
        spans.append(
            FtcSpanEvidence(
                kind="a" if side is a else "b",
                offsets_into="explanation",
                start=start,
                end=end,
                text=request.explanation_text[start:end],
                phrase=side.type,
            )
        )
    gaps = [edit.slot.target_span for edit in edits if edit.slot and edit.how == "swap"]
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
    """Return the place where a supplied counterfactual differs from the hypothesis. It is the
    smallest phrase around the difference, or else the predicate."""
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
    """Return the range of words in `new` between the words that both texts start with and those
    that both end with."""
    ours, theirs = ([w.text.lower() for w in parsed.words] for parsed in (new, old))
    first = 0
    while first < min(len(ours), len(theirs)) and ours[first] == theirs[first]:
        first += 1
    back = 0
    while back < min(len(ours), len(theirs)) - first and ours[-1 - back] == theirs[-1 - back]:
        back += 1
    return first, len(ours) - back


def targets_of(request: FtcRequest, derived: FtcHypotheses) -> Floats:
    """Return the label distributions that the answers should have, of shape (N, 3). They come from
    the request or else follow from the explanation's logic."""
    rows = []
    for hypothesis in derived.hypotheses:
        sent = request.targets.get(hypothesis.kind)
        if sent is not None:
            row = np.array([sent.entailment, sent.neutral, sent.contradiction])
            rows.append(row / row.sum())
        else:
            rows.append(np.eye(3)[LABELS.index(TARGETS[derived.label][hypothesis.kind])])
    return np.array(rows).reshape(-1, 3)
