"""HateXScore's Table 1 (Table 9 with demonstrations), Table 2 and Figure 2.

Source: Hu & Lee, EACL 2026, arXiv:2601.13547, sections 5.1 to 5.3 and A.6. Deviates: Table 2 asks
annotators which of two labels they prefer once they have read the explanation; here it is the
share of the labels in the column `annotators` that are the model's, among those that are its or the
data set's, given before any explanation.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from services.hatexscore.contract import CONTRACT
from services.hatexscore.report import HatexscoreComponents, HatexscoreResult, Label
from services.papers.answers import PaperRequest
from services.papers.columns import MeanColumn, Observation, TableColumn
from services.papers.data_rows import spelled
from services.papers.elicitation import (
    OF_DECIDED,
    decision_columns,
    elicited,
    explanation_request,
)
from services.papers.hatexscore_threshold import score_at
from services.papers.protocol import Answers, Case, RunOptions
from services.papers.tables import Place, TablePlan
from shared.elicitation import DEFAULT_PROMPT

LABELS: tuple[Label, ...] = ("hateful", "non-hateful")
TAUS = tuple(round(0.1 * step, 1) for step in range(1, 10))  # Figure 2
HIGH = 0.5  # a score above it, Table 2
ALL = "all"
_read = HatexscoreResult.model_validate
NO_ANNOTATORS = "the preference needs the labels of annotators: a column `annotators`"


class HatexscorePaper:
    """Accuracy beside the quality of explanations, model by model and data set by data set."""

    name = CONTRACT.name
    source = "Hu & Lee, EACL 2026, arXiv:2601.13547"

    def settings(self, options: RunOptions) -> tuple[str, ...]:
        return tuple(f"{shots}-shot" for shots in options.shots)

    def requests(self, case: Case, answers: Answers, options: RunOptions) -> Iterator[PaperRequest]:
        options.label(case.row, LABELS)
        yield self._request(case, options)

    def _request(self, case: Case, options: RunOptions) -> PaperRequest:
        shots = int(case.setting.partition("-")[0])
        prompt = {"prompt": options.prompt or DEFAULT_PROMPT, "shots": shots}
        score = {self.name: options.fields(self.name)}
        return explanation_request(case, ("text",), options, prompt | {"score": score})

    def observations(
        self, case: Case, answers: Answers, options: RunOptions
    ) -> Iterator[Observation]:
        yield elicited(case, answers(self._request(case, options)), self.name, _read)

    def tables(self, options: RunOptions) -> Sequence[TablePlan]:
        made: list[TablePlan] = []
        for setting, shots in zip(self.settings(options), options.shots, strict=True):
            number = "Table 9" if shots else "Table 1"
            made += [
                _summary(f"{number} ({setting})", setting, options),
                _adjudication(f"Table 2 ({setting})", setting, options),
                _sweep(f"Figure 2 ({setting})", setting),
            ]
        return made


def _summary(name: str, setting: str, options: RunOptions) -> TablePlan:
    def places(one: Observation) -> Iterator[Place]:
        if one.setting == setting:
            yield one.dataset, one.model

    parts: list[TableColumn] = [
        MeanColumn(part, part.upper(), partial(_part, part))
        for part in HatexscoreComponents.model_fields
    ]
    return TablePlan(
        name,
        "HateXScore, its parts, and decisions against gold labels",
        ("data set", "model"),
        places,
        (
            *parts,
            MeanColumn("score", "HateXScore", _score),
            *decision_columns(options, LABELS),
        ),
        notes=(OF_DECIDED,),
    )


def _part(name: str, one: Observation) -> float | None:
    return None if one.result is None else getattr(one.result.components, name)


def _score(one: Observation) -> float | None:
    return None if one.result is None else one.result.score


def _adjudication(name: str, setting: str, options: RunOptions) -> TablePlan:
    """Of the rows whose decision is not the gold label."""

    def places(one: Observation) -> Iterator[Place]:
        gold, score = options.label(one.row, LABELS), _score(one)
        if one.setting != setting or None in (gold, score, one.decision) or gold == one.decision:
            return
        condition = f"score > {HIGH}" if (score or 0.0) > HIGH else f"score <= {HIGH}"
        yield ALL, ALL, condition
        yield one.dataset, one.model, condition

    decision = MeanColumn("prefer_decision", "Prefer decision", partial(_preference, options, True))
    gold = MeanColumn("prefer_gold", "Prefer gold", partial(_preference, options, False))
    return TablePlan(
        name,
        "Whom annotators side with where decision and gold label differ",
        ("data set", "model", "condition"),
        places,
        (decision, gold),
        compared="condition",
        contrasts=(decision,),
        notes=(NO_ANNOTATORS,),
    )


def _preference(options: RunOptions, is_decision: bool, one: Observation) -> float | None:
    """The share of the annotators' labels that are the decision (or gold), of those that are one of
    the two; None without such."""
    gold = options.label(one.row, LABELS)
    told = [spelled(vote) for vote in one.row.list_of("annotators")]
    votes = [options.labels.get(vote, vote) for vote in told]
    for_decision, for_gold = votes.count(str(one.decision)), votes.count(str(gold))
    if not for_decision + for_gold:
        return None
    return (for_decision if is_decision else for_gold) / (for_decision + for_gold)


def _sweep(name: str, setting: str) -> TablePlan:
    def places(one: Observation) -> Iterator[Place]:
        if one.setting == setting:
            yield one.dataset, one.model

    return TablePlan(
        name,
        "Mean score by the threshold tau, computed from the stored parts",
        ("data set", "model"),
        places,
        tuple(MeanColumn(f"tau_{tau}", f"tau {tau}", partial(_score_at, tau)) for tau in TAUS),
        compared=None,
    )


def _score_at(tau: float, one: Observation) -> float | None:
    return None if one.result is None else score_at(one.result, tau)
