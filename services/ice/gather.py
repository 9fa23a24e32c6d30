"""Which texts and rows go to which model: all requests of a batch together, in few calls.

Per model: how it reads the texts, what it says of them whole, the attributions, and then all rows
in one call (adaptively: one a round). A row's value does not depend on the others (shared.models),
so a request scores the same alone and in a batch.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

import numpy as np

from services.ice.contract import DEFAULT_MODEL, IceRequest, Method
from services.ice.explanations import Explanation, computed, explanations
from services.ice.infill import Pool, pool_examples, pool_of
from services.ice.inquiry import Inquiry, Key
from services.ice.operators import operators_of
from services.ice.reading import Reading, eligible, example_of, target_column
from services.ice.sequential import ended
from shared.calls import AttributionMethod, Attributions, Row, Rows
from shared.contracts import ModelUse
from shared.errors import DegenerateInput
from shared.models import Judge, models
from shared.performing import judge

MOST_POSITIONS = 1_000_000  # numbers in the rows of one call

Asked = tuple[Inquiry, list[tuple[Key, list[Row]]]]


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
    while parts := list(_parts(inquiries)):
        for part in parts:
            _answer(part, model)
        for inquiry in inquiries:
            inquiry.draw_more(ended)
    return inquiries


def _read(requests: Sequence[IceRequest], model: Judge, name: str) -> list[Reading]:
    """Tokens, and the probabilities of the whole texts."""
    examples = [example_of(request) for request in requests]
    kind = models().kind(name)
    readings = []
    for request, example, tokens, row in zip(
        requests, examples, model.tokens(examples), model.judge(examples), strict=True
    ):
        labels = model.labels_of(example)
        target = target_column(request, labels, row)
        may_go = eligible(request, tokens)
        readings.append(Reading(request, kind, tokens, may_go, labels, row, target))
    return readings


def _attributed(readings: Sequence[Reading], model: Judge) -> list[list[Explanation]]:
    """The explanations of each request; each method is asked for once for all that name it."""
    wanted: dict[AttributionMethod, list[tuple[int, int]]] = defaultdict(list)
    for place, reading in enumerate(readings):
        for number, method in enumerate(reading.request.methods):
            wanted[_settings(method, reading)].append((place, number))
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


def _settings(method: Method, reading: Reading) -> AttributionMethod:
    return computed(method, reading.request, reading.kind)


def _pools(readings: Sequence[Reading], model: Judge) -> list[Pool | None]:
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


def _parts(inquiries: Sequence[Inquiry]) -> Iterator[list[Asked]]:
    """What is missing, in calls of bounded size."""
    part: list[Asked] = []
    size = 0
    for inquiry in inquiries:
        for some in _bounded(inquiry.missing()):
            weight = sum(_weight(rows) for _, rows in some)
            if part and size + weight > MOST_POSITIONS:
                yield part
                part, size = [], 0
            part.append((inquiry, some))
            size += weight
    if part:
        yield part


def _bounded(keys: list[tuple[Key, list[Row]]]) -> Iterator[list[tuple[Key, list[Row]]]]:
    some: list[tuple[Key, list[Row]]] = []
    size = 0
    for key, rows in keys:
        if some and size + _weight(rows) > MOST_POSITIONS:
            yield some
            some, size = [], 0
        some.append((key, rows))
        size += _weight(rows)
    if some:
        yield some


def _weight(rows: Sequence[Row]) -> int:
    return sum(len(row.kept or ()) + 2 * len(row.replaced) for row in rows)


def _answer(part: Sequence[Asked], model: Judge) -> None:
    """One call for some rows of some inquiries."""
    asked = [
        Rows(example=inquiry.reading.example, rows=tuple(row for _, rows in keys for row in rows))
        for inquiry, keys in part
    ]
    for (inquiry, keys), answers in zip(part, model.judge_rows(asked), strict=True):
        column = answers[:, inquiry.reading.target]
        if not np.all(np.isfinite(column)):
            raise DegenerateInput("the model's probability of the target is not a number")
        inquiry.answer(keys, column)
