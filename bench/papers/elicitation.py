"""Builds and reads requests that ask a model for a decision and an explanation, and score them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from bench.papers.answers import KeptAnswer, PaperRequest
from bench.papers.columns import MacroF1Column, Observation, ShareColumn, TableColumn
from bench.papers.protocol import Case, Incomplete, RunOptions
from services.explanations.contract import CONTRACT as EXPLANATIONS
from shared.contracts.fields import merge_fields

OF_DECIDED = (
    "accuracy and macro-F1 are of the rows that the model decided and that have a gold label"
)


def request_about(
    service: str,
    case: Case,
    inputs: Sequence[str],
    options: RunOptions,
    fields: Mapping[str, Any],
) -> PaperRequest:
    """Return a request about the row. `inputs` are the text columns that it sends. The command's
    options override `fields`. Raises Incomplete for a row without an input."""
    return PaperRequest(
        service,
        {
            **input_fields(case, inputs),
            **language_field(case),
            "seed": options.seed,
            "metadata": {"dataset": case.row.dataset, "model": case.model},
            **merge_fields(fields, options.fields(service)),
        },
    )


def explanation_request(
    case: Case, inputs: Sequence[str], options: RunOptions, more: Mapping[str, Any]
) -> PaperRequest:
    """Return a request for an explanation. `inputs` are the text columns of the prompt. If the row
    contains an answer of this model, the model is not called. Raises Incomplete for a row without
    an input."""
    answer = case.row.answer_of(case.model)
    source = {"model": case.model} if answer is None else {"answer": {"text": answer}}
    return request_about(EXPLANATIONS.name, case, inputs, options, {**source, **more})


def input_fields(case: Case, names: Sequence[str]) -> dict[str, str]:
    """Return the row's input fields. Raises Incomplete."""
    found = {name: case.row.text(name) for name in names}
    if missing := [name for name, text in found.items() if text is None]:
        raise Incomplete(
            f"a row of {case.row.dataset} has no {missing[0]!r}: say --map {missing[0]}=COLUMN"
        )
    return {name: text for name, text in found.items() if text is not None}


def language_field(case: Case) -> dict[str, str]:
    language = case.row.text("language")
    return {} if language is None else {"language": language}


def elicited(
    case: Case, answer: KeptAnswer | None, metric: str, read: Callable[[Any], Any]
) -> Observation:
    """Return the model's answer with this metric's result. `read` converts the stored result."""
    if answer is None or answer.result is None:
        return failed(case, [answer])
    told, scores = answer.result["elicitation"], answer.result["scores"]
    return Observation(
        model=case.model,
        setting=case.setting,
        row=case.row,
        outcome=told["outcome"],
        jobs=jobs_of([answer]),
        decision=told["decision"],
        result=next((read(one) for one in scores if one["metric"] == metric), None),
        error=next(
            (f"{one['metric']}: {one['detail']}" for one in answer.result["unscored"]
             if told["outcome"] == "answered"),
            None,
        ),
    )  # fmt: skip


def failed(
    case: Case, answers: Sequence[KeptAnswer | None], said: str = "it was not asked"
) -> Observation:
    """Return an observation without a result. `said` is the reason, if the answer has none."""
    errors = [one.error or "it failed" for one in answers if one and one.result is None]
    return Observation(
        model=case.model,
        setting=case.setting,
        row=case.row,
        outcome="failed",
        jobs=jobs_of(answers),
        error=next(iter(errors), said),
    )


def jobs_of(answers: Sequence[KeptAnswer | None]) -> tuple[str, ...]:
    return tuple(one.job for one in answers if one is not None and one.job is not None)


def decision_columns(options: RunOptions, labels: Sequence[str]) -> tuple[TableColumn, ...]:
    """Return columns that compare decisions with gold labels. `labels` are the choices of the
    prompt."""

    def decided(one: Observation) -> tuple[str, str] | None:
        gold = options.label(one.row, labels)
        return None if gold is None or one.decision is None else (gold, one.decision)

    def right(one: Observation) -> float | None:
        pair = decided(one)
        return None if pair is None else float(pair[0] == pair[1])

    return (
        ShareColumn("accuracy", "Accuracy", right),
        MacroF1Column("macro_f1", "Macro-F1", decided),
    )
