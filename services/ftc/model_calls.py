"""The model calls of FTC: every pair of sentences of a batch once, in one call a model.

A request without a label needs the model's own first: one more call, for all such requests. A
row does not depend on the others (shared.models.ports), so that a request scores the same alone
and in a batch.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from services.ftc.contract import DEFAULT_MODEL, FtcRequest
from services.ftc.hypotheses import FtcHypotheses
from services.ftc.kernel import Floats
from services.ftc.report import LABELS, NliLabel
from shared.contracts import ModelUse
from shared.errors import BadInput, DegenerateInput
from shared.language import ModelLanguages
from shared.metric import Collected
from shared.models.calls import Example, text_cut
from shared.models.labels import decided
from shared.models.ports import Judge, models
from shared.statistics.ranks import TIE

Pair = tuple[str, str]  # premise, hypothesis

SHORT = 200  # bytes of premise and hypothesis that every model reads to the end


@dataclass(frozen=True, slots=True, kw_only=True)
class FtcCollected(Collected):
    """Hypotheses and their probabilities; columns are entailment, neutral, contradiction."""

    derived: FtcHypotheses
    original: Floats  # (3,) of the hypothesis as sent
    answers: Floats  # (N, 3), one row a counterfactual
    blank: Floats  # (N, 3), the same without the premise
    nulls: tuple[Floats, ...]  # N of (M, 3)


def explained_labels(requests: Sequence[FtcRequest]) -> list[NliLabel]:
    """The explained label of each request: as sent, else the model's answer."""
    unlabelled = [request for request in requests if request.label is None]
    answers = {
        name: NliAnswers(name, [(r.premise, r.hypothesis) for r in unlabelled if _model(r) == name])
        for name in dict.fromkeys(map(_model, unlabelled))
    }
    return [
        request.label or answers[_model(request)].label_of(request.premise, request.hypothesis)
        for request in requests
    ]


def model_languages(request: FtcRequest) -> Iterator[ModelLanguages]:
    """Of the models that it asks: the one that answers, and the one that writes."""
    name = _model(request)
    yield ModelLanguages(name, models().classifier(name).languages)
    if request.counterfactuals is None and request.extractor == "llm" and request.writer:
        yield ModelLanguages(request.writer, models().writer(request.writer).languages)


def _likeliest(row: Floats) -> NliLabel:
    best = np.flatnonzero(row >= row.max() - TIE)
    if len(best) > 1:
        raise DegenerateInput("two labels tie for the model's own; send `label`", pointer="/label")
    return LABELS[int(best[0])]


def ask_models(
    requests: Sequence[FtcRequest], derived: Sequence[FtcHypotheses]
) -> list[FtcCollected]:
    """The model's answers for every request. Raises BadInput for a model without the labels."""
    both = list(zip(requests, derived, strict=True))
    requested: dict[str, list[Pair]] = {}
    for request, own in both:
        requested.setdefault(_model(request), []).extend(pairs(request, own))
    answers = {name: NliAnswers(name, some) for name, some in requested.items()}
    for name, found in answers.items():
        found.check([p for r, own in both if _model(r) == name for p in _scored_pairs(r, own)])
    return [_collected(answers[_model(request)], request, own) for request, own in both]


def _scored_pairs(request: FtcRequest, derived: FtcHypotheses) -> list[Pair]:
    """The pairs whose answers the score rests on."""
    texts = [hypothesis.text for hypothesis in derived.hypotheses]
    return [(request.premise, text) for text in (request.hypothesis, *texts)]


def pairs(request: FtcRequest, derived: FtcHypotheses) -> list[Pair]:
    """Every pair of a request: the original, the counterfactuals, the same without a premise, the
    random ones."""
    texts = [hypothesis.text for hypothesis in derived.hypotheses]
    null = [text for hypothesis in derived.hypotheses for text in hypothesis.null]
    with_premise = [(request.premise, text) for text in (request.hypothesis, *texts, *null)]
    return with_premise + [("", text) for text in texts]


def _collected(answers: NliAnswers, request: FtcRequest, derived: FtcHypotheses) -> FtcCollected:
    premise = request.premise
    texts = [hypothesis.text for hypothesis in derived.hypotheses]
    writers = tuple(models().writer(name).use for name in derived.writers)
    return FtcCollected(
        derived=derived,
        original=answers.of(premise, request.hypothesis),
        answers=_rows([answers.of(premise, text) for text in texts]),
        blank=_rows([answers.of("", text) for text in texts]),
        nulls=tuple(
            _rows([answers.of(premise, text) for text in hypothesis.null])
            for hypothesis in derived.hypotheses
        ),
        models=(answers.use, *writers),
        warnings=answers.doubts(_scored_pairs(request, derived)),
    )


def _rows(found: list[Floats]) -> Floats:
    return np.array(found, dtype=np.float64).reshape(len(found), 3)


def _model(request: FtcRequest) -> str:
    return request.model or DEFAULT_MODEL


class NliAnswers:
    """One model's answers to pairs of sentences: one call, looked up by pair."""

    def __init__(self, name: str, requested: Sequence[Pair]) -> None:
        self._name = name
        self._model: Judge = models().classifier(name)
        distinct = list(dict.fromkeys(requested))
        examples = [_example(pair) for pair in distinct]
        order = _columns(self._model.labels_of(_example(("", ""))), name)
        rows = self._model.judge(examples) if examples else []
        self._rows = {pair: row[order] for pair, row in zip(distinct, rows, strict=True)}
        self._share_read: dict[Pair, float] = {}

    @property
    def use(self) -> ModelUse:
        return self._model.use

    def of(self, premise: str, hypothesis: str) -> Floats:
        """(3,) probabilities of entailment, neutral, contradiction."""
        return self._rows[premise, hypothesis]

    def label_of(self, premise: str, hypothesis: str) -> NliLabel:
        """The model's own label. Raises DegenerateInput where two tie."""
        row, least = self.of(premise, hypothesis), self.use.thresholds
        if not least:
            return _likeliest(row)
        return LABELS[LABELS.index(decided(LABELS, row.tolist(), least))]

    def check(self, some: Sequence[Pair]) -> None:
        """Note which of these the model does not read to the end: one call, if any is long."""
        long = [
            pair
            for pair in dict.fromkeys(some)
            if len("".join(pair).encode("utf-8", "surrogatepass")) > SHORT
        ]
        if long:
            tokenized = self._model.tokens([_example(pair) for pair in long])
            self._share_read = {
                pair: found.read_share(_example(pair))
                for pair, found in zip(long, tokenized, strict=True)
                if found.truncated
            }

    def doubts(self, some: Sequence[Pair]) -> tuple[str, ...]:
        """Whether the model read less than it was sent."""
        shares = [self._share_read[pair] for pair in some if pair in self._share_read]
        return (text_cut(self._name, min(shares)),) if shares else ()


def _example(pair: Pair) -> Example:
    return Example(text=pair[0], text_pair=pair[1])


def _columns(labels: Sequence[str], name: str) -> list[int]:
    """Where our three labels are among the model's."""
    lower = [label.lower() for label in labels]
    if sorted(lower) != sorted(LABELS):
        raise BadInput(f"the labels of {name} must be {', '.join(LABELS)}", pointer="/model")
    return [lower.index(label) for label in LABELS]
