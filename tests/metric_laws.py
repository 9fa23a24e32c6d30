"""What must hold of every metric, whoever wrote it: laws that need nothing but its contract."""

from __future__ import annotations

import json
import types
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import annotated_types
import pytest
from pydantic import BaseModel, StringConstraints, ValidationError, create_model
from pydantic.fields import FieldInfo

from bench.agreement import difference
from services.registry import service
from shared.contracts import messages
from shared.contracts.errors import BadInput
from shared.contracts.fields import merge_fields, messages_in, options_of, value_at
from shared.contracts.messages import (
    LONGEST_REASON,
    TRANSPORT,
    Input,
    JobRequest,
    Message,
    ModelName,
    Parameter,
    Report,
    ScoreRequest,
    field_type,
)
from shared.contracts.null_report import Null
from shared.contracts.redaction import RUN, all_internal, repeats, sent, without_text
from shared.contracts.service import MetricContract
from shared.reports.metric import Metric
from tests.flat_requests import flat_request

AnyMetric = Metric[Any, Any, Any, Any]


def metric_of(name: str) -> AnyMetric:
    """The metric of this name."""
    found = service(name)
    assert isinstance(found, Metric)
    return found


Json = dict[str, Any]
MODEL_NAME = get_args(ModelName)[1]
ANSWERLESS = ("inconclusive", "not_tested")


def cheap_examples(contract: MetricContract) -> dict[str, Json]:
    """The examples by name, with few draws and perturbations: no law depends on their number, and
    the examples' own take minutes."""
    draws = {"options": {"draws": 19}} if contract.name == "ice" else {}
    few = json.dumps({"name": "lime", "samples": 20})
    return {
        name: merge_fields(json.loads(json.dumps(example).replace('"lime"', few)), draws)
        for name, example in contract.examples.items()
    }


def example_requests(contract: MetricContract) -> list[ScoreRequest]:
    """Every example under every variant that takes it."""
    found = []
    for body in cheap_examples(contract).values():
        for variant in ("robust", "paper", "reference"):
            try:
                found.append(contract.request.model_validate(body | {"variant": variant}))
            except ValidationError:
                assert variant != "robust", "an example must be valid"
    return found


def first_scored_example(metric: AnyMetric) -> tuple[ScoreRequest, Report]:
    """The first example under `robust`."""
    request = example_requests(metric.contract)[0]
    return request, metric.score(request)


@cache
def scored_examples(metric: AnyMetric) -> list[tuple[ScoreRequest, Report]]:
    """The examples that a variant does not refuse, each scored alone."""
    found = []
    for request in example_requests(metric.contract):
        try:
            found.append((request, metric.score(request)))
        except BadInput:
            assert request.variant != "robust", "an example must score"
    return found


def batches_change_nothing(metric: AnyMetric) -> None:
    """Alone, together, in other company and order: the same bytes, where models promise them."""
    alone = scored_examples(metric)
    requests = [request for request, _ in alone]
    expected = [_sent(report) for _, report in alone]
    together = map(_sent, metric.score_batch(requests))
    backwards = map(_sent, metric.score_batch(requests[::-2]))
    assert difference(list(together), expected) is None
    assert difference(list(backwards), expected[::-2]) is None


def messages_survive_the_wire(metric: AnyMetric) -> None:
    """Requests and reports of the examples are equal to what is read from their JSON."""
    contract = metric.contract
    for request, report in scored_examples(metric):
        assert contract.request.model_validate_json(request.model_dump_json(), strict=True) == (
            request
        )
        assert contract.report.model_validate_json(report.model_dump_json()) == report


def _sent(report: Report) -> Any:
    return report.model_dump(mode="json")


def nulls_are_one_message(contract: MetricContract) -> None:
    """What is compared with draws and has a p-value is a `Null`."""
    for message in messages_of(contract.report):
        if {"draws", "p_value"} <= message.model_fields.keys():
            assert issubclass(message, Null), message


def messages_of(message: type[Message]) -> set[type[Message]]:
    """It, and all that it holds, however deep."""
    found, left = set[type[Message]](), [message]
    while left:
        if (one := left.pop()) not in found:
            found.add(one)
            left += [
                m for field in one.model_fields.values() for m in messages_in(field.annotation)
            ]
    return found


