"""The embedded base, loaded once, and tiny random models of our own to load from a folder."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import AutoTokenizer, BertConfig, BertForSequenceClassification, BertModel

from services.similarity.cache import Cache
from services.similarity.encoders import LocalSimilarityModels
from shared.contracts.messages import ModelKind
from shared.models.catalogue.catalogue import Catalogue
from shared.models.catalogue.checkpoint import BASE, base_folder
from shared.models.catalogue.entry import ModelEntry
from shared.models.ports import Similarity

LONGEST = 64  # tokens that the tiny models read


def config(**more: Any) -> BertConfig:
    """Two layers of 32 numbers; weights far from 0, so that scores differ."""
    return BertConfig(
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=2,
        max_position_embeddings=LONGEST,
        initializer_range=0.4,
        **more,
    )


def with_tokenizer(model: Any, folder: Path) -> Path:
    """This model and the base's tokenizer in a folder."""
    model.save_pretrained(folder)
    words = AutoTokenizer.from_pretrained(base_folder(), model_max_length=LONGEST)
    words.save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def cross_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A random BERT with one output."""
    torch.manual_seed(1)
    model = BertForSequenceClassification(config(num_labels=1))
    return with_tokenizer(model, tmp_path_factory.mktemp("cross"))


@pytest.fixture(scope="session")
def bi_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A random BERT with mean pooling and no module that normalises."""
    torch.manual_seed(2)
    folder = with_tokenizer(BertModel(config()), tmp_path_factory.mktemp("bi"))
    modules = json.loads((base_folder() / "modules.json").read_text("utf-8"))[:2]
    (folder / "modules.json").write_text(json.dumps(modules), "utf-8")
    shutil.copytree(base_folder() / "1_Pooling", folder / "1_Pooling")
    pooling = json.loads((folder / "1_Pooling/config.json").read_text("utf-8"))
    pooling["word_embedding_dimension"] = 32
    (folder / "1_Pooling/config.json").write_text(json.dumps(pooling), "utf-8")
    return folder


def catalogue(source: str, kind: ModelKind, **more: Any) -> Catalogue:
    """One entry, `m`, on the CPU."""
    fields = {"name": "m", "kind": kind, "source": source, "device": "cpu"} | more
    return Catalogue((ModelEntry.model_validate(fields),), Path("/"))


Make = Callable[..., Similarity]


@pytest.fixture
def made() -> Make:
    """The model of a source, with a cache of its own."""

    def make(
        source: str | Path, kind: ModelKind, cache: Cache | None = None, **more: Any
    ) -> Similarity:
        where = f"path:{source}" if isinstance(source, Path) else source
        return LocalSimilarityModels(catalogue(where, kind, **more), cache).similarity("m")

    return make


@pytest.fixture(scope="session")
def embedded() -> Similarity:
    """The base itself as a bi-encoder."""
    return LocalSimilarityModels(catalogue(BASE, "similarity")).similarity("m")
