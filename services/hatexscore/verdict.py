"""A HateXScore in a sentence or two, with what random spans would do, and why each part is so.

Sentences hold our own words and numbers only; texts, quotes and group names stand beside them.
"""

from __future__ import annotations

from services.hatexscore.report import (
    NO_EXPLANATION,
    NO_WITNESS,
    HatexscoreCategoryEvidence,
    HatexscoreGroupEvidence,
    HatexscoreQuoteEvidence,
    HatexscoreResult,
    Part,
)
from shared.contracts.messages import Finding, ReasonCode, VerdictWord
from shared.reports.pages.page_text import Tone, Verdict, finding, percent, significant

NOT_AGAINST_CHANCE = (
    " Of a non-hateful decision little movement is wanted: its quotes are not held against chance."
)
CONFLICT = " It concludes otherwise than the decision that was sent."
EMPTY = "There is no explanation: it is empty, so that nothing is concluded. Its score is {} of 1."
EVEN = 0.5  # share of random spans beaten, by chance
CONSISTENT = {
    1.0: "and is consistent",
    0.0: "and is not consistent",
    None: "and leaves its consistency open",
}


def verdict(report: HatexscoreResult) -> Verdict:
    """The report in words. A hateful decision is never praised without a comparison with chance; a
    non-hateful one claims no quotes that matter, and goes by its consistency."""
    if report.score is None:
        said = "The score is undefined; the parts below say why."
        if report.label_match is False:
            return Verdict(f"{said}{CONFLICT}", "bad", _chance(report))
        return Verdict(said, "neutral", _chance(report))
    if NO_EXPLANATION in report.warnings:
        return Verdict(EMPTY.format(significant(report.score)), "bad", _chance(report))
    parts = report.components
    claims = (
        _concluding(report),
        _quoting(report),
        _naming(report),
        CONSISTENT[parts.cc],
    )
    said = f"Score {significant(report.score)} of 1: the explanation {', '.join(claims)}."
    more, tone = _summary_and_tone(report)
    return Verdict(said + more, tone, _chance(report))


def _summary_and_tone(report: HatexscoreResult) -> tuple[str, Tone]:
    """What is said beside the claims, and the tone of all."""
    parts, control = report.components, report.control
    if report.label_match is False:
        return CONFLICT, "bad"
    if parts.cc is None:
        return "", "neutral"
    if parts.cc != 1 or parts.htc != 1:
        return "", "bad"
    if not hateful(report):
        return "", "good"
    if control is None:
        return " There is no comparison with chance.", "neutral"
    if report.quotes_matter == "no":
        return " But random spans move P(hateful) as much as its quotes do.", "neutral"
    if report.quotes_matter == "too_few":
        return " Whether its quotes do more than random spans cannot be told.", "neutral"
    return "", "good"


def _concluding(report: HatexscoreResult) -> str:
    if report.components.htc == 1:
        return "states a conclusion"
    if report.label_match is False:
        return "states the opposite conclusion"
    return "states no conclusion"


def _naming(report: HatexscoreResult) -> str:
    if "tgi" in report.not_applicable:
        return "has no group to name"
    return f"names {'a' if report.components.tgi == 1 else 'no'} group of the policy"


def _quoting(report: HatexscoreResult) -> str:
    if not quotes(report):
        return "quotes nothing of the text"
    if report.components.qf is None:
        return "quotes the text"
    if _is_whole_text(report):
        return "quotes the whole text, so that QF is 0"
    if report.components.qf == 0 and hateful(report) and _is_increase(report):
        return "quotes with faithfulness 0, for without its quotes P(hateful) is higher"
    return f"quotes with faithfulness {significant(report.components.qf)}"


