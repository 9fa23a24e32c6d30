"""Target-group identification (TGI): which mentions of protected groups name the target, and why.

Source: Hu & Lee, EACL 2026 (arXiv:2601.13547), §3.3 and Eq. 4: TGI = 1 iff the n-grams of the
explanation and the group list share an element; for hateful samples tied to hateful context.

Deviates: quotations, denials, slurs, prefixes and ordinary words do not identify anybody; plurals,
demonyms, groups that the printed lists miss and grounds ("based on their race") do.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from services.hatexscore.group_terms import (
    Cues,
    GroupMention,
    Passage,
    Sentence,
    TermMatch,
    find_terms,
    load_cues,
    read_passage,
    singular,
)
from services.hatexscore.lexicon import Lexicon
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


def find_mentions(
    explanation: str,
    language: Language,
    lexicon: Lexicon,
    *,
    hateful: bool,
    quotations: Sequence[Span],
) -> list[GroupMention]:
    """Every mention of a protected group in the explanation, in order, with its verdict.

    hateful:    the prediction that is explained; a hateful one needs a link to hateful content.
    quotations: spans of the explanation inside quotation marks.
    """
    context = read_context(read_passage(explanation, language, quotations))
    return [
        reported(context.passage, match, *_verdict(context, match, hateful))
        for match in find_terms(context.passage, lexicon)
    ]


def target_group_identified(found: Sequence[GroupMention]) -> bool:
    """TGI, Eq. 4: does any mention count?"""
    return any(mention.counts for mention in found)


def reported(passage: Passage, match: TermMatch, counts: bool, reason: str) -> GroupMention:
    entry = match.entry
    text = passage.text[match.start : match.end]
    place = (match.start, match.end, text)
    return GroupMention(entry.group, entry.category, *place, match.found_as, counts, reason)


def _verdict(context: ExplanationContext, match: TermMatch, hateful: bool) -> tuple[bool, str]:
    """Does the mention identify the target, and why?"""
    objection = _objection(context, match)
    if objection is not None:
        return False, objection
    if not hateful:
        return True, EQUATION_4
    if is_bystander(context, match):
        return False, BYSTANDER
    tie = link(context, match)
    return tie is not None, tie or NO_LINK


def _objection(context: ExplanationContext, match: TermMatch) -> str | None:
    """Why the mention identifies nobody, whatever the prediction; None if nothing is against it."""
    passage, cues = context.passage, context.cues
    if match.entry.kind == "slur_alias":
        return SLUR
    if passage.quoted(match.start, match.end):
        return QUOTED
    if match.entry.kind == "category_term" and not is_ground(passage, match, cues):
        return NO_GROUND
    return ordinary_word(passage, match, cues) or (NEGATED if _denied(context, match) else None)


def _denied(context: ExplanationContext, match: TermMatch) -> bool:
    passage = context.passage
    place = passage.sentence_at(match.start)
    return context.claims[place].denies(match.start) or denied_afterwards(
        passage.language, passage.sentences[place], match.end, context.cues
    )


def is_ground(passage: Passage, match: TermMatch, cues: Cues) -> bool:
    """Is the category a ground of discrimination: "a racial slur", "because of their race"?

    The paper's own example (table 3) identifies its target by "based on their race" alone. The
    released code counts any occurrence of a category's name, "whatever the age of the account".
    """
    if cues.says("standalone_category", passage.text[match.start : match.end]):
        return True
    before, after = around(passage, match)
    return cues.says("category_before", before) or cues.says("category_after", after)


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


def is_bystander(context: ExplanationContext, match: TermMatch) -> bool:
    """ "My Muslim colleague": somebody of the writer's own, not a target."""
    before, after = around(context.passage, match)
    return context.cues.says("own_before", before) and context.cues.says("own_after", after)


def _attacks(context: ExplanationContext, place: int, match: TermMatch) -> bool:
    """Does the sentence hold an attack predicate other than the mention itself?

    "racist" and "islamophobic" are both at once; a printed term is only a group.
    """
    claims = context.claims[place]
    own = (match.start, match.end) if match.entry.kind == "term" else (0, 0)
    others = (not (own[0] <= start and end <= own[1]) for start, end in claims.attacks)
    return claims.rejects or any(others)


