"""A paper to be computed again: what it asks of whom, and the tables that it prints."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from bench.papers.answers import KeptAnswer, PaperRequest
from bench.papers.columns import Observation
from bench.papers.data_rows import DataRow
from bench.papers.tables import TablePlan


class Incomplete(ValueError):
    """A row that has not what is asked about; the message is for people."""


Answers = Callable[[PaperRequest], KeptAnswer | None]  # None: not asked yet


@dataclass(frozen=True)
class PromptSetting:
    """A prompt with so many demonstrations."""

    prompt: str
    shots: int


@dataclass(frozen=True)
class RunTemplate:
    """A wording of the question. fields: of a `Template`. datasets: that it is for; empty: all."""

    fields: Mapping[str, Any]
    datasets: tuple[str, ...] = ()


@dataclass(frozen=True)
class RunOptions:
    """What the command was told.

    labels: gold label as the file has it → as the paper calls it. parameters: service → fields of
    its requests. shots: of prompts that have demonstrations. prompts: in the place of the paper's
    own. templates: by name, of models that are asked by one.
    """

    seed: int = 0
    labels: Mapping[str, str] = field(default_factory=dict)
    parameters: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    shots: tuple[int, ...] = (0,)
    prompts: tuple[str, ...] = ()
    templates: Mapping[str, RunTemplate] = field(default_factory=dict)

    def fields(self, service: str) -> dict[str, Any]:
        """Of requests to this service."""
        return dict(self.parameters.get(service, {}))

    def prompt_settings(self, usual: str) -> dict[str, PromptSetting]:
        """Name → setting: each prompt, else the usual one, with each number of demonstrations."""
        found = {}
        for prompt in self.prompts or (usual,):
            for shots in self.shots:
                name = f"{shots}-shot" if len(self.prompts) < 2 else f"{prompt}, {shots}-shot"
                found[name] = PromptSetting(prompt, shots)
        return found

    def label(self, row: DataRow, known: Sequence[str]) -> str | None:
        """The gold label as the paper calls it. Raises ValueError for one that it does not know."""
        if row.gold is None:
            return None
        found = self.labels.get(row.gold, row.gold)
        if found not in known:
            ways = " or ".join(f"--label {label}={row.gold}" for label in known)
            raise ValueError(
                f"the gold label {row.gold!r} of {row.dataset} is none of {', '.join(known)}: "
                f"say which it is by {ways}"
            )
        return found


@dataclass(frozen=True)
class Case:
    """One row before one model, by one prompt or setting."""

    model: str
    setting: str
    row: DataRow


class Paper(Protocol):
    """One paper. `name` is its metric's."""

    name: str
    source: str
    takes: frozenset[str]  # options of the command beside those that every paper takes

    def settings(self, options: RunOptions) -> tuple[str, ...]:
        """By which each row is asked."""
        ...

    def requests(self, case: Case, answers: Answers, options: RunOptions) -> Iterator[PaperRequest]:
        """All that can be asked now; once it is answered, perhaps more. Raises Incomplete,
        and ValueError for a gold label that is not known."""
        ...

    def observations(
        self, case: Case, answers: Answers, options: RunOptions
    ) -> Iterator[Observation]:
        """Once all is answered."""
        ...

    def tables(self, options: RunOptions) -> Sequence[TablePlan]:
        """In the paper's order."""
        ...


def cases(
    models: Sequence[str], settings: Sequence[str], rows: Sequence[DataRow]
) -> Iterator[Case]:
    """Every row before every model by every setting."""
    for row in rows:
        for model in models:
            for setting in settings:
                yield Case(model, setting, row)