def _chance(report: HatexscoreResult) -> str:
    """How the quotes compare with random spans."""
    control = report.control
    if control is None and quotes(report) and report.components.qf == 0 and _is_whole_text(report):
        return (
            "There is no comparison with chance: the quotes are the text itself, or nearly all of "
            "it, and too little is left to compare them with."
        )
    if control is None:
        return "There is no comparison with chance; the warnings say why."
    counted = control.win_rate_draws or control.draws
    spans = "random span" if counted == 1 else "random spans"
    which = "the first " if counted < control.draws else "all " if control.exact else ""
    far = "lowers P(hateful)" if _signed(report) else "moves P(hateful)"
    said = (
        f"Masking the quotes {far} {_more_than(control.share_beaten)} "
        f"{which}{counted} {spans} of the same lengths; chance would be {percent(EVEN)}, ties "
        "count half."
    )
    if report.predicted_label == "non-hateful":
        return f"{said}{NOT_AGAINST_CHANCE}"
    return f"{said}{_chance_comparison(report)}"


def _more_than(share_beaten: float) -> str:
    if share_beaten in (0.0, 1.0):
        return "more than each of" if share_beaten else "no more than any of"
    return f"more than {percent(share_beaten)} of"


def _chance_comparison(report: HatexscoreResult) -> str:
    control = report.control
    if control is None or control.p_value is None or report.quotes_matter is None:
        return ""
    if report.quotes_matter == "too_few":
        there = "other placements exist" if control.exact else "were drawn"
        return (
            f" Whether that is beyond chance cannot be told: only {control.draws} {there}, so that "
            f"p is {significant(control.p_value)} and never below {_min_p(control.draws)}."
        )
    judged = "beyond chance" if report.quotes_matter == "yes" else "no more than random spans do"
    return f" That is {judged} (p = {significant(control.p_value)})."


def _min_p(draws: int) -> str:
    return significant(1 / (1 + draws))


TIE = 1e-12  # probabilities and scores: equal in theory, unequal in floats
DIGITS = (3, 6, 15)  # decimals: as many as tell two numbers apart
NOT_HATEFUL = {
    "causal": ("1 − QF < τ", "<"),
    "eq5": ("QF < τ", "<"),
    "reference": ("QF ≥ τ", "≥"),
}


def quotes(report: HatexscoreResult) -> list[HatexscoreQuoteEvidence]:
    """Spans of the text that the explanation quotes."""
    return [item for item in report.evidence if isinstance(item, HatexscoreQuoteEvidence)]


def mentions(report: HatexscoreResult) -> list[HatexscoreGroupEvidence]:
    """Groups that the explanation mentions, counting or not."""
    return [item for item in report.evidence if isinstance(item, HatexscoreGroupEvidence)]


def categories(report: HatexscoreResult) -> list[HatexscoreCategoryEvidence]:
    """What a guard model names beside its label."""
    return [item for item in report.evidence if isinstance(item, HatexscoreCategoryEvidence)]


def moved(report: HatexscoreResult) -> float | None:
    """|dp| of masking the quotes, probability; None where a probability is missing."""
    if report.probability_original is None or report.probability_masked is None:
        return None
    return abs(report.probability_original - report.probability_masked)


def conclusion(report: HatexscoreResult) -> str:
    """Why HTC is what it is."""
    if report.components.htc is None:
        return _undefined(report, "htc")
    if contradicted(report):
        return (
            f"It concludes: {report.stated_label}, but the decision sent is "
            f"{report.predicted_label}. Who is shown both has no definitive decision, so HTC is 0."
        )
    if report.components.htc != 1:
        used = report.provenance.parameters.get("vocabulary", "default")
        if used in ("default", "hate"):
            return "Nothing in the explanation states whether the text is hateful."
        words = f"the vocabulary {used}" if isinstance(used, str) else "your labels"
        return f"Nothing in the explanation states a decision in the words of {words}."
    if report.stated_label is None:
        return "One of the released code's keywords occurs, though none that names a label."
    keyword = report.provenance.variant == "reference"
    said = "The last keyword of the explanation reads as" if keyword else "It concludes:"
    if report.label_match is None:
        return f"{said} {report.stated_label}. No decision was sent to compare this with."
    if report.label_match:
        return f"{said} {report.stated_label}, which is the decision that was sent."
    return f"{said} {report.stated_label}, but the decision sent is {report.predicted_label}."


