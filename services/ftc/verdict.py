"""Does the model answer FTC's counterfactuals as the explanation demands, and would chance?"""

from __future__ import annotations

from services.ftc.report import FtcResult
from shared.contracts.messages import Finding
from shared.reports.pages.page_text import Tone, Verdict, finding, percent

UNUSUAL = 0.05  # a p-value above it is what chance does too


def verdict(report: FtcResult) -> Verdict:
    """The report in words, with what random phrases would do."""
    made = report.counterfactuals
    if report.abstained is not None or not made:
        return Verdict("No score: nothing could be tested. That is an abstention, not a zero.")
    sentence, tone = _outcome_text(report)
    return Verdict(sentence, tone, _chance(report))


def _outcome_text(report: FtcResult) -> tuple[str, Tone]:
    made = report.counterfactuals
    borne_out = sum(one.satisfaction.delta == 1 for one in made)
    if borne_out == 0:
        return "The model does not answer as the explanation demands.", "bad"
    if borne_out < len(made):
        return "The model answers one of two counterfactuals as the explanation demands.", "neutral"
    control = report.control
    p_value = control.null_p_value if control else None
    if control is None or p_value is None:
        return "The model answers as the explanation demands; chance is not known.", "neutral"
    if (control.null_attainable_p or 0) > UNUSUAL:
        return (
            "The model answers as the explanation demands; chance cannot be ruled out, since too "
            "few other phrases can be compared with.",
            "neutral",
        )
    if p_value > UNUSUAL:
        return (
            "The model answers as the explanation demands, but random phrases do about as well.",
            "neutral",
        )
    return "The model answers as the explanation demands, and random phrases do worse.", "good"


def _chance(report: FtcResult) -> str | None:
    control = report.control
    if control is None or control.null_win_rate is None or control.null_p_value is None:
        return None
    least = control.null_attainable_p
    could = "" if least is None else f" (the least that it could be: {least:.2g})"
    return (
        f"Against {_phrases(report)} in the same place it wins {percent(control.null_win_rate)} "
        f"(chance: 50 %), p = {control.null_p_value:.2g}{could}."
    )


def _phrases(report: FtcResult) -> str:
    kinds = {one.null.kind for one in report.counterfactuals if one.null}
    matched = "random phrases of the same type that the premise supports as much"
    return matched if kinds == {"phrases"} else "random phrases of the same type"


def score_in_words(report: FtcResult) -> str | None:
    control = report.control
    if report.score is None or control is None:
        return None
    mean = ", the mean of both counterfactuals" if len(report.counterfactuals) > 1 else ""
    if report.provenance.variant != "robust":
        return _of_w(report, mean, control.uniform.w)
    return (
        f"The score is W, normalized{mean}: 1 less the distance of the answer from what is "
        "demanded, in shares of the largest there is; a uniform model would have "
        f"{control.uniform.w_normalized:.2f} here{_random(report)}."
    )


def _of_w(report: FtcResult, mean: str, uniform: float) -> str:
    """W as printed has a floor that depends on what is demanded."""
    head = f"The score is W{mean}: 1 less the distance of the answer from what is demanded"
    would = f"a uniform model would have {uniform:.2f} here"
    alpha = report.provenance.parameters.get("alpha")
    if not isinstance(alpha, int | float):
        return f"{head}; {would}."
    low, high = sorted((1 - (1 + alpha) / 3, 1 - 2 * alpha / 3))
    return (
        f"{head}, never under {1 - alpha:.2g} where neutral is demanded; {would} ({low:.2f} to "
        f"{high:.2f}, by the label that is demanded)."
    )


def _random(report: FtcResult) -> str:
    """The mean of the random phrases, where every counterfactual has some."""
    means = [one.null.mean for one in report.counterfactuals if one.null is not None]
    if not means or len(means) < len(report.counterfactuals):
        return ""
    return f", random phrases {sum(means) / len(means):.2f}"


def in_a_word(report: FtcResult) -> Finding:
    """The five words that every metric has, for its own."""
    return finding(report, verdict(report))
