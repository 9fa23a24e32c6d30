"""How an encoder reads an example: token ids, segments, and where each token stands in the text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any

from services.inference.variations import kept_positions, replaced_ids
from services.inference.weights import Weights
from shared.calls import Example, Part, Row, Tokens
from shared.errors import BadInput

PARTS: dict[int | None, Part] = {None: "special", 0: "text", 1: "text_pair"}


@dataclass(frozen=True)
class EncoderRow:
    """What goes through an encoder: (T,) token ids, and (T,) segments where they are not all 0."""

    ids: Sequence[int]
    segments: Sequence[int] = ()


@dataclass(frozen=True)
class EncoderReading:
    """An example as read."""

    tokens: Tokens
    segments: tuple[int, ...]  # (T,); empty where the model has none or all are 0
    vocabulary: int

    def row(self, row: Row) -> EncoderRow:
        """One variation. Raises BadInput where it has no token, or names one that is not there."""
        ids = replaced_ids(self.tokens.ids, row, self.vocabulary)
        kept = kept_positions(row, len(ids))
        if not kept:
            raise BadInput("a row keeps no token", pointer="/rows")
        segments = [self.segments[place] for place in kept] if self.segments else ()
        return EncoderRow([ids[place] for place in kept], segments)


class EncoderReader:
    """A tokenizer for any number of threads: a fast tokenizer keeps its truncation in itself."""

    def __init__(self, weights: Weights) -> None:
        self._tokenizer = weights.tokenizer
        self._longest = weights.longest
        self._vocabulary = int(weights.model.config.vocab_size)
        self._alone = Lock()

    def ids(self, texts: Sequence[str], *, cut: bool) -> list[list[int]]:
        """(N,) token ids of texts, special ones included; `cut` to what the model reads."""
        if not texts:
            return []
        limit = {"truncation": True, "max_length": self._longest} if cut else {}
        with self._alone:
            rows: list[list[int]] = self._tokenizer(list(texts), verbose=False, **limit)[
                "input_ids"
            ]
        return rows

    def read(self, examples: Sequence[Example]) -> list[EncoderReading]:
        """(N,) examples as read, cut to what the model reads. BadInput where one has a template."""
        if any(example.template is not None for example in examples):
            raise BadInput("an encoder takes no template", pointer="/template")
        found: dict[int, EncoderReading] = {}
        for paired in (False, True):  # one call of the tokenizer each
            places = [i for i, one in enumerate(examples) if (one.text_pair is not None) is paired]
            encodings = self._encodings([examples[place] for place in places], paired=paired)
            found |= zip(places, map(self._reading, encodings), strict=True)
        return [found[place] for place in range(len(examples))]

    def _encodings(self, examples: Sequence[Example], *, paired: bool) -> list[Any]:
        if not examples:
            return []
        texts = [example.text for example in examples]
        with self._alone:
            encoded = self._tokenizer(
                texts,
                [example.text_pair for example in examples] if paired else None,
                verbose=False,
                truncation=True,
                max_length=self._longest,
            )
        if not encoded.encodings:
            raise BadInput("the model's tokenizer gives no offsets", pointer="/model")
        return list(encoded.encodings)

    def _reading(self, encoding: Any) -> EncoderReading:
        has_segments = "token_type_ids" in self._tokenizer.model_input_names
        segments = tuple(encoding.type_ids) if has_segments and any(encoding.type_ids) else ()
        return EncoderReading(self._tokens(encoding), segments, self._vocabulary)

    def _tokens(self, encoding: Any) -> Tokens:
        parts = tuple(PARTS[part] for part in encoding.sequence_ids)
        spans = [
            (None, None) if part == "special" else span
            for part, span in zip(parts, encoding.offsets, strict=True)
        ]
        return Tokens(
            ids=tuple(encoding.ids),
            parts=parts,
            starts=tuple(start for start, _ in spans),
            ends=tuple(end for _, end in spans),
            truncated=bool(encoding.overflowing),
            mask_id=self._tokenizer.mask_token_id,
            unk_id=self._tokenizer.unk_token_id,
            pad_id=self._tokenizer.pad_token_id,
        )
