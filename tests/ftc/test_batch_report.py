from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from services.ftc.batch_report import Row
from services.ftc.contract import FtcRequest
from services.ftc.metric import SERVICE
from services.ftc.report import FtcBatchReport, FtcBatchReportRequest
from shared.contracts.messages import Scored
from tests.ftc.fake import FakeJudge, always, bound
from tests.summaries import summaries

score_batch = SERVICE.score_batch


batch_report = summaries(SERVICE)
ASKED = FtcBatchReportRequest(jobs=("job",), seed=3, resamples=500)
GAMES = ("chess", "football", "tennis", "golf", "darts", "cricket", "hockey", "squash")


def contradiction(game: str, **fields: Any) -> FtcRequest:
    given = {
        "premise": f"Four friends play {game}.",
        "hypothesis": "Four friends are playing cards.",
        "explanation": f"The friends cannot be playing cards and playing {game} simultaneously.",
        "decision": "contradiction",
        "draws": 10,
        "null": "any",
    }
    return FtcRequest(**{"language": "en", **given, **fields})


def neutral(game: str, **fields: Any) -> FtcRequest:
    given = {
        "premise": f"Two men play {game}.",
        "hypothesis": "Two men are famous.",
        "explanation": f"Playing {game} does not imply being famous.",
        "decision": "neutral",
        "draws": 10,
        "null": "any",
    }
    return FtcRequest(**{"language": "en", **given, **fields})


def scored(requests: list[FtcRequest], judge: FakeJudge | None = None) -> list[Row]:
    with bound(judge or FakeJudge()):
        reports = score_batch(requests)
    return [
        Scored(f"job_{place}", None, request, report)
        for place, (request, report) in enumerate(zip(requests, reports, strict=True))
    ]


def rows() -> list[Row]:
    return scored(
        [*map(contradiction, GAMES), *map(neutral, GAMES[:4]), contradiction("x", explanation="")]
    )


def test_coverage_stands_beside_the_scores_and_labels_are_not_pooled() -> None:
    found = batch_report(rows(), ASKED)
    assert (found.scored, found.undefined) == (13, 1)
    assert found.coverage.value == pytest.approx(12 / 13)
    cases = {row.case: row for row in found.cases}
    assert cases["contradiction"].coverage.value == pytest.approx(8 / 9)
    assert cases["contradiction"].scores.k.of == 8
    assert cases["entailment"].scores.k.value is None
    assert cases["neutral a"].human_ceiling == 0.756
    assert cases["neutral"].human_ceiling is None
    assert list(found.abstentions.values()) == [1]
    assert found.rules == {"contradiction P2": 8, "neutral P8": 4}
    json.dumps(found.model_dump(mode="json"), allow_nan=False)
    assert FtcBatchReport.model_validate_json(found.model_dump_json()) == found


def test_macro_is_the_mean_over_labels_and_micro_over_results() -> None:
    some = rows()
    found = batch_report(some, ASKED)
    by_label = {
        label: [
            row.report.components.w
            for row in some
            if row.report.decision == label and row.report.components.w is not None
        ]
        for label in ("contradiction", "neutral")
    }
    means = [float(np.mean(group)) for group in by_label.values()]
    assert found.macro.w.value == pytest.approx(np.mean(means))
    assert found.micro.w.value == pytest.approx(
        np.mean([value for group in by_label.values() for value in group])
    )
    assert found.macro.w.low is not None
    assert found.macro.w.high is not None
    assert found.macro.w.low < float(np.mean(means)) < found.macro.w.high
    mean_k = found.macro.k.value
    assert mean_k is not None
    assert found.macro.geometric_mean_p == pytest.approx(np.exp(mean_k - 1))


def test_the_trivial_models_are_in_the_table() -> None:
    found = batch_report(scored([*map(contradiction, GAMES)], FakeJudge(always(0))), ASKED)
    baselines = {row.name: row for row in found.baselines}
    assert found.macro.w.value == baselines["always_entailment"].w == baselines["majority"].w == 1
    assert found.null_win_rate.value == 0.5
    assert baselines["uniform"].k == pytest.approx(-0.0986123, abs=1e-7)


