"""Variant `reference`: the released code with its defects, made deterministic.

Q is sorted, while the released code uses an unordered set. Groups are n-grams that match a prefix
of any term: "down" counts as Down syndrome, and "non-hateful" as non-binary. Source:
Social-AI-Studio/HateXScore, `metrics/htc.py`, `metrics/cc.py`, `hatexscore/qf.py`,
`hatexscore/tgi.py`, and the target list of `metrics/utils.py` (read, not copied). Deviates: Korean
morphemes come from kiwipiepy, not Okt. Fuzzy matching is left out, since every token comes from the
text. The group lists are the paper's.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from services.hatexscore.contract import HatexscoreRequest
from services.hatexscore.explanation import (
    LABEL_UNKNOWN,
    PRINTED,
    ParsedExplanation,
    QuotedSpans,
    detect_languages,
    lexicon_of,
    where_read,
)
from services.hatexscore.lexicon import Lexicon
from services.hatexscore.quotes import MASK
from services.hatexscore.report import HatexscoreGroupEvidence, HatexscoreQuoteEvidence, Label
from services.hatexscore.words import Language, TextWord, words
from shared.contracts.errors import TooCostly
from shared.process.cached import cache_results
from shared.queue.job_context import check_each

TAU = 0.45  # hard-coded in metrics/cc.py
LONGEST_GRAM = 3  # tokens
KEPT_BYTES, PREFIX_BYTES = 2**23, 100  # of prefixes that are kept; a character of their terms
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
# The released English UN list follows the grounds of the paper's Table 13 (Chinese), with peoples
# for countries, none of them hyphenated; here Table 13's category names, and its gender and age
# terms, in English.
_UN_ENGLISH = (
    *("race", "religion", "gender", "disability", "age", "caste", "migration"),
    *("women", "men", "female", "male", "transgender", "non-binary", "intersex", "cisgender"),
    *("children", "teenager", "youth", "adult", "senior"),
)
_COUNTRIES = "National"


def read_as_released(requests: Sequence[HatexscoreRequest]) -> list[ParsedExplanation]:
    return list(map(_read, requests))


def _read(request: HatexscoreRequest) -> ParsedExplanation:
    languages = detect_languages(request, PRINTED)
    keyword = last_keyword(request.explanation_text)
    stated = _MEANING.get(keyword or "")
    label = request.decision_class or stated
    lexicon = lexicon_of(request, languages.explanation)
    groups = prefix_matches(request.explanation_text, languages.explanation, lexicon)
    tokens = common_tokens(request.text, request.explanation_text, languages.text)
    masked = mask_tokens(request.text, tokens) if tokens else None  # first: it refuses too much
    fixed_tau = (
        () if request.options.tau in (0.3, TAU) else (f"variant reference: tau is fixed at {TAU}",)
    )
    parsed = ParsedExplanation(
        languages=languages,
        statement=None,
        htc=float(keyword is not None),
        label=label,
        stated_decision=stated,
        quoting=QuotedSpans(
            evidence=tuple(_evidence(request.text, token) for token in check_each(tokens)),
            hallucinated=(),
            masked=masked,
            trivial=tokens == [request.text],
            spans=(),
        ),
        groups=groups,
        tgi=float(bool(groups)),
        warnings=(*fixed_tau, *(() if label else (LABEL_UNKNOWN,))),
    )
    return where_read(request, parsed)


def last_keyword(explanation: str) -> str | None:
    """Return the last of eleven label words in the explanation. Negation and quotation are
    ignored."""
    keywords = _KEYWORD.findall(explanation.strip().lower())
    return str(keywords[-1]) if keywords else None


def common_tokens(text: str, explanation: str, language: Language) -> list[str]:
    """Return the distinct tokens that text and explanation share, longest first, then
    alphabetically."""
    shared = set(_tokens(text, language)) & set(_tokens(explanation, language))
    return sorted(shared, key=lambda token: (-len(token), token))


def _tokens(text: str, language: Language) -> list[str]:
    """Return the tokens of a text in lower case and without punctuation."""
    plain = re.sub(rf"[^\w\s{_KEEPS[language]}]+", " ", text.lower())
    if language == "en":
        return plain.split()
    return [word.text for word in words(plain, language)]


def mask_tokens(text: str, tokens: Sequence[str]) -> str:
    """Return the text with the tokens masked one after another, ignoring case. Tokens inside words
    and inside earlier masks are masked too. Raises TooCostly for long texts."""
    masked, searched = text, 0
    for token in check_each(tokens):
        masked = re.sub(re.escape(token), MASK, masked, flags=re.IGNORECASE)
        searched += len(masked)
        if searched > MOST_SEARCHED:
            raise TooCostly(
                "variant reference searches the text once for each word that text and "
                "explanation share, and also inside its own masks. For this request that is "
                f"more than {MOST_SEARCHED:,} characters. Shorten the text, or leave out the "
                "variant",
                pointers=("/text", "/explanation"),
            )
    return re.sub(r"\s{2,}", " ", masked).strip()


def _evidence(text: str, token: str) -> HatexscoreQuoteEvidence:
    """Return the first occurrence of a token in the text. It has no offsets if lower case changes
    the length."""
    hit = re.search(re.escape(token), text, flags=re.IGNORECASE)
    return HatexscoreQuoteEvidence(
        start=hit.start() if hit else None,
        end=hit.end() if hit else None,
        text=hit.group() if hit else token,
        quoted_as=token,
        match="exact",
        value=1.0,
    )


def prefix_matches(
    explanation: str, language: Language, lexicon: Lexicon
) -> tuple[HatexscoreGroupEvidence, ...]:
    """Return every run of up to three words that begins a group term or a category's name."""
    tokens = _lemmatized(explanation, language)
    prefixes = _prefixes(_terms(lexicon), language)
    return tuple(
        _group_evidence(explanation, tokens[first : first + length], prefixes)
        for first in range(len(tokens))
        for length in range(1, min(LONGEST_GRAM, len(tokens) - first) + 1)
        if tuple(word.lemma for word in tokens[first : first + length]) in prefixes
    )


