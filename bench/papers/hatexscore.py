"""HateXScore's Table 1 (Table 9 with demonstrations), Table 2 and Figure 2.

Source: Hu & Lee, EACL 2026, arXiv:2601.13547, sections 5.1 to 5.3, A.3 to A.5. The people of the
paper's Table 2 decide after reading the explanation: the column `adjudications`. Deviates: labels
of `annotators`, given before any explanation, are shown beside it if the file has such.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from bench.papers import annotators
from bench.papers.annotators import rows_once, unknown_labels
from bench.papers.answers import PaperRequest
from bench.papers.columns import MeanColumn, Observation, TableColumn
from bench.papers.elicitation import (
    OF_DECIDED,
    decision_columns,
    elicited,
    explanation_request,
)
from bench.papers.hatexscore_threshold import score_at
from bench.papers.protocol import Answers, Case, RunOptions
from bench.papers.tables import Place, TablePlan
from services.hatexscore.contract import CONTRACT
from services.hatexscore.report import HatexscoreComponents, HatexscoreResult, Label
from shared.contracts.elicitation import DEFAULT_PROMPT

LABELS: tuple[Label, ...] = ("hateful", "non-hateful")
TAUS = tuple(round(0.1 * step, 1) for step in range(1, 10))  # Figure 2
HIGH = 0.5  # a score above it, Table 2
ALL = "all"
_read = HatexscoreResult.model_validate
NEEDS_LABELS = (
    "after: by labels of people who had read the explanation, as in the paper (column "
    "`adjudications`); before: by labels that they gave to the text alone (column `annotators`)"
)


class HatexscorePaper:
    """Compares models and data sets by accuracy and by the quality of explanations."""

    name = CONTRACT.name
    source = "Hu & Lee, EACL 2026, arXiv:2601.13547"
    takes = frozenset({"prompt", "shots"})

    def settings(self, options: RunOptions) -> tuple[str, ...]:
        return tuple(options.prompt_settings(DEFAULT_PROMPT))

    def requests(self, case: Case, answers: Answers, options: RunOptions) -> Iterator[PaperRequest]:
        options.label(case.row, LABELS)
        yield self._request(case, options)

    def _request(self, case: Case, options: RunOptions) -> PaperRequest:
        by = options.prompt_settings(DEFAULT_PROMPT)[case.setting]
        prompt = {"prompt": by.prompt, "shots": by.shots}
        score = {self.name: options.fields(self.name)}
        return explanation_request(case, ("text",), options, prompt | {"score": score})

    def observations(
        self, case: Case, answers: Answers, options: RunOptions
    ) -> Iterator[Observation]:
        yield elicited(case, answers(self._request(case, options)), self.name, _read)

    def tables(self, options: RunOptions) -> Sequence[TablePlan]:
        made: list[TablePlan] = []
        for setting, by in options.prompt_settings(DEFAULT_PROMPT).items():
            number = "Table 9" if by.shots else "Table 1"
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
    """Return the plan of the table of rows whose decision differs from the gold label."""

    def places(one: Observation) -> Iterator[Place]:
        gold, score = options.label(one.row, LABELS), _score(one)
        if one.setting != setting or None in (gold, score, one.decision) or gold == one.decision:
            return
        condition = f"score > {HIGH}" if (score or 0.0) > HIGH else f"score <= {HIGH}"
        yield ALL, ALL, condition
        yield one.dataset, one.model, condition

    columns = _preferences(options)
    return TablePlan(
        name,
        "Whom annotators side with where decision and gold label differ",
        ("data set", "model", "condition"),
        places,
        columns,
        compared="condition",
        contrasts=(columns[0], columns[2]),
        notes=(NEEDS_LABELS,),
        remarks=partial(_remarks, setting, options),
    )


def _preferences(options: RunOptions) -> tuple[MeanColumn, ...]:
    """Return the columns of people who prefer the decision or the gold label, with and without the
    explanation."""
    return tuple(
        MeanColumn(
            f"prefer_{side}{name}",
            f"Prefer {side}, {said}",
            partial(_preference, options, votes, is_decision),
        )
        for name, said, votes in (("_after", "after", _votes_after), ("", "before", _votes_before))
        for side, is_decision in (("decision", True), ("gold", False))
    )


def _remarks(setting: str, options: RunOptions, some: Sequence[Observation]) -> Iterator[str]:
    """Yield a note on labels of annotators that the paper does not define, if there are any."""
    asked = [one for one in some if one.setting == setting]
    given = [label for row in rows_once(asked) for label in annotators.before(row)]
    given += [label for one in asked for label in annotators.after(one.row, one.model)]
    yield from unknown_labels([(one, options.labels.get(one, one) in LABELS) for one in given])


def _votes_before(one: Observation) -> list[str]:
    return annotators.before(one.row)


def _votes_after(one: Observation) -> list[str]:
    return annotators.after(one.row, one.model)


def _preference(
    options: RunOptions,
    votes_of: Callable[[Observation], list[str]],
    is_decision: bool,
    one: Observation,
) -> float | None:
    """Return the share of people's labels that equal the decision (or the gold label), among those
    that equal one of the two. None if no label does."""
    gold = options.label(one.row, LABELS)
    votes = [options.labels.get(vote, vote) for vote in votes_of(one)]
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
