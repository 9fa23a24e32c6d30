"""Random phrases in the place of the explanation's: what its words do beyond being there.

The null is our own, after that of arXiv:2603.18579 (ICE): a model that answers "entailment" to any
edit satisfies every explanation. A human explanation repeats words of the premise, which entails
them, so `phrases` compares with phrases of the same type that the premise holds as much of; within
a class of overlap the explanation's phrase and all others are exchangeable. `any`, that of the
printed variants, compares with any phrase of the type. Pure.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from pathlib import Path
from sys import getsizeof

from services.ftc.contract import DRAWS, FtcRequest
from services.ftc.counterfactuals import EditedHypothesis, Slot, same_words, windows
from services.ftc.phrases import (
    KEPT_BYTES,
    MOST_CHARACTERS,
    WORD_BYTES,
    Phrase,
    coverage,
    parse,
    phrase,
    shape,
)
from services.ftc.report import PhraseNull, PhraseType
from services.ftc.variants import VARIANTS
from shared.process.cached import cache_results
from shared.statistics.draws import TwoStages
from shared.statistics.seeds import generator, generator_1_0

SUBSTITUTES_FILE = Path(__file__).parent / "data" / "substitutes.json"  # written for this project
FEWEST = 5  # of `any`: a null of fewer phrases says nothing


@dataclass(frozen=True, slots=True)
class RandomPhrases:
    """Hypotheses with random phrases, in the order of their draw."""

    kind: PhraseNull
    texts: tuple[str, ...] = ()
    placements: int = 0  # that there are
    premise_overlap: float | None = None  # of the observed phrase, [0, 1]
    doubt: str | None = None  # why there are none


def random_phrases(request: FtcRequest, made: EditedHypothesis) -> RandomPhrases:
    """At most `draws` of them, no two the same, none the observed one or the hypothesis itself."""
    kind = null_kind(request)
    if draw_count(request) == 0:
        return RandomPhrases(kind, doubt="no draws were requested")
    if made.slot is None:
        return RandomPhrases(kind, doubt="no place for a random phrase is known")
    if kind == "any":
        return _any(request, made.slot, made.text)
    observed = made.phrase or _content_of(made.slot)
    if observed is None:
        return RandomPhrases(kind, doubt="the phrase that a random one would replace is not read")
    return _matched(request, made, made.slot, observed)


def null_kind(request: FtcRequest) -> PhraseNull:
    """In force: the request's, else the variant's own."""
    return request.null or VARIANTS[request.variant].null


def draw_count(request: FtcRequest) -> int:
    return DRAWS[request.variant] if request.draws is None else request.draws


def stages_of(request: FtcRequest) -> TwoStages | None:
    """None: all draws at once, as printed."""
    most, row = draw_count(request), VARIANTS[request.variant]
    if row.first is None or most == 0:
        return None
    return TwoStages(min(row.first, most), most, row.exceedances)


def _any(request: FtcRequest, slot: Slot, observed: str) -> RandomPhrases:
    texts = random_hypotheses(
        slot, observed, request.substitutes, request.seed, draw_count(request)
    )
    doubt = None if texts else f"too few phrases that fit there ({slot.required_type})"
    placements = len(fill_all(slot, observed, _pool(request)[slot.required_type]))
    return RandomPhrases("any", tuple(texts), placements, doubt=doubt)


def _matched(
    request: FtcRequest, made: EditedHypothesis, slot: Slot, observed: Phrase
) -> RandomPhrases:
    held = content_stems(request.premise)
    overlap = coverage(observed.stems, held)
    here = (*phrases_in(request.premise), *phrases_in(request.hypothesis))
    candidates = [
        one
        for one in (*_pool(request)[observed.type], *here)
        if one.type == observed.type
        and overlap_class(coverage(one.stems, held)) == overlap_class(overlap)
    ]
    about = (request.premise, request.hypothesis, made.kind, observed.type, overlap_class(overlap))
    order = generator(request.seed, "null", "phrases", *about).permutation(len(candidates))
    texts = fill_all(slot, made.text, [candidates[place] for place in order])
    return RandomPhrases(
        "phrases",
        tuple(texts[: draw_count(request)]),
        len(texts),
        overlap,
        None if texts else "there is no other phrase that the premise supports as much",
    )


def overlap_class(share: float) -> int:
    """Of the share of a phrase's stems that the premise holds: none, at most half, more, all."""
    return 0 if share == 0 else 3 if share == 1 else 1 if share <= 0.5 else 2


