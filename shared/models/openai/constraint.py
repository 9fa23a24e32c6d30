"""A label that is not among the listed tokens, asked for with the labels alone allowed.

Servers are told so in different ways: the ids of allowed tokens (vLLM), a bias of equal size on
them (llama.cpp, vLLM, OpenAI), a choice (vLLM's `structured_outputs`), an expression (SGLang's
`regex`), a grammar (llama.cpp). First all labels are allowed. One that was listed is written then,
and must have the probability that it had: else log-probabilities are from after the constraint, and
tell nothing. Then what is missing is allowed alone, and what is written of it tells its own.

Fields that a server refuses or ignores, and those under which it tells other log-probabilities, are
not sent again. No request is made here. Source: specs "models" §4.3 (4).
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
SAME = 0.01  # of a probability; half precision and batches move it by less

Constraint = Callable[[Sequence[str], Sequence[int]], Json]


def _grammar(words: Sequence[str], _: Sequence[int]) -> Json:
    either = " | ".join(json.dumps(word, ensure_ascii=False) for word in words)
    return {"grammar": f"root ::= {either}"}


CONSTRAINTS: tuple[Constraint, ...] = (
    lambda _, ids: {"allowed_token_ids": [*ids]} if ids else {},
    lambda _, ids: {"logit_bias": {str(token): EQUAL_BIAS for token in ids}} if ids else {},
    lambda words, _: {"structured_outputs": {"choice": [*words]}},
    lambda words, _: {"regex": f"({'|'.join(map(re.escape, words))})"},
    _grammar,
)


@dataclass(frozen=True)
class LabelRequest:
    """One question, asked again. ids: the tokens that begin these words, none: not told. first: the
    position at which the answer begins under these fields; None: they are refused."""

    ids: Callable[[Sequence[str]], Sequence[int]]
    first: Callable[[Json], LogprobEntry | None]


class MissingLabels:
    """What one server lets us ask; learned from its answers, for any number of threads."""

    def __init__(self) -> None:
        self._constraints = CONSTRAINTS

    def find(
        self, listed: LabelPosition, verbalizers: Verbalizers, asking: LabelRequest
    ) -> LabelPosition:
        """With the probabilities of what was missing; as it is where the server tells none."""
        for constraint in self._constraints:
            found = _find(constraint, listed, verbalizers, asking)
            if found is not None:
                return found
            self._constraints = tuple(one for one in self._constraints if one is not constraint)
        return listed


def _find(
    constraint: Constraint, listed: LabelPosition, verbalizers: Verbalizers, asking: LabelRequest
) -> LabelPosition | None:
    """None where the constraint is of no use with this server."""

    def first(labels: Sequence[str]) -> LogprobEntry | None:
        words = _words([word for label in labels for word in verbalizers[label]])
        fields = constraint(words, asking.ids(words))
        return asking.first(fields) if fields else None

    known = first(list(verbalizers))
    if known is None or not (own := match_labels(known.token, verbalizers)):
        return None
    before = listed.tokens.get(known.token, 1.0)
    if len(own) > 1 or before > 1 - SAME:  # nothing to compare with: another question may have it
        return listed
    if abs(exp(known.logprob) - before) > SAME * before:
        return None
    told: dict[str, float] = {}
    while missing := [label for label in listed.missing if label not in told]:
        entry = first(missing)
        own = match_labels(entry.token, verbalizers) if entry is not None else []
        if entry is None or len(own) != 1 or own[0] not in missing:
            return None
        told[own[0]] = exp(min(0.0, entry.logprob))
        if told[own[0]] > listed.smallest * (1 + SAME):  # it would have been listed
            return None
    return replace(listed, shares={**listed.shares, **told}, missing=())


def _words(written: Sequence[str]) -> list[str]:
    """With and without the blanks around them: a chat's answer begins without."""
    return list(dict.fromkeys(one for word in written for one in (word, word.strip()) if one))
