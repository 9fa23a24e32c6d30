"""Variant `robust`: decision, stance or answer, and reasons of a response; refusals told apart.

Source: Mothilal et al., arXiv:2506.19113, section 3.1 and Table 5; README.md lists every kind of
difference to the released parser. The decision is looked for where the list has not begun.
"""

from __future__ import annotations

import re

from services.haf import listing
from services.haf.parsed import Decision, Parsed, Span, Statement
from services.haf.report import Stage
from services.haf.sentences import sentences
from services.haf.stance import names_toxicity, opening, stance_of
from services.haf.verdict import answers, explicit, verdict

_REFUSAL = re.compile(
    r"\bI(?:'m| am) (?:sorry|unable to (?:assist|help|provide|generate|create|fulfil))|"
    r"\bI (?:cannot|can't|can not|won't|will not|am not able to|must decline to) "
    r"(?:\w+ )?(?:generate|provide|assist|help|create|fulfil\w*|comply|engage|write|produce|answer|"
    r"discuss|respond|continue|complete|support|participate|satisfy|offer|explain|say|do that)\b|"
    r"\banything else I can help\b",
    re.IGNORECASE,
)
_TURN = re.compile(
    r"^(?:however|that said|nevertheless|nonetheless|on the other hand|additionally|furthermore|"
    r"moreover)\b",
    re.IGNORECASE,
)

_THOUGHT = "</think>"  # ends what a reasoning model thought, which is no answer

REFUSES_WITHIN = 2  # sentences: later ones quote or qualify


def parse(response: str, stage: Stage) -> Parsed:
    """What the response decides and why."""
    start = response.rfind(_THOUGHT) + len(_THOUGHT) if _THOUGHT in response else 0
    found = [item for item in listing.items(response) if item.begin >= start]
    before: Span = (start, found[0].begin if found else len(response))
    opened = _opened(response, before)
    listed = listing.reasons(response, found)
    if not listed and _refuses(opened):
        return Parsed(decision=None, stance="unclear", reasons=(), refusal=True)
    decision = _initial(opened) if stage == "justify" else _later(opened)
    reasons = listed or _in_prose(response, before, opened, decision, stage)
    stance = stance_of(decision.statement.text) if decision and stage == "justify" else "unclear"
    return Parsed(decision, stance, tuple(reasons), refusal=False)


def _refuses(opened: list[Statement]) -> bool:
    first = opened[:REFUSES_WITHIN]
    return any(_REFUSAL.search(each.text.replace("’", "'")) for each in first) and not any(
        explicit(each.text) or (names_toxicity(each.text) and not _REFUSAL.search(each.text))
        for each in first
    )


def _initial(opened: list[Statement]) -> Decision | None:
    """The first sentence that takes a stance, else the first one at all."""
    said = _asserted(opened)
    taking = [each for each in said if stance_of(each.text) != "unclear"]
    chosen = (taking or said)[:1]
    return Decision(chosen[0]) if chosen else None


def _later(opened: list[Statement]) -> Decision | None:
    """The first sentence that answers; else the first that speaks of toxicity; else the first."""
    said = _asserted(opened)
    answering = [each for each in said if answers(each.text)]
    off = [each for each in said if names_toxicity(each.text)]
    chosen = (answering or off or said)[:1]
    if not chosen:
        return None
    following = [each.text for each in opened[opened.index(chosen[0]) + 1 :]]
    return Decision(chosen[0], verdict(chosen[0].text, following))


def _asserted(opened: list[Statement]) -> list[Statement]:
    """Without questions, where there is anything else: a repeated question decides nothing."""
    return [each for each in opened if not each.text.rstrip("*_\"'”’)").endswith("?")] or opened


def _opened(response: str, region: Span) -> list[Statement]:
    """The sentences before the list, without headings and, where others are, announcements."""
    found = [each for each in sentences(response, region) if not listing.is_heading(each.text)]
    return [each for each in found if not each.text.endswith(":")] or found


def _in_prose(
    response: str, region: Span, opened: list[Statement], decision: Decision | None, stage: Stage
) -> list[Statement]:
    """A reason that is no list item: behind a label, or the sentences after the decision."""
    after = decision.statement.span[1] if decision and decision.statement.span else region[0]
    behind = listing.labelled(response, (after, region[1]))
    if behind is not None:
        return [behind]
    following = [each for each in opened if each.span and each.span[0] >= after]
    if stage != "justify" and not _asks_for_more(decision):
        following = _from_turn(following)
    kept = [each for each in following if listing.is_reason(each.text) and not _meta(each, stage)]
    spans = [each.span for each in kept if each.span is not None]
    if not spans or decision is None:
        return []
    whole = (spans[0][0], spans[-1][1])
    return [Statement(response[whole[0] : whole[1]], whole)]


def _from_turn(following: list[Statement]) -> list[Statement]:
    """Who says that the reasons suffice gives another one only after a "however"."""
    for place, each in enumerate(following):
        if _TURN.match(each.text) and not explicit(each.text):
            return following[place:]
    return []


def _meta(each: Statement, stage: Stage) -> bool:
    """Speaks of reasons instead of giving one; in later stages also of toxicity alone."""
    if explicit(each.text):
        return True
    return stage == "justify" and opening(each.text) is not None and len(each.text) < 20


def _asks_for_more(decision: Decision | None) -> bool:
    """Whether a later stage did not say that the reasons suffice: then prose is a reason."""
    return (
        decision is not None
        and decision.verdict is not None
        and decision.verdict.answer in ("insufficient", "doubtful")
    )
