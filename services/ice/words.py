"""Converts requests whose units are words to the form of requests with tokens, so that random sets
and operators work for both.

A word has a position, offsets and an id, like a token. Each distinct word has its own id, and the
mask has id 0. Every model can read the variations, since they are strings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from services.ice.contract import IceRequest
from services.ice.report import TEXTS, Of, RowKind
from shared.contracts.calls import (
    Attributions,
    Example,
    Row,
    Tokens,
    WordRow,
    WordRows,
    WordSpan,
)
from shared.contracts.errors import BadInput, DegenerateInput
from shared.models.catalogue.catalogue import SERVER
from shared.models.ports import Judge
from shared.process.cached import cached_property
from shared.text.language import Obstacle, find_language, requested_language
from shared.text.word_segmentation import word_spans, words_obstacle

MASK = 0  # its id


def rows_of(request: IceRequest, model: Judge) -> RowKind:
    """Return the units of the tests: as requested, or else tokens if the model supports them."""
    return request.options.rows or ("tokens" if "token_rows" in model.abilities else "words")


def no_words(request: IceRequest) -> Obstacle | None:
    """Return the reason why the request's text, or its pair, has no words, or None."""
    whole = "\n".join(filter(None, (request.text, request.text_pair)))
    language = find_language(whole, requested_language(request))
    return words_obstacle(whole, language)


def read_words(request: IceRequest, example: Example, model: Judge) -> WordReading:
    """Split the text into the words that the model reads. Raises DegenerateInput if there are
    none."""
    spans = _spans(example, requested_language(request))
    read = example
    if "token_rows" in model.abilities:
        [tokens] = model.tokens([example])
        if tokens.truncated:
            spans = [span for span in spans if span.end <= _end(tokens, span.of)]
            ends = {of: max((s.end for s in spans if s.of == of), default=0) for of in TEXTS}
            pair = example.text_pair
            update = {
                "text": example.text[: ends["text"]],
                "text_pair": None if pair is None else pair[: ends["text_pair"]],
            }
            read = example.model_copy(update=update)
    if not spans:
        raise DegenerateInput("the text contains no word that the model reads", pointer="/text")
    strings = WordStrings()
    return WordReading(
        example=read,
        tokens=strings.read(read, spans, truncated=read != example),
        strings=strings,
        mask_text=model.mask_text,
        served=model.use.device == SERVER,
    )


@dataclass
class WordStrings:
    """Maps the distinct words of a request, and of the texts that supply replacement words, to
    ids."""

    strings: list[str] = field(default_factory=lambda: [""])  # the mask's is the model's affair
    _ids: dict[str, int] = field(default_factory=dict)

    def id_of(self, written: str) -> int:
        """Return the id of a known word, or the next free id."""
        if written not in self._ids:
            self._ids[written] = len(self.strings)
            self.strings.append(written)
        return self._ids[written]

    def read(
        self, example: Example, spans: Sequence[WordSpan], *, truncated: bool = False
    ) -> Tokens:
        """Return the words as `Tokens`, one token per word. A masked word has an id. There is none
        for unknown words or padding."""
        texts = {"text": example.text, "text_pair": example.text_pair or ""}
        return Tokens(
            ids=tuple(self.id_of(texts[span.of][span.start : span.end]) for span in spans),
            parts=tuple(span.of for span in spans),
            starts=tuple(span.start for span in spans),
            ends=tuple(span.end for span in spans),
            truncated=truncated,
            mask_id=MASK,
            unk_id=None,
            pad_id=None,
        )


@dataclass
class WordReading:
    """The words of a request's text, up to the model's maximum length. `served` is True if a server
    runs the model and gets one request per variation. `doubts` holds warnings about how answers
    were read. `uncertainty` is the largest uncertainty of an answer so far."""

    example: Example
    tokens: Tokens
    strings: WordStrings
    mask_text: str
    served: bool
    doubts: list[str] = field(default_factory=list)
    uncertainty: float = 0.0

    def pool(self, example: Example) -> Tokens:
        """Return the words of another text, as replacements for removed words. Word ids are those
        of this request. Raises BadInput if the text cannot be split into words."""
        language = find_language(example.text)
        if (obstacle := words_obstacle(example.text, language)) is not None:
            raise BadInput(f"{obstacle.code}: {obstacle.detail}", pointer="/options/infill_pool")
        return self.strings.read(example, _spans(example, None))

    def rows(self, rows: Sequence[Row]) -> WordRows:
        """Return variations of the example in which whole words are changed. Every kind of model
        supports such variations."""
        return WordRows(example=self.example, words=self._words, rows=tuple(map(self._row, rows)))

    def _row(self, row: Row) -> WordRow:
        strings = self.strings.strings
        return WordRow(
            kept=row.kept,
            masked=tuple(position for position, id_ in row.replaced if id_ == MASK),
            replaced=tuple((p, strings[id_]) for p, id_ in row.replaced if id_ != MASK),
        )

    @cached_property
    def _words(self) -> tuple[WordSpan, ...]:
        tokens = self.tokens
        places = zip(tokens.starts, tokens.ends, tokens.parts, strict=True)
        return tuple(
            WordSpan(start=start, end=end, of="text" if part == "text" else "text_pair")
            for start, end, part in places
            if start is not None and end is not None
        )

    def of_words(self, tokens: Tokens, values: Sequence[float]) -> Attributions:
        """Return the values of W words, each the sum over its tokens. A token counts for the word
        with which it overlaps most."""
        sums = np.zeros(len(self._words))
        for of in TEXTS:
            numbered = [(n, word) for n, word in enumerate(self._words) if word.of == of]
            starts = np.array([word.start for _, word in numbered])
            ends = np.array([word.end for _, word in numbered])
            for start, end, part, value in zip(
                tokens.starts, tokens.ends, tokens.parts, values, strict=True
            ):
                if part != of or start is None or end is None or not numbered:
                    continue
                shared = np.minimum(ends, end) - np.maximum(starts, start)
                best = int(np.argmax(shared))
                if shared[best] > 0:
                    sums[numbered[best][0]] += value
        return Attributions(values=tuple(sums.tolist()))


def _spans(example: Example, language: str | None) -> list[WordSpan]:
    spans = []
    texts: dict[Of, str] = {"text": example.text, "text_pair": example.text_pair or ""}
    whole = "\n".join(filter(None, texts.values()))
    code = find_language(whole, language).code
    for of, text in texts.items():
        spans += [WordSpan(start=a, end=b, of=of) for a, b in word_spans(text, code)]
    return spans


def _end(tokens: Tokens, of: Of) -> int:
    """Return the offset at which the model stops reading a text."""
    ends = zip(tokens.parts, tokens.ends, strict=True)
    return max((end for part, end in ends if part == of and end is not None), default=0)
