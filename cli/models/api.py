"""Sessions of HTTP, and a refusal that people can read."""

from __future__ import annotations

from types import TracebackType
from typing import Self

import httpx


class CommandError(Exception):
    """Somebody says no; the message is for people."""


class HttpSession:
    """A client of one host; closed at the end of a `with` block."""

    def __init__(self, client: httpx.Client) -> None:
        self._client = client

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._client.close()
