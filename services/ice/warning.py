"""What a reader of the report should know: what is undefined, cut, or decided by too few draws."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from services.ice.contract import PREDICTED
from services.ice.explanations import touched
from services.ice.inquiry import Inquiry
from services.ice.reading import TEXTS
from services.ice.report import Comparison, Test
from services.ice.showing import passage


def warnings(
    inquiry: Inquiry, tests: Sequence[Test], comparisons: Sequence[Comparison], score: float | None
) -> tuple[str, ...]:
    """Each once, in this order."""
    found = [*_cut(inquiry), *_human(inquiry), *_variant(inquiry, score)]
    found += [warning for test in tests for warning in _undefined(inquiry, test)]
    found += [*_few(inquiry, tests), *_at_the_cut(inquiry), *_incomparable(comparisons)]
    return tuple(dict.fromkeys(found))


def _cut(inquiry: Inquiry) -> Iterator[str]:
    reading = inquiry.reading
    if not reading.tokens.truncated:
        return
    for of, whole in zip(TEXTS, (reading.request.text, reading.request.text_pair), strict=True):
        length, read = len((whole or "").rstrip()), reading.characters_read(of)
        if read < length:
            yield (
                f"truncated: the model reads the first {read} of {length} characters of "
                f"{passage(of)}; {length - read} were cut and count for nothing"
            )


def _human(inquiry: Inquiry) -> Iterator[str]:
    human = inquiry.reading.request.human
    if human and not touched(inquiry.reading, human):
        yield "plausibility is undefined: the human spans hold no token that the model reads"


def _variant(inquiry: Inquiry, score: float | None) -> Iterator[str]:
    reading = inquiry.reading
    if reading.variant.gold_label and reading.request.target == PREDICTED:
        yield "variant paper scores the gold label; without `target` it is the predicted one"
    least, dead_zone = reading.variant.least_confidence, reading.variant.dead_zone
    confidence = float(max(reading.probabilities))
    if least is not None and confidence < least:
        yield (
            f"the score is null: the released code skips an example whose confidence "
            f"({confidence:.3f}) is under {least}"
        )
    if dead_zone is None:
        return
    for operator in reading.request.operators:
        empty = inquiry.empty(operator)
        if empty is not None and abs(reading.full - empty) < dead_zone:
            yield (
                f"{operator}: |s(x) - s(empty)| < {dead_zone}, so the released code makes every "
                "NSR 0 and counts the example as lost"
            )


def _undefined(inquiry: Inquiry, test: Test) -> Iterator[str]:
    name = f"{test.explanation}, k {test.k}, {test.operator}"
    if test.win_rate is None and test.tokens == len(inquiry.reading.eligible):
        yield f"{name}: the rationale is the whole text, so there is no random one to compare with"
    elif test.win_rate is None:
        yield f"{name}: NSR is undefined, so nothing is compared: s(x) = s(empty), or no s(empty)"
    elif test.effect is None:
        yield f"{name}: the effect is null: all random rationales score the same, or there is one"
    if test.operator != "mean" and test.nsr is None and test.win_rate is not None:
        yield (
            f"{name}: NSR is null: |s(x) - s(empty)| is under "
            f"{inquiry.reading.request.nsr_epsilon}, or s(empty) cannot be had"
        )


def _few(inquiry: Inquiry, tests: Sequence[Test]) -> Iterator[str]:
    alpha = inquiry.reading.request.alpha
    for test in tests:
        if test.null.draws and 2 / (test.null.draws + 1) > alpha and not test.stopped_early:
            yield (
                f"{test.explanation}, k {test.k}: with {test.null.draws} random rationales the "
                f"two-sided p is at least {2 / (test.null.draws + 1):.3f}, so that no verdict but "
                f"`inconclusive` can come at level {alpha}"
            )


def _at_the_cut(inquiry: Inquiry) -> Iterator[str]:
    """Ranks that do not tell which tokens belong to the rationale."""
    for trial in inquiry.trials:
        ranked, size = trial.explanation.ranked, len(trial.rationale)
        if ranked is None or size == ranked.size:
            continue
        inside, outside = np.sort(ranked)[::-1][size - 1 : size + 1]
        if inside == outside:
            yield (
                f"{trial.explanation.name}, k {trial.k}: tokens inside and outside the rationale "
                "have the same value; of these, the first in the text are inside"
            )


def _incomparable(comparisons: Sequence[Comparison]) -> Iterator[str]:
    for one in comparisons:
        if one.draws == 0:
            yield (
                f"{one.first} and {one.second}, k {one.k}: no random rationale is left that both "
                "could be compared with, so their win rates' difference is null"
            )
