"""The interface of a paper to be reproduced: its requests and its tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from bench.papers.answers import KeptAnswer, PaperRequest
from bench.papers.columns import Observation
from bench.papers.data_rows import DataRow
from bench.papers.tables import TablePlan


class Incomplete(ValueError):
    """Raised for a row that lacks a required input."""


Answers = Callable[[PaperRequest], KeptAnswer | None]  # None: not asked yet


@dataclass(frozen=True)
class PromptSetting:
    """A prompt with a number of demonstrations."""

    prompt: str
    shots: int


@dataclass(frozen=True)
class RunTemplate:
    """A wording of the question. `fields` are those of a `Template`. It is used for `datasets`, or
    for all if these are empty."""

    fields: Mapping[str, Any]
    datasets: tuple[str, ...] = ()


@dataclass(frozen=True)
class RunOptions:
    """The options of the command.

    `labels` maps gold labels in the file to labels of the paper. `parameters` maps a service to
    fields of its requests. `shots` are numbers of demonstrations. `prompts` replace those of the
    paper. `templates` are named wordings for models that use them.
    """

    seed: int = 0
    labels: Mapping[str, str] = field(default_factory=dict)
    parameters: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    shots: tuple[int, ...] = (0,)
    prompts: tuple[str, ...] = ()
    templates: Mapping[str, RunTemplate] = field(default_factory=dict)

    def fields(self, service: str) -> dict[str, Any]:
        return dict(self.parameters.get(service, {}))

    def prompt_settings(self, usual: str) -> dict[str, PromptSetting]:
        """Return the settings by name: each prompt, or the default one, with each number of
        demonstrations."""
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
    """One row with one model, under one prompt or setting."""

    model: str
    setting: str
    row: DataRow


class Paper(Protocol):
    """A paper. `name` is the name of its metric."""

    name: str
    source: str
    takes: frozenset[str]  # options of the command beside those that every paper takes

    def settings(self, options: RunOptions) -> tuple[str, ...]:
        """The settings for each row."""
        ...

    def requests(self, case: Case, answers: Answers, options: RunOptions) -> Iterator[PaperRequest]:
        """Yield all requests that can be sent with the answers so far. Raises Incomplete, and
        ValueError for an unknown gold label."""
        ...

    def observations(
        self, case: Case, answers: Answers, options: RunOptions
    ) -> Iterator[Observation]:
        """Yield the observations, once all requests are answered."""
        ...

    def tables(self, options: RunOptions) -> Sequence[TablePlan]: ...


def cases(
    models: Sequence[str], settings: Sequence[str], rows: Sequence[DataRow]
) -> Iterator[Case]:
    """Yield every row with every model by every setting."""
    for row in rows:
        for model in models:
            for setting in settings:
                yield Case(model, setting, row)
