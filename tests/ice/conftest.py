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
    from transformers import AutoTokenizer

    from services.inference.local_models import LocalModels
    from tests.inference.shapes import save_bert

    words = AutoTokenizer.from_pretrained(base_folder())
    save_bert(folder / "bert", words, outputs=("LABEL_0", "LABEL_1"), scale=9, seed=seed)
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
