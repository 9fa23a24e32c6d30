"""Which texts and rows go to which model: all requests of a batch together, in few calls.

Per model: how it reads the texts, what it says of them whole, the attributions, and then all rows
in as few calls as their size allows (adaptively: round by round). A row's value does not depend on
the others (shared.models.ports), so a request scores the same alone and in a batch.

What is missing, in calls of bounded size; and what one request may cost at most.

The unit is a token that the model reads: it bounds the time of a call (which has a deadline where
the model is another process), the size of its message, and the rows that are held at once.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import groupby
from math import inf

import numpy as np

from services.ice import subsets
from services.ice.contract import DEFAULT_MODEL, IceRequest, Method
from services.ice.cost import MOST_TOKENS, lowerings, work_of_draws
from services.ice.explanations import (
    TestedExplanation,
    TokenizedInput,
    computed,
    eligible,
    example_of,
    explanations,
    target_column,
)
from services.ice.kernel import Floats
from services.ice.operators import Pool, operators_of, pool_examples, pool_of
from services.ice.randomization_test import Inquiry, Key, ended
from shared.contracts import ModelUse
from shared.errors import DegenerateInput, TooCostly
from shared.job_context import checking
from shared.models.calls import AttributionMethod, Attributions, Row, Rows
from shared.models.ports import Judge, judge, models
from shared.work import Work, WorkLimit


def model_of(request: IceRequest) -> str:
    """Which model is asked."""
    return request.model or DEFAULT_MODEL


def inquire(requests: Sequence[IceRequest]) -> list[tuple[Inquiry, ModelUse]]:
    """All scores of every request, with the model that gave them."""
    found: dict[int, tuple[Inquiry, ModelUse]] = {}
    for name in dict.fromkeys(map(model_of, requests)):
        places = [place for place, one in enumerate(requests) if model_of(one) == name]
        model = judge(models(), name)
        asked = _asked([requests[place] for place in places], model, name)
        found |= {p: (inquiry, model.use) for p, inquiry in zip(places, asked, strict=True)}
    return [found[place] for place in range(len(requests))]


def _asked(requests: Sequence[IceRequest], model: Judge, name: str) -> list[Inquiry]:
    readings = _read(requests, model, name)
    attributed = _attributed(readings, model)
    pools = _pools(readings, model)
    inquiries = [
        Inquiry(reading, own, operators_of(reading, pool))
        for reading, own, pool in zip(readings, attributed, pools, strict=True)
    ]
    for inquiry in inquiries:
        check_cost(inquiry)
        inquiry.begin()
    while _ask(inquiries, model):
        for inquiry in inquiries:
            inquiry.draw_more(ended)
    return inquiries


def _read(requests: Sequence[IceRequest], model: Judge, name: str) -> list[TokenizedInput]:
    """Tokens, and the probabilities of the whole texts."""
    examples = [example_of(request) for request in requests]
    kind = models().kind(name)
    readings = []
    for request, example, tokens, row in zip(
        requests, examples, model.tokens(examples), model.judge(examples), strict=True
    ):
        labels = model.labels_of(example)
        _check_numbers(row)
        target = target_column(request, labels, row)
        may_go = eligible(request, tokens)
        readings.append(TokenizedInput(request, kind, tokens, may_go, labels, row, target))
    return readings


def _attributed(readings: Sequence[TokenizedInput], model: Judge) -> list[list[TestedExplanation]]:
    """The explanations of each request; each method is asked for once for all that name it."""
    wanted: dict[AttributionMethod, list[tuple[int, int]]] = defaultdict(list)
    for place, reading in enumerate(readings):
        methods = [_settings(method, reading) for method in reading.request.methods]
        check_methods(reading, methods)
        for number, settings in enumerate(methods):
            wanted[settings].append((place, number))
    answers: dict[tuple[int, int], Attributions] = {}
    for settings, places in wanted.items():
        asked = [readings[place] for place, _ in places]
        targets = [reading.labels[reading.target] for reading in asked]
        given = model.attributions([reading.example for reading in asked], targets, settings)
        answers |= dict(zip(places, given, strict=True))
    return [
        explanations(
            reading, [answers[place, number] for number in range(len(reading.request.methods))]
        )
        for place, reading in enumerate(readings)
    ]


def _settings(method: Method, reading: TokenizedInput) -> AttributionMethod:
    return computed(method, reading.request, reading.kind)


def _pools(readings: Sequence[TokenizedInput], model: Judge) -> list[Pool | None]:
    """The pool of each request that fills; every text of the pools is read once."""
    wanted = {
        place: pool_examples(reading.request)
        for place, reading in enumerate(readings)
        if "infill" in reading.request.operators
    }
    examples = [example for some in wanted.values() for example in some]
    contents = [example.model_dump_json() for example in examples]
    once = dict(zip(contents, examples, strict=True))
    read = dict(zip(once, model.tokens(list(once.values())), strict=True)) if once else {}
    every = iter(read[content] for content in contents)
    return [
        pool_of(reading.request, reading.labels, [(one, next(every)) for one in wanted[place]])
        if place in wanted
        else None
        for place, reading in enumerate(readings)
    ]


def _ask(inquiries: Sequence[Inquiry], model: Judge) -> bool:
    """Ask for all that is missing; whether there was anything."""
    asked = 0
    for call in calls(inquiries):
        _answer(call, model)
        asked += 1
    return asked > 0


def _answer(call: Sequence[Missing], model: Judge) -> None:
    """One call for some rows of some inquiries."""
    parts = [list(part) for _, part in groupby(call, key=lambda one: id(one[0]))]
    asked = [
        Rows(
            example=part[0][0].reading.example,
            rows=tuple(row for _, _, rows in part for row in rows),
        )
        for part in parts
    ]
    for part, answers in zip(parts, model.judge_rows(asked), strict=True):
        inquiry = part[0][0]
        column = answers[:, inquiry.reading.target]
        _check_numbers(column)
        inquiry.answer([(key, rows) for _, key, rows in part], column)


def _check_numbers(probabilities: Floats) -> None:
    if not np.all(np.isfinite(probabilities)):
        raise DegenerateInput("the model's probability of the target is not a number")


TOKENS_A_CALL = 100_000  # under a minute of one CPU core for a small encoder

Missing = tuple[Inquiry, Key, list[Row]]


def calls(inquiries: Sequence[Inquiry]) -> Iterator[list[Missing]]:
    """One call after the other; rows are made when the turn of their call comes."""
    call: list[Missing] = []
    size = 0
    for inquiry in inquiries:
        for key in checking(inquiry.missing()):
            rows = inquiry.rows_of(key)
            weight = _tokens_read(inquiry, rows)
            if call and size + weight > TOKENS_A_CALL:
                yield call
                call, size = [], 0
            call.append((inquiry, key, rows))
            size += weight
    if call:
        yield call


def _tokens_read(inquiry: Inquiry, rows: Sequence[Row]) -> int:
    whole = len(inquiry.reading.tokens.ids)
    return sum(whole if row.kept is None else len(row.kept) for row in rows)


def check_cost(inquiry: Inquiry) -> None:
    """Raises TooCostly where all draws would make the model read more than it may."""
    WorkLimit(seconds=inf, tokens_per_second=1).check(cost_of(inquiry))


def cost_of(inquiry: Inquiry) -> tuple[Work, ...]:
    """All draws, once the tokens are known."""
    reading = inquiry.reading
    whole, free = len(reading.tokens.ids), len(reading.eligible)

    def works(request: IceRequest) -> tuple[Work, ...]:
        budgets = (None, *request.budgets)
        sizes = {len(trial.rationale) for trial in inquiry.trials if trial.k in budgets}
        drawn = [
            (
                whole - free + size,
                min(request.draws, subsets.others(free, size)),
            )  # none is repeated
            for size in sizes
        ]
        return tuple(work_of_draws(request, drawn, whole, lowerings(request, free, works)))

    return works(reading.request)


def check_methods(reading: TokenizedInput, methods: Sequence[AttributionMethod]) -> None:
    """Raises TooCostly where the computed explanations alone would."""
    passes = sum(
        {"lime": one.samples, "integrated_gradients": one.steps}.get(one.name, 1) for one in methods
    )
    most = passes * len(reading.tokens.ids)
    if most > MOST_TOKENS:
        raise TooCostly(
            f"the attributions make the model read {most:,} tokens, more than "
            f"{MOST_TOKENS:,}: ask for fewer `samples`, `steps` or methods",
            pointer="/attribution",
        )
