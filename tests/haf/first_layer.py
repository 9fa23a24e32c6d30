"""A similarity that costs a sixth of the embedded one: its first layer, pooled the same way."""

from __future__ import annotations

import shutil
from pathlib import Path

from shared.models.catalogue.checkpoint import base_folder

ENTRY = """
[[models]]
name = "first-layer"
kind = "similarity"
source = "path:first-layer"
device = "cpu"
"""


def save(folder: Path) -> Path:
    """The embedded base with all layers but the first left away."""
    from transformers import AutoModel

    shutil.copytree(base_folder(), folder)
    AutoModel.from_pretrained(base_folder(), num_hidden_layers=1).save_pretrained(folder)
    return folder
