"""The 27 acceptance cases. Texts are never printed: a failure names the case and the component."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from services.hatexscore.contract import HatexscoreRequest
from services.hatexscore.metric import SERVICE
from services.hatexscore.report import HatexscoreResult
from tests.flat_requests import flat_request

score = SERVICE.score

GOLDEN = Path(__file__).parents[3] / "shared" / "golden" / "hatexscore_cases.json"

pytestmark = pytest.mark.skipif(not GOLDEN.exists(), reason="no golden numbers on this machine")


def cases() -> dict[str, dict[str, Any]]:
    if not GOLDEN.exists():
        return {}
    return {case["id"]: case for case in json.loads(GOLDEN.read_text(encoding="utf-8"))["cases"]}


CASES = cases()


def scored(name: str, variant: str) -> HatexscoreResult:
    case = CASES[name]
    fields = {key: case[key] for key in ("text", "explanation", "language")}
    fields["decision"] = case["predicted_label"]
    probabilities = {"original": case["p_orig"], "masked": case["p_mask"]}
    return score(
        flat_request(HatexscoreRequest, **fields, variant=variant, probabilities=probabilities)
    )


def differences(
    report: HatexscoreResult, expected: dict[str, Any], within: float = 1e-9
) -> dict[str, Any]:
    """Component -> (ours, expected), where they differ by more than so much."""
    parts = report.components
    ours = {"HTC": parts.htc, "QF": parts.qf, "TGI": parts.tgi, "CC": parts.cc}
    pairs = {
        name: (value, expected[name]) for name, value in (*ours.items(), ("score", report.score))
    }
    return {
        name: (value, wanted)
        for name, (value, wanted) in pairs.items()
        if (value is None) != (wanted is None) or abs((value or 0) - (wanted or 0)) > within
    }


def quoted(report: HatexscoreResult) -> set[str]:
    return {item.quoted_as.lower() for item in report.evidence if item.kind == "quote"}


NO_GROUP: dict[str, Any] = {"TGI": None}
CHANGED: dict[str, dict[str, Any]] = {  # by 2.0: a group that is not there, or not attacked
    "syn_negated_conclusion": {"CC": 1.0, "score": 1.0},
    "syn_tgi_denied": {**NO_GROUP, "score": 0.93333},
    "syn_not_hate_speech": {**NO_GROUP, "score": 0.99667},
    "syn_function_words": {**NO_GROUP, "score": 0.33333},
    "syn_apostrophe_s": {**NO_GROUP, "score": 0.33333},
    "syn_refused_probability": NO_GROUP,
    "table7_row3": {"CC": 1.0, "score": 0.9375},  # no group is read as attacked
    "syn_no_conclusion": {"HTC": None, "score": None},  # unread
    "syn_tgi_unrelated": {"TGI": 1.0, "CC": 1.0, "score": 0.875},  # a colleague is read as attacked
    "syn_label_mismatch": {"HTC": 0.0, "CC": 0.0, "score": 0.1},  # concludes the opposite
}


@pytest.mark.parametrize("name", CASES)
def test_robust_scores_what_is_expected(name: str) -> None:
    case, report = CASES[name], scored(name, "robust")
    expected = {**case["expected"], **CHANGED.get(name, {})}
    assert differences(report, expected, within=1e-5 if name in CHANGED else 1e-9) == {}
    same_quotes = quoted(report) == {quote.lower() for quote in case["expected_quotes"]}
    assert same_quotes
    same_masked = report.masked_text == case.get("expected_masked", report.masked_text)
    assert same_masked
    match = case["expected"].get("HTC_label_match")
    assert match is None or report.decision_match == bool(match)


@pytest.mark.parametrize("name", [n for n, case in CASES.items() if "reference_code" in case])
def test_reference_reproduces_the_released_code(name: str) -> None:
    expected, report = CASES[name]["reference_code"], scored(name, "reference")
    assert differences(report, expected) == {}
    same_quotes = quoted(report) == set(expected["quotes"])
    assert same_quotes
    same_masked = report.masked_text == expected["masked"]
    assert same_masked


# Table 7 row 3 prints QF = 0, which Eq. 3 gives for |dp| = 1 only. Table 4, perturbed 2 needs group
# words inside quotations ignored, which Eq. 4 as printed does not.
CONTRADICT_THEIR_EQUATIONS = {"table7_row3", "table4_perturbed2"}


@pytest.mark.parametrize(
    "name",
    [n for n, c in CASES.items() if "paper_reported" in c and n not in CONTRADICT_THEIR_EQUATIONS],
)
def test_paper_scores_what_the_tables_print_or_eq3_demands(name: str) -> None:
    case = CASES[name]
    expected = case.get("expected_strict_eq3", case["paper_reported"])
    assert differences(scored(name, "paper"), expected) == {}


def test_a_refused_probability_is_missing_and_not_zero() -> None:
    report = scored("syn_refused_probability", "robust")
    assert (report.components.qf, report.components.cc, report.score) == (None, None, None)
    assert any("but one of them is missing" in warning for warning in report.warnings)
