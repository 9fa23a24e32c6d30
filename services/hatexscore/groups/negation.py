"""Which stretches of a sentence are denied: "not to any race, religion or gender".

In English and Chinese a denial runs forward from its negator to the end of the clause, and a
mention may be denied afterwards ("Muslims are not attacked"). In Korean the negator stands at the
end, so a denial runs backward. "not only" and "no doubt" deny nothing; "does not respect" is an
attack.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence

from services.hatexscore.groups.cues import Cues
from services.hatexscore.groups.passage import Sentence
from services.hatexscore.languages import Language, Span, Word

REACH_AFTER = 8  # words between a mention and its denial
REACH_PREDICATE = 3  # words between a negator and what it denies
REACH_DENIABLE = 5  # morphemes between what is denied and a Korean negator
REACH_DIRECT = 2  # morphemes: noun + particle right before a Korean negator
CONTRAST = frozenset({"but", "但", "但是"})


def denials(language: Language, sentence: Sentence, known: Cues) -> Iterator[Span]:
    """Spans of the explanation that the sentence denies."""
    direction = _backward if language == "ko" else _forward
    return direction(sentence.words, known)


def denied_afterwards(language: Language, sentence: Sentence, end: int, known: Cues) -> bool:
    """Is the mention that ends at `end` followed by "are not attacked", "没有被攻击"?"""
    if language == "ko":
        return False  # there every denial follows: see `denials`
    first = bisect_left(sentence.words, end, key=lambda word: word.start)
    following = sentence.words[first : first + REACH_AFTER]
    for place, word in enumerate(following):
        if _ends_clause(word, known) and _lower(word) not in CONTRAST:
            return False
        if _opens(following, place, known):
            scope = following[place + 1 : place + 1 + REACH_PREDICATE]
            return any(_is_passive(language, word, known) for word in scope)
    return False


def rejections(sentence: Sentence, known: Cues) -> bool:
    """Does the sentence say of somebody "does not respect", "不尊重", "존중하지 않"?"""
    found = sentence.words
    negators = (place for place in range(len(found)) if _is_negator(found, place, known))
    return any(_near(found, place, known.rejecting) for place in negators)


def _forward(found: Sequence[Word], known: Cues) -> Iterator[Span]:
    """From each negator to the end of its clause."""
    opened: int | None = None
    for place, word in enumerate(found):
        if opened is not None and _closes(found, place, known):
            yield opened, word.start
            opened = None
        if opened is None and _opens(found, place, known):
            opened = word.end
    if opened is not None:
        yield opened, found[-1].end


def _backward(found: Sequence[Word], known: Cues) -> Iterator[Span]:
    """From the start of the clause to a negator, if a predicate stands right before that."""
    opened = 0
    for place, word in enumerate(found):
        if _closes_backward(found, place, known):
            opened = place + 1
        if not _opens(found, place, known):
            continue
        before = found[max(opened, place - REACH_DENIABLE) : place]
        deniable = any(_is_deniable(morpheme, known) for morpheme in before)
        first = opened if deniable else max(opened, place - REACH_DIRECT)
        yield found[min(first, place)].start, word.end


def _is_deniable(word: Word, known: Cues) -> bool:
    """What a Korean explanation denies: an attack, or being the object or the content of one."""
    listed = word.text in known.deniable or word.lemma in known.deniable
    return listed or known.says("predicates", word.text)


def _closes_backward(found: Sequence[Word], place: int, known: Cues) -> bool:
    """A contrast, or a linking ending before a comma, is where a Korean clause ends."""
    word = found[place]
    if word.text in known.linking:
        return _text_at(found, place + 1) == ","
    return word.text in known.clause_ends


def _opens(found: Sequence[Word], place: int, known: Cues) -> bool:
    """Does a denial open here?"""
    return (
        _is_negator(found, place, known)
        and not _near(found, place, known.cancelling)
        and not _near(found, place, known.rejecting)
    )


def _is_negator(found: Sequence[Word], place: int, known: Cues) -> bool:
    """One word, its lemma, or two words: "rather than"."""
    word = found[place]
    pair = f"{_lower(word)} {_text_at(found, place + 1)}"
    lemma_pair = f"{word.lemma} {_text_at(found, place + 1)}"
    return not known.negators.isdisjoint({_lower(word), word.lemma, pair, lemma_pair})


def _near(found: Sequence[Word], place: int, listed: frozenset[str]) -> bool:
    """Is a listed word next to the negator: after it, or (in Korean) before it?"""
    if f"{_lower(found[place])} {_text_at(found, place + 1)}" in listed:
        return True
    korean = found[place].lemma.endswith("다") or found[place].text == "무관"
    near = found[max(0, place - 4) : place] if korean else found[place + 1 : place + 3]
    return any(_lower(word) in listed or word.lemma in listed for word in near)


def _closes(found: Sequence[Word], place: int, known: Cues) -> bool:
    """Does the clause end before this word?"""
    word = found[place]
    if _ends_clause(word, known):
        return True
    following = _text_at(found, place + 1)
    if word.text == ",":
        return following in known.comma_starters or _is_finite(following, known)
    return _lower(word) in ("and", "or") and _is_finite(following, known)


def _is_finite(text: str, known: Cues) -> bool:
    """ "…, attacking Muslims", "and attacks Muslims": a new predicate, not one more object."""
    return text.endswith(("s", "ing")) and known.says("predicates", text)


def _is_passive(language: Language, word: Word, known: Cues) -> bool:
    """ "attacked" in English; any predicate elsewhere."""
    participle = language != "en" or word.text.lower().endswith(("ed", "en"))
    return participle and known.says("predicates", word.text)


def _ends_clause(word: Word, known: Cues) -> bool:
    return _lower(word) in known.clause_ends


def _lower(word: Word) -> str:
    return word.text.lower().replace("\u2019", "'")


def _text_at(found: Sequence[Word], place: int) -> str:
    return _lower(found[place]) if place < len(found) else ""
