"""Removes or replaces all tokens of a text except a given set, by each of the operators of ICE.

Special tokens and the template are never changed. If the model reads words, the tokens are
words (`services.ice.words`). Source: arXiv:2603.18579, section 3.2; `RetrievalPool` and
`retrieval_operator.py` of ice-faithfulness 1.0.1. Difference: the pool excludes whole words,
whereas the released code excludes each of their subwords."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from services.ice.contract import IceRequest
from services.ice.explanations import Positions, TokenizedInput
from services.ice.report import TEXTS, Operator
from services.ice.variants import Subset
from shared.contracts.calls import Example, Row, Tokens
from shared.contracts.errors import BadInput
from shared.statistics.seeds import generator

WORD = re.compile(r"\w+")
BASELINE = 5  # variant reference: tokens of the empty text under masks and infill


@dataclass(frozen=True)
class Operators:
    """The ways in which a request removes words, with the data that they share."""

    tokenized: TokenizedInput
    scaffold: Positions
    pool: Pool | None
    bank: tuple[tuple[int, ...], ...]  # (R, E) fills of every place, the same for all subsets

    def rows(self, operator: Operator, subset: Subset) -> list[Row]:
        """Return the variations of the text that keep this set of tokens. If there are several,
        their scores are averaged."""
        if operator == "delete":
            eligible = self.tokenized.eligible
            kept = sorted((*self.scaffold, *(eligible[index] for index in subset)))
            return [Row(kept=tuple(kept))]
        if operator == "infill":
            return [self._replace(subset, fill) for fill in self._fill_tokens(subset)]
        mask = replacement_token(operator, self.tokenized.tokens)
        return [self._replace(subset, (mask,) * len(self.tokenized.eligible))]

    def empty(self, operator: Operator) -> list[Row]:
        """Return the variations without any token of the text, or [] if the model cannot read
        them."""
        if self.empty_example(operator) is not None:
            return [Row()]
        if self.tokenized.variant.released_operators and operator == "infill":
            some = self.tokenized.eligible[:BASELINE]
            ids: Sequence[int] = ()
            if self.pool is not None:
                ids = self.pool.fill(random_of(self.tokenized.request, "baseline"), len(some))
            kept = tuple(sorted((*self.scaffold, *some)))
            return [Row(kept=kept, replaced=tuple(zip(some, ids, strict=False)))]
        tokens = self.tokenized.words is None and self.tokenized.kind == "classifier"
        if operator == "delete" and not self.scaffold and tokens:
            return []
        return self.rows(operator, ())

    def empty_example(self, operator: Operator) -> Example | None:
        """Return the baseline input of the released code: an empty text or five masks, without
        template or pair. Return None if the variant or operator does not use this baseline, or if
        the model cannot read it. Source: `get_baseline_input` of ice-faithfulness 1.0.1
        (operators.py)."""
        mask = self.tokenized.tokens.mask_text
        released = self.tokenized.variant.released_operators and operator != "infill"
        unreadable = not self.scaffold and self.tokenized.kind == "classifier"
        if not released or (unreadable if operator == "delete" else mask is None):
            return None
        text = "" if operator == "delete" or mask is None else " ".join([mask] * BASELINE)
        template = self.tokenized.request.options.template
        if template is None:
            return Example(text=text, prompt=self.tokenized.request.options.prompt)
        # in the template a special token is one; in the text it would be read as it is written
        return Example(text="", template=template.model_copy(update={"prefix": text, "suffix": ""}))

    def _replace(self, subset: Subset, fill: Sequence[int]) -> Row:
        stays = set(subset)
        eligible = self.tokenized.eligible
        gone = tuple((eligible[p], fill[p]) for p in range(len(eligible)) if p not in stays)
        if self.tokenized.variant.released_operators and len(fill) > len(eligible):
            special = zip(self.scaffold, fill[len(eligible) :], strict=True)
            gone = tuple(sorted((*gone, *special)))  # the released operator fills these too
        return Row(replaced=gone)

    def _fill_tokens(self, subset: Subset) -> Sequence[Sequence[int]]:
        if not self.tokenized.variant.released_operators or self.pool is None:
            return self.bank
        return [
            self.pool.fill(
                random_of(self.tokenized.request, "infill", subset), len(self.tokenized.tokens.ids)
            )
        ]


def random_of(request: IceRequest, *about: object) -> np.random.Generator:
    """Return a random generator for one purpose, seeded by the request's seed and text."""
    return generator(request.seed, request.text, request.text_pair, *about)