def fill_all(slot: Slot, observed: str, candidates: Iterable[Phrase]) -> list[str]:
    """The hypotheses that phrases make in this place, in order, each once; neither the observed
    one nor the hypothesis itself."""
    filled = dict.fromkeys(t for phrase in candidates if (t := slot.fill(phrase)) is not None)
    return [t for t in filled if not same_words(t, observed) and not same_words(t, slot.shape.text)]


def random_hypotheses(
    slot: Slot, observed: str, pool: Sequence[str], seed: int, draws: int
) -> list[str]:
    """At most `draws` hypotheses with any random phrase of its type in the slot; fewer where the
    pool has fewer that can stand there, none under five."""
    candidates = _phrases_by_type(tuple(pool or load_substitutes())).get(slot.required_type, ())
    texts = fill_all(slot, observed, candidates)
    if len(texts) < FEWEST:
        return []
    random = generator_1_0(seed, slot.shape.text, observed)
    return [texts[place] for place in random.permutation(len(texts))[:draws]]


def content_stems(text: str) -> frozenset[str]:
    return frozenset(word.stem for piece in _chunks(text) for word in parse(piece) if word.content)


def _bytes_of(found: Iterable[Phrase], *_: object) -> int:
    return WORD_BYTES * sum(len(one.words) for one in found)


@cache_results(KEPT_BYTES, _bytes_of)
def phrases_in(text: str) -> tuple[Phrase, ...]:
    """Of its first 600 characters every phrase with all that stands before its head."""
    built = shape(next(_chunks(text), ""))
    if built is None:
        return ()
    words = built.words
    whole = [one for one in windows(built) if one.first in (one.head, words[one.head].left)]
    begins = {(one.head, one.type): min(w.first for w in whole if w.head == one.head)
              for one in whole}  # fmt: skip
    spans = dict.fromkeys(
        (one.first, one.end) for one in whole if one.first == begins[one.head, one.type]
    )
    found = (phrase(built.text, words[a].start, words[b - 1].end) for a, b in spans)
    return tuple(one for one in found if one is not None)


def _chunks(text: str) -> Iterator[str]:
    """Parts that the parser can take."""
    for start in range(0, len(text), MOST_CHARACTERS):
        yield text[start : start + MOST_CHARACTERS]


def _content_of(slot: Slot) -> Phrase | None:
    """The phrase in a slot of a hypothesis of unknown making."""
    words, window, subject = slot.shape.words, slot.window, slot.shape.subject
    if window is not None:
        return phrase(slot.shape.text, words[window.first].start, words[window.end - 1].end)
    if slot.move != "predicate" or subject is None or subject[1] >= len(words):
        return None
    return phrase(slot.shape.text, words[subject[1]].start, words[-1].end)


class _Pool(dict[PhraseType, tuple[Phrase, ...]]):
    """Phrases by type; of a type without any there are none."""

    def __missing__(self, key: PhraseType) -> tuple[Phrase, ...]:
        return ()


def _pool(request: FtcRequest) -> _Pool:
    return _phrases_by_type(request.substitutes or load_substitutes())


@lru_cache(maxsize=1)
def load_substitutes() -> tuple[str, ...]:
    found: list[str] = json.loads(SUBSTITUTES_FILE.read_text("utf-8"))["phrases"]
    return tuple(found)


def _pool_bytes(found: _Pool, pool: tuple[str, ...]) -> int:
    return sum(map(getsizeof, pool)) + sum(map(_bytes_of, found.values()))


@cache_results(KEPT_BYTES, _pool_bytes)
def _phrases_by_type(pool: tuple[str, ...]) -> _Pool:
    """Phrases without a type are left out."""
    found = _Pool()
    for text in pool:
        parsed = phrase(text)
        if parsed is not None:
            found[parsed.type] = (*found[parsed.type], parsed)
    return found


def first_block(request: FtcRequest, texts: Sequence[str]) -> tuple[str, ...]:
    """The draws that are asked about in any case."""
    stages = stages_of(request)
    return tuple(texts if stages is None else islice(texts, stages.first))
