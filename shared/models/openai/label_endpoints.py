"""Endpoints that tell the probability of given next tokens: vLLM's and SGLang's.

Asked without the softmax over the labels, so that what the model gives to anything else is known:
vLLM's `/generative_scoring` answers the first label only, one request a label; SGLang's `/v1/score`
answers all. A server counts as having one where what it says raw, normalised over two labels, is
what it says with the softmax. Source: vLLM docs 0.22, Generative Scoring; SGLang docs, native API.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from pydantic import BaseModel, Field, ValidationError

from shared.errors import ScoringError, Unavailable
from shared.models.server_connection import Connection, Json

Ids = tuple[int, ...]
SAME = 0.01  # of a probability; bfloat16 and batches move it by less


class LabelEndpoint(Protocol):
    """How the probabilities of labels' tokens are asked."""

    path: str

    def bodies(self, prompt: Ids, labels: Ids, *, softmax: bool = False) -> list[Json]:
        """The requests for one prompt, of two tokens at least."""

    def shares(self, answers: Sequence[Any]) -> list[float]:
        """(L,) probabilities of each label's token. Raises ScoringError for another shape."""


class _Item(BaseModel):
    score: float = Field(ge=0, le=1.0001)


class _Items(BaseModel):
    data: list[_Item] = Field(min_length=1)


class _Scores(BaseModel):
    scores: list[list[float]] = Field(min_length=1)


class GenerativeScoring:
    """vLLM's: the probability of the first label."""

    path = "/generative_scoring"

    def bodies(self, prompt: Ids, labels: Ids, *, softmax: bool = False) -> list[Json]:
        """One request a label; with the softmax one that tells the first among all."""
        asked = [labels] if softmax else [(label,) for label in labels]
        return [{**_split(prompt), "label_token_ids": [*some], "apply_softmax": softmax}
                for some in asked]  # fmt: skip

    def shares(self, answers: Sequence[Any]) -> list[float]:
        return [_read(_Items, answer).data[0].score for answer in answers]


class ScoreEndpoint:
    """SGLang's: the probabilities of all labels."""

    path = "/v1/score"

    def bodies(self, prompt: Ids, labels: Ids, *, softmax: bool = False) -> list[Json]:
        """One request."""
        asked = {"label_token_ids": [*labels], "apply_softmax": softmax, "item_first": False}
        return [{**_split(prompt), **asked}]

    def shares(self, answers: Sequence[Any]) -> list[float]:
        return [share for answer in answers for share in _read(_Scores, answer).scores[0]]


def find_label_endpoint(
    connection: Connection, served: str, prompt: Ids, labels: Ids
) -> LabelEndpoint | None:
    """The first that this server has; prompt and two labels to try it with."""
    ways: tuple[LabelEndpoint, ...] = (GenerativeScoring(), ScoreEndpoint())
    return next((way for way in ways if _works(connection, served, way, (prompt, labels))), None)


def ask_label_endpoint(
    connection: Connection, served: str, way: LabelEndpoint, asked: Sequence[tuple[Ids, Ids]]
) -> list[list[float]]:
    """For each (prompt, labels) (L,) probabilities."""
    bodies = [way.bodies(prompt, labels) for prompt, labels in asked]
    flat = [{"model": served, **body} for some in bodies for body in some]
    answers = iter(connection.post_beside(way.path, flat))
    return [way.shares([next(answers) for _ in some]) for some in bodies]


def _works(connection: Connection, served: str, way: LabelEndpoint, probe: tuple[Ids, Ids]) -> bool:
    try:
        [raw] = ask_label_endpoint(connection, served, way, [probe])
        bodies = [{"model": served, **body} for body in way.bodies(*probe, softmax=True)]
        among = way.shares(connection.post_beside(way.path, bodies))[0]
    except Unavailable:
        raise
    except ScoringError:
        return False
    total = sum(raw)
    return len(raw) == len(probe[1]) and 0 < total < 1 + SAME and abs(raw[0] / total - among) < SAME


def _split(prompt: Ids) -> Json:
    """Both endpoints join a query and an item; here they are the prompt's beginning and end."""
    return {"query": [*prompt[:-1]], "items": [[prompt[-1]]]}


def _read(shape: type[Any], answer: Any) -> Any:
    try:
        return shape.model_validate(answer)
    except ValidationError as error:
        raise ScoringError("the label endpoint answers something else") from error
