"""What runs beside the requests ends with them, also where it misses the first word of it."""

from __future__ import annotations

import asyncio

import pytest

from services.gateway import state
from services.gateway.state import running


def test_a_task_that_forgets_a_cancellation_is_told_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(state, "AGAIN_SECONDS", 0.01)
    told = 0

    async def deaf() -> None:
        nonlocal told
        while True:
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                told += 1
                if told == 3:
                    raise

    async def whole() -> None:
        async with running(deaf(), "deaf"):
            await asyncio.sleep(0)

    asyncio.run(asyncio.wait_for(whole(), 60))
    assert told == 3


def test_what_a_task_raises_is_not_lost() -> None:
    async def broken() -> None:
        raise RuntimeError("on purpose")

    async def whole() -> None:
        async with running(broken(), "broken"):
            await asyncio.sleep(0.01)

    with pytest.raises(RuntimeError, match="on purpose"):
        asyncio.run(whole())
