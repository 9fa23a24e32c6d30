"""Variations of a text made by deleting, masking or replacing words. They are scored as strings.

Models behind a server support only such variations, because servers give no access to tokens.

One blank next to a deleted word is deleted too, a space if possible, so that line breaks stay.
Deletion never joins two words. Rendering takes linear time."""

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

Placed = tuple[int, WordSpan]  # a word and its index


class ExampleReader(Protocol):
    def judgements(self, examples: Sequence[Example]) -> list[Judgement]:
        """Return label probabilities for each example, or the reason for missing ones."""


def judged_words(
    judge: ExampleReader, asked: Sequence[WordRows], mask_text: str
) -> list[WordJudgements]:
    """Return label probabilities of each example's variations. Equal texts are judged once. A
    variation is marked as unread if its probability comes from too few sampled answers to show
    small differences (`Judgement.fine`)."""
    rendered = [render_rows(rows, mask_text) for rows in asked]
    distinct: dict[tuple[object, ...], Example] = {}
    for examples in rendered:
        distinct |= {_content(example): example for example in examples}
    answers = dict(zip(distinct, judge.judgements(list(distinct.values())), strict=True))
    fine = {key: answer.fine() for key, answer in answers.items()}
    judged = [[fine[_content(example)] for example in examples] for examples in rendered]
    return [
        WordJudgements(
            probabilities=tuple(judgement.probabilities for judgement in row),
            unread=next((judgement.unread for judgement in row if judgement.unread), None),
            uncertainty=max((judgement.uncertainty for judgement in row), default=0.0),
        )
        for row in judged
    ]


def _content(example: Example) -> tuple[object, ...]:
    """Return a key by which equal examples can be found. Templates and prompts are compared by
    identity."""
    return example.text, example.text_pair, id(example.template), id(example.prompt)


def render_rows(asked: WordRows, mask_text: str) -> list[Example]:
    """Return each variation as an example."""
    words = list(enumerate(asked.words))
    text_words = [word for word in words if word[1].of == "text"]
    pair_words = words[len(text_words) :]
    example, examples = asked.example, []
    for row in check_each(asked.rows):
        replacements = {**dict.fromkeys(row.masked, mask_text), **dict(row.replaced)}
        kept = range(len(words)) if row.kept is None else frozenset(row.kept)
        pair = example.text_pair
        texts = {
            "text": "".join(_parts(example.text, text_words, kept, replacements)),
            "text_pair": None
            if pair is None
            else "".join(_parts(pair, pair_words, kept, replacements)),
        }
        examples.append(example.model_copy(update=texts))
    return examples


def _parts(
    text: str, words: Sequence[Placed], kept: Collection[int], replacements: Mapping[int, str]
) -> Iterator[str]:
    gap, deleted, at, before = "", 0, 0, ""
    for index, word in words:
        gap += text[at : word.start]
        at = word.end
        if index not in kept:
            deleted += 1
            continue
        after = replacements.get(index, text[word.start : word.end])
        yield _between(before, gap, deleted, after)
        yield after
        gap, deleted, before = "", 0, after
    yield _between(before, gap + text[at:], deleted, "")


def _between(before: str, gap: str, deleted: int, after: str) -> str:
    """Return the white space and punctuation that remain between two kept words after `deleted`
    words between them are deleted."""
    if not deleted:
        return gap
    blanks = [index for index, character in enumerate(gap) if character.isspace()]
    removed = sorted(blanks, key=lambda index: gap[index] != " ")[:deleted]
    separates = bool(before and after) and _in_a_word(before[-1]) and _in_a_word(after[0])
    if len(removed) == len(gap) and removed and separates:
        removed.pop()  # the last is a line break, if there is one
    gone = set(removed)
    return "".join(character for index, character in enumerate(gap) if index not in gone)


def _in_a_word(character: str) -> bool:
    return character.isalnum() or unicodedata.category(character).startswith("M")


class ServerModel:
    """Base class of models that run on a server. Changed versions of a text, with words deleted,
    masked or replaced, are sent as strings. Operations that no server supports raise ModelCannot.
    """

    def __init__(self, entry: ModelEntry) -> None:
        self._entry = entry

    @property
    def languages(self) -> tuple[str, ...]:
        return self._entry.languages or ()

    @property
    def abilities(self) -> frozenset[Ability]:
        return frozenset(abilities(self._entry))

    @property
    def mask_text(self) -> str:
        """The mask text of the entry in `models.toml`. Servers do not reveal their tokenizer's
        mask."""
        return self._entry.mask_text or MASK_TEXT

    def judgements(self, examples: Sequence[Example]) -> list[Judgement]:
        raise NotImplementedError

    def judge_words(self, asked: Sequence[WordRows]) -> list[WordJudgements]:
        """Return label probabilities of variations, with one request each. Equal strings are sent
        once."""
        return judged_words(self, asked, self.mask_text)

    def tokens(self, examples: Sequence[Example]) -> NoReturn:
        """Raise ModelCannot, since no server shows its tokens."""
        raise unsupported_error(self._entry, "token_rows")

    def judge_rows(self, asked: Sequence[ExampleRows]) -> NoReturn:
        """Raise ModelCannot, because no server accepts variations of a text as tokens."""
        raise unsupported_error(self._entry, "token_rows")

    def attributions(
        self, examples: Sequence[Example], targets: Sequence[str], method: AttributionMethod
    ) -> NoReturn:
        """Raise ModelCannot, since a server only returns probabilities."""
        raise unsupported_error(self._entry, "attributions")
