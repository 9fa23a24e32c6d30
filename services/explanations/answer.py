"""Finds the answer in a model's output, without its reasoning and without any continuation. Small
models often continue after their answer with another text or turn. Runs in linear time. Source: the
marks of reasoning come from the models' templates."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from shared.contracts.calls import Completion, WrittenToken
from shared.contracts.elicitation import PLACEHOLDERS
from shared.contracts.prompt_table import parse_template
from shared.readers.decision_words import HATEFUL, KEY_NOUNS, NOT

MARKS = (  # opening and closing marks of a chain of thought
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
    """Return a pattern that matches each mark with any spacing, such as `< think >`."""
    names = (re.split(r"(\w[\w|:]*\w|\w)", mark) for mark in marks)
    return "|".join(r"\s{0,3}".join(map(re.escape, filter(None, name))) for name in names)


_OPENING = _any_of(opening for opening, _ in MARKS)
_CLOSING = _any_of(closing for _, closing in MARKS)
_OPENS = re.compile(rf"\s*(?:```\w*\s*)?(?:{_OPENING})", re.IGNORECASE)
_CLOSES = re.compile(
    rf"(?:{_CLOSING})(?:\s*<\|(?:begin_of_solution|START_RESPONSE)\|>)?\s*", re.IGNORECASE
)
_MARK = re.compile(f"{_OPENING}|{_CLOSING}", re.IGNORECASE)
_EXPLAINS = re.compile(  # before six words or more; fewer are a label that the tag explains
    r"\s*<(?P<tag>reasoning|analysis)>(?P<thought>.*?)</(?P=tag)>\s*(?=(?:\S+\s+){5}\S)",
    re.IGNORECASE | re.DOTALL,
)
_TURN = re.compile(  # the end of a turn in templates, or the start of the next in models' texts
    r"<\|(?:im_end|im_start|eot_id|endoftext|end|return|end_of_text|end_of_solution|END_RESPONSE|user)\|>|</s>"
    r"|<end_of_turn>|<start_of_turn>|\[/?INST\]"
    r"|\n[^\w\n]{0,9}(?:user|human|q|instructions?|input)[^\w\n]{0,3}[:\uff1a]"
    r"|\n[#\s]{1,9}(?:user|human|instructions?|input)\b[^\w\n]{0,6}(?=\n)"
    rf"|{_OPENING}|{_any_of(closing for _, closing in MARKS[:-1])}",
    re.IGNORECASE,
)
_DECIDED = re.compile(  # a key and a label
    rf"{KEY_NOUNS}[*_\s]{{0,4}}[:\uff1a][^\w\n]{{0,9}}(?:(?:the|this|it|text|post|is|an?)\s){{0,4}}"
    rf"{NOT}?{HATEFUL}",
    re.IGNORECASE,
)
_ITEM = re.compile(  # the head of another text: "Text 2", "Now another one"
    r"(?:\d{1,2}[.)]\s{0,3})?(?:(?:now|and|here|next|another|new|second|third|one|more|the|is|other|user)\s){0,5}"
    r"(?:tweet|comment|example|text|post|message|input|sentence|statement|item|case|passage|content|one|more"
    r"|next|文本|评论|例子?|텍스트|댓글|예시?|문장)\s{0,3}(?:[#(]{0,2}\d{1,2}[)]?)?"
)
_ANOTHER = re.compile(  # the same in a sentence with a label
    r"[^\w\n]{0,9}(?:(?:and|now|as|for|regarding|about)\s){0,2}the\s(?:second|third|next|other)\s(?:text|post|comment"
    rf"|tweet|message|item|example|case|input|one)\b[^\n]{{0,200}}?\b{HATEFUL}",
    re.IGNORECASE,
)
_LABEL = re.compile(HATEFUL, re.IGNORECASE)


@dataclass(frozen=True)
class Answer:
    """An answer, separated from the reasoning before it."""

    text: str
    tokens: tuple[WrittenToken, ...]  # with offsets into `text`
    finish: str
    reasoning: str | None = None  # None: there was none, or it is unknown
    reasoning_tokens: int | None = 0  # None: unknown
    cut: bool = False  # the tokens were used up before the answer began
    own: int | None = None  # characters of `text` before it continues with another question

    @property
    def own_text(self) -> str:
        """The part of the text that answers the question."""
        return self.text[: self.own]

    @property
    def goes_on(self) -> bool:
        """True if the text continues after the end of the answer."""
        return bool(self.text[len(self.own_text) :].strip())

    @property
    def breaks_off(self) -> bool:
        """True if the token limit was reached within the answer."""
        return self.finish == "length" and not self.goes_on


CUT = Answer("", (), "length", None, None, cut=True)


def answer_of(completion: Completion) -> Answer:
    """Separate answer and reasoning, using the server's fields or the tags in the text."""
    text = completion.text
    if completion.reasoning is not None:
        return Answer(text, completion.tokens, completion.finish, completion.reasoning, None)
    start, reasoning, is_closed = _reasoning(text)
    if reasoning is None:
        return Answer(text, completion.tokens, completion.finish)
    tokens = [token for token in completion.tokens if token.end > start]
    answer_tokens = tuple(
        token.model_copy(update={"start": max(0, token.start - start), "end": token.end - start})
        for token in tokens
    )
    reasoning_tokens = len(completion.tokens) - len(tokens) if completion.tokens else None
    return Answer(
        text[start:],
        answer_tokens,
        completion.finish,
        reasoning,
        reasoning_tokens,
        cut=not is_closed,
    )


