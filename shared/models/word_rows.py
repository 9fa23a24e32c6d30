"""Variations of a text in words: rendered as strings and judged like any text, by any judge.

It is all that can be asked of a model behind a server, which shows no tokens (`ServerModel`).

A deleted word takes one adjacent blank with it, the plainest there is, so that line breaks stay;
two words that were apart are never joined by it. Rendering is linear in the text. Source: specs
"models" §4.2.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NoReturn, Protocol

from shared.contracts.calls import (
    MASK_TEXT,
    AttributionMethod,
    Example,
    ExampleRows,
    WordJudgements,
    WordRows,
    WordSpan,
)
from shared.contracts.judgement import Judgement
from shared.models.catalogue.entry import Ability, ModelEntry, abilities, unsupported_error
from shared.queue.job_context import check_each

Placed = tuple[int, WordSpan]  # a word and its number


class ExampleReader(Protocol):
    def judgements(self, examples: Sequence[Example]) -> list[Judgement]:
        """For each example P, or why there is none."""


def judged_words(
    judge: ExampleReader, asked: Sequence[WordRows], mask_text: str
) -> list[WordJudgements]:
    """For each example P of its variations; equal strings are judged once.

    Votes that are too few to tell small differences apart are no P (`Judgement.fine`).
    """
    rendered = [render_rows(one, mask_text) for one in asked]
    distinct: dict[tuple[object, ...], Example] = {}
    for examples in rendered:
        distinct |= {_content(example): example for example in examples}
    answers = dict(zip(distinct, judge.judgements(list(distinct.values())), strict=True))
    found = {key: answer.fine() for key, answer in answers.items()}
    judged = [[found[_content(example)] for example in examples] for examples in rendered]
    return [
        WordJudgements(
            probabilities=tuple(one.probabilities for one in some),
            unread=next((one.unread for one in some if one.unread is not None), None),
            uncertainty=max((one.uncertainty for one in some), default=0.0),
        )
        for some in judged
    ]


def _content(example: Example) -> tuple[object, ...]:
    """A key of the example; a template and a prompt are known by their identity."""
    return example.text, example.text_pair, id(example.template), id(example.prompt)


def render_rows(asked: WordRows, mask_text: str) -> list[Example]:
    """(R,) each variation as an example of its own."""
    words = list(enumerate(asked.words))
    own = [one for one in words if one[1].of == "text"]
    beside = words[len(own) :]
    example, found = asked.example, []
    for row in check_each(asked.rows):
        written = {**dict.fromkeys(row.masked, mask_text), **dict(row.replaced)}
        kept = range(len(words)) if row.kept is None else frozenset(row.kept)
        pair = example.text_pair
        texts = {
            "text": "".join(_parts(example.text, own, kept, written)),
            "text_pair": None if pair is None else "".join(_parts(pair, beside, kept, written)),
        }
        found.append(example.model_copy(update=texts))
    return found


def _parts(
    text: str, words: Sequence[Placed], kept: Collection[int], written: Mapping[int, str]
) -> Iterator[str]:
    """The words that stay, and what stands between them."""
    gap, deleted, at, before = "", 0, 0, ""
    for place, word in words:
        gap += text[at : word.start]
        at = word.end
        if place not in kept:
            deleted += 1
            continue
        after = written.get(place, text[word.start : word.end])
        yield _between(before, gap, deleted, after)
        yield after
        gap, deleted, before = "", 0, after
    yield _between(before, gap + text[at:], deleted, "")


def _between(before: str, gap: str, deleted: int, after: str) -> str:
    """The rest of a gap in which so many words were deleted."""
    if not deleted:
        return gap
    blanks = [place for place, sign in enumerate(gap) if sign.isspace()]
    plain_first = sorted(blanks, key=lambda place: gap[place] != " ")
    gone = plain_first[:deleted]
    apart = bool(before and after) and _in_a_word(before[-1]) and _in_a_word(after[0])
    if len(gone) == len(gap) and gone and apart:
        gone.pop()  # the last is a line break, if there is one
    lost = set(gone)
    return "".join(sign for place, sign in enumerate(gap) if place not in lost)


def _in_a_word(sign: str) -> bool:
    return sign.isalnum() or unicodedata.category(sign).startswith("M")


class ServerModel:
    """The parts of the port `shared.models.ports.Judge` that are alike behind every server: words
    are judged as strings, what no server shows is refused."""

    def __init__(self, entry: ModelEntry) -> None:
        self._entry = entry

    @property
    def languages(self) -> tuple[str, ...]:
        return self._entry.languages or ()

    @property
    def abilities(self) -> frozenset[Ability]:
        """No tokens, no attributions."""
        return frozenset(abilities(self._entry))

    @property
    def mask_text(self) -> str:
        """The entry's; no server shows its tokenizer's."""
        return self._entry.mask_text or MASK_TEXT

    def judgements(self, examples: Sequence[Example]) -> list[Judgement]:
        raise NotImplementedError

    def judge_words(self, asked: Sequence[WordRows]) -> list[WordJudgements]:
        """P of variations, a request each; equal strings are asked once."""
        return judged_words(self, asked, self.mask_text)

    def tokens(self, examples: Sequence[Example]) -> NoReturn:
        """Raises ModelCannot: no server shows its tokens."""
        raise unsupported_error(self._entry, "token_rows")

    def judge_rows(self, asked: Sequence[ExampleRows]) -> NoReturn:
        """Raises ModelCannot: no server takes rows of tokens."""
        raise unsupported_error(self._entry, "token_rows")

    def attributions(
        self, examples: Sequence[Example], targets: Sequence[str], method: AttributionMethod
    ) -> NoReturn:
        """Raises ModelCannot: a server shows probabilities alone."""
        raise unsupported_error(self._entry, "attributions")
