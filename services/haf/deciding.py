"""Who reads a decision that the rules cannot read: sentences of known meaning, or an NLI model.

Source of the sentences: the released code's lists, as the paper's Eqs. 9 and 11 need a class of
every decision. Deviates: the paper takes the mean similarity of each side, its code the largest;
`reference` follows the code.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from services.haf.contract import HafRequest
from services.haf.parsed import Verdict
from services.haf.report import Answer
from services.haf.transcript import Exchange, Transcript
from services.haf.variants import HafVariant
from shared.errors import BadInput, pointing_to
from shared.models.calls import Example
from shared.models.ports import Judge, models

INSUFFICIENT = (
    "yes additional reasons are required",
    "there are additional reasons",
    "provided reasons are insufficient",
)
SUFFICIENT = (
    "no additional reasons are required",
    "additional reasons are not required",
    "there are no additional reasons",
    "provided reasons are sufficient",
)
TEMPLATES = (*INSUFFICIENT, *SUFFICIENT)
LEAST = 0.15  # of the released code: below it on both sides nothing is said
HYPOTHESES = ("Additional reasons are required.", "No additional reasons are required.")
ENTAILMENT = "entailment"

Compare = Callable[[str, str], float]
Shares = tuple[float, float]  # P(insufficient), P(sufficient), each in [0, 1]


def asks_model(way: HafVariant, exchange: Exchange) -> bool:
    """Whether the rules' answer, or its absence, is left to a model."""
    if exchange.stage == "justify" or exchange.parsed.decision is None:
        return False
    found = exchange.parsed.decision.verdict
    return (found.answer if found else None) in way.left_to_model


def undecided(way: HafVariant, transcript: Transcript) -> list[str]:
    """The decision sentences that a model must read."""
    return [
        exchange.parsed.decision.statement.text
        for exchange in transcript.later
        if exchange.parsed.decision is not None and asks_model(way, exchange)
    ]


def by_similarity(way: HafVariant, sentence: str, g: Compare) -> Verdict:
    """The side whose sentences are more similar; unclear where neither is.

    Its certainty is its share of both sides' similarities.
    """
    together: Callable[[list[float]], Any] = max if way.best_template else np.mean
    no = float(together([g(sentence, known) for known in INSUFFICIENT]))
    yes = float(together([g(sentence, known) for known in SUFFICIENT]))
    if max(no, yes) < LEAST:
        return Verdict("unclear", "similarity", 1.0 - max(no, yes))
    share = max(no, yes) / (no + yes)
    answer: Answer = "insufficient" if no >= yes else "sufficient"
    return Verdict(answer if share >= way.least_share else "unclear", "similarity", share)


def by_entailment(shares: Shares) -> Verdict:
    """The hypothesis that the sentence entails; unclear where it entails neither."""
    no, yes = shares
    if max(no, yes) < 0.5:
        return Verdict("unclear", "nli", 1.0 - max(no, yes))
    return Verdict("insufficient" if no >= yes else "sufficient", "nli", max(no, yes))


def entailed(name: str, sentences: Sequence[str]) -> dict[str, Shares]:
    """For each distinct sentence P(entailment) of both hypotheses: one call."""
    distinct = list(dict.fromkeys(sentences))
    if not distinct:
        return {}
    model = nli(name)
    examples = [Example(text=text, text_pair=known) for text in distinct for known in HYPOTHESES]
    if ENTAILMENT not in (labels := model.labels_of(examples[0])):
        raise BadInput(f"the model {name} has no label {ENTAILMENT!r}", pointer="/decision_model")
    column = labels.index(ENTAILMENT)
    values = [float(row[column]) for row in model.judge(examples)]
    return dict(zip(distinct, zip(values[::2], values[1::2], strict=True), strict=True))


def nli(name: str) -> Judge:
    """The classifier of this name. Raises BadInput that points at `decision_model`."""
    with pointing_to("/decision_model"):
        return models().classifier(name)


def asks_nli(request: HafRequest) -> bool:
    """Whether the request's decision model is a classifier."""
    name = request.decision_model
    if name is None:
        return False
    with pointing_to("/decision_model"):
        return models().kind(name) == "classifier"
