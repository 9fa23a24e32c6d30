"""On a GPU the classifier says what it says on the CPU, in float32 closely, in bfloat16 roughly."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from services.inference.classifier import LocalClassifier
from services.inference.local_models import LocalModels
from shared.models.catalogue.catalogue import load_catalogue

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs an NVIDIA GPU"),
]
WORDS = ["the", "garden", "people", "walk", "rain", "slowly", "under", "green", "windows"]
TEXTS = [" ".join(WORDS[n % 7 :] * (1 + n % 9)) for n in range(80)]


def classifier(folder: Path, device: str, dtype: str) -> LocalClassifier:
    lines = ["[[models]]", 'name = "m"', 'kind = "classifier"', 'source = "embedded:hate"']
    lines += [f'device = "{device}"', f'dtype = "{dtype}"']
    (folder / "models.toml").write_text("\n".join(lines), encoding="utf-8")
    return LocalModels(load_catalogue(folder / "models.toml")).local_classifier("m")


@pytest.mark.parametrize(("dtype", "apart"), [("float32", 1e-4), ("bfloat16", 0.05)])
def test_agrees_with_the_cpu(tmp_path: Path, dtype: str, apart: float) -> None:
    oracle = classifier(tmp_path, "cpu", "float32").probabilities(TEXTS)
    ours = classifier(tmp_path, "cuda", dtype)
    assert ours.use.device == "cuda"
    rows = ours.probabilities(TEXTS)
    assert np.max(np.abs(rows - oracle)) < apart
    assert rows.sum(axis=1) == pytest.approx(np.ones(len(TEXTS)), abs=1e-12)


def test_a_row_hardly_depends_on_its_company(tmp_path: Path) -> None:
    ours = classifier(tmp_path, "cuda", "float32")
    alone = np.concatenate([ours.probabilities([text]) for text in TEXTS])
    assert np.max(np.abs(ours.probabilities(TEXTS) - alone)) < 1e-5
