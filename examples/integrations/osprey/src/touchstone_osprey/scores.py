"""What asks the service: one score for a rule, and many explanations for later.

Without Osprey, so that it can be read and tested alone.
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
    """There is none: the rule fails as for any function of Osprey, and nothing is guessed."""


async def score(ts: AsyncTouchstone, text: str, explanation: str, label: str = "") -> float:
    """In [0, 1]. Raises NoScore where it is undefined, late, or the service is away."""
    fields: dict[str, Any] = {"text": text, "explanation": explanation}
    if label:
        fields["predicted_label"] = label
    try:
        result = await ts.hatexscore(**fields, wait=RULE_SECONDS)
    except TouchstoneError as error:
        raise NoScore(str(error)) from error
    if result.score is None:
        raise NoScore(result.reason)
    return float(result.score)


class Outbox:
    """Explanations on their way; what is added within a second goes in one call."""

    def __init__(self, ts: AsyncTouchstone, metric: str = METRIC) -> None:
        self._ts, self._metric = ts, metric
        self._waiting: list[dict[str, Any]] = []
        self._sender: asyncio.Task[None] | None = None
        self._sending = asyncio.Lock()

    def add(self, request: dict[str, Any]) -> None:
        """To be sent soon."""
        self._waiting.append(request)
        if self._sender is None or self._sender.done():
            self._sender = asyncio.create_task(self._later())

    async def _later(self) -> None:
        await asyncio.sleep(SEND_SECONDS)
        await self.send()

    async def send(self) -> Sequence[str]:
        """All that waits, now: the ids of the jobs. What could not be sent goes on waiting."""
        made: list[str] = []
        async with self._sending:
            while self._waiting:
                several = self._waiting[:MOST_A_CALL]
                made += await self._ts.jobs.create_many(self._metric, several)
                del self._waiting[: len(several)]
        return made


def explained(features: dict[str, Any], verdict: str) -> dict[str, Any] | None:
    """The request for an event that a model explained; None where it did not."""
    text, why = features.get("PostText"), features.get("ModelExplanation")
    if not (isinstance(text, str) and isinstance(why, str) and text and why):
        return None
    return {"text": text, "explanation": why, "metadata": {"verdict": verdict[:64]}}
