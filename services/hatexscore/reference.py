"""Variant `reference`: what the released code does, defects included, made deterministic.

Source: Social-AI-Studio/HateXScore, `metrics/htc.py`, `metrics/cc.py`, `hatexscore/qf.py`,
`hatexscore/tgi.py` (read, not copied). Q is sorted, which the released code leaves to a set.
Deviates: Korean morphemes come from kiwipiepy, not Okt; the branch of fuzzy matching is left out,
since every token was taken from the text; the group lists are the paper's, not the released ones.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from services.hatexscore.contract import HatexscoreRequest
from services.hatexscore.languages import Language, words
from services.hatexscore.masking import MASK
from services.hatexscore.reading import LABEL_UNKNOWN, Quoting, Reading, languages_of, lexicon_of
from services.hatexscore.reference_groups import prefix_matches
from services.hatexscore.report import Label, QuoteEvidence
from shared.errors import TooCostly
from shared.job_context import checking

TAU = 0.45  # hard-coded in metrics/cc.py
MOST_SEARCHED = 100_000_000  # characters, word by word: about two seconds

_KEYWORD = re.compile(
    r"\b(?:non-hateful|hateful|yes|no|hate speech|是，|不是，|비증오적인|증오적인|아니요|예)\b"
)
_MEANING: dict[str, Label] = {
    "yes": "hateful",
    "hateful": "hateful",
    "hate speech": "hateful",
    "是，": "hateful",
    "no": "non-hateful",
    "non-hateful": "non-hateful",
    "不是，": "non-hateful",
}
_KEEPS: dict[Language, str] = {"en": "", "zh": "\u4e00-\u9fff", "ko": "\uac00-\ud7a3"}


def read(request: HatexscoreRequest) -> Reading:
    """Keywords, shared tokens, prefixes."""
    languages = languages_of(request)
    keyword = last_keyword(request.explanation)
    stated = _MEANING.get(keyword or "")
    label = request.predicted_label or stated
    lexicon = lexicon_of(request, languages.explanation)
    groups = prefix_matches(request.explanation, languages.explanation, lexicon)
    fixed_tau = () if request.tau in (0.3, TAU) else (f"variant reference: tau is fixed at {TAU}",)
    return Reading(
        languages=languages,
        statement=None,
        htc=float(keyword is not None),
        label=label,
        stated_label=stated,
        quoting=_quoting(request, languages.text),
        groups=groups,
        tgi=float(bool(groups)),
        tau=TAU,
        rule=request.consistency_rule or "reference",
        warnings=(*fixed_tau, *(() if label else (LABEL_UNKNOWN,))),
    )


def last_keyword(explanation: str) -> str | None:
    """The last of eleven keywords, anywhere; negation and quotation do not matter."""
    found = _KEYWORD.findall(explanation.strip().lower())
    return str(found[-1]) if found else None


def _quoting(request: HatexscoreRequest, language: Language) -> Quoting:
    tokens = shared_tokens(request.text, request.explanation, language)
    masked = mask_tokens(request.text, tokens) if tokens else None  # first: it refuses too much
    return Quoting(
        evidence=tuple(_evidence(request.text, token) for token in checking(tokens)),
        hallucinated=(),
        masked=masked,
        trivial=tokens == [request.text],
        spans=(),
    )


def shared_tokens(text: str, explanation: str, language: Language) -> list[str]:
    """Unique tokens of the text that occur in the explanation, longest first, then by text."""
    shared = set(_tokens(text, language)) & set(_tokens(explanation, language))
    return sorted(shared, key=lambda token: (-len(token), token))


def _tokens(text: str, language: Language) -> list[str]:
    """Lower case, punctuation to spaces, split."""
    plain = re.sub(rf"[^\w\s{_KEEPS[language]}]+", " ", text.lower())
    if language == "en":
        return plain.split()
    return [word.text for word in words(plain, language)]


def mask_tokens(text: str, tokens: Sequence[str]) -> str:
    """Substitute token after token, in any case, inside words and inside earlier masks."""
    masked, work = text, 0
    for token in checking(tokens):
        masked = re.sub(re.escape(token), MASK, masked, flags=re.IGNORECASE)
        work += len(masked)
        if work > MOST_SEARCHED:
            raise TooCostly(
                "variant reference searches the text once for each word that text and explanation "
                f"share, and masks inside its own masks: more than {MOST_SEARCHED:,} characters. "
                "Shorten the text, or leave out the variant",
                pointers=("/text", "/explanation"),
            )
    return re.sub(r"\s{2,}", " ", masked).strip()


def _evidence(text: str, token: str) -> QuoteEvidence:
    """The first hit of a token in the text; without offsets where lower case changed its length."""
    hit = re.search(re.escape(token), text, flags=re.IGNORECASE)
    return QuoteEvidence(
        start=hit.start() if hit else None,
        end=hit.end() if hit else None,
        text=hit.group() if hit else token,
        quoted_as=token,
        match="exact",
        value=1.0,
    )
