"""What of a model's output is its answer: neither its reasoning nor what it goes on with.

Reasoning models mark their chain of thought, each family in its way; a chain names labels that it
drops again. Small models go on behind their answer: with the prompt once more and another text, or
with the next turn of a conversation. Source: specs "models" §5.1; marks as the models' templates
have them. Time is linear in the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from shared.elicitation import PLACEHOLDERS
from shared.models.calls import Completion, WrittenToken
from shared.models.prompt_table import parse_template

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
EXPLAINING = (("<reasoning>", "</reasoning>"), ("<analysis>", "</analysis>"))
MOST_CHAINS = 4  # one behind another
LEAST_WORDS = 6  # behind an explaining tag: fewer are a label, which the tag explains
LONGEST_HEADER = 60  # characters

_OPENS = re.compile(r"\s*<\|(?:begin_of_solution|START_RESPONSE)\|>", re.IGNORECASE)  # the answer
_ENDS = re.compile(  # of a turn, as templates mark it, or as models write the next one
    r"<\|(?:im_end|im_start|eot_id|endoftext|end|return|end_of_text|end_of_solution|END_RESPONSE|user)\|>|</s>"
    r"|<end_of_turn>|<start_of_turn>|\[/?INST\]"
    r"|\n[^\w\n]{0,9}(?:user|human|q|instructions?|input)[^\w\n]{0,3}[:\uff1a]"
    r"|\n[#\s]{1,9}(?:user|human|instructions?|input)\b[^\w\n]{0,6}(?=\n)",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Answer:
    """An answer without the reasoning before it; tokens: with offsets into `text`.

    reasoning: None where there was none, or nobody tells it. reasoning_tokens: None: not known.
    cut: whether the tokens were used up before the answer began. own: characters of `text` before
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
        """Whether something else follows that."""
        return bool(self.text[len(self.own_text) :].strip())

    @property
    def breaks_off(self) -> bool:
        """Whether the tokens were used up within it."""
        return self.finish == "length" and not self.goes_on


CUT = Answer("", (), "length", None, None, cut=True)


def answer_of(completion: Completion) -> Answer:
    """Answer and reasoning apart: as the server tells them, else as the text marks them. A chat
    template may open the reasoning itself, so that the text only closes it."""
    text = completion.text
    if completion.reasoning is not None:
        return Answer(text, completion.tokens, completion.finish, completion.reasoning, None)
    start, reasoning, closed = _chain(text)
    if reasoning is None:
        return Answer(text, completion.tokens, completion.finish)
    kept = [token for token in completion.tokens if token.end > start]
    moved = tuple(
        token.model_copy(update={"start": max(0, token.start - start), "end": token.end - start})
        for token in kept
    )
    spent = len(completion.tokens) - len(kept) if completion.tokens else None
    return Answer(text[start:], moved, completion.finish, reasoning, spent, cut=not closed)


def _chain(text: str) -> tuple[int, str | None, bool]:
    """Where the answer starts, the reasoning before it, and whether that ends. Of several chains,
    one behind another, all."""
    start, told = 0, list[str]()
    for _ in range(MOST_CHAINS):
        found = _marks(text[start:])
        if found is None:
            break
        opening, closing = found
        before, closed, after = text[start:].partition(closing)
        told.append(before.replace(opening, "", 1).strip())
        if not closed:
            return len(text), "\n".join(told), False
        opens = _OPENS.match(after)
        after = after[opens.end() :] if opens else after
        start = len(text) - len(after.lstrip())
    return start, "\n".join(told) if told else None, True


def _marks(text: str) -> tuple[str, str] | None:
    """Those of its chain of thought; None where it has none."""
    start = text.lstrip()
    for opening, closing in (*MARKS, *EXPLAINING):
        if start.startswith(opening):
            explains = (opening, closing) in EXPLAINING
            rest = start.partition(closing)[2].split()
            return None if explains and len(rest) < LEAST_WORDS else (opening, closing)
    closed = [(place, marks) for marks in MARKS if (place := text.find(marks[1])) >= 0]
    return min(closed)[1] if closed else None


def own_length(text: str, template: str, inputs: Iterable[str]) -> int:
    """The characters of an answer before it goes on with another question.

    template: of the prompt, whose headers ("### Text:") a small model writes again; inputs: what
    stood behind them, which an answer may repeat at its beginning.
    """
    headers = _headers(template)
    asked = [" ".join(one.split()).casefold()[:LONGEST_HEADER] for one in inputs]
    first = len(text) - len(text.lstrip())
    ends = [match.start() for match in _ENDS.finditer(text, first + 1)][:1]
    place = 0
    for line in text.splitlines(keepends=True):
        named = _header(line)
        if place > first and named in headers:
            shown = text[place + line.find(":") + 1 :][: 4 * LONGEST_HEADER]
            again = " ".join(shown.split()).casefold()
            if not any(one and again.startswith(one) for one in asked):
                ends.append(place)
                break
        place += len(line)
    end = min(ends, default=len(text))
    return end if text[:end].strip() else len(text)


def _headers(template: str) -> frozenset[str]:
    """What heads what is filled in: "### Text:", "Premise:"."""
    found, above = set(), ""
    for piece in parse_template(template, PLACEHOLDERS):
        if piece.inserted is not None:
            found.add(_header(above.rstrip().rpartition("\n")[2]))
        above = piece.text
    return frozenset(found - {""})


def _header(line: str) -> str:
    """The words before a colon, few of them, or of a heading; else nothing."""
    told, colon, _ = line.strip()[: LONGEST_HEADER + 1].partition(":")
    is_header = len(told) < LONGEST_HEADER and (colon or told.startswith("#"))
    return told.strip("#*_ \t").casefold() if is_header else ""
