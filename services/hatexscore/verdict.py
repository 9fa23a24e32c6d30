"""The checks of a HateXScore result. Their sentences contain only fixed words and numbers. Texts,
quotes and group names are in separate fields."""

from __future__ import annotations

from collections.abc import Iterator

from services.hatexscore.report import (
    NO_EXPLANATION,
    QUOTED,
    UNLISTED,
    HatexscoreCategoryEvidence,
    HatexscoreGroupEvidence,
    HatexscoreQuoteEvidence,
    HatexscoreRandomSpans,
    HatexscoreResult,
    side_of_label,
)
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
from shared.reports.pages.page_text import counted, percent, significant

PROBLEMS = {  # code of a failed check → what is wrong, worst first
    "opposite-decision": "says the opposite",
    "misquoted": "misquotes the post",
    "quote-not-in-post": "quote not in the post",
    "quotes-do-not-matter": "quoted words do not matter",
    "group-not-named": "group missing",
    "other-class": "states another class",
    "no-explanation": "no explanation",
    "no-decision": "states no decision",
}
STATES_DECISION = "states-a-decision"
STATES_THIS = "states-this-decision"
IN_POST = "quotes-in-post"
MATTER = "quotes-matter"
GROUP = "group-named"
ABOUT = "about-this-post"
COHERENT = "hangs-together"
STATED = frozenset((STATES_DECISION, STATES_THIS, IN_POST))
# A hateful decision rests on its quotes. An explanation without quotes must describe the post and,
# of a hateful decision, name the group.
CARRYING_QUOTES = STATED | {MATTER}
CARRYING_DESCRIPTION = STATED | {ABOUT}

LEVEL = 0.05  # p up to which random spans do not explain what the quotes do
PHRASE = 3  # words of a quotation from which it counts as one of the post, if no other is found
TURNING = 0.4  # fall of P that counts where the judge decides otherwise without the quotes
ALIKE = 0.3  # similarity from which an explanation in other words is about the post
DISAGREES = (  # with the two ways out
    "The judge gives {name} = {p}, so it disagrees with this decision. Send your own model's "
    "probabilities with and without the quotes, or name your model as the judge in `model`."
)


def finding(report: HatexscoreResult) -> Finding:
    """Return the verdict on the explanation, which combines its checks."""
    if report.decision == "non-hateful":
        carrying = CARRYING_DESCRIPTION
    else:
        carrying = CARRYING_QUOTES if quotes(report) else CARRYING_DESCRIPTION | {GROUP}
    found = list(checks(report))
    if any(one.reason == "other-group" for one in found):
        carrying |= {GROUP}
    return conclude(found, carrying)


def checks(report: HatexscoreResult) -> Iterator[Check]:
    """Yield the checks, the most serious first."""
    yield _states_decision(report)
    yield _states_this(report)
    yield _quotes_in_post(report)
    yield _quotes_matter(report)
    yield _group_named(report)
    yield _about_this_post(report)
    yield _hangs_together(report)


def _states_decision(report: HatexscoreResult) -> Check:
    if NO_EXPLANATION in report.warnings:
        return failed(STATES_DECISION, "no-explanation", "The explanation is empty.")
    if report.stated_decision is not None or report.components.htc == 1:
        return passed(STATES_DECISION, "The explanation states a decision.")
    missing = failed(STATES_DECISION, "no-decision", "The explanation states no decision.")
    if report.components.htc == 0:
        return missing
    return undefined(STATES_DECISION, report, "htc", "score") or missing


def _states_this(report: HatexscoreResult) -> Check:
    if report.decision_match is None:
        sent = report.provenance.parameters.get("decision")
        which = "No decision was sent" if sent is None else "The explanation states no decision"
        return not_applicable(STATES_THIS, f"{which}, so there is nothing to compare.")
    if report.decision_match:
        return passed(STATES_THIS, "The explanation states the decision that was sent.")
    stated, sent_class = report.stated_decision, report.decision
    sides = {stated, sent_class} == {"hateful", "non-hateful"}
    return failed(
        STATES_THIS,
        "opposite-decision" if sides else "other-class",
        f"The explanation concludes that the post is {stated}, but the decision is {sent_class}.",
    )


