"""Every operation names the type of its answer, and the answer is of that type."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import TypeAdapter

from shared.models import calls as op
from shared.models.calls import AttributionMethod, Example, Pair, Prompt, Row, Rows
from shared.models.ports import perform
from tests.fakes import FakeModels

EXAMPLES = (Example(text="a b"), Example(text="c"))
ASKED: list[tuple[str, Any]] = [
    ("fake", op.Describe()),
    ("alike", op.Describe()),
    ("fake", op.Tokenize(examples=EXAMPLES)),
    ("fake", op.JudgeExamples(examples=EXAMPLES)),
    ("fake", op.JudgeRows(asked=(Rows(example=EXAMPLES[0], rows=(Row(kept=(0,)),)),))),
    ("fake", op.Probabilities(texts=("a", "b"))),
    ("fake", op.Truncated(texts=("a",))),
    (
        "fake",
        op.Attribute(
            examples=EXAMPLES, targets=("yes", "no"), method=AttributionMethod(name="lime")
        ),
    ),
    ("lm", op.Generate(prompts=(Prompt(text="p"),))),
    ("lm", op.Score(prompts=(Prompt(text="p"),), completions=("c",))),
    ("alike", op.Compare(pairs=(Pair(a="a", b="b"),))),
]


@pytest.mark.parametrize(("name", "operation"), ASKED)
def test_an_answer_is_json_of_its_operations_type(name: str, operation: Any) -> None:
    answer = perform(operation, FakeModels(), name)
    again = json.loads(json.dumps(answer, allow_nan=False))
    assert operation.answer.validate_python(again) == operation.answer.validate_python(answer)


@pytest.mark.parametrize(("name", "operation"), ASKED)
def test_an_operation_survives_the_wire(name: str, operation: Any) -> None:
    wire: TypeAdapter[Any] = TypeAdapter(op.Operation)
    assert wire.validate_json(operation.model_dump_json()) == operation
