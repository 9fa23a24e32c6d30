"""The pool of retrieval infill: tokens of other texts, without label words.

Source: arXiv:2603.18579 and `RetrievalPool` of ice-faithfulness 1.0.1.
# Deviates: words are excluded as words, where the released code excludes every subword of them
(54 tokens with a small vocabulary, "se", "al" and "B" among them).
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from services.ice.contract import IceRequest
from services.ice.reading import TEXTS
from shared.errors import BadInput
from shared.models.calls import Example, Tokens

WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Pool:
    """(P,) token ids of the pool's texts, each as often as it occurs."""

    ids: NDArray[np.int64]

    def fill(self, random: np.random.Generator, count: int) -> tuple[int, ...]:
        """(count,) tokens, without replacement where the pool is large enough."""
        drawn = random.choice(self.ids, size=count, replace=self.ids.size < count)
        return tuple(drawn.tolist())


def pool_examples(request: IceRequest) -> list[Example]:
    """The pool's texts, each once, the request's own left out."""
    own = {_same(request.text), _same(request.text_pair or "")}
    texts = [text for text in dict.fromkeys(request.infill_pool) if _same(text) not in own]
    return [Example(text=text, template=request.template) for text in texts]


def pool_of(
    request: IceRequest, labels: Sequence[str], read: Sequence[tuple[Example, Tokens]]
) -> Pool:
    """Raises BadInput where no token is left."""
    banned = _banned(request, labels)
    ids = [id_ for example, tokens in read for id_ in _allowed(example.text, tokens, banned)]
    if not ids:
        raise BadInput(
            "no token is left in the pool without the text itself and the label words",
            pointer="/infill_pool",
        )
    return Pool(np.array(ids, dtype=np.int64))


def _same(text: str) -> str:
    return " ".join(text.split()).casefold()


def _banned(request: IceRequest, labels: Sequence[str]) -> set[str]:
    """Words of the labels, of the verbalizers, and those that the request names."""
    written = request.template.verbalizers.values() if request.template else ()
    strings = (*labels, *written, *request.infill_excluded)
    return {word.casefold() for string in strings for word in WORD.findall(string)}


def _allowed(text: str, tokens: Tokens, banned: set[str]) -> Iterable[int]:
    """Ids of the text's tokens that share no character with a banned word."""
    forbidden = [found.span() for found in WORD.finditer(text) if found[0].casefold() in banned]
    for id_, part, start, end in zip(
        tokens.ids, tokens.parts, tokens.starts, tokens.ends, strict=True
    ):
        if part not in TEXTS or start is None or end is None or start == end:
            continue
        place = bisect_right(forbidden, start, key=lambda span: span[1])
        if place == len(forbidden) or forbidden[place][0] >= end:
            yield id_
