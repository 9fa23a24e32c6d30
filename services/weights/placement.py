"""Where a model's weights go: which device, in which dtype. Source: specs "models" §1.5."""

from __future__ import annotations

from pathlib import Path

import torch
from safetensors import safe_open

from shared.models.entry import ModelEntry
from shared.numerics import computes_bfloat16

AMPERE = (8, 0)  # CUDA compute capability from which bfloat16 is computed in hardware
LARGE = 1_000_000_000  # parameters from which a causal model is worth bfloat16 on a processor


def device_of(entry: ModelEntry) -> torch.device:
    """Raises ValueError where a GPU is configured and there is none."""
    if entry.device == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    if entry.device != "cpu" and not torch.cuda.is_available():
        raise ValueError(f"it is configured for {entry.device}, and this machine has no GPU")
    return torch.device(entry.device)


def dtype_of(entry: ModelEntry, device: torch.device, folder: Path) -> str:
    """As configured; `auto`: bfloat16 where the hardware computes it and rounding may be afforded.

    Encoders on a processor stay in float32: their rows keep the same bits in any batch.
    """
    if entry.dtype != "auto":
        return entry.dtype
    if device.type == "cuda":
        is_new = torch.cuda.get_device_capability(device) >= AMPERE
        return "bfloat16" if is_new else "float32"
    is_large = entry.kind == "causal" and parameters(folder) > LARGE
    return "bfloat16" if is_large and computes_bfloat16() else "float32"


def parameters(folder: Path) -> int:
    """How many numbers the safetensors files of a folder hold, by their headers."""
    total = 0
    for file in folder.glob("*.safetensors"):
        with safe_open(file, framework="pt") as weights:
            for name in weights.keys():  # noqa: SIM118 - it is no mapping
                size = 1
                for length in weights.get_slice(name).get_shape():
                    size *= length
                total += size
    return total
