"""The edge of the world: one HTTP double that replays recorded answers of servers.

`tests/data/servers/NAME/VERSION/*.json`: each with the source and date of its shape, synthetic
texts and exchanges. An exchange answers a request whose path is its own and whose body has all of
its fields; `times`: so often, then the next one that fits; `says`: words of the conversation.
`{in N s}` in a header is an HTTP date.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Mapping
from email.utils import formatdate
from pathlib import Path
from typing import Any

from tests.shared.models.openai.stub import Reply

DATA = Path(__file__).parents[3] / "data" / "servers"
IN_SECONDS = re.compile(r"\{in (\d+) s\}")


def recordings() -> list[Path]:
    return sorted(DATA.glob("*/*/*.json"))


class Recorded:
    """What a recording answers, and what it was asked."""

    def __init__(self, *names: str) -> None:
        """names: as in `vllm/0.33/chat`; exchanges of earlier ones come first."""
        self.asked: list[tuple[str, dict[str, Any], dict[str, str]]] = []
        self._exchanges = [
            dict(exchange)
            for name in names
            for exchange in json.loads((DATA / f"{name}.json").read_text("utf-8"))["exchanges"]
        ]

    def bodies(self, path: str) -> list[dict[str, Any]]:
        """What was asked at this path."""
        return [body for one, body, _ in self.asked if one.partition("?")[0] == path]

    def answer(self, path: str, body: dict[str, Any], headers: dict[str, str]) -> Reply:
        self.asked.append((path, body, headers))
        for exchange in self._exchanges:
            if _fits(exchange, path, body):
                if "times" in exchange:
                    exchange["times"] -= 1
                return _reply(exchange["response"])
        return 404, {}, {"detail": "Not Found"}


def _fits(exchange: Mapping[str, Any], path: str, body: Mapping[str, Any]) -> bool:
    if exchange["path"] != path.partition("?")[0] or exchange.get("times", 1) < 1:
        return False
    if any(name in body for name in exchange.get("without", ())):
        return False
    said = "\n".join(str(turn.get("content")) for turn in body.get("messages", ()))
    if any(words not in said for words in exchange.get("says", ())):
        return False
    return all(name in body and body[name] == value for name, value in _wanted(exchange)) and all(
        name in body for name in exchange.get("with", ())
    )


def _wanted(exchange: Mapping[str, Any]) -> list[tuple[str, Any]]:
    return list(exchange.get("body", {}).items())


def _reply(response: Mapping[str, Any]) -> Reply:
    time.sleep(response.get("after_seconds", 0))
    headers = {
        name: IN_SECONDS.sub(lambda found: _date(int(found[1])), value)
        for name, value in response.get("headers", {}).items()
    }
    raw: Any = response["body"]
    if isinstance(raw, str):
        raw = raw.encode()
    if response.get("cut"):
        raw = json.dumps(raw).encode()
        headers["Content-Length"] = str(len(raw))
        raw = raw[: len(raw) // 2]
    return response.get("status", 200), headers, raw


def _date(seconds: int) -> str:
    return formatdate(time.time() + seconds, usegmt=True)