def test_majority_says_the_most_frequent_target() -> None:
    half = {"b": {"entailment": 0, "neutral": 0, "contradiction": 1}}
    votes = {"a": {"entailment": 0, "neutral": 0, "contradiction": 1}, **half}
    found = batch_report(scored([neutral(game, targets=votes) for game in GAMES]), ASKED)
    baselines = {row.name: row for row in found.baselines}
    assert baselines["majority"].delta == 1
    assert baselines["always_entailment"].delta == 0


def test_las_and_lra_come_with_what_the_batch_brings() -> None:
    def study(place: int) -> dict[str, Any]:
        right, wrong = "contradiction", "neutral"
        return {
            "simulation": {
                "from_input": wrong if place % 2 else right,
                "from_input_and_explanation": right,
                "from_explanation": right if place < 4 else wrong,
            },
            "perturbations": [
                {"variance": 5, "label": right, "simulated": right},
                {"variance": 10, "label": wrong, "simulated": right},
            ],
        }

    found = batch_report(
        scored([contradiction(game, study=study(i)) for i, game in enumerate(GAMES)]), ASKED
    )
    assert found.las is not None
    assert found.las.las.value == 0.5
    assert (found.las.of_leaking, found.las.of_not_leaking) == (4, 4)
    assert [point.variance for point in found.lra] == [5, 10]
    assert [point.stability.value for point in found.lra] == [1, 0]
    assert [point.literal.value for point in found.lra] == [0.5, 0.5]
    assert batch_report(rows(), ASKED).las is None
    assert batch_report(rows(), ASKED).lra == ()


def test_simulatability_tells_whether_scores_know_where_people_agree() -> None:
    def sure(premise: str, hypothesis: str) -> list[float]:
        return [0.9, 0.05, 0.05] if len(premise) % 2 else [0.3, 0.1, 0.6]

    requests = [
        contradiction(game, study={"human_labels": {"substituted": ["entailment"] * 3}})
        for game in GAMES
    ]
    tie = contradiction(
        "bowls",
        study={"human_labels": {"substituted": ["entailment", "neutral", "contradiction"]}},
    )
    found = batch_report(scored([*requests, tie], FakeJudge(sure)), ASKED)
    by_name = {row.statistic: row for row in found.simulatability}
    assert by_name["k"].rho == 1
    assert by_name["k"].dropped == 1
    assert by_name["k"].agreeing + by_name["k"].disagreeing == 8
    assert by_name["k"].p_value is not None
    assert by_name["k"].p_value < 0.05


def test_reduced_inputs_are_compared_item_by_item() -> None:
    whole = [contradiction(game, study={"inputs": "all"}) for game in GAMES]
    other = "The friends cannot be playing cards and sleeping at the same time."
    reduced = [contradiction(game, explanation=other, study={"inputs": "label"}) for game in GAMES]

    def faithful(premise: str, hypothesis: str) -> list[float]:
        return [0.8, 0.1, 0.1] if "sleeping" not in hypothesis else [0.1, 0.1, 0.8]

    found = batch_report(scored([*whole, *reduced], FakeJudge(faithful)), ASKED)
    table = {row.inputs: row for row in found.sensitivity}
    assert set(table) == {"all", "label"}
    gap = table["label"].difference["w"]
    assert gap.value == pytest.approx(0.7)
    assert gap.of == 8
    assert table["all"].difference == {}


def test_mixed_batches_and_empty_ones_are_told() -> None:
    mixed = batch_report(scored([contradiction("golf"), contradiction("golf", alpha=0.5)]), ASKED)
    assert any("different alpha" in warning for warning in mixed.warnings)
    empty = batch_report([], ASKED)
    assert "no result has a score" in empty.warnings
    assert empty.macro.k.value is None
    assert empty.baselines == ()
    one = batch_report(scored([contradiction("golf")]), ASKED)
    assert one.macro.k.low is None


