"""JSON, tags and TeX around an explanation, as prose of the same length: offsets stay.

Models are often told to answer in such a form. A string of a JSON object is then no quotation of
the text, but one in a list, or of a key that names quotations ("evidence"), is. Each field becomes
a line of its own: {"label": "hateful", "reason": "…"} reads as two. One pass over the characters.

Source: our own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

_OBJECT = re.compile(r"\{\s{0,40}([\"'])[^\"'\n{}]{1,60}\1\s{0,40}:")
_TOKEN = re.compile(r"\\.|[\"'{}\[\],]", re.DOTALL)
_CLOSES = re.compile(r"\s{0,40}(?:[:,}\]]|$)")
_IS_KEY = re.compile(r"\s{0,40}:")
_OPENS_AFTER = "{[,:"
_QUOTING_KEY = re.compile(
    r"quot|evidence|span|phrase|excerpt|highlight|trigger|snippet|wording|expression|引用|引文|证据"
    r"|原文|词语|短语|인용|증거|근거_?표현|구절|문구|표현"
)
_NAMING_KEY = re.compile(
    r"target|group|label|categor|class|victim|communit|polic|tag|类别|标签|群体|对象|目标|대상|집단"
    r"|라벨|분류"
)
_TAG = re.compile(r"<(?P<closes>/?)(?P<name>[a-zA-Z][\w-]{0,30})\s{0,9}>")
_TEX = re.compile(r"\\(?:boxed|fbox|text|textbf|textit|mathbf|mathrm|emph|underline)\s{0,3}(?=\{)")


def plain_notation(explanation: str) -> str:
    """The explanation without its JSON marks, tags and TeX commands, character for character."""
    found = _TEX.sub(lambda match: " " * len(match.group()), explanation)
    found = _TAG.sub(_as_line, found)
    return _plain_json(found) if _OBJECT.search(found) else found


def _as_line(tag: re.Match[str]) -> str:
    """`<label>` reads as "label:" on a line of its own, `</label>` ends the line."""
    if tag["closes"]:
        return "\n" + " " * (len(tag.group()) - 1)
    width = len(tag.group()) - len(tag["name"]) - 2
    return f"\n{tag['name']}:{' ' * width}"


@dataclass
class _Fields:
    """Where a pass over JSON stands. lists: of each open bracket whether it is a list's."""

    lists: list[bool] = field(default_factory=list)
    key: str = ""

    @property
    def quotes(self) -> bool:
        """Is the string that begins here a quotation of the text?"""
        if _QUOTING_KEY.search(self.key):
            return True
        listed = bool(self.lists) and self.lists[-1]
        return listed and _NAMING_KEY.search(self.key) is None


def _plain_json(text: str) -> str:
    characters = list(text)
    fields = _Fields()
    for start, end in _strings(text, fields, characters):
        body = text[start + 1 : end - 1]
        is_key = _IS_KEY.match(text, end) is not None
        if is_key:
            fields.key = body.lower()
        if is_key or not fields.quotes:
            characters[start] = characters[end - 1] = " "
            characters[start + 1 : end - 1] = _unescaped(body)
    return "".join(characters)


def _strings(text: str, fields: _Fields, characters: list[str]) -> Iterator[tuple[int, int]]:
    """The strings of the objects, marks included; a comma between two fields becomes a new line."""
    opened: int | None = None
    for token in _TOKEN.finditer(text):
        mark, place = token.group(), token.start()
        if opened is not None:
            if mark == text[opened] and _CLOSES.match(text, token.end()):
                yield opened, token.end()
                opened = None
        elif mark in "{[":
            fields.lists.append(mark == "[")
        elif mark in "}]":
            del fields.lists[-1:]
        elif mark == "," and fields.lists == [False]:
            characters[place] = "\n"
        elif mark in "\"'" and fields.lists and _before(text, place) in _OPENS_AFTER:
            opened = place


def _before(text: str, place: int) -> str:
    """The last character before that is no blank, of the nearest 40."""
    return text[max(0, place - 40) : place].rstrip()[-1:] or "."


def _unescaped(body: str) -> str:
    r"""`\"` as a mark after a blank, `\n` as a new line."""
    plain = body.replace('\\"', ' "').replace("\\'", " '")
    return plain.replace("\\n", " \n").replace("\\t", "  ")