def _reasoning(text: str) -> tuple[int, str | None, bool]:
    """Return the start of the answer, the reasoning before it, and True if the reasoning is
    complete. The opening mark may be missing, because a chat template wrote it. Reasoning after the
    answer is ignored."""
    if explains := _EXPLAINS.match(text):
        return explains.end(), explains["thought"].strip(), True
    is_opened = _OPENS.match(text) is not None
    closings = list(_CLOSES.finditer(text))
    ends = [closing.end() for closing in closings if text[closing.end() :].strip("` \t\r\n")]
    if not ends and not is_opened:
        return 0, None, True
    start = ends[-1] if ends else closings[-1].end() if closings else 0
    is_closed = _OPENS.match(text, start) is None
    start = start if is_closed else len(text)
    thoughts = [piece.strip("` \t\r\n") for piece in _MARK.split(text[:start])]
    return start, "\n".join(filter(None, thoughts)), is_closed


def own_length(text: str, template: str, inputs: Iterable[str]) -> int:
    """Return the length of the answer in characters, without a continuation that the model invents.

    Small models often repeat a header of the prompt ("### Text:") and continue with another
    question. `template` is the prompt with these headers. `inputs` are the texts after them, which
    an answer may repeat at its start.
    """
    headers = _headers(template)
    shown = [" ".join(text.split()).casefold()[:LONGEST_HEADER] for text in inputs]
    first = len(text) - len(text.lstrip())
    ends = [match.start() for match in _TURN.finditer(text, first + 1)][:1]
    decisions = [match.end() for match in _DECIDED.finditer(text)]
    first_decision, last_decision = (decisions[0], decisions[-1]) if decisions else (len(text), 0)
    position = 0
    for line in text.splitlines(keepends=True):
        header = _header(line)
        is_item = first_decision <= position < last_decision and bool(_ITEM.fullmatch(header))
        if last_decision <= position and _ANOTHER.match(line):
            is_item |= _LABEL.search(text, 0, position) is not None
        if position > first and (is_item or header in headers):
            below = text[position + line.find(":") + 1 :][: 4 * LONGEST_HEADER]
            repeated = " ".join(below.split()).casefold()
            if not any(start and repeated.startswith(start) for start in shown):
                ends.append(position)
                break
        position += len(line)
    end = min(ends, default=len(text))
    return end if text[:end].strip() else len(text)


def _headers(template: str) -> frozenset[str]:
    """Return the headers in front of the prompt's placeholders, such as "### Text:" and
    "Premise:"."""
    headers, above = set(), ""
    for piece in parse_template(template, PLACEHOLDERS):
        if piece.inserted is not None:
            headers.add(_header(above.rstrip().rpartition("\n")[2]))
        above = piece.text
    return frozenset(headers - {""})


def _header(line: str) -> str:
    """Return the few words before a colon or in a heading, or "" if the line is no header."""
    words, colon, _ = line.strip()[: LONGEST_HEADER + 1].partition(":")
    is_header = len(words) < LONGEST_HEADER and (colon or words.startswith("#"))
    return words.strip("#*_ \t").casefold() if is_header else ""
