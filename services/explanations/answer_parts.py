"""What of a model's output is its answer: neither its reasoning nor what it goes on with.

Reasoning models mark their chain of thought, each family in its way; a chain names labels that it
drops again. Small models go on behind their answer: with the prompt once more and another text, or
with the next turn of a conversation. Source: specs "models" §5.1; marks as the models' templates
have them. Time is linear in the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import takewhile

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
EXPLAINING = (("<reasoning>", "</reasoning>"), ("<analysis>", "</analysis>"))
LEAST_WORDS = 6  # behind an explaining tag: fewer are a label, which the tag explains
LONGEST_HEADER = 60  # characters


def _mark(written: str) -> str:
    """However it is spaced: `< think >`."""
    name = re.split(r"(\w[\w|:]*\w|\w)", written)
    return r"\s{0,3}".join(re.escape(part) for part in name if part)


_PATTERNS = {
    marks: (re.compile(_mark(marks[0]), re.IGNORECASE), re.compile(_mark(marks[1]), re.IGNORECASE))
    for marks in (*MARKS, *EXPLAINING)
}
_CLOSES = re.compile("|".join(_mark(closing) for _, closing in MARKS), re.IGNORECASE)
_BLANK = re.compile(r"\s*")
_FENCE = re.compile(r"\s*(?:```\w*\s*)?")
_OPENS = re.compile(  # the answer
    r"\s{0,20}<\|(?:begin_of_solution|START_RESPONSE)\|>", re.IGNORECASE
)
_ENDS = re.compile(  # of a turn, as templates mark it, or as models write the next one
    r"<\|(?:im_end|im_start|eot_id|endoftext|end|return|end_of_text|end_of_solution|END_RESPONSE|user)\|>|</s>"
    r"|<end_of_turn>|<start_of_turn>|\[/?INST\]"
    r"|\n[^\w\n]{0,9}(?:user|human|q|instructions?|input)[^\w\n]{0,3}[:\uff1a]"
    r"|\n[#\s]{1,9}(?:user|human|instructions?|input)\b[^\w\n]{0,6}(?=\n)"
    # what the model thinks once it has answered
    rf"|{'|'.join(_mark(one) for marks in MARKS[:-1] for one in marks)}",
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


_ANOTHER = re.compile(  # the same in prose, of which a label is told
    r"[^\w\n]{0,9}(?:(?:and|now|as|for|regarding|about)\s){0,2}the\s(?:second|third|next|other)\s(?:text|post|comment"
    rf"|tweet|message|item|example|case|input|one)\b[^\n]{{0,200}}?\b{HATEFUL}",
    re.IGNORECASE,
)
_LABEL = re.compile(HATEFUL, re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Chain:
    """text[slice(*inner)], and where what follows starts. opened: whether it begins where the text
    did, or where the one before it ended, with its mark."""

    inner: tuple[int, int]
    after: int
    opened: bool
    closed: bool = True


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
    start, reasoning, closed = _reasoning(text)
    if reasoning is None:
        return Answer(text, completion.tokens, completion.finish)
    kept = [token for token in completion.tokens if token.end > start]
    moved = tuple(
        token.model_copy(update={"start": max(0, token.start - start), "end": token.end - start})
        for token in kept
    )
    spent = len(completion.tokens) - len(kept) if completion.tokens else None
    return Answer(text[start:], moved, completion.finish, reasoning, spent, cut=not closed)


def _reasoning(text: str) -> tuple[int, str | None, bool]:
    """Where the answer starts, the reasoning before it, and whether that ends. Of several chains,
    one behind another, all; what a model thinks once it has answered is not before its answer."""
    chains = list(_chains(text))
    if chains and not (chains[-1].closed and text[chains[-1].after :].strip("` \t\r\n")):
        row = list(takewhile(lambda one: one.opened, chains))
        chains = row if len(row) < len(chains) else chains
    if not chains:
        return 0, None, True
    told = "\n".join(text[slice(*one.inner)].strip() for one in chains)
    return chains[-1].after, told, chains[-1].closed


def _chains(text: str) -> Iterator[_Chain]:
    place = 0
    while (found := _chain_at(text, place)) is not None:
        yield found
        if not found.closed:
            return
        place = found.after


def _chain_at(text: str, place: int) -> _Chain | None:
    """The next chain of thought: one that opens here, else one that only closes."""
    start = _end(_FENCE, text, place)
    for marks in (*MARKS, *EXPLAINING):
        opening, closing = _PATTERNS[marks]
        if (opens := opening.match(text, start)) is None:
            continue
        closes = closing.search(text, opens.end())
        if marks in EXPLAINING and (closes is None or _is_label(text, closes.end())):
            return None
        if closes is None:
            return _Chain((opens.end(), len(text)), len(text), opened=True, closed=False)
        return _Chain((opens.end(), closes.start()), _answer_start(text, closes), opened=True)
    closes = _CLOSES.search(text, place)
    return closes and _Chain((place, closes.start()), _answer_start(text, closes), opened=False)


def _is_label(text: str, place: int) -> bool:
    """Are so few words left that they are what an explaining tag explains?"""
    return len(text[place : place + LEAST_WORDS * LONGEST_HEADER].split()) < LEAST_WORDS


def _answer_start(text: str, closes: re.Match[str]) -> int:
    return _end(_BLANK, text, _end(_OPENS, text, closes.end()))


def _end(pattern: re.Pattern[str], text: str, place: int) -> int:
    """Behind what it matches at this place, which may be nothing."""
    found = pattern.match(text, place)
    return found.end() if found else place


def own_length(text: str, template: str, inputs: Iterable[str]) -> int:
    """The characters of an answer before it goes on with another question: with a header of the
    prompt, or, once it has decided and before it does so again, with any that heads a text.

    template: of the prompt, whose headers ("### Text:") a small model writes again; inputs: what
    stood behind them, which an answer may repeat at its beginning.
    """
    headers = _headers(template)
    asked = [" ".join(one.split()).casefold()[:LONGEST_HEADER] for one in inputs]
    first = len(text) - len(text.lstrip())
    ends = [match.start() for match in _ENDS.finditer(text, first + 1)][:1]
    decided = [match.end() for match in _DECIDED.finditer(text)]
    once, again_at = (decided[0], decided[-1]) if decided else (len(text), 0)
    place = 0
    for line in text.splitlines(keepends=True):
        named = _header(line)
        is_item = once <= place < again_at and _ITEM.fullmatch(named) is not None
        is_item = is_item or _is_another(text, place)
        if place > first and (is_item or named in headers):
            shown = text[place + line.find(":") + 1 :][: 4 * LONGEST_HEADER]
            again = " ".join(shown.split()).casefold()
            if not any(one and again.startswith(one) for one in asked):
                ends.append(place)
                break
        place += len(line)
    end = min(ends, default=len(text))
    return end if text[:end].strip() else len(text)


def _is_another(text: str, place: int) -> bool:
    """Does prose about a second text begin here, once the first one has its label, and before no
    conclusion?"""
    told = _ANOTHER.match(text, place)
    labelled = told is not None and _LABEL.search(text, 0, place) is not None
    return labelled and _DECIDED.search(text, place) is None


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
