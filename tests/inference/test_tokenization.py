"""Networks whose positions begin after the padding row read their longest text, and no more.

Tiny ones of each shape, with a tokenizer that states no limit; in both services.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from transformers import (
    AutoTokenizer,
    BertConfig,
    BertForSequenceClassification,
    DebertaV2Config,
    DebertaV2ForSequenceClassification,
    MPNetConfig,
    MPNetForSequenceClassification,
    RobertaConfig,
    RobertaForSequenceClassification,
    XLMRobertaConfig,
    XLMRobertaForSequenceClassification,
)

from services.inference import tokenization
from services.inference.local_models import LocalModels
from services.inference.tokenization import PORTION_CHARACTERS, EncoderReader, _chunks
from services.similarity.encoders import LocalSimilarityModels
from shared.contracts.calls import Example, Pair
from shared.contracts.errors import ScoringError
from shared.models.catalogue.catalogue import Catalogue
from shared.models.catalogue.checkpoint import base_folder
from shared.models.catalogue.entry import ModelEntry

WORDS = " ".join(["sun", "sea", "tea", "oak", "ice"] * 1_000)  # 5,000 of one token each
SHAPES: dict[str, tuple[Any, Any, int, int, int]] = {  # … rows of positions, padding id, usable
    "bert": (BertConfig, BertForSequenceClassification, 512, 0, 512),
    "roberta": (RobertaConfig, RobertaForSequenceClassification, 514, 1, 512),
    "roberta-3": (RobertaConfig, RobertaForSequenceClassification, 514, 3, 510),
    "xlm-r": (XLMRobertaConfig, XLMRobertaForSequenceClassification, 514, 1, 512),
    "mpnet": (MPNetConfig, MPNetForSequenceClassification, 514, 1, 512),
    "deberta": (DebertaV2Config, DebertaV2ForSequenceClassification, 512, 0, 512),
}


def saved(folder: Path, shape: str, outputs: int) -> Path:
    """A random network of this shape, and a tokenizer without a limit."""
    config, network, rows, padding, _ = SHAPES[shape]
    tokenizer = AutoTokenizer.from_pretrained(base_folder(), model_max_length=int(1e30))
    tokenizer.pad_token = tokenizer.convert_ids_to_tokens(padding)
    torch.manual_seed(0)
    network(
        config(
            vocab_size=len(tokenizer),
            hidden_size=16,
            intermediate_size=16,
            num_hidden_layers=1,
            num_attention_heads=2,
            max_position_embeddings=rows,
            type_vocab_size=2,
            pad_token_id=padding,
            num_labels=outputs,
        )
    ).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def catalogue(folder: Path, kind: str) -> Catalogue:
    fields = {"name": "m", "kind": kind, "source": f"path:{folder}", "device": "cpu"}
    return Catalogue((ModelEntry.model_validate(fields),), Path("/"))


@pytest.mark.parametrize("shape", SHAPES)
def test_a_classifier_reads_as_much_as_it_has_positions_for(shape: str, tmp_path: Path) -> None:
    usable = SHAPES[shape][-1]
    folder = saved(tmp_path / "m", shape, outputs=2)
    model = LocalModels(catalogue(folder, "classifier")).local_classifier("m")
    assert model._weights.longest == usable
    texts = [" ".join(WORDS.split()[: usable - 2 + more]) for more in (-1, 0, 1)]
    assert model.truncated([*texts, WORDS]) == [False, False, True, True]
    found = model.probabilities([*texts, WORDS])
    assert np.isfinite(found).all()
    assert found[3] == pytest.approx(found[1], abs=1e-6)  # the same after the cut


@pytest.mark.parametrize("shape", SHAPES)
def test_a_cross_encoder_reads_as_much_as_it_has_positions_for(shape: str, tmp_path: Path) -> None:
    folder = saved(tmp_path / "m", shape, outputs=1)
    model = LocalSimilarityModels(catalogue(folder, "cross-encoder")).similarity("m")
    found = model.similarities([Pair(a=WORDS, b=WORDS), Pair(a=WORDS, b="sun")])
    assert np.isfinite(found).all()


@pytest.mark.parametrize("shape", SHAPES)
def test_a_bi_encoder_reads_as_much_as_it_has_positions_for(shape: str, tmp_path: Path) -> None:
    folder = saved(tmp_path / "m", shape, outputs=1)
    shutil.copytree(base_folder() / "1_Pooling", folder / "1_Pooling")
    pooling = folder / "1_Pooling" / "config.json"
    pooled = json.loads(pooling.read_text("utf-8")) | {"word_embedding_dimension": 16}
    pooling.write_text(json.dumps(pooled), "utf-8")
    modules = json.loads((base_folder() / "modules.json").read_text("utf-8"))[:2]
    (folder / "modules.json").write_text(json.dumps(modules), "utf-8")
    model = LocalSimilarityModels(catalogue(folder, "similarity")).similarity("m")
    whole, cut = Pair(a=WORDS, b="sun"), Pair(a=WORDS[:4_000], b="sun")
    found = model.similarities([whole, cut])
    assert np.isfinite(found).all()
    assert found[0] == found[1]  # what is beyond the positions is not read


def test_a_model_that_reads_less_than_it_states_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = saved(tmp_path / "m", "roberta", outputs=2)
    stated: Callable[[Any], int] = lambda _network: 514  # noqa: E731 - as its configuration says
    monkeypatch.setattr("services.inference.weights.limits.max_positions", stated)
    with pytest.raises(ScoringError, match="a text of 514 tokens fails"):
        LocalModels(catalogue(folder, "classifier")).classifier("m")


@given(sizes=st.lists(st.integers(0, 250_000), max_size=12))
def test_texts_are_tokenized_in_portions_that_let_others_have_their_turn(sizes: list[int]) -> None:
    portions = list(_chunks(["x" * size for size in sizes]))
    assert [place for portion in portions for place in portion] == list(range(len(sizes)))
    for portion in portions:
        whole = sum(sizes[place] for place in portion)
        assert whole <= PORTION_CHARACTERS or sum(sizes[n] > 0 for n in portion) == 1


def test_a_text_reads_the_same_in_portions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = ["a lovely day", "", "those people " * 40, "x" * 300, "one more"]
    own = catalogue(saved(tmp_path / "m", "bert", outputs=2), "classifier")
    reader = EncoderReader(LocalModels(own).local_classifier("m")._weights)
    whole = reader.ids(texts, cut=True)
    examples = [Example(text=text) for text in texts]
    read = [one.tokens for one in reader.read(examples)]
    monkeypatch.setattr(tokenization, "PORTION_CHARACTERS", 20)
    assert reader.ids(texts, cut=True) == whole
    assert [one.tokens for one in reader.read(examples)] == read
