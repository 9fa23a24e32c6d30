"""What no store, parser or encoder likes, and every place of a message where it can stand."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

Json = Any

TEXTS = {
    "nul": "\x00",
    "nul inside": "a\x00b",
    "nul escaped twice": "\\u0000",
    "lone surrogate": "\ud800",
    "lone low surrogate": "x\udfff",
    "controls": "\x01\x08\x1b\x7f\x85",
    "line ends": "\r\n\u2028\u2029",
    "no characters": "\ufffe\uffff\U0010ffff",
    "direction": "\u202e\u200b\ufeff",
    "combining": "a" + "\u0301" * 200,
    "quotes": "'\"`;--\\",
    "percent": "%s %(x)s %00 {0}",
    "long": "x" * 100_000,
}
NUMBERS = {
    "huge": "1" + "0" * 400,
    "longer than int() reads": "9" * 5_000,
    "huge exponent": "1e999",
    "hugest exponent": "1e999999999",
    "tiny exponent": "-1e-999999999",
    "negative zero": "-0",
    "not a number": "NaN",
    "infinity": "-Infinity",
}
DEEP = 100_000


def raw_values() -> Iterator[tuple[str, str]]:
    """(name, JSON text) of every value that may stand in a string's or a number's place."""
    for name, text in TEXTS.items():
        yield name, json.dumps(text)
    yield from NUMBERS.items()
    yield "deep list", "[" * DEEP + "]" * DEEP
    yield "deep object", '{"a":' * DEEP + "1" + "}" * DEEP
    yield "nul as a name", '{"\\u0000": "x"}'
    yield "surrogate as a name", '{"\\ud800": "x"}'
    yield "null", "null"


def places(message: Json, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """The paths of all leaves."""
    if isinstance(message, dict) and message:
        for name, value in message.items():
            yield from places(value, (*path, name))
    elif isinstance(message, list) and message:
        yield from places(message[0], (*path, 0))
    else:
        yield path


MARK = "\u2603 here \u2603"


def planted(message: Json, path: tuple[str | int, ...], raw: str) -> str:
    """The message as JSON, with this JSON text at this place."""
    copy = json.loads(json.dumps(message))
    if not path:
        return raw
    inner = copy
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = MARK
    return json.dumps(copy).replace(json.dumps(MARK), raw)
