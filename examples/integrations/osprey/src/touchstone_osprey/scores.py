"""Calls the service: one score for a rule, and many explanations for later.

It does not import Osprey, so that it can be tested alone.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from touchstone_client import AsyncTouchstone, TouchstoneError

METRIC = "hatexscore"
RULE_SECONDS = 10.0  # a rule waits no longer
MOST_A_CALL = 1_000
SEND_SECONDS = 1.0  # explanations are gathered for so long


class NoScore(Exception):
    """There is no score: the rule fails like any function of Osprey."""


async def score(ts: AsyncTouchstone, text: str, explanation: str, label: str = "") -> float:
    """Return the score in [0, 1]. Raises NoScore if it is undefined or late, or the service is
    away."""
    fields: dict[str, Any] = {"text": text, "explanation": explanation}
    if label:
        fields["decision"] = label
    try:
        result = await ts.hatexscore(**fields, wait=RULE_SECONDS)
    except TouchstoneError as error:
        raise NoScore(str(error)) from error
    if result.score is None:
        raise NoScore(result.reason)
    return float(result.score)


class Outbox:
    """Explanations to send; those added within a second are sent in one call."""

    def __init__(self, ts: AsyncTouchstone, metric: str = METRIC) -> None:
        self._ts, self._metric = ts, metric
        self._waiting: list[dict[str, Any]] = []
        self._sender: asyncio.Task[None] | None = None
        self._sending = asyncio.Lock()

    def add(self, request: dict[str, Any]) -> None:
        """Add an explanation, to be sent soon."""
        self._waiting.append(request)
        if self._sender is None or self._sender.done():
            self._sender = asyncio.create_task(self._later())

    async def _later(self) -> None:
        await asyncio.sleep(SEND_SECONDS)
        await self.send()

    async def send(self) -> Sequence[str]:
        """Send all waiting explanations; return the ids of the jobs. Unsent ones keep waiting."""
        made: list[str] = []
        async with self._sending:
            while self._waiting:
                several = self._waiting[:MOST_A_CALL]
                made += await self._ts.jobs.create_many(self._metric, several)
                del self._waiting[: len(several)]
        return made


def explained(features: dict[str, Any], verdict: str) -> dict[str, Any] | None:
    """Return the request for an event, or None if no model explained it."""
    text, why = features.get("PostText"), features.get("ModelExplanation")
    if not (isinstance(text, str) and isinstance(why, str) and text and why):
        return None
    return {"text": text, "explanation": why, "metadata": {"verdict": verdict[:64]}}
