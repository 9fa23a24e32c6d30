"""Runs models behind a classification server, `source = "classify:URL"`, on texts and on variations
of texts in words.

Supports vLLM, SGLang, TEI, infinity and KServe v2. Raw logits are requested if the server has them.
They are mapped to labels with the entry's mapping and activation, as for models in this process.
TEI applies softmax to every head with several outputs, even multi-label ones. A server may apply an
activation, which is detected by requesting a text with and without it. Probabilities are then
converted back into logits: log p of a softmax, log p / (1 - p) of sigmoids. Values must fit the
mapping: rows of sum 1 for a softmax, each in [0, 1] for sigmoids. Texts that are too long are
rejected by the server and never cut.

Source: vLLM docs, classify; SGLang docs, classify_models; text-embeddings-inference
`router/src/http/types.rs`; infinity `fastapi_schemas/pymodels.py`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, Field, ValidationError

from shared.contracts.calls import Example
from shared.contracts.errors import BadInput, TextTooLong
from shared.contracts.judgement import TOO_LONG, Judgement, unread
from shared.contracts.labels import Head, LabelMapping, label_mapping, normalize_name
from shared.contracts.messages import ModelUse
from shared.contracts.validation_messages import dotted, first_fault
from shared.models.catalogue.catalogue import SERVER
from shared.models.catalogue.entry import EncoderTexts, KserveTensors, ModelEntry
from shared.models.label_readout import LabelReadout, of_head, read_labels
from shared.models.server_connection import AnswerUnread, Connection, Json, listed_models
from shared.models.server_records import ServerState
from shared.models.word_rows import ServerModel
from shared.queue.job_context import is_private

AT_ONCE = 32  # texts per request: TEI's default limit
PROBES = ("The weather in the old town was lovely today", "no", "We lost the match again!")
ROUNDING = 1e-3  # tolerance of a sum of probabilities in half precision


def get_classifier(entry: ModelEntry) -> ServedClassifier:
    """Return the model of a `classify:` entry, shared by all callers with its connections."""
    return _cached_classifier(entry.model_dump_json(exclude_unset=True))


@lru_cache(maxsize=64)
def _cached_classifier(entry: str) -> ServedClassifier:
    return ServedClassifier(ModelEntry.model_validate_json(entry))


class ServedClassifier(ServerModel):
    """A classifier behind a server. Raises Unavailable if the server is unreachable, and
    TextTooLong if it rejects a text for its length. Raises ModelCannot for values that it does not
    return, and BadInput if its outputs fit no mapping."""

    def __init__(self, entry: ModelEntry) -> None:
        super().__init__(entry)
        self.served = entry.served_name or entry.name
        self.connection = Connection(entry)
        self._findings = ServerState(
            entry.name, lambda: _ServedHead(self._entry, self.connection, self.served)
        )

    @property
    def head(self) -> _ServedHead:
        return self._findings.value

    @property
    def use(self) -> ModelUse:
        """The model's identity, for the provenance of a score. Only the server knows its weights'
        hash, device and dtype. Labels are known after the first request."""
        head = self._findings.known
        mapping = head.mapping if head else None
        return ModelUse(
            name=self._entry.name,
            revision=self.served,
            sha256=None,
            device=SERVER,
            dtype=SERVER,
            warnings=mapping.warnings if mapping else (),
            thresholds=mapping.thresholds if mapping else {},
        )

    @property
    def labels(self) -> tuple[str, ...]:
        return self.head.mapping.labels

    def labels_of(self, example: Example) -> tuple[str, ...]:
        return self.labels

    def probabilities(self, texts: Sequence[str]) -> Floats:
        """Return an array of shape (texts, labels) with probabilities in [0, 1]."""
        return self._read([Example(text=text) for text in texts]).probabilities

    def truncated(self, texts: Sequence[str]) -> list[bool]:
        """Return False for each text, because texts that are too long are rejected."""
        return [False] * len(texts)

    def judge(self, examples: Sequence[Example]) -> list[Floats]:
        """Return one probability per label for each example."""
        return list(self._read(examples).probabilities)

    def judgements(self, examples: Sequence[Example]) -> list[Judgement]:
        """Return the label probabilities of each example. A text that is too long is marked
        unread."""
        if not examples:
            return []
        try:
            readout = self._read(examples)
        except TextTooLong:
            if len(examples) == 1:
                return [unread(self.labels, "text-too-long", TOO_LONG, reading="head")]
            half = len(examples) // 2
            return [*self.judgements(examples[:half]), *self.judgements(examples[half:])]
        return of_head(readout.probabilities, readout.mass, self.labels)

    def _read(self, examples: Sequence[Example]) -> LabelReadout:
        def ask() -> LabelReadout:
            head = self.head
            texts = [self._text(example, head.protocol.reads_pairs) for example in examples]
            starts = range(0, len(texts), AT_ONCE)
            rows = [head.logits(texts[first : first + AT_ONCE]) for first in starts]
            logits = np.concatenate(rows) if rows else np.empty((0, len(head.mapping.outputs)))
            return read_labels(logits, head.mapping, self._entry.temperature or 1.0)

        return self._findings.run(ask)

    def _text(self, example: Example, reads_pairs: bool) -> Text:
        """Return the input built by the entry's `input`. Raises BadInput for input that the server
        cannot read."""
        if example.template is not None:
            raise BadInput(
                "a classifier takes no template; leave out `template`", pointer="/template"
            )
        if example.prompt is not None:
            raise BadInput("a classifier takes no prompt; leave out `prompt`", pointer="/prompt")
        sides = EncoderTexts(self._entry.input).of(example)
        if len(sides) == 1:
            return sides[0].text
        if not reads_pairs:
            raise BadInput(
                f"the server of {self._entry.name!r} does not read pairs of texts; "
                "leave out `text_pair`",
                pointer="/text_pair",
            )
        return sides[0].text, sides[1].text


class _ServedHead:
    def __init__(self, entry: ModelEntry, connection: Connection, served: str) -> None:
        self._connection, self._served, self._name = connection, served, entry.name
        kind = entry.protocol if entry.protocol != "auto" else find_protocol(connection)
        self.kind = kind
        self.protocol: ClassificationProtocol = (
            KserveInfer(tensors=entry.kserve) if entry.kserve else BY_NAME[kind]
        )
        raw = self._query(PROBES, raw=True)
        self.activates = not self.protocol.has_raw or (
            not entry.kserve and np.allclose(raw.values, self._query(PROBES, raw=False).values)
        )
        self._softmaxes = raw.values.shape[1] > 1 and _is_normalized(raw.values)
        self._names = raw.names
        if kind == "tei":
            self._names = names_of_tei(connection) or raw.names
        self.mapping = self._mapping(entry, raw)
        self._columns = _order(self.mapping, self._names, raw.names)

    def logits(self, texts: Sequence[Text]) -> Floats:
        """Return logits of shape (texts, outputs) in the mapping's order. Raises BadInput if the
        server's values do not fit the entry's activation."""
        values = self._query(texts, raw=True).values[:, self._columns]
        return self._to_logits(values) if self.activates else values

    def _query(self, texts: Sequence[Text], *, raw: bool) -> ServedOutputs:
        return self.protocol.predict(self._connection, self._served, texts, raw=raw)

    def _mapping(self, entry: ModelEntry, sample: ServedOutputs) -> LabelMapping:
        count = sample.values.shape[1]
        names = self._names if self._names is not None else entry.outputs
        if names is None:
            raise BadInput(
                f"the server of {entry.name!r} does not return names for its {count} outputs; set "
                "`outputs` in the model's entry",
                pointer="/model",
            )
        if len(names) != count:
            raise BadInput(
                f"the server of {entry.name!r} has {count} outputs, but `outputs` names "
                f"{len(names)}",
                pointer="/model",
            )
        try:
            # prefer the entry's spelling of equal names
            outputs = entry.outputs or ()
            is_same = set(map(normalize_name, outputs)) == set(map(normalize_name, names))
            return label_mapping(entry, Head(outputs if is_same else tuple(names)))
        except ValueError as error:
            raise BadInput(f"{entry.name!r}: {error}", pointer="/model") from error

    def _to_logits(self, values: Floats) -> Floats:
        """Return the logits of activated values. They are exact except for a constant, which a
        softmax ignores."""
        exclusive = self.mapping.activation == "softmax"
        inside = bool(np.all((values >= -ROUNDING) & (values <= 1 + ROUNDING)))
        if not inside or (exclusive and not _is_normalized(values)):
            raise BadInput(
                f"the values from the server of {self._name!r} are not "
                f"{'softmax' if exclusive else 'sigmoid'} probabilities; set "
                "`activation` to the one that the server applies",
                pointer="/model",
            )
        if not exclusive and self._softmaxes:
            raise BadInput(
                f"the server of {self._name!r} applies a softmax, but its model has "
                "sigmoid outputs; let the server return raw scores",
                pointer="/model",
            )
        shares = np.clip(values, 0.0, 1.0)
        with np.errstate(divide="ignore"):
            logs: Floats = np.log(shares)
            return logs if exclusive else logs - np.log1p(-shares)


def _is_normalized(values: Floats) -> bool:
    return bool(np.all(np.abs(values.sum(axis=1) - 1) < ROUNDING))


def _order(
    mapping: LabelMapping, names: Sequence[str] | None, answered: Sequence[str] | None
) -> list[int]:
    """Return, for each output of the mapping, its column in the server's answer. Columns match by
    name. If the entry renames LABEL_0, LABEL_1 and so on, they match by these numbers. Raises
    BadInput."""
    count = len(mapping.outputs)
    if answered is None:
        return list(range(count))
    indices = {normalize_name(name): index for index, name in enumerate(answered)}
    outputs = [normalize_name(name) for name in mapping.outputs]
    if set(outputs) == set(indices):
        return [indices[name] for name in outputs]
    if names is None or names == answered:
        ends = {name: name.rpartition("_")[2] for name in answered}
        if not all(end.isdecimal() for end in ends.values()):
            raise BadInput(
                f"the server names its outputs {', '.join(answered)}; use these names "
                "under `outputs`",
                pointer="/model",
            )
        names = sorted(answered, key=lambda name: int(ends[name]))
    return [indices[normalize_name(name)] for name in names]


Floats = NDArray[np.float64]
Text = str | tuple[str, str]  # a pair where the model reads pairs


@dataclass(frozen=True)
class ServedOutputs:
    names: tuple[str, ...] | None  # (K,) of the outputs, if the answer has them
    values: Floats  # (N, K)


@dataclass(frozen=True)
class ClassificationProtocol:
    """Talks to one kind of server. Raises AnswerUnread for an answer that it cannot read."""

    has_raw: bool = True  # can return logits
    reads_pairs: bool = False

    def predict(
        self, connection: Connection, served: str, texts: Sequence[Text], *, raw: bool
    ) -> ServedOutputs:
        """Return the outputs for each text."""
        raise NotImplementedError


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
class VllmClassify(ClassificationProtocol):
    """Uses `/classify` of vLLM or `/v1/classify` of SGLang, which return probabilities in the order
    of `id2label`."""

    path: str = "/classify"

    def predict(
        self, connection: Connection, served: str, texts: Sequence[Text], *, raw: bool
    ) -> ServedOutputs:
        body: Json = {"model": served, "input": list(texts)}
        if self.has_raw:
            body |= {"use_activation": not raw, "activation": not raw}  # `activation` before 0.12
        [answer] = connection.post_at_root(self.path, [body])
        rows = _read(_Data, answer).data
        return ServedOutputs(None, _rows([row.probs for row in rows], len(texts)))


class TeiPredict(ClassificationProtocol):
    """Uses `/predict` of text-embeddings-inference, which returns named outputs, most likely
    first."""

    def predict(
        self, connection: Connection, served: str, texts: Sequence[Text], *, raw: bool
    ) -> ServedOutputs:
        inputs = [[text] if isinstance(text, str) else list(text) for text in texts]
        body = {"inputs": inputs, "raw_scores": raw, "truncate": False}
        [answer] = connection.post_at_root("/predict", [body])
        return _named(_read(_NamedRows, {"rows": answer}).rows, len(texts))


class InfinityClassify(ClassificationProtocol):
    """Uses `/classify` of infinity, which returns named outputs, most likely first. The server may
    ignore `raw_scores`."""

    def predict(
        self, connection: Connection, served: str, texts: Sequence[Text], *, raw: bool
    ) -> ServedOutputs:
        body = {"model": served, "input": list(texts), "raw_scores": raw}
        [answer] = connection.post_at_root("/classify", [body])
        rows = answer.get("data") if isinstance(answer, dict) else None
        return _named(_read(_NamedRows, {"rows": rows}).rows, len(texts))


@dataclass(frozen=True, kw_only=True)
class KserveInfer(ClassificationProtocol):
    """Uses `/v2/models/NAME/infer`, which takes texts and returns logits, with the entry's tensor
    names."""

    tensors: KserveTensors

    def predict(
        self, connection: Connection, served: str, texts: Sequence[Text], *, raw: bool
    ) -> ServedOutputs:
        tensor = {"shape": [len(texts), 1], "datatype": "BYTES", "data": list(texts)}
        body = {"inputs": [{"name": self.tensors.input, **tensor}]}
        [answer] = connection.post_at_root(f"/v2/models/{served}/infer", [body])
        for output in _read(_Outputs, answer).outputs:
            if output.name == self.tensors.output and len(output.data) % len(texts) == 0:
                return ServedOutputs(None, np.array(output.data).reshape(len(texts), -1))
        raise AnswerUnread(f"the server's answer has no tensor {self.tensors.output!r} of logits")


BY_NAME: Mapping[str, ClassificationProtocol] = {
    "vllm": VllmClassify(),
    "sglang": VllmClassify(path="/v1/classify", has_raw=False),
    "tei": TeiPredict(reads_pairs=True),
    "infinity": InfinityClassify(),
}


def find_protocol(connection: Connection) -> str:
    """Return the protocol of a classification server, found from the answers of its endpoints.
    Raises BadInput if no endpoint answers with a known protocol."""
    for path in ("/info", "/models", "/v1/models"):
        try:
            answer = connection.get_at_root(path)
        except BadInput:
            continue
        kind = answer.get("model_type") if isinstance(answer, dict) else None
        if isinstance(kind, dict) and "classifier" in kind:
            return "tei"
        owners = {str(model.get("owned_by")) for model in listed_models(answer)}
        if kinds := sorted(owners & BY_NAME.keys()):
            return kinds[0]
    raise BadInput(
        "the server does not state its protocol; check its address, or set `protocol` "
        f"to {', '.join(BY_NAME)} or kserve-v2",
        pointer="/model",
    )


def names_of_tei(connection: Connection) -> tuple[str, ...] | None:
    """Return the names of TEI's outputs in order, or None if TEI does not state them."""
    try:
        labels = connection.get_at_root("/info")["model_type"]["classifier"]["id2label"]
        return tuple(str(labels[str(index)]) for index in range(len(labels)))
    except (BadInput, KeyError, TypeError):
        return None


def _named(rows: Sequence[Sequence[_Named]], count: int) -> ServedOutputs:
    names = tuple(sorted({output.label for row in rows for output in row}))
    by_name = [{output.label: output.score for output in row} for row in rows]
    if any(len(row) != len(names) for row in by_name):
        raise AnswerUnread("the server's answer lacks some of the model's outputs")
    return ServedOutputs(names, _rows([[row[name] for name in names] for row in by_name], count))


def _rows(values: Sequence[Sequence[float]], count: int) -> Floats:
    if len(values) != count or len({len(row) for row in values}) > 1:
        raise AnswerUnread("the server returned another number of outputs than requested")
    return np.array(values, dtype=np.float64)


def _read(shape: type[Any], answer: Any) -> Any:
    try:
        return shape.model_validate(answer)
    except ValidationError as error:
        path = "" if is_private() else dotted(first_fault(error))
        raise AnswerUnread(
            f"the classification server's answer has an unexpected form: {path or 'another shape'}"
        ) from error
