"""A guard model on a GPU as `dtype = "auto"` loads it: bfloat16, and P as in float32 to 0.02.

Acceptance row 25, with a tiny model of the guard's architecture in the place of its weights.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from services.hatexscore.contract import CONTRACT, HatexscoreRequest
from services.hatexscore.metric import SERVICE
from services.ice.contract import IceRequest
from services.ice.metric import SERVICE as ICE
from services.inference.local_models import LocalModels
from services.inference.weights.placement import check_memory, free_bytes
from shared.models.catalogue.availability import LoadingError
from shared.models.catalogue.catalogue import load_catalogue
from shared.models.ports import bind
from tests.flat_requests import flat_request
from tests.tiny_models.__main__ import main as tiny_models

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs an NVIDIA GPU"),
]
APART = 0.02
ENTRY = '[[models]]\nname = "{name}"\nsource = "path:tiny"\npreset = "qwen3guard"\n'
TEXT = "People walk slowly under the old windows, and the rain has not begun."


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalModels]:
    folder: Path = tmp_path_factory.mktemp("guard")
    tiny_models(["make", str(folder / "tiny"), "--like", "qwen3guard"])
    exact = ENTRY.format(name="exact") + 'dtype = "float32"\ndevice = "cpu"\n'
    file = folder / "models.toml"
    file.write_text("schema = 2\n" + ENTRY.format(name="auto") + exact, "utf-8")
    made = LocalModels(load_catalogue(file))
    bind(made)
    yield made
    bind(None)


def test_auto_is_bfloat16_and_hatexscore_agrees(models: LocalModels) -> None:
    body = {**next(iter(CONTRACT.examples.values())), "language": "en"}
    auto, exact = (
        SERVICE.score(flat_request(HatexscoreRequest, body | {"model": name}))
        for name in ("auto", "exact")
    )
    [use] = auto.provenance.models
    assert (use.device.partition(":")[0], use.dtype) == ("cuda", "bfloat16")
    assert auto.probability_original == pytest.approx(exact.probability_original, abs=APART)
    assert auto.probability_masked == pytest.approx(exact.probability_masked, abs=APART)


@pytest.mark.parametrize("rows", ["words", "tokens"])
def test_ice_of_words_and_tokens_agrees(models: LocalModels, rows: str) -> None:
    asked = {"text": TEXT, "language": "en", "rows": rows, "attribution": "lime", "k": 0.3}
    auto, exact = (
        ICE.score(flat_request(IceRequest, asked | {"model": name})) for name in ("auto", "exact")
    )
    for mine, other in zip(auto.components.tests, exact.components.tests, strict=True):
        if mine.scores is not None and other.scores is not None:
            assert mine.scores.full == pytest.approx(other.scores.full, abs=APART)


def test_a_model_over_free_memory_waits_and_says_both_numbers() -> None:
    free = free_bytes("cuda:0")
    assert free is not None
    with pytest.raises(LoadingError, match=r"needs .* GB, but cuda:0 has only .* GB free") as error:
        check_memory("too large", 2 * free, "cuda:0")
    assert error.value.state == "waiting"
