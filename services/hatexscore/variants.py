"""The three variants of HateXScore: how each reads an explanation, and which rules it scores by.

`read_robust` is what the paper means, with the defects mended; the other two have files of their
own. Source: Hu & Lee, arXiv:2601.13547, sections 3.1 to 3.3; README.md lists the departures.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from services.hatexscore import variant_paper, variant_reference
from services.hatexscore.conclusion import VerdictsRead, names_label, read_conclusion
from services.hatexscore.contract import HatexscoreRequest
from services.hatexscore.explanation import (
    ParsedExplanation,
    QuotedSpans,
    parse_explanation,
    quote_evidence,
)
from services.hatexscore.groups import find_mentions
from services.hatexscore.quotes import (
    is_trivial,
    locate,
    mask_spans,
    merge_spans,
    quotations,
    touched_words,
    word_spans,
)
from services.hatexscore.report import ConsistencyRule
from services.hatexscore.words import Language, Span
from shared.contracts import Variant

COVERAGE = 0.9  # of the text's words: who quotes more, quotes the text (Eq. 3, Q = {T})


def read_robust(request: HatexscoreRequest) -> ParsedExplanation:
    return parse_explanation(request, conclusion=_concluded, mentions=find_mentions, quoted=_quoted)


def _concluded(request: HatexscoreRequest, language: Language) -> VerdictsRead:
    return read_conclusion(request.explanation, request.vocabulary, language)


def _quoted(request: HatexscoreRequest, language: Language) -> QuotedSpans:
    """Quotations in quotation marks that occur in the text; function words alone point nowhere."""
    quoted = [q for q in quotations(request.explanation) if not is_trivial(q, language)]
    quotes, missing = locate(request.text, quoted)
    spans = merge_spans((quote.start, quote.end) for quote in quotes)
    return QuotedSpans(
        evidence=quote_evidence(quotes),
        hallucinated=tuple(quotation for quotation in missing if not names_label(quotation.text)),
        masked=mask_spans(request.text, spans) if spans else None,
        trivial=_quotes_everything(request, language, spans),
        spans=tuple(spans),
    )


def _quotes_everything(
    request: HatexscoreRequest, language: Language, spans: Sequence[Span]
) -> bool:
    """Do the quotes cover the text? A short text may be quoted whole: what else is there?

    Deviates: the paper's Table 3 scores a whole quotation 1 where Eq. 3 says 0.
    """
    counted = word_spans(request.text, language)
    if len(counted) <= request.short_text_max_words:
        return False
    covered = sum(last - first for first, last in touched_words(counted, spans))
    return covered >= COVERAGE * len(counted)


@dataclass(frozen=True, slots=True, kw_only=True)
class HatexscoreVariant:
    read: Callable[[HatexscoreRequest], ParsedExplanation]
    consistency_rule: ConsistencyRule  # where the request names none
    tau: float | None = None  # None: the request's
    why_no_control: str | None = None  # None: there is one


VARIANTS: dict[Variant, HatexscoreVariant] = {
    "robust": HatexscoreVariant(read=read_robust, consistency_rule="causal"),
    "paper": HatexscoreVariant(read=variant_paper.read_as_printed, consistency_rule="eq5"),
    "reference": HatexscoreVariant(
        read=variant_reference.read_as_released,
        consistency_rule="reference",
        tau=variant_reference.TAU,
        why_no_control="variant reference masks letters inside words, which has no random "
        "counterpart",
    ),
}
