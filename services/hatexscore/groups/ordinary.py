"""Terms that are ordinary words as well: is it people that are named here?

"black", "blind", "orthodox", "turkey", "aids", 수단 (Sudan, or a means): they name a group only
with a person noun, as a plural, with the right capitals, or as "the blind".
"""

from __future__ import annotations

from services.hatexscore.groups.cues import Cues
from services.hatexscore.groups.passage import Passage
from services.hatexscore.groups.tree import Match
from services.hatexscore.groups.wording import singular

WINDOW = 80  # characters looked at on either side of a mention


def around(passage: Passage, match: Match) -> tuple[str, str]:
    """What stands before and after the mention in its sentence, at most WINDOW characters."""
    sentence = passage.sentences[passage.sentence_at(match.start)]
    before = passage.text[max(sentence.start, match.start - WINDOW) : match.start]
    after = passage.text[match.end : min(sentence.end, match.end + WINDOW)]
    return before, after


def ordinary_word(passage: Passage, match: Match, known: Cues) -> str | None:
    """Why this occurrence is an ordinary word and names no group; None if it does name one."""
    term = match.entry.term
    surface = passage.text[match.start : match.end]
    before, after = around(passage, match)
    if known.says("other_than_before", before):
        return "prefixed with 'non-': others than this group"
    if known.says("thing_after", after):
        return "a thing is named, not people"
    if term in known.needs_upper and not surface.isupper():
        return "an ordinary word without its capitals"
    if term in known.needs_capital and not surface[0].isupper():
        return "an ordinary word without its capital"
    if term in known.needs_plural and _is_singular(surface):
        return None if known.says("being_before", before) else "one person, not the group"
    if term in known.needs_person_noun and not _names_people(passage, match, known):
        return "an ordinary word: no person noun follows"
    return None


def _names_people(passage: Passage, match: Match, known: Cues) -> bool:
    """Plural, "the blind", "anti-black", "with cancer", "Black culture", or a person noun."""
    term = match.entry.term
    before, after = around(passage, match)
    if match.found_as in ("plural", "demonym") and match.entry.kind != "demonym":
        return True
    if term in known.capital_is_enough and _capital_inside(passage, match, before):
        return True
    as_noun = known.says("group_of_before", before) and known.says("group_of_after", after)
    return (
        (term in known.group_of and as_noun)
        or known.says("anti_before", before)
        or known.says("living_with_before", before)
        or known.says("person_after", after)
    )


def _capital_inside(passage: Passage, match: Match, before: str) -> bool:
    """A capital that is not owed to the start of a sentence or of a label."""
    begun = before.rstrip(" \"'“‘(*_")
    return passage.text[match.start].isupper() and bool(begun) and begun[-1] not in ":.-•"


def _is_singular(surface: str) -> bool:
    lower = surface.lower()
    return singular(lower) == lower