def faithfulness(report: HatexscoreResult) -> str:
    """Why QF is what it is."""
    qf, drop = report.components.qf, _effect(report)
    if qf is None and _codes(report, "qf") & NO_WITNESS:
        return _undefined(report, "qf")
    if not quotes(report):
        return "The explanation quotes nothing of the text, so QF is 0."
    if qf is None and report.predicted_label is None:
        return "Undefined: the decision is unknown, and QF reads the movement by the decision."
    if qf is None:
        return "Undefined: P(hateful) of the text or of the masked text is missing."
    if drop is None or _is_whole_text(report):
        return "The quotes cover the text, or nearly all of it, and single nothing out, so QF is 0."
    before, after = report.probability_original, report.probability_masked
    said = (
        f"Masking the quotes moves P(hateful) from {significant(before)} to "
        f"{significant(after)}, by {significant(moved(report))}."
    )
    if _is_increase(report):
        carry = "do not carry it" if hateful(report) else "carry no hate"
        return f"{said} Without them it is higher, so the quotes {carry}: QF is {significant(qf)}."
    if hateful(report):
        rest = "A hateful decision should rest on its quotes: QF is this movement."
        return f"{said} {rest}{_chance_note(report)}"
    return (
        f"{said} A non-hateful decision should not hang on its quotes: "
        f"QF is 1 − {significant(drop)} = {significant(qf)}."
    )


def _chance_note(report: HatexscoreResult) -> str:
    """Chance: QF without it is no evidence."""
    control = report.control
    if control is None or control.p_value is None:
        return " There is no comparison with chance."
    counted = control.win_rate_draws or control.draws
    return (
        f" It beats {percent(control.share_beaten)} of {counted} random spans, "
        f"p = {significant(control.p_value)}."
    )


def identification(report: HatexscoreResult) -> str:
    """Why TGI is what it is."""
    if "tgi" in report.not_applicable:
        return f"Not applicable: {report.not_applicable['tgi']}."
    if report.components.tgi is None:
        return _undefined(report, "tgi")
    named = mentions(report)
    counting = sum(mention.counts for mention in named)
    if not named:
        said = "The explanation names no group of the policy"
        if hateful(report):
            return f"{said}; Eq. 4 requires one of a hateful decision, even about a single person."
        if report.predicted_label is not None and report.provenance.variant == "robust":
            return f"{said}, and the text does."
        return f"{said}."
    if not counting:
        return f"Groups of the policy are mentioned ({len(named)}), but no mention counts."
    return f"Mentions of groups that count as named: {counting} of {len(named)}."


def coherence(report: HatexscoreResult) -> str:
    """Why CC is what it is."""
    parts = report.components
    if contradicted(report):
        return "The explanation concludes the opposite of the decision, so CC is 0."
    unnamed = parts.tgi is None and "tgi" not in report.not_applicable
    if parts.cc is None and parts.qf is None:
        return f"Undefined, because {'QF and TGI are' if unnamed else 'QF is'}."
    if parts.cc is None and unnamed:
        return "Undefined, because TGI is."
    if parts.cc is None:
        return "Undefined: the decision is unknown, and the two decisions give different answers."
    if report.predicted_label is None:
        return f"The decision is unknown, but either one gives {significant(parts.cc)}."
    rule = report.provenance.parameters.get("consistency_rule")
    if parts.qf is None or unnamed:
        return "What is known is enough: one of the conditions does not hold, so CC is 0."
    if not hateful(report) and rule not in NOT_HATEFUL:
        return "The rule in force was not kept with the result."
    asked, shown, holds = _condition(report, parts.qf, str(rule))
    return (
        f"For a {report.predicted_label} decision CC requires {asked}: "
        f"{shown} {'holds' if holds else 'does not hold'}, and {_grouping(report, str(rule))}."
    )


