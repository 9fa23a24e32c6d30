"""Requests and results of the inference service: one operation on one model, and its cost. Imports
only pydantic, since the gateway imports this module. Generated text does not count as work, since a
model may stop early. Input that is too long is refused separately."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from types import GenericAlias
from typing import Any, Literal, Union, get_args

from pydantic import Field, JsonValue, create_model

from shared.contracts.calls import (
    MOST,
    AttributionMethod,
    Example,
    InferenceOperation,
    Prompt,
)
from shared.contracts.messages import JobRequest, Message, ModelName, ModelUse
from shared.contracts.request_cost import Size, Work, words_of
from shared.contracts.service import ServiceContract

SECONDS_A_ROW = 1e-5  # to be told apart from the others, whatever the model takes for it


class InferenceRequest(JobRequest):
    """A call of one model operation, and its arguments."""

    model: ModelName = Field(description="a configured classifier or causal model")
    ask: InferenceOperation = Field(
        description="`judge`: label probabilities of examples; `judge_rows`: of variations of an "
        "example; `judge_words`: of variations by words, with any judge; `judgements`: with mass "
        "and uncertainty; `tokens`; `attributions`; `generate`; `score`: token log-probabilities; "
        "`describe`; for plain texts also `probabilities` and `truncated`"
    )


class InferenceResult(Message):
    """The answer of the model."""

    operation: str
    answer: JsonValue = Field(
        description="results in the form of the operation, in the order of the request"
    )
    labels: tuple[str, ...] = Field(
        description="labels of the columns of a classifier's result; otherwise empty"
    )
    model: ModelUse
    service_version: str


def response_type() -> Any:
    """Return the result type for the API description. The type of `answer` covers all
    operations."""
    union, _ = get_args(InferenceOperation)
    operations = get_args(union)
    names = tuple(get_args(one.model_fields["operation"].annotation)[0] for one in operations)
    hints = [one.answer.hint for one in operations]
    rows = tuple(get_args(hint)[0] for hint in hints if get_args(hint))
    wholes = tuple(hint for hint in hints if not get_args(hint))
    answer: Any = Union[(*wholes, GenericAlias(list, Union[rows]))]  # noqa: UP007
    said = InferenceResult.model_fields["answer"].description
    fields: Any = {"operation": (Literal[names], ...), "answer": (answer, Field(description=said))}
    name, doc = InferenceResult.__name__, InferenceResult.__doc__
    return create_model(name, __base__=InferenceResult, __doc__=doc, **fields)


_JUDGE: dict[str, Any] = {
    "model": "embedded-hate",
    "ask": {
        "operation": "judge",
        "examples": [{"text": "We lost the match again"}, {"text": "What a lovely old town"}],
    },
}


def cost(request: InferenceRequest, reads: int) -> Sequence[Work]:
    """Return the estimated work of a call to a model. Generated text does not count."""
    count = COUNTS.get(request.ask.operation)
    return () if count is None else count(request.ask, reads)


def needs(request: InferenceRequest) -> tuple[str, ...]:
    ask = request.ask
    if ask.operation == "attributions" and ask.method.name == "lime":
        return ("token_rows",)
    ability = NEEDED.get(ask.operation)
    return () if ability is None else (ability,)


CONTRACT = ServiceContract(
    name="inference",
    summary="Label probabilities, attributions, log-probabilities and generation of one model",
    request=InferenceRequest,
    report=InferenceResult,
    answers=response_type,
    model_kinds=("classifier", "causal"),
    default_model=None,
    cost=cost,
    needs=needs,
    examples={"label probabilities": _JUDGE},
)


def _examples(request: Any, reads: int) -> Sequence[Work]:
    return _work(
        "examples", "/ask/examples", [_tokens(example, reads) for example in request.examples]
    )


def _rows(request: Any, reads: int) -> Sequence[Work]:
    """Return the work for rows of tokens. A row costs as many tokens as it keeps, and at least a
    minimum."""
    tokens: list[int] = []
    for rows in request.asked:
        whole = _tokens(rows.example, reads)
        tokens += [whole if row.kept is None else max(1, len(row.kept)) for row in rows.rows]
    return _of_rows(tokens)


def _word_rows(request: Any, reads: int) -> Sequence[Work]:
    """Return the work of judging variations of a text by words. A word counts as at least one
    token, up to the model's limit."""
    tokens: list[int] = []
    for rows in request.asked:
        most = min(reads, max(1, len(rows.words)))
        tokens += [
            most if row.kept is None else min(most, max(1, len(row.kept))) for row in rows.rows
        ]
    return _of_rows(tokens)


def _of_rows(tokens: Sequence[int]) -> Sequence[Work]:
    """Return the work for rows of these lengths in tokens. The number of rows has a separate limit,
    because a text without spaces counts as a single word."""
    if len(tokens) <= MOST:
        return _work("rows", "/ask/asked", tokens)
    rows = Size("`rows`", len(tokens), "/ask/asked")
    return (Work((rows,), unit="rows of one request", seconds_each=SECONDS_A_ROW, most=MOST),)


def _attributions(request: Any, reads: int) -> Sequence[Work]:
    method: AttributionMethod = request.method
    name, passes = {
        "lime": ("samples", method.samples),
        "integrated_gradients": ("steps", method.steps),
    }.get(method.name, ("passes", 1))
    tokens = sum(_tokens(example, reads) for example in request.examples)
    sizes = (
        Size("`examples`", len(request.examples), "/ask/examples"),
        Size(f"`{name}`", passes, None if name == "passes" else f"/ask/method/{name}", least=10),
        Size("tokens of an example", tokens / len(request.examples)),
    )
    return (Work(sizes),)


def _texts(request: Any, reads: int) -> Sequence[Work]:
    return _work("texts", "/ask/texts", [min(reads, words_of(text)) for text in request.texts])


def _prompts(request: Any, _reads: int) -> Sequence[Work]:
    completions = sum(map(words_of, getattr(request, "completions", ())))
    tokens = [_of_prompt(prompt) for prompt in request.prompts]
    return _work("prompts", "/ask/prompts", [*tokens[1:], tokens[0] + completions])


def _work(name: str, pointer: str, tokens: Sequence[int]) -> Sequence[Work]:
    if not tokens:
        return ()
    sizes = (
        Size(f"`{name}`", len(tokens), pointer),
        Size("tokens of each completion", sum(tokens) / len(tokens)),
    )
    return (Work(sizes),)


def _tokens(example: Example, reads: int) -> int:
    words = words_of(example.text) + words_of(example.text_pair or "")
    return max(1, min(reads, words))


def _of_prompt(prompt: Prompt) -> int:
    texts: Iterable[str] = (
        [prompt.text] if prompt.text is not None else [turn.content for turn in prompt.turns or ()]
    )
    return max(1, sum(map(words_of, texts)))


COUNTS: dict[str, Callable[[Any, int], Sequence[Work]]] = {
    "judge": _examples,
    "judgements": _examples,
    "judge_rows": _rows,
    "judge_words": _word_rows,
    "attributions": _attributions,
    "probabilities": _texts,
    "generate": _prompts,
    "score": _prompts,
}


NEEDED = {  # `describe` any model can
    "tokens": "token_rows",
    "judge": "judge",
    "judgements": "judge",
    "probabilities": "judge",
    "truncated": "truncated",
    "judge_rows": "token_rows",
    "judge_words": "word_rows",
    "attributions": "attributions",
    "generate": "generate",
    "score": "score",
}
