"""From a structured parse to explanation–label pairs: schema, keys, statements. Pure.

Source: Chen et al., EMNLP 2025, Table 7 and footnote 7 (which names the normalisation of keys and
does not give it: the rules are ours).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    TypeAdapter,
    ValidationError,
)

from shared.contracts import MAX_TEXT
from shared.questions import STANCES, Explanation, Option

MOST_OBJECTS = 100  # that are tried in one answer
MARKS = re.compile(r"^\s*(?:(?:[-*•]+|\(?\d{1,3}[.)])\s+)+")
QUOTES = "\"'“”‘’«»*_` "
LETTER = re.compile(r"^(?:option\s*)?\(?([A-Za-z])\)?\s*(?:[.:)\-–]|$)", re.IGNORECASE)


# JSON can write half a surrogate pair, which is no character: for the pattern pydantic looks
Statement = Annotated[str, StringConstraints(max_length=MAX_TEXT, pattern=r"^(?s:.*)$")]


class Sides(BaseModel):
    """What the parse says for and against one option."""

    model_config = ConfigDict(extra="forbid")

    support: list[Statement] = Field(max_length=200)
    oppose: list[Statement] = Field(default_factory=list, max_length=200)


SCHEMA = TypeAdapter(Annotated[dict[Statement, Sides], Field(min_length=1, max_length=100)])


@dataclass(frozen=True)
class Structured:
    """The pairs of a parse, and the keys that no option has."""

    pairs: tuple[Explanation, ...]
    unplaced: tuple[tuple[str, int], ...]  # key, number of statements


def validated(raw: str) -> dict[str, Sides] | None:
    """The first JSON object of the text that fits the schema; None: there is none."""
    for found in _objects(raw):
        try:
            return SCHEMA.validate_python(found, strict=True)
        except ValidationError:
            continue
    return None


def _objects(raw: str) -> Iterator[Any]:
    """Every outermost JSON object, in order."""
    decoder, place = json.JSONDecoder(), raw.find("{")
    for _ in range(MOST_OBJECTS):
        if place < 0:
            return
        try:
            found, end = decoder.raw_decode(raw, place)
        except (json.JSONDecodeError, RecursionError):
            end = place + 1
        else:
            yield found
        place = raw.find("{", end)


def structured(sides: dict[str, Sides], options: Sequence[Option]) -> Structured:
    """Pairs in the order of options, support before oppose; two keys of one option are joined."""
    placed: dict[str, list[Sides]] = {option.key: [] for option in options}
    unplaced = []
    for name, side in sides.items():
        key = label_of(name, options)
        if key is None:
            unplaced.append((name[:200], len(side.support) + len(side.oppose)))
        else:
            placed[key].append(side)
    pairs = [
        Explanation(explanation=statement, label=key, stance=stance)
        for key, own in placed.items()
        for stance in STANCES
        for side in own
        for statement in map(cleaned, getattr(side, stance))
        if statement
    ]
    return Structured(distinct(pairs), tuple(unplaced))


def label_of(name: str, options: Sequence[Option]) -> str | None:
    """The option that a key of the parse means; None where none, or several, are meant.

    First an equal key or text, then a leading letter ("Option A: ..."), then a text that occurs as
    whole words.
    """
    plain = name.strip().casefold()
    for option in options:
        if plain in (option.key.casefold(), option.text.casefold()):
            return option.key
    keys = {option.key for option in options}
    found = LETTER.match(name.strip())
    if found and found[1].upper() in keys and (found[1].isupper() or len(plain) > 1):
        return found[1].upper()
    meant = [option.key for option in options if _occurs(option.text.casefold(), plain)]
    return meant[0] if len(meant) == 1 else None


def _occurs(text: str, within: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(text)}(?!\w)", within) is not None


def cleaned(statement: str) -> str:
    """Without list markers and surrounding quotes."""
    bare = MARKS.sub("", statement).strip()
    while len(bare) > 1 and bare[0] in QUOTES and bare[-1] in QUOTES:
        bare = bare[1:-1].strip()
    return bare.strip("*_` ").strip()


def distinct(pairs: Sequence[Explanation]) -> tuple[Explanation, ...]:
    """Each statement once for a label and stance, the first one kept."""
    return tuple(dict.fromkeys(pairs))
