"""Where the rationales stand in the text: the evidence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

import numpy as np

from services.ice.inquiry import Inquiry, Trial
from services.ice.reading import TEXTS, Reading
from services.ice.report import RationaleEvidence
from services.ice.spans import Of


def evidence(inquiry: Inquiry) -> tuple[RationaleEvidence, ...]:
    """The spans of every explanation at its first budget; neighbouring tokens are one span."""
    first = {trial.explanation.name: trial for trial in reversed(inquiry.trials)}
    names = [explanation.name for explanation in inquiry.explanations]
    return tuple(span for name in names for span in _spans(inquiry.reading, first[name]))


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
