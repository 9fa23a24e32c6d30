"""Asks a model behind a server for a label, and reads label probabilities from the listed tokens of
its answer.

The question comes from the example's template, or from the entry's `[models.prompt]`. User text is
inserted last and never expanded again.

A server that cannot score given text still lists the k most likely tokens of every position that it
writes. The first position with a label's token is read. Only blanks or the answer's prefix may come
before it. If the position has blanks and all labels listed there have less than 0.01, the next
position is read. An unlisted label has at most the k-th probability. It counts as 0 if that changes
the result by at most 0.01; otherwise the probabilities are null. No request is made here.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from math import exp

from shared.contracts.calls import Example, Prompt, Turn, sent_texts
from shared.contracts.errors import BadInput, ScoringError
from shared.contracts.judgement import NO_MASS, Judgement, Reading, normalize, unread
from shared.contracts.prompt_table import (
    NOT_ALLOWED,
    PromptKeys,
    PromptTable,
    first_reason,
    override_table,
    prompt_turns,
    raw_text,
    sent_placeholders,
)
from shared.models.catalogue.entry import ModelEntry
from shared.models.openai.protocol import LogprobEntry, ServerChoice, ServerToken
from shared.models.openai.text import spans
from shared.text.language import language_code

OF_THE_SERVER = frozenset({"template_kwargs", "add_generation_prompt"})


@dataclass(frozen=True)
class Question:
    """A prompt whose answer is a label. The string `prefix` is written before the label."""

    prompt: Prompt
    verbalizers: Mapping[str, tuple[str, ...]]  # label → strings that mean it
    prefix: str = ""
    table: PromptTable | None = None  # the source of the prompt

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels, in the order of an answer's columns."""
        return tuple(self.verbalizers)

    @property
    def strings(self) -> list[tuple[str, str]]:
        """Return (label, verbalizer) pairs. A verbalizer is a string that stands for the label."""
        return [(label, text) for label, texts in self.verbalizers.items() for text in texts]


def make_question(example: Example, entry: ModelEntry | None = None) -> Question:
    """Return the question about an example's label. Raises BadInput if neither the example nor the
    entry has a prompt."""
    if example.template is not None:
        if example.text_pair is not None:
            raise BadInput(
                "a causal model does not read pairs of texts; put both texts into the template",
                pointer="/text_pair",
            )
        template = example.template
        text = template.prefix + example.text + template.suffix
        words = {label: (word,) for label, word in template.verbalizers.items()}
        return Question(_raw(text), words)
    table = _table(example, entry)
    if table is None or table.verbalizers is None or entry is None:
        raise BadInput(
            "a causal model needs a template; send `template`, or add "
            "`[models.prompt]` with `verbalizers` to its entry",
            pointer="/template",
        )
    try:
        turns = prompt_turns(table, entry.task)
    except ValueError as error:
        raise BadInput(str(error), pointer="/model") from error
    texts = sent_texts(example, sent_placeholders(turns), language_code)
    verbalizers = table.verbalizers or {}
    if table.style == "raw":
        return Question(_raw(raw_text(turns, texts) + table.answer_prefix), verbalizers, "", table)
    rendered = [Turn.model_construct(role=t.role, content=t.render(texts)) for t in turns]
    prompt = Prompt.model_construct(text=None, turns=tuple(rendered), draw=None)
    return Question(prompt, verbalizers, table.answer_prefix, table)


def _table(example: Example, entry: ModelEntry | None) -> PromptTable | None:
    """Return the entry's prompt, overridden by the prompt in the request. Raises BadInput if the
    entry forbids this, or if the request's prompt is invalid."""
    if entry is None or example.prompt is None:
        return entry.prompt if entry else None
    if not entry.allow_request_prompt:
        raise BadInput(NOT_ALLOWED.format(entry.name), pointer="/prompt")
    if keys := sorted(example.prompt.model_fields_set & OF_THE_SERVER):
        raise BadInput(
            f"{keys[0]!r} can only be set in the model's entry, because the model runs on a "
            "server; leave it out",
            pointer="/prompt",
        )
    try:
        return override_table(entry.prompt, example.prompt)
    except ValueError as error:
        raise BadInput(f"prompt: {first_reason(error)}", pointer="/prompt") from error


def prompt_sha256(entry: ModelEntry, request_prompt: PromptKeys | None = None) -> str | None:
    """Return the SHA-256 of the model's prompt, or None if it has none. The server's chat template
    is not included. Raises BadInput."""
    table = _table(Example(text="", prompt=request_prompt), entry)
    if table is None or table.verbalizers is None:
        return None
    try:
        turns = prompt_turns(table, entry.task)
    except ValueError:  # reported with the question
        return None
    empty = dict.fromkeys(sent_placeholders(turns), "")
    rendered = [[turn.role, turn.render(empty)] for turn in turns]
    content = [rendered, table.answer_prefix, table.template_kwargs]
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def _raw(text: str) -> Prompt:
    """Return a raw prompt without checking its length, because the template makes it longer than a
    request's own prompt may be."""
    return Prompt.model_construct(text=text, turns=None, draw=None)


TOLERATED = 0.01  # uncertainty of P by labels that are not listed
SLACK = 0.05  # of the sum of listed tokens; half precision changes it by 0.01
NO_PROBABILITIES = "the probabilities that the server lists add up to more than 1"
READING: Reading = "top-logprobs"
Verbalizers = Mapping[str, Sequence[str]]  # label → strings that mean it


