"""What a judge says of texts in words: of whole ones, of rows of them, and LIME over them.

Any judge will do. A P that cannot be read makes the whole request null with the reason: what is
left of random rationales is no random sample any more. Source: specs "models" §4.2, §4.3.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from services.ice.contract import IceRequest
from services.ice.explanations import TokenizedInput, example_of, target_column
from services.ice.kernel import Floats
from services.ice.words import WordReading, read_words
from shared.contracts.calls import AttributionMethod, Attributions, Row, WordJudgements
from shared.contracts.errors import BadInput
from shared.contracts.judgement import Judgement, Unread, mass_warnings, text_cut
from shared.contracts.labels import predict_label
from shared.contracts.messages import ModelKind
from shared.models.ports import Judge
from shared.statistics import lime


def word_inputs(
    requests: Sequence[IceRequest], model: Judge, kind: ModelKind
) -> list[TokenizedInput | Unread]:
    """Each request in words, with the probabilities of its whole text; or why there are none."""
    readings = [read_words(request, example_of(request), model) for request in requests]
    if not readings:
        return []
    judged = model.judgements([reading.example for reading in readings])
    return [
        _input(request, kind, reading, one.fine(), model)
        for request, reading, one in zip(requests, readings, judged, strict=True)
    ]


def _input(
    request: IceRequest, kind: ModelKind, reading: WordReading, judged: Judgement, model: Judge
) -> TokenizedInput | Unread:
    if judged.probabilities is None:
        return judged.unread or Unread(code="answer-unread", detail="P was not read")
    use = model.use
    if judged.read_share < 1:
        reading.doubts.append(text_cut(use.name, judged.read_share))
    reading.uncertainty = judged.uncertainty
    predicted = predict_label(judged.labels, list(judged.probabilities), use.thresholds)
    return TokenizedInput(
        request=request,
        kind=kind,
        tokens=reading.tokens,
        eligible=tuple(range(len(reading.tokens.ids))),
        labels=judged.labels,
        probabilities=np.array(judged.probabilities),
        target=target_column(request, judged.labels, predicted),
        words=reading,
        prompt_sha256=judged.prompt_sha256,
        doubts=mass_warnings(use.name, judged),
    )


def targets_of_rows(
    asked: Sequence[tuple[TokenizedInput, WordReading, Sequence[Row]]], model: Judge
) -> list[Floats | Unread]:
    """For each input (R,) P of its target in rows of its words, or why one was not read."""
    if not asked:
        return []
    answers = model.judge_words([reading.rows(rows) for _, reading, rows in asked])
    return [
        _targets(tokenized.target, reading, answer)
        for (tokenized, reading, _), answer in zip(asked, answers, strict=True)
    ]


def _targets(column: int, reading: WordReading, answer: WordJudgements) -> Floats | Unread:
    reading.uncertainty = max(reading.uncertainty, answer.uncertainty)
    read = [row[column] for row in answer.probabilities if row is not None]
    if len(read) < len(answer.probabilities):
        return answer.unread or Unread(code="answer-unread", detail="P was not read")
    return np.array(read, dtype=np.float64)


def empty_targets(
    tokenized: TokenizedInput, reading: WordReading, rows: Sequence[Row], model: Judge
) -> Floats:
    """(R,) of rows in which no word of the text is left; (0,) where the model reads no such text:
    servers refuse empty ones."""
    try:
        [found] = targets_of_rows([(tokenized, reading, rows)], model)
    except BadInput:
        return np.empty(0)
    return np.empty(0) if isinstance(found, Unread) else found


def word_attributions(
    tokenized: TokenizedInput,
    reading: WordReading,
    methods: Sequence[AttributionMethod],
    model: Judge,
) -> list[Attributions] | Unread:
    """(W,) values of every method: LIME over the words themselves, others summed over tokens."""
    found = []
    for method in methods:
        if method.name == "lime":
            own = _by_lime(tokenized, reading, method, model)
            if isinstance(own, Unread):
                return own
            found.append(own)
            continue
        target = tokenized.labels[tokenized.target]
        [answer] = model.attributions([reading.example], [target], method)
        [tokens] = model.tokens([reading.example])
        found.append(reading.of_words(tokens, answer.values))
    return found


def _by_lime(
    tokenized: TokenizedInput, reading: WordReading, method: AttributionMethod, model: Judge
) -> Attributions | Unread:
    """Words are deleted, as the released `lime_text.py` does. A sample that keeps none is left out:
    its weight is next to nothing, and servers refuse an empty text."""
    drawn = lime.draws(method.samples, len(tokenized.eligible), method.seed)
    masks = drawn[drawn.any(axis=1)]
    rows = [Row(kept=tuple(np.flatnonzero(mask).tolist())) for mask in masks]
    [found] = targets_of_rows([(tokenized, reading, rows)], model)
    if isinstance(found, Unread):
        return found
    return Attributions(values=tuple(lime.coefficients(masks, found).tolist()))
