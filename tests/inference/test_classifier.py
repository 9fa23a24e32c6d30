"""The classifier's laws: probabilities, bits that no neighbour changes, honest truncation."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from services.inference.classifier import LocalClassifier
from services.inference.local_models import LocalModels
from services.inference.tokenization import EncoderRow
from shared.contracts.calls import Example
from shared.contracts.errors import ModelNotReady, ScoringError
from shared.models.catalogue.checkpoint import folder_sha256
from shared.models.label_readout import softmax
from tests.promises import as_promised

WORDS = ["the", "a", "garden", "people", "walk", "rain", "slowly", "under", "green", "windows"]
SHORT = [" ".join(WORDS[n % 7 : n % 7 + 1 + n % 8]) for n in range(60)]
LONG = " ".join(WORDS * 60)  # more than 512 tokens
texts = st.lists(
    st.lists(st.sampled_from(WORDS), max_size=40).map(" ".join), min_size=1, max_size=12
)


def test_rows_are_probabilities(hate: LocalClassifier) -> None:
    rows = hate.probabilities([*SHORT, "", LONG, "你好", "\u200b", "🙂" * 300])
    assert rows.dtype == np.float64
    assert rows.shape == (65, len(hate.labels))
    assert np.all((rows >= 0) & (rows <= 1))
    assert rows.sum(axis=1) == pytest.approx(np.ones(65), abs=1e-15)


def test_no_texts_are_no_rows(hate: LocalClassifier) -> None:
    assert hate.probabilities([]).shape == (0, 2)
    assert hate.truncated([]) == []


@settings(max_examples=6, suppress_health_check=[HealthCheck.too_slow])
@given(texts)
def test_a_row_has_the_same_bits_alone_and_in_any_company(
    hate: LocalClassifier, batch: list[str]
) -> None:
    together = hate.probabilities(batch)
    alone = np.concatenate([hate.probabilities([text]) for text in batch])
    assert as_promised(hate.use, together, alone)
    assert as_promised(hate.use, hate.probabilities(batch[::-1])[::-1], together)


@pytest.mark.parametrize(
    "words", [1, 13, 14, 15, 18, 21, 22, 23, 30, 31, 62, 126, 300, 510, 511, 600]
)
def test_no_length_and_no_number_of_rows_changes_a_bit(hate: LocalClassifier, words: int) -> None:
    text = " ".join(["rain"] * words)  # 14, 18, 22 words fill a width: no mask
    shorter = " ".join(["green"] * max(1, words - 1))
    alone = hate.probabilities([text])[0]
    for rows in (2, 3, 17) if words < 100 else (2, 3):
        mixed = hate.probabilities([shorter] * (rows // 2) + [text] * rows + [shorter])
        assert as_promised(hate.use, mixed[rows // 2 : rows // 2 + rows], [alone] * rows)


def test_threads_get_the_answers_of_one_thread(hate: LocalClassifier) -> None:
    calls = [SHORT[n : n + 5] for n in range(0, 40, 5)]
    expected = [hate.probabilities(call) for call in calls]
    with ThreadPoolExecutor(8) as threads:
        got = list(threads.map(hate.probabilities, calls))
        cut = list(threads.map(hate.truncated, [[LONG, "rain"]] * 8))
    assert all(as_promised(hate.use, a, b) for a, b in zip(expected, got, strict=True))
    assert cut == [[True, False]] * 8


def test_texts_that_differ_behind_what_is_read_are_computed_once(
    hate: LocalClassifier, monkeypatch: pytest.MonkeyPatch
) -> None:
    submitted: list[int] = []
    submit = hate._batcher.submit

    def counted(rows: list[EncoderRow]) -> Any:
        submitted.append(len(rows))
        return submit(rows)

    monkeypatch.setattr(hate._batcher, "submit", counted)
    asked = [Example(text=text) for text in (LONG, f"{LONG} green", "rain", f"{LONG} walk", "rain")]
    found = hate.judgements(asked)
    assert submitted == [2]
    assert [one.probabilities for one in found] == [
        hate.judgements([one])[0].probabilities for one in asked
    ]
    shares = [one.read_share for one in found]
    assert shares[1] < shares[0] < shares[2] == shares[4] == 1
    assert hate.judgements([]) == []


def test_a_long_text_is_cut_and_said_to_be(hate: LocalClassifier) -> None:
    tokens = 510  # and two special ones
    fits, over = " ".join(["rain"] * tokens), " ".join(["rain"] * (tokens + 1))
    assert hate.truncated([fits, over, "rain"]) == [False, True, False]
    assert as_promised(hate.use, hate.probabilities([over]), hate.probabilities([fits]))


def test_agrees_with_plain_transformers(hate: LocalClassifier) -> None:
    model = hate._weights.model
    batch = hate._weights.tokenizer(SHORT, padding=True, return_tensors="pt")
    with torch.inference_mode():
        oracle = torch.softmax(model(**batch).logits / hate._weights.temperature, dim=1)
    assert hate.probabilities(SHORT) == pytest.approx(oracle.numpy(), abs=1e-5)


def test_softmax_survives_large_logits() -> None:
    assert softmax(np.array([[1e4, 0.0], [-1e4, -1e4]])).tolist() == [[1, 0], [0.5, 0.5]]


def test_a_folder_of_ones_own(tiny: Path, configured: Callable[..., LocalModels]) -> None:
    models = configured("path:tiny")
    classifier = models.classifier("m")
    assert classifier.labels == ("no", "perhaps", "yes")
    assert classifier.use.revision == "local"
    assert classifier.truncated([" ".join(["rain"] * 31)]) == [True]
    together = classifier.probabilities(SHORT)
    alone = classifier.probabilities([SHORT[7]])[0]
    assert as_promised(classifier.use, together[7], alone)
    assert models.classifier("m") is classifier


def test_a_hub_model_is_read_from_the_cache_at_its_commit(
    tiny: Path, configured: Callable[..., LocalModels], hub: Path
) -> None:
    folder = hub / "models--org--repo" / "snapshots" / ("a" * 40)
    shutil.copytree(tiny, folder)
    use = configured(f"hf:org/repo@{'a' * 40}").classifier("m").use
    assert (use.revision, use.sha256) == ("a" * 40, folder_sha256(tiny))


def test_a_hub_model_that_was_never_fetched_is_absent_and_the_command_is_named(
    configured: Callable[..., LocalModels], hub: Path
) -> None:
    with pytest.raises(ModelNotReady, match=r"run `touchstone models pull m`") as caught:
        configured(f"hf:org/repo@{'a' * 40}").classifier("m")
    assert caught.value.state == "absent"
    assert not hub.exists()


def test_a_folder_that_is_not_there_is_absent(configured: Callable[..., LocalModels]) -> None:
    with pytest.raises(ModelNotReady, match="no folder") as caught:
        configured("path:nowhere").classifier("m")
    assert caught.value.state == "absent"


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ({"sha256": "0" * 64}, "the entry says 000"),
        ({"device": "cuda:7"}, "no GPU"),
        ({"labels": ["no", "yes"]}, "3 outputs, but `outputs` lists 2"),
    ],
)
def test_weights_that_cannot_be_used_are_refused(
    tiny: Path, configured: Callable[..., LocalModels], more: dict[str, Any], reason: str
) -> None:
    if "device" in more and torch.cuda.is_available():
        pytest.skip("there is a GPU")
    with pytest.raises(ScoringError, match=reason):
        configured("path:tiny", **more).classifier("m")


def test_pickled_weights_are_refused(tiny: Path, configured: Callable[..., LocalModels]) -> None:
    (tiny / "model.safetensors").rename(tiny / "pytorch_model.bin")
    with pytest.raises(ScoringError, match="no safetensors"):
        configured("path:tiny").classifier("m")