def _quotes_in_post(report: HatexscoreResult) -> Check:
    missing = report.hallucinated_quotes
    if any(quotation.misquotes is not None for quotation in missing):
        return failed(IN_POST, "misquoted", "A quote changes the meaning of the post.")
    if missing:
        return failed(
            IN_POST, "quote-not-in-post", "The explanation quotes words that are not in the post."
        )
    if report.quotes_unsearched:
        return inconclusive(
            IN_POST,
            "quotes-not-searched",
            "Some quotes are too long to search for inexact matches.",
        )
    if quotes(report):
        return passed(IN_POST, "Every quote is in the post.")
    if any(quotation.reason == "translation" for quotation in report.other_quotations):
        return inconclusive(
            IN_POST, "quotes-translated", "The explanation quotes a translation of the post."
        )
    if any(
        quotation.reason == "unattributed" and len(quotation.text.split()) >= PHRASE
        for quotation in report.other_quotations
    ):
        return failed(IN_POST, "quote-not-in-post", "None of the quotes is in the post.")
    return not_applicable(IN_POST, "The explanation does not quote the post.")


def _quotes_matter(report: HatexscoreResult) -> Check:
    if not quotes(report):
        none = _quotes_in_post(report).outcome == "not_applicable"
        says = "The explanation does not quote the post." if none else "No quote is in the post."
        return not_applicable(MATTER, says)
    if report.model_agrees is False:
        return _disagreeing(report)
    drop = report.signed_drop
    if report.components.qf is None:
        unknown = undefined(MATTER, report, "qf")
        return unknown or not_tested(MATTER, "label-unknown", "The decision is unknown.")
    if not is_positive(report):
        return _harmless_quotes(report, drop or 0.0)
    if drop is None:
        return not_tested(MATTER, "whole-post-quoted", "The explanation quotes the whole post.")
    return _positive_quotes(report, drop)


def _disagreeing(report: HatexscoreResult) -> Check:
    """Return the check for a judge that disagrees with the decision. Quotes of a hateful decision
    pass if they beat random spans, since the test compares ranks, which need no threshold. All
    other quotes count as not tested."""
    name, control = _probability(report), report.control
    p, _ = (control and tested_p(control)) or (None, None)
    if control is None or p is None or p > LEVEL or not is_positive(report):
        shown = DISAGREES.format(name=name, p=significant(report.probability_original))
        return not_tested(MATTER, "model-disagrees", shown)
    return passed(
        MATTER,
        f"The judge disagrees with this decision ({name} = "
        f"{significant(report.probability_original)}), but the quotes support it. "
        f"Without them, {name} falls, {_rank(control)} {_in_brackets(p, control)}.",
    )


def _in_brackets(p: float, control: HatexscoreRandomSpans) -> str:
    basis = "" if control.calibration is None else ", calibrated on other posts"
    return f"(p = {significant(p)}{basis})"


def _harmless_quotes(report: HatexscoreResult, drop: float) -> Check:
    if drop >= _tau(report) - TIE:
        message = f"Without the quotes, P(hateful) falls by {significant(drop)}."
        return inconclusive(MATTER, "quotes-carry-hate", message)
    return passed(MATTER, "The model does not find the quoted words hateful.")


