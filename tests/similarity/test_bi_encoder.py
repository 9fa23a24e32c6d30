"""A bi-encoder: symmetric, 1 on equal texts, in [0, 1], and what sentence-transformers computes."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sentence_transformers.util import cos_sim

from services.similarity.encoders import WIDTH_STEP as WIDTHS
from shared.contracts.calls import Pair
from shared.contracts.errors import ScoringError
from shared.contracts.messages import ModelKind
from shared.models.ports import Floats, Similarity
from tests.promises import as_promised
from tests.similarity.conftest import Make
from tests.similarity.rows import PAIRS, SOME, TEXTS, counted, network


def by_sentence_transformers(similarity: Similarity) -> Floats:
    found = network(similarity).encode(list(TEXTS), show_progress_bar=False)
    cosines: Floats = cos_sim(found, found).double().numpy().clip(0, 1).ravel()
    return cosines


def test_it_is_symmetric_to_the_bit(embedded: Similarity) -> None:
    swapped = [Pair(a=pair.b, b=pair.a) for pair in PAIRS]
    there, back = embedded.similarities(PAIRS), embedded.similarities(swapped)
    assert as_promised(embedded.use, there, back)


def test_equal_texts_are_1(embedded: Similarity) -> None:
    same = embedded.similarities([Pair(a=text, b=text) for text in TEXTS])
    assert same == pytest.approx(1, abs=1e-6)


def test_values_are_float64_in_0_to_1(embedded: Similarity) -> None:
    found = embedded.similarities(PAIRS)
    assert found.dtype == np.float64
    assert found.shape == (len(PAIRS),)
    assert found.min() >= 0
    assert found.max() <= 1


def test_paraphrases_are_nearer_than_other_matters(embedded: Similarity) -> None:
    near = Pair(a="He insulted the woman.", b="The woman was insulted by him.")
    far = Pair(a="He insulted the woman.", b="The train leaves at nine.")
    found = embedded.similarities([near, far])
    assert found[0] > 0.7 > 0.3 > found[1]


def test_no_pairs_are_no_values(embedded: Similarity) -> None:
    assert embedded.similarities([]).shape == (0,)


def test_the_base_agrees_with_sentence_transformers(embedded: Similarity) -> None:
    assert embedded.similarities(PAIRS) == pytest.approx(
        by_sentence_transformers(embedded), abs=1e-5
    )


@pytest.mark.parametrize("step", [1, 16])
def test_a_model_without_normalisation_agrees_too(
    bi_folder: Path, made: Make, step: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(WIDTHS, "cpu", step)
    tiny = made(bi_folder, "similarity")
    assert tiny.similarities(PAIRS) == pytest.approx(by_sentence_transformers(tiny), abs=1e-5)


def test_a_pair_is_the_same_in_any_company(bi_folder: Path, made: Make) -> None:
    together = made(bi_folder, "similarity").similarities(SOME)
    alone = made(bi_folder, "similarity")
    one_by_one = [alone.similarities([pair])[0] for pair in reversed(SOME)]
    assert together == pytest.approx(one_by_one[::-1], abs=1e-5)


def test_every_text_is_embedded_once(bi_folder: Path, made: Make) -> None:
    tiny = made(bi_folder, "similarity")
    rows = counted(tiny)
    tiny.similarities(PAIRS)
    tiny.similarities(PAIRS + PAIRS)
    assert sum(rows) == len(TEXTS)


@settings(max_examples=30)
@given(a=st.text(max_size=80), b=st.text(max_size=80))
def test_any_unicode_has_a_similarity(embedded: Similarity, a: str, b: str) -> None:
    value = embedded.similarities([Pair(a=a, b=b)])[0]
    assert 0 <= value <= 1


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_half_precision_is_near(bi_folder: Path, made: Make, dtype: str) -> None:
    full = made(bi_folder, "similarity").similarities(PAIRS)
    half = made(bi_folder, "similarity", dtype=dtype)
    assert half.use.dtype == dtype
    assert half.similarities(PAIRS) == pytest.approx(full, abs=0.05)


@pytest.mark.parametrize("kind", ["similarity", "cross-encoder"])
def test_weights_of_other_sizes_than_stated_are_refused_in_plain_words(
    made: Make, bi_folder: Path, cross_folder: Path, tmp_path: Path, kind: ModelKind
) -> None:
    folder = tmp_path / "m"
    shutil.copytree(bi_folder if kind == "similarity" else cross_folder, folder)
    stated = json.loads((folder / "config.json").read_text("utf-8"))
    stated["intermediate_size"] *= 2
    (folder / "config.json").write_text(json.dumps(stated), "utf-8")
    with pytest.raises(ScoringError) as caught:
        made(folder, kind).similarities(PAIRS[:1])
    assert caught.value.detail == (
        "the model 'm' cannot be loaded: the model's weights have different "
        "shapes than its configuration says"
    )