def nulls_add_up(metric: AnyMetric) -> int:
    """Of every null of every example; how many there are."""
    nulls = [null for _, report in scored_examples(metric) for null in nulls_of(report)]
    for null in nulls:
        assert null.exact == (null.draws == null.placements) or not null.draws
        assert (null.win_rate_draws or 0) <= null.draws
        tails = [p for p in (null.p_value, null.p_anti) if p is not None]
        assert len(tails) == (2 if null.draws else 0)
        assert all(p * (null.draws + 1) >= 1 - 1e-9 for p in tails)
        if tails:
            assert null.p_two_sided == min(1, 2 * min(tails))
            assert null.attainable_p is not None
            assert null.attainable_p <= 2 * min(tails) + 1e-9
            assert sum(tails) > 1  # every draw reaches one side, and the explanation both
            spread_adds_up(null)
    return len(nulls)


def spread_adds_up(null: Null) -> None:
    assert null.histogram is not None
    assert null.mean is not None
    low, high = null.histogram.low, null.histogram.high
    assert sum(null.histogram.counts) == null.draws
    assert low - 1e-12 <= null.mean <= high + 1e-12
    assert (null.sd is None) == (null.draws < 2)
    assert list(null.deciles) == sorted(null.deciles)
    assert all(low <= decile <= high for decile in null.deciles)
    assert len(null.deciles) == 9


def nulls_of(message: Message) -> Iterator[Null]:
    """All that it holds, however deep."""
    if isinstance(message, Null):
        yield message
    for _, value in message:
        for one in value if isinstance(value, tuple) else (value,):
            if isinstance(one, Message):
                yield from nulls_of(one)


def parameters_are_in_the_provenance(metric: AnyMetric) -> None:
    """Each parameter, set to another valid value, as sent or as it is in force."""
    names = set(flat_fields(metric.contract)) - metric.contract.not_parameters
    names.discard("explain")  # in the place of an explanation: `tests/explanations`
    changed: set[str] = set()
    for body in metric.contract.examples.values():
        base = metric.contract.request.model_validate(body)
        collected = metric.collect([base])[0]
        assert names <= metric.parameters(base, collected).keys()
        for name in sorted(names - changed):
            request = with_another(metric.contract, body, name)
            if request is None:
                continue
            changed.add(name)
            try:
                own = metric.collect([request])[0]
            except BadInput:  # of a model that is not there
                own = collected
            value = metric.parameters(request, own)[name]
            if name not in metric.in_force(request, own):
                dumped = request.model_dump(mode="json")
                options = dumped if name in dumped else dumped["options"]
                assert value == options[name]
    free = {name for name in names if not needs_a_model(metric.contract, name)}
    assert free <= changed, f"no other value was found for {free - changed}"


ADDED: list[tuple[Any, Any, bool]] = [  # type, value, whether it is a parameter
    (int, 4, True),
    (Annotated[int, Input], 4, True),
    (Annotated[tuple[float, ...], Input], [0.5], True),
    (Annotated[Literal["a", "b"] | None, Input], "b", True),
    (Annotated[dict[Literal["a"], bool], Input], {"a": True}, True),
    (Annotated[str, Parameter], "words", True),
    (Annotated[str | None, Input], "words", False),
    (Annotated[tuple[str, ...], Input], ["words"], False),
    (Annotated[dict[str, float], Input], {"words": 0.5}, False),
]


def added_fields_are_in_the_provenance(metric: AnyMetric) -> None:
    """A field more in this request, or in what all requests have in common: only texts that are
    marked as data are left out."""
    body = next(iter(metric.contract.examples.values()))
    collected = metric.collect([metric.contract.request.model_validate(body)])[0]
    for base in (JobRequest, ScoreRequest, metric.contract.request):
        for kind, value, is_parameter in ADDED:
            with with_a_field(metric, base, kind) as grown:
                sent = grown.contract.request.model_validate(body | {"added": value})
                found = grown.parameters(sent, collected)
            assert ("added" in found) is is_parameter, (base, kind)
            assert not is_parameter or found["added"] == value


