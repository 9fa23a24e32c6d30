from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from shared.models import ports
from shared.models.catalogue.catalogue import load_catalogue
from shared.models.catalogue.checkpoint import base_folder

if TYPE_CHECKING:
    from services.inference.classifier import LocalClassifier
    from services.inference.local_models import LocalModels


def bind_bert(folder: Path, seed: int) -> LocalModels:
    """Binds a random BERT of two labels with large weights as the model `m`, and the shipped ones.

    Its logits are divided by a temperature of 1.7, as a calibrated model's are.
    """
    import torch
    from transformers import AutoTokenizer, BertConfig, BertForSequenceClassification

    from services.inference.local_models import LocalModels

    torch.manual_seed(seed)
    config = BertConfig(
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=2,
        max_position_embeddings=64,
        num_labels=2,
    )
    model = BertForSequenceClassification(config)
    with torch.no_grad():
        for weight in model.parameters():
            if weight.dim() > 1:
                weight.mul_(9)
    model.save_pretrained(folder / "bert")
    AutoTokenizer.from_pretrained(base_folder()).save_pretrained(folder / "bert")
    (folder / "models.toml").write_text(ENTRIES, "utf-8")
    local = LocalModels(load_catalogue(folder / "models.toml"))
    ports.bind(local)
    return local


ENTRIES = """
schema = 2

[[models]]
name = "m"
kind = "classifier"
source = "path:bert"
device = "cpu"
temperature = 1.7

[[models]]
name = "embedded-hate"
kind = "classifier"
source = "embedded:hate"
device = "cpu"
"""


@pytest.fixture(scope="module")
def encoder(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[LocalClassifier]:
    """A random BERT, or the model that the parameter names, as the port holds it."""
    name = getattr(request, "param", "m")
    yield bind_bert(tmp_path_factory.mktemp("encoder"), 4).local_classifier(name)
    ports.bind(None)
