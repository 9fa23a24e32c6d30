"""Label probabilities and attributions from a sequence classifier in this process.

In float32 on an x86-64 processor, probabilities are bit-identical whether a text is computed alone
or in a batch (`padded_width`, `RowByRow`, `shared.process.numerics`). Otherwise they differ by
rounding: up to 1e-5 in float32, and 0.02 in bfloat16 and float16. Attributions explain the score of
a label (`label_logit`). `shared.models.label_readout` defines its probability."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional
from torch.overrides import TorchFunctionMode

from services.inference.attribution import AttributionInput, attribute, by_lime, column, eager
from services.inference.embedded.e5 import E5ForSequenceClassification
from services.inference.tokenization import EncoderReader, EncoderReading, EncoderRow
from services.inference.weights.batcher import (
    PADDED_SHARE,
    Device,
    MicroBatcher,
    classifier_row_kind,
    device_run,
    measure_stage,
    padded_tokens,
)
from services.inference.weights.limits import max_length_ids
from services.inference.weights.loader import LoadedModel
from shared.contracts.calls import (
    AttributionMethod,
    Attributions,
    Example,
    ExampleRows,
    Row,
    Tokens,
    WordJudgements,
    WordRows,
)
from shared.contracts.errors import BadInput
from shared.contracts.judgement import Judgement
from shared.contracts.labels import LabelMapping
from shared.contracts.messages import ModelUse
from shared.models.catalogue.entry import LOCAL_ABILITIES, Ability
from shared.models.label_readout import of_head, read_labels
from shared.models.ports import Floats
from shared.models.word_rows import judged_words
from shared.queue.job_context import wait_all
from shared.queue.priority_lock import PriorityLock

__all__ = ["LoadedModel", "LocalClassifier"]


class LocalClassifier:
    """A sequence classifier with weights in this process. It has the interface
    `shared.models.ports.Classifier`. It is thread-safe, and inputs of all threads share forward
    passes."""

    def __init__(self, weights: LoadedModel, budget: int | None = None) -> None:
        """Load the classifier. `budget` is the number of padded tokens in one forward pass. If it
        is None, the number is measured from the free memory."""
        self._weights = weights
        if weights.mapping is None:
            raise ValueError(f"{weights.use.name!r} has no labels")
        self._mapping = weights.mapping
        self._labels = weights.mapping.labels
        self._device = torch.device(weights.use.device)
        self._reader = EncoderReader(weights)
        self._lock = PriorityLock()  # one pass at a time: attributions do not queue in the batcher
        config = weights.model.config
        # decoders (`score`) and XLNet (`summary_type`) read the last token
        reads_last = getattr(config, "summary_type", "first") == "last"
        self._attending: int | None = -1 if reads_last or hasattr(weights.model, "score") else 0
        if isinstance(weights.model, E5ForSequenceClassification):  # reads the mean of its tokens
            self._attending = None
        self._end = config.eos_token_id if config.is_encoder_decoder else None
        self._budget = budget or padded_tokens(self._device, self._probe)
        self._batcher: MicroBatcher[EncoderRow, Floats] = MicroBatcher(
            Device(
                kind=self._kind,
                cost=lambda row: self._kind(row)[0],
                run=self._forward,
                budget=self._budget,
                full=torch.OutOfMemoryError,
                name=weights.use.name,
            )
        )

    @property
    def labels(self) -> tuple[str, ...]:
        """Return the canonical labels, in the order of the columns of `probabilities`."""
        return self._labels

    @property
    def languages(self) -> tuple[str, ...]:
        return self._weights.languages

    @property
    def use(self) -> ModelUse:
        return self._weights.use

    @property
    def abilities(self) -> frozenset[Ability]:
        inside = () if self._weights.runtime == "torch" else ("attributions",)
        return frozenset((*LOCAL_ABILITIES, "truncated")).difference(inside)

    @property
    def mask_text(self) -> str:
        return self._weights.mask_text

    def labels_of(self, example: Example) -> tuple[str, ...]:
        return self.labels

    def tokens(self, examples: Sequence[Example]) -> list[Tokens]:
        """Return the tokens of each example. Long examples are truncated."""
        return [reading.tokens for reading in self._reader.read(examples)]

    def judge(self, examples: Sequence[Example]) -> list[Floats]:
        """Return for each example the calibrated probabilities of L labels, which sum to 1."""
        requests = [ExampleRows(example=example, rows=(Row(),)) for example in examples]
        return [rows[0] for rows in self.judge_rows(requests)]

    def judgements(self, examples: Sequence[Example]) -> list[Judgement]:
        """Return for each example the label probabilities, the probability of all labels together,
        and the share of the text that was read. Equal inputs are computed once."""
        with measure_stage(self.use.name, "tokenize"):
            rows, shares = self._encode_rows(examples)
        different: dict[tuple[tuple[int, ...], tuple[int, ...]], int] = {}
        indices = [
            different.setdefault((tuple(row.ids), tuple(row.segments)), len(different))
            for row in rows
        ]
        logits = self._logits([EncoderRow(*item) for item in different])[indices]
        outputs = read_labels(logits, self._mapping, self._weights.temperature)
        judged = of_head(outputs.probabilities, outputs.mass, self.labels)
        return [
            judgement if share == 1 else judgement.model_copy(update={"read_share": share})
            for judgement, share in zip(judged, shares, strict=True)
        ]

    def _encode_rows(self, examples: Sequence[Example]) -> tuple[list[EncoderRow], list[float]]:
        """Return the token row of each example, and the share of its text that remains after
        truncation."""
        if any(item.text_pair is not None or item.template or item.prompt for item in examples):
            readings = self._reader.read(examples)
            shares = [
                reading.tokens.read_share(example)
                for reading, example in zip(readings, examples, strict=True)
            ]
            return [reading.row(Row()) for reading in readings], shares
        ids = self._reader.ids([item.text for item in examples], cut=True)
        full = [index for index, row in enumerate(ids) if len(row) >= self._weights.longest]
        cut = self._reader.read([examples[index] for index in full]) if full else []
        shares = [1.0] * len(ids)
        for index, reading in zip(full, cut, strict=True):
            shares[index] = reading.tokens.read_share(examples[index])
        return [EncoderRow(row) for row in ids], shares

    def judge_rows(self, requests: Sequence[ExampleRows]) -> list[Floats]:
        """Return one array per example: the label probabilities of its R variations, of shape (R,
        L). They are calibrated unless the request turns this off."""
        with measure_stage(self.use.name, "tokenize"):
            readings = self._reader.read([request.example for request in requests])
            rows = [
                reading.row(row)
                for reading, request in zip(readings, requests, strict=True)
                for row in request.rows
            ]
        logits = self._logits(rows)
        ends = list(accumulate(len(request.rows) for request in requests))
        parts = np.split(logits, ends[:-1]) if ends else []
        return [
            self._labelled(part, calibrated=request.calibrated)
            for part, request in zip(parts, requests, strict=True)
        ]

    def judge_words(self, requests: Sequence[WordRows]) -> list[WordJudgements]:
        return judged_words(self, requests, self.mask_text)

    def attributions(
        self, examples: Sequence[Example], targets: Sequence[str], method: AttributionMethod
    ) -> list[Attributions]:
        """Return the importance of each example's T tokens for its target label (see
        `label_logit`). Attention methods use the token from which the model decides, or the mean
        over tokens if it decides from all. LIME explains the calibrated probability."""
        return [
            self._attribute(example, column(self.labels, target), method)
            for example, target in zip(examples, targets, strict=True)
        ]

    def _attribute(self, example: Example, index: int, method: AttributionMethod) -> Attributions:
        reading = self._reader.read([example])[0]
        if method.name == "lime":
            return by_lime(self, example, reading.tokens, index, method)
        score = LabelScore(self._mapping, index)
        inside = EncoderInside(self._weights.model, self._lock, reading, score, self._attending)
        with device_run(self.use.name):
            return attribute(AttributionInput(inside, reading.tokens, self._budget), method)

    def probabilities(self, texts: Sequence[str]) -> Floats:
        """Return (N, L) calibrated probabilities. Long texts are truncated. Rows sum to 1, or to
        the remaining mass if some outputs are ignored."""
        return self._labelled(self.logits(texts))

    def logits(self, texts: Sequence[str]) -> Floats:
        """Return the head's raw outputs, of shape (N, K), before the temperature is applied."""
        with measure_stage(self.use.name, "tokenize"):
            rows = [EncoderRow(ids) for ids in self._reader.ids(texts, cut=True)]
        return self._logits(rows)

    def truncated(self, texts: Sequence[str]) -> list[bool]:
        """Return for each of N texts if it is longer than the model reads."""
        return [len(row) > self._weights.longest for row in self._reader.ids(texts, cut=False)]

    def _labelled(self, logits: Floats, *, calibrated: bool = True) -> Floats:
        temperature = self._weights.temperature if calibrated else 1.0
        return read_labels(logits, self._mapping, temperature).probabilities

    def _logits(self, rows: list[EncoderRow]) -> Floats:
        [answers] = wait_all([self._batcher.submit(rows)])
        return np.array(answers, dtype=np.float64).reshape(len(rows), len(self._mapping.outputs))

    def _kind(self, row: EncoderRow) -> tuple[int, bool, int]:
        """Return the key by which rows are grouped into batches: (width, whether nothing is padded,
        number of end tokens). T5 requires rows with equal numbers of end tokens."""
        ends = 0 if self._end is None else row.ids.count(self._end)
        if not self._weights.pads:
            return len(row.ids), True, ends
        longest = self._weights.longest
        return *classifier_row_kind(len(row.ids), longest, self._device.type), ends

    def _probe(self, tokens: int) -> Floats:
        row = EncoderRow(
            max_length_ids(self._weights.tokenizer, min(tokens, self._weights.longest))
        )
        return self._forward([row] * (tokens // len(row.ids)))

    @torch.inference_mode()
    def _forward(self, rows: list[EncoderRow]) -> Floats:
        """Return logits of shape (N, K) for rows with the same padded length."""
        width, *_ = self._kind(rows[0])
        padding = self._weights.tokenizer.pad_token_id or 0  # none: nothing is padded
        tokens = torch.tensor([[*row.ids, *[padding] * (width - len(row.ids))] for row in rows])
        lengths = torch.tensor([len(row.ids) for row in rows])
        mask = (torch.arange(width) < lengths[:, None]).long()  # (N, width)
        more = {}
        if any(row.segments for row in rows):  # (N, width) 0 for the text, 1 for its pair
            segments = [[*row.segments, *[0] * (width - len(row.segments))] for row in rows]
            more["token_type_ids"] = torch.tensor(segments).to(self._device)
        with self._lock, RowByRow(len(rows)):
            logits = self._weights.model(
                input_ids=tokens.to(self._device), attention_mask=mask.to(self._device), **more
            ).logits
        PADDED_SHARE.labels(self.use.name).observe(1 - float(mask.float().mean()))
        answer: Floats = logits.double().cpu().numpy()
        return answer


class RowByRow(TorchFunctionMode):
    """Computes a linear layer on (rows, d) input one row at a time, so that each row gives the same
    bits in any batch. For few rows, a matrix product uses other kernels, which round differently.
    The cost is a few microseconds per call."""

    def __init__(self, rows: int) -> None:
        super().__init__()
        self._rows = rows

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Iterable[type],
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        """Run each torch function. Split a linear layer with one input row per example into one
        call per row."""
        kwargs = kwargs or {}
        if func is not functional.linear or args[0].dim() != 2 or len(args[0]) != self._rows:
            return func(*args, **kwargs)
        rows, *rest = args
        # a copy each: kernels may round otherwise where memory is aligned otherwise
        return torch.cat([func(row.clone(), *rest, **kwargs) for row in rows.split(1)])


@dataclass(frozen=True)
class LabelScore:
    """The score of one label, from a classifier's outputs. Attributions explain this score."""

    mapping: LabelMapping
    label: int  # its index

    def of(self, logits: Tensor) -> Tensor:
        """Return N label scores in float32 from (N, K) logits."""
        return label_logit(logits, self.mapping, self.label)


@dataclass(frozen=True)
class EncoderInside:
    """One example in an encoder, with the label whose score is explained."""

    model: Any
    lock: PriorityLock
    reading: EncoderReading
    score: LabelScore
    attention_index: int | None = 0  # the token that the head reads; None: the mean of all

    def embed(self, ids: Sequence[int]) -> Tensor:
        table = self.model.get_input_embeddings()
        with torch.no_grad():
            embeddings: Tensor = table(torch.tensor(ids, device=self.model.device))
        return embeddings

    def target(self, embeddings: Tensor) -> Tensor:
        """Return N scores of the explained label in float32, before the temperature is applied."""
        more = self._more(len(embeddings))
        try:
            logits: Tensor = self.model(inputs_embeds=embeddings, **more).logits
        except (TypeError, ValueError, NotImplementedError) as error:  # Longformer, BART
            raise BadInput(
                "the model gives no gradients; choose another attribution method",
                pointer="/attribution",
            ) from error
        return self.score.of(logits)

    @torch.no_grad()
    def attentions(self) -> Sequence[Tensor] | None:
        ids = torch.tensor([self.reading.tokens.ids], device=self.model.device)
        with eager(self.model):
            answer = self.model(input_ids=ids, output_attentions=True, **self._more(1))
        layers: Sequence[Tensor] | None = getattr(answer, "attentions", None)
        return layers

    def _more(self, rows: int) -> dict[str, Tensor]:
        """Return the attention mask and segment ids for several copies of the example."""
        shape = (rows, len(self.reading.tokens.ids))
        more = {"attention_mask": torch.ones(shape, dtype=torch.long, device=self.model.device)}
        if self.reading.segments:
            segments = torch.tensor(self.reading.segments, device=self.model.device)
            more["token_type_ids"] = segments.expand(shape)
        return more


def label_logit(logits: Tensor, mapping: LabelMapping, label: int) -> Tensor:
    """Return N logits of a label, to be explained by attributions, from (N, K) raw logits. For a
    single output this is its logit. Several outputs are combined by logsumexp under softmax. Under
    sigmoid they are combined into the logit of their joint probability. A complement label has the
    negative logit of the other label."""
    indices = list(mapping.columns.values())[label]
    if not indices:
        return -label_logit(logits, mapping, 1 - label)
    columns = logits[:, list(indices)].float()
    if len(indices) == 1:
        return columns[:, 0]
    if mapping.activation == "softmax":
        return torch.logsumexp(columns, dim=1)
    if mapping.combine == "max":
        return columns.max(dim=1).values
    none = -torch.nn.functional.softplus(columns).sum(dim=1)  # log prod(1 - p)
    return torch.log(-torch.expm1(none)) - none
