"""Whatever stands in a field of a body, of any route, is refused in words of JSON: no detail has
pydantic's prefixes, or a name of Python's or of a class."""

from __future__ import annotations

import ast
import importlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest
from pydantic_core._pydantic_core import list_all_errors

from services.explanations.explained_requests import as_checked
from services.gateway import routes
from services.gateway.http_requests import decode, parse_body
from services.gateway.refusals import InvalidBody
from services.registry import all_contracts, metrics
from shared.contracts.errors import BadInput
from shared.contracts.messages import JobRequest, Message
from shared.contracts.problems import problem
from shared.contracts.validation_messages import SAID

WRONG: tuple[Any, ...] = (False, True, 7, -1.5, "x", [None], {"x": 1}, None, [], "")
FOREIGN = re.compile(
    r"Input should|Value error|Assertion failed|String should|after validation|pydantic|instance"
    r"|unable to parse|valid (?:string|integer|number|boolean|array|dictionary|list|tuple)"
    r"|\b(?:dict|tuple|frozenset|NoneType|int|str|float|bool)\b"
    r"|(?<!['\w])(?:True|False|None)(?!['\w])|\b[A-Z]\w+(?:Request|Message|Result|Error)\b"
)


def bodies() -> dict[str, tuple[type[Message], dict[str, Any]]]:
    """Name → what a route reads, and a body to spoil: of every service, and of every other route,
    found by what the routes hand to `parse`."""
    found: dict[str, tuple[type[Message], dict[str, Any]]] = {
        name: (one.request, dict(next(iter(one.examples.values()), {})))
        for name, one in all_contracts().items()
    }
    for file in sorted(Path(routes.__path__[0]).glob("*.py")):
        module = importlib.import_module(f"{routes.__name__}.{file.stem}")
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            called = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
            if not (called and node.func.attr == "parse" and len(node.args) > 1):  # type: ignore[attr-defined]
                continue
            read = node.args[1]  # type: ignore[attr-defined]
            if isinstance(read, ast.Name) and isinstance(kind := getattr(module, read.id, 0), type):
                found[kind.__name__] = (kind, {})
    return found


def spoiled(kind: type[Message], body: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The body with one wrong value: in each field, and in each field of what may stand there."""
    for name, field in kind.model_fields.items():
        for wrong in WRONG:
            yield {**body, name: wrong}
            for inner in inside(field.annotation):
                for part in inner.model_fields:
                    yield {**body, name: {part: wrong}}
                    yield {**body, name: [{part: wrong}]}


def inside(annotation: Any) -> Iterator[type[Message]]:
    """The messages that an annotation has in it."""
    if isinstance(annotation, type) and issubclass(annotation, Message):
        yield annotation
    for one in get_args(annotation):
        yield from inside(one)


def details(error: BadInput) -> str:
    found = error.problem if isinstance(error, InvalidBody) else problem(error)
    return "\n".join([found["detail"], *(one["detail"] for one in found.get("errors", ()))])


def refusal(name: str, kind: type[Message], body: dict[str, Any]) -> str:
    """Empty where it is taken."""
    try:
        asked = parse_body(json.dumps(body).encode(), kind)
        if isinstance(asked, JobRequest) and name in metrics():
            with as_checked(metrics()[name], asked):
                pass
    except BadInput as error:
        return details(error)
    return ""


def test_every_kind_is_one_of_pydantics_and_has_what_it_is_said_with() -> None:
    known = {str(error["type"]): error["example_context"] or {} for error in list_all_errors()}
    for kind, said in SAID.items():
        assert said.format(**known[kind])


@pytest.mark.parametrize("name", sorted(bodies()))
def test_no_detail_speaks_python(name: str) -> None:
    kind, body = bodies()[name]
    said = {refusal(name, kind, one) for one in spoiled(kind, body)}
    assert len(said) > 1
    assert not [one for one in said if FOREIGN.search(one)]


@pytest.mark.parametrize(
    ("sent", "told"),
    [
        (b'{"text":\n "a" "b"}', "is not valid JSON; the error is at line 2, column 6"),
        (b'{"tau": %s}' % (b"9" * 5_000), "an integer has over 4,300 digits"),
        (b"[" * 100_000, "it is nested too deeply"),
        (b'{"tau": NaN}', "NaN is not JSON"),
        (b'{"a": 1, "a": 2}', "the key 'a' more than once"),
        (b"\xff", "not UTF-8 at byte 0"),
    ],
)
def test_what_is_no_json_is_refused_in_words_of_ours(sent: bytes, told: str) -> None:
    with pytest.raises(InvalidBody) as refusal:
        decode(sent)
    assert told in refusal.value.detail
