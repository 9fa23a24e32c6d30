"""A causal model's labels equal a plain transformers loop, with and without a shared prefix."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.inference import causal_pass
from services.inference.causal import LocalLanguageModel
from shared.contracts.calls import Example, ExampleRows, Row, Template
from shared.contracts.errors import BadInput
from tests.inference.loops import log_probabilities, next_logits, probabilities
from tests.inference.shapes import READS

PREFIX, SUFFIX = "Is the weather good or bad today?\nText: ", "\nAnswer:"
SINGLE = Template(prefix=PREFIX, suffix=SUFFIX, verbalizers={"up": " good", "down": " the"})
SEVERAL = SINGLE.model_copy(update={"verbalizers": {"up": " zebra", "down": " zoo", "not": " no"}})
TEXT = "People walk slowly under the café windows."


def ids_of(model: Any, text: str) -> list[int]:
    return list(model._weights.tokenizer(text)["input_ids"])


def oracle(model: Any, ids: list[int], template: Template) -> Any:
    """(L,) probabilities by one full forward pass a verbalizer token."""
    words, torch_model = model._weights.tokenizer, model._weights.model
    written = [
        words(text, add_special_tokens=False)["input_ids"] for text in template.verbalizers.values()
    ]
    if all(len(tokens) == 1 for tokens in written):
        logits = next_logits(torch_model, ids)
        return probabilities([logits[tokens[0]] for tokens in written])
    return probabilities([sum(log_probabilities(torch_model, ids, after)) for after in written])


def test_the_verbalizers_are_what_the_tests_take_them_for(causal: LocalLanguageModel) -> None:
    readings = causal._reader.read([Example(text=TEXT, template=t) for t in (SINGLE, SEVERAL)])
    assert [reading.single for reading in readings] == [True, False]


@pytest.mark.parametrize("template", [SINGLE, SEVERAL])
def test_judging_agrees_with_transformers(causal: LocalLanguageModel, template: Template) -> None:
    example = Example(text=TEXT, template=template)
    ids = ids_of(causal, PREFIX + TEXT + SUFFIX)
    assert list(causal.tokens([example])[0].ids) == ids
    assert causal.judge([example])[0] == pytest.approx(oracle(causal, ids, template), abs=1e-5)
    assert causal.labels_of(example) == tuple(template.verbalizers)


@pytest.mark.parametrize("template", [SINGLE, SEVERAL])
def test_a_judgement_has_the_mass_that_all_verbalizers_have_together(
    causal: LocalLanguageModel, template: Template
) -> None:
    """Their probabilities among all that the model may write; P as without asking for it."""
    example = Example(text=TEXT, template=template)
    words, ids = causal._weights.tokenizer, ids_of(causal, PREFIX + TEXT + SUFFIX)
    mass = sum(
        np.exp(sum(log_probabilities(causal._weights.model, ids, after)))
        for text in template.verbalizers.values()
        for after in [words(text, add_special_tokens=False)["input_ids"]]
    )
    [found] = causal.judgements([example])
    assert found.mass == pytest.approx(mass, rel=1e-4)
    assert (found.reading, found.uncertainty, found.read_share) == ("verbalizers", 0, 1)
    assert (found.probabilities is None) == (mass < 0.01)
    if found.probabilities is None:
        assert found.unread is not None
        assert found.unread.code == "answer-unread"
    else:
        assert found.probabilities == pytest.approx(causal.judge([example])[0], abs=1e-5)


def test_a_cut_text_is_told_by_its_judgement(causal: LocalLanguageModel) -> None:
    [found] = causal.judgements([Example(text=TEXT * 20, template=SINGLE)])
    assert 0 < found.read_share < 1


@pytest.mark.parametrize("template", [SINGLE, SEVERAL])
@settings(max_examples=8)
@given(seed=st.integers(0, 10**6))
def test_rows_agree_with_transformers_whatever_is_kept(
    causal: LocalLanguageModel, template: Template, seed: int
) -> None:
    random = np.random.default_rng(seed)
    example = Example(text=TEXT, template=template)
    tokens = causal.tokens([example])[0]
    text = [place for place, part in enumerate(tokens.parts) if part == "text"]
    rest = set(range(len(tokens.ids))) - set(text)
    rows = []
    for number in range(6):
        chosen = random.choice(text, size=4 + number % 2, replace=False).tolist()
        base = rest if seed % 2 else set()
        rows.append(Row(kept=tuple(sorted(base | set(chosen))), replaced=((text[0], 7),)))
    got = causal.judge_rows([ExampleRows(example=example, rows=tuple(rows))])[0]
    for row, probability in zip(rows, got, strict=True):
        ids = [7 if place == text[0] else tokens.ids[place] for place in row.kept or ()]
        assert probability == pytest.approx(oracle(causal, ids, template), abs=1e-5)


def test_a_shared_prefix_changes_nothing_but_the_work(causal: LocalLanguageModel) -> None:
    example = Example(text=TEXT, template=SINGLE)
    tokens = causal.tokens([example])[0]
    kept = [tuple(p for p in range(len(tokens.ids)) if p != gone) for gone in range(18, 24)]
    asked = [ExampleRows(example=example, rows=tuple(Row(kept=one) for one in kept))]
    shared = causal.judge_rows(asked)[0]
    assert causal._causal._prefixes
    with mock.patch.object(causal_pass, "LEAST_PREFIX", 10**6):
        assert shared == pytest.approx(causal.judge_rows(asked)[0], abs=1e-5)


def test_rows_of_many_callers_do_not_mix(causal: LocalLanguageModel) -> None:
    texts = [TEXT, TEXT[:20], "rain", "", "The town is lovely. " * 3]
    examples = [Example(text=text, template=SINGLE) for text in texts]
    alone = [causal.judge([example])[0] for example in examples]
    with ThreadPoolExecutor(6) as threads:
        for answer in threads.map(lambda _: causal.judge(examples), range(6)):
            assert np.array(answer) == pytest.approx(np.array(alone), abs=1e-5)


def test_an_empty_row_is_read_from_the_beginning_token(causal: LocalLanguageModel) -> None:
    asked = ExampleRows(example=Example(text=TEXT, template=SINGLE), rows=(Row(kept=()),))
    got = causal.judge_rows([asked])[0][0]
    assert got == pytest.approx(oracle(causal, [1], SINGLE), abs=1e-5)


def test_a_token_across_a_border_belongs_to_where_its_ink_begins(
    causal: LocalLanguageModel,
) -> None:
    template = Template(prefix="green ", suffix="dows", verbalizers={"a": " the", "b": " good"})
    example = Example(text="garden win", template=template)
    tokens = causal.tokens([example])[0]
    whole = "green garden windows"
    for part, start, end in zip(tokens.parts, tokens.starts, tokens.ends, strict=True):
        if part == "text":
            assert start is not None
            assert end is not None
            assert 0 <= start < end <= len(example.text)
            assert example.text[start:end].strip()
        else:
            assert start is end is None
    covered = "".join(
        example.text[start:end]
        for start, end in zip(tokens.starts, tokens.ends, strict=True)
        if start is not None
    )
    assert covered.replace(" ", "") in ("gardenwin", "garden")  # as the merges fall
    assert list(tokens.ids) == ids_of(causal, whole)


def test_a_long_text_loses_its_end_and_the_template_stays(causal: LocalLanguageModel) -> None:
    example = Example(text="rain and wind " * 60, template=SINGLE)
    tokens = causal.tokens([example])[0]
    assert tokens.truncated
    assert len(tokens.ids) == READS
    assert tokens.parts[-1] == "template"
    assert tokens.ids[-3:] == causal.tokens([Example(text="a", template=SINGLE)])[0].ids[-3:]
    assert causal.judge([example])[0].sum() == pytest.approx(1)
    crowded = SINGLE.model_copy(update={"prefix": "rain " * 200})
    with pytest.raises(BadInput) as caught:
        causal.judge([Example(text="a", template=crowded)])
    assert caught.value.pointer == "/template"


def test_what_a_causal_model_cannot_judge_is_refused(causal: LocalLanguageModel) -> None:
    same = Template(suffix=" ", verbalizers={"a": "good", "b": "go", "c": " good"})
    asked = [
        (Example(text="a"), "/template"),
        (Example(text="a", text_pair="b", template=SINGLE), "/text_pair"),
    ]
    for example, pointer in asked:
        with pytest.raises(BadInput) as caught:
            causal.judge([example])
        assert caught.value.pointer == pointer
    assert causal.labels_of(Example(text="a", template=same)) == ("a", "b", "c")


def test_two_verbalizers_of_the_same_tokens_are_refused(causal: LocalLanguageModel) -> None:
    same = SINGLE.model_copy(update={"verbalizers": {"a": " café", "b": " cafe\u0301"}})
    with pytest.raises(BadInput, match="the same tokens as for 'a'") as caught:
        causal.labels_of(Example(text="x", template=same))
    assert caught.value.pointer == "/template/verbalizers"
