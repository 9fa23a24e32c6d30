"""In bfloat16, float16 and int8 a row moves with its company by at most the stated 0.02."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from services.inference.local_models import LocalModels
from shared.contracts.calls import AttributionMethod, Example, Template
from shared.process.numerics import fast_arithmetic
from tests.inference.shapes import save_gpt2, save_llama

WORDS = ["an", "awful", "phone", "but", "a", "great", "screen", "and", "sound"]
TEXTS = [" ".join(WORDS[n % 7 :] * (1 + n % 5)) for n in range(40)]
TEMPLATE = Template(suffix="\nAnswer:", verbalizers={"up": " good", "down": " the"})
STATED = 0.02

halves = pytest.mark.parametrize("dtype", ["bfloat16", "float16"])


@pytest.mark.parametrize(
    # the processor has no float16 of its own: it takes twice as long as bfloat16
    "dtype",
    [
        "bfloat16",
        pytest.param("float16", marks=pytest.mark.nightly),
        "int8",
    ],
)
def test_of_a_classifier(configured: Callable[..., LocalModels], dtype: str) -> None:
    model = configured("embedded:sentiment", dtype=dtype, device="cpu").classifier("m")
    assert model.use.dtype == dtype
    alone = np.concatenate([model.probabilities([text]) for text in TEXTS])
    together = model.probabilities(TEXTS)
    assert np.ptp(together[:, 1]) > 5 * STATED  # else agreement would say nothing
    assert np.max(np.abs(together - alone)) < STATED
    exact = configured("embedded:sentiment", device="cpu").classifier("m").probabilities(TEXTS)
    assert np.max(np.abs(together - exact)) < 0.05


def test_fast_is_told_by_its_dtype(configured: Callable[..., LocalModels]) -> None:
    model = configured("embedded:sentiment", dtype="fast", device="cpu").classifier("m")
    assert model.use.dtype == fast_arithmetic("classifier").dtype
    assert (model.use.numerics == "tolerance") or model.use.dtype == "float32"


@pytest.mark.parametrize("method", ["gradient", "integrated_gradients"])
def test_int8_gives_gradients(configured: Callable[..., LocalModels], method: str) -> None:
    asked = AttributionMethod.model_validate({"name": method})
    exact, rough = (
        configured("embedded:sentiment", dtype=dtype, device="cpu")
        .classifier("m")
        .attributions([Example(text=TEXTS[3])], ["positive"], asked)[0]
        for dtype in ("float32", "int8")
    )
    values = np.corrcoef(exact.values, rough.values)
    assert values[0, 1] > 0.98


@halves
@pytest.mark.parametrize("save", [save_gpt2, save_llama])
def test_of_a_causal_model(
    configured: Callable[..., LocalModels],
    dtype: str,
    save: Callable[[Path], Path],
    tmp_path: Path,
) -> None:
    save(tmp_path / "weights")
    model = configured("path:weights", kind="causal", dtype=dtype, device="cpu").language_model("m")
    examples = [Example(text=text, template=TEMPLATE) for text in TEXTS]
    alone = np.concatenate([model.judge([example]) for example in examples])
    together = np.array(model.judge(examples))
    assert np.max(np.abs(together - alone)) < STATED
