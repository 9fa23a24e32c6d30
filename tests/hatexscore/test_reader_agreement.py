"""How a model agrees with the trained reader and with people: kappa and its interval."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score  # type: ignore[import-untyped]

from bench.reader_agreement import agreement, compared, labelled
from shared.models.ports import Models
from shared.statistics.agreement import kappa_of_pairs
from tests.hatexscore.fake import binding
from tests.hatexscore.test_reader import ScriptedReader, WithReader

ROWS = labelled()
LABELS = {row.explanation: row.label for row in ROWS}


@given(pairs=st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("abc")), min_size=2))
def test_kappa_is_cohens(pairs: list[tuple[str, str]]) -> None:
    found = kappa_of_pairs("k", pairs[:60]).value
    first, second = zip(*pairs[:60], strict=True)
    if len({*first, *second}) == 1:
        assert found is None
    else:
        assert found == pytest.approx(float(cohen_kappa_score(first, second)), abs=1e-9)


def test_its_interval_holds_it_and_narrows() -> None:
    random = np.random.default_rng(3)
    first = random.choice(["yes", "no"], 400)
    second = np.where(random.random(400) < 0.8, first, random.choice(["yes", "no"], 400))
    pairs = list(zip(map(str, first), map(str, second), strict=True))
    few, many = kappa_of_pairs("k", pairs[:60]), kappa_of_pairs("k", pairs)
    for one in (few, many):
        assert None not in (one.low, one.value, one.high)
        assert cast(float, one.low) <= cast(float, one.value) <= cast(float, one.high)
    assert cast(float, many.high) - cast(float, many.low) < cast(float, few.high) - cast(
        float, few.low
    )


def test_our_own_statements_are_of_three_languages_and_labels() -> None:
    assert set(Counter((row.language, row.label) for row in ROWS).values()) == {20}
    assert {row.language for row in ROWS} == {"en", "zh", "ko"}


def says(label: str, quote: str) -> str:
    stated = None if label == "none" else quote
    return json.dumps({"conclusion": label, "conclusion_quote": stated, "groups": []})


def test_a_reader_that_reads_as_people_do_agrees_wholly() -> None:
    def answer(prompt: str) -> str:
        explanation = max((one for one in LABELS if one in prompt), key=len)
        return says(LABELS[explanation], explanation)

    with binding(cast(Models, WithReader(ScriptedReader(answer)))):
        found = agreement(compared("reader", ROWS[::4]))
    assert set(found) == {"en", "ko", "zh"}
    for one in found.values():
        assert one["conclusion: model and label"]["value"] == pytest.approx(1)
        assert one["conclusion: model and reader"] == one["conclusion: reader and label"] | {
            "low": one["conclusion: model and reader"]["low"],
            "high": one["conclusion: model and reader"]["high"],
        }
        assert one["not read by the model"] == 0


def test_a_reader_that_invents_is_not_counted_as_reading() -> None:
    reader = ScriptedReader(lambda _: says("hateful", "nowhere at all"))
    with binding(cast(Models, WithReader(reader))):
        found = agreement(compared("reader", ROWS[:20]))
    assert found["en"]["not read by the model"] == 20
    assert found["en"]["conclusion: model and label"]["rows"] == 0
    assert found["en"]["conclusion: model and label"]["value"] is None


def test_a_file_says_which_line_is_wrong(tmp_path: Path) -> None:
    file = tmp_path / "own.jsonl"
    file.write_text('{"language": "de", "explanation": "Hassrede.", "label": "yes"}\n', "utf-8")
    with pytest.raises(ValueError, match="line 1"):
        labelled(file)
