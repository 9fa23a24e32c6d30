"""How much an explanation says about its post: the content words that both have.

A stock sentence shares no content word with the post, and a template with one slot shares one.
Frequent words count half, because any explanation may use them; in a quoted phrase they count
whole.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import islice

from services.hatexscore.contract import HatexscoreRequest
from services.hatexscore.explanation import ParsedExplanation
from services.hatexscore.report import HatexscorePostWords
from services.hatexscore.words import Language, words
from shared.text.english import log_probabilities

ENOUGH = 1.5  # weight of the shared words from which an explanation is about the post
SHARE = 0.6  # of the post's own weight, which is enough in a short post
FREQUENT = 2_000  # English words that count half
SHORT = {"zh": 1, "ko": 1}  # characters up to which a word of another language counts half
SHORT_WORD = 4


def post_words(request: HatexscoreRequest, parsed: ParsedExplanation) -> HatexscorePostWords:
    """Compare the explanation with its post."""
    code, language = parsed.languages.found_text.code, parsed.languages.text
    post = _content(request.text, language)
    shared = post & _content(request.explanation_text, language)
    needed = min(ENOUGH, SHARE * sum(_weight(word, code) for word in post))
    quoted = {
        word
        for quote in parsed.quoting.evidence
        if len(phrase := _content(quote.text, language)) > 1
        for word in phrase
    }
    weight = sum(1.0 if word in quoted else _weight(word, code) for word in shared)
    if len(shared) < 2 and shared != post:
        weight = min(weight, needed / 2)  # one word may be chance, or the slot of a template
    return HatexscorePostWords(words=len(shared), weight=weight, needed=needed)


def _content(text: str, language: Language) -> frozenset[str]:
    least = 1 if language == "zh" else 2
    return frozenset(
        word.lemma
        for word in words(text, language)
        if word.is_word and not word.is_stop and len(word.lemma) >= least
    )


def _weight(word: str, code: str) -> float:
    if code.partition("-")[0] == "en":
        return 0.5 if word in _frequent() else 1.0
    return 0.5 if len(word) <= SHORT.get(code, SHORT_WORD) else 1.0


@lru_cache(maxsize=1)
def _frequent() -> frozenset[str]:
    return frozenset(word.lower() for word in islice(log_probabilities(), FREQUENT))