@contextmanager
def with_a_field(metric: AnyMetric, base: type[JobRequest], kind: Any) -> Iterator[AnyMetric]:
    """The metric as if `base` had one more required field of this type."""
    own = metric.contract.request
    create: Any = create_model  # a class that mypy need not know
    with pytest.MonkeyPatch.context() as patch:
        grown = request = create(base.__name__, __base__=base, added=(kind, ...))
        if base is not own:
            patch.setattr(messages, base.__name__, grown)
            request = create(own.__name__, __base__=(own, grown))
        contract = replace(metric.contract, request=request)
        yield type("Grown", (type(metric),), {"contract": contract})()


def needs_a_model(contract: MetricContract, name: str) -> bool:
    """Whether no example can have this parameter: it says how a named model is asked."""
    return contract.model_optional and all(
        with_another(contract, body, name) is None for body in contract.examples.values()
    )


def with_another(contract: MetricContract, body: Json, name: str) -> ScoreRequest | None:
    """The example with another value of this field; None where none is valid."""
    before = contract.request.model_validate(body)
    schema = contract.request.model_json_schema()
    definitions = schema.get("$defs", {})
    path = f"options.{name}" if name in options_of(contract.request) else name
    options = type(value_at(before, "options")).__name__
    properties = schema if path == name else definitions[options]
    for value in values_of(properties["properties"][name], definitions):
        try:
            request = flat_request(contract.request, body | {name: value})
        except ValidationError:
            continue
        if value_at(request, path) != value_at(before, path):
            return request
    return None


def flat_fields(contract: MetricContract) -> dict[str, FieldInfo]:
    """The fields of a request, those in its `options` in the place of `options`."""
    fields, options = contract.request.model_fields, options_of(contract.request)
    return {name: field for name, field in fields.items() if not options or name != "options"} | (
        options
    )


def values_of(schema: Json, definitions: Mapping[str, Json]) -> Iterator[Any]:
    """Some values of a JSON schema; not all of them need be valid."""
    if "$ref" in schema:
        yield from values_of(definitions[schema["$ref"].rpartition("/")[2]], definitions)
    for part in [*schema.get("anyOf", []), *schema.get("oneOf", [])]:
        yield from values_of(part, definitions)
    yield from schema.get("enum", ())
    yield from schema.get("examples", ())
    match schema.get("type"):
        case "boolean":
            yield from (True, False)
        case "integer" | "number":
            yield from numbers_of(schema)
        case "string":
            yield from ("another", "an other {text}")
        case "array":
            items = values_of(schema.get("items", {}), definitions)
            yield from ([item] for item in items)
        case "object":
            yield from objects_of(schema, definitions)


def numbers_of(schema: Json) -> Iterator[float]:
    """The ends of its range, and what lies between."""
    low = next((schema[name] for name in ("minimum", "exclusiveMinimum") if name in schema), 0)
    high = next((schema[n] for n in ("maximum", "exclusiveMaximum") if n in schema), low + 1)
    yield from (low, low + 1, high, (low + high) / 2)


def objects_of(schema: Json, definitions: Mapping[str, Json]) -> Iterator[Json]:
    """With the required properties, and with each of them changed."""
    properties: Mapping[str, Json] = schema.get("properties", {})
    required = {
        name: next(values_of(properties[name], definitions), None)
        for name in schema.get("required", ())
    }
    for name, part in properties.items():
        yield from (required | {name: value} for value in values_of(part, definitions))
    if isinstance(other := schema.get("additionalProperties"), dict):
        names = {"type": "string"} | schema.get("propertyNames", {})
        keys = list(values_of(names, definitions))
        values = list(values_of(other, definitions))
        yield from ({keys[0]: value} for value in values)
        for count in range(2, len(keys) + 1):
            yield dict(zip(keys[:count], values, strict=False))


def strings_are_marked(contract: MetricContract) -> None:
    """Every field that may hold the caller's words is an `Input`, a `Parameter` or a model's
    name."""
    for name, field in flat_fields(contract).items():
        if name in TRANSPORT or {Input, Parameter} & marks_of(field):
            continue
        assert not holds_text(field_type(field)), f"{contract.name}: {name} is not marked"


def blank_texts_are_refused(contract: MetricContract) -> None:
    """Where a string must not be empty, white space and invisible characters are refused too, at
    the same field."""
    for body in cheap_examples(contract).values():
        for path in string_paths(body):
            if not (empty := faults(contract, with_value(body, path, ""))):
                continue
            for blank in (" \n\u00a0\u3000", "\u200b\ufeff\u3164"):
                refused = faults(contract, with_value(body, path, blank))
                assert refused.keys() >= empty.keys(), f"{contract.name}: {path}, {blank!r}"


