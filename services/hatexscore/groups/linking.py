"""Is a mention tied to the hateful content? The hateful-context check of §3.3.

Deviates: the paper uses "NER and part-of-speech patterns"; here a mention is tied if its sentence
holds an attack predicate that is not denied, or a quotation, or if the next sentence refers back to
it ("they", 该群体, 이들) with such a predicate. The released code has no such check.
"""

from __future__ import annotations

from services.hatexscore.groups.context import Context
from services.hatexscore.groups.ordinary import around
from services.hatexscore.groups.tree import Match

IN_SENTENCE = "in a sentence with an attack predicate"
IN_NEXT = "the next sentence refers to it with an attack predicate"
WITH_QUOTE = "linked to a quote in the same sentence"
NO_LINK = "no link to the hateful content"
EQUATION_4 = "named, and the text is judged non-hateful: Eq. 4 asks for no link"


def link(context: Context, match: Match) -> str | None:
    """How the mention is tied to the hateful content; None if it is not."""
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
    return IN_NEXT if context.known.says("follow_up", text) else None


def is_bystander(context: Context, match: Match) -> bool:
    """ "My Muslim colleague": somebody of the writer's own, not a target."""
    before, after = around(context.passage, match)
    return context.known.says("own_before", before) and context.known.says("own_after", after)


def _attacks(context: Context, place: int, match: Match) -> bool:
    """Does the sentence hold an attack predicate other than the mention itself?

    "racist" and "islamophobic" are both at once; a printed term is only a group.
    """
    claims = context.claims[place]
    own = (match.start, match.end) if match.entry.kind == "term" else (0, 0)
    others = (not (own[0] <= start and end <= own[1]) for start, end in claims.attacks)
    return claims.rejects or any(others)
