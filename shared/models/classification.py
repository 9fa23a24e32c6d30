"""The ports over a classification server, `source = "classify:URL"`: judge and word rows.

Spoken to: vLLM, SGLang, TEI, infinity, KServe v2. Raw logits are asked for wherever a server gives
them, and become labels by the entry's mapping and by our own activation, as in process: TEI
softmaxes every head of more than one output, multi-label ones too. Where a server activates, which
is found by asking the same text both ways, its values are turned back to logits: log p of a
softmax, log p / (1 - p) of sigmoids. It is believed only where its values fit the mapping: rows of
sum 1 for a softmax, each in [0, 1] for sigmoids. Length is the server's affair: it refuses, and
never cuts.

Source: specs "models" §4.4; vLLM docs, classify; SGLang docs, classify_models;
text-embeddings-inference `router/src/http/types.rs`; infinity `fastapi_schemas/pymodels.py`.
"""

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

AT_ONCE = 32  # texts of a request: TEI's default limit
PROBES = ("The weather in the old town was lovely today", "no", "We lost the match again!")
ROUNDING = 1e-3  # of a sum of probabilities in half precision


def get_classifier(entry: ModelEntry) -> ServedClassifier:
    """The model of a `classify:` entry; one for all that ask, so that they share connections."""
    return _cached_classifier(entry.model_dump_json(exclude_unset=True))


@lru_cache(maxsize=64)
def _cached_classifier(entry: str) -> ServedClassifier:
    return ServedClassifier(ModelEntry.model_validate_json(entry))


class ServedClassifier(ServerModel):
    """The port `shared.models.ports.Classifier`, as far as a server goes.

    Raises Unavailable where the server is away, TextTooLong for a text that it refuses for its
    length, ModelCannot for what it does not show, BadInput where its outputs fit no mapping.
    """

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
        """For the provenance; the weights' hash, device and dtype are the server's affair. What its
        labels mean is known once it was asked."""
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
        """(N, L) probabilities in [0, 1]."""
        return self._read([Example(text=text) for text in texts]).probabilities

    def truncated(self, texts: Sequence[str]) -> list[bool]:
        """(N,) none: what is too long is refused."""
        return [False] * len(texts)

    def judge(self, examples: Sequence[Example]) -> list[Floats]:
        """For each example (L,) probabilities."""
        return list(self._read(examples).probabilities)

    def judgements(self, examples: Sequence[Example]) -> list[Judgement]:
        """For each example P; a text that is too long is unread by itself."""
        if not examples:
            return []
        try:
            found = self._read(examples)
        except TextTooLong:
            if len(examples) == 1:
                return [unread(self.labels, "text-too-long", TOO_LONG, reading="head")]
            half = len(examples) // 2
            return [*self.judgements(examples[:half]), *self.judgements(examples[half:])]
        return of_head(found.probabilities, found.mass, self.labels)

    def _read(self, examples: Sequence[Example]) -> LabelReadout:
        def ask() -> LabelReadout:
            head = self.head
            texts = [self._text(one, head.protocol.reads_pairs) for one in examples]
            starts = range(0, len(texts), AT_ONCE)
            rows = [head.logits(texts[first : first + AT_ONCE]) for first in starts]
            logits = np.concatenate(rows) if rows else np.empty((0, len(head.mapping.outputs)))
            return read_labels(logits, head.mapping, self._entry.temperature or 1.0)

        return self._findings.run(ask)

    def _text(self, example: Example, reads_pairs: bool) -> Text:
        """As the entry's `input` says. Raises BadInput for what the server cannot read."""
        if example.template is not None:
            raise BadInput("a classifier takes no template", pointer="/template")
        if example.prompt is not None:
            raise BadInput("a classifier takes no prompt", pointer="/prompt")
        sides = EncoderTexts(self._entry.input).of(example)
        if len(sides) == 1:
            return sides[0].text
        if not reads_pairs:
            raise BadInput(
                f"the server of {self._entry.name!r} reads no pairs of texts", pointer="/text_pair"
            )
        return sides[0].text, sides[1].text