def faults(contract: MetricContract, body: Json) -> dict[tuple[Any, ...], str]:
    try:
        contract.request.model_validate_json(json.dumps(body))
    except ValidationError as error:
        return {fault["loc"]: fault["type"] for fault in error.errors()}
    return {}


def string_paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path of every string in a JSON value."""
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, item in items:
        if isinstance(item, str):
            yield (*path, key)
        elif isinstance(item, dict | list):
            yield from string_paths(item, (*path, key))


def with_value(body: Json, path: tuple[Any, ...], value: Any) -> Json:
    """A copy of the JSON object with this value at the path."""
    copy = json.loads(json.dumps(body))
    part = copy
    for key in path[:-1]:
        part = part[key]
    part[path[-1]] = value
    return copy  # type: ignore[no-any-return]


def marks_of(field: FieldInfo) -> set[Any]:
    """The marks of a field that are classes."""
    return {mark for mark in field.metadata if isinstance(mark, type)}


def holds_text(hint: Any) -> bool:
    """Whether a value of this type may hold a string of the caller's choice."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Literal:
        return False
    if origin is Annotated:
        return not is_model_name(arguments) and holds_text(arguments[0])
    if isinstance(hint, type) and issubclass(hint, BaseModel):
        return any(holds_text(field_type(field)) for field in hint.model_fields.values())
    if origin in (Union, types.UnionType) or arguments:
        return any(holds_text(argument) for argument in arguments)
    return hint is str or hint is Any


def is_model_name(annotated: tuple[Any, ...]) -> bool:
    """Whether `Annotated[str, …]` is a `ModelName`; pydantic may have taken it apart."""
    inner, *marks = annotated
    lengths = (
        annotated_types.MinLen(MODEL_NAME.min_length),
        annotated_types.MaxLen(MODEL_NAME.max_length),
    )
    whole = any(isinstance(one, StringConstraints) and one == MODEL_NAME for one in marks)
    return inner is str and (whole or all(length in marks for length in lengths))


def no_text_stays(metric: AnyMetric) -> None:
    """With `do_not_store_text` no run of an input is left in the result."""
    fields = flat_fields(metric.contract).items()
    inputs = {name for name, field in fields if Input in marks_of(field)}
    ours = all_internal(metric.contract.report.model_fields["warnings"].annotation)
    told = Counter(one.sentence for _, report in scored_examples(metric) for one in report.checks)
    for request, report in scored_examples(metric):
        dumped = request.model_dump(mode="json")
        flat = dumped | (dumped["options"] if options_of(type(request)) else {})
        sent = {name: value for name, value in flat.items() if name in inputs}
        texts = [text for text in strings(sent) if len(text) >= RUN]
        private = request.model_copy(update={"do_not_store_text": True})
        result = without_text(report, private)
        if ours:  # its type says that no warning repeats a text
            del result["warnings"]
        for kept in strings(result):
            if told[kept] < 2:  # a sentence of a check that several examples have is our own
                assert not repeats(kept, texts), kept


def checks_make_the_verdict(metric: AnyMetric) -> None:
    """Checks have the metric's codes and our own words; the verdict follows from them."""
    for request, report in scored_examples(metric):
        outcomes = {one.outcome for one in report.checks}
        failed = [one.reason for one in report.checks if one.outcome == "failed"]
        assert list(report.problems) == list(dict.fromkeys(failed))
        assert set(failed) <= set(metric.contract.problems)
        assert (report.verdict == "problem_found") == ("failed" in outcomes)
        assert report.verdict != "holds_up" or "passed" in outcomes
        open_ = {one.reason for one in report.checks if one.outcome in ANSWERLESS}
        assert {one.reason for one in report.untested} == open_
        assert all(one.action for one in report.untested)
        texts = [text for text in sent(request) if len(text) > RUN]
        assert 0 < len(report.reason) <= LONGEST_REASON
        assert not repeats(report.reason, texts)


def strings(value: Any) -> Iterator[str]:
    """Every string in a JSON value, but for keys."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from strings(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from strings(item)
