"""Where the rationales stand in the text: the evidence; and what is said of each token."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

import numpy as np

from services.ice.inquiry import Inquiry, Trial
from services.ice.reading import TEXTS, Reading
from services.ice.report import RationaleEvidence, Token, TokenValues
from services.ice.spans import Of


def evidence(inquiry: Inquiry) -> tuple[RationaleEvidence, ...]:
    """The spans of every explanation at its first budget; neighbouring tokens are one span."""
    return tuple(span for trial in _first(inquiry) for span in _spans(inquiry.reading, trial))


def tokens(reading: Reading) -> tuple[Token, ...]:
    """All that the model reads of a request, in order."""
    read, eligible = reading.tokens, set(reading.eligible)
    return tuple(
        Token(start=start, end=end, of=part, eligible=place in eligible)
        for place, (start, end, part) in enumerate(
            zip(read.starts, read.ends, read.parts, strict=True)
        )
    )


def token_values(inquiry: Inquiry) -> tuple[TokenValues, ...]:
    """What every explanation says of these tokens, and its rationale at the first budget."""
    return tuple(_told(inquiry.reading, trial) for trial in _first(inquiry))


def _first(inquiry: Inquiry) -> list[Trial]:
    """Every explanation at its first budget."""
    first = {trial.explanation.name: trial for trial in reversed(inquiry.trials)}
    return [first[explanation.name] for explanation in inquiry.explanations]


def _told(reading: Reading, trial: Trial) -> TokenValues:
    values: list[float | None] = [None] * len(reading.tokens.ids)
    if trial.explanation.values is not None:
        for position, value in zip(
            reading.eligible, trial.explanation.values.tolist(), strict=True
        ):
            values[position] = value
    return TokenValues(
        explanation=trial.explanation.name,
        values=tuple(values),
        rationale=tuple(reading.eligible[place] for place in trial.rationale),
    )


def _spans(reading: Reading, trial: Trial) -> Iterator[RationaleEvidence]:
    for of in TEXTS:
        text = reading.request.text if of == "text" else reading.request.text_pair or ""
        places = [p for p in trial.rationale if reading.tokens.parts[reading.eligible[p]] == of]
        for run in _runs(places):
            start, end = _borders(reading, run)
            yield RationaleEvidence(
                start=start,
                end=end,
                text=text[start:end],
                offsets_into=of,
                explanation=trial.explanation.name,
                value=_mean_value(trial, run),
            )


def _runs(places: Sequence[int]) -> Iterator[list[int]]:
    """Maximal runs of neighbours."""
    for _, run in groupby(enumerate(places), key=lambda pair: pair[1] - pair[0]):
        yield [place for _, place in run]


def _borders(reading: Reading, run: Sequence[int]) -> tuple[int, int]:
    tokens, positions = reading.tokens, [reading.eligible[place] for place in run]
    starts = [tokens.starts[position] or 0 for position in positions]
    return min(starts), max(tokens.ends[position] or 0 for position in positions)


def _mean_value(trial: Trial, run: Sequence[int]) -> float | None:
    values = trial.explanation.values
    return None if values is None else float(np.mean(values[list(run)]))


def passage(of: Of) -> str:
    """How a part is called in a sentence."""
    return "the text" if of == "text" else "the text pair"
