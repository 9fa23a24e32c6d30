"""Compares an explanation with its post by shared content words, or by meaning.

A stock sentence shares no content word with the post. Outside quoted phrases, frequent words count
half. A paraphrase shares few words, so a sentence encoder compares the rest of the explanation with
the post. The encoder supports only English.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from functools import lru_cache
from itertools import islice
from typing import get_args

from services.hatexscore.contract import HatexscoreRequest
from services.hatexscore.explanation import ParsedExplanation
from services.hatexscore.report import HatexscorePostWords
from services.hatexscore.words import Language, words
from shared.contracts.calls import Pair
from shared.contracts.errors import BadInput
from shared.contracts.explanation_fields import written_out
from shared.models.ports import models
from shared.text.english import log_probabilities

ENOUGH = 1.5  # weight of the shared words from which an explanation is about the post
SHARE = 0.6  # of the post's own weight, which is enough in a short post
SIMILARITY = "embedded-similarity"
FREQUENT = 2_000  # English words that count half
SHORT = {"zh": 1, "ko": 1}  # characters up to which a word of another language counts half
STEM = 5  # letters by which words of languages without an analyser are compared
ANALYSED: tuple[Language, ...] = get_args(Language)  # whose words the analysers know


def read_post_words(
    requests: Sequence[HatexscoreRequest], parsed: Sequence[ParsedExplanation]
) -> list[HatexscorePostWords | None]:
    """Compare each explanation with its post. The entry is None for an explanation that is tested
    by its quotations. If the two share too few words, a sentence encoder compares an English
    explanation with the post."""
    by_index = [
        None if explanation.rests_on_quotes else post_words(request, explanation)
        for request, explanation in zip(requests, parsed, strict=True)
    ]
    pairs: dict[int, Pair] = {}
    for index, (request, explanation) in enumerate(zip(requests, parsed, strict=True)):
        words_of_both = by_index[index]
        if words_of_both is None or words_of_both.weight >= words_of_both.needed:
            continue
        rest = _without_words_of_the_post(request)
        languages = explanation.languages
        is_english = languages.found_text.code == "en" == languages.found_explanation.code
        if is_english and any(map(str.isalpha, rest)):
            pairs[index] = Pair(a=rest, b=request.text)
    with suppress(BadInput):  # no such model is configured
        values = models().similarity(SIMILARITY).similarities(list(pairs.values())) if pairs else ()
        for index, value in zip(pairs, values, strict=True):
            own_words = by_index[index]
            if own_words is not None:
                by_index[index] = own_words.model_copy(update={"similarity": float(value)})
    return by_index


def _without_words_of_the_post(request: HatexscoreRequest) -> str:
    """Return the explanation without the content words that it shares with the post."""
    explanation = written_out(request.explanation)
    post, pieces, position = _content(request.text, "en"), [], 0
    for word in words(explanation, "en"):
        if word.is_word and word.lemma in post:
            pieces.append(explanation[position : word.start])
            position = word.end
    return "".join([*pieces, explanation[position:]])


def post_words(request: HatexscoreRequest, parsed: ParsedExplanation) -> HatexscorePostWords:
    """Compare the words of the explanation with those of the post."""
    code, language = parsed.languages.found_text.code, parsed.languages.text
    post, explanation = (
        _stems(_content(text, language), code) for text in (request.text, request.explanation_text)
    )
    shared = post & explanation
    needed = min(ENOUGH, SHARE * sum(_weight(word, code) for word in post))
    quoted = {
        word
        for quote in parsed.quoting.evidence
        if len(phrase := _stems(_content(quote.text, language), code)) > 1
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


def _stems(content: frozenset[str], code: str) -> frozenset[str]:
    """Shorten content words to their first letters, for languages without an analyser."""
    if code.partition("-")[0] in ANALYSED:
        return content
    return frozenset(word[:STEM] for word in content - _function_words(code))


@lru_cache
def _function_words(code: str) -> frozenset[str]:
    """Return the function words of a language without an analyser; empty if there is no list."""
    from spacy.util import get_lang_class  # takes seconds

    try:
        return frozenset(get_lang_class(code.partition("-")[0]).Defaults.stop_words)
    except ImportError:
        return frozenset()


def _weight(word: str, code: str) -> float:
    if code.partition("-")[0] == "en":
        return 0.5 if word in _frequent() else 1.0
    return 0.5 if len(word) <= SHORT.get(code, 0) else 1.0


@lru_cache(maxsize=1)
def _frequent() -> frozenset[str]:
    return frozenset(word.lower() for word in islice(log_probabilities(), FREQUENT))
