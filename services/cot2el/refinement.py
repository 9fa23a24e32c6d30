"""Discourse-guided refinement: every explanation becomes the unit of the reasoning nearest to it.

Source: Chen et al., EMNLP 2025, Eqs. 3-4. Pure. The controls shuffle the words of each explanation,
and take explanations of other items instead.

Polarity, since string similarity is blind to "not". `nli`: a model of inference reads the unit as
premise and the explanation as hypothesis. `cues`: both have an even, or both an odd, number of
negations; the lists of cues read neither scope nor irony. Where the two differ in their negations
alone, cues find what small models of inference miss, so `nli` uses both.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from pathlib import Path
from typing import get_args

import numpy as np

from services.cot2el import kernel
from services.cot2el.contract import MOST_COMPARED, Cot2elRequest, Polarity
from services.cot2el.kernel import MOST_STEPS, Alignment
from services.cot2el.report import PolarityOutcome
from services.cot2el.segmentation import (
    Granularity,
    Language,
    Unit,
    detect_language,
    merge_units,
    segment,
)
from services.cot2el.stages import ReasoningDraft
from services.cot2el.variants import VARIANTS
from shared.contracts.errors import TooCostly
from shared.contracts.questions import Explanation
from shared.queue.job_context import check_each
from shared.statistics.seeds import generator
from shared.text.changed_meaning import NEGATIONS, negations
from shared.text.language import canonical

CONTRADICTED = 0.5  # P(contradiction) from which on a pair is dropped
COPY = 0.9  # similarity of two texts without their negations, from which one copies the other


@dataclass(frozen=True)
class PolarityReading:
    """Whether the unit of an explanation says the same as it."""

    polarity: PolarityOutcome
    contradiction: float | None = None  # P, [0, 1]; None: no model read it

    @property
    def keeps(self) -> bool:
        return self.polarity != "contradicted"


UNREAD = PolarityReading("unread")
ReadPolarity = Callable[[str, str], PolarityReading | None]  # unit, explanation; None: not asked


def without_polarity(unit: str, explanation: str) -> PolarityReading | None:
    """As printed and as released: similarity alone decides."""
    return None


def by_cues(language: Language) -> ReadPolarity:
    """Parity of the negations."""

    def read(unit: str, explanation: str) -> PolarityReading:
        same = negations(unit, language) % 2 == negations(explanation, language) % 2
        return PolarityReading("kept" if same else "contradicted")

    return read


def is_negated_copy(unit: str, explanation: str, language: Language) -> bool:
    """Whether nearly the same words are said, with an odd number of negations more or fewer."""
    if negations(unit, language) % 2 == negations(explanation, language) % 2:
        return False
    bare = (" ".join(NEGATIONS[language].sub(" ", one).split()) for one in (unit, explanation))
    return SequenceMatcher(None, next(bare), next(bare), autojunk=False).ratio() >= COPY


def by_probability(contradiction: float) -> PolarityReading:
    """contradiction: P that the unit contradicts the explanation, [0, 1]."""
    dropped = contradiction >= CONTRADICTED
    return PolarityReading("contradicted" if dropped else "kept", contradiction)


POOL_FILE = Path(__file__).parent / "data" / "other_items.en.json"  # written for this project
RULED: tuple[Language, ...] = get_args(Language)


def align_draft(draft: ReasoningDraft) -> AlignedReasoning:
    """A draft's pairs, each with its nearest unit of the reasoning, and the controls."""
    request, text = draft.request, draft.reasoning or ""
    language = segmented_as(request, text)
    rule = rule_of(request)
    granularity = request.granularity or VARIANTS[request.variant].granularity
    if request.units is None:
        units = tuple(segment(text, language, granularity))
    else:
        units = tuple(merge_units(((unit.start, unit.end), "given") for unit in request.units))
    said = [pair.explanation for pair in draft.pairs]
    controlled = bool(request.control_draws and draft.pairs and units)
    return AlignedReasoning(
        text=text,
        language=language,
        granularity=granularity,
        rule=rule,
        units=units,
        pairs=tuple(draft.pairs),
        found=tuple(align_texts(said, text, units, rule)),
        shuffled=_random(request, word_permutations(request, text, said), text, units, rule)
        if controlled
        else None,
        others=_random(request, other_items(request, text, said), text, units, rule)
        if controlled
        else None,
    )


