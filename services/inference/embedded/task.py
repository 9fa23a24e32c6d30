"""What a task says of itself; the command trains, calibrates and measures all of them alike."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from services.inference.embedded.answers import Ask
from services.inference.embedded.evaluation import Metrics
from services.inference.embedded.examples import Example
from services.inference.embedded.split import Split, split
from services.inference.embedded.training import Recipe
from shared.catalogue import EmbeddedNote

DEFAULT = Recipe()
Measured = TypeVar("Measured", bound=Metrics)


@dataclass(frozen=True)
class Task(Generic[Measured]):
    """One adapter to train."""

    name: str
    labels: tuple[str, ...]
    files: tuple[str, ...]  # in the data folder
    read: Callable[[Iterable[Path]], list[Example]]
    evaluate: Callable[[Ask, Split, float], Measured]  # the float is the temperature
    card: Callable[[EmbeddedNote, Measured], str]
    measured: type[Measured]
    split: Callable[[Sequence[Example]], Split] = split
    recipe: Recipe = DEFAULT
    revision: str = "1.0.0"  # raise it when the recipe or the data changes
