"""Where a worker's rooms get their models from: in this process, or over the queue.

A process that serves a model room holds models; one that serves metrics only asks for them, unless
it is told to hold them too. Only the former loads torch.
"""

from __future__ import annotations

from collections.abc import Collection

from shared.catalogue import Catalogue
from shared.models import Models
from shared.remote.models import QueueModels
from shared.settings import Settings

MODEL_ROOMS = frozenset({"inference", "similarity"})


def models_for(rooms: Collection[str], catalogue: Catalogue, chosen: Settings) -> Models:
    """The models for a worker that serves these rooms."""
    if chosen.binding == "queue" and not MODEL_ROOMS & set(rooms):
        return QueueModels(catalogue)
    return local(catalogue, chosen.padded_tokens)


def local(catalogue: Catalogue, budget: int | None = None) -> Models:
    """Models that live in this process. `budget`: padded tokens of a forward pass."""
    from services.inference.local import LocalModels  # torch: only where models are held
    from services.similarity.local import LocalSimilarities

    return LocalModels(catalogue, LocalSimilarities(catalogue).similarity, budget)
