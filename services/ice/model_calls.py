"""The model's answers to all requests of a batch, in few calls: tokens, attributions, scored rows.

A row's value does not depend on the others (shared.models.ports), so a request scores the same
alone and in a batch. A call is bounded in tokens: they bound its time (it has a deadline where the
model is another process), the size of its message, and the rows that are held at once.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import groupby
from math import inf

import numpy as np

from services.ice.contract import DEFAULT_MODEL, IceRequest
from services.ice.cost import MOST_TOKENS, Drawn, lowerings, passes_of, work_of_draws
from services.ice.experiment import Experiment, Key
from services.ice.explanations import (
    TestedExplanation,
    TokenizedInput,
    attribution_method,
    eligible_tokens,
    example_of,
    explanations,
    target_column,
)
from services.ice.kernel import Floats
from services.ice.operators import Operators, Pool, operators_of, pool_examples, pool_of
from services.ice.randomization_test import undecided
from services.ice.variants import VARIANTS
from shared.contracts import ModelUse
from shared.errors import DegenerateInput, TooCostly
from shared.job_context import checking
from shared.language import ModelLanguages
from shared.models.calls import AttributionMethod, Attributions, Example, Row, Rows
from shared.models.labels import decided
from shared.models.ports import Judge, models
from shared.work import Work, WorkLimit

TOKENS_A_CALL = 100_000  # under a minute of one CPU core for a small encoder

MissingScore = tuple[Experiment, Key, list[Row]]


def run_experiments(requests: Sequence[IceRequest]) -> list[tuple[Experiment, ModelUse]]:
    """All scores of every request, with the model that gave them."""
    names = [request.model or DEFAULT_MODEL for request in requests]
    done: dict[int, tuple[Experiment, ModelUse]] = {}
    for name in dict.fromkeys(names):
        places = [place for place, own in enumerate(names) if own == name]
        model = models().judge(name)
        experiments = _experiments([requests[place] for place in places], model, name)
        done |= {place: (one, model.use) for place, one in zip(places, experiments, strict=True)}
    return [done[place] for place in range(len(requests))]


def model_languages(request: IceRequest) -> ModelLanguages:
    name = request.model or DEFAULT_MODEL
    return ModelLanguages(name, models().judge(name).languages)


def _experiments(requests: Sequence[IceRequest], model: Judge, name: str) -> list[Experiment]:
    inputs = _tokenize(requests, model, name)
    experiments = [
        Experiment(tokenized, own, operators)
        for tokenized, own, operators in zip(
            inputs, _explanations(inputs, model), _operators(inputs, model), strict=True
        )
    ]
    for experiment in experiments:
        check_cost(experiment)
        experiment.begin()
    going = experiments
    while going:
        _score_missing(going, model)
        going = [one for one in going if one.draw_more(undecided(one))]
    return experiments


def _tokenize(requests: Sequence[IceRequest], model: Judge, name: str) -> list[TokenizedInput]:
    """Tokens, and the probabilities of the whole texts."""
    examples = [example_of(request) for request in requests]
    kind = models().kind(name)
    inputs = []
    for request, example, tokens, probabilities in zip(
        requests, examples, model.tokens(examples), _whole(requests, examples, model), strict=True
    ):
        labels = model.labels_of(example)
        _check_numbers(probabilities)
        predicted = decided(labels, probabilities.tolist(), model.use.thresholds)
        target = target_column(request, labels, predicted)
        eligible = eligible_tokens(request, tokens)
        inputs.append(
            TokenizedInput(request, kind, tokens, eligible, labels, probabilities, target)
        )
    return inputs


def _whole(
    requests: Sequence[IceRequest], examples: Sequence[Example], model: Judge
) -> list[Floats]:
    """(L,) probabilities of each whole text, calibrated where its variant asks for that."""
    raw = [not VARIANTS[request.variant].calibrated for request in requests]
    pairs = list(zip(examples, raw, strict=True))
    plain = iter(model.judge([example for example, is_raw in pairs if not is_raw]))
    asked = [
        Rows(example=example, rows=(Row(),), calibrated=False)
        for example, is_raw in pairs
        if is_raw
    ]
    others = iter(model.judge_rows(asked) if asked else [])
    return [next(others)[0] if is_raw else next(plain) for is_raw in raw]


def _explanations(inputs: Sequence[TokenizedInput], model: Judge) -> list[list[TestedExplanation]]:
    """Of each request; each method is computed in one call for all that name it."""
    by_method: dict[AttributionMethod, list[tuple[int, int]]] = defaultdict(list)
    for place, tokenized in enumerate(inputs):
        request = tokenized.request
        methods = [attribution_method(one, request, tokenized.kind) for one in request.methods]
        _check_methods(tokenized, methods)
        for number, method in enumerate(methods):
            by_method[method].append((place, number))
    answers: dict[tuple[int, int], Attributions] = {}
    for method, places in by_method.items():
        own = [inputs[place] for place, _ in places]
        targets = [tokenized.labels[tokenized.target] for tokenized in own]
        computed = model.attributions([tokenized.example for tokenized in own], targets, method)
        answers |= dict(zip(places, computed, strict=True))
    return [
        explanations(tokenized, [answers[place, n] for n in range(len(tokenized.request.methods))])
        for place, tokenized in enumerate(inputs)
    ]


def _operators(inputs: Sequence[TokenizedInput], model: Judge) -> list[Operators]:
    """Of each request; every text of all pools is tokenized once."""
    pools = {
        place: pool_examples(tokenized.request)
        for place, tokenized in enumerate(inputs)
        if "infill" in tokenized.request.operators
    }
    distinct = {example.model_dump_json(): example for own in pools.values() for example in own}
    read = model.tokens(list(distinct.values())) if distinct else ()
    tokens = dict(zip(distinct, read, strict=True))

    def pool(place: int, tokenized: TokenizedInput) -> Pool | None:
        if place not in pools:
            return None
        texts = [(example, tokens[example.model_dump_json()]) for example in pools[place]]
        return pool_of(tokenized.request, tokenized.labels, texts)

    return [operators_of(one, pool(place, one)) for place, one in enumerate(inputs)]


def _score_missing(experiments: Sequence[Experiment], model: Judge) -> None:
    """Score all that is drawn and was not asked yet."""
    for call in _calls(experiments):
        parts = [list(part) for _, part in groupby(call, key=_varied)]
        variations = [
            Rows(
                example=part[0][0].example_of(part[0][1]),
                rows=tuple(row for _, _, rows in part for row in rows),
                calibrated=part[0][0].tokenized.variant.calibrated,
            )
            for part in parts
        ]
        for part, answers in zip(parts, model.judge_rows(variations), strict=True):
            experiment = part[0][0]
            _check_numbers(answers)
            experiment.answer([(key, rows) for _, key, rows in part], answers)


def _varied(missing: MissingScore) -> tuple[int, Example | None]:
    """What tells the rows of one call apart: whose they are, and whether they vary another text."""
    experiment, (operator, subset), _ = missing
    other = experiment.operators.empty_example(operator) if subset is None else None
    return id(experiment), other


def _calls(experiments: Sequence[Experiment]) -> Iterator[list[MissingScore]]:
    """One call after the other; rows are made when the turn of their call comes."""
    call: list[MissingScore] = []
    size = 0
    for experiment in experiments:
        whole = len(experiment.tokenized.tokens.ids)
        for key in checking(experiment.missing()):
            rows = experiment.rows_of(key)
            tokens = sum(whole if row.kept is None else len(row.kept) for row in rows)
            if call and size + tokens > TOKENS_A_CALL:
                yield call
                call, size = [], 0
            call.append((experiment, key, rows))
            size += tokens
    if call:
        yield call


def _check_numbers(probabilities: Floats) -> None:
    if not np.all(np.isfinite(probabilities)):
        raise DegenerateInput("the model's probability of the target is not a number")


def check_cost(experiment: Experiment) -> None:
    """Raises TooCostly where all draws would make the model read more than it may."""
    WorkLimit(seconds=inf, tokens_per_second=1).check(cost_of(experiment))


def cost_of(experiment: Experiment) -> tuple[Work, ...]:
    """All draws, once the tokens are known; subsets that repeat are scored once."""
    tokenized = experiment.tokenized
    whole, eligible = len(tokenized.tokens.ids), len(tokenized.eligible)

    def works(request: IceRequest) -> tuple[Work, ...]:
        budgets = (None, *request.budgets)
        nulls = {t.null.key: t.null for t in experiment.trials if t.k in budgets}.values()
        scaffold = whole - eligible
        drawn = [
            Drawn(
                (scaffold + null.size, whole - null.size)[: len(request.aspects)],
                min(request.draws, null.others),
            )
            for null in nulls
        ]
        return tuple(work_of_draws(request, drawn, whole, lowerings(request, eligible, works)))

    return works(tokenized.request)


def _check_methods(tokenized: TokenizedInput, methods: Sequence[AttributionMethod]) -> None:
    """Raises TooCostly where the computed explanations alone would."""
    most = sum(map(passes_of, methods)) * len(tokenized.tokens.ids)
    if most > MOST_TOKENS:
        raise TooCostly(
            f"the attributions make the model read {most:,} tokens, more than "
            f"{MOST_TOKENS:,}: ask for fewer `samples`, `steps` or methods",
            pointer="/attribution",
        )
