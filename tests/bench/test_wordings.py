"""The bench of wordings, through the real door on a tiny language model."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from bench.wordings import (
    DOUBT,
    WordingDesign,
    compared,
    distances,
    markdown,
    measure,
    reordered,
)
from shared.statistics.seeds import generator
from tests.judges import TinyJudges, tiny_judges

LABELS = ("A", "B", "C")
ITEMS: list[dict[str, Any]] = [
    {
        "question": {"premise": f"A {what} sleeps.", "hypothesis": f"The {what} rests."},
        "options": [{"key": key, "text": f"{key.lower()}{what}"} for key in LABELS],
        "human": {"votes": {"A": 3.0 + place, "B": 1.0, "C": 0.0}},
        "explanations": [{"explanation": "Who sleeps is at rest.", "label": "A"}],
        "language": "en",
    }
    for place, what in enumerate(("dog", "cat", "horse", "bird"))
]


@pytest.fixture(scope="module")
def judges(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TinyJudges]:
    folder = tmp_path_factory.mktemp("wordings")
    texts = ["Which is it? A, B or C?", "Say A, B or C:"]
    head = 'task = "free"\nlabels = { a = ["yes"], b = ["no"], c = ["perhaps"] }'
    with tiny_judges(folder, "free", "{text} I say:", texts, LABELS, head) as made, made.bound():
        yield made


def test_words_and_orders_are_crossed_with_questions(judges: TinyJudges) -> None:
    own = {"style": "raw", "verbalizers": judges.prompt.verbalizers}
    design = WordingDesign(("{text}", "Please choose. {text}", "{text} Well?"), 2, own)
    values = distances("causal", ITEMS, design)
    assert values["baseline"].shape == values["explained"].shape == (4, 3, 2)
    assert ((values["baseline"] >= 0) & (values["baseline"] <= 1)).all()
    assert np.ptp(values["baseline"][0], axis=0).min() > 0  # words matter to a random model
    assert not np.allclose(values["baseline"], values["explained"])
    found = measure("causal", ITEMS, design)
    parts = found["figures"]["distance"]["baseline"]["components"]
    assert set(parts) == {"text", "wording", "text:wording", "residual"}
    assert sum(part["share"] for part in parts.values()) == pytest.approx(1, abs=0.01)
    assert 0 <= found["ratios"]["explained - baseline survival"] <= 1
    lines = list(markdown(found["figures"]))
    assert len({line.count("|") for line in lines[:8]}) == 1


def test_another_order_is_the_same_question() -> None:
    assert reordered(ITEMS[0], 0) == ITEMS[0]
    turned = next(
        one for one in map(lambda n: reordered(ITEMS[0], n), range(1, 9)) if one != ITEMS[0]
    )
    assert [one["key"] for one in turned["options"]] == list(LABELS)
    by_text = {one["key"]: one["text"] for one in ITEMS[0]["options"]}
    own = {one["key"]: one["text"] for one in turned["options"]}
    votes = {own[key]: count for key, count in turned["human"]["votes"].items()}
    assert votes == {by_text[key]: count for key, count in ITEMS[0]["human"]["votes"].items()}
    assert own[turned["explanations"][0]["label"]] == by_text["A"]


def test_what_depends_on_the_words_does_not_survive_them() -> None:
    random = generator(0, "wordings")
    noise = random.normal(0, 0.3, size=(20, 5, 2))
    assert compared(noise - 2)["survival_observed"][0] == 1
    by_words = noise + np.array([-1.0, 1.0, -1.0, 1.0, 0.0])[None, :, None]
    found = compared(by_words)
    assert found["survival_observed"][0] < 0.9
    assert found["says"] == DOUBT
