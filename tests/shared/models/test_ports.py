"""Every operation names the type of its answer, and the answer is of that type.

Prompts of many requests: greedy ones share a call, sampled ones draw as if they were alone.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import TypeAdapter

from shared.contracts import calls as op
from shared.contracts.calls import (
    AttributionMethod,
    Example,
    ExampleRows,
    Pair,
    Prompt,
    Row,
    Sampling,
)
from shared.models.ports import PromptOfRequest, generate, perform
from tests.fakes import FakeModels
from tests.hlv.judges import StubJudge, bound

EXAMPLES = (Example(text="a b"), Example(text="c"))
WORDS = op.WordRows(
    example=EXAMPLES[0],
    words=(op.WordSpan(start=0, end=1), op.WordSpan(start=2, end=3)),
    rows=(op.WordRow(kept=(1,)), op.WordRow(masked=(0,), replaced=((1, "z"),))),
)
ASKED: list[tuple[str, Any]] = [
    ("fake", op.Describe()),
    ("alike", op.Describe()),
    ("fake", op.Tokenize(examples=EXAMPLES)),
    ("fake", op.JudgeExamples(examples=EXAMPLES)),
    ("fake", op.ReadLabels(examples=EXAMPLES)),
    ("lm", op.ReadLabels(examples=EXAMPLES)),
    ("fake", op.JudgeRows(asked=(ExampleRows(example=EXAMPLES[0], rows=(Row(kept=(0,)),)),))),
    ("fake", op.JudgeWords(asked=(WORDS,))),
    ("fake", op.Probabilities(texts=("a", "b"))),
    ("fake", op.Truncated(texts=("a",))),
    (
        "fake",
        op.Attribute(
            examples=EXAMPLES, targets=("yes", "no"), method=AttributionMethod(name="lime")
        ),
    ),
    ("lm", op.Generate(prompts=(Prompt(text="p"),))),
    ("lm", op.ScoreCompletions(prompts=(Prompt(text="p"),), completions=("c",))),
    ("alike", op.Compare(pairs=(Pair(a="a", b="b"),))),
]


@pytest.mark.parametrize(("name", "operation"), ASKED)
def test_an_answer_is_json_of_its_operations_type(name: str, operation: Any) -> None:
    answer = perform(operation, FakeModels(), name)
    again = json.loads(json.dumps(answer, allow_nan=False))
    assert operation.answer.validated(again) == operation.answer.validated(answer)


@pytest.mark.parametrize(("name", "operation"), ASKED)
def test_an_operation_survives_the_wire(name: str, operation: Any) -> None:
    wire: TypeAdapter[Any] = TypeAdapter(op.Operation)
    assert wire.validate_json(operation.model_dump_json()) == operation


GREEDY = Sampling(temperature=0)
DRAWN = Sampling(temperature=1, seed=3)


def asked(owner: int, text: str, sampling: Sampling) -> PromptOfRequest:
    return PromptOfRequest(owner, "stub", Prompt(text=text), sampling)


def test_greedy_prompts_share_a_call_and_equal_ones_an_answer() -> None:
    seeded = GREEDY.model_copy(update={"seed": 9})
    prompts = [asked(0, "a", GREEDY), asked(1, "b", seeded), asked(2, "a", GREEDY)]
    with bound() as judge:
        answers = generate(prompts)
    assert judge.generated == [["a", "b"]]
    assert answers[0] == answers[2]


def test_sampled_prompts_draw_by_their_place_in_their_own_request() -> None:
    def tells(prompt: str, seed: int, place: int) -> str:
        return f"{prompt} {seed} {place}"

    mixed = [
        asked(0, "a", DRAWN),
        asked(1, "b", DRAWN),
        asked(0, "c", DRAWN),
        asked(1, "d", GREEDY),
    ]
    with bound(StubJudge(answer=tells)) as judge:
        assert [one.text for one in generate(mixed)] == ["a 3 0", "b 3 0", "c 3 1", "d 0 0"]
    assert judge.generated == [["a", "b", "c"], ["d"]]


def test_other_seeds_and_temperatures_are_other_calls() -> None:
    others = [DRAWN, DRAWN.model_copy(update={"seed": 4}), Sampling(temperature=0.5, seed=3)]
    with bound() as judge:
        generate([asked(owner, "a", sampling) for owner, sampling in enumerate(others)])
    assert judge.generated == [["a"]] * 3


def test_nothing_asked_is_no_call() -> None:
    with bound() as judge:
        assert generate([]) == []
    assert judge.generated == []
