"""Work on the device beside the micro-batcher: attributions and generation."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch

from services.inference.measures import timed
from shared.errors import Unavailable


@contextmanager
def device_lock(model: str) -> Iterator[None]:
    """Observe how long it takes; a device that is full now may have room on another try."""
    try:
        with timed(model, "run"):
            yield
    except torch.OutOfMemoryError as error:
        raise Unavailable(f"the device of {model!r} is full") from error
