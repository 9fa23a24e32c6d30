"""The CoT2EL paper's comparison with GenEX: which explanations bring a judge closer to the
variation of people's labels.

Source: Chen et al., EMNLP 2025, section 6 and Tables 11 to 13. Each model reasons about an item,
and its chain of thought is parsed into explanations (CoT2EL: EL filtered, and its supporting
explanations). The model is also asked for explanations of each option (GenEX). The judge, by
default the same model, then judges the item with each of these sets and with none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from bench.papers import annotators
from bench.papers.annotators import rows_once, unknown_labels
from bench.papers.answers import KeptAnswer, PaperRequest
from bench.papers.columns import MeanColumn, Observation
from bench.papers.data_rows import DataRow
from bench.papers.elicitation import failed, jobs_of, language_field
from bench.papers.protocol import Answers, Case, Incomplete, RunOptions
from bench.papers.tables import Place, TablePlan
from services.cot2el.contract import CONTRACT
from services.explanations.contract import CONTRACT as EXPLANATIONS
from services.hlv.contract import CONTRACT as JUDGED
from services.hlv.report import HlvMeasured, HlvResult
from shared.statistics.intervals import Bounds

Pairs = list[dict[str, Any]]

BASELINE, HUMAN, GENERATED = "baseline", "HumanEX", "GenEX"
CHAIN_SETS = {"CoT2EL": "filtered", "CoT2EL-sup": "filtered_sup"}
SETTINGS = (BASELINE, HUMAN, GENERATED, *CHAIN_SETS)
QUESTIONS = (  # columns that make the question, and GenEX's prompt for it
    (("premise", "hypothesis"), "genex-nli"),
    (("scenario", "question"), "genex-siqa"),
    (("question",), "genex-cqa"),
)
OF_INFERENCE = (
    {"key": "A", "text": "Entailment"},
    {"key": "B", "text": "Neutral"},
    {"key": "C", "text": "Contradiction"},
)
CORRELATION: Bounds = (-1.0, 1.0)
DISTANCE: Bounds = (0.0, None)
COLUMNS: tuple[tuple[str, str, str | None, Bounds], ...] = (  # name, title, block of the report
    ("kl_model_gold", "KL", "distribution", DISTANCE),
    ("jsd", "JSD", "distribution", (0.0, 1.0)),
    ("tvd", "TVD", "distribution", (0.0, 1.0)),
    ("rmse", "RMSE", "scalar", DISTANCE),
    ("mae", "MAE", "scalar", DISTANCE),
    ("r2", "R2", "scalar", (None, 1.0)),
    ("tau_b", "tau", None, CORRELATION),
    ("spearman", "rho", None, CORRELATION),
)


class Cot2elPaper:
    """Compares explanations from chains of thought with requested explanations."""

    name = CONTRACT.name
    source = "Chen et al., EMNLP 2025"
    takes: frozenset[str] = frozenset()

    def settings(self, options: RunOptions) -> tuple[str, ...]:
        return SETTINGS

    def requests(self, case: Case, answers: Answers, options: RunOptions) -> Iterator[PaperRequest]:
        _human(case.row, options)  # who cannot be judged at the end is not asked at the beginning
        first = list(_sources(case, options))
        yield from first
        found = [answers(one) for one in first]
        if all(one is not None for one in found):
            yield from _judgement(case, found, options)

    def observations(
        self, case: Case, answers: Answers, options: RunOptions
    ) -> Iterator[Observation]:
        before = [answers(one) for one in _sources(case, options)]
        asked = next(_judgement(case, before, options), None)
        if asked is None:
            yield _without_explanations(case, before)
            return
        answer = answers(asked)
        if answer is None or answer.result is None:
            yield failed(case, [*before, answer])
            return
        measured = _measured(HlvResult.model_validate(answer.result))
        yield Observation(
            model=case.model,
            setting=case.setting,
            row=case.row,
            outcome="unparsable" if measured is None or not measured.runs else "answered",
            jobs=jobs_of([*before, answer]),
            result=measured,
        )

    def tables(self, options: RunOptions) -> Sequence[TablePlan]:
        columns = tuple(
            MeanColumn(name, title, partial(_metric, name, block), bounds)
            for name, title, block, bounds in COLUMNS
        )
        return (
            TablePlan(
                "Tables 11 to 13",
                "A judge's agreement with people, by the explanations that it is shown; KL, JSD, "
                "TVD, RMSE and MAE: lower is better",
                ("data set", "model", "explanations"),
                _places,
                columns,
                compared="explanations",
                remarks=partial(_remarks, options),
            ),
        )


def _places(one: Observation) -> Iterator[Place]:
    if one.setting != HUMAN or one.row.list_of("explanations"):
        yield one.dataset, one.model, one.setting


def _metric(name: str, block: str | None, one: Observation) -> float | None:
    found = one.result if block is None or one.result is None else getattr(one.result, block)
    return None if found is None else getattr(found, name)


def _sources(case: Case, options: RunOptions) -> Iterator[PaperRequest]:
    """Yield the requests for the explanations of this setting."""
    if case.setting in CHAIN_SETS:
        yield PaperRequest(CONTRACT.name, _item(case, options) | options.fields(CONTRACT.name))
    if case.setting == GENERATED:
        names, prompt = _question_columns(case.row)
        for option in _options(case.row):
            body: dict[str, Any] = {name: case.row.text(name) for name in names}
            body |= {"prompt": prompt, "target_label": option["text"], "model": case.model}
            body |= {"seed": options.seed, **language_field(case)}
            yield PaperRequest(EXPLANATIONS.name, body | options.fields(EXPLANATIONS.name))


def _judgement(
    case: Case, before: Sequence[KeptAnswer | None], options: RunOptions
) -> Iterator[PaperRequest]:
    """Yield the requests to the judge, or none if there are no explanations."""
    pairs = _explanations(case, before)
    if case.setting == BASELINE or pairs:
        shown = {"explanations": pairs} if pairs else {}
        body = _item(case, options) | shown | {"human": _human(case.row, options)}
        yield PaperRequest(JUDGED.name, body | options.fields(JUDGED.name))


def _explanations(case: Case, before: Sequence[KeptAnswer | None]) -> Pairs:
    """Return the explanations of this setting, each with its option."""
    if case.setting == HUMAN:
        return case.row.list_of("explanations")
    results = [None if one is None else one.result for one in before]
    if case.setting == GENERATED:
        return [
            {"explanation": told["explanation"], "label": option["key"]}
            for option, result in zip(_options(case.row), results, strict=True)
            if result and (told := result["elicitation"])["outcome"] == "answered"
            if told["explanation"].strip()
        ]
    return [
        pair for result in results if result for pair in result["sets"][CHAIN_SETS[case.setting]]
    ]


def _without_explanations(case: Case, before: Sequence[KeptAnswer | None]) -> Observation:
    if any(one is None or one.result is None for one in before):
        return failed(case, before)
    return Observation(
        case.model, case.setting, case.row, "unparsable", jobs_of(before),
        error="no explanation came of it",
    )  # fmt: skip


def _item(case: Case, options: RunOptions) -> dict[str, Any]:
    names, _ = _question_columns(case.row)
    told = {name: case.row.text(name) for name in names}
    return {
        "question": told if len(names) > 1 else told[names[0]],
        "options": list(_options(case.row)),
        "model": case.model,
        "seed": options.seed,
        "metadata": {"dataset": case.row.dataset, "model": case.model},
        **language_field(case),
    }


def _question_columns(row: DataRow) -> tuple[tuple[str, ...], str]:
    for names, prompt in QUESTIONS:
        if all(row.text(name) for name in names):
            return names, prompt
    raise Incomplete(
        f"a row of {row.dataset} has neither `premise` and `hypothesis` nor a `question`"
    )


def _options(row: DataRow) -> Sequence[Mapping[str, str]]:
    """Return the row's options, or those of natural language inference if the row has none. Raises
    Incomplete."""
    found = row.list_of("options")
    if not found and row.text("premise") is None:
        raise Incomplete(f"a row of {row.dataset} has no `options`")
    return found or OF_INFERENCE


def _human(row: DataRow, options: RunOptions) -> Any:
    """Return the row's `human`, or else the labels of its `annotators` as votes. Raises
    Incomplete."""
    if (human := row.fields.get("human")) is not None:
        return human
    labels, key = annotators.before(row), _keys(row, options)
    votes = [key(label) for label in labels]
    counted = {one["key"]: votes.count(one["key"]) for one in _options(row) if one["key"] in votes}
    if counted:
        return {"votes": counted}
    if labels:
        said = f"no label of its `annotators` is one of its options: say --label OPTION={labels[0]}"
        raise Incomplete(f"a row of {row.dataset}: {said}")
    raise Incomplete(f"a row of {row.dataset} has neither `human` nor `annotators`")


def _keys(row: DataRow, options: RunOptions) -> Callable[[str], str | None]:
    """Map each label to the key of its option, or to None if it has no option. Raises
    Incomplete."""
    keys = {text.casefold(): one["key"] for one in _options(row)
            for text in (one["text"], one["key"])}  # fmt: skip
    return lambda label: keys.get(options.labels.get(label, label).casefold())


def _remarks(options: RunOptions, some: Sequence[Observation]) -> Iterator[str]:
    """Yield people's labels that are not an option of their row. Rows with `human` do not use
    labels."""
    given: list[tuple[str, bool]] = []
    for row in rows_once(some):
        if row.fields.get("human") is not None or not (labels := annotators.before(row)):
            continue
        try:
            key = _keys(row, options)
        except Incomplete:  # said where its observation stands
            continue
        given += [(label, key(label) is not None) for label in labels]
    yield from unknown_labels(given)


def _measured(result: HlvResult) -> HlvMeasured | None:
    """Return the first method's result, with explanations if some were shown."""
    first = result.components.methods[0]
    return first.explained or first.baseline
