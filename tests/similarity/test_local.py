"""Which models can be asked for, what is refused, and what the provenance says."""

from __future__ import annotations

import json
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import BertForSequenceClassification, BertModel

from services.similarity.encoders import LocalSimilarityModels
from shared.contracts.calls import Pair
from shared.contracts.errors import ScoringError, Unavailable
from shared.models.catalogue.checkpoint import BASE_REVISION, BASE_SHA256, file_sha256
from shared.models.ports import Similarity
from tests.similarity.conftest import Make, catalogue, config, with_tokenizer
from tests.similarity.rows import network

COMMIT = "0123456789abcdef0123456789abcdef01234567"


def test_the_base_is_in_the_provenance(embedded: Similarity) -> None:
    use = embedded.use
    assert (use.name, use.sha256, use.device, use.dtype) == ("m", BASE_SHA256, "cpu", "float32")
    assert use.revision == BASE_REVISION


def test_a_folder_is_in_the_provenance(cross_folder: Path, made: Make) -> None:
    use = made(cross_folder, "cross-encoder", device="auto").use
    assert use.sha256 == file_sha256(cross_folder / "model.safetensors")
    assert use.revision == "local"


def test_a_model_is_loaded_once(cross_folder: Path) -> None:
    local = LocalSimilarityModels(catalogue(f"path:{cross_folder}", "cross-encoder"))
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(local.similarity, ["m"] * 4))
    assert all(each is found[0] for each in found)


def test_a_hub_model_is_read_from_the_cache_at_its_commit(
    cross_folder: Path, made: Make, hub: Path
) -> None:
    shutil.copytree(cross_folder, hub / "models--org--repo" / "snapshots" / COMMIT)
    assert made(f"hf:org/repo@{COMMIT}", "cross-encoder").use.revision == COMMIT


def test_a_folder_without_safetensors_is_refused(tmp_path: Path, made: Make) -> None:
    with pytest.raises(ScoringError, match="no safetensors"):
        made(tmp_path, "similarity")


def test_the_kinds_are_not_taken_for_each_other(
    cross_folder: Path, bi_folder: Path, made: Make
) -> None:
    with pytest.raises(ScoringError, match="not a bi-encoder"):
        made(cross_folder, "similarity")
    with pytest.raises(ScoringError, match="cannot be loaded"):
        made(bi_folder, "cross-encoder")


def test_a_random_head_is_refused(tmp_path: Path, made: Make) -> None:
    folder = with_tokenizer(BertModel(config(num_labels=1)), tmp_path)
    with pytest.raises(ScoringError, match="no classification head"):
        made(folder, "cross-encoder")


def test_three_outputs_are_no_similarity(tmp_path: Path, made: Make) -> None:
    folder = with_tokenizer(BertForSequenceClassification(config(num_labels=3)), tmp_path)
    with pytest.raises(ScoringError, match="3 outputs"):
        made(folder, "cross-encoder")


def test_another_activation_than_sigmoid_is_refused(
    cross_folder: Path, tmp_path: Path, made: Make
) -> None:
    folder = Path(shutil.copytree(cross_folder, tmp_path / "identity"))
    settings = json.loads((folder / "config.json").read_text("utf-8"))
    settings["sentence_transformers"] = {"activation_fn": "torch.nn.modules.linear.Identity"}
    (folder / "config.json").write_text(json.dumps(settings), "utf-8")
    with pytest.raises(ScoringError, match="only Sigmoid"):
        made(folder, "cross-encoder")


def test_a_pickled_module_is_refused(bi_folder: Path, tmp_path: Path, made: Make) -> None:
    folder = Path(shutil.copytree(bi_folder, tmp_path / "pickled"))
    (folder / "1_Pooling" / "pytorch_model.bin").write_bytes(b"")
    with pytest.raises(ScoringError, match="not safetensors"):
        made(folder, "similarity")


def test_numbers_that_are_none_are_an_error(cross_folder: Path, made: Make) -> None:
    tiny = made(cross_folder, "cross-encoder")
    with torch.no_grad():
        network(tiny)[0].model.classifier.bias.fill_(torch.nan)
    with pytest.raises(ScoringError, match="returns NaN or infinity"):
        tiny.similarities([Pair(a="a", b="b")])


def test_a_full_device_gets_half_the_rows_and_then_gives_up(cross_folder: Path, made: Make) -> None:
    tiny = made(cross_folder, "cross-encoder")
    pairs = [Pair(a="a", b=word) for word in ("b", "c", "d", "e")]
    most = 1

    def full(_module: Any, args: tuple[dict[str, Any], ...]) -> None:
        if len(args[0]["input_ids"]) > most:
            raise torch.OutOfMemoryError

    network(tiny).register_forward_pre_hook(full)
    assert tiny.similarities(pairs).shape == (4,)
    most = 0
    with pytest.raises(Unavailable, match="memory"):
        tiny.similarities([Pair(a="b", b="a")])