@dataclass(frozen=True)
class LabelPosition:
    """The place in a model's answer from which the label is read."""

    place: int
    shares: dict[str, float]  # label → probability of its listed tokens; unlisted: 0
    missing: tuple[str, ...]
    smallest: float  # of the listed probabilities, a bound for unlisted tokens
    tokens: Mapping[str, float]  # listed token → probability

    @property
    def uncertainty(self) -> float:
        """The largest possible error of a label probability because some labels are not listed, [0,
        1]."""
        unlisted = len(self.missing) * self.smallest
        listed = sum(self.shares.values())
        return unlisted / (listed + unlisted) if unlisted else 0.0


def read_position(choice: ServerChoice, verbalizers: Verbalizers, prefix: str = "") -> Judgement:
    """Return label probabilities from a chat's answer, in which the string `prefix` precedes the
    label."""
    listed = find_position(choice, verbalizers, prefix)
    return listed if isinstance(listed, Judgement) else from_position(listed)


def from_position(listed: LabelPosition) -> Judgement:
    """Return label probabilities with their uncertainty. If the uncertainty is above 0.01, the
    probabilities are null, with the reason `label-not-listed`."""
    if listed.uncertainty > TOLERATED:
        names = ", ".join(map(repr, listed.missing))
        return unread(
            tuple(listed.shares),
            "label-not-listed",
            f"{names}: not among the tokens that the server lists, of which the last has "
            f"probability {listed.smallest:.2g}; the probability could be off by "
            f"{listed.uncertainty:.2f}",
            reading=READING,
            mass=min(1.0, sum(listed.shares.values())),
        )
    return normalize(listed.shares, READING, uncertainty=listed.uncertainty)


def find_position(
    choice: ServerChoice, verbalizers: Verbalizers, prefix: str = ""
) -> LabelPosition | Judgement:
    """Find where the answer states its label. If that fails, return a judgement without
    probabilities, with the reason."""
    labels = tuple(verbalizers)
    if choice.cut_by_reasoning:
        detail = "the model used all its tokens for reasoning"
        return unread(labels, "answer-cut-by-reasoning", detail, reading=READING)
    positions = _positions(choice)
    if not positions:
        return unread(labels, "no-logprobs", "the server returns no log-probabilities")
    before = ""
    written = "".join(position.token for position in positions)
    offset = len(written) - len(written.lstrip())
    expected = prefix.strip()
    start = written[offset : offset + len(expected)]
    prefix_end = (
        offset + len(expected) if expected and start.casefold() == expected.casefold() else 0
    )
    for index, position in enumerate(positions):
        shares = dict.fromkeys(labels, 0.0)
        tops = {position.token: position.logprob}
        tops |= {entry.token: entry.logprob for entry in position.top_logprobs}
        if not _are_probabilities(tops.values()):
            return unread(labels, "answer-unread", NO_PROBABILITIES, reading=READING)
        if len(before) >= prefix_end:
            shares = label_shares(tops, verbalizers)
        before += position.token
        blank = not before[prefix_end:].strip()
        if sum(shares.values()) >= NO_MASS or (not blank and any(shares.values())):
            missing = tuple(label for label, share in shares.items() if not share)
            tokens = {token: exp(logprob) for token, logprob in tops.items()}
            return LabelPosition(index, shares, missing, min(tokens.values()), tokens)
        if not blank:
            break
    # no words: they may be texts
    detail = (
        "none of the tokens that the server lists for the start of the answer belongs to a label"
    )
    return unread(labels, "answer-unread", detail, reading=READING)


def _are_probabilities(logprobs: Collection[float]) -> bool:
    return not (
        any(logprob > SLACK for logprob in logprobs) or sum(map(exp, logprobs)) > 1 + SLACK
    )  # not <=, so that NaN is found with P


def label_shares(tops: Mapping[str, float], verbalizers: Verbalizers) -> dict[str, float]:
    """Return for each label the sum of the probabilities of its tokens. A token belongs to a label
    if it begins a word for that label and for no other. `tops` maps tokens to natural logarithms.
    Case and surrounding blanks are ignored."""
    shares = dict.fromkeys(verbalizers, 0.0)
    for token, logprob in tops.items():
        labels = match_labels(token, verbalizers)
        if len(labels) == 1:
            shares[labels[0]] += exp(logprob)
    return shares


def match_labels(token: str, verbalizers: Verbalizers) -> list[str]:
    """Return the labels that have a word beginning with this token."""
    begun = token.strip().casefold()
    if not begun:
        return []
    return [
        label
        for label, words in verbalizers.items()
        if any(word.strip().casefold().startswith(begun) for word in words)
    ]


def parse_label(answer: str, verbalizers: Verbalizers, prefix: str = "") -> str | None:
    """Return the label that an answer begins with as a whole word. Return None if there is none, or
    more than one."""
    text = answer.strip().casefold()
    text = text.removeprefix(prefix.strip().casefold()).strip(" \t\n\r*\"'`.:")
    labels = {
        label
        for label, words in verbalizers.items()
        for word in words
        if _match_prefix(text, word.strip().casefold())
    }
    return labels.pop() if len(labels) == 1 else None


def _match_prefix(text: str, word: str) -> bool:
    remainder = text[len(word) :]
    return (
        bool(word)
        and text.startswith(word)
        and not (remainder[:1].isalnum() or remainder[:1] in ("-", "_"))
    )


def _positions(choice: ServerChoice) -> list[LogprobEntry]:
    """Return the answer's tokens with their log-probabilities. Servers also list the tokens of the
    reasoning, which are left out."""
    content = choice.logprobs.positions if choice.logprobs else []
    pieces: list[ServerToken] = [entry.to_token for entry in content]
    if not choice.reasoning or not pieces:
        return content
    try:
        offsets = spans([piece.spelled for piece in pieces], choice.written)
    except ScoringError:  # only reasoning
        return []
    first = next((index for index, span in enumerate(offsets) if span and span[1] > span[0]), None)
    return [] if first is None else content[first:]
