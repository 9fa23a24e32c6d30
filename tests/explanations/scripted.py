"""A language model that says what it is told to, beside the real models of this process."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from services.registry import metrics, service
from shared.contracts.calls import Completion, Example, Prompt, Sampling
from shared.contracts.errors import BadInput
from shared.contracts.judgement import Judgement
from shared.contracts.messages import ModelKind, ModelUse, Report
from shared.ledger.leases import Claim
from shared.models.label_readout import of_head
from shared.worker.job import Success, ending
from tests.batches import WorkedScene
from tests.fakes import bound_models
from tests.haf.fake import completion, use
from tests.shipped import shipped_models

ROOT = Path(__file__).parents[2]
NAME = "lm"
LABELS = ("hateful", "non-hateful")


HATEFUL = (
    'It says "immigrants are ruining our town", blaming immigrants for what goes wrong. '
    "Conclusion: hateful."
)


@dataclass
class Scripted:
    """A writer, and a judge where it has labels."""

    says: str | Exception
    reasoning: str | None = None
    finish: str = "stop"
    p: tuple[float, ...] | None = None
    labels: tuple[str, ...] = LABELS
    prompts: list[Prompt] = field(default_factory=list)
    samplings: list[Sampling] = field(default_factory=list)
    judged: list[Example] = field(default_factory=list)
    languages: tuple[str, ...] = ("*",)
    mask_text: str = "[MASK]"

    @property
    def use(self) -> ModelUse:
        return use(NAME)

    def generate(self, prompts: Sequence[Prompt], sampling: Sampling) -> list[Completion]:
        self.prompts += prompts
        self.samplings.append(sampling)
        if isinstance(self.says, Exception):
            raise self.says
        told = {"reasoning": self.reasoning, "finish": self.finish}
        return [completion(self.says).model_copy(update=told) for _ in prompts]

    def labels_of(self, _: Example) -> tuple[str, ...]:
        return self.labels

    def judgements(self, examples: Sequence[Example]) -> list[Judgement]:
        if self.p is None:
            raise BadInput("a causal model without a prompt", pointer="/model")
        self.judged += examples
        return of_head(np.array([self.p] * len(examples)), None, self.labels)


def of_own_job(metric: str, body: dict[str, Any]) -> Report:
    """The result of a job of this metric, through the worker's own code."""
    claim = Claim("job_1", 1, body, waited_seconds=0, tried=1, tenant="default", batch_id=None)
    contract = metrics()[metric]
    end = ending(contract, service(metric).score, claim)
    assert isinstance(end, Success), end
    return contract.report.model_validate(end.result)


class ScriptedModels:
    """The port `Models`: one scripted causal model, the others as they are."""

    def __init__(self, model: Scripted) -> None:
        self._model = model
        self._others = shipped_models()

    def kind(self, name: str) -> ModelKind:
        return "causal" if name == NAME else self._others.kind(name)

    def reader_of(self, name: str) -> str | None:
        return None if name == NAME else self._others.reader_of(name)

    def writer(self, name: str) -> Any:
        return self._model if name == NAME else self._others.writer(name)

    def judge(self, name: str) -> Any:
        return self._model if name == NAME else self._others.judge(name)

    def classifier(self, name: str) -> Any:
        return self._others.classifier(name)

    def similarity(self, name: str) -> Any:
        return self._others.similarity(name)


@contextmanager
def saying(says: str | Exception, **more: Any) -> Iterator[Scripted]:
    """Bind the scripted model for a while."""
    model = Scripted(says, **more)
    with bound_models(ScriptedModels(model)):
        yield model


class Answered(WorkedScene):
    """The model says one thing."""

    def work(self, most: int = 1_000_000) -> int:
        with saying(HATEFUL):
            return super().work(most)
