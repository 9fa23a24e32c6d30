"""The verdict on a statement of reasons: its missing items, and its relation to the post."""

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

NAMES: dict[SorItemName, str] = {
    "restriction": "what was done",
    "territorial_scope": "where the measure applies",
    "duration": "the start or duration of the measure",
    "facts": "the facts of this post",
    "automated_detection": "whether detection was automated",
    "automated_decision": "whether the decision was automated",
    "ground": "the provision or clause",
    "explanation": "why the provision or clause applies",
    "redress": "redress",
}
EVEN = 0.95  # share of other posts that the facts must fit less than this one


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
    """Return the verdict on the statement, which does not judge legality."""
    if report.score is None:
        unknown = undefined(FACTS, report, "score")
        check = unknown or not_tested(
            FACTS, "explanation-unfit", "The statement could not be read."
        )
        return conclude([check], ())
    items = sorted(report.items, key=lambda item: item.name != "facts")
    checks = [_check_item(report, item) for item in items]
    return conclude([*checks[:1], _check_post(report), *checks[1:]], {FACTS, THIS_POST})


def _check_item(report: SorResult, item: SorItem) -> Check:
    code, words = item.name.replace("_", "-"), NAMES[item.name]
    name = f"states-{code}"
    if item.value is None:
        return not_applicable(name, f"The form has no field for {words}.")
    if item.name not in report.missing:
        return passed(name, f"The statement mentions {words}.")
    if item.name != "facts":
        return failed(name, f"{code}-missing", f"The statement does not mention {words}.")
    count, message = (
        report.components.post_words,
        "The statement is boilerplate: it mentions no facts about this post.",
    )
    if count or report.components.quotes:
        noun = "one word" if count == 1 else f"{count} words"
        message = f"The statement says too little about this post: it uses {noun} and no quotation."
    return failed(name, "facts-missing", message)


def _check_post(report: SorResult) -> Check:
    if "facts" in report.missing:
        return not_applicable(THIS_POST, "The statement mentions no facts to compare.")
    rate = report.control.win_rate if report.control else None
    if rate is None:
        return not_tested(
            THIS_POST, "too-few-rivals", "There is no other post to compare the statement with."
        )
    if rate < EVEN:
        message = "The statement mentions facts, but they fit other posts just as well."
        return inconclusive(THIS_POST, "fits-other-posts", message)
    return passed(THIS_POST, "The facts in the statement fit this post better than other posts.")
