"""The FTC paper's table of raw scores of models' explanations, with the accuracy of their
decisions.

Source: Sia et al., AAAI 2023, arXiv:2205.12469, Table 12 (its row without a perturbed input).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from bench.papers.answers import PaperRequest
from bench.papers.columns import MeanColumn, Observation, TableColumn
from bench.papers.elicitation import (
    OF_DECIDED,
    decision_columns,
    elicited,
    explanation_request,
)
from bench.papers.protocol import Answers, Case, RunOptions
from bench.papers.tables import Place, TablePlan
from services.ftc.contract import CONTRACT
from services.ftc.report import LABELS, FtcResult
from shared.statistics.intervals import Bounds

PROMPT = "ftc-label"
UP_TO_ONE: Bounds = (None, 1.0)
COLUMNS: tuple[tuple[str, str, Bounds], ...] = (
    ("delta", "delta", (0.0, 1.0)),
    ("k", "K", UP_TO_ONE),
    ("w", "W", (0.0, 1.0)),
    ("w_normalized", "W normalized", (0.0, 1.0)),
    ("gain", "Gain over random phrases", (-1.0, 1.0)),
)


class FtcPaper:
    """Tests whether the logic of each model's explanation holds for counterfactuals."""

    name = CONTRACT.name
    source = "Sia et al., AAAI 2023, arXiv:2205.12469"
    takes = frozenset({"prompt"})

    def settings(self, options: RunOptions) -> tuple[str, ...]:
        return options.prompts or (PROMPT,)

    def requests(self, case: Case, answers: Answers, options: RunOptions) -> Iterator[PaperRequest]:
        options.label(case.row, LABELS)
        yield self._request(case, options)

    def _request(self, case: Case, options: RunOptions) -> PaperRequest:
        more = {"prompt": case.setting, "score": {self.name: options.fields(self.name)}}
        return explanation_request(case, ("premise", "hypothesis"), options, more)

    def observations(
        self, case: Case, answers: Answers, options: RunOptions
    ) -> Iterator[Observation]:
        answer = answers(self._request(case, options))
        yield elicited(case, answer, self.name, FtcResult.model_validate)

    def tables(self, options: RunOptions) -> Sequence[TablePlan]:
        scores: list[TableColumn] = [
            MeanColumn(name, title, partial(_component, name), bounds)
            for name, title, bounds in COLUMNS
        ]
        decisions = decision_columns(options, LABELS)
        said = "Faithfulness through counterfactuals, and decisions against gold labels"
        settings = self.settings(options)
        return [
            TablePlan(
                "Table 12" if len(settings) == 1 else f"Table 12 ({setting})",
                said,
                ("data set", "model"),
                partial(_places, setting),
                (*scores, *decisions),
                notes=(OF_DECIDED,),
            )
            for setting in settings
        ]


def _places(setting: str, one: Observation) -> Iterator[Place]:
    if one.setting == setting:
        yield one.dataset, one.model


def _component(name: str, one: Observation) -> float | None:
    return None if one.result is None else getattr(one.result.components, name)
