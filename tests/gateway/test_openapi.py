"""The description that generators read: its names, its types, and what must not change."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import jsonschema_rs
import pytest
from fastapi import FastAPI
from pydantic import BaseModel

from services.gateway import event_views, openapi_schemas
from services.gateway.app import create_app
from services.gateway.openapi import METHODS, build_description, operations, responses_of
from services.gateway.openapi_schemas import REFERENCE, public, references
from services.haf.contract import HafOpenMessage
from services.registry import all_contracts, metrics, reported
from shared.ledger.webhooks import body_of
from shared.process.settings import Settings
from tests.gateway.results import STORED, recorded

OPERATIONS = Path(__file__).with_name("operations.txt")
TOLD = {"type", "anyOf", "oneOf", "$ref", "const", "enum", "allOf", "pattern"}
Json = dict[str, Any]


@pytest.fixture(scope="module")
def app() -> FastAPI:
    return create_app(Settings())


@pytest.fixture(scope="module")
def description(app: FastAPI) -> Json:
    return build_description(app)


def schemas_within(node: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Json]]:
    """Every schema of a component, with its path."""
    if isinstance(node, list):
        for number, one in enumerate(node):
            yield from schemas_within(one, (*path, str(number)))
    elif isinstance(node, dict):
        yield path, node
        for name, value in node.items():
            if name == "properties":
                for field, one in value.items():
                    yield from schemas_within(one, (*path, field))
            elif name not in {*openapi_schemas.VALUES, "discriminator"}:
                yield from schemas_within(value, (*path, name))


@pytest.fixture(scope="module")
def stored() -> Json:
    """The description with recorded examples."""
    found: Json = json.loads(STORED.read_text("utf-8"))
    return found


def media_types(operation: Json) -> list[Json]:
    """Those of its request and of its answers, with schemas and examples."""
    bodies = (operation.get("requestBody", {}), *operation["responses"].values())
    return [media for body in bodies for media in body.get("content", {}).values()]


def test_what_is_stored_is_what_is_served_with_examples(
    client: httpx.Client, description: Json, stored: Json
) -> None:
    assert client.get("/openapi.json").json() == description
    bare = copy.deepcopy(stored)
    for _, operation in operations(bare):
        for media in media_types(operation):
            media.pop("example", None)
    assert bare == description, "run `make openapi`"


def test_operations_are_stable(description: Json) -> None:
    """One that is taken away or renamed breaks every client; a new one is added to the file."""
    named = sorted(operation["operationId"] for _, operation in operations(description))
    assert named == OPERATIONS.read_text("utf-8").split()
    assert len(set(named)) == len(named)
    assert all(re.fullmatch(r"[a-z]+(_[a-z0-9]+)+", name) for name in named)


def test_an_operation_says_what_it_does_needs_and_refuses(description: Json) -> None:
    tags = {tag["name"] for tag in description["tags"]}
    assert description["security"] == [{"key": []}]
    for path, operation in operations(description):
        assert set(operation["tags"]) <= tags
        assert 0 < len(operation["summary"]) <= 60, operation["summary"]
        assert operation["description"]
        assert any(status.startswith("4") for status in operation["responses"])
        if path.startswith("/v1"):
            assert operation["x-scopes"], path
            assert "security" not in operation
            assert {"401", "429", "503"} <= set(operation["responses"]), path
        else:
            assert operation["security"] == []
        for status, response in responses_of(description, operation):
            assert "x-request-id" in response["headers"]
            if status >= "400":
                schema = response["content"]["application/problem+json"]["schema"]
                assert schema == {"$ref": f"{REFERENCE}Problem"}, (path, status)


def test_names_are_public_and_every_title_is_one(description: Json) -> None:
    """An inner title is of a part that is described where it is used: generators name it so."""
    titles: list[str] = []
    for name, component in description["components"]["schemas"].items():
        assert re.fullmatch(r"[A-Z][A-Za-z0-9]*", name), name
        titles += [one["title"] for _, one in schemas_within(component) if "title" in one]
    assert all(re.fullmatch(r"[A-Z][A-Za-z0-9]*", title) for title in titles)
    assert len(titles) == len({*titles} - description["components"]["schemas"].keys())


def test_every_reference_resolves_and_every_component_is_used(description: Json) -> None:
    assert set(references(description)) == set(description["components"]["schemas"])


def test_requests_are_closed_and_answers_are_open(description: Json) -> None:
    schemas = description["components"]["schemas"]
    asked = reached(schemas, (one.get("requestBody", {}) for _, one in operations(description)))
    answered = reached(schemas, (one["responses"] for _, one in operations(description)))
    as_servers_send_them = {message.__name__ for message in subclasses(HafOpenMessage)}
    for name in asked:
        for path, one in schemas_within(schemas[name]):
            is_closed = one.get("additionalProperties") is False or "properties" not in one
            assert is_closed or one.get("title") in as_servers_send_them, (name, path)
    for name in answered - asked:
        for path, one in schemas_within(schemas[name]):
            is_shared = one.get("title", name) != name  # with requests, and described here
            assert is_shared or one.get("additionalProperties") is not False, (name, path)


def reached(schemas: Json, nodes: Iterator[Any]) -> set[str]:
    """The components that are described there, and those within them."""
    found: set[str] = set()
    waiting = [name for node in nodes for name in references(node)]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += references(schemas[name])
    return found


def test_nothing_is_of_any_type(description: Json) -> None:
    """But for the parameters in force, which differ from metric to metric."""
    for name, component in description["components"]["schemas"].items():
        for path, one in schemas_within(component):
            if path[-1:] in {(), ("propertyNames",)} or (name, *path) == (
                "Provenance",
                "parameters",
            ):
                continue
            assert TOLD & set(one), (name, path)
            if one.get("type") == "object":
                assert {"properties", "additionalProperties"} & set(one), (name, path)
            if one.get("type") == "array":
                assert "items" in one, (name, path)


def test_a_job_has_the_result_of_any_metric(description: Json) -> None:
    schemas = description["components"]["schemas"]
    assert set(schemas["Job"]["properties"]["metric"]["enum"]) == set(all_contracts())
    assert set(schemas["BatchReport"]["properties"]["metric"]["enum"]) == set(reported())
    result = schemas["Job"]["properties"]["result"]["anyOf"]
    for metric in metrics():
        name = f"{metric.capitalize()}Result"
        assert {"$ref": f"{REFERENCE}{name}"} in result
        shared, own = schemas[name]["allOf"]
        assert shared == {"$ref": f"{REFERENCE}MetricResult"}
        assert own["properties"]["metric"]["const"] == metric
        assert "metric" in own["required"]
    asked = description["paths"]["/v1/scores/{metric}"]["post"]["requestBody"]["content"]
    kinds = asked["application/json"]["schema"]["anyOf"]
    assert {"$ref": f"{REFERENCE}IceRequest"} in kinds
    assert len(kinds) == len(metrics())


@pytest.mark.parametrize("metric", sorted(metrics()))
def test_a_score_has_a_verdict_and_its_messages_the_metric_s_name(
    description: Json, metric: str
) -> None:
    schemas = description["components"]["schemas"]
    contract = metrics()[metric]
    assert public(contract.report.__name__) in schemas
    assert {"verdict", "reason"} <= set(schemas["MetricResult"]["required"])
    module = f"services.{metric}."
    own = {
        name
        for message in subclasses(BaseModel)
        if message.__module__.startswith(module) and (name := message.__name__) in schemas
    }
    assert own
    assert {name for name in own if not name.startswith(metric.capitalize())} == set()


def subclasses(of: type[BaseModel]) -> Iterator[type[BaseModel]]:
    for one in of.__subclasses__():
        yield one
        yield from subclasses(one)


def test_every_event_that_is_sent_is_described(description: Json) -> None:
    assert set(description["webhooks"]) == set(event_views.WEBHOOKS)
    data: Json = {
        "job": {"id": "job_1", "object": "job", "metric": "ice", "status": "failed",
                "batch_id": None, "score": None, "error_type": "about:blank"},
        "batch": {"id": "batch_1", "object": "batch", "status": "completed",
                  "request_counts": {"total": 1, "completed": 1, "failed": 0}},
        "endpoint": {"id": "we_1", "object": "webhook_endpoint"},
        "judgement": {"id": "jdg_1", "object": "judgement", "job_id": "job_1", "metric": "ice",
                      "verdict": "agree", "about": "score", "reviewer": "ana", "verified": True},
    }  # fmt: skip
    for event in event_views.WEBHOOKS:
        said = description["webhooks"][event]["post"]["requestBody"]["content"]["application/json"]
        body = json.loads(body_of(event, data[event.partition(".")[0]]))  # type: ignore[arg-type]
        whole = {**said["schema"], "components": description["components"]}
        jsonschema_rs.validator_for(whole).validate(body)
        jsonschema_rs.validator_for(whole).validate(said["example"])
        assert said["example"]["type"] == event


def test_a_request_that_leaves_out_what_tells_it_apart_is_refused(description: Json) -> None:
    schemas = description["components"]["schemas"]
    operation = schemas["InferenceRequest"]["properties"]["ask"]
    for reference in operation["discriminator"]["mapping"].values():
        assert "operation" in schemas[reference.removeprefix(REFERENCE)]["required"]


def test_every_operation_has_examples_that_validate(stored: Json) -> None:
    whole = {"components": stored["components"]}
    missing = set()
    for _, operation in operations(stored):
        if not any("example" in media for media in media_types({**operation, "requestBody": {}})):
            missing.add(operation["operationId"])
        for media in media_types(operation):
            examples = [one["value"] for one in media.get("examples", {}).values()]
            examples += [media["example"]] if "example" in media else []
            for example in examples if "schema" in media else ():
                jsonschema_rs.validator_for({**media["schema"], **whole}).validate(example)
    assert missing == {"delete_webhook_endpoint"}  # no body


@pytest.mark.parametrize("operation_id", ["get_batch_events", "get_job_events"])
def test_a_stream_is_an_array_of_its_events(description: Json, operation_id: str) -> None:
    told = (one for _, one in operations(description) if one["operationId"] == operation_id)
    schema = next(told)["responses"]["200"]["content"]["text/event-stream"]["schema"]
    whole = {"components": description["components"]}
    events = list(events_of(recorded(operation_id)))
    assert events[-1] == {"event": "end", "data": "{}"}
    jsonschema_rs.validator_for({**schema["contentSchema"], **whole}).validate(events)
    one = schema["contentSchema"]["items"]["$ref"].removeprefix(REFERENCE)
    data = description["components"]["schemas"][one]["properties"]["data"]["contentSchema"]
    for event in events[:-1]:
        jsonschema_rs.validator_for({**data, **whole}).validate(json.loads(event["data"]))


def events_of(stream: str) -> Iterator[Json]:
    """HTML Standard, section 9.2.6, as far as we use it."""
    for block in stream.strip().split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.splitlines())
        if "data" in fields:
            yield fields


def test_methods_are_those_of_the_description(description: Json) -> None:
    for methods in description["paths"].values():
        assert set(methods) <= set(METHODS)
