"""The models of a worker: in this process, or over the queue.

A process that serves inference or similarity holds models; one that serves metrics only asks for
them, unless it is set to hold them too. Only the former loads torch.
"""

from __future__ import annotations

from collections.abc import Collection

from shared.models.availability import ModelStates
from shared.models.catalogue import Catalogue
from shared.models.ports import Models
from shared.models.remote import QueueModels
from shared.settings import Settings

MODEL_SERVICES = frozenset({"inference", "similarity"})


PATIENCE_SECONDS = 2.0  # of a worker's thread, for a model that another thread is loading


def has_local_models(services: Collection[str], chosen: Settings) -> bool:
    """Whether a worker that serves these has its models in itself."""
    return chosen.binding != "queue" or bool(MODEL_SERVICES & set(services))


def models_for(
    services: Collection[str],
    catalogue: Catalogue,
    chosen: Settings,
    states: ModelStates | None = None,
) -> Models:
    """The models for a worker that serves these. `states`: of those that it holds."""
    if not has_local_models(services, chosen):
        return QueueModels(catalogue, states)
    return local(catalogue, chosen.padded_tokens, states, PATIENCE_SECONDS)


def local(
    catalogue: Catalogue,
    budget: int | None = None,
    states: ModelStates | None = None,
    patience: float | None = None,
) -> Models:
    """Models that live in this process. `budget`: padded tokens of a forward pass."""
    from services.inference.local_models import LocalModels  # torch: only where models are held
    from services.similarity.encoders import LocalSimilarityModels

    similarities = LocalSimilarityModels(catalogue, None, states, patience)
    return LocalModels(catalogue, similarities.similarity, budget, states, patience)