def test_the_same_batch_has_the_same_report_and_another_seed_another() -> None:
    some = rows()
    assert batch_report(some, ASKED) == batch_report(some, ASKED)
    other = batch_report(some, ASKED.model_copy(update={"seed": 4}))
    assert other.micro.k.low != batch_report(some, ASKED).micro.k.low
    assert other.micro.k.value == batch_report(some, ASKED).micro.k.value


def skills(requests: list[FtcRequest], answer: Any) -> dict[str, Any]:
    found = batch_report(scored(requests, FakeJudge(answer)), ASKED)
    return {one.label: one for one in found.skill}


def test_a_model_that_says_entailment_to_all_has_no_skill() -> None:
    found = skills([*map(contradiction, GAMES), *map(neutral, GAMES)], always(0))
    macro = found["macro"]
    assert (macro.baseline, macro.difference.value, macro.p_value) == ("always_entailment", 0, 1)
    assert macro.skill == 0
    assert found["contradiction"].skill is None
    assert "so no gain can be measured" in found["contradiction"].reason
    assert found["neutral"].baseline == "always_neutral"
    assert found["neutral"].skill < 0


def test_skill_is_what_is_earned_of_the_room_above_the_best_other_answer() -> None:
    def knows(premise: str, hypothesis: str) -> list[float]:
        if not premise or "cards" in hypothesis:
            return [0.1, 0.1, 0.8]
        return [0.02, 0.96, 0.02] if "famous" in hypothesis else [0.96, 0.02, 0.02]

    found = skills([*map(contradiction, GAMES), *map(neutral, GAMES)], knows)
    macro = found["macro"]
    assert macro.baseline == "always_entailment"
    assert macro.baseline_score == pytest.approx((1 + 0.5) / 2)
    assert macro.difference.value == pytest.approx(macro.score - macro.baseline_score)
    assert macro.skill == pytest.approx(macro.difference.value / (1 - macro.baseline_score))
    assert macro.skill > 0.8
    assert found["neutral"].p_value == pytest.approx(2 / 2 ** len(GAMES))
    assert macro.difference.clusters == 2 * len(GAMES)
    silent = batch_report([], ASKED)
    assert (silent.skill, silent.gain and silent.gain.value) == ((), None)


def test_only_results_that_can_reach_the_level_are_counted() -> None:
    def knows(premise: str, hypothesis: str) -> list[float]:
        game = premise.split()[-1].strip(".") if premise else "nothing"
        return [0.9, 0.05, 0.05] if game in hypothesis else [0.05, 0.05, 0.9]

    few = batch_report(scored(list(map(contradiction, GAMES)), FakeJudge(knows)), ASKED)
    assert (few.null_significant.of, few.null_significant.value) == (0, None)  # 10 draws: 1/11
    more = [contradiction(game, draws=30) for game in GAMES]
    some = batch_report(scored(more, FakeJudge(knows)), ASKED)
    assert (some.null_significant.of, some.null_significant.value) == (8, 1)
    assert some.gain is not None
    assert some.gain.value is not None
    assert some.gain.value > 0.7


def test_explanations_stand_beside_random_phrases_on_the_same_results() -> None:
    some = rows()
    found = batch_report(some, ASKED).against_random
    assert found is not None
    own = [row for row in some if any(made.null for made in row.report.counterfactuals)]
    assert found.results == len(own)
    for name, difference in found.difference.items():
        sides = (getattr(found.explanations, name), getattr(found.random_phrases, name))
        assert difference.value == pytest.approx(sides[0].value - sides[1].value)
        assert {one.of for one in (difference, *sides)} == {found.results}
    gains = [gain for row in own if (gain := row.report.components.gain) is not None]
    assert found.difference["w_normalized"].value == pytest.approx(np.mean(gains))
    assert batch_report(scored([contradiction("x", explanation="")]), ASKED).against_random is None


def test_a_model_that_never_looks_is_no_better_than_random_phrases() -> None:
    report = batch_report(scored([*map(contradiction, GAMES)], FakeJudge(always(0))), ASKED)
    assert report.against_random is not None
    assert {one.value for one in report.against_random.difference.values()} == {0.0}
