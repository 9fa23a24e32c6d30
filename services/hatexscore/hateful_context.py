"""Is a group mention tied to hateful content? As version 1 read it: the paper's variant keeps it.

Source: Hu & Lee, EACL 2026 (arXiv:2601.13547), §3.3, which says "NER and part-of-speech patterns"
and names no rule; so this one is ours, and its numbers stay as they were published. The robust
variant reads negation by its scope: `groups`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from services.hatexscore.group_terms import (
    Cues,
    GroupMention,
    Passage,
    Sentence,
    TermMatch,
    load_cues,
)
from services.hatexscore.words import Language, Span, TextWord

QUOTED = "inside a quotation"
SLUR = "a slur is an alias, not an identification"
NO_GROUND = "a category is named, but not as the ground of anything"
NEGATED = "negated"
BYSTANDER = "somebody of the writer's own, not a target"
IN_SENTENCE = "in a sentence with an attack predicate"
IN_NEXT = "the next sentence refers to it with an attack predicate"
WITH_QUOTE = "linked to a quote in the same sentence"
NO_LINK = "no link to the hateful content"
EQUATION_4 = "named, and the text is judged non-hateful: Eq. 4 requires no link"

WINDOW = 80  # characters looked at on either side of a mention
REACH_AFTER = 8  # words between a mention and its denial
REACH_PREDICATE = 3  # words between a negator and what it denies
REACH_DENIABLE = 5  # morphemes between what is denied and a Korean negator
REACH_DIRECT = 2  # morphemes: noun + particle right before a Korean negator
CONTRAST = frozenset({"but", "但", "但是"})


def reported(passage: Passage, match: TermMatch, counts: bool, reason: str) -> GroupMention:
    entry = match.entry
    text = passage.text[match.start : match.end]
    place = (match.start, match.end, text)
    return GroupMention(
        entry.group, entry.category, *place, match.found_as, counts, reason, attacked=counts
    )


@dataclass(frozen=True)
class SentenceClaims:
    """What one sentence denies and attacks, worked out once for all its mentions."""

    denied: tuple[Span, ...]  # from after the negator: 非 in 非裔 denies nothing
    attacks: tuple[Span, ...]
    rejects: bool

    def denies(self, position: int) -> bool:
        return _inside(self.denied, position)


@dataclass(frozen=True)
class ExplanationContext:
    """A passage with the claims of its sentences, in order."""

    passage: Passage
    cues: Cues
    claims: tuple[SentenceClaims, ...]


def read_context(passage: Passage) -> ExplanationContext:
    cues = load_cues(passage.language)
    claims = tuple(_claims(passage, sentence, cues) for sentence in passage.sentences)
    return ExplanationContext(passage, cues, claims)


def _claims(passage: Passage, sentence: Sentence, cues: Cues) -> SentenceClaims:
    """Attack predicates count outside quotations, and where they are not denied."""
    denied = tuple(denials(passage.language, sentence, cues))
    text = passage.text[sentence.start : sentence.end]
    found = (match.span() for match in cues.patterns["predicates"].finditer(text))
    spans = ((sentence.start + start, sentence.start + end) for start, end in found)
    attacks = tuple(
        span for span in spans if not (passage.quoted(*span) or _inside(denied, span[0]))
    )
    return SentenceClaims(denied, attacks, rejections(sentence, cues))


def _inside(spans: tuple[Span, ...], position: int) -> bool:
    return any(start <= position < end for start, end in spans)


def link(context: ExplanationContext, match: TermMatch) -> str | None:
    """How the mention is tied to the hateful content (§3.3); None if it is not.

    Deviates: the paper uses "NER and part-of-speech patterns"; here a mention is tied if its
    sentence holds an attack predicate that is not denied, or a quotation, or if the next sentence
    refers back to it ("they", 该群体, 이들) with such a predicate. The released code has no check.
    """
    passage = context.passage
    place = passage.sentence_at(match.start)
    if _attacks(context, place, match):
        return IN_SENTENCE
    if passage.sentences[place].quotes:
        return WITH_QUOTE
    if place + 1 == len(passage.sentences) or not _attacks(context, place + 1, match):
        return None
    following = passage.sentences[place + 1]
    text = passage.text[following.start : following.end]
    return IN_NEXT if context.cues.says("follow_up", text) else None


def _attacks(context: ExplanationContext, place: int, match: TermMatch) -> bool:
    """Does the sentence hold an attack predicate other than the mention itself?

    "racist" and "islamophobic" are both at once; a printed term is only a group.
    """
    claims = context.claims[place]
    own = (match.start, match.end) if match.entry.kind == "term" else (0, 0)
    others = (not (own[0] <= start and end <= own[1]) for start, end in claims.attacks)
    return claims.rejects or any(others)


def denials(language: Language, sentence: Sentence, cues: Cues) -> Iterator[Span]:
    """Spans of the explanation that the sentence denies: "not to any race, religion or gender".

    In English and Chinese a denial runs forward from its negator to the end of the clause, and a
    mention may be denied afterwards ("Muslims are not attacked"). In Korean the negator stands at
    the end, so a denial runs backward. "not only" and "no doubt" deny nothing; "does not respect"
    is an attack.
    """
    direction = _backward if language == "ko" else _forward
    return direction(sentence.words, cues)


def rejections(sentence: Sentence, cues: Cues) -> bool:
    """Does the sentence say of somebody "does not respect", "不尊重", "존중하지 않"?"""
    found = sentence.words
    negators = (place for place in range(len(found)) if _is_negator(found, place, cues))
    return any(_near(found, place, cues.rejecting) for place in negators)


def _forward(found: Sequence[TextWord], cues: Cues) -> Iterator[Span]:
    """From each negator to the end of its clause."""
    opened: int | None = None
    for place, word in enumerate(found):
        if opened is not None and _closes(found, place, cues):
            yield opened, word.start
            opened = None
        if opened is None and _opens(found, place, cues):
            opened = word.end
    if opened is not None:
        yield opened, found[-1].end


def _backward(found: Sequence[TextWord], cues: Cues) -> Iterator[Span]:
    """From the start of the clause to a negator, if a predicate stands right before that."""
    opened = 0
    for place, word in enumerate(found):
        if _closes_backward(found, place, cues):
            opened = place + 1
        if not _opens(found, place, cues):
            continue
        before = found[max(opened, place - REACH_DENIABLE) : place]
        deniable = any(_is_deniable(morpheme, cues) for morpheme in before)
        first = opened if deniable else max(opened, place - REACH_DIRECT)
        yield found[min(first, place)].start, word.end


def _is_deniable(word: TextWord, cues: Cues) -> bool:
    """What a Korean explanation denies: an attack, or being the object or the content of one."""
    listed = word.text in cues.deniable or word.lemma in cues.deniable
    return listed or cues.says("predicates", word.text)


def _closes_backward(found: Sequence[TextWord], place: int, cues: Cues) -> bool:
    """A contrast, or a linking ending before a comma, is where a Korean clause ends."""
    word = found[place]
    if word.text in cues.linking:
        return _text_at(found, place + 1) == ","
    return word.text in cues.clause_ends


def _opens(found: Sequence[TextWord], place: int, cues: Cues) -> bool:
    """Does a denial open here?"""
    return (
        _is_negator(found, place, cues)
        and not _near(found, place, cues.cancelling)
        and not _near(found, place, cues.rejecting)
    )


def _is_negator(found: Sequence[TextWord], place: int, cues: Cues) -> bool:
    """One word, its lemma, or two words: "rather than"."""
    word = found[place]
    pair = f"{_lower(word)} {_text_at(found, place + 1)}"
    lemma_pair = f"{word.lemma} {_text_at(found, place + 1)}"
    return not cues.negators.isdisjoint({_lower(word), word.lemma, pair, lemma_pair})


def _near(found: Sequence[TextWord], place: int, listed: frozenset[str]) -> bool:
    """Is a listed word next to the negator: after it, or (in Korean) before it?"""
    if f"{_lower(found[place])} {_text_at(found, place + 1)}" in listed:
        return True
    korean = found[place].lemma.endswith("다") or found[place].text == "무관"
    near = found[max(0, place - 4) : place] if korean else found[place + 1 : place + 3]
    return any(_lower(word) in listed or word.lemma in listed for word in near)


def _closes(found: Sequence[TextWord], place: int, cues: Cues) -> bool:
    """Does the clause end before this word?"""
    word = found[place]
    if _ends_clause(word, cues):
        return True
    following = _text_at(found, place + 1)
    if word.text == ",":
        return following in cues.comma_starters or _is_finite(following, cues)
    return _lower(word) in ("and", "or") and _is_finite(following, cues)


def _is_finite(text: str, cues: Cues) -> bool:
    """ "…, attacking Muslims", "and attacks Muslims": a new predicate, not one more object."""
    return text.endswith(("s", "ing")) and cues.says("predicates", text)


def _ends_clause(word: TextWord, cues: Cues) -> bool:
    return _lower(word) in cues.clause_ends


def _lower(word: TextWord) -> str:
    return word.text.lower().replace("\u2019", "'")


def _text_at(found: Sequence[TextWord], place: int) -> str:
    return _lower(found[place]) if place < len(found) else ""