def _grouping(report: HatexscoreResult, rule: str) -> str:
    """What the explanation says of groups, as far as the rule asks."""
    if hateful(report) or not _asks_for_attacks(report, rule):
        return f"{'a' if report.components.tgi == 1 else 'no'} group is named"
    attacked = any(mention.attacked for mention in mentions(report))
    return f"{'a' if attacked else 'no'} group is attacked according to the explanation"


def _asks_for_attacks(report: HatexscoreResult, rule: str) -> bool:
    """Only the rule `causal` of the robust variant asks more of a group than its name."""
    return rule == "causal" and report.provenance.variant == "robust"


def _codes(report: HatexscoreResult, part: Part) -> set[ReasonCode]:
    return {reason.code for reason in report.reasons if reason.component == part}


def _undefined(report: HatexscoreResult, part: Part) -> str:
    """Which languages stand in the way. No reason holds words of the text."""
    details = [reason.detail for reason in report.reasons if reason.component == part]
    return f"Undefined: {'; '.join(details)}."


def _condition(report: HatexscoreResult, qf: float, rule: str) -> tuple[str, str, bool]:
    """What is asked of QF, the same in numbers, and whether it holds."""
    tau = float(report.provenance.parameters["tau"])
    if hateful(report):
        return "QF ≥ τ and a named group", _compare(qf, "≥", tau), qf >= tau - TIE
    said, sign = NOT_HATEFUL[rule]
    value = 1 - qf if rule == "causal" else qf
    reaches = value >= tau - TIE
    group = "no attacked group" if _asks_for_attacks(report, rule) else "no named group"
    asked = f"{said} (rule {rule}) and {group}"
    return asked, _compare(value, sign, tau), reaches == (sign == "≥")


def _compare(value: float, sign: str, threshold: float) -> str:
    """Both numbers with as many decimals as tell them apart."""
    for digits in DIGITS:
        left, right = significant(value, digits), significant(threshold, digits)
        if left != right or abs(value - threshold) <= TIE:
            break
    return f"{left} {sign} {right}"


def hateful(report: HatexscoreResult) -> bool:
    """Whether the decision in force is hateful; an unknown one is not."""
    return report.predicted_label == "hateful"


def _is_movement(report: HatexscoreResult, qf: float, drop: float) -> bool:
    """Is QF read off the movement (Eq. 3), or 0 because everything is quoted?"""
    if report.predicted_label is None:
        return False
    return abs(qf - (drop if hateful(report) else 1 - drop)) <= TIE


def _is_whole_text(report: HatexscoreResult) -> bool:
    """Whether QF is 0 because the quotes cover the text, or nearly all of it."""
    qf, drop = report.components.qf, _effect(report)
    return qf is not None and (drop is None or not _is_movement(report, qf, drop))


def contradicted(report: HatexscoreResult) -> bool:
    """Whether HTC is 0 because the explanation concludes the opposite of the decision."""
    return report.label_match is False and report.components.htc == 0


def _is_decision_aware(report: HatexscoreResult) -> bool:
    """Since version 2.0 the robust variant asks which way masking moves P."""
    return report.provenance.variant == "robust" and report.drop_direction is not None


def _signed(report: HatexscoreResult) -> bool:
    """Whether the draws are compared by how far they lower P."""
    return _is_decision_aware(report) and hateful(report)


def _is_increase(report: HatexscoreResult) -> bool:
    """Whether that matters, and P(hateful) is higher without the quotes."""
    return _is_decision_aware(report) and (report.signed_drop or 0.0) < -TIE


def _effect(report: HatexscoreResult) -> float | None:
    """What Eq. 3 takes as the movement, probability."""
    return 0.0 if _is_increase(report) else moved(report)


def in_a_word(report: HatexscoreResult) -> Finding:
    """`contradicted`: another label is stated than was sent; else as the tone of the verdict."""
    word: VerdictWord | None = "contradicted" if report.label_match is False else None
    return finding(report, verdict(report), word)
