"""TGI of variant `robust`: which mentions identify the targeted group, and why.

Source: Hu & Lee, EACL 2026 (arXiv:2601.13547), §3.3 and Eq. 4: TGI = 1 iff the n-grams of the
explanation and the group list share an element; for hateful samples tied to hateful context.

Deviates: quotations, denials, slurs, prefixes and ordinary words do not identify anybody; plurals,
demonyms, groups that the printed lists miss and grounds ("based on their race") do.
"""

from __future__ import annotations

from collections.abc import Sequence

from services.hatexscore.groups.category import is_ground
from services.hatexscore.groups.context import Context, understand
from services.hatexscore.groups.linking import EQUATION_4, NO_LINK, is_bystander, link
from services.hatexscore.groups.matching import matches
from services.hatexscore.groups.mention import GroupMention
from services.hatexscore.groups.negation import denied_afterwards
from services.hatexscore.groups.ordinary import ordinary_word
from services.hatexscore.groups.passage import Passage, read
from services.hatexscore.groups.tree import Match
from services.hatexscore.languages import Language, Span
from services.hatexscore.lexicons import Lexicon

QUOTED = "inside a quotation"
SLUR = "a slur is an alias, not an identification"
NO_GROUND = "a category is named, but not as the ground of anything"
NEGATED = "negated"
BYSTANDER = "somebody of the writer's own, not a target"


def mentions(
    explanation: str,
    language: Language,
    lexicon: Lexicon,
    *,
    hateful: bool,
    quotations: Sequence[Span],
) -> list[GroupMention]:
    """Every mention of a protected group in the explanation, in order, judged.

    hateful:    the prediction that is explained; a hateful one needs a link to hateful content.
    quotations: spans of the explanation inside quotation marks.
    """
    context = understand(read(explanation, language, quotations))
    judged = [
        (match, *_judge(context, match, hateful)) for match in matches(context.passage, lexicon)
    ]
    return [reported(context.passage, *judgement) for judgement in judged]


def target_group_identified(found: Sequence[GroupMention]) -> bool:
    """TGI, Eq. 4: does any mention count?"""
    return any(mention.counts for mention in found)


def reported(passage: Passage, match: Match, counts: bool, reason: str) -> GroupMention:
    """The mention as it is reported."""
    entry = match.entry
    text = passage.text[match.start : match.end]
    place = (match.start, match.end, text)
    return GroupMention(entry.group, entry.category, *place, match.found_as, counts, reason)


def _judge(context: Context, match: Match, hateful: bool) -> tuple[bool, str]:
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


def _objection(context: Context, match: Match) -> str | None:
    """Why the mention identifies nobody, whatever the prediction; None if nothing is against it."""
    passage, known = context.passage, context.known
    if match.entry.kind == "slur_alias":
        return SLUR
    if passage.quoted(match.start, match.end):
        return QUOTED
    if match.entry.kind == "category_term" and not is_ground(passage, match, known):
        return NO_GROUND
    return ordinary_word(passage, match, known) or (NEGATED if _denied(context, match) else None)


def _denied(context: Context, match: Match) -> bool:
    passage = context.passage
    place = passage.sentence_at(match.start)
    return context.claims[place].denies(match.start) or denied_afterwards(
        passage.language, passage.sentences[place], match.end, context.known
    )
