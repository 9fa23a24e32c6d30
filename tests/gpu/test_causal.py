"""On a GPU a causal model says what it says on the CPU, whatever goes with it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from services.inference.causal import LocalLanguageModel
from services.inference.local_models import LocalModels
from services.inference.weights.batcher import LEAST_TOKENS
from shared.contracts.calls import (
    AttributionMethod,
    Example,
    ExampleRows,
    Prompt,
    Row,
    Sampling,
    Template,
)
from shared.models.catalogue.catalogue import load_catalogue
from tests.inference.shapes import save_llama

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs an NVIDIA GPU"),
]
TEMPLATE = Template(
    prefix="Is the weather good or bad today? ",
    suffix="\nAnswer:",
    verbalizers={"up": " good", "down": " the"},
)
EXAMPLE = Example(text="People walk slowly under the old windows.", template=TEMPLATE)


def model(folder: Path, device: str, dtype: str = "float32") -> LocalLanguageModel:
    if not (folder / "weights").exists():
        save_llama(folder / "weights")
    lines = ["[[models]]", 'name = "m"', 'kind = "causal"', 'source = "path:weights"']
    lines += [f'device = "{device}"', f'dtype = "{dtype}"']
    (folder / "models.toml").write_text("\n".join(lines), encoding="utf-8")
    found = LocalModels(load_catalogue(folder / "models.toml")).language_model("m")
    assert isinstance(found, LocalLanguageModel)
    return found


def rows(of: LocalLanguageModel) -> ExampleRows:
    length = len(of.tokens([EXAMPLE])[0].ids)
    kept = [tuple(p for p in range(length) if p != gone) for gone in range(12, 22)]
    return ExampleRows(example=EXAMPLE, rows=tuple(Row(kept=one) for one in kept))


@pytest.mark.parametrize(("dtype", "apart"), [("float32", 1e-3), ("bfloat16", 0.1)])
def test_rows_agree_with_the_cpu(tmp_path: Path, dtype: str, apart: float) -> None:
    ours = model(tmp_path, "cuda", dtype)
    assert ours._budget >= LEAST_TOKENS
    oracle = model(tmp_path, "cpu").judge_rows([rows(ours)])[0]
    assert np.max(np.abs(ours.judge_rows([rows(ours)])[0] - oracle)) < apart


def test_a_shared_prefix_and_company_hardly_matter(tmp_path: Path) -> None:
    ours = model(tmp_path, "cuda")
    asked = rows(ours)
    together = ours.judge_rows([asked])[0]
    alone = [
        ours.judge_rows([ExampleRows(example=EXAMPLE, rows=(row,))])[0][0] for row in asked.rows
    ]
    assert np.max(np.abs(together - np.stack(alone))) < 1e-4


@pytest.mark.parametrize("name", ["attention", "gradient", "integrated_gradients", "lime"])
def test_attributions_agree_with_the_cpu(tmp_path: Path, name: str) -> None:
    method = AttributionMethod.model_validate({"name": name, "samples": 50})
    values = [
        model(tmp_path, device).attributions([EXAMPLE], ["up"], method)[0].values
        for device in ("cpu", "cuda")
    ]
    assert np.array(values[1]) == pytest.approx(np.array(values[0]), abs=1e-3, rel=1e-2)


def test_a_seed_repeats(tmp_path: Path) -> None:
    ours = model(tmp_path, "cuda")
    prompts = [Prompt(text="The garden was"), Prompt(text="Yes, the answer is")]
    first, again = (ours.generate(prompts, Sampling(seed=3, max_tokens=12)) for _ in range(2))
    assert first == again
