"""Against a real OpenAI-compatible server, llama.cpp, over the weights that we hold too: alone, and
as a job through gateway, queue and worker."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import httpx
import numpy as np
import pytest
from sqlalchemy import Engine

from services import worker
from services.consistency.contract import ConsistencyRequest
from services.consistency.metric import SERVICE
from services.consistency.report import ConsistencyResult
from shared.contracts.answers import stored_result
from shared.process.settings import Settings
from tests.batches import WorkedScene
from tests.fakes import bound_models
from tests.gateway.serving import serving
from tests.judges import likely_words
from tests.patience import SECONDS
from tests.shared.models.openai.computing import LanguageModelDouble
from tests.shared.models.openai.conftest import tiny_server as tiny_server

if TYPE_CHECKING:
    from services.inference.local_models import LocalModels


URL = "/v1/scores/consistency"
TEXT = "Those immigrants are ruining our town"
EXPLANATION = 'It says "ruining our".'
ASKS = "Post: {text}\nIs"
DRAWN = {"draws": 19, "permutations": 199, "seed": 5}
NEAR = 2e-3  # of log-probabilities, summed over a sentence's tokens


@pytest.fixture(scope="module")
def body(tiny_server: LocalModels) -> dict[str, Any]:
    """With a prompt of the request, whose labels are likely words of these weights."""
    network = LanguageModelDouble(tiny_server._catalogue.root / "weights", "chat", listed=400)
    words = likely_words(network, [ASKS.replace("{text}", one) for one in (TEXT, "")], 10)
    return {
        "text": TEXT,
        "explanation": EXPLANATION,
        "language": "en",
        "prompt": {
            "style": "raw",
            "user": ASKS,
            "verbalizers": {"hateful": words[::2], "non-hateful": words[1::2]},
        },
        "explanation_prompt": {"turns": [{"role": "user", "content": "{text}?"}], "style": "raw"},
        **DRAWN,
    }


@pytest.fixture
def _bound(tiny_server: LocalModels) -> Iterator[None]:
    with bound_models(tiny_server):
        yield


def scored(body: dict[str, Any], model: str) -> ConsistencyResult:
    return SERVICE.score(ConsistencyRequest.model_validate(body | {"model": model}))


@pytest.mark.usefixtures("_bound")
def test_a_served_model_has_both_parts_and_they_are_those_of_its_weights_here(
    body: dict[str, Any],
) -> None:
    there, here = scored(body, "served"), scored(body, "own")
    assert there.parts == here.parts == ("simulatability", "attribution")
    assert there.decision == here.decision
    assert there.components.simulatability == here.components.simulatability
    for way in ("answer", "explanation"):
        own, other = ([getattr(word, way) for word in one.word_values] for one in (here, there))
        assert np.ptp(own) > 0
        assert np.allclose(own, other, atol=NEAR)
    assert there.score == pytest.approx(here.score, abs=NEAR)
    [use] = there.provenance.models
    assert (use.name, use.device, use.sha256) == ("served", "server", None)


@pytest.fixture
def scene(chosen: Settings, engine: Engine, tiny_server: LocalModels) -> Iterator[WorkedScene]:
    worker.register_all(["consistency"])
    file = tiny_server._catalogue.root / "models.toml"
    placed = chosen.model_copy(update={"authentication": "none", "models_file": file})
    with serving(placed) as url, httpx.Client(base_url=url, timeout=SECONDS) as client:
        yield WorkedScene(client, engine, placed)


@pytest.mark.usefixtures("_bound")
def test_a_job_over_the_queue_has_the_result_of_a_call(
    scene: WorkedScene, body: dict[str, Any]
) -> None:
    accepted = scene.client.post(URL, json=body | {"model": "served"})
    assert accepted.status_code == 202, accepted.text
    scene.work()
    place = f"/v1/jobs/{accepted.json()['id']}?expand=details"
    job = scene.client.get(place).json()
    assert job["status"] == "succeeded", job["error"]
    found = ConsistencyResult.model_validate(stored_result(job["result"]))
    own = scored(body, "served")
    assert found.score == pytest.approx(own.score, abs=NEAR)
    assert (found.parts, found.decision, found.verdict) == (own.parts, own.decision, own.verdict)
    assert found.provenance.parameters == own.provenance.parameters
    lines = [
        {"custom_id": model, "method": "POST", "url": URL, "body": body | {"model": model}}
        for model in ("served", "own")
    ]
    batch = scene.finish(scene.make(lines, endpoint=URL))
    assert batch["request_counts"]["completed"] == len(lines)
    bodies = [one["response"]["body"] for one in scene.file(batch["output_file_id"])]
    results = [stored_result(one["result"]) for one in bodies]
    assert [one["parts"] for one in results] == [["simulatability", "attribution"]] * 2
    assert {one["decision"] for one in results} == {found.decision}
    assert [one["score"] for one in results] == pytest.approx([found.score] * 2, abs=NEAR)
