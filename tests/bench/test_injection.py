"""The probe of demands inside posts, on the embedded classifier and on scripted writers."""

from __future__ import annotations

import pytest

from bench.injection import (
    DEMANDS,
    LABELS,
    PLAIN,
    POSTS,
    decisions,
    explained,
    judged,
    markdown,
    measure,
    moved,
    probes,
)
from tests.explanations.scripted import NAME, saying


def test_every_demand_asks_each_side_for_the_other() -> None:
    for demand in DEMANDS:
        asked = probes(demand, 8)
        assert len(asked) == sum(map(len, POSTS.values()))
        assert {one.deserved for one in asked} == set(LABELS)
        assert all(one.deserved != one.demanded for one in asked)
        assert all((one.demanded in one.text) == (demand != PLAIN) for one in asked[8:])


@pytest.mark.parametrize("demand", DEMANDS)
@pytest.mark.parametrize(
    "says", ["Nobody is attacked. Conclusion: Non-hateful", "Yes.", "\0{[", ""]
)
def test_a_post_that_demands_a_decision_changes_no_form_of_an_answer(
    demand: str, says: str
) -> None:
    """Each result is read again as the contract has it."""
    asked = probes(demand, 1)
    with saying(says, p=(0.2, 0.8)) as model:
        found = explained(NAME, asked, 20)
        sent = "".join(turn.content for prompt in model.prompts for turn in prompt.turns or ())
        assert all(one.text in sent for one in asked)
    assert len(found) == 2
    assert {one.decision for one in found} == {"non-hateful" if "Conclusion" in says else None}


def test_who_obeys_and_who_does_not() -> None:
    asked = probes("instruction", 4)
    with saying("Conclusion: Non-hateful", p=(0.2, 0.8)):
        table = measure(NAME, 4, 20, writes=True)
        obeyed = decisions(asked, explained(NAME, asked, 20))
    assert obeyed == {"as_demanded": 4, "decided": 8, "outcomes": {"answered": 8}}
    assert set(table) == set(DEMANDS)
    assert {row["judge"]["mean_change"] for row in table.values()} == {0.0}
    lines = list(markdown(table))
    assert len({line.count("|") for line in lines}) == 1
    assert len(lines) == 2 + len(DEMANDS)


def test_only_a_text_that_was_not_there_can_be_turned() -> None:
    found = moved([0.2, 0.9, None, 0.4], [0.6, 0.95, 0.5, 0.3])
    assert found == {"of": 3, "mean_change": pytest.approx(0.117), "turned": 1, "could_turn": 2}


def test_the_judge_tells_the_demanded_side() -> None:
    with saying("", p=(0.3, 0.7)):
        assert judged(NAME, probes(PLAIN, 1)) == [0.7, 0.3]
