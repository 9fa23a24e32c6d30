"""Models of the catalogue, loaded in this process at first use, or behind a server."""

from __future__ import annotations

from collections.abc import Callable

from services.inference.causal import LocalLanguageModel
from services.inference.classifier import LocalClassifier
from services.inference.embedded.adapter import load_adapter
from services.inference.weights.loader import load_causal, load_classifier
from shared.contracts.errors import BadInput
from shared.models.catalogue.availability import LoadedModels, ModelStates
from shared.models.catalogue.catalogue import Catalogue
from shared.models.classification import get_classifier
from shared.models.openai.model import get_remote_model
from shared.models.ports import CatalogueModels, Classifier, LanguageModel, Similarity


class LocalModels(CatalogueModels):
    """The models of the catalogue, in this process or behind a server. It has the interface
    `shared.models.ports.Models`. Thread-safe."""

    def __init__(
        self,
        catalogue: Catalogue,
        similarity: Callable[[str], Similarity] | None = None,
        budget: int | None = None,
        states: ModelStates | None = None,
        patience: float | None = None,
    ) -> None:
        """Create the models. `similarity` returns similarity models, which another service
        loads. `budget` is the number of tokens in one forward pass. It is measured by default.
        `states` receives the states of the models. `patience` is the maximum number of seconds
        to wait for another thread that loads a model."""
        super().__init__(catalogue, states)
        self._budget = budget
        self._similarity = similarity
        self._classifiers: LoadedModels[LocalClassifier] = LoadedModels(states, patience)
        self._language_models: LoadedModels[LocalLanguageModel] = LoadedModels(states, patience)

    def classifier(self, name: str) -> Classifier:
        """Return the classifier of this name. A classifier behind a server rejects operations that
        the server does not support."""
        entry = self._entry(name, "classifier")
        return get_classifier(entry) if entry.is_served else self.local_classifier(name)

    def local_classifier(self, name: str) -> LocalClassifier:
        entry = self._entry(name, "classifier")
        return self._classifiers.get(
            name,
            lambda: LocalClassifier(
                load_classifier(self._catalogue, entry, load_adapter), self._budget
            ),
            entry.idle_seconds,
        )

    def language_model(self, name: str) -> LanguageModel:
        """Return the causal model of this name. A model behind a server rejects operations that the
        server does not support."""
        entry = self._entry(name, "causal")
        if entry.scheme == "openai":
            return get_remote_model(entry)
        return self._language_models.get(
            name,
            lambda: LocalLanguageModel(load_causal(self._catalogue, entry), self._budget),
            entry.idle_seconds,
        )

    def similarity(self, name: str) -> Similarity:
        """Return the similarity model of this name. Raises BadInput if there is no source of such
        models."""
        if self._similarity is None:
            raise BadInput(
                f"this process has no similarity models, so {name!r} cannot be used",
                pointer="/model",
            )
        return self._similarity(name)
