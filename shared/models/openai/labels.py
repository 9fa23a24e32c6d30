"""A question about labels to a model behind a server, and its answer read from listed tokens.

The question is made by the example's own template, else by the entry's `[models.prompt]`. What a
user sent is inserted last and never expanded again.

A server that scores no given text still lists the k likeliest tokens of every position that it
writes. The first position where a label's token is listed is read; what was written before it must
be blanks or the answer's prefix. Where blanks are written and all labels listed beside them have
less than 0.01, the next position is the answer's. A label that is not listed has at most the k-th
probability: it is taken as 0 where that moves P by 0.01 at most, else P is null. No request is made
here. Source: specs "models" §1.3, §4.3 (4).
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
    """prefix: what the model writes before its label."""

    prompt: Prompt
    verbalizers: Mapping[str, tuple[str, ...]]  # label → strings that stand for it
    prefix: str = ""
    table: PromptTable | None = None  # that it was made by

    @property
    def labels(self) -> tuple[str, ...]:
        """In the order of every answer's columns."""
        return tuple(self.verbalizers)

    @property
    def strings(self) -> list[tuple[str, str]]:
        """(label, what would be written for it) pairs."""
        return [(label, one) for label, own in self.verbalizers.items() for one in own]


def make_question(example: Example, entry: ModelEntry | None = None) -> Question:
    """Raises BadInput where neither the example nor the entry says how the model is asked."""
    if example.template is not None:
        if example.text_pair is not None:
            raise BadInput("a causal model reads no pairs: use the template", pointer="/text_pair")
        template = example.template
        text = template.prefix + example.text + template.suffix
        words = {label: (word,) for label, word in template.verbalizers.items()}
        return Question(_raw(text), words)
    table = _table(example, entry)
    if table is None or table.verbalizers is None or entry is None:
        raise BadInput(
            "a causal model needs a template, or `[models.prompt]` with `verbalizers` in its entry",
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
    said = [Turn.model_construct(role=one.role, content=one.render(texts)) for one in turns]
    prompt = Prompt.model_construct(text=None, turns=tuple(said), draw=None)
    return Question(prompt, verbalizers, table.answer_prefix, table)


def _table(example: Example, entry: ModelEntry | None) -> PromptTable | None:
    """The entry's, with what the example says in its place. Raises BadInput."""
    if entry is None or example.prompt is None:
        return entry.prompt if entry else None
    if not entry.allow_request_prompt:
        raise BadInput(NOT_ALLOWED.format(entry.name), pointer="/prompt")
    if stated := sorted(example.prompt.model_fields_set & OF_THE_SERVER):
        raise BadInput(
            f"{stated[0]!r} of a model behind a server stands in its entry", pointer="/prompt"
        )
    try:
        return override_table(entry.prompt, example.prompt)
    except ValueError as error:
        raise BadInput(f"prompt: {first_reason(error)}", pointer="/prompt") from error


def prompt_sha256(entry: ModelEntry, own: PromptKeys | None = None) -> str | None:
    """Of the turns around an empty text and the answer's prefix, as JSON; None: it has no prompt of
    its own. How its server writes them out is the server's affair. Raises BadInput."""
    table = _table(Example(text="", prompt=own), entry)
    if table is None or table.verbalizers is None:
        return None
    try:
        turns = prompt_turns(table, entry.task)
    except ValueError:  # whoever asks is told
        return None
    empty = dict.fromkeys(sent_placeholders(turns), "")
    said = [[turn.role, turn.render(empty)] for turn in turns]
    told = [said, table.answer_prefix, table.template_kwargs]
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()


def _raw(text: str) -> Prompt:
    """Longer than a prompt of a request may be: a template comes on top."""
    return Prompt.model_construct(text=text, turns=None, draw=None)


TOLERATED = 0.01  # of P, for labels that are not listed
SLACK = 0.05  # of the listed tokens together: half precision moves them by 0.01
NO_PROBABILITIES = "the probabilities that the server lists add up to more than 1: they are none"
READING: Reading = "top-logprobs"
Verbalizers = Mapping[str, Sequence[str]]  # label → what would be written for it


@dataclass(frozen=True)
class LabelPosition:
    """The position that is read. shares: label → probability of its listed tokens, unlisted: 0."""

    place: int
    shares: dict[str, float]
    missing: tuple[str, ...]
    smallest: float  # of the listed probabilities: what is not listed has at most this
    tokens: Mapping[str, float]  # listed token → probability

    @property
    def uncertainty(self) -> float:
        """How far P may be off for want of the missing labels, [0, 1]."""
        unseen = len(self.missing) * self.smallest
        found = sum(self.shares.values())
        return unseen / (found + unseen) if unseen else 0.0


def read_position(found: ServerChoice, verbalizers: Verbalizers, prefix: str = "") -> Judgement:
    """P of the labels from one answer of a chat; prefix: what it writes before its label."""
    listed = find_position(found, verbalizers, prefix)
    return listed if isinstance(listed, Judgement) else from_position(listed)


def from_position(listed: LabelPosition) -> Judgement:
    """P, with its uncertainty; null `label-not-listed` where that is more than 0.01."""
    if listed.uncertainty > TOLERATED:
        names = ", ".join(map(repr, listed.missing))
        return unread(
            tuple(listed.shares),
            "label-not-listed",
            f"{names}: not among the listed tokens, of which the last has {listed.smallest:.2g}; P "
            f"could be off by {listed.uncertainty:.2f}",
            reading=READING,
            mass=min(1.0, sum(listed.shares.values())),
        )
    return normalize(listed.shares, READING, uncertainty=listed.uncertainty)


def find_position(
    found: ServerChoice, verbalizers: Verbalizers, prefix: str = ""
) -> LabelPosition | Judgement:
    """The position that tells the labels, or a judgement without P that says why there is none."""
    labels = tuple(verbalizers)
    if found.cut_by_reasoning:
        detail = "the model was still reasoning when its tokens were used up"
        return unread(labels, "answer-cut-by-reasoning", detail, reading=READING)
    positions = _positions(found)
    if not positions:
        return unread(labels, "no-logprobs", "the server tells no log-probabilities")
    before = ""
    written = "".join(position.token for position in positions)
    begins = len(written) - len(written.lstrip())
    wanted = prefix.strip()
    said = written[begins : begins + len(wanted)]
    border = begins + len(wanted) if wanted and said.casefold() == wanted.casefold() else 0
    for place, position in enumerate(positions):
        shares = dict.fromkeys(labels, 0.0)
        tops = _top_logprobs(position)
        if not _are_probabilities(tops.values()):
            return unread(labels, "answer-unread", NO_PROBABILITIES, reading=READING)
        if len(before) >= border:
            shares = label_shares(tops, verbalizers)
        before += position.token
        blank = not before[border:].strip()
        if sum(shares.values()) >= NO_MASS or (not blank and any(shares.values())):
            missing = tuple(label for label, share in shares.items() if not share)
            tokens = {token: exp(logprob) for token, logprob in tops.items()}
            return LabelPosition(place, shares, missing, min(tokens.values()), tokens)
        if not blank:
            break
    detail = "no label's token is listed where the answer begins"  # not its words: they may echo
    return unread(labels, "answer-unread", detail, reading=READING)


def _are_probabilities(logprobs: Collection[float]) -> bool:
    """Whether they can be those of tokens at one place."""
    return not (
        any(one > SLACK for one in logprobs) or sum(map(exp, logprobs)) > 1 + SLACK
    )  # not <=: what is no number is seen with P


def label_shares(tops: Mapping[str, float], verbalizers: Verbalizers) -> dict[str, float]:
    """Probability of the tokens that begin a label's verbalizer and no other label's.

    tops: token → natural logarithm. Blanks at the ends and case do not count.
    """
    shares = dict.fromkeys(verbalizers, 0.0)
    for token, logprob in tops.items():
        own = match_labels(token, verbalizers)
        if len(own) == 1:
            shares[own[0]] += exp(logprob)
    return shares


def match_labels(token: str, verbalizers: Verbalizers) -> list[str]:
    """The labels of which a verbalizer begins with this token."""
    begun = token.strip().casefold()
    if not begun:
        return []
    return [
        label
        for label, words in verbalizers.items()
        if any(word.strip().casefold().startswith(begun) for word in words)
    ]


def parse_label(answer: str, verbalizers: Verbalizers, prefix: str = "") -> str | None:
    """The label that an answer begins with, as a whole word; None: none, or more than one."""
    said = answer.strip().casefold()
    said = said.removeprefix(prefix.strip().casefold()).strip(" \t\n\r*\"'`.:")
    found = {
        label
        for label, words in verbalizers.items()
        for word in words
        if _match_prefix(said, word.strip().casefold())
    }
    return found.pop() if len(found) == 1 else None


def _match_prefix(said: str, word: str) -> bool:
    rest = said[len(word) :]
    return (
        bool(word) and said.startswith(word) and not (rest[:1].isalnum() or rest[:1] in ("-", "_"))
    )


def _top_logprobs(position: LogprobEntry) -> dict[str, float]:
    """Listed tokens, the one that was written among them."""
    tops = {entry.token: entry.logprob for entry in position.top_logprobs}
    return {position.token: position.logprob, **tops}


def _positions(found: ServerChoice) -> list[LogprobEntry]:
    """Those of the answer: servers list those of the reasoning and of its marks too."""
    content = found.logprobs.positions if found.logprobs else []
    pieces: list[ServerToken] = [entry.to_token for entry in content]
    if not found.reasoning or not pieces:
        return content
    try:
        places = spans([piece.spelled for piece in pieces], found.written)
    except ScoringError:  # reasoning alone
        return []
    begins = next((at for at, span in enumerate(places) if span and span[1] > span[0]), None)
    return [] if begins is None else content[begins:]