def operators_of(tokenized: TokenizedInput, pool: Pool | None) -> Operators:
    """Return the operators (ways to remove words) of a request. `pool` holds the tokens for the
    operator `infill`. Raises BadInput if the model lacks the token with which an operator masks
    words."""
    request, count = tokenized.request, len(tokenized.eligible)
    for operator in request.options.operators:
        if operator.startswith("mask"):
            replacement_token(operator, tokenized.tokens)
    fills = range(0 if pool is None else request.options.infills)
    bank = tuple(pool.fill(random_of(request, "infill", n), count) for n in fills if pool)
    return Operators(tokenized, tokenized.scaffold, pool, bank)


def replacement_token(operator: Operator, tokens: Tokens) -> int:
    """Return the id of the token that the operator puts in place of a removed token. Raises
    BadInput if the model has no such token."""
    ids = {"mask": tokens.mask_id, "mask_unk": tokens.unk_id, "mask_pad": tokens.pad_id}
    token_id = ids[operator]
    if token_id is None:
        why = f"the model has no token for the operator {operator}"
        raise BadInput(why, pointer="/options/operators")
    return token_id


@dataclass(frozen=True)
class Pool:
    """The tokens that the operator `infill` puts in place of removed tokens. `ids` lists token ids,
    repeated as often as they occur in the source texts. `written` maps each id to its text at the
    first occurrence."""

    ids: NDArray[np.int64]
    written: Mapping[int, str]

    def fill(self, random: np.random.Generator, count: int) -> tuple[int, ...]:
        """Draw `count` tokens, without replacement if there are enough."""
        drawn = random.choice(self.ids, size=count, replace=self.ids.size < count)
        return tuple(drawn.tolist())


def pool_examples(request: IceRequest) -> list[Example]:
    """Return the distinct texts whose tokens replace removed tokens, without the request's own
    texts."""
    request_texts = {_same(request.text), _same(request.text_pair or "")}
    options = request.options
    texts = [
        text for text in dict.fromkeys(options.infill_pool) if _same(text) not in request_texts
    ]
    return [Example(text=text, template=options.template, prompt=options.prompt) for text in texts]


def pool_of(
    request: IceRequest, labels: Sequence[str], texts: Sequence[tuple[Example, Tokens]]
) -> Pool:
    """Return the pool of tokens from these texts that replace removed tokens (operator `infill`).
    Tokens of labels and excluded words are left out. Raises BadInput if no token is left."""
    banned = _forbidden_words(request, labels)
    entries = [
        entry for example, tokens in texts for entry in _filter_tokens(example.text, tokens, banned)
    ]
    if not entries:
        raise BadInput(
            "`infill_pool` contains only tokens of the text and the labels; add more texts to it",
            pointer="/options/infill_pool",
        )
    ids = np.array([id_ for id_, _ in entries], dtype=np.int64)
    return Pool(ids, dict(reversed(entries)))


def _same(text: str) -> str:
    return " ".join(text.split()).casefold()


def _forbidden_words(request: IceRequest, labels: Sequence[str]) -> set[str]:
    """Return the words that infill tokens must not contain: those of labels and verbalizers, and
    those that the request excludes."""
    template, prompt = request.options.template, request.options.prompt
    verbalizers = list(template.verbalizers.values() if template else ())
    verbalizers += chain(*(prompt.verbalizers or {}).values()) if prompt else ()
    strings = (*labels, *verbalizers, *request.options.infill_excluded)
    return {word.casefold() for string in strings for word in WORD.findall(string)}


def _filter_tokens(text: str, tokens: Tokens, banned: set[str]) -> Iterable[tuple[int, str]]:
    """Yield (id, string) of the text's tokens that share no character with a banned word."""
    forbidden = [word.span() for word in WORD.finditer(text) if word[0].casefold() in banned]
    for id_, part, start, end in zip(
        tokens.ids, tokens.parts, tokens.starts, tokens.ends, strict=True
    ):
        if part not in TEXTS or start is None or end is None or start == end:
            continue
        index = bisect_right(forbidden, start, key=lambda span: span[1])
        if index == len(forbidden) or forbidden[index][0] >= end:
            yield id_, text[start:end]
