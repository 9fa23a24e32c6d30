"""The shortened last layer changes no score, padded or not, in any of the models that have it."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from transformers import (
    BertConfig,
    BertForSequenceClassification,
    DistilBertConfig,
    DistilBertForSequenceClassification,
    RobertaConfig,
    RobertaForSequenceClassification,
    XLMRobertaConfig,
    XLMRobertaForSequenceClassification,
)

from services.similarity.layers import FirstTokenLayer, read_first_token_only

SHAPE = {
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "num_labels": 1,
    "vocab_size": 100,
    "initializer_range": 0.4,
}


@pytest.mark.parametrize(
    ("model", "config"),
    [
        (BertForSequenceClassification, BertConfig),
        (RobertaForSequenceClassification, RobertaConfig),
        (XLMRobertaForSequenceClassification, XLMRobertaConfig),
    ],
)
@pytest.mark.parametrize("read", [[9, 9, 9], [9, 4, 1]])
@torch.inference_mode()
def test_scores_stay(model: Any, config: Any, read: list[int]) -> None:
    torch.manual_seed(3)
    network = model(config(**SHAPE)).eval()
    mask = (torch.arange(9) < torch.tensor(read)[:, None]).long()
    features = {"input_ids": torch.randint(5, 100, (3, 9)), "attention_mask": mask}
    before = network(**features).logits
    read_first_token_only(network)
    assert isinstance(network.base_model.encoder.layer[-1], FirstTokenLayer)
    assert before.std() > 0.05
    assert torch.allclose(network(**features).logits, before, atol=1e-5)


def test_other_models_are_left_alone() -> None:
    shape = DistilBertConfig(dim=32, hidden_dim=64, n_layers=1, n_heads=2, vocab_size=100)
    network = DistilBertForSequenceClassification(shape)
    before = [name for name, _ in network.named_modules()]
    read_first_token_only(network)
    assert [name for name, _ in network.named_modules()] == before