def around(passage: Passage, match: TermMatch) -> tuple[str, str]:
    """What stands before and after the mention in its sentence, at most WINDOW characters."""
    sentence = passage.sentences[passage.sentence_at(match.start)]
    before = passage.text[max(sentence.start, match.start - WINDOW) : match.start]
    after = passage.text[match.end : min(sentence.end, match.end + WINDOW)]
    return before, after


def ordinary_word(passage: Passage, match: TermMatch, cues: Cues) -> str | None:
    """Why this occurrence is an ordinary word and names no group; None if it does name one.

    "black", "blind", "orthodox", "turkey", "aids", 수단 (Sudan, or a means) name a group only with
    a person noun, as a plural, with the right capitals, or as "the blind".
    """
    term = match.entry.term
    surface = passage.text[match.start : match.end]
    before, after = around(passage, match)
    if cues.says("other_than_before", before):
        return "prefixed with 'non-': others than this group"
    if cues.says("thing_after", after):
        return "a thing is named, not people"
    if term in cues.needs_upper and not surface.isupper():
        return "an ordinary word without its capitals"
    if term in cues.needs_capital and not surface[0].isupper():
        return "an ordinary word without its capital"
    if term in cues.needs_plural and singular(surface.lower()) == surface.lower():
        return None if cues.says("being_before", before) else "one person, not the group"
    if term in cues.needs_person_noun and not _names_people(passage, match, cues):
        return "an ordinary word: no person noun follows"
    return None


def _names_people(passage: Passage, match: TermMatch, cues: Cues) -> bool:
    """Plural, "the blind", "anti-black", "with cancer", "Black culture", or a person noun."""
    term = match.entry.term
    before, after = around(passage, match)
    if match.found_as in ("plural", "demonym") and match.entry.kind != "demonym":
        return True
    if term in cues.capital_is_enough and _capital_inside(passage, match, before):
        return True
    as_noun = cues.says("group_of_before", before) and cues.says("group_of_after", after)
    return (
        (term in cues.group_of and as_noun)
        or cues.says("anti_before", before)
        or cues.says("living_with_before", before)
        or cues.says("person_after", after)
    )


def _capital_inside(passage: Passage, match: TermMatch, before: str) -> bool:
    """A capital that is not owed to the start of a sentence or of a label."""
    begun = before.rstrip(" \"'“‘(*_")
    return passage.text[match.start].isupper() and bool(begun) and begun[-1] not in ":.-•"


def denials(language: Language, sentence: Sentence, cues: Cues) -> Iterator[Span]:
    """Spans of the explanation that the sentence denies: "not to any race, religion or gender".

    In English and Chinese a denial runs forward from its negator to the end of the clause, and a
    mention may be denied afterwards ("Muslims are not attacked"). In Korean the negator stands at
    the end, so a denial runs backward. "not only" and "no doubt" deny nothing; "does not respect"
    is an attack.
    """
    direction = _backward if language == "ko" else _forward
    return direction(sentence.words, cues)


def denied_afterwards(language: Language, sentence: Sentence, end: int, cues: Cues) -> bool:
    """Is the mention that ends at `end` followed by "are not attacked", "没有被攻击"?"""
    if language == "ko":
        return False  # there every denial follows: see `denials`
    first = bisect_left(sentence.words, end, key=lambda word: word.start)
    following = sentence.words[first : first + REACH_AFTER]
    for place, word in enumerate(following):
        if _ends_clause(word, cues) and _lower(word) not in CONTRAST:
            return False
        if _opens(following, place, cues):
            scope = following[place + 1 : place + 1 + REACH_PREDICATE]
            return any(_is_passive(language, word, cues) for word in scope)
    return False


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


def _is_passive(language: Language, word: TextWord, cues: Cues) -> bool:
    """ "attacked" in English; any predicate elsewhere."""
    participle = language != "en" or word.text.lower().endswith(("ed", "en"))
    return participle and cues.says("predicates", word.text)


def _ends_clause(word: TextWord, cues: Cues) -> bool:
    return _lower(word) in cues.clause_ends


def _lower(word: TextWord) -> str:
    return word.text.lower().replace("\u2019", "'")


def _text_at(found: Sequence[TextWord], place: int) -> str:
    return _lower(found[place]) if place < len(found) else ""
