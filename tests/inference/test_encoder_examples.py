"""An encoder reads examples and their variations as a plain transformers loop does."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.inference.classifier import LocalClassifier
from shared.contracts.calls import Example, ExampleRows, Row, Template
from shared.contracts.errors import BadInput
from tests.inference.loops import encoder_logits, probabilities
from tests.promises import as_promised

PAIR = Example(text="The garden was green.", text_pair="It rained, slowly, all day.")
SINGLE = Example(text="People walk under café windows.")
LONG = Example(text="rain " * 100)


def test_tokens_point_into_their_texts(bert: LocalClassifier) -> None:
    tokens = bert.tokens([PAIR])[0]
    assert tokens.parts[0] == tokens.parts[-1] == "special"
    assert not tokens.truncated
    texts = {"text": PAIR.text, "text_pair": PAIR.text_pair}
    words: dict[str, str] = {"text": "", "text_pair": ""}
    for part, start, end in zip(tokens.parts, tokens.starts, tokens.ends, strict=True):
        text = texts.get(part)
        if text is None:
            assert start is end is None
        else:
            words[part] += text[start:end]
    assert words == {part: (text or "").replace(" ", "") for part, text in texts.items()}


def test_a_long_example_is_cut_and_said_to_be(bert: LocalClassifier) -> None:
    tokens = bert.tokens([LONG, SINGLE])
    assert [one.truncated for one in tokens] == [True, False]
    assert len(tokens[0].ids) == 64
    assert bert.judge([LONG])[0] == pytest.approx(bert.probabilities([LONG.text])[0], abs=0)


def test_judging_agrees_with_transformers_segments_included(bert: LocalClassifier) -> None:
    words = bert._weights.tokenizer
    for example, row in zip((PAIR, SINGLE), bert.judge([PAIR, SINGLE]), strict=True):
        read = words(example.text, example.text_pair)
        logits = encoder_logits(bert._weights.model, read["input_ids"], read["token_type_ids"])
        assert row == pytest.approx(probabilities(logits), abs=1e-5)
    flat = encoder_logits(bert._weights.model, words(PAIR.text, PAIR.text_pair)["input_ids"])
    assert np.abs(bert.judge([PAIR])[0] - probabilities(flat)).max() > 1e-3  # segments matter


@settings(max_examples=20)
@given(st.data())
def test_rows_are_the_tokens_that_were_kept(bert: LocalClassifier, data: st.DataObject) -> None:
    tokens = bert.tokens([PAIR])[0]
    places = range(len(tokens.ids))
    kept = data.draw(st.lists(st.sampled_from(places), min_size=1, unique=True).map(sorted))
    changed = data.draw(st.dictionaries(st.sampled_from(places), st.integers(0, 999), max_size=4))
    row = Row(kept=tuple(kept), replaced=tuple(changed.items()))
    got = bert.judge_rows([ExampleRows(example=PAIR, rows=(row, Row()))])[0]
    read = bert._weights.tokenizer(PAIR.text, PAIR.text_pair)
    ids = [changed.get(place, read["input_ids"][place]) for place in kept]
    segments = [read["token_type_ids"][place] for place in kept]
    oracle = probabilities(encoder_logits(bert._weights.model, ids, segments))
    assert got[0] == pytest.approx(oracle, abs=1e-5)
    assert as_promised(bert.use, got[1], bert.judge([PAIR])[0])


def test_a_row_has_the_same_bits_in_any_company(bert: LocalClassifier) -> None:
    asked = [
        ExampleRows(example=example, rows=tuple(Row(kept=tuple(range(n))) for n in range(1, 9)))
        for example in (SINGLE, PAIR)
    ]
    alone = [bert.judge_rows([one])[0] for one in asked]
    with ThreadPoolExecutor(6) as threads:
        together = list(threads.map(lambda _: bert.judge_rows(asked), range(6)))
    for answer in together:
        assert all(as_promised(bert.use, a, b) for a, b in zip(answer, alone, strict=True))


def test_nothing_asked_is_nothing_answered(bert: LocalClassifier) -> None:
    assert bert.judge([]) == []
    assert bert.judge_rows([ExampleRows(example=SINGLE, rows=())])[0].shape == (0, 3)


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (Row(kept=()), "keeps no token"),
        (Row(kept=(3, 3)), "ascending order"),
        (Row(kept=(0, 99)), "position 99"),
        (Row(replaced=((99, 5),)), "position 99"),
        (Row(replaced=((1, 10**7),)), "token 10000000 does not exist"),
    ],
)
def test_rows_that_cannot_be_read_are_refused(bert: LocalClassifier, row: Row, reason: str) -> None:
    with pytest.raises(BadInput, match=reason) as caught:
        bert.judge_rows([ExampleRows(example=SINGLE, rows=(row,))])
    assert caught.value.pointer == "/rows"


def test_an_encoder_takes_no_template(bert: LocalClassifier) -> None:
    template = Template(verbalizers={"a": "x", "b": "y"})
    with pytest.raises(BadInput) as caught:
        bert.judge([Example(text="rain", template=template)])
    assert caught.value.pointer == "/template"
