"""A paper to be reproduced: its requests, and its tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from bench.papers.answers import KeptAnswer, PaperRequest
from bench.papers.columns import Observation
from bench.papers.data_rows import DataRow
from bench.papers.tables import TablePlan


class Incomplete(ValueError):
    """A row without a required input; the message is for people."""


Answers = Callable[[PaperRequest], KeptAnswer | None]  # None: not asked yet


@dataclass(frozen=True)
class PromptSetting:
    """A prompt with a number of demonstrations."""

    prompt: str
    shots: int


@dataclass(frozen=True)
class RunTemplate:
    """A wording of the question. fields: of a `Template`. datasets: of use; empty: all."""

    fields: Mapping[str, Any]
    datasets: tuple[str, ...] = ()


@dataclass(frozen=True)
class RunOptions:
    """The options of the command.

    labels: gold label in the file → label of the paper. parameters: service → fields of its
    requests. shots: for prompts with demonstrations. prompts: replace the paper's. templates: by
    name, for models that use one.
    """

    seed: int = 0
    labels: Mapping[str, str] = field(default_factory=dict)
    parameters: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    shots: tuple[int, ...] = (0,)
    prompts: tuple[str, ...] = ()
    templates: Mapping[str, RunTemplate] = field(default_factory=dict)

    def fields(self, service: str) -> dict[str, Any]:
        """Return fields for requests to this service."""
        return dict(self.parameters.get(service, {}))

    def prompt_settings(self, usual: str) -> dict[str, PromptSetting]:
        """Return name → setting: each prompt, or the usual one, with each number of shots."""
        found = {}
        for prompt in self.prompts or (usual,):
            for shots in self.shots:
                name = f"{shots}-shot" if len(self.prompts) < 2 else f"{prompt}, {shots}-shot"
                found[name] = PromptSetting(prompt, shots)
        return found

    def label(self, row: DataRow, known: Sequence[str]) -> str | None:
        """Return the paper's name of the gold label. Raises ValueError for an unknown one."""
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
    """One row with one model, by one prompt or setting."""

    model: str
    setting: str
    row: DataRow


class Paper(Protocol):
    """A paper. `name` is that of its metric."""

    name: str
    source: str
    takes: frozenset[str]  # options of the command beside those that every paper takes

    def settings(self, options: RunOptions) -> tuple[str, ...]:
        """The settings for each row."""
        ...

    def requests(self, case: Case, answers: Answers, options: RunOptions) -> Iterator[PaperRequest]:
        """Yield all possible requests now; answers may allow more. Raises Incomplete, and
        ValueError for an unknown gold label."""
        ...

    def observations(
        self, case: Case, answers: Answers, options: RunOptions
    ) -> Iterator[Observation]:
        """Yield observations after all requests are answered."""
        ...

    def tables(self, options: RunOptions) -> Sequence[TablePlan]:
        """Return the tables in the paper's order."""
        ...


def cases(
    models: Sequence[str], settings: Sequence[str], rows: Sequence[DataRow]
) -> Iterator[Case]:
    """Yield every row with every model by every setting."""
    for row in rows:
        for model in models:
            for setting in settings:
                yield Case(model, setting, row)
