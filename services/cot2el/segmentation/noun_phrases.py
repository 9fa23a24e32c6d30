"""Where the verb behind a noun phrase ends: `(?:\\W+[\\w'-]+){1,5}?\\W+VERB`, in linear time.

Apostrophes and hyphens are parts of words and part them, so that backtracking tries every way to
divide a run of dashes. Here every state, a place in the pattern and one in the text, is entered
once, in the order in which backtracking would: the same verb is found.
"""

from __future__ import annotations

import re
from typing import Literal

FINITE = (
    "is|are|was|were|am|be|has|have|had|does|do|did|can|could|will|would|may|might|shall|should|"
    "must|cannot|can't|isn't|aren't|wasn't|weren't|doesn't|don't|didn't|won't|wouldn't|couldn't|"
    "shouldn't|hasn't|haven't|seems|means|makes|says|fits|gives|goes|comes|remains|needs"
)
MOST_WORDS = 5  # between the determiner and its verb
VERB = re.compile(rf"(?:{FINITE})\b", re.IGNORECASE)
# Every word as long as it can be: what is tried first.
LONGEST = rf"(?:\W++[\w'-]++){{1,{MOST_WORDS}}}"
PHRASE = re.compile(rf"{LONGEST}?\W++(?:{FINITE})\b", re.IGNORECASE)
STRETCH = re.compile(rf"{LONGEST}+\W*+")

State = tuple[Literal["start", "gap", "word", "verb"], int, int]  # place in the text, words so far


def verb_end(text: str, start: int) -> int | None:
    """The end of the verb after one to five words behind `start`; None where there is none."""
    found = PHRASE.match(text, start)
    if found:
        return found.end()
    stretch = STRETCH.match(text, start)
    if stretch is None or not any(mark in stretch[0] for mark in "'-"):
        return None  # there is one way only to divide it
    return _by_states(text, start)


def _by_states(text: str, start: int) -> int | None:
    entered: set[State] = set()
    waiting: list[State] = [("start", start, 0)]
    while waiting:
        state = waiting.pop()
        if state in entered:
            continue
        entered.add(state)
        if state[0] == "verb" and (verb := VERB.match(text, state[1])):
            return verb.end()
        waiting += _following(text[state[1] : state[1] + 1], state)
    return None


def _following(character: str, state: State) -> list[State]:
    """The states that this character leads to, the preferred one last."""
    kind, place, words = state
    after, letter = place + 1, character.isalnum() or character == "_"
    parts = bool(character) and not letter  # \W
    belongs = letter or (parts and character in "'-")  # [\w'-]
    found: list[tuple[bool, State]]
    match kind:
        case "start":  # also behind a word: a verb is looked for before one more word
            found = [(parts and words < MOST_WORDS, ("gap", after, words))]
            found += [(parts and words > 0, ("verb", after, words))]
        case "gap":
            found = [(belongs, ("word", after, words)), (parts, ("gap", after, words))]
        case "word":
            found = [(True, ("start", place, words + 1)), (belongs, ("word", after, words))]
        case "verb":
            found = [(parts, ("verb", after, words))]
    return [following for possible, following in found if possible]