def _positive_quotes(report: HatexscoreResult, drop: float) -> Check:
    """Check if the quotes of a hateful decision matter. They do if masking them reverses the
    model's decision, or lowers the decision's probability more than masking other parts of the
    post. For a short post the test is calibrated on other posts. Long quotes overlap most other
    long passages, so a clear reversal is enough (`python -m bench.control`)."""
    control = report.control
    name = _probability(report)
    fall = f"Without the quotes, {name} falls by {significant(drop)}"
    if drop <= -_tau(report):
        higher = significant(-drop)
        return failed(
            MATTER, "quotes-do-not-matter", f"Without the quotes, {name} rises by {higher}."
        )
    if control is None:
        return _without_control(report, drop, fall)
    fall = f"{fall}, {_rank(control)}"
    p, p_anti = tested_p(control) or (None, None)
    if p is not None and p <= LEVEL:
        return passed(MATTER, f"{fall} {_in_brackets(p, control)}.")
    if drop >= TURNING - TIE and decision_turns(report):
        return passed(MATTER, f"{fall}, which changes the model's decision.")
    if p is None:
        return inconclusive(
            MATTER, "too-few-places", f"{fall}. The post has too few other words for a test."
        )
    if drop <= 0 and p_anti is not None and p_anti <= LEVEL:
        message = f"Masking the quotes does not lower {name}, but masking other places does"
        low = f"{message} {_in_brackets(p_anti, control)}."
        return failed(MATTER, "quotes-do-not-matter", low)
    return inconclusive(MATTER, "no-clear-difference", f"{fall}. {_no_difference(control, p)}.")


def decision_turns(report: HatexscoreResult) -> bool:
    """Return True if the model decides otherwise when the quotes are masked."""
    masked = report.probability_masked
    return masked is not None and masked < float(report.provenance.parameters["deciding"])


def tested_p(control: HatexscoreRandomSpans) -> tuple[float, float | None] | None:
    """Return the one-sided p-values in both directions, exact or calibrated on other posts. Return
    None if neither test is possible."""
    if control.p_value is not None and (control.attainable_p or 1.0) <= LEVEL:
        return control.p_value, control.p_anti
    if control.p_calibrated is not None and control.calibration is not None:
        return control.p_calibrated, control.calibration.p_anti
    return None


def _without_control(report: HatexscoreResult, drop: float, fall: str) -> Check:
    """Return the check based on the probabilities that the caller sent. There is no test against
    chance."""
    if report.provenance.models:
        return not_tested(
            MATTER, "no-control", f"{fall}. No other words were tested for comparison."
        )
    if drop >= _tau(report) - TIE:
        return passed(MATTER, f"{fall}, according to the probabilities that were sent.")
    if drop <= TIE:
        return failed(
            MATTER,
            "quotes-do-not-matter",
            f"Without the quotes, {_probability(report)} does not fall, according to the "
            "probabilities that were sent.",
        )
    message = f"{fall}, according to the probabilities that were sent."
    return inconclusive(MATTER, "small-effect", message)


def _rank(control: HatexscoreRandomSpans) -> str:
    """Return in words the rank of the effect of the quotes among the effects at all tested
    positions."""
    places = 1 + control.draws
    where = f"all {places} places in the post" if control.exact else f"{places} tested places"
    return f"the most of {where}" if control.rank == 1 else f"rank {control.rank} of {where}"


def _no_difference(control: HatexscoreRandomSpans, p: float) -> str:
    """Describe a test that found no significant effect. The quotes do no more than random words if
    their rank is at or below the median."""
    beats = f"they beat {percent(control.share_beaten)}, p = {significant(p)}"
    if control.share_beaten <= 0.5:
        return f"The quotes do no more than random words ({beats})"
    return f"The test does not show that the quotes do more than random words ({beats})"


