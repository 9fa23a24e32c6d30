"""An explanation, parsed before any model is called: one type for the three variants."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from services.hatexscore.conclusion import ConclusionStatement
from services.hatexscore.contract import HatexscoreRequest
from services.hatexscore.group_terms import GroupMention
from services.hatexscore.lexicon import Lexicon, custom_lexicon, load_lexicon
from services.hatexscore.quotes import Quotation, Quote
from services.hatexscore.report import GroupEvidence, Label, QuoteEvidence
from services.hatexscore.words import Language, Span, detect_language

LABEL_UNKNOWN = (
    "the predicted label is unknown: none was sent and the explanation states none, "
    "so that what depends on it is undefined"
)


@dataclass(frozen=True, slots=True)
class DetectedLanguages:
    """A Korean text may well be explained in English."""

    text: Language
    explanation: Language


@dataclass(frozen=True, slots=True)
class QuotedSpans:
    """Q of Eq. 3: what the explanation quotes of the text.

    masked:  the text without the quoted spans; None where nothing is quoted.
    trivial: the quotation is the text itself, Q = {T}.
    spans:   merged spans that `masked` replaces; none where the variant has no offsets.
    """

    evidence: tuple[QuoteEvidence, ...]
    hallucinated: tuple[Quotation, ...]
    masked: str | None
    trivial: bool
    spans: tuple[Span, ...]

    @property
    def counts(self) -> bool:
        return self.masked is not None and not self.trivial


@dataclass(frozen=True, slots=True)
class ParsedExplanation:
    """All that the score needs beside probabilities.

    htc, tgi: 0 or 1. label: in force, None where neither sent nor stated.
    """

    languages: DetectedLanguages
    statement: ConclusionStatement | None
    htc: float
    label: Label | None
    stated_label: Label | None
    quoting: QuotedSpans
    groups: tuple[GroupEvidence, ...]
    tgi: float
    warnings: tuple[str, ...]


def detect_languages(request: HatexscoreRequest) -> DetectedLanguages:
    """As sent, or each detected by itself; an explanation without words follows the text."""
    if request.language != "auto":
        return DetectedLanguages(request.language, request.language)
    text = detect_language(request.text)
    wordless = not any(character.isalpha() for character in request.explanation)
    return DetectedLanguages(text, text if wordless else detect_language(request.explanation))


def lexicon_of(request: HatexscoreRequest, language: Language) -> Lexicon:
    """The policy's list in the explanation's language. Raises BadInput where there is none."""
    if isinstance(request.policy, dict):
        return custom_lexicon(request.policy)
    return load_lexicon(request.policy, language)


def quote_evidence(quotes: Iterable[Quote]) -> tuple[QuoteEvidence, ...]:
    return tuple(
        QuoteEvidence(
            start=quote.start,
            end=quote.end,
            text=quote.text,
            quoted_as=quote.quoted_as,
            match=quote.match,
            value=quote.similarity,
        )
        for quote in quotes
    )


def group_evidence(mentions: Iterable[GroupMention]) -> tuple[GroupEvidence, ...]:
    return tuple(
        GroupEvidence(
            start=mention.start,
            end=mention.end,
            text=mention.text,
            group=mention.group,
            category=mention.category,
            found_as=mention.found_as,
            counts=mention.counts,
            reason=mention.reason,
        )
        for mention in mentions
    )
