"""Discourse-guided refinement: every explanation is replaced with the most similar unit of the
reasoning.

Two controls represent chance: the explanations with shuffled words, and explanations of other
items. String similarity misses a "not", so polarity is checked separately. `nli` asks an inference
model if the unit contradicts the explanation. `cues` requires an even number of negations in both
texts, or an odd number in both. Pure functions. Source: Chen et al., EMNLP 2025, Eqs. 3-4.
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
from shared.queue.job_context import check, check_each
from shared.statistics.seeds import generator
from shared.text.changed_meaning import NEGATIONS, negations
from shared.text.language import canonical

CONTRADICTED = 0.5  # P(contradiction) at which a pair is dropped
COPY = 0.9  # similarity, without negations, at which a text copies another


@dataclass(frozen=True)
class PolarityReading:
    """The result of checking that a passage of the reasoning says the same as its explanation."""

    polarity: PolarityOutcome
    contradiction: float | None = None  # P, [0, 1]; None: not read by a model

    @property
    def keeps(self) -> bool:
        return self.polarity != "contradicted"


UNREAD = PolarityReading("unread")
ReadPolarity = Callable[
    [str, str], PolarityReading | None
]  # (unit, explanation) → None: not checked


def without_polarity(unit: str, explanation: str) -> PolarityReading | None:
    """Return None, because the paper and the released code do not check polarity."""
    return None


def by_cues(language: Language) -> ReadPolarity:
    """Return a check that counts negations. Both texts must have an even number of them, or both an
    odd number."""

    def read(unit: str, explanation: str) -> PolarityReading:
        same = negations(unit, language) % 2 == negations(explanation, language) % 2
        return PolarityReading("kept" if same else "contradicted")

    return read


def is_negated_copy(unit: str, explanation: str, language: Language) -> bool:
    """Return True if the texts have nearly the same words, but one has an even and the other an odd
    number of negations."""
    if negations(unit, language) % 2 == negations(explanation, language) % 2:
        return False
    pattern = NEGATIONS[language]
    a, b = (" ".join(pattern.sub(" ", text).split()) for text in (unit, explanation))
    return SequenceMatcher(None, a, b, autojunk=False).ratio() >= COPY


def by_probability(contradiction: float) -> PolarityReading:
    """Return the result of the polarity check, from the probability that the unit contradicts the
    explanation."""
    dropped = contradiction >= CONTRADICTED
    return PolarityReading("contradicted" if dropped else "kept", contradiction)


POOL_FILE = Path(__file__).parent / "data" / "other_items.en.json"  # written for this project
RULED: tuple[Language, ...] = get_args(Language)


def align_draft(draft: ReasoningDraft) -> AlignedReasoning:
    """Split the reasoning into units, and find the unit most similar to each explanation and to
    each control text."""
    request, text = draft.request, draft.reasoning or ""
    language = segmented_as(request, text)
    rule = rule_of(request)
    granularity = request.granularity or VARIANTS[request.variant].granularity
    if request.units is None:
        units = tuple(segment(text, language, granularity))
    else:
        units = tuple(merge_units(((unit.start, unit.end), "given") for unit in request.units))
    explanations = [pair.explanation for pair in draft.pairs]

    def baseline(texts: Sequence[str]) -> AlignmentBaseline | None:
        if not texts:
            return None
        size = len(texts) // request.control_draws
        alignments = [
            alignment
            for start in check_each(range(0, len(texts), size))
            for alignment in align_texts(texts[start : start + size], text, units, rule)
        ]
        return AlignmentBaseline(request.control_draws, tuple(texts), tuple(alignments))

    controlled = bool(request.control_draws and draft.pairs and units)
    return AlignedReasoning(
        text=text,
        language=language,
        granularity=granularity,
        rule=rule,
        units=units,
        pairs=tuple(draft.pairs),
        alignments=tuple(align_texts(explanations, text, units, rule)),
        shuffled=baseline(word_permutations(request, text, explanations)) if controlled else None,
        others=baseline(other_items(request, text, explanations)) if controlled else None,
    )


def word_permutations(
    request: Cot2elRequest, reasoning: str, explanations: Sequence[str]
) -> list[str]:
    """Return the explanations with their words in random order, once per draw. The result is
    ordered by draw."""
    count = request.control_draws
    if VARIANTS[request.variant].matched_control:
        draws = [generator(request.seed, "shuffle", reasoning, index) for index in range(count)]
    else:
        seeds = np.random.SeedSequence(request.seed).spawn(count)
        draws = [np.random.default_rng(seed) for seed in seeds]
    return [permute_words(text, draw) for draw in draws for text in explanations]


def other_items(request: Cot2elRequest, reasoning: str, explanations: Sequence[str]) -> list[str]:
    """Return random explanations of other items, `control_draws` for each explanation. The list is
    empty if the variant does not use them."""
    pool = [text for text in request.control_pool or load_pool() if text not in set(explanations)]
    if not pool or not VARIANTS[request.variant].matched_control:
        return []
    random = generator(request.seed, "other items", reasoning)
    size = request.control_draws * len(explanations)
    return [pool[index] for index in random.integers(len(pool), size=size)]


@lru_cache(maxsize=1)
def load_pool() -> tuple[str, ...]:
    """Return the built-in explanations of other items."""
    return tuple(json.loads(POOL_FILE.read_text("utf-8"))["explanations"])


@dataclass(frozen=True)
class AlignmentBaseline:
    """Random baseline texts, with the units of the reasoning that are most similar to them."""

    draws: int
    texts: tuple[str, ...]
    alignments: tuple[Alignment | None, ...]


@dataclass(frozen=True)
class AlignedReasoning:
    """Extracted explanations, each with the most similar unit of the reasoning, before polarity is
    checked."""

    text: str  # the reasoning; "" without one
    language: Language
    granularity: Granularity
    rule: RefinementRule
    units: tuple[Unit, ...]
    pairs: tuple[Explanation, ...]
    alignments: tuple[Alignment | None, ...]
    shuffled: AlignmentBaseline | None
    others: AlignmentBaseline | None

    def matching_pairs(self) -> list[tuple[str, str]]:
        """Return (unit, explanation) tuples with a similarity above the threshold, including those
        of control texts."""
        groups = [(tuple(pair.explanation for pair in self.pairs), self.alignments)]
        groups += [(row.texts, row.alignments) for row in (self.shuffled, self.others) if row]
        return [
            (self.unit_of(alignment), text)
            for texts, alignments in groups
            for text, alignment in zip(texts, alignments, strict=True)
            if alignment is not None and self.rule.matches(alignment)
        ]

    def unit_of(self, alignment: Alignment) -> str:
        unit = self.units[alignment.unit]
        return self.text[unit.start : unit.end]

    def refine(self, read: ReadPolarity, polarity: Polarity = "none") -> RefinedReasoning:
        """Check with `read` that each unit of the reasoning has the same polarity as its
        explanation. Explanations that fail are rejected. `polarity` is the name of the check."""
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
        seen: set[tuple[str, str, int]] = set()
        for pair, alignment in zip(self.pairs, self.alignments, strict=True):
            kept, reading = self._check_pair(pair.explanation, alignment, read)
            key = (pair.label, pair.stance, alignment.unit if alignment else -1)
            repeats = kept and key in seen and not self.rule.repeated
            yield RefinedExplanation(pair, alignment, kept, repeats, reading)
            seen |= {key} if kept else set()

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
        pairs = zip(random.texts, random.alignments, strict=True)
        kept = [self._check_pair(text, alignment, read)[0] for text, alignment in pairs]
        similar = [row.similarity for row in random.alignments if row is not None]
        return RandomBaseline(random.draws, float(np.mean(kept)), float(np.mean(similar)))


def segmented_as(request: Cot2elRequest, text: str) -> Language:
    """Return the language whose segmentation rules are used."""
    requested = canonical(request.language)
    return next((tag for tag in RULED if tag == requested), None) or detect_language(text)


@dataclass(frozen=True)
class RefinedReasoning:
    text: str  # the reasoning; "" without one
    language: Language
    granularity: Granularity
    rule: RefinementRule
    units: tuple[Unit, ...]
    polarity: Polarity  # source of the readings
    refined: tuple[RefinedExplanation, ...]
    chance: RandomBaseline | None  # None: not drawn
    others: RandomBaseline | None = None  # explanations of other items

    @property
    def parsed(self) -> tuple[Explanation, ...]:
        """Return the explanations that the model listed (the set EL in the paper)."""
        return tuple(row.pair for row in self.refined)

    @property
    def aligned(self) -> tuple[tuple[RefinedExplanation, Unit], ...]:
        """Return each accepted explanation, with the most similar unit of the reasoning."""
        return tuple(
            (row, self.units[row.alignment.unit])
            for row in self.refined
            if row.kept and not row.repeats and row.alignment is not None
        )

    @property
    def filtered(self) -> tuple[Explanation, ...]:
        """Return the accepted explanations (the filtered set EL in the paper)."""
        return tuple(
            row.pair.model_copy(update={"explanation": self.text[unit.start : unit.end]})
            for row, unit in self.aligned
        )


@dataclass(frozen=True)
class RefinementRule:
    min_similarity: float
    autojunk: bool = False  # as released
    repeated: bool = False  # as released: a unit may occur twice for a label and stance
    most_steps: int = kernel.MOST_STEPS  # of one alignment

    def matches(self, alignment: Alignment | None) -> bool:
        """Return True if the similarity is above the threshold. A threshold of 0 accepts every
        explanation, as in the paper."""
        if alignment is None:
            return False
        return self.min_similarity == 0 or alignment.similarity > self.min_similarity


@dataclass(frozen=True)
class RefinedExplanation:
    pair: Explanation
    alignment: Alignment | None  # None: the reasoning has no units
    kept: bool
    repeats: bool  # kept, but an earlier pair of its label and stance has this unit
    reading: PolarityReading | None = None  # None: polarity was not checked

    @property
    def contradicted(self) -> bool:
        return self.reading is not None and not self.reading.keeps


@dataclass(frozen=True)
class RandomBaseline:
    """The chance level: the numbers for random texts, computed in the same way as those for the
    explanations."""

    draws: int
    faithfulness: float  # share kept, [0, 1]
    mean_similarity: float


def permute_words(text: str, generator: np.random.Generator) -> str:
    """Return the text with its words in random order. A text without white space has its characters
    permuted."""
    words = text.split()
    if len(words) > 1:
        return " ".join(words[index] for index in generator.permutation(len(words)))
    return "".join(text[index] for index in generator.permutation(len(text)))


def align_texts(
    texts: Sequence[str], reasoning: str, units: Sequence[Unit], rule: RefinementRule
) -> list[Alignment | None]:
    work = sum(map(len, texts)) * sum(unit.end - unit.start for unit in units)
    if work > MOST_COMPARED:
        raise TooCostly(
            f"{sum(map(len, texts)):,} characters of explanations are too many to compare "
            f"with these units: at most {MOST_COMPARED:,} pairs of characters can be "
            "compared; send fewer `pairs`",
            pointers=("/pairs", "/reasoning"),
        )
    verbatim = [reasoning[unit.start : unit.end] for unit in units]
    return kernel.align(
        texts, verbatim, autojunk=rule.autojunk, most_steps=rule.most_steps, check=check
    )


def rule_of(request: Cot2elRequest) -> RefinementRule:
    """Return the rule that decides which explanations are found in the reasoning. Unset options use
    the variant's defaults."""
    variant = VARIANTS[request.variant]
    least = variant.min_similarity if request.min_similarity is None else request.min_similarity
    steps = MOST_STEPS // (1 + 2 * request.control_draws)
    return RefinementRule(
        least, autojunk=variant.autojunk, repeated=variant.repeated, most_steps=steps
    )
