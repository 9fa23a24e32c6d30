"""The shipped classifier, loaded once, and small models of our own to load from a folder."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from transformers import AutoTokenizer

from services.inference.causal import LocalLanguageModel
from services.inference.classifier import LocalClassifier
from services.inference.local_models import LocalModels
from shared.models.catalogue.catalogue import load_catalogue
from shared.models.catalogue.checkpoint import base_folder
from tests.inference.shapes import save_bert, save_gpt2, save_llama
from tests.shipped import shipped_models

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def hate() -> LocalClassifier:
    """The shipped `embedded-hate`."""
    models = shipped_models()
    assert isinstance(models, LocalModels)
    return models.local_classifier("embedded-hate")


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    """A folder with a random two-layer BERT of three labels that reads 32 tokens."""
    words = AutoTokenizer.from_pretrained(base_folder())
    return save_bert(tmp_path / "tiny", words, reads=32, scale=1)


@pytest.fixture
def configured(tmp_path: Path) -> Callable[..., LocalModels]:
    """Local models over one entry, `m`."""

    def models(source: str, **more: Any) -> LocalModels:
        lines = [f"{key} = {json.dumps(value)}" for key, value in more.items()]
        kind = [] if "kind" in more else ['kind = "classifier"']
        text = "\n".join(["[[models]]", 'name = "m"', f'source = "{source}"', *kind, *lines])
        (tmp_path / "models.toml").write_text(text, encoding="utf-8")
        return LocalModels(load_catalogue(tmp_path / "models.toml"))

    return models


def _only(folder: Path, source: str, kind: str) -> LocalModels:
    text = f'[[models]]\nname = "m"\nkind = "{kind}"\nsource = "path:{source}"\ndevice = "cpu"\n'
    (folder / "models.toml").write_text(text, encoding="utf-8")
    return LocalModels(load_catalogue(folder / "models.toml"))


@pytest.fixture(scope="session")
def shaped(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], LocalLanguageModel]:
    """Random causal models by their shape, `gpt2` or `llama`, loaded from their folders."""

    @cache
    def load(shape: str) -> LocalLanguageModel:
        folder = tmp_path_factory.mktemp(shape)
        (save_gpt2 if shape == "gpt2" else save_llama)(folder / "weights")
        found = _only(folder, "weights", "causal").language_model("m")
        assert isinstance(found, LocalLanguageModel)
        return found

    return load


@pytest.fixture(scope="session", params=["gpt2", "llama"])
def causal(
    request: pytest.FixtureRequest, shaped: Callable[[str], LocalLanguageModel]
) -> LocalLanguageModel:
    """Each of these shapes."""
    return shaped(request.param)


@pytest.fixture(scope="session")
def bert(tmp_path_factory: pytest.TempPathFactory) -> LocalClassifier:
    """A random BERT of three labels that reads pairs."""
    folder = tmp_path_factory.mktemp("bert")
    save_bert(folder / "weights", AutoTokenizer.from_pretrained(base_folder()))
    return _only(folder, "weights", "classifier").local_classifier("m")
