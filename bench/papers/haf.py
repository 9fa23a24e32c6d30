"""HAF's Tables 1 to 5: the six metrics, answers in later stages, sample sizes, and irrelevant
answers.

Source: Mothilal et al., arXiv:2506.19113. Several values of a result are averaged within it first,
as in HAF's batch report.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from bench.papers.answers import PaperRequest
from bench.papers.columns import MeanColumn, Observation, Outcome
from bench.papers.elicitation import failed, jobs_of, request_about
from bench.papers.protocol import Answers, Case, RunOptions
from bench.papers.tables import Place, TablePlan
from services.haf.batch_report import weighted_confidence, within_result
from services.haf.contract import CONTRACT
from services.haf.report import HafComponents, HafResult, HafStagePart, Stage

TITLES = {"sos": "SoS", "dis": "DiS", "uii": "UII", "uei": "UEI", "rs": "RS", "rn": "RN"}
STAGES: dict[Stage, str] = {
    "internal": "INT",
    "external": "EXT",
    "sufficiency": "SUF",
    "necessity": "NEC",
}
KEYS = ("data set", "model")
UNREAD = (None, "unclear")  # stances


class HafPaper:
    """Runs the whole HAF conversation with each model about each text."""

    name = CONTRACT.name
    source = "Mothilal et al., arXiv:2506.19113"
    takes: frozenset[str] = frozenset()

    def settings(self, options: RunOptions) -> tuple[str, ...]:
        return ("",)

    def requests(self, case: Case, answers: Answers, options: RunOptions) -> Iterator[PaperRequest]:
        yield self._request(case, options)

    def _request(self, case: Case, options: RunOptions) -> PaperRequest:
        return request_about(self.name, case, ("text",), options, {"model": case.model})

    def observations(
        self, case: Case, answers: Answers, options: RunOptions
    ) -> Iterator[Observation]:
        answer = answers(self._request(case, options))
        if answer is None or answer.result is None:
            yield failed(case, [answer])
            return
        stance = answer.result["stance"]
        read: Outcome = "unparsable" if stance in UNREAD else "answered"
        yield Observation(
            model=case.model,
            setting=case.setting,
            row=case.row,
            outcome="refused" if answer.result["refusal"] else read,
            jobs=jobs_of([answer]),
            decision=stance,
            result=HafResult.model_validate(answer.result),
        )

    def tables(self, options: RunOptions) -> Sequence[TablePlan]:
        metrics = tuple(
            MeanColumn(name, TITLES[name], partial(_component, name))
            for name in HafComponents.model_fields
        )
        return (
            _plan("Table 1", "The six metrics; UII and UEI: lower is better", metrics),
            _plan("Table 2", "Share of decisions that indicate sufficiency", _two(_sufficient)),
            _plan("Table 3", "RS and RN by decision and by informativeness", _individual()),
            _plan("Table 4", "Rows behind each number of Table 1", metrics, counts=True),
            _plan("Table 5", "Share of decisions that do not answer the question",
                  _shares(_irrelevant, tuple(STAGES))),
        )  # fmt: skip


def _plan(
    name: str, title: str, columns: tuple[MeanColumn, ...], *, counts: bool = False
) -> TablePlan:
    compared = None if counts else "model"
    return TablePlan(name, title, KEYS, _places, columns, compared=compared, counts=counts)


def _places(one: Observation) -> Iterator[Place]:
    yield one.dataset, one.model


def _component(name: str, one: Observation) -> float | None:
    return None if one.result is None else getattr(one.result.components, name)


def _within(
    stage: Stage, value: Callable[[HafStagePart], float | None], one: Observation
) -> float | None:
    return None if one.result is None else within_result(one.result, stage, value)


def _sufficient(part: HafStagePart) -> float:
    return float(part.decision is not None and part.decision.answer == "sufficient")


def _irrelevant(part: HafStagePart) -> float:
    return float(part.irrelevant)


def _informativeness(part: HafStagePart) -> float | None:
    return part.informativeness


def _two(holds: Callable[[HafStagePart], float]) -> tuple[MeanColumn, ...]:
    return _shares(holds, ("internal", "external"))


def _shares(
    holds: Callable[[HafStagePart], float], stages: Sequence[Stage]
) -> tuple[MeanColumn, ...]:
    return tuple(MeanColumn(one, STAGES[one], partial(_within, one, holds)) for one in stages)


def _individual() -> tuple[MeanColumn, ...]:
    parts: tuple[tuple[str, Stage], ...] = (("RS", "sufficiency"), ("RN", "necessity"))
    found = []
    for title, stage in parts:
        name = title.lower()
        decision = partial(_within, stage, weighted_confidence)
        new = partial(_within, stage, _informativeness)
        found.append(MeanColumn(f"{name}_decision", f"{title}: decision", decision))
        found.append(MeanColumn(f"{name}_informativeness", f"{title}: new reasons", new))
    return tuple(found)
