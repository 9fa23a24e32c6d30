"""Finds the probability of a label that is not among the listed tokens, by allowing only labels.

Servers take different fields for this: ids of allowed tokens (vLLM), an equal bias on them
(llama.cpp, vLLM, OpenAI), a choice (vLLM's `structured_outputs`), an expression (SGLang's `regex`),
a grammar (llama.cpp). First all labels are allowed. If the answer is a label that was listed
before, it must have its earlier probability. Otherwise the server computes log-probabilities after
the constraint, and they are useless. Then each missing label is allowed alone, and its token gives
its probability.

Fields that a server rejects or ignores, or that change its log-probabilities, are not sent again.
No request is made here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import exp

from shared.models.openai.labels import LabelPosition, Verbalizers, match_labels
from shared.models.openai.protocol import LogprobEntry
from shared.models.server_connection import Json

EQUAL_BIAS = 100  # the largest that the API allows
SAME = 0.01  # relative; half precision and batches change a probability by less

Constraint = Callable[[Sequence[str], Sequence[int]], Json]


def _grammar(words: Sequence[str], _: Sequence[int]) -> Json:
    choices = " | ".join(json.dumps(word, ensure_ascii=False) for word in words)
    return {"grammar": f"root ::= {choices}"}


CONSTRAINTS: tuple[Constraint, ...] = (
    lambda _, ids: {"allowed_token_ids": [*ids]} if ids else {},
    lambda _, ids: {"logit_bias": {str(token): EQUAL_BIAS for token in ids}} if ids else {},
    lambda words, _: {"structured_outputs": {"choice": [*words]}},
    lambda words, _: {"regex": f"({'|'.join(map(re.escape, words))})"},
    _grammar,
)


@dataclass(frozen=True)
class LabelRequest:
    """A prompt to a server that can be repeated with constraints on its answer. `ids` returns the
    token ids of labels. `first` sends the prompt again with additional request fields."""

    ids: Callable[[Sequence[str]], Sequence[int]]  # first tokens of these words; empty: unknown
    first: Callable[[Json], LogprobEntry | None]  # first position with these fields; None: rejected


class MissingLabels:
    """Requests the probabilities of labels that a server did not list. Learns from the answers how
    the server can be limited to certain labels. Thread-safe."""

    def __init__(self) -> None:
        self._constraints = CONSTRAINTS

    def find(
        self, listed: LabelPosition, verbalizers: Verbalizers, asking: LabelRequest
    ) -> LabelPosition:
        """Add the probabilities of labels that the server did not list, measured by limiting its
        answer to labels. Return `listed` unchanged if the server cannot be limited to labels."""
        for constraint in self._constraints:
            position = _find(constraint, listed, verbalizers, asking)
            if position is not None:
                return position
            self._constraints = tuple(c for c in self._constraints if c is not constraint)
        return listed


def _find(
    constraint: Constraint, listed: LabelPosition, verbalizers: Verbalizers, asking: LabelRequest
) -> LabelPosition | None:
    def first(labels: Sequence[str]) -> LogprobEntry | None:
        words = _words([word for label in labels for word in verbalizers[label]])
        fields = constraint(words, asking.ids(words))
        return asking.first(fields) if fields else None

    entry_of_all = first(list(verbalizers))
    if entry_of_all is None or not (matched := match_labels(entry_of_all.token, verbalizers)):
        return None
    probability = listed.tokens.get(entry_of_all.token, 1.0)
    if (
        len(matched) > 1 or probability > 1 - SAME
    ):  # nothing to compare with; another question may have
        return listed
    if abs(exp(entry_of_all.logprob) - probability) > SAME * probability:
        return None
    shares: dict[str, float] = {}
    while missing := [label for label in listed.missing if label not in shares]:
        entry = first(missing)
        matched = match_labels(entry.token, verbalizers) if entry is not None else []
        if entry is None or len(matched) != 1 or matched[0] not in missing:
            return None
        shares[matched[0]] = exp(min(0.0, entry.logprob))
        if shares[matched[0]] > listed.smallest * (1 + SAME):  # otherwise it would have been listed
            return None
    return replace(listed, shares={**listed.shares, **shares}, missing=())


def _words(words: Sequence[str]) -> list[str]:
    """Return the words with and without spaces around them, because a chat's answer has no
    spaces."""
    return list(dict.fromkeys(w for word in words for w in (word, word.strip()) if w))
