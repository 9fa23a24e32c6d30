"""Does the unit say the same, or its opposite? Similarity of strings is blind to "not".

`nli`: a model of inference reads the unit as premise and the explanation as hypothesis; `cues`:
both must have an even, or both an odd, number of negations. Cues are lists by language, and read
neither scope nor irony. Where the two say the same but for their negations, cues tell what small
models of inference miss, so that `nli` asks both. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from difflib import SequenceMatcher

from services.cot2el.report import PolarityOutcome
from services.cot2el.segmentation import Language

CONTRADICTED = 0.5  # P(contradiction) from which on a pair is dropped
COPY = 0.9  # similarity of two texts without their negations, from which one copies the other

CUES: dict[Language, re.Pattern[str]] = {
    "en": re.compile(
        r"\b(?:not|no|never|none|nobody|nothing|neither|nor|nowhere|cannot|without|hardly|barely"
        r"|scarcely)\b|n['\u2019]t\b",
        re.IGNORECASE,
    ),
    "zh": re.compile(r"(?:不(?![仅但过管论只])|没|無|无(?!论)|未|非(?!常)|别(?!的|人)|勿)"),
    "ko": re.compile(r"않|못|없|아니|(?<![가-힣])안(?=\s)"),
    "ja": re.compile(r"ない|なく|なかっ|なけれ|ません|(?:せ|ら|か|わ|ま)ず(?=[、。\s]|に)"),
}


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
    bare = (" ".join(CUES[language].sub(" ", one).split()) for one in (unit, explanation))
    return SequenceMatcher(None, next(bare), next(bare), autojunk=False).ratio() >= COPY


def negations(text: str, language: Language) -> int:
    return len(CUES[language].findall(text))


def by_probability(contradiction: float) -> PolarityReading:
    """contradiction: P that the unit contradicts the explanation, [0, 1]."""
    dropped = contradiction >= CONTRADICTED
    return PolarityReading("contradicted" if dropped else "kept", contradiction)
