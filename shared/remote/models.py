"""The binding `queue`: models live in other processes; servers are asked without a detour."""

from __future__ import annotations

from shared.catalogue import Catalogue, ModelEntry
from shared.contracts import ModelKind
from shared.errors import BadInput
from shared.models import Classifier, LanguageModel, Similarity, Writer
from shared.openai.model import served
from shared.remote.proxies import RemoteClassifier, RemoteLanguageModel, RemoteSimilarity


class QueueModels:
    """The port `shared.models.Models` over Redis."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue

    def _entry(self, name: str, *kinds: ModelKind) -> ModelEntry:
        entry = self._catalogue.entry(name)
        if entry.kind not in kinds:
            raise BadInput(
                f"{name!r} is of kind {entry.kind}; needed is {' or '.join(kinds)}",
                pointer="/model",
            )
        return entry

    def kind(self, name: str) -> ModelKind:
        """What is configured under this name."""
        return self._catalogue.entry(name).kind

    def classifier(self, name: str) -> Classifier:
        """The classifier configured under this name."""
        return RemoteClassifier(self._entry(name, "classifier"))

    def language_model(self, name: str) -> LanguageModel:
        """The causal model configured under this name."""
        entry = self._entry(name, "causal")
        return served(entry) if entry.scheme == "openai" else RemoteLanguageModel(entry)

    def writer(self, name: str) -> Writer:
        """The causal model of this name."""
        return self.language_model(name)

    def similarity(self, name: str) -> Similarity:
        """The bi-encoder or cross-encoder configured under this name."""
        return RemoteSimilarity(self._entry(name, "similarity", "cross-encoder"))
