"""The allow-list: what may be configured, what is refused, and what is shown."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from shared.errors import BadInput
from shared.models.catalogue import (
    BASE_REVISION,
    BASE_SHA256,
    Catalogue,
    file_sha256,
    folder_sha256,
    load_catalogue,
)
from tests.echo_metric import ECHO

ROOT = Path(__file__).parents[3]
COMMIT = "0123456789abcdef0123456789abcdef01234567"


def written(folder: Path, text: str) -> Path:
    path = folder / "models.toml"
    path.write_text(text, encoding="utf-8")
    return path


def model(source: str, kind: str = "classifier", more: str = "") -> str:
    return f'[[models]]\nname = "m"\nkind = "{kind}"\nsource = "{source}"\n{more}\n'


def loaded(folder: Path, text: str) -> Catalogue:
    return load_catalogue(written(folder, text))


def test_the_base_itself_is_a_similarity() -> None:
    cards = load_catalogue(ROOT / "models.toml").describe()
    [card] = [card for card in cards if card.name == "embedded-similarity"]
    assert (card.kind, card.capabilities) == ("similarity", ("similarities",))
    assert (card.revision, card.sha256) == (BASE_REVISION, BASE_SHA256)


def test_the_shipped_file_names_the_embedded_classifier() -> None:
    card = load_catalogue(ROOT / "models.toml").describe()[0]
    weights = ROOT / "services/inference/embedded/hate/adapter_model.safetensors"
    assert card.name == "embedded-hate"
    assert {"probabilities", "judge_rows", "attributions"} <= set(card.capabilities)
    assert card.labels == ("non-hateful", "hateful")
    assert card.languages == ("en",)
    assert card.sha256 == hashlib.sha256(weights.read_bytes()).hexdigest()


def test_an_unknown_name_is_the_callers_fault_and_the_known_ones_are_named() -> None:
    with pytest.raises(BadInput, match="configured: embedded-hate") as caught:
        load_catalogue(ROOT / "models.toml").entry("gpt-9")
    assert caught.value.pointer == "/model"


def test_a_pinned_hub_model_is_shown_with_its_commit_and_no_hash(tmp_path: Path) -> None:
    catalogue = loaded(tmp_path, model(f"hf:org/repo@{COMMIT}"))
    card = catalogue.describe()[0]
    assert (card.revision, card.sha256) == (COMMIT, None)
    assert catalogue.entry("m").location == "org/repo"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (model("hf:org/repo@main"), "full commit of 40 hex digits"),
        (model("hf:org/repo"), "full commit of 40 hex digits"),
        (model(f"hf:org/repo@{COMMIT.upper()}"), "full commit of 40 hex digits"),
        (model("embedded:../../etc"), "must be an embedded model: base, hate"),
        (model("embedded:base"), "embedded:base can only be of kind similarity"),
        (model("embedded:hate", kind="similarity"), "embedded:hate can only be of kind class"),
        (model("pickle:model.bin"), "models.0.source: .*must be embedded:NAME"),
        (model("path:"), "must be embedded:NAME"),
        (model("openai:vllm:8000", kind="causal"), "http"),
        (model("openai:http://vllm:8000/v1"), "only be of kind causal"),
        (model("embedded:hate", more='served_name = "x"'), "belong to an openai: source"),
        (model("path:x", more='api_key_env = "KEY"'), "belong to an openai: source"),
        (model("openai:http://v:1/v1", "causal", 'api_key_env = "sk-123"'), "api_key_env"),
        (model("openai:http://v:1/v1", "causal", f'sha256 = "{"0" * 64}"'), "no sha256"),
        (model("embedded:hate", more="trust_remote_code = true"), "models.0.trust_remote_code"),
        (model("embedded:hate", more='dtype = "int4"'), "models.0.dtype"),
        (model("embedded:hate", more='device = "tpu"'), "models.0.device"),
        (model("embedded:hate") * 2, "'m' is configured 2 times"),
        ("[[models]", "not TOML"),
        ("", "models: Field required"),
    ],
)
def test_a_mistake_is_named_with_its_place(tmp_path: Path, text: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason) as caught:
        loaded(tmp_path, text)
    assert "models.toml" in str(caught.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"nowhere.toml: cannot be read"):
        load_catalogue(tmp_path / "nowhere.toml")


def test_relative_folders_start_at_the_file(tmp_path: Path) -> None:
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "model.safetensors").write_bytes(b"weights")
    catalogue = loaded(tmp_path, model("path:model"))
    assert catalogue.describe()[0].sha256 == hashlib.sha256(b"weights").hexdigest()
    assert catalogue.describe()[0].revision == "local"


def test_a_sharded_models_hash_names_every_shard(tmp_path: Path) -> None:
    for name in ("b.safetensors", "a.safetensors", "config.json"):
        (tmp_path / name).write_text(name)
    listed = subprocess.run(
        ["sha256sum", "a.safetensors", "b.safetensors"],
        cwd=tmp_path,
        capture_output=True,
        check=True,
    ).stdout
    assert folder_sha256(tmp_path) == hashlib.sha256(listed).hexdigest()


def test_a_hash_follows_a_changed_file(tmp_path: Path) -> None:
    file = tmp_path / "model.safetensors"
    file.write_bytes(b"one")
    before = file_sha256(file)
    file.write_bytes(b"other")
    assert file_sha256(file) == hashlib.sha256(b"other").hexdigest() != before


def test_the_catalogue_loads_no_model_code() -> None:
    script = "import sys, shared.models.catalogue; print(*sys.modules)"
    names = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, check=True, text=True
    ).stdout.split()
    assert not {"torch", "transformers", "numpy", "scipy"} & set(names)


def test_a_room_may_need_no_model_but_never_another_kind(tmp_path: Path) -> None:
    catalogue = loaded(tmp_path, model("embedded:base", "similarity"))
    catalogue.demand(replace(ECHO, default_model=None, model_optional=True), None)
    with pytest.raises(BadInput, match="name a model"):
        catalogue.demand(replace(ECHO, default_model=None), None)
    with pytest.raises(BadInput, match="is a similarity"):
        catalogue.demand(replace(ECHO, model_optional=True), "m")
