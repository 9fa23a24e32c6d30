"""Generates texts whose labels have a planted cause, in seven ways (plants), and explanations of
each kind.

A text has 60 to 90 of the words `w0` to `w299`, drawn by Zipf's law. Planted words occur only where
a plant puts them. An explanation is a set of word positions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from shared.contracts.messages import ModelUse

WORDS, SHORTEST, LONGEST, LONG = 300, 60, 90, 75
PLANTED = (2, 3, 7, 9)
USE = ModelUse(name="planted", revision="1", sha256="0" * 64, device="cpu", dtype="float32")

Places = tuple[int, ...]
Random = np.random.Generator

_OTHERS = np.array([word for word in range(WORDS) if word not in PLANTED])
_RATES = 1 / (1.0 + np.arange(_OTHERS.size))
_RATES = _RATES / _RATES.sum()


@dataclass(frozen=True)
class PlantedText:
    """A text with its label. `placed` has the position of each planted word, and `cause` the
    positions of the true explanation."""

    words: tuple[int, ...]
    label: int
    placed: dict[int, int] = field(default_factory=dict)
    cause: Places = ()

    @property
    def text(self) -> str:
        return " ".join(f"w{word}" for word in self.words)

    def spans(self, places: Sequence[int]) -> list[dict[str, int]]:
        starts = np.cumsum([0, *(len(f"w{word}") + 1 for word in self.words)])
        return [
            {"start": int(starts[p]), "end": int(starts[p]) + len(f"w{self.words[p]}")}
            for p in sorted(places)
        ]


Pattern = Callable[[Random, int], dict[int, int]]  # length of the text → place → planted word


def scattered(*words: int) -> Pattern:
    """Place the words at random positions that are not adjacent."""

    def place(random: Random, count: int) -> dict[int, int]:
        gaps = np.sort(random.permutation(count - len(words))[: len(words)])
        places = gaps + np.arange(len(words))
        apart = all(b - a > 1 for a, b in pairwise(places.tolist()))
        order = random.permutation(len(words))
        if not apart:
            return place(random, count)
        return {int(p): words[n] for p, n in zip(places, order, strict=True)}

    return place


def adjacent(*words: int) -> Pattern:
    """Place the words next to each other, in this order."""

    def place(random: Random, count: int) -> dict[int, int]:
        start = int(random.integers(0, count - len(words) + 1))
        return {start + n: word for n, word in enumerate(words)}

    return place


def in_third(word: int, *, first: bool) -> Pattern:
    """Place the words in the first third of the text, or in the rest."""

    def place(random: Random, count: int) -> dict[int, int]:
        third = -(-count // 3)
        low, high = (0, third) if first else (third, count)
        return {int(random.integers(low, high)): word}

    return place


@dataclass(frozen=True)
class Plant:
    """A way to determine labels. `positive` and `negative` are the patterns of the two labels. The
    patterns of a label are equally likely.

    `cause` says which words explain label 1.
    """

    name: str
    positive: tuple[Pattern, ...] = (scattered(),)
    negative: tuple[Pattern, ...] = (scattered(),)
    cause: tuple[int, ...] = ()
    by_length: bool = False

    def write(self, random: Random, label: int | None = None) -> PlantedText:
        """Write a text. If `label` is None, both labels are equally likely."""
        label = int(random.integers(0, 2)) if label is None else label
        patterns = self.positive if label else self.negative
        low, high = SHORTEST, LONGEST
        if self.by_length:
            low, high = (LONG + 1, LONGEST) if label else (SHORTEST, LONG)
        count = int(random.integers(low, high + 1))
        words = random.choice(_OTHERS, size=count, p=_RATES)
        planted = patterns[int(random.integers(0, len(patterns)))](random, count)
        for place, word in planted.items():
            words[place] = word
        placed = {word: place for place, word in planted.items()}
        cause = tuple(sorted(placed[word] for word in self.cause if word in placed))
        return PlantedText(tuple(words.tolist()), label, placed, cause if label else ())


BOTH, NONE = scattered(3, 9), scattered()
PLANTS = {
    plant.name: plant
    for plant in (
        Plant("token", (scattered(7),), cause=(7,)),
        Plant("AND", (BOTH,), (scattered(3), scattered(9), NONE), (3, 9)),
        Plant("OR", (BOTH, BOTH, scattered(3), scattered(9)), cause=(3, 9)),
        Plant("negation", (scattered(7),), (adjacent(2, 7), scattered(2), NONE), (7,)),
        Plant("position", (in_third(7, first=True),), (in_third(7, first=False), NONE), (7,)),
        Plant(
            "bigram",
            (adjacent(3, 9),),
            (BOTH, adjacent(9, 3), scattered(3), scattered(9), NONE),
            (3, 9),
        ),
        Plant("length", by_length=True),
    )
}


def by_arithmetic(plant: Plant) -> Callable[[Sequence[int]], float]:
    """Return a judge that knows the plant (level 0). It maps the remaining words to P(1), which
    is .98 or .02."""
    return lambda words: 0.98 if _holds(plant, tuple(words)) else 0.02


def _holds(plant: Plant, words: Places) -> bool:
    there, pairs = set(words), set(pairwise(words))
    rules: dict[str, Callable[[], bool]] = {
        "token": lambda: 7 in there,
        "AND": lambda: {3, 9} <= there,
        "OR": lambda: bool({3, 9} & there),
        "negation": lambda: 7 in there and (2, 7) not in pairs,
        "position": lambda: 7 in words[: -(-len(words) // 3)],
        "bigram": lambda: (3, 9) in pairs,
        "length": lambda: len(words) > LONG,
    }
    return rules[plant.name]()


def other_places(text: PlantedText, count: int, random: Random, *, together: bool) -> Places:
    """Return the positions of `count` words that were not planted. If `together`, they are
    adjacent."""
    free = [p for p in range(len(text.words)) if p not in text.placed.values()]
    if not together:
        return tuple(sorted(random.choice(free, size=count, replace=False).tolist()))
    starts = [p for p in free if all(p + n in free for n in range(count))]
    start = int(random.choice(starts))
    return tuple(range(start, start + count))


def random_places(text: PlantedText, count: int, random: Random, *, together: bool) -> Places:
    """Draw random words, or a random passage, of the same size."""
    size = len(text.words)
    if together:
        start = int(random.integers(0, size - count + 1))
        return tuple(range(start, start + count))
    return tuple(sorted(random.permutation(size)[:count].tolist()))


def ladder(plant: Plant, text: PlantedText, random: Random) -> dict[str, Places]:
    """Return explanations of a text with label 1, from the best to random ones."""
    together = plant.name == "bigram"
    size = len(text.cause) or 2
    rungs = {"random": random_places(text, size, random, together=together)}
    if not text.cause:
        return rungs
    padding = other_places(text, size, random, together=False)
    rungs |= {
        "true": text.cause,
        "padded": tuple(sorted({*text.cause, *padding})),
        "swapped": other_places(text, size, random, together=together),
    }
    if len(text.cause) > 1:
        rungs["half"] = text.cause[:1]
    return rungs
