"""What a server says of its build (`system_fingerprint`), as far as it can be nothing else.

It is kept in provenance, of private jobs too; a server may repeat there what it was sent.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from shared.queue.job_context import current

BUILD = re.compile(r"[A-Za-z0-9_.:\-]{1,64}")
PIECE = re.compile(r"[^\W_]+")
SHORT = 2  # characters: a word of so few stands in many a fingerprint by chance


def names_a_build(told: str, texts: Iterable[str]) -> bool:
    """Whether it can be a fingerprint: a short token that has nothing of these texts, which a
    server may repeat there."""
    if not BUILD.fullmatch(told):
        return False
    folded = told.casefold()
    pieces = set(PIECE.findall(folded))
    for text in map(str.casefold, texts):
        words = set(PIECE.findall(text))
        if folded in text or words & pieces:
            return False
        if any(len(word) > SHORT and word in folded for word in words):
            return False
        if any(len(piece) > SHORT and piece in text for piece in pieces):
            return False
    return True


def strings_in(body: Any) -> Iterator[str]:
    """Every string that is sent, the model's name and fields' names apart."""
    if isinstance(body, str):
        yield body
    elif isinstance(body, dict):
        yield from (one for name, value in body.items() if name != "model"
                    for one in strings_in(value))  # fmt: skip
    elif isinstance(body, list | tuple):
        yield from (one for value in body for one in strings_in(value))


def keep_build(model: str, told: str | None, texts: Iterable[str]) -> None:
    """Of an answer to the job that is computed; what cannot be a fingerprint leaves none."""
    context = current()
    if context is None or not told:
        return
    if names_a_build(told, texts):
        context.server_builds[model] = told
    else:
        context.server_builds.pop(model, None)
