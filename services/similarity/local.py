"""Similarities that live in this process: each model is loaded once, when it is first asked for."""

from __future__ import annotations

from threading import Lock

from services.similarity.cache import Cache
from shared.catalogue import Catalogue, ModelEntry
from shared.contracts import ModelKind
from shared.errors import BadInput
from shared.job_context import holding
from shared.models import Similarity

KINDS: tuple[ModelKind, ...] = ("similarity", "cross-encoder")


class LocalSimilarities:
    """The similarities of the catalogue, with one cache, for any number of threads."""

    def __init__(self, catalogue: Catalogue, cache: Cache | None = None) -> None:
        self._catalogue = catalogue
        self._cache = Cache() if cache is None else cache
        self._loaded: dict[str, Similarity] = {}
        self._loading = {entry.name: Lock() for entry in catalogue.entries}

    def similarity(self, name: str) -> Similarity:
        """The bi-encoder or cross-encoder of this name.

        Raises BadInput for an unknown name or a model of another kind, Unavailable where its
        weights cannot be had now, ScoringError where they can never be used.
        """
        entry = self._catalogue.entry(name)
        if entry.kind not in KINDS:
            raise BadInput(
                f"{name!r} is of kind {entry.kind}; a similarity or cross-encoder is needed",
                pointer="/model",
            )
        with holding(self._loading[name]):
            if name not in self._loaded:
                self._loaded[name] = self._load(entry)
            return self._loaded[name]

    def _load(self, entry: ModelEntry) -> Similarity:
        # here, so that a worker without such a model does not wait for the library
        from services.similarity.bi_encoder import BiEncoder
        from services.similarity.cross_encoder import CrossEncoder
        from services.similarity.loading import load

        weights = load(self._catalogue, entry)
        encoder = BiEncoder if entry.kind == "similarity" else CrossEncoder
        return encoder(weights, self._cache)
