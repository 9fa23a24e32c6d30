"""Reads a server's build (`system_fingerprint`), and drops builds that could repeat text of the
request. The build is stored in the provenance, also for private jobs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from shared.queue.job_context import current

BUILD = re.compile(r"[A-Za-z0-9_.:\-]{1,64}")
PIECE = re.compile(r"[^\W_]+")
SHORT = 2  # characters; shorter words occur in fingerprints by chance


def names_a_build(fingerprint: str, texts: Iterable[str]) -> bool:
    """Return True if the fingerprint can be stored as a server's build: it is a short token and
    repeats no word of `texts`, the texts of the request."""
    if not BUILD.fullmatch(fingerprint):
        return False
    folded = fingerprint.casefold()
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
    """Yield every string of a request body, without the model's name and the names of fields."""
    if isinstance(body, str):
        yield body
    elif isinstance(body, dict):
        values = [value for name, value in body.items() if name != "model"]
        yield from strings_in(values)
    elif isinstance(body, list | tuple):
        for value in body:
            yield from strings_in(value)


def keep_build(model: str, fingerprint: str | None, texts: Iterable[str]) -> None:
    """Record the build of the model's server for the current job. If the fingerprint cannot
    identify a build, remove the recorded build instead."""
    context = current()
    if context is None or not fingerprint:
        return
    if names_a_build(fingerprint, texts):
        context.server_builds[model] = fingerprint
    else:
        context.server_builds.pop(model, None)
