"""Variant `robust`: what the paper means, with the defects mended.

Source: Hu & Lee, arXiv:2601.13547, sections 3.1 to 3.3; README.md lists the departures.
"""

from __future__ import annotations

from collections.abc import Sequence

from services.hatexscore.conclusion import conclusion, names_label
from services.hatexscore.contract import HatexscoreRequest
from services.hatexscore.groups import mentions, target_group_identified
from services.hatexscore.languages import Language, Span
from services.hatexscore.masking import mask, merge
from services.hatexscore.quotation_marks import quoted_spans
from services.hatexscore.quotes import is_trivial, locate, quotations
from services.hatexscore.reading import (
    LABEL_UNKNOWN,
    Quoting,
    Reading,
    group_evidence,
    languages_of,
    lexicon_of,
    quote_evidence,
)
from services.hatexscore.units import touched, word_spans

COVERAGE = 0.9  # of the text's words: who quotes more, quotes the text (Eq. 3, Q = {T})


def read(request: HatexscoreRequest) -> Reading:
    """Conclusion, quotations and groups of the explanation."""
    languages = languages_of(request)
    statement = conclusion(request.explanation, languages.explanation)
    stated = statement.label if statement else None
    label = request.predicted_label or stated
    quoting = _quoting(request, languages.text)
    found = mentions(
        request.explanation,
        languages.explanation,
        lexicon_of(request, languages.explanation),
        hateful=label != "non-hateful",  # an unknown decision is held to the stricter test
        quotations=quoted_spans(request.explanation),
    )
    return Reading(
        languages=languages,
        statement=statement,
        htc=float(statement is not None),
        label=label,
        stated_label=stated,
        quoting=quoting,
        groups=group_evidence(found),
        tgi=float(target_group_identified(found)),
        tau=request.tau,
        rule=request.consistency_rule or "causal",
        warnings=() if label else (LABEL_UNKNOWN,),
    )


def _quoting(request: HatexscoreRequest, language: Language) -> Quoting:
    """Quotations in quotation marks that occur in the text; function words alone point nowhere."""
    quoted = [q for q in quotations(request.explanation) if not is_trivial(q, language)]
    quotes, missing = locate(request.text, quoted)
    spans = merge((quote.start, quote.end) for quote in quotes)
    return Quoting(
        evidence=quote_evidence(quotes),
        hallucinated=tuple(quotation for quotation in missing if not names_label(quotation.text)),
        masked=mask(request.text, spans) if spans else None,
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
    covered = sum(last - first for first, last in touched(counted, spans))
    return covered >= COVERAGE * len(counted)
