from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch
from transformers import AutoTokenizer, BertConfig, BertForSequenceClassification

from services.inference.classifier import LocalClassifier
from services.inference.local_models import LocalModels
from shared.models import ports
from shared.models.catalogue import load_catalogue
from shared.models.embedded import base_folder


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalClassifier]:
    """A random BERT of two labels with large weights, as the port holds it."""
    torch.manual_seed(4)
    folder = tmp_path_factory.mktemp("encoder")
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
    entry = '[[models]]\nname = "m"\nkind = "classifier"\nsource = "path:bert"\ndevice = "cpu"\n'
    (folder / "models.toml").write_text(entry, "utf-8")
    local = LocalModels(load_catalogue(folder / "models.toml"))
    ports.bind(local)
    yield local.classifier("m")
    ports.bind(None)
