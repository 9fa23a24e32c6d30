"""Every distinct input goes through the model once, whoever asks for it and how often."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import Lock

from services.similarity.cache import Cache, Input, Vector, key_of
from services.similarity.measures import CACHE_HITS, CACHE_MISSES
from shared.contracts import ModelKind, ModelUse


class Remembering:
    """A model's answers, computed under a lock and kept in a cache, for any number of threads."""

    def __init__(
        self,
        compute: Callable[[Sequence[Input]], list[Vector]],
        use: ModelUse,
        kind: ModelKind,
        cache: Cache,
    ) -> None:
        self._compute, self._use, self._cache = compute, use, cache
        self._hits, self._misses = CACHE_HITS.labels(kind), CACHE_MISSES.labels(kind)
        self._device = Lock()

    def vectors(self, inputs: Sequence[Input]) -> dict[Input, Vector]:
        """The (D,) answer of each distinct input."""
        asked = {key_of(self._use, each): each for each in dict.fromkeys(inputs)}
        found = self._cache.known(asked)
        if len(found) < len(asked):
            with self._device:
                # while we waited, another caller may have had the same computed
                found |= self._cache.known(asked.keys() - found.keys())
                missing = [key for key in asked if key not in found]
                found |= self._computed({key: asked[key] for key in missing})
                self._misses.inc(len(missing))
                self._hits.inc(len(asked) - len(missing))
        else:
            self._hits.inc(len(asked))
        return {each: found[key] for key, each in asked.items()}

    def _computed(self, asked: dict[bytes, Input]) -> dict[bytes, Vector]:
        if not asked:
            return {}
        answers = dict(zip(asked, self._compute(list(asked.values())), strict=True))
        self._cache.keep(answers)
        return answers
