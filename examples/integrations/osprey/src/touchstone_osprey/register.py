"""The entry point for Osprey's asyncio worker: `ExplanationScore` and a sink of verdicts."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from osprey.async_worker.adaptor.interfaces import AsyncBaseOutputSink, AsyncUDFBase
from osprey.async_worker.adaptor.plugin_manager import hookimpl_osprey_async
from osprey.engine.executor.execution_context import ExecutionContext, ExecutionResult
from osprey.engine.udf.arguments import ArgumentsBase

from touchstone_client import AsyncTouchstone
from touchstone_osprey.scores import Outbox, explained, score


class ExplanationScoreArguments(ArgumentsBase):
    """label: the model's decision; without it, it is read from the explanation."""

    text: str
    explanation: str
    label: str = ""


class ExplanationScore(AsyncUDFBase[ExplanationScoreArguments, float]):
    """`ExplanationScore(text=PostText, explanation=ModelExplanation) < 0.5`, in [0, 1]."""

    async def async_execute(
        self, execution_context: ExecutionContext, arguments: ExplanationScoreArguments
    ) -> float:
        async with AsyncTouchstone() as ts:
            return await score(ts, arguments.text, arguments.explanation, arguments.label)


class ExplanationSink(AsyncBaseOutputSink):
    """Submits the explanations of events with a verdict; the service keeps their scores."""

    def __init__(self) -> None:
        self._ts = AsyncTouchstone()
        self._outbox = Outbox(self._ts)

    def will_do_work(self, result: ExecutionResult) -> bool:
        return bool(result.verdicts)

    async def push(self, result: ExecutionResult) -> None:
        features: dict[str, Any] = json.loads(result.extracted_features_json)
        request = explained(features, str(result.verdicts[0]))
        if request is not None:
            self._outbox.add(request)

    async def stop(self) -> None:
        await self._outbox.send()
        await self._ts.close()


@hookimpl_osprey_async
def register_udfs() -> Sequence[type[Any]]:
    return [ExplanationScore]


@hookimpl_osprey_async
def register_async_output_sinks(config: object) -> Sequence[AsyncBaseOutputSink]:
    return [ExplanationSink()]
