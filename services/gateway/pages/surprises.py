"""Why a result deserves a second look: rules over results, which PostgreSQL evaluates.

Paths are SQL/JSON paths (SQL:2016, section 9.46) into a metric's report. The most surprising first.
"""

from __future__ import annotations

from services.gateway.rooms import metrics
from shared.ledger.judging import FAILED, Rule, Rules

UNDEFINED = Rule("undefined", "$ ? (@.score == null)")

OF_METRIC: dict[str, tuple[Rule, ...]] = {
    "hatexscore": (Rule("label-conflict", "$ ? (@.label_match == false && @.score >= 0.5)"),),
    "ice": (Rule("anti-faithful", '$.components.tests[*] ? (@.verdict == "anti-faithful")'),),
    "haf": (
        Rule("refusal", "$ ? (@.refusal == true)"),
        Rule("stance-unclear", '$ ? (@.stance == "unclear")'),
    ),
    "ftc": (Rule("abstained", "$ ? (@.abstained != null)"),),
    "hlv": (Rule("away-from-humans", "$ ? (@.score < 0)"),),
    "cot2el": (Rule("not-parsed", '$ ? (@.status != "ok")'),),
}

WORDS = {
    "label-conflict": "the explanation states another label than the one sent, and scores well",
    "anti-faithful": "a test finds the explanation worse than random tokens",
    "refusal": "the model refused to justify",
    "stance-unclear": "no stance can be read from the answer",
    "abstained": "no counterfactual could be built",
    "away-from-humans": "the judge ends up away from what humans said",
    "not-parsed": "the reasoning could not be read into explanations",
    UNDEFINED.name: "the metric is undefined here",
    FAILED: "the job failed",
}


def rules_of(metric: str) -> Rules:
    """What is surprising of this metric, and which scores are the worst."""
    room = metrics().get(metric)
    direction = None if room is None else room.report.model_fields["direction"].default
    return Rules(
        (*OF_METRIC.get(metric, ()), UNDEFINED), higher_is_better=direction != "lower_is_better"
    )
