"""Encoders that OpenVINO computes: as torch does, or refused; alone as in company."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from services.ice.contract import CONTRACT as ICE
from services.ice.contract import IceRequest
from services.inference.local_models import LocalModels
from services.inference.weights.openvino_runtime import OpenVinoNetwork, converted
from services.similarity.encoders import LocalSimilarityModels
from shared.contracts.calls import AttributionMethod, Example, Pair
from shared.contracts.errors import ModelCannot, ScoringError
from shared.models.catalogue.catalogue import Catalogue, load_catalogue
from shared.models.catalogue.entry import ModelEntry, check_abilities
from shared.process.numerics import computes_bfloat16, tolerance
from tests.flat_requests import flat_request
from tests.tiny_models.architectures import ARCHITECTURES, save_architecture

pytest.importorskip("openvino")

OUTPUTS = ("Not Hate", "hate-speech")
TEXTS = ["The weather is good.", "x", "we lost the match again " * 30, "</s> [SEP] <mask> </s>"]
BY_DAY = {"albert", "llama", "longformer", "roberta, padding id 3"}
COMPUTED = {"albert", "camembert", "distilbert", "electra", "mpnet", "roberta, padding id 3"}


def catalogue(folder: Path, *entries: str) -> Catalogue:
    file = folder / "models.toml"
    tables = "".join(f"[[models]]\n{one}\n" for one in entries)
    file.write_text(f"schema = 2\n{tables}", "utf-8")
    return load_catalogue(file)


def entry(name: str, source: str, kind: str = "classifier", **keys: str) -> str:
    more = "".join(f'\n{key} = "{value}"' for key, value in keys.items())
    return f'name = "{name}"\nkind = "{kind}"\nsource = "{source}"{more}'


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[] if name in BY_DAY else pytest.mark.nightly)
        for name in sorted(ARCHITECTURES)
    ],
)
def test_it_answers_as_torch_or_is_refused(name: str, tmp_path: Path) -> None:
    save_architecture(tmp_path / "m", ARCHITECTURES[name], OUTPUTS)
    models = LocalModels(
        catalogue(
            tmp_path,
            entry("torch", "path:m"),
            entry("openvino", "path:m", runtime="openvino"),
        )
    )
    expected = models.local_classifier("torch").probabilities(TEXTS)
    if name not in COMPUTED and (refusal := refused(models, "openvino")) is not None:
        assert "runtime openvino" in refusal
        return
    judge = models.local_classifier("openvino")
    assert judge.probabilities(TEXTS) == pytest.approx(expected, abs=1e-4)
    assert judge.use.runtime == "openvino"
    assert judge.use.numerics == "tolerance"


def refused(models: LocalModels, name: str) -> str | None:
    """Why it cannot be loaded; None: it can."""
    try:
        models.local_classifier(name)
    except ScoringError as error:
        return str(error)
    return None


@pytest.mark.parametrize("dtype", ["auto", pytest.param("fast", marks=pytest.mark.nightly)])
def test_the_embedded_encoders(dtype: str, tmp_path: Path) -> None:
    chosen = {"runtime": "openvino", "dtype": dtype}
    found = catalogue(
        tmp_path,
        entry("hate", "embedded:hate"),
        entry("hate-openvino", "embedded:hate", **chosen),
        entry("nli", "embedded:nli"),
        entry("nli-openvino", "embedded:nli", **chosen),
        entry("base", "embedded:base", "similarity"),
        entry("base-openvino", "embedded:base", "similarity", **chosen),
    )
    models, encoders = LocalModels(found), LocalSimilarityModels(found)
    examples = [Example(text=text) for text in TEXTS]
    sentences = [Example(text=text, text_pair="A game was lost.") for text in TEXTS]
    pairs = [Pair(a=text, b="A game was lost.") for text in TEXTS]
    dtype = "bfloat16" if dtype == "fast" and computes_bfloat16() else "float32"
    assert models.local_classifier("hate-openvino").use.dtype == dtype
    far = tolerance(dtype)
    for name, asked in (("hate", examples), ("nli", sentences)):
        ours, expected = (models.classifier(one).judge(asked) for one in (f"{name}-openvino", name))
        near(ours, expected, far)
    quick, usual = (
        encoders.similarity(one).similarities(pairs) for one in ("base-openvino", "base")
    )
    near(quick, usual, far)


@pytest.mark.nightly
@pytest.mark.parametrize("isa", ["AVX2", "AVX512_CORE"])
def test_fast_is_what_the_kernels_left_compute(isa: str, tmp_path: Path) -> None:
    """oneDNN held to AVX2 has no bfloat16, though the processor does; read once a process."""
    catalogue(tmp_path, entry("m", "embedded:hate", runtime="openvino", dtype="fast"))
    program = (
        "import sys, pathlib\n"
        "from services.inference.local_models import LocalModels\n"
        "from shared.models.catalogue.catalogue import load_catalogue\n"
        "models = LocalModels(load_catalogue(pathlib.Path(sys.argv[1])))\n"
        "print(models.local_classifier('m').use.dtype)\n"
    )
    command = [sys.executable, "-c", program, str(tmp_path / "models.toml")]
    environment = os.environ | {"ONEDNN_MAX_CPU_ISA": isa}
    ran = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    assert ran.stdout.split()[-1] == "float32"


def test_a_refusal_names_the_limit_that_takes_kernels_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ONEDNN_MAX_CPU_ISA", "AVX2")
    save_architecture(tmp_path / "m", ARCHITECTURES["llama"], OUTPUTS)
    models = LocalModels(catalogue(tmp_path, entry("m", "path:m", runtime="openvino")))
    assert "or use dtype fast" in str(refused(models, "m"))


def near(found: Any, expected: Any, far: float) -> None:
    assert np.array(found) == pytest.approx(np.array(expected), abs=far)


@pytest.fixture(scope="module")
def hate(tmp_path_factory: pytest.TempPathFactory) -> LocalModels:
    """With a model `m`, and none told of what was converted."""
    folder = tmp_path_factory.mktemp("hate")
    models = LocalModels(catalogue(folder, entry("m", "embedded:hate", runtime="openvino")))
    telemetry = pytest.importorskip("openvino_telemetry")
    told: list[Sequence[Any]] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(telemetry.Telemetry, "__new__", lambda *said, **_: told.append(said))
        assert isinstance(models.local_classifier("m")._weights.model, OpenVinoNetwork)
    assert not told, "`convert_model` sends a note to a server; the frontend alone does not"
    return models


def test_company_changes_no_more_than_is_said(hate: LocalModels) -> None:
    judge = hate.local_classifier("m")
    together = judge.probabilities(TEXTS * 8)
    apart = np.concatenate([judge.probabilities([text]) for text in TEXTS])
    near(together, np.tile(apart, (8, 1)), tolerance("float32"))


def test_nothing_is_shown_of_its_inside_and_lime_explains(hate: LocalModels) -> None:
    judge = hate.local_classifier("m")
    assert "attributions" not in judge.abilities
    with pytest.raises(ModelCannot, match=r"neither attention nor gradients.*lime"):
        check_abilities(hate._catalogue.entries[0], ["attributions"])
    method = AttributionMethod(name="lime", samples=32, seed=0)
    [values] = judge.attributions([Example(text="We lost the match")], ["hateful"], method)
    assert np.isfinite(values.values).all()


@pytest.mark.filterwarnings("ignore")  # threads share the filters: libraries' words are no errors
def test_models_that_load_at_once_wait_for_each_other(tmp_path: Path) -> None:
    names = ("one", "two", "three")
    tables = [entry(name, "embedded:hate", runtime="openvino") for name in names]
    models = LocalModels(catalogue(tmp_path, *tables))
    with ThreadPoolExecutor(len(names)) as pool:
        judges = list(pool.map(models.local_classifier, names))
    assert {one.use.runtime for one in judges} == {"openvino"}


def test_attributions_are_refused_when_they_are_asked_for(hate: LocalModels) -> None:
    asked = {"text": "We lost the match again", "draws": 50}
    for method, refused in (("attention", True), ("lime", False)):
        request = flat_request(IceRequest, asked | {"model": "m", "attribution": method})
        with pytest.raises(ModelCannot) if refused else nullcontext():
            hate._catalogue.check_request(ICE, "m", request)


class TextsOfEight(torch.nn.Module):
    """Keeps a decision of its first input, as a trace of it would."""

    def __init__(self, network: Any) -> None:
        super().__init__()
        self.config, self._network = network.config, network

    def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> Any:
        answer = self._network(input_ids=input_ids, attention_mask=attention_mask)
        return {"logits": answer.logits * (1 if input_ids.shape[1] == 8 else 2)}


def test_a_trace_that_answers_otherwise_is_refused(tmp_path: Path) -> None:
    judge = LocalModels(catalogue(tmp_path, entry("m", "embedded:hate"))).local_classifier("m")
    weights = judge._weights
    with pytest.raises(ValueError, match="other results than torch"), torch.inference_mode():
        converted(
            TextsOfEight(weights.model),
            weights.tokenizer,
            weights.longest,
            output="logits",
            dtype="float32",
        )


def test_without_the_package_the_reason_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "openvino", None)
    models = LocalModels(catalogue(tmp_path, entry("m", "embedded:hate", runtime="openvino")))
    with pytest.raises(ScoringError, match=r"not installed: pip install .*openvino"):
        models.local_classifier("m")


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"kind": "causal", "source": "path:x"}, "only for encoders that this process loads"),
        ({"source": "classify:http://here:80"}, "only for encoders that this process loads"),
        ({"source": "path:x", "device": "cuda"}, "only on CPUs"),
        ({"source": "path:x", "dtype": "int8"}, "float32, bfloat16 and fast"),
        ({"source": "path:x", "dtype": "float16"}, "float32, bfloat16 and fast"),
    ],
)
def test_an_entry_that_cannot_be(keys: dict[str, str], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        ModelEntry.model_validate({"name": "m", "kind": "classifier", "runtime": "openvino"} | keys)
