"""A statement of reasons in a sentence or two: what it lacks, and whether it is of this post."""

from __future__ import annotations

from services.sor.report import SorItem, SorItemName, SorResult
from shared.contracts.checks import (
    conclude,
    failed,
    inconclusive,
    not_applicable,
    not_tested,
    passed,
    undefined,
)
from shared.contracts.messages import Check, Finding
from shared.reports.pages.page_text import significant

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


PROBLEMS = {  # code of a failed check → what is wrong, worst first
    "facts-missing": "facts of the post missing",
    "restriction-missing": "restriction missing",
    "territorial-scope-missing": "territorial scope missing",
    "duration-missing": "duration missing",
    "automated-detection-missing": "automated detection missing",
    "automated-decision-missing": "automated decision missing",
    "ground-missing": "ground missing",
    "explanation-missing": "reason for the ground missing",
    "redress-missing": "redress missing",
}
FACTS, THIS_POST = "states-facts", "about-this-post"


def finding(report: SorResult) -> Finding:
    """Return the verdict on the statement. It never says that a statement is lawful."""
    if report.score is None:
        unknown = undefined(FACTS, report, "score")
        return conclude(
            [unknown or not_tested(FACTS, "explanation-unfit", "Nothing was read.")], ()
        )
    items = sorted(report.items, key=lambda item: item.name != "facts")
    checks = [_item(report, item) for item in items]
    return conclude([*checks[:1], _this_post(report), *checks[1:]], {FACTS, THIS_POST})


def _item(report: SorResult, item: SorItem) -> Check:
    code = item.name.replace("_", "-")
    name, what = f"states-{code}", NAMES[item.name]
    if item.value is None:
        return not_applicable(name, f"The form has no place for {what}.")
    if item.name not in report.missing:
        return passed(name, f"It names {what}.")
    if item.name == "facts":
        return failed(name, "facts-missing", _facts_missing(report))
    return failed(name, f"{code}-missing", f"It does not name {what}.")


def _this_post(report: SorResult) -> Check:
    if "facts" in report.missing:
        return not_applicable(THIS_POST, "It names no facts to compare.")
    rate = report.control.win_rate if report.control else None
    if rate is None:
        return not_tested(THIS_POST, "too-few-rivals", "There is no other post to compare with.")
    if rate < EVEN:
        said = "It names facts, but would name as many of other posts."
        return inconclusive(THIS_POST, "fits-other-posts", said)
    return passed(THIS_POST, "Its facts fit this post better than others.")


def _facts_missing(report: SorResult) -> str:
    """Boilerplate only where nothing at all of the post was found."""
    named = report.components.post_words
    if named or report.components.quotes:
        words = "one word" if named == 1 else f"{named} words"
        return f"It names too little of this post: {words}, and no quotation."
    return "Boilerplate: it names no facts of this post."


def chance(report: SorResult) -> str | None:
    """How its facts fit other posts; None without a comparison."""
    control = report.control
    if control is None or control.win_rate is None:
        return None
    whose = "of the request" if control.pool == "request" else "of our own"
    return (
        f"Its facts fit this post better than {significant(control.win_rate * 100)} % of "
        f"{control.draws} other posts {whose} (chance: 50 %)."
    )
