"""Against a real server that tells no log-probabilities: `transformers serve` of the lock.

It accepts `logprobs` and `top_logprobs` and ignores them; other unknown fields it refuses.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from cli.stack.servers import HOST, free_port
from shared.contracts.calls import Example, Prompt, Sampling, Template, Turn
from shared.models.catalogue.entry import ModelEntry
from shared.models.openai.model import ServedLanguageModel
from shared.models.server_check import probe, render
from tests.inference.shapes import save_llama
from tests.shared.models.openai.conftest import await_health

pytestmark = pytest.mark.nightly  # the server takes half a minute to start

EXAMPLE = Example(
    text="The garden was",
    template=Template(verbalizers={"hateful": " Yes", "non-hateful": " No"}),
)


@pytest.fixture(scope="module")
def entry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModelEntry]:
    folder = tmp_path_factory.mktemp("transformers-serve")
    weights, port = save_llama(folder / "weights"), free_port()
    (folder / "home" / "hub").mkdir(parents=True)
    environment = {**os.environ, "HF_HOME": str(folder / "home"), "HF_HUB_OFFLINE": "1"}
    command = [str(Path(sys.executable).parent / "transformers"), "serve", str(weights)]
    asked = ["--host", HOST, "--port", str(port), "--device", "cpu", "--dtype", "float32"]
    with (folder / "server.log").open("w") as log:
        process = subprocess.Popen([*command, *asked], stdout=log, stderr=log, env=environment)
    try:
        await_health(process, f"http://{HOST}:{port}/health")
        yield ModelEntry(
            name="plain",
            kind="causal",
            source=f"openai:http://{HOST}:{port}/v1",
            served_name=str(weights),
        )
    finally:
        process.kill()
        process.wait()


def test_check_says_that_only_votes_are_left(entry: ModelEntry) -> None:
    record = probe(entry)
    assert record.error is None
    assert (record.chat, record.given_text, record.top_logprobs) == (True, None, 0)
    assert record.limit_field == "max_completion_tokens"
    assert record.metrics["HateXScore"] == record.metrics["HAF"] == "no (no-logprobs)"
    shown = render(record)
    assert "judge reads by    votes (off)" in shown
    assert "0 (asked 20)" in shown


def test_no_p_rather_than_a_guess(entry: ModelEntry) -> None:
    [found] = ServedLanguageModel(entry).judgements([EXAMPLE])
    assert found.probabilities is None
    assert found.unread is not None
    assert found.unread.code == "no-logprobs"


def test_votes_where_the_entry_asks_for_them(entry: ModelEntry) -> None:
    voting = entry.model_copy(update={"votes": 5})
    [found] = ServedLanguageModel(voting).judgements([EXAMPLE])
    assert found.reading == "votes"
    assert (found.mass or 0) * 5 == pytest.approx(round((found.mass or 0) * 5))


def test_text_is_written_without_log_probabilities(entry: ModelEntry) -> None:
    prompt = Prompt(turns=(Turn(role="user", content="Is it good?"),))
    sampling = Sampling(temperature=0, max_tokens=4)
    [done] = ServedLanguageModel(entry).generate([prompt], sampling)
    assert done.text
    assert done.tokens == ()