class _ServedHead:
    """A server's outputs: its protocol, their order, whether they are logits."""

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
        self._own = raw.names
        if kind == "tei":
            self._own = names_of_tei(connection) or raw.names
        self.mapping = self._mapping(entry, raw)
        self._columns = _order(self.mapping, self._own, raw.names)

    def logits(self, texts: Sequence[Text]) -> Floats:
        """(N, K) in the mapping's order. Raises BadInput where activated values fit no mapping."""
        values = self._query(texts, raw=True).values[:, self._columns]
        return self._to_logits(values) if self.activates else values

    def _query(self, texts: Sequence[Text], *, raw: bool) -> ServedOutputs:
        return self.protocol.predict(self._connection, self._served, texts, raw=raw)

    def _mapping(self, entry: ModelEntry, answered: ServedOutputs) -> LabelMapping:
        count = answered.values.shape[1]
        names = self._own if self._own is not None else entry.outputs
        if names is None:
            raise BadInput(
                f"the server of {entry.name!r} does not name its {count} outputs: set `outputs`",
                pointer="/model",
            )
        if len(names) != count:
            raise BadInput(
                f"the server of {entry.name!r} has {count} outputs, and {len(names)} are named",
                pointer="/model",
            )
        try:
            # the entry's own names where they are the same ones
            own = entry.outputs or ()
            same = set(map(normalize_name, own)) == set(map(normalize_name, names))
            return label_mapping(entry, Head(own if same else tuple(names)))
        except ValueError as error:
            raise BadInput(f"{entry.name!r}: {error}", pointer="/model") from error

    def _to_logits(self, values: Floats) -> Floats:
        """The logits of activated values: exact but for a constant, which a softmax ignores."""
        exclusive = self.mapping.activation == "softmax"
        inside = bool(np.all((values >= -ROUNDING) & (values <= 1 + ROUNDING)))
        if not inside or (exclusive and not _is_normalized(values)):
            raise BadInput(
                f"the server of {self._name!r} applies an activation of its own, and its values "
                f"are no {'softmax' if exclusive else 'sigmoids'}: set `activation` as it does",
                pointer="/model",
            )
        if not exclusive and self._softmaxes:
            raise BadInput(
                f"the server of {self._name!r} applies a softmax where its model has sigmoids, "
                "and does not tell raw scores",
                pointer="/model",
            )
        shares = np.clip(values, 0.0, 1.0)
        with np.errstate(divide="ignore"):
            logs: Floats = np.log(shares)
            return logs if exclusive else logs - np.log1p(-shares)


def _is_normalized(values: Floats) -> bool:
    return bool(np.all(np.abs(values.sum(axis=1) - 1) < ROUNDING))


def _order(
    mapping: LabelMapping, own: Sequence[str] | None, answered: Sequence[str] | None
) -> list[int]:
    """For each output of the mapping its column in an answer.

    By name; where the entry renames what the server calls LABEL_0, ..., by those numbers.
    """
    count = len(mapping.outputs)
    if answered is None:
        return list(range(count))
    places = {normalize_name(name): place for place, name in enumerate(answered)}
    wanted = [normalize_name(name) for name in mapping.outputs]
    if set(wanted) == set(places):
        return [places[name] for name in wanted]
    if own is None or own == answered:
        ends = {name: name.rpartition("_")[2] for name in answered}
        if not all(end.isdecimal() for end in ends.values()):
            raise BadInput(
                f"the server names its outputs {', '.join(answered)}: name them so under `outputs`",
                pointer="/model",
            )
        own = sorted(answered, key=lambda name: int(ends[name]))
    return [places[normalize_name(name)] for name in own]


Floats = NDArray[np.float64]
Text = str | tuple[str, str]  # a pair where the model reads pairs


@dataclass(frozen=True)
class ServedOutputs:
    """names: (K,) of the outputs, where the answer has them; values: (N, K) in their order."""

    names: tuple[str, ...] | None
    values: Floats


