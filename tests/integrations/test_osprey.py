"""The Osprey plugin: no guess in a rule, and every explanation of a verdict is sent once."""

from __future__ import annotations

import asyncio
import importlib
import json
import sys
import tomllib
from collections.abc import Iterator
from types import ModuleType, SimpleNamespace
from typing import Any, Generic, TypeVar

import pytest

from tests.end_to_end.service import Service
from tests.integrations.conftest import EXAMPLES
from touchstone_client import AsyncTouchstone
from touchstone_client.errors import ConnectionFailed

FOLDER = EXAMPLES / "osprey"
A = TypeVar("A")
R = TypeVar("R")


class AsyncUDFBase(Generic[A, R]):
    """As Osprey's, of which an instance is made for each call in a rule."""


class AsyncBaseOutputSink:
    """As Osprey's."""


STAND_INS: dict[str, dict[str, Any]] = {
    "osprey.async_worker.adaptor.interfaces": {
        "AsyncBaseOutputSink": AsyncBaseOutputSink, "AsyncUDFBase": AsyncUDFBase,
    },
    "osprey.async_worker.adaptor.plugin_manager": {"hookimpl_osprey_async": lambda hook: hook},
    "osprey.engine.executor.execution_context": {
        "ExecutionContext": object, "ExecutionResult": object,
    },
    "osprey.engine.udf.arguments": {"ArgumentsBase": object},
}  # fmt: skip


@pytest.fixture
def plugin(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """What the entry point names."""
    for name, members in STAND_INS.items():
        module = ModuleType(name)
        vars(module).update(members)
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.syspath_prepend(str(FOLDER / "src"))
    project = tomllib.loads((FOLDER / "pyproject.toml").read_text("utf-8"))["project"]
    [named] = project["entry-points"]["osprey_async_plugin"].values()
    yield importlib.import_module(named)
    for name in [name for name in sys.modules if name.startswith("touchstone_osprey")]:
        del sys.modules[name]


class Jobs:
    """`ts.jobs` of a service that may be away."""

    def __init__(self) -> None:
        self.calls: list[list[dict[str, Any]]] = []
        self.away = False

    async def create_many(self, metric: str, requests: list[dict[str, Any]]) -> list[str]:
        if self.away:
            raise ConnectionFailed("away")
        self.calls.append(list(requests))
        return [f"job_{place}" for place in range(len(requests))]


def event(verdicts: list[str], **features: object) -> Any:
    return SimpleNamespace(verdicts=verdicts, extracted_features_json=json.dumps(features))


def test_it_registers_a_function_and_a_sink(plugin: ModuleType) -> None:
    assert plugin.register_udfs() == [plugin.ExplanationScore]
    assert issubclass(plugin.ExplanationScore, AsyncUDFBase)
    assert issubclass(plugin.ExplanationSink, AsyncBaseOutputSink)


def test_explanations_of_verdicts_go_in_one_call(plugin: ModuleType) -> None:
    jobs = Jobs()

    async def scenario() -> None:
        [sink] = plugin.register_async_output_sinks(None)
        await sink._ts.close()
        sink._ts = SimpleNamespace(jobs=jobs, close=lambda: asyncio.sleep(0))
        sink._outbox = plugin.Outbox(sink._ts)
        events = [
            event(["ban"], PostText="a post", ModelExplanation="because"),
            event(["ban"], PostText="a post"),
            event(["hide"], PostText="another", ModelExplanation="since"),
        ]
        assert not sink.will_do_work(event([], PostText="x", ModelExplanation="y"))
        for one in events:
            assert sink.will_do_work(one)
            await sink.push(one)
        await sink.stop()

    asyncio.run(scenario())
    [call] = jobs.calls
    assert [one["metadata"]["verdict"] for one in call] == ["ban", "hide"]


def test_what_could_not_be_sent_goes_on_waiting(plugin: ModuleType) -> None:
    jobs = Jobs()

    async def scenario() -> None:
        outbox = plugin.Outbox(SimpleNamespace(jobs=jobs))
        for place in range(1_001):
            outbox._waiting.append({"text": str(place)})
        jobs.away = True
        with pytest.raises(ConnectionFailed):
            await outbox.send()
        jobs.away = False
        await outbox.send()

    asyncio.run(scenario())
    assert [len(call) for call in jobs.calls] == [1_000, 1]


def test_an_undefined_score_is_no_number(plugin: ModuleType) -> None:
    module = importlib.import_module("touchstone_osprey.scores")

    async def hatexscore(**_: object) -> Any:
        return SimpleNamespace(score=None, reason="the text's language is zh")

    with pytest.raises(module.NoScore, match="zh"):
        asyncio.run(module.score(SimpleNamespace(hatexscore=hatexscore), "a", "b"))


@pytest.mark.end_to_end
def test_a_score_of_the_service(plugin: ModuleType, service: Service) -> None:
    module = importlib.import_module("touchstone_osprey.scores")

    async def scored() -> float:
        async with AsyncTouchstone(service.url) as ts:
            found: float = await module.score(
                ts,
                "Those immigrants are ruining our town",
                "It uses a rude tone.",
                "hateful",
            )
            return found

    assert asyncio.run(scored()) == 0.0
