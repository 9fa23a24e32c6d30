"""What of a model's output is its answer: neither its reasoning nor what it goes on with.

Reasoning models mark their chain of thought, each family in its way. Small models go on behind
their answer: with the prompt once more and another text, or with the next turn of a conversation.
Source: specs "models" §5.1; marks as the models' templates have them. Time is linear in the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from shared.contracts.calls import Completion, WrittenToken
from shared.contracts.elicitation import PLACEHOLDERS
from shared.contracts.prompt_table import parse_template
from shared.readers.decision_words import HATEFUL, KEY_NOUNS, NOT

MARKS = (  # what opens and what closes a chain of thought
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),
    ("<scratchpad>", "</scratchpad>"),
    ("<seed:think>", "</seed:think>"),
    ("[THINK]", "[/THINK]"),
    ("\u25c1think\u25b7", "\u25c1/think\u25b7"),
    ("<|begin_of_thought|>", "<|end_of_thought|>"),
    ("<|START_THINKING|>", "<|END_THINKING|>"),
    ("<|channel|>analysis<|message|>", "<|channel|>final<|message|>"),
)
LONGEST_HEADER = 60  # characters


def _any_of(marks: Iterable[str]) -> str:
    """A pattern of the marks, however they are spaced: `< think >`."""
    names = (re.split(r"(\w[\w|:]*\w|\w)", mark) for mark in marks)
    return "|".join(r"\s{0,3}".join(map(re.escape, filter(None, name))) for name in names)


_OPENING = _any_of(opening for opening, _ in MARKS)
_CLOSING = _any_of(closing for _, closing in MARKS)
_OPENS = re.compile(rf"\s*(?:```\w*\s*)?(?:{_OPENING})", re.IGNORECASE)
_CLOSES = re.compile(
    rf"(?:{_CLOSING})(?:\s*<\|(?:begin_of_solution|START_RESPONSE)\|>)?\s*", re.IGNORECASE
)
_MARK = re.compile(f"{_OPENING}|{_CLOSING}", re.IGNORECASE)
_EXPLAINS = re.compile(  # with six words behind it: fewer are a label, which the tag explains
    r"\s*<(?P<tag>reasoning|analysis)>(?P<thought>.*?)</(?P=tag)>\s*(?=(?:\S+\s+){5}\S)",
    re.IGNORECASE | re.DOTALL,
)
_TURN = re.compile(  # the end of a turn, as templates mark it, or as models write the next one
    r"<\|(?:im_end|im_start|eot_id|endoftext|end|return|end_of_text|end_of_solution|END_RESPONSE|user)\|>|</s>"
    r"|<end_of_turn>|<start_of_turn>|\[/?INST\]"
    r"|\n[^\w\n]{0,9}(?:user|human|q|instructions?|input)[^\w\n]{0,3}[:\uff1a]"
    r"|\n[#\s]{1,9}(?:user|human|instructions?|input)\b[^\w\n]{0,6}(?=\n)"
    rf"|{_OPENING}|{_any_of(closing for _, closing in MARKS[:-1])}",
    re.IGNORECASE,
)
_DECIDED = re.compile(  # by a key and a label
    rf"{KEY_NOUNS}[*_\s]{{0,4}}[:\uff1a][^\w\n]{{0,9}}(?:(?:the|this|it|text|post|is|an?)\s){{0,4}}"
    rf"{NOT}?{HATEFUL}",
    re.IGNORECASE,
)
_ITEM = re.compile(  # what heads another text to decide about: "Text 2", "Now another one"
    r"(?:\d{1,2}[.)]\s{0,3})?(?:(?:now|and|here|next|another|new|second|third|one|more|the|is|other|user)\s){0,5}"
    r"(?:tweet|comment|example|text|post|message|input|sentence|statement|item|case|passage|content|one|more"
    r"|next|文本|评论|例子?|텍스트|댓글|예시?|문장)\s{0,3}(?:[#(]{0,2}\d{1,2}[)]?)?"
)
_ANOTHER = re.compile(  # the same in prose that has a label for it
    r"[^\w\n]{0,9}(?:(?:and|now|as|for|regarding|about)\s){0,2}the\s(?:second|third|next|other)\s(?:text|post|comment"
    rf"|tweet|message|item|example|case|input|one)\b[^\n]{{0,200}}?\b{HATEFUL}",
    re.IGNORECASE,
)
_LABEL = re.compile(HATEFUL, re.IGNORECASE)


@dataclass(frozen=True)
class Answer:
    """An answer without the reasoning before it; tokens: with offsets into `text`.

    reasoning: None if there was none, or if it is unknown. reasoning_tokens: None if unknown.
    cut: True if the tokens were used up before the answer began. own: characters of `text` before
    it goes on with something else.
    """

    text: str
    tokens: tuple[WrittenToken, ...]
    finish: str
    reasoning: str | None = None
    reasoning_tokens: int | None = 0
    cut: bool = False
    own: int | None = None

    @property
    def own_text(self) -> str:
        """The answer to what was asked."""
        return self.text[: self.own]

    @property
    def goes_on(self) -> bool:
        """True if something else follows that."""
        return bool(self.text[len(self.own_text) :].strip())

    @property
    def breaks_off(self) -> bool:
        """True if the tokens were used up within it."""
        return self.finish == "length" and not self.goes_on


CUT = Answer("", (), "length", None, None, cut=True)


def answer_of(completion: Completion) -> Answer:
    """Separate answer and reasoning: as the server sends them, else as the text marks them."""
    text = completion.text
    if completion.reasoning is not None:
        return Answer(text, completion.tokens, completion.finish, completion.reasoning, None)
    start, reasoning, is_closed = _reasoning(text)
    if reasoning is None:
        return Answer(text, completion.tokens, completion.finish)
    kept = [token for token in completion.tokens if token.end > start]
    moved = tuple(
        token.model_copy(update={"start": max(0, token.start - start), "end": token.end - start})
        for token in kept
    )
    spent = len(completion.tokens) - len(kept) if completion.tokens else None
    return Answer(text[start:], moved, completion.finish, reasoning, spent, cut=not is_closed)


def _reasoning(text: str) -> tuple[int, str | None, bool]:
    """Return where the answer starts, the reasoning before it, and True if the reasoning ends.

    A chat template may open the reasoning itself, so that the text only closes it. What a model
    thinks once it has answered is not before its answer.
    """
    if explains := _EXPLAINS.match(text):
        return explains.end(), explains["thought"].strip(), True
    is_opened = _OPENS.match(text) is not None
    closings = list(_CLOSES.finditer(text))
    ends = [one.end() for one in closings if text[one.end() :].strip("` \t\r\n")]
    if not ends and not is_opened:
        return 0, None, True
    start = ends[-1] if ends else closings[-1].end() if closings else 0
    is_closed = _OPENS.match(text, start) is None
    start = start if is_closed else len(text)
    thoughts = [piece.strip("` \t\r\n") for piece in _MARK.split(text[:start])]
    return start, "\n".join(filter(None, thoughts)), is_closed


def own_length(text: str, template: str, inputs: Iterable[str]) -> int:
    """Return the characters of an answer before it goes on with another question.

    That begins with a header of the prompt or, between two decisions, with any that heads a text.
    template: of the prompt, whose headers ("### Text:") a small model writes again; inputs: what
    stood behind them, which an answer may repeat at its beginning.
    """
    headers = _headers(template)
    shown = [" ".join(one.split()).casefold()[:LONGEST_HEADER] for one in inputs]
    first = len(text) - len(text.lstrip())
    ends = [match.start() for match in _TURN.finditer(text, first + 1)][:1]
    decided = [match.end() for match in _DECIDED.finditer(text)]
    once, again = (decided[0], decided[-1]) if decided else (len(text), 0)
    place = 0
    for line in text.splitlines(keepends=True):
        header = _header(line)
        is_item = once <= place < again and _ITEM.fullmatch(header) is not None
        if again <= place and _ANOTHER.match(line):
            is_item |= _LABEL.search(text, 0, place) is not None
        if place > first and (is_item or header in headers):
            below = text[place + line.find(":") + 1 :][: 4 * LONGEST_HEADER]
            repeated = " ".join(below.split()).casefold()
            if not any(one and repeated.startswith(one) for one in shown):
                ends.append(place)
                break
        place += len(line)
    end = min(ends, default=len(text))
    return end if text[:end].strip() else len(text)


def _headers(template: str) -> frozenset[str]:
    """What heads what is filled in: "### Text:", "Premise:"."""
    headers, above = set(), ""
    for piece in parse_template(template, PLACEHOLDERS):
        if piece.inserted is not None:
            headers.add(_header(above.rstrip().rpartition("\n")[2]))
        above = piece.text
    return frozenset(headers - {""})


def _header(line: str) -> str:
    """The words before a colon, few of them, or of a heading; else nothing."""
    words, colon, _ = line.strip()[: LONGEST_HEADER + 1].partition(":")
    is_header = len(words) < LONGEST_HEADER and (colon or words.startswith("#"))
    return words.strip("#*_ \t").casefold() if is_header else ""