def _random(
    request: Cot2elRequest,
    texts: Sequence[str],
    reasoning: str,
    units: Sequence[Unit],
    rule: RefinementRule,
) -> AlignmentBaseline | None:
    if not texts:
        return None
    each = len(texts) // request.control_draws
    found = [
        alignment
        for start in check_each(range(0, len(texts), each))
        for alignment in align_texts(texts[start : start + each], reasoning, units, rule)
    ]
    return AlignmentBaseline(request.control_draws, tuple(texts), tuple(found))


def word_permutations(request: Cot2elRequest, reasoning: str, said: Sequence[str]) -> list[str]:
    """The explanations with their words in random order, draw by draw."""
    count = request.control_draws
    if VARIANTS[request.variant].matched_control:
        draws = [generator(request.seed, "shuffle", reasoning, place) for place in range(count)]
    else:
        seeds = np.random.SeedSequence(request.seed).spawn(count)
        draws = [np.random.default_rng(seed) for seed in seeds]
    return [permute_words(text, draw) for draw in draws for text in said]


def other_items(request: Cot2elRequest, reasoning: str, said: Sequence[str]) -> list[str]:
    """As many explanations of other items, draw by draw; none that stands here too."""
    pool = [text for text in request.control_pool or load_pool() if text not in set(said)]
    if not pool or not VARIANTS[request.variant].matched_control:
        return []
    random = generator(request.seed, "other items", reasoning)
    wanted = request.control_draws * len(said)
    return [pool[place] for place in random.integers(len(pool), size=wanted)]


@lru_cache(maxsize=1)
def load_pool() -> tuple[str, ...]:
    """Explanations of items of our own."""
    found: list[str] = json.loads(POOL_FILE.read_text("utf-8"))["explanations"]
    return tuple(found)


@dataclass(frozen=True)
class AlignmentBaseline:
    """Texts that stand for chance, and their nearest units."""

    draws: int
    texts: tuple[str, ...]
    found: tuple[Alignment | None, ...]


@dataclass(frozen=True)
class AlignedReasoning:
    """One draft, before anything has read whether a unit says the opposite."""

    text: str  # the reasoning; empty where there is none
    language: Language
    granularity: Granularity
    rule: RefinementRule
    units: tuple[Unit, ...]
    pairs: tuple[Explanation, ...]
    found: tuple[Alignment | None, ...]
    shuffled: AlignmentBaseline | None
    others: AlignmentBaseline | None

    def matching_pairs(self) -> list[tuple[str, str]]:
        """(unit, explanation) of all that are similar enough, those of the controls too."""
        parts = [(tuple(pair.explanation for pair in self.pairs), self.found)]
        parts += [(one.texts, one.found) for one in (self.shuffled, self.others) if one]
        return [
            (self.unit_of(alignment), text)
            for texts, found in parts
            for text, alignment in zip(texts, found, strict=True)
            if alignment is not None and self.rule.matches(alignment)
        ]

    def unit_of(self, alignment: Alignment) -> str:
        unit = self.units[alignment.unit]
        return self.text[unit.start : unit.end]

    def refine(self, read: ReadPolarity, polarity: Polarity = "none") -> RefinedReasoning:
        """With what became of every pair. polarity: what told."""
        return RefinedReasoning(
            text=self.text,
            language=self.language,
            granularity=self.granularity,
            rule=self.rule,
            units=self.units,
            polarity=polarity,
            refined=tuple(self._refine(read)),
            chance=self._baseline(self.shuffled, read),
            others=self._baseline(self.others, read),
        )

    def _refine(self, read: ReadPolarity) -> Iterator[RefinedExplanation]:
        taken: set[tuple[str, str, int]] = set()
        for pair, alignment in zip(self.pairs, self.found, strict=True):
            kept, reading = self._check_pair(pair.explanation, alignment, read)
            place = (pair.label, pair.stance, alignment.unit if alignment else -1)
            repeats = kept and place in taken and not self.rule.repeated
            yield RefinedExplanation(pair, alignment, kept, repeats, reading)
            taken |= {place} if kept else set()

    def _check_pair(
        self, text: str, alignment: Alignment | None, read: ReadPolarity
    ) -> tuple[bool, PolarityReading | None]:
        if alignment is None or not self.rule.matches(alignment):
            return False, None
        reading = read(self.unit_of(alignment), text)
        return reading is None or reading.keeps, reading

    def _baseline(
        self, random: AlignmentBaseline | None, read: ReadPolarity
    ) -> RandomBaseline | None:
        if random is None:
            return None
        pairs = zip(random.texts, random.found, strict=True)
        kept = [self._check_pair(text, alignment, read)[0] for text, alignment in pairs]
        similar = [one.similarity for one in random.found if one is not None]
        return RandomBaseline(random.draws, float(np.mean(kept)), float(np.mean(similar)))


