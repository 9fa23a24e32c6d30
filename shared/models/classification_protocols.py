"""What classification servers are asked and answer: vLLM, SGLang, TEI, infinity, KServe v2.

Raw logits wherever a server gives them, so that the activation is ours: TEI softmaxes every head of
more than one output, multi-label ones too. Where a server activates, its values are turned back to
logits: log p of a softmax, log p / (1 - p) of sigmoids. Whether it does is found by asking the same
text both ways. Source: specs "models" §4.4; vLLM docs, classify; SGLang docs, classify_models;
text-embeddings-inference `router/src/http/types.rs`; infinity `fastapi_schemas/pymodels.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, Field, ValidationError

from shared.errors import BadInput, ScoringError
from shared.models.entry import KserveTensors
from shared.models.server_connection import Connection, Json

Floats = NDArray[np.float64]
Text = str | tuple[str, str]  # a pair where the model reads pairs


@dataclass(frozen=True)
class ServedOutputs:
    """names: (K,) of the outputs, where the answer has them; values: (N, K) in their order."""

    names: tuple[str, ...] | None
    values: Floats


class ClassificationProtocol(Protocol):
    """One kind of server. Raises ScoringError for an answer of another shape."""

    @property
    def reads_pairs(self) -> bool:
        """Whether it reads two texts as a pair."""

    @property
    def has_raw(self) -> bool:
        """Whether it knows a way to say logits at all."""

    def ask(
        self, connection: Connection, served: str, texts: Sequence[Text], *, raw: bool
    ) -> ServedOutputs:
        """The outputs for each text."""


class _Probs(BaseModel):
    probs: list[float] = Field(min_length=1)


class _Data(BaseModel):
    data: list[_Probs]


class _Named(BaseModel):
    label: str
    score: float


class _NamedRows(BaseModel):
    rows: list[list[_Named]]


class _Output(BaseModel):
    name: str
    data: list[float]


class _Outputs(BaseModel):
    outputs: list[_Output]


@dataclass(frozen=True)
class VllmClassify:
    """`/classify` of vLLM, `/v1/classify` of SGLang: probabilities in the order of `id2label`."""

    path: str = "/classify"
    has_raw: bool = True
    reads_pairs: bool = False

    def ask(
        self, connection: Connection, served: str, texts: Sequence[Text], *, raw: bool
    ) -> ServedOutputs:
        body: Json = {"model": served, "input": list(texts)}
        if self.has_raw:
            body |= {"use_activation": not raw, "activation": not raw}  # before 0.12: the second
        [answer] = connection.post_beside(self.path, [body])
        found = _read(_Data, answer).data
        return ServedOutputs(None, _rows([one.probs for one in found], len(texts)))


@dataclass(frozen=True)
class TeiPredict:
    """`/predict` of text-embeddings-inference: named, the likeliest first."""

    has_raw: bool = True
    reads_pairs: bool = True

    def ask(
        self, connection: Connection, served: str, texts: Sequence[Text], *, raw: bool
    ) -> ServedOutputs:
        inputs = [[text] if isinstance(text, str) else list(text) for text in texts]
        body = {"inputs": inputs, "raw_scores": raw, "truncate": False}
        [answer] = connection.post_beside("/predict", [body])
        return _named(_read(_NamedRows, {"rows": answer}).rows, len(texts))


@dataclass(frozen=True)
class InfinityClassify:
    """`/classify` of infinity: named, the likeliest first; `raw_scores` may be ignored."""

    has_raw: bool = True
    reads_pairs: bool = False

    def ask(
        self, connection: Connection, served: str, texts: Sequence[Text], *, raw: bool
    ) -> ServedOutputs:
        body = {"model": served, "input": list(texts), "raw_scores": raw}
        [answer] = connection.post_beside("/classify", [body])
        rows = answer.get("data") if isinstance(answer, dict) else None
        return _named(_read(_NamedRows, {"rows": rows}).rows, len(texts))


@dataclass(frozen=True)
class KserveInfer:
    """`/v2/models/NAME/infer`: texts in, logits out, by the tensors' names."""

    tensors: KserveTensors
    has_raw: bool = True
    reads_pairs: bool = False

    def ask(
        self, connection: Connection, served: str, texts: Sequence[Text], *, raw: bool
    ) -> ServedOutputs:
        tensor = {"shape": [len(texts), 1], "datatype": "BYTES", "data": list(texts)}
        body = {"inputs": [{"name": self.tensors.input, **tensor}]}
        [answer] = connection.post_beside(f"/v2/models/{served}/infer", [body])
        for output in _read(_Outputs, answer).outputs:
            if output.name == self.tensors.output and len(output.data) % len(texts) == 0:
                return ServedOutputs(None, np.array(output.data).reshape(len(texts), -1))
        raise ScoringError(f"the server's answer has no tensor {self.tensors.output!r} of logits")


BY_NAME: Mapping[str, ClassificationProtocol] = {
    "vllm": VllmClassify(),
    "sglang": VllmClassify("/v1/classify", has_raw=False),
    "tei": TeiPredict(),
    "infinity": InfinityClassify(),
}


def find_protocol(connection: Connection) -> str:
    """The server's kind, by what it says of itself. Raises BadInput where it says nothing."""
    for path in ("/info", "/models", "/v1/models"):
        try:
            said = connection.get_beside(path)
        except BadInput:
            continue
        if isinstance(said, dict) and "classifier" in (said.get("model_type") or {}):
            return "tei"
        listed = (said.get("data") if isinstance(said, dict) else None) or []
        owners = {str(one.get("owned_by")) for one in listed if isinstance(one, dict)}
        if known := sorted(owners & BY_NAME.keys()):
            return known[0]
    raise BadInput("the server does not say of which kind it is: set `protocol`", pointer="/model")


def names_of_tei(connection: Connection) -> tuple[str, ...] | None:
    """Names of its outputs, in order; None where it does not say."""
    try:
        labels = connection.get_beside("/info")["model_type"]["classifier"]["id2label"]
        return tuple(str(labels[str(place)]) for place in range(len(labels)))
    except (BadInput, KeyError, TypeError):
        return None


def _named(rows: Sequence[Sequence[_Named]], count: int) -> ServedOutputs:
    names = tuple(sorted({one.label for row in rows for one in row}))
    by_name = [{one.label: one.score for one in row} for row in rows]
    if any(len(row) != len(names) for row in by_name):
        raise ScoringError("the server does not answer all outputs")
    return ServedOutputs(names, _rows([[row[name] for name in names] for row in by_name], count))


def _rows(values: Sequence[Sequence[float]], count: int) -> Floats:
    if len(values) != count or len({len(row) for row in values}) > 1:
        raise ScoringError("the server answers another number of outputs than it was asked for")
    return np.array(values, dtype=np.float64)


def _read(shape: type[Any], answer: Any) -> Any:
    try:
        return shape.model_validate(answer)
    except ValidationError as error:
        place = ".".join(str(step) for step in error.errors()[0]["loc"])
        raise ScoringError(f"the classification server answers something else: {place}") from error