def _group_named(report: HatexscoreResult) -> Check:
    if report.decision == "non-hateful":
        return not_applicable(GROUP, "Explanations of non-hateful decisions need not name a group.")
    if report.decision not in (None, "hateful"):
        return not_applicable(GROUP, "Only explanations of hateful decisions must name a group.")
    if report.components.tgi is None:
        unknown = undefined(GROUP, report, "tgi", "score")
        return unknown or not_applicable(GROUP, "The explanation need not name a group.")
    counting = [mention for mention in mentions(report) if mention.counts]
    if any(mention.in_text is not False for mention in counting):
        return passed(GROUP, "The explanation names the group that is attacked.")
    if any(mention.reason == QUOTED and mention.in_text for mention in mentions(report)):
        return passed(GROUP, "The explanation quotes the name of the group.")
    if counting:
        return inconclusive(
            GROUP, "other-group", "The explanation and the post name different groups."
        )
    if any(mention.by == "reader" for mention in mentions(report)):
        return inconclusive(
            GROUP,
            "group-not-attacked",
            "The explanation mentions a group, but does not say that the group is attacked.",
        )
    if UNLISTED in report.warnings:
        return not_tested(
            GROUP,
            "group-not-listed",
            "The policy lists none of the groups that the explanation names.",
        )
    if report.text_groups:
        return failed(
            GROUP, "group-not-named", "The post names a group, but the explanation names none."
        )
    return not_tested(
        GROUP,
        "group-not-listed",
        "Neither the post nor the explanation names a group that the policy lists.",
    )


def _about_this_post(report: HatexscoreResult) -> Check:
    """Check that the explanation is about this post, by shared words or similar meaning. It does
    not apply if quotations are tested. Similarity alone accepts 59 % of 34 good explanations, 5 %
    of explanations of other posts, and 6 % of templates that name one word."""
    words = report.post_words
    if words is None:
        return not_applicable(ABOUT, "The test of the quotes replaces this check.")
    if words.words and words.weight >= words.needed:
        used = counted(words.words, "word")
        return passed(
            ABOUT,
            f"The explanation uses {used} of the post, which shows that it is about this post.",
        )
    if words.similarity is not None and words.similarity >= ALIKE:
        alike = significant(words.similarity)
        return passed(ABOUT, f"The explanation paraphrases the post (similarity {alike}).")
    shared = f"only {counted(words.words, 'content word')}" if words.words else "no content word"
    says = f"The explanation shares {shared} with the post"
    if report.decision == "non-hateful" and not quotes(report):
        says += " and fits any harmless post, so there is nothing to test."
    else:
        says += ", quotes included, so it could be about another post."
    return not_tested(ABOUT, "not-about-post", says)


def _hangs_together(report: HatexscoreResult) -> Check:
    parts = report.components
    if parts.cc == 1:
        return passed(COHERENT, "The decision, quotes and group are consistent.")
    if report.decision_match is False or parts.htc == 0:
        return not_applicable(COHERENT, "The explanation does not state the decision.")
    if report.decision == "non-hateful" and any(mention.attacked for mention in mentions(report)):
        return inconclusive(
            COHERENT,
            "attack-told",
            "The explanation describes an attack on a group, but concludes that the post is "
            "non-hateful.",
        )
    if parts.cc is None:
        unknown = undefined(COHERENT, report, "cc", "score")
        return unknown or not_tested(COHERENT, "label-unknown", "The decision is unknown.")
    return not_applicable(COHERENT, "An earlier check already covers consistency.")


def _tau(report: HatexscoreResult) -> float:
    return float(report.provenance.parameters["tau"])


TIE = 1e-12  # probabilities and scores: equal in theory, unequal in floats


def quotes(report: HatexscoreResult) -> list[HatexscoreQuoteEvidence]:
    """Return the quotations of the text in the explanation."""
    return [item for item in report.evidence if isinstance(item, HatexscoreQuoteEvidence)]


def mentions(report: HatexscoreResult) -> list[HatexscoreGroupEvidence]:
    """Return the groups that the explanation mentions, including groups without influence on the
    score."""
    return [item for item in report.evidence if isinstance(item, HatexscoreGroupEvidence)]


def categories(report: HatexscoreResult) -> list[HatexscoreCategoryEvidence]:
    """Return the categories that a guard model names in addition to its label."""
    return [item for item in report.evidence if isinstance(item, HatexscoreCategoryEvidence)]


def is_positive(report: HatexscoreResult) -> bool:
    """Return True if the decision is hateful or any other class except `non-hateful`. Such a
    decision depends on its quotes."""
    return side_of_label(report.decision) == "hateful"


def _probability(report: HatexscoreResult) -> str:
    return f"P({report.decision})" if is_positive(report) else "P(hateful)"