def segmented_as(request: Cot2elRequest, text: str) -> Language:
    """Language of the segmentation rules; `units` that were sent need none."""
    sent = canonical(request.language)
    return next((one for one in RULED if one == sent), None) or detect_language(text)


@dataclass(frozen=True)
class RefinedReasoning:
    text: str  # the reasoning; empty where there is none
    language: Language
    granularity: Granularity
    rule: RefinementRule
    units: tuple[Unit, ...]
    polarity: Polarity  # what told whether a unit says the opposite
    refined: tuple[RefinedExplanation, ...]
    chance: RandomBaseline | None  # None: not drawn
    others: RandomBaseline | None = None  # explanations of other items

    @property
    def parsed(self) -> tuple[Explanation, ...]:
        """EL."""
        return tuple(one.pair for one in self.refined)

    @property
    def aligned(self) -> tuple[tuple[RefinedExplanation, Unit], ...]:
        """EL filtered, each with its unit."""
        return tuple(
            (one, self.units[one.alignment.unit])
            for one in self.refined
            if one.kept and not one.repeats and one.alignment is not None
        )

    @property
    def filtered(self) -> tuple[Explanation, ...]:
        """EL filtered, as pairs."""
        return tuple(
            one.pair.model_copy(update={"explanation": self.text[unit.start : unit.end]})
            for one, unit in self.aligned
        )


@dataclass(frozen=True)
class RefinementRule:
    min_similarity: float
    autojunk: bool = False  # as released
    repeated: bool = False  # as released: a unit may occur twice for a label and stance
    most_steps: int = kernel.MOST_STEPS  # of one alignment

    def matches(self, alignment: Alignment | None) -> bool:
        """Strictly above the threshold; at 0 everything, as printed."""
        if alignment is None:
            return False
        return self.min_similarity == 0 or alignment.similarity > self.min_similarity


@dataclass(frozen=True)
class RefinedExplanation:
    pair: Explanation
    alignment: Alignment | None  # None: the reasoning has no units
    kept: bool
    repeats: bool  # kept, but an earlier one of its label and stance has this unit
    reading: PolarityReading | None = None  # None: nothing was asked

    @property
    def contradicted(self) -> bool:
        return self.reading is not None and not self.reading.keeps


@dataclass(frozen=True)
class RandomBaseline:
    """The same numbers of explanations with shuffled words."""

    draws: int
    faithfulness: float  # share kept, [0, 1]
    mean_similarity: float


def permute_words(text: str, generator: np.random.Generator) -> str:
    """Its words in random order; its characters, where white space parts none."""
    words = text.split()
    if len(words) > 1:
        return " ".join(words[place] for place in generator.permutation(len(words)))
    return "".join(text[place] for place in generator.permutation(len(text)))


def align_texts(
    texts: Sequence[str], reasoning: str, units: Sequence[Unit], rule: RefinementRule
) -> list[Alignment | None]:
    work = sum(map(len, texts)) * sum(unit.end - unit.start for unit in units)
    if work > MOST_COMPARED:
        raise TooCostly(
            f"{sum(map(len, texts)):,} characters of explanations are too many for these units: at "
            f"most {MOST_COMPARED:,} pairs of characters are compared",
            pointers=("/pairs", "/reasoning"),
        )
    verbatim = [reasoning[unit.start : unit.end] for unit in units]
    return kernel.align(texts, verbatim, autojunk=rule.autojunk, most_steps=rule.most_steps)


def rule_of(request: Cot2elRequest) -> RefinementRule:
    """In force: the request's, else the variant's own."""
    row = VARIANTS[request.variant]
    least = row.min_similarity if request.min_similarity is None else request.min_similarity
    each = MOST_STEPS // (1 + 2 * request.control_draws)
    return RefinementRule(least, autojunk=row.autojunk, repeated=row.repeated, most_steps=each)
