"""CoT2EL against GenEX: the same judge before the explanations of both, in stages."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bench.papers.columns import Observation
from bench.papers.cot2el import SETTINGS, Cot2elPaper
from bench.papers.data_rows import DataRow
from bench.papers.protocol import Case, Incomplete, RunOptions
from bench.papers.tables import table_of
from shared.statistics.bootstrap import Resampling
from tests.papers.scripted_service import Body, ran

PAPER = Cot2elPaper()
REASONING = "People carry umbrellas when it rains. Nobody mentions wet streets."
PARSED = [
    {"explanation": "People carry umbrellas when it rains.", "label": "A"},
    {"explanation": "Nobody mentions wet streets.", "label": "B"},
]
PLACES = {"A": 1, "B": 2, "C": 3}
RIGHT, WRONG = PLACES, {"A": 3, "B": 2, "C": 1}


def row(number: int, **more: Any) -> DataRow:
    fields = {
        "premise": f"Man number {number} holds an umbrella.",
        "hypothesis": "It is raining.",
        "annotators": ["entailment", "entailment", "neutral"],
        **more,
    }
    return DataRow("nli", fields, f"nli {number}")


def script(path: str, body: Body) -> Body:
    """Shown chains of thought, the judge ranks as people do; shown anything else, it does not."""
    body = {name: value for name, value in body.items() if name != "model"}
    if path.endswith("/cot2el"):
        told = {"reasoning": REASONING, "pairs": PARSED, "polarity": "none", "language": "en"}
        return body | told | {"control_draws": 0}
    if path.endswith("/hlv"):
        shown = [one["explanation"] for one in body.get("explanations", [])]
        ranked = RIGHT if PARSED[0]["explanation"] in shown else WRONG
        said = {"baseline": {"rankings": [WRONG]}}
        return body | {
            "predictions": said | ({"explained": {"rankings": [ranked]}} if shown else {})
        }
    if body["target_label"] == "Contradiction":
        return body | {"answer": {"text": "I'm sorry, but I can't help with that."}}
    return body | {"answer": {"text": f"It is {body['target_label']} because of the umbrella."}}


@pytest.fixture
def found(tmp_path: Path) -> Any:
    return ran(PAPER, ["m"], [row(number) for number in range(3)], tmp_path, script)


def by_setting(observations: list[Observation]) -> dict[str, list[Observation]]:
    return {name: [one for one in observations if one.setting == name] for name in SETTINGS}


def test_each_set_is_judged_and_the_better_one_is_nearer(
    found: tuple[list[Observation], list[tuple[str, Body]]],
) -> None:
    groups = by_setting(found[0])
    for name in ("GenEX", "baseline", "CoT2EL", "CoT2EL-sup"):
        assert [one.outcome for one in groups[name]] == ["answered"] * 3
        better = name.startswith("CoT2EL")
        assert all((one.result.spearman > 0) is better for one in groups[name])
    [plan] = PAPER.tables(RunOptions())
    table = table_of(plan, found[0], Resampling(resamples=99), SETTINGS)
    assert [line.place[2] for line in table.lines] == ["baseline", "GenEX", "CoT2EL", "CoT2EL-sup"]
    pairs = {(one.first[2], one.second[2]) for one in table.differences}
    assert ("CoT2EL", "GenEX") in pairs
    [gap] = [one.found.value for one in table.differences if one.column == "spearman"
             and (one.first[2], one.second[2]) == ("CoT2EL", "GenEX")]  # fmt: skip
    assert gap is not None
    assert gap > 0


def test_a_judge_sees_what_was_found_and_no_refusal(
    found: tuple[list[Observation], list[tuple[str, Body]]],
) -> None:
    judged = [body for path, body in found[1] if path.endswith("/hlv")]
    shown = [[one["label"] for one in body.get("explanations", ())] for body in judged]
    assert sorted(map(tuple, shown)) == [()] * 3 + [("A", "B")] * 6  # GenEX's and CoT2EL's
    assert judged[0]["human"] == {"votes": {"A": 2, "B": 1}}
    targets = [body["target_label"] for path, body in found[1] if path.endswith("/explanations")]
    assert targets == ["Entailment", "Neutral", "Contradiction"] * 3
    prompts = {body["prompt"] for path, body in found[1] if path.endswith("/explanations")}
    assert prompts == {"genex-nli"}


def test_jobs_of_all_stages_stand_behind_a_cell(
    found: tuple[list[Observation], list[tuple[str, Body]]],
) -> None:
    groups = by_setting(found[0])
    assert {len(one.jobs) for one in groups["baseline"]} == {1}
    assert {len(one.jobs) for one in groups["GenEX"]} == {4}
    assert {len(one.jobs) for one in groups["CoT2EL"]} == {2}


def test_a_chain_that_gives_no_explanation_is_no_number(tmp_path: Path) -> None:
    def mute(path: str, body: Body) -> Body:
        made = script(path, body)
        return made | {"pairs": []} if path.endswith("/cot2el") else made

    observations, _ = ran(PAPER, ["m"], [row(0)], tmp_path, mute)
    for one in by_setting(observations)["CoT2EL"]:
        assert (one.outcome, one.result) == ("unparsable", None)
        assert one.error == "no explanation came of it"
        assert len(one.jobs) == 1


def test_explanations_of_people_are_a_setting_where_rows_have_them(tmp_path: Path) -> None:
    own = row(0, explanations=PARSED)
    observations, _ = ran(PAPER, ["m"], [own], tmp_path, script)
    [human] = by_setting(observations)["HumanEX"]
    assert human.outcome == "answered"
    [plan] = PAPER.tables(RunOptions())
    assert ("nli", "m", "HumanEX") in list(plan.places(human))


@pytest.mark.parametrize("missing", ["premise", "annotators"])
def test_a_row_without_what_is_needed_says_so(missing: str) -> None:
    fields = {name: value for name, value in row(0).fields.items() if name != missing}
    lacking = DataRow("nli", fields, "nli 0")
    for setting in ("GenEX", "baseline", "CoT2EL"):
        case = Case("m", setting, lacking)
        asked = PAPER.requests(case, lambda _: None, RunOptions())
        with pytest.raises(Incomplete, match="nli"):
            next(asked)


def test_labels_of_people_that_are_no_option_are_named() -> None:
    options = RunOptions(labels={"e": "Entailment"})
    votes = [row(0, annotators=["e", "Neutral", "odd"]), row(1, annotators=["?", "odd"])]
    asked = PAPER.requests(Case("m", "baseline", votes[0]), lambda _: None, options)
    assert [one.body["human"] for one in asked] == [{"votes": {"A": 1, "B": 1}}]
    with pytest.raises(Incomplete, match="no label of its `annotators`"):
        next(PAPER.requests(Case("m", "baseline", votes[1]), lambda _: None, options))
    [plan] = PAPER.tables(options)
    seen = [Observation("m", "baseline", one, "failed", ()) for one in (*votes, votes[0])]
    [told] = plan.remarks(seen)
    assert told.startswith("3 of the 5 labels that people gave are not known")
    assert "'odd' (2), '?' (1)" in told
