"""Models that live in this process: each is loaded once, when it is first asked for."""

from __future__ import annotations

from threading import Lock

from services.inference.classifier import LocalClassifier
from services.inference.loading import load_classifier
from shared.catalogue import Catalogue
from shared.errors import BadInput


class LocalModels:
    """The port `shared.models.Models` over the catalogue, for any number of threads."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue
        self._classifiers: dict[str, LocalClassifier] = {}
        self._loading = {entry.name: Lock() for entry in catalogue.entries}

    def classifier(self, name: str) -> LocalClassifier:
        """The classifier of this name.

        Raises BadInput for an unknown name or a model of another kind, Unavailable where its
        weights cannot be had now, ScoringError where they can never be used.
        """
        entry = self._catalogue.entry(name)
        if entry.kind != "classifier":
            raise BadInput(
                f"{name!r} is of kind {entry.kind}; a classifier is needed", pointer="/model"
            )
        with self._loading[name]:
            if name not in self._classifiers:
                self._classifiers[name] = LocalClassifier(load_classifier(self._catalogue, entry))
            return self._classifiers[name]
