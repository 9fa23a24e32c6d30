"""HateXScore over many: means of the parts, conflicts by name; nothing depends on who is first."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from services.hatexscore.batch_report import Row
from services.hatexscore.contract import CONTRACT, HatexscoreRequest
from services.hatexscore.metric import SERVICE
from services.hatexscore.report import (
    HatexscoreRandomSpans,
)
from shared.contracts.batches import BatchReportRequest
from shared.contracts.messages import Scored
from tests.flat_requests import flat_request
from tests.hatexscore.fake import FakeClassifier, bound, by_hash
from tests.summaries import summaries

score = SERVICE.score


batch_report = summaries(SERVICE)
REQUEST = BatchReportRequest(batch="batch_1")


def row(name: str, **change: Any) -> Row:
    asked = CONTRACT.examples["your own probabilities"] | change
    text = change.get("text", f"{asked['text']} {name}")
    request = flat_request(HatexscoreRequest, asked | {"text": text})
    with bound(FakeClassifier()):
        return Scored(f"job_{name}", name, request, score(request))


@pytest.fixture(scope="module")
def rows() -> list[Row]:
    return [
        row("kind"),
        row("conflict", decision="hateful"),
        row("silent", explanation="Nobody knows."),
        row("moved", probabilities={"original": 0.4, "masked": 0.1}),
    ]


def test_each_component_is_the_mean_of_what_is_defined(rows: list[Row]) -> None:
    report = batch_report(rows, REQUEST)
    for part, found in report.components.items():
        values = [getattr(one.report.components, part) for one in rows]
        defined = [value for value in values if value is not None]
        assert found.of == len(defined)
        assert found.value == pytest.approx(np.mean(defined))
        assert found.value is not None
        assert found.low is not None
        assert found.high is not None
        assert 0 <= found.low <= found.value <= found.high <= 1


def test_conflicts_are_named(rows: list[Row]) -> None:
    labels = batch_report(rows, REQUEST).labels
    assert (labels.compared, labels.conflicting, labels.conflicts) == (3, 1, ("conflict",))
    assert labels.no_conclusion == 1


def test_the_means_do_not_depend_on_the_order(rows: list[Row]) -> None:
    forth, back = batch_report(rows, REQUEST), batch_report(rows[::-1], REQUEST)
    assert forth.labels == back.labels
    for part, found in forth.components.items():
        assert found.value == pytest.approx(back.components[part].value)


def test_nothing_is_undefined_and_said(rows: list[Row]) -> None:
    empty = batch_report([], REQUEST)
    assert (empty.scored, empty.score.value) == (0, None)
    assert empty.warnings


def test_decisions_are_averaged_apart(rows: list[Row]) -> None:
    report = batch_report(rows, REQUEST)
    assert sum(own.results for own in report.by_decision.values()) == len(rows)
    for decision, own in report.by_decision.items():
        label = None if decision == "unknown" else decision
        of = [row for row in rows if row.report.decision == label]
        scores = [row.report.score for row in of if row.report.score is not None]
        assert own.results == len(of)
        assert own.score.value == (pytest.approx(np.mean(scores)) if scores else None)


def test_one_decision_is_averaged_as_the_whole() -> None:
    report = batch_report([row(f"r{number}") for number in range(9)], REQUEST)
    [own] = report.by_decision.values()
    assert own.components["qf"].value == pytest.approx(report.components["qf"].value)
    assert own.score.value == pytest.approx(report.score.value)


def test_a_model_that_decides_otherwise_is_told() -> None:
    def hateful(name: str, original: float) -> Row:
        probabilities = {"original": original, "masked": 0.1}
        return row(name, decision="hateful", probabilities=probabilities)

    others = [hateful(f"o{number}", 0.2) for number in range(6)]
    agreeing = [hateful(f"a{number}", 0.6 + number / 10) for number in range(4)]
    report = batch_report([*others, *agreeing], REQUEST)
    found = report.model_agreement
    assert found is not None
    assert found.agreement.value == pytest.approx(0.4)
    assert found.by_decision["hateful"].value == pytest.approx(0.4)
    assert any("agrees with 40 % of the decisions" in warning for warning in report.warnings)
    assert batch_report([], REQUEST).model_agreement is None


def with_p(name: str, p: float | None, attainable: float = 0.005) -> Row:
    """A hateful result whose control found this p; None: without a control."""
    plain = row(name, decision="hateful", probabilities={"original": 0.9, "masked": 0.1})
    control = p and HatexscoreRandomSpans(
        draws=20, quoted_drop=0.8, mean_drop=0.5, sd_drop=0.1, share_beaten=0.9,
        p_value=p, attainable_p=attainable, rank=3,
    )  # fmt: skip
    report = plain.report.model_copy(update={"control": control})
    return Scored(plain.job_id, plain.custom_id, plain.request, report)


def test_evidence_is_the_share_of_what_can_be_told() -> None:
    decided = [with_p(f"e{n}", p) for n, p in enumerate((0.01, 0.02, 0.05, 0.3))]
    undecided = [with_p("few", 0.1, attainable=0.1), with_p("none", None)]
    report = batch_report([*decided, *undecided], REQUEST)
    assert report.evidence is not None
    assert (report.evidence.value, report.evidence.of) == (0.75, 4)
    assert report.evidence.method == "wilson"
    assert report.evidence.low is not None
    assert report.evidence.low < 0.75


@pytest.mark.parametrize("p", [0.1, None])
def test_there_is_no_evidence_where_nothing_can_be_told(p: float | None) -> None:
    report = batch_report([with_p(f"n{number}", p, attainable=0.1) for number in range(3)], REQUEST)
    assert report.evidence is None


SHORT = "the old bridge near our village was closed again this winter"


def quoted(name: str, word: str) -> Row:
    """A short hateful post of eleven words: too few places for a p of .05."""
    request = HatexscoreRequest(
        text=f"{SHORT} {name}",
        explanation=f'It says "{word}". Conclusion: hateful.',
        decision="hateful",
        language="en",
    )
    with bound(FakeClassifier(lambda text: 0.9 if "bridge" in text else 0.6 + by_hash(text) / 10)):
        return Scored(f"job_{name}", name, request, score(request))


def test_short_posts_are_tested_together_and_the_good_ones_are_named() -> None:
    good = [quoted(f"g{number}", "bridge") for number in range(12)]
    report = batch_report([*good, quoted("x", "closed"), quoted("y", "winter")], REQUEST)
    together = report.by_decision["hateful"].together
    assert together is not None
    assert (together.results, together.texts) == (14, 14)
    assert together.z > 0
    assert together.p_value < 0.001
    assert set(together.named) == {one.custom_id for one in good}
    assert together.found == len(together.named)


def test_nothing_is_tested_together_without_a_control(rows: list[Row]) -> None:
    means = batch_report(rows, REQUEST).by_decision
    assert all(own.together is None for own in means.values())


def test_qf_above_chance_is_averaged_over_results_with_a_control(rows: list[Row]) -> None:
    assert all(row.report.control is None for row in rows)
    means = batch_report(rows, REQUEST).by_decision
    assert all(own.qf_excess is not None and own.qf_excess.of == 0 for own in means.values())


def test_quotations_and_results_are_each_counted_once(rows: list[Row]) -> None:
    invented = row("invented", explanation='It says "cats are evil", so it is hateful.')
    roughly = row(
        "rough",
        text="They are ruining our beautiful town again",
        explanation='It says "ruining our beautifull town", so it is hateful.',
    )
    all_rows = [*rows, invented, roughly]
    found = batch_report(all_rows, REQUEST).quotes
    assert found is not None
    results = (found.results_exact, found.results_rough, found.results_missing)
    assert sum(results) + found.results_without == len(all_rows)
    quoted = [one for own in all_rows for one in own.report.evidence if one.kind == "quote"]
    assert found.exact + found.inflected + found.fuzzy == len(quoted)
    assert found.missing == sum(len(own.report.hallucinated_quotes) for own in all_rows)
    assert (found.results_missing, found.fuzzy, found.results_rough) == (1, 1, 1)


def test_a_part_is_there_undefined_or_not_asked_for(rows: list[Row]) -> None:
    harmless = row("friendly", text="A day by the sea.", explanation="It is not hateful.")
    every = [*rows, harmless]
    report = batch_report(every, REQUEST)
    for part, found in report.parts.items():
        assert found.mean.of + found.undefined + found.not_applicable == report.scored
        unasked = sum(part in one.report.not_applicable for one in every)
        assert found.not_applicable == unasked
    assert report.parts["tgi"].not_applicable == 1
    assert {part: found.mean for part, found in report.parts.items()} == report.components
