"""Servers of reasoning models, which answer as recorded: one for each way of telling a chain apart.

One of them can be made to wait before it reads its own chain: a worker can be killed meanwhile.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from threading import Event
from typing import Any

from tests.patience import SECONDS
from tests.shared.models.openai.recorded import Recorded
from tests.shared.models.openai.stub import Reply, listening

RECORDINGS = {  # name of the model → what it answers
    "field": "vllm/0.33/explains",  # `reasoning`
    "content-field": "sglang/0.5.23/explains",  # `reasoning_content`
    "in-text": "ollama/0.13/explains",  # between <think> and </think>
}
ENTRY = """
[[models]]
name = "{name}"
kind = "causal"
source = "openai:{url}"
served_name = "m"
keep_reasoning = true
"""
POST = "Those immigrants are ruining our town"
DECIDES, PARSES = "decide if the following text", "The content of your reasoning process"
QUESTION = {
    "question": "Is the post hateful?",
    "options": [{"key": "A", "text": "hateful"}, {"key": "B", "text": "non-hateful"}],
}
CHAIN = (
    "The post blames immigrants as a group for what goes wrong in the town. That is an attack on "
    "people for where they come from. However, it calls for no violence."
)


@dataclass
class Reasoning:
    """A recorded server. go_on: what it waits for before it answers about its own chain."""

    recorded: Recorded
    go_on: Event = field(default_factory=Event)
    reached: Event = field(default_factory=Event)

    def answer(self, path: str, body: dict[str, Any], headers: dict[str, str]) -> Reply:
        if PARSES in str(body.get("messages")):
            self.reached.set()
            self.go_on.wait(SECONDS)
        return self.recorded.answer(path, body, headers)

    def times_asked(self, words: str) -> int:
        """How many conversations had these words in their last turn."""
        asked = self.recorded.bodies("/v1/chat/completions")
        return sum(words in str(one["messages"][-1]["content"]) for one in asked)


@contextmanager
def reasoning_servers() -> Iterator[tuple[dict[str, Reasoning], str]]:
    """Name → server, and the entries of their models."""
    with ExitStack() as stack:
        servers, entries = {}, []
        for name, recording in RECORDINGS.items():
            servers[name] = Reasoning(Recorded(recording))
            servers[name].go_on.set()
            url = stack.enter_context(listening(servers[name]))
            entries.append(ENTRY.format(name=name, url=url))
        yield servers, "".join(entries)