@dataclass(frozen=True)
class ClassificationProtocol:
    """One kind of server. Raises AnswerUnread for an answer of another shape.

    has_raw: whether it knows a way to say logits at all. reads_pairs: two texts as a pair.
    """

    has_raw: bool = True
    reads_pairs: bool = False

    def predict(
        self, connection: Connection, served: str, texts: Sequence[Text], *, raw: bool
    ) -> ServedOutputs:
        """The outputs for each text."""
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
    """`/classify` of vLLM, `/v1/classify` of SGLang: probabilities in the order of `id2label`."""

    path: str = "/classify"

    def predict(
        self, connection: Connection, served: str, texts: Sequence[Text], *, raw: bool
    ) -> ServedOutputs:
        body: Json = {"model": served, "input": list(texts)}
        if self.has_raw:
            body |= {"use_activation": not raw, "activation": not raw}  # before 0.12: the second
        [answer] = connection.post_at_root(self.path, [body])
        found = _read(_Data, answer).data
        return ServedOutputs(None, _rows([one.probs for one in found], len(texts)))


class TeiPredict(ClassificationProtocol):
    """`/predict` of text-embeddings-inference: named, the likeliest first."""

    def predict(
        self, connection: Connection, served: str, texts: Sequence[Text], *, raw: bool
    ) -> ServedOutputs:
        inputs = [[text] if isinstance(text, str) else list(text) for text in texts]
        body = {"inputs": inputs, "raw_scores": raw, "truncate": False}
        [answer] = connection.post_at_root("/predict", [body])
        return _named(_read(_NamedRows, {"rows": answer}).rows, len(texts))


class InfinityClassify(ClassificationProtocol):
    """`/classify` of infinity: named, the likeliest first; `raw_scores` may be ignored."""

    def predict(
        self, connection: Connection, served: str, texts: Sequence[Text], *, raw: bool
    ) -> ServedOutputs:
        body = {"model": served, "input": list(texts), "raw_scores": raw}
        [answer] = connection.post_at_root("/classify", [body])
        rows = answer.get("data") if isinstance(answer, dict) else None
        return _named(_read(_NamedRows, {"rows": rows}).rows, len(texts))


@dataclass(frozen=True, kw_only=True)
class KserveInfer(ClassificationProtocol):
    """`/v2/models/NAME/infer`: texts in, logits out, by the tensors' names."""

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
    """The server's kind, by what it says of itself. Raises BadInput where it says nothing."""
    for path in ("/info", "/models", "/v1/models"):
        try:
            said = connection.get_at_root(path)
        except BadInput:
            continue
        kind = said.get("model_type") if isinstance(said, dict) else None
        if isinstance(kind, dict) and "classifier" in kind:
            return "tei"
        owners = {str(one.get("owned_by")) for one in listed_models(said)}
        if known := sorted(owners & BY_NAME.keys()):
            return known[0]
    raise BadInput(
        "the server does not say of which kind it is: if its address is right, set `protocol` to "
        f"{', '.join(BY_NAME)} or kserve-v2",
        pointer="/model",
    )


def names_of_tei(connection: Connection) -> tuple[str, ...] | None:
    """Names of its outputs, in order; None where it does not say."""
    try:
        labels = connection.get_at_root("/info")["model_type"]["classifier"]["id2label"]
        return tuple(str(labels[str(place)]) for place in range(len(labels)))
    except (BadInput, KeyError, TypeError):
        return None


def _named(rows: Sequence[Sequence[_Named]], count: int) -> ServedOutputs:
    names = tuple(sorted({one.label for row in rows for one in row}))
    by_name = [{one.label: one.score for one in row} for row in rows]
    if any(len(row) != len(names) for row in by_name):
        raise AnswerUnread("the server does not answer all outputs")
    return ServedOutputs(names, _rows([[row[name] for name in names] for row in by_name], count))


def _rows(values: Sequence[Sequence[float]], count: int) -> Floats:
    if len(values) != count or len({len(row) for row in values}) > 1:
        raise AnswerUnread("the server answers another number of outputs than it was asked for")
    return np.array(values, dtype=np.float64)


def _read(shape: type[Any], answer: Any) -> Any:
    try:
        return shape.model_validate(answer)
    except ValidationError as error:
        place = "" if is_private() else dotted(first_fault(error))
        raise AnswerUnread(
            f"the classification server answers something else: {place or 'another shape'}"
        ) from error
