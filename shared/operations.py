"""The operations of the model ports as messages: what a call over the queue, or a job, may ask.

Every operation names its answer's type, so that both ends of the wire agree. Numbers are JSON
floats: Python writes them so that they read back bit for bit.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, TypeAdapter, model_validator

from shared.calls import (
    AttributionMethod,
    Attributions,
    Completion,
    Example,
    Label,
    Pair,
    Prompt,
    Rows,
    Sampling,
    Text,
    Tokens,
)
from shared.contracts import Message, ModelKind, ModelUse

MOST = 10_000  # of anything in one call

Vector = list[float]
Matrix = list[Vector]
Examples = Annotated[tuple[Example, ...], Field(min_length=1, max_length=MOST)]
Texts = Annotated[tuple[Text, ...], Field(max_length=MOST)]
Prompts = Annotated[tuple[Prompt, ...], Field(min_length=1, max_length=MOST)]


class Description(Message):
    """What a loaded model is."""

    kind: ModelKind
    use: ModelUse
    labels: tuple[str, ...] = Field(description="of a classifier; else empty")
    languages: tuple[str, ...]


class Describe(Message):
    """Load the model, if need be, and say what it is."""

    answer: ClassVar[Any] = TypeAdapter(Description)
    operation: Literal["describe"] = "describe"


class Tokenize(Message):
    """How the model reads examples."""

    answer: ClassVar[Any] = TypeAdapter(tuple[Tokens, ...])
    operation: Literal["tokens"] = "tokens"
    examples: Examples


class Judge(Message):
    """Label probabilities of examples: (N, L)."""

    answer: ClassVar[Any] = TypeAdapter(Matrix)
    operation: Literal["judge"] = "judge"
    examples: Examples


class JudgeRows(Message):
    """Label probabilities of variations of examples: (R, L) for each example."""

    answer: ClassVar[Any] = TypeAdapter(list[Matrix])
    operation: Literal["judge_rows"] = "judge_rows"
    asked: Annotated[tuple[Rows, ...], Field(min_length=1, max_length=MOST)]


class Probabilities(Message):
    """A classifier's label probabilities of plain texts: (N, L)."""

    answer: ClassVar[Any] = TypeAdapter(Matrix)
    operation: Literal["probabilities"] = "probabilities"
    texts: Texts


class Truncated(Message):
    """Which texts are longer than the classifier reads: (N,)."""

    answer: ClassVar[Any] = TypeAdapter(tuple[bool, ...])
    operation: Literal["truncated"] = "truncated"
    texts: Texts


class Attribute(Message):
    """Importance of the tokens of examples for a label each."""

    answer: ClassVar[Any] = TypeAdapter(tuple[Attributions, ...])
    operation: Literal["attributions"] = "attributions"
    examples: Examples
    targets: Annotated[tuple[Label, ...], Field(min_length=1, max_length=MOST)]
    method: AttributionMethod

    @model_validator(mode="after")
    def _one_target_each(self) -> Self:
        if len(self.targets) != len(self.examples):
            raise ValueError("there must be one target for each example")
        return self


class Generate(Message):
    """A completion of each prompt."""

    answer: ClassVar[Any] = TypeAdapter(tuple[Completion, ...])
    operation: Literal["generate"] = "generate"
    prompts: Prompts
    sampling: Sampling = Sampling()


class Score(Message):
    """Token log-probabilities of a given completion after each prompt."""

    answer: ClassVar[Any] = TypeAdapter(tuple[Completion, ...])
    operation: Literal["score"] = "score"
    prompts: Prompts
    completions: Annotated[tuple[Text, ...], Field(min_length=1, max_length=MOST)]

    @model_validator(mode="after")
    def _one_completion_each(self) -> Self:
        if len(self.completions) != len(self.prompts):
            raise ValueError("there must be one completion for each prompt")
        return self


class Compare(Message):
    """Similarities of pairs, (N,) in [0, 1]."""

    answer: ClassVar[Any] = TypeAdapter(Vector)
    operation: Literal["similarities"] = "similarities"
    pairs: Annotated[tuple[Pair, ...], Field(min_length=1, max_length=MOST)]


InferenceOperation = Annotated[
    Describe
    | Tokenize
    | Judge
    | JudgeRows
    | Probabilities
    | Truncated
    | Attribute
    | Generate
    | Score,
    Field(discriminator="operation"),
]
SimilarityOperation = Annotated[Describe | Compare, Field(discriminator="operation")]
Operation = Annotated[
    Describe
    | Tokenize
    | Judge
    | JudgeRows
    | Probabilities
    | Truncated
    | Attribute
    | Generate
    | Score
    | Compare,
    Field(discriminator="operation"),
]
