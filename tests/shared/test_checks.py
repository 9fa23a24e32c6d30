"""How a verdict follows from checks: laws over any checks."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any, get_args

from hypothesis import given
from hypothesis import strategies as st

from services.registry import metrics
from shared.contracts.checks import ACTIONS, conclude, fitted, route_of
from shared.contracts.messages import LONGEST_REASON, Check, ReasonCode, VerdictWord

UNANSWERED = ("inconclusive", "not_tested")
OUTCOMES = {
    "passed": st.none(),
    "not_applicable": st.none(),
    "failed": st.sampled_from(["p", "q"]),
    "inconclusive": st.sampled_from(sorted(ACTIONS)),
    "not_tested": st.sampled_from(sorted(ACTIONS)),
}
CHECKS = st.lists(
    st.one_of(
        *(
            st.builds(
                Check,
                name=st.sampled_from("abc"),
                outcome=st.just(outcome),
                reason=reasons,
                sentence=st.just("So."),
            )
            for outcome, reasons in OUTCOMES.items()
        )
    ),
    max_size=5,
    unique_by=lambda one: one.name,
)
CARRYING = st.sets(st.sampled_from("abc"))


@given(CHECKS, CARRYING)
def test_the_verdict_follows_from_the_checks(checks: list[Check], carrying: set[str]) -> None:
    found = conclude(checks, carrying)
    failures = [one for one in checks if one.outcome == "failed"]
    unanswered = [one for one in checks if one.outcome in UNANSWERED]
    assert (found.verdict == "problem_found") == bool(failures)
    if found.verdict == "holds_up":
        assert not any(one.name in carrying for one in unanswered)
        assert any(one.outcome == "passed" and one.name in carrying for one in checks)
    assert list(found.problems) == list(dict.fromkeys(one.reason for one in failures))
    assert {one.reason for one in found.untested} == {one.reason for one in unanswered}


@given(CHECKS, CARRYING)
def test_one_more_failure_never_helps(checks: list[Check], carrying: set[str]) -> None:
    more = Check(name="d", outcome="failed", reason="p", sentence="No.")
    assert conclude([*checks, more], carrying).verdict == "problem_found"


def test_every_reason_has_an_action_and_every_problem_a_phrase() -> None:
    assert {code for one in get_args(ReasonCode) for code in (get_args(one) or (one,))} <= set(
        ACTIONS
    )
    assert all(metric.problems for metric in metrics().values())


@given(st.text(alphabet="ab (,;:", max_size=2 * LONGEST_REASON))
def test_a_long_sentence_ends_at_a_word(text: str) -> None:
    beginning = fitted(text).removesuffix("…")
    assert len(fitted(text)) <= LONGEST_REASON
    assert text.startswith(beginning)
    if beginning != text:
        assert not text[len(beginning)].isalnum() or " " not in beginning.strip()


def test_routes_are_those_of_the_guide() -> None:
    guide = Path(__file__).parents[2] / "docs/guide/decide.md"
    code = guide.read_text("utf-8").partition("TO_A_PERSON =")[2].partition("\n\n\nbatch")[0]
    names: dict[str, Any] = {}
    exec(f"TO_A_PERSON ={code}", names)  # noqa: S102
    codes = sorted({code for metric in metrics().values() for code in metric.problems})
    for verdict, *problems in product(get_args(VerdictWord), codes, codes):
        result = SimpleNamespace(verdict=verdict, problems=problems)
        assert route_of(verdict, problems) == names["route"](result)
    assert route_of(None, codes) is None