def _terms(lexicon: Lexicon) -> tuple[str, ...]:
    if (lexicon.policy, lexicon.language) != ("un", "en"):
        return (*lexicon.category_names, *lexicon.printed_terms)
    terms = list(_UN_ENGLISH)
    for entry in lexicon.entries():
        if entry.category != _COUNTRIES:
            terms += [entry.term] if entry.kind in ("term", "slur_alias") else []
        elif entry.kind == "demonym" and "-" not in entry.term:
            terms.append(entry.term)
    return tuple(terms)


@cache_results(KEPT_BYTES, lambda _prefixes, terms, _: PREFIX_BYTES * sum(map(len, terms)))
def _prefixes(terms: tuple[str, ...], language: Language) -> dict[tuple[str, ...], str]:
    """Map each sequence of lemmas with which a term begins to the first such term."""
    prefixes: dict[tuple[str, ...], str] = {}
    for term in terms:
        lemmas = [word.lemma for word in _lemmatized(term, language)]
        for length in range(1, min(LONGEST_GRAM, len(lemmas)) + 1):
            prefixes.setdefault(tuple(lemmas[:length]), term)
    return prefixes


def _lemmatized(text: str, language: Language) -> list[TextWord]:
    """Return the lemmatised text. As in spaCy, English keeps punctuation as tokens; other languages
    drop it."""
    lowered = "".join(c.lower() if len(c.lower()) == 1 else c for c in text)
    if language == "en":
        return words(lowered, language)
    return words(re.sub(r"[^\w\s]", " ", lowered), language)


def _group_evidence(
    explanation: str, gram: list[TextWord], prefixes: dict[tuple[str, ...], str]
) -> HatexscoreGroupEvidence:
    term = prefixes[tuple(word.lemma for word in gram)]
    start, end = gram[0].start, gram[-1].end
    return HatexscoreGroupEvidence(
        start=start,
        end=end,
        text=explanation[start:end],
        group=term,
        category="",
        found_as="prefix",
        counts=True,
        reason="as in the released code: the word is a prefix of a listed term or category name",
    )
