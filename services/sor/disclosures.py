"""What a plain statement of reasons discloses beside its facts: measure, ground, automated means,
scope and redress, sentence by sentence.

Source: Regulation (EU) 2022/2065, Article 17(3)(a) and (c) to (f). A sentence discloses an item
where the words that it takes stand in it together; sentences about redress disclose nothing else,
since "within six months" is no duration there and "a person reviews your appeal" decided nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from services.sor.concepts import ReadSentence
from services.sor.denied_redress import without_denied
from services.sor.durations import is_dated, is_duration
from services.sor.grounds import ground_of
from services.sor.lexicon import (
    ADVERBS,
    ALLOWING,
    ANYBODY,
    DECISIVE,
    DISSENT,
    EVERY,
    IRREGULAR,
    MEASURES,
    OBJECTING,
    OBJECTIONS,
    OF_DECISIONS,
    OF_READERS,
    OUR_OWN,
    REDRESS,
    RULE_NOUNS,
    STEPS,
    WAS,
    WE,
)
from services.sor.post_facts import PostWords, is_post_reference
from services.sor.report import SorItemName, SorRoute
from services.sor.sentences import SHORT, Span

OF_REASONS = frozenset(("why", "reason", "reasons", "justification", "rationale"))
SUBSTANCE = 3  # content words that an explanation has at least
NEAR = 3  # words before people or a place that say what they are to it
ARGUED = 4  # without a link, or with the sentence before


@dataclass(frozen=True, slots=True)
class ItemMatch:
    """An item and the span of the statement that discloses it. value: 1, or 0 for a ground that
    names the document and no clause."""

    item: SorItemName
    span: Span
    value: float = 1.0
    route: SorRoute | None = None


def find_items(sentences: Sequence[ReadSentence], text: str, post: PostWords) -> list[ItemMatch]:
    """Of every sentence, in order. text: the statement, quotations of the post blanked."""
    found: list[ItemMatch] = []
    about_redress, headed = False, False
    before: set[SorItemName] = set()
    content = 0  # of the sentence before, unless it was about redress
    for one in sentences:
        routes = list(_routes(one, about_redress))  # also of a sentence that denies them
        span = one.sentence.span
        if routes:
            offered = _routes(without_denied(one, text), about_redress)
            found += [ItemMatch("redress", span, route=route) for route in offered]
        about_redress = bool(routes) or _is_of_disagreement(one)
        items = [ItemMatch(item, span, value) for item, value in _items(one, text, routes)]
        if "automated_detection" in before and _repeats_decision(one):
            items.append(ItemMatch("automated_decision", span))
        argued = _is_argument(one, post) and not _is_of_means(items)
        argued = argued or (
            one.sentence.content >= SUBSTANCE and (headed or _heads_reason(one, text))
        )
        headed = len(one.folded) == 1 and one.folded[0] in OF_REASONS
        if not routes and (argued or _has_reason(one, content)):
            items.append(ItemMatch("explanation", span))
        found += items
        before = {each.item for each in items}
        content = 0 if routes else one.sentence.content
    return found


def _is_of_disagreement(one: ReadSentence) -> bool:
    """Such as "Not happy with this?": the next sentence says what can be done."""
    return bool(DISSENT & set(one.folded)) or _heads_redress(one)


def _is_of_means(items: Sequence[ItemMatch]) -> bool:
    return any(each.item in ("automated_detection", "automated_decision") for each in items)


def _repeats_decision(one: ReadSentence) -> bool:
    """Such as "So was the decision."."""
    alike = {"so", "same", "likewise", "too", "neither", "nor", "equally"} & set(one.folded)
    return bool(alike) and _names_decision(one)


def _items(
    one: ReadSentence, text: str, routes: Sequence[SorRoute]
) -> Iterator[tuple[SorItemName, float]]:
    if routes:
        return
    for item, told in TOLD.items():
        if told(one):
            yield item, 1.0
    if is_dated(one, text):
        yield "duration", 1.0
    ground = ground_of(one, text)
    if ground is not None:
        yield "ground", ground


def _routes(one: ReadSentence, after_redress: bool) -> Iterator[SorRoute]:
    """The ways of redress that a sentence names. after_redress: the one before did."""
    after_redress = after_redress or _heads_redress(one)
    opened = "open to you" in one or after_redress
    settled, judged = "settlement" in one, "court" in one
    if "complaint" in one and opened and _offers(one, after_redress):
        yield "internal_complaint"
    if settled:
        yield "out_of_court_settlement"
    if judged and (opened or settled or "complaint" in one):
        yield "court"


def _heads_redress(one: ReadSentence) -> bool:
    """Such as "Remedies: internal complaint", "Your rights: complaint, court": a list of nouns."""
    found = one.folded
    if found[0] in REDRESS or (
        found[0] in ("your", "available", "legal") and REDRESS & {*found[1:3]}
    ):
        return True
    return "internal" in found[:3] and "complaint" in one and len(found) <= SHORT


def _offers(one: ReadSentence, after_redress: bool) -> bool:
    """Whether words of complaint are an offer to the reader, and no report of what others did, no
    rule and no reading of it."""
    words = one.folded
    for place in one.places["complaint"]:
        word, before = words[place], words[max(0, place - 4) : place]
        others = {"after", "following", "upon", "received", "due"}
        if word.startswith("complain") and others & set(before):
            continue
        if word in ("review", "reviewed") and not _requests_review(words, place):
            continue
        if word in OF_READERS and not (OBJECTING & set(words) or after_redress):
            continue
        if word.startswith(OBJECTIONS) and not (ALLOWING & set(words) or after_redress):
            continue
        return True
    return False


def _requests_review(words: Sequence[str], place: int) -> bool:
    """Of our decision, and asked for: not "we reviewed", not "review our rules"."""
    before, after = words[max(0, place - 5) : place], words[place + 1 : place + 4]
    asked = {"request", "ask", "demand", "internal", "seek", "another", "second", "new", "want",
             "have", "get", "for", "a", "fresh"} & set(before)  # fmt: skip
    ours = {"rules", "guidelines", "policy", "policies", "standards", "terms"} & set(after)
    return bool(asked) and not ours and "we" not in before


def _restriction(one: ReadSentence) -> bool:
    return "restriction" in one or _has_action(one.folded) or _is_parted(one.folded)


def _has_action(words: Sequence[str]) -> bool:
    """We shortened your post; the page was emptied: what was done is more than a list of measures
    can hold. Steps on the way there are none."""
    for place, word in enumerate(words):
        if word in WE or word in WAS:
            verb = next((v for v in words[place + 1 : place + 4] if v not in ADVERBS), "")
            done = verb.endswith("ed") or verb in IRREGULAR
            if done and not verb.startswith(STEPS):
                return True
    return False


def _is_parted(words: Sequence[str]) -> bool:
    """Such as "Took it down": a verb and its particle apart."""
    return any(
        word in ("take", "took", "taken", "taking", "pull", "pulled", "brought", "shut", "switched")
        and {"down", "off", "out", "offline", "away"} & set(words[place + 1 : place + 6])
        for place, word in enumerate(words)
    )


def _detection(one: ReadSentence) -> bool:
    if "reported" in one or ("noted" in one and "notifier" in one):
        return True
    if _is_general(one):
        return True
    if "found" not in one:
        return False
    return "automation" in one or ("people" in one and _is_internal(one))


def _decision(one: ReadSentence) -> bool:
    if _is_general(one):
        return True
    return _human_decision(one) or _automated_decision(one)


def _human_decision(one: ReadSentence) -> bool:
    if "people" not in one:
        return False
    if "decided" in one or ("found" not in one and _is_done_by(one)):
        return _is_by_people(one)
    return "used" in one and not one.any_of("found", "reported") and _is_internal(one)


def _automated_decision(one: ReadSentence) -> bool:
    return "automation" in one and "decided" in one and _is_of_decisions(one)


def _is_done_by(one: ReadSentence) -> bool:
    """Such as "by a member of staff"."""
    return any("by" in one.folded[max(0, place - NEAR) : place] for place in one.places["people"])


def _is_by_people(one: ReadSentence) -> bool:
    """A person reported it and it was removed: that leaves open who decided."""
    notifiers = {
        p for p in one.places.get("notifier", ()) if not one.folded[p].startswith("member")
    }
    told = set(one.places["people"]) - notifiers
    if not told and "reported" in one:
        return False
    return _is_internal(one) or any(word.startswith(DECISIVE) for word in one.folded)


def _is_internal(one: ReadSentence) -> bool:
    """Such as "A moderator", "by hand": not just people."""
    words = one.folded
    return any(
        words[place] not in ANYBODY or OUR_OWN & set(words[max(0, place - 4) : place])
        for place in one.places["people"]
    )


def _is_of_decisions(one: ReadSentence) -> bool:
    """Our system flagged the post, which was removed: of detection alone. It was found and removed
    automatically: of both."""
    if "found" not in one and "reported" not in one:
        return True
    alone = "people" in one and {"no", "without", "nobody", "not"} & set(one.folded)
    return bool(alone) or any(word.startswith(OF_DECISIONS) for word in one.folded)


def _is_general(one: ReadSentence) -> bool:
    """Such as "No automated means were used": of detection and of the decision."""
    if "explicit automation" not in one or one.any_of("found", "reported"):
        return False
    return "used" in one and not _names_decision(one)


def _names_decision(one: ReadSentence) -> bool:
    return any(
        word.startswith(("decid", "decision", "judg", "assess", "remov")) for word in one.folded
    )


def _territory(one: ReadSentence) -> bool:
    if "place" not in one or _is_of_rules(one):
        return False
    there = {place for place in one.places["place"] if not _belongs_to_people(one, place)}
    if not there:
        return False
    away = set(one.places.get("reach", ())) - there
    itself = {"worldwide", "everywhere", "globally", "territorial", "territory", "anywhere",
              "wherever", "geographically", "territorially"} & set(one.folded)  # fmt: skip
    return bool(away or itself) or "restriction" in one or _quantified(one)


def _is_of_rules(one: ReadSentence) -> bool:
    """Such as "Our rules apply in all countries"."""
    of_rules = RULE_NOUNS & set(one.folded) and not MEASURES & set(one.folded)
    return bool(of_rules) and "restriction" not in one


def _belongs_to_people(one: ReadSentence, place: int) -> bool:
    """Such as "the safety of all users": a value, and no place."""
    return one.folded[place + 1 : place + 2] == ["users"] and one.folded[place - 1] == "of"


def _quantified(one: ReadSentence) -> bool:
    """Such as "in all member states", "throughout the EU"."""
    return any(
        EVERY & set(one.folded[max(0, place - NEAR) : place]) for place in one.places["place"]
    )


def _has_reason(one: ReadSentence, before: int) -> bool:
    """Why it falls under the ground: a link, and words that say something, also in the sentence
    before."""
    content = one.sentence.content
    if "because" in one and (content >= SUBSTANCE or (content and content + before >= ARGUED)):
        return True
    return content >= SUBSTANCE and _defines(one)


def _heads_reason(one: ReadSentence, text: str) -> bool:
    """Such as "Why: you offer …", "Justification \u2013 …"."""
    first, *rest = one.sentence.words
    gap = text[first.end : rest[0].start] if rest else ""
    return first.folded in OF_REASONS and not gap.isspace()


def _is_argument(one: ReadSentence, post: PostWords) -> bool:
    """Enough different content words in lower case that the post does not have: neither the facts
    nor the name of a rule."""
    own = {
        word.stem
        for word in one.sentence.words
        if word.is_content and word.text[0].islower() and word.stem not in post.stems
    }
    return len(own) >= ARGUED and not _begins_with_post(one)


def _begins_with_post(one: ReadSentence) -> bool:
    """Such as "You write that", "The listing offers": facts."""
    return any(is_post_reference(one.folded, place) for place in range(min(4, len(one.folded))))


def _defines(one: ReadSentence) -> bool:
    defined = one.any_of("law", "policy") and one.sentence.content > SUBSTANCE
    return defined and _is_equated(one)


def _is_equated(one: ReadSentence) -> bool:
    """Such as "Obtaining money so is fraud", "is a misuse of documents"."""
    pairs = zip(one.folded, one.sentence.words[1:], strict=False)
    return any(
        word in ("is", "are")
        and (after.folded in ("a", "an") or (after.is_content and not after.folded.endswith("ed")))
        for word, after in pairs
    )


TOLD: Mapping[SorItemName, Callable[[ReadSentence], bool]] = {
    "restriction": _restriction,
    "automated_detection": _detection,
    "automated_decision": _decision,
    "territorial_scope": _territory,
    "duration": is_duration,
}
