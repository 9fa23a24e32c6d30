"""A statement of reasons in a sentence or two: what it lacks, and whether it is of this post."""

from __future__ import annotations

from services.sor.report import ROUTES, SorItemName, SorResult
from shared.contracts.messages import Finding
from shared.reports.pages.page_text import Tone, Verdict, finding, significant

NAMES: dict[SorItemName, str] = {
    "restriction": "what was done",
    "territorial_scope": "where it applies",
    "duration": "from when or how long",
    "facts": "the facts of this post",
    "automated_detection": "whether detection was automated",
    "automated_decision": "whether the decision was automated",
    "ground": "the provision or clause",
    "explanation": "why that applies",
    "redress": "redress",
}
EVEN = 0.95  # share of other posts that the facts must beat to be this post's


def verdict(report: SorResult) -> Verdict:
    """The report in words. Never that it is lawful."""
    if report.score is None:
        return Verdict("The score is undefined: the warnings say why.", "neutral", _chance(report))
    text, tone = _summary(report)
    return Verdict(text, tone, _chance(report))


def _summary(report: SorResult) -> tuple[str, Tone]:
    if "facts" in report.missing:
        others = len(report.missing) - 1
        more = f" {others} more {_items(others)} missing." if others else ""
        return f"{_facts_missing(report)}.{more}", "bad"
    beaten = report.control.win_rate if report.control else None
    if beaten is not None and beaten < EVEN:
        return "It names facts, but would name as many of other posts.", "neutral"
    if not report.missing:
        every = "It names the facts of this post and every item that was looked for"
        return f"{every}{_ways(report)}.", "good"
    named = ", ".join(NAMES[item] for item in report.missing)
    return f"It is about this post; missing: {named}.", "neutral" if _few(report) else "bad"


def _facts_missing(report: SorResult) -> str:
    """Boilerplate only where nothing at all of the post was found."""
    named = report.components.post_words
    if named or report.components.quotes:
        words = "one word" if named == 1 else f"{named} words"
        return f"It names too little of this post: {words}, and no quotation"
    return "Boilerplate: it names no facts of this post"


def _ways(report: SorResult) -> str:
    """One way of redress is redress; which others Article 17(3)(f) names and the statement not."""
    others = [route.replace("_", " ") for route in ROUTES if route not in report.routes]
    return f"; of the ways of redress these are missing: {', '.join(others)}" if others else ""


def _items(count: int) -> str:
    return "item is" if count == 1 else "items are"


def _few(report: SorResult) -> bool:
    return len(report.missing) == 1


def _chance(report: SorResult) -> str | None:
    control = report.control
    if control is None or control.win_rate is None:
        return None
    whose = "of the request" if control.pool == "request" else "of our own"
    return (
        f"Its facts fit this post better than {significant(control.win_rate * 100)} % of "
        f"{control.draws} other posts {whose} (chance: 50 %)."
    )


def in_a_word(report: SorResult) -> Finding:
    """The five words that every metric has, for its own."""
    return finding(report, verdict(report))
