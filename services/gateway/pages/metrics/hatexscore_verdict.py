"""What a HateXScore comes to, in a sentence or two, and what random spans would have done."""

from __future__ import annotations

from services.gateway.pages.metrics.hatexscore_sentences import hateful, quotes
from services.gateway.pages.templates import significant
from services.hatexscore.report import HatexscoreReport
from shared.page_text import Tone, Verdict

EVEN = 0.5  # share of random spans beaten, by chance
CONSISTENT = {
    1.0: "and is consistent",
    0.0: "and is not consistent",
    None: "and leaves its consistency open",
}


def verdict(report: HatexscoreReport) -> Verdict:
    """The report in words. Without a comparison with chance it is never praised."""
    if report.score is None:
        said = "The score is undefined; the parts below say why."
        return Verdict(said, "neutral", _chance(report))
    parts = report.components
    claims = (
        "states a conclusion" if parts.htc == 1 else "states no conclusion",
        _quoting(report),
        "names a group" if parts.tgi == 1 else "names no group",
        CONSISTENT[parts.cc],
    )
    said = f"Score {significant(report.score)} of 1: the explanation {', '.join(claims)}."
    more, tone = _judged(report)
    return Verdict(said + more, tone, _chance(report))


def _judged(report: HatexscoreReport) -> tuple[str, Tone]:
    """What is said beside the claims, and the tone of all."""
    parts, control = report.components, report.control
    if report.label_match is False:
        return " It concludes otherwise than the decision that was sent.", "bad"
    if parts.cc is None:
        return "", "neutral"
    if parts.cc != 1 or parts.htc != 1:
        return "", "bad"
    if control is None:
        return "", "neutral"
    if hateful(report) and control.share_beaten <= EVEN:
        return " But random spans move P(hateful) as much as its quotes do.", "neutral"
    return "", "good"


def _quoting(report: HatexscoreReport) -> str:
    if not quotes(report):
        return "quotes nothing of the text"
    if report.components.qf is None:
        return "quotes the text"
    return f"quotes with faithfulness {significant(report.components.qf)}"


def _chance(report: HatexscoreReport) -> str:
    """How the quotes compare with random spans."""
    control = report.control
    if control is None:
        return "There is no comparison with chance; the warnings say why."
    spans = "random span" if control.draws == 1 else "random spans"
    said = (
        f"Masking the quotes moves P(hateful) more than {control.share_beaten:.0%} of "
        f"{control.draws} {spans} of the same lengths; chance would be 50%, ties count half."
    )
    if report.predicted_label == "non-hateful":
        return f"{said} For a non-hateful decision little movement is wanted."
    return said
