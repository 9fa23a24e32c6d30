"""CoT2EL and HLV through the whole service: pairs from one metric are explanations in the other.
Reasoning models decide and explain; what they reasoned becomes explanations that a judge is shown.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from bench.agreement import difference
from services.cot2el.contract import CONTRACT as COT2EL
from services.hlv.contract import CONTRACT as HLV
from shared.contracts.answers import stored_result
from shared.ledger.engine import connect
from tests.answers import CheckedClient
from tests.end_to_end.batch import patiently
from tests.end_to_end.load import finished
from tests.end_to_end.service import ROOT, Service, serving
from tests.explanations.reasoning_servers import (
    CHAIN,
    DECIDES,
    POST,
    QUESTION,
    RECORDINGS,
    Reasoning,
    reasoning_servers,
)
from tests.inference.shapes import save_llama
from tests.ledger import expire_lease
from tests.patience import SECONDS, eventually

pytestmark = pytest.mark.end_to_end

CAUSAL = '\n[[models]]\nname = "tiny"\nkind = "causal"\nsource = "path:weights"\ndevice = "cpu"\n'
OPTIONS = ("--services", "hlv", "cot2el", "explanations", "inference", "similarity")
VOTES = HLV.examples["your own distributions"]


@pytest.fixture(scope="module")
def servers() -> Iterator[tuple[dict[str, Reasoning], str]]:
    with reasoning_servers() as running:
        yield running


@pytest.fixture(scope="module")
def service(
    tmp_path_factory: pytest.TempPathFactory, servers: tuple[dict[str, Reasoning], str]
) -> Iterator[Service]:
    """A service that knows small causal models besides its own."""
    folder: Path = tmp_path_factory.mktemp("hlv")
    save_llama(folder / "weights", reads=4_096)
    configured = (ROOT / "models.toml").read_text("utf-8") + CAUSAL + servers[1]
    (folder / "models.toml").write_text(configured, encoding="utf-8")
    told = {"TOUCHSTONE_MODELS_FILE": str(folder / "models.toml"), "TOUCHSTONE_LEASE_SECONDS": "20"}
    with serving(folder / "var", *OPTIONS, **told) as running:
        yield running


@pytest.fixture(scope="module")
def client(service: Service) -> Iterator[httpx.Client]:
    with CheckedClient(base_url=service.url, timeout=SECONDS) as made:
        yield made


def result(client: httpx.Client, metric: str, body: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = finished(client, f"/v1/scores/{metric}", body)["result"]
    return found


def test_an_annotator_is_compared_by_meaning(client: httpx.Client) -> None:
    body = COT2EL.examples["against an annotator"] | {"similarity": "embedded-similarity"}
    found = result(client, "cot2el", body)
    assert "semantic" in found["validation"]["metrics_used"]
    used = [one["name"] for one in found["provenance"]["models"]]
    assert "embedded-similarity" in used  # beside the one that reads polarity


def test_pairs_of_one_room_are_explanations_in_the_other(client: httpx.Client) -> None:
    pairs = result(client, "cot2el", COT2EL.examples["your own pairs"])["sets"]["filtered_sup"]
    body = {name: VOTES[name] for name in ("question", "options", "human")}
    how = {"methods": ["logits", "rank"], "runs": 1, "max_tokens": 4}
    found = result(client, "hlv", body | {"model": "tiny", "explanations": pairs, "judge": how})
    logits, rank = found["components"]["methods"]
    assert logits["gain"]["tvd"] is not None
    assert rank["explained"]["runs"] == 1
    assert found["provenance"]["models"][0]["name"] == "tiny"


def elicit(client: httpx.Client, model: str, post: str = POST) -> dict[str, Any]:
    """Decision, explanation and two scores, in one job."""
    score = {"hatexscore": {"options": {"control_draws": 19}}, "cot2el": QUESTION}
    job = finished(client, "/v1/explanations", {"text": post, "model": model, "score": score})
    found: dict[str, Any] = job["result"]
    return found


@pytest.mark.parametrize("model", RECORDINGS)
def test_a_reasoning_model_is_scored_by_its_answer_and_by_its_chain(
    client: httpx.Client, model: str
) -> None:
    found = elicit(client, model)
    told = found["elicitation"]
    assert (told["outcome"], told["decision"]) == ("answered", "hateful")
    assert told["reasoning"].strip() == CHAIN
    assert "attack on people" not in told["explanation"]
    hatexscore, cot2el = found["scores"]
    assert [hatexscore["metric"], cot2el["metric"]] == ["hatexscore", "cot2el"]
    own = {"text": POST, "explanation": told["explanation"], "decision": "hateful"}
    assert hatexscore == result_of_explanations(client, own)
    assert cot2el["status"] == "ok"
    assert {one["label"] for one in cot2el["evidence"]} == {"A", "B"}
    for one in cot2el["evidence"]:
        assert told["reasoning"][one["start"] : one["end"]] == one["text"]
    shown = {name: QUESTION[name] for name in ("question", "options")}
    pairs = cot2el["sets"]["filtered_sup"]
    how = {"explanations": pairs, "human": {"votes": {"A": 4, "B": 1}}, "model": model}
    judge = {"judge": {"methods": ["rank"], "runs": 1}}
    [rank] = result(client, "hlv", {**shown, **how, **judge})["components"]["methods"]
    assert rank["explained"]["tau_b"] == 1


def result_of_explanations(client: httpx.Client, body: dict[str, Any]) -> dict[str, Any]:
    """HateXScore of an answer that was sent: the metric's own worker is not among these."""
    asked = {"text": body["text"], "answer": {"text": body["explanation"]}}
    score = {"hatexscore": {"options": {"control_draws": 19}}}
    job = finished(client, "/v1/explanations", asked | {"score": score})
    found: dict[str, Any] = job["result"]["scores"][0]
    return found


@pytest.mark.nightly
def test_a_worker_that_is_killed_while_a_chain_is_parsed_costs_no_second_answer(
    service: Service, client: httpx.Client, servers: tuple[dict[str, Reasoning], str]
) -> None:
    server = servers[0]["field"]
    undisturbed, before = elicit(client, "field"), server.times_asked(DECIDES)
    server.reached.clear()
    server.go_on.clear()
    body: dict[str, Any] = {"text": POST, "model": "field"}
    body |= {"score": {"hatexscore": {"options": {"control_draws": 19}}, "cot2el": QUESTION}}
    job = client.post("/v1/explanations", json=body).json()["id"]
    assert server.reached.wait(SECONDS)
    service.kill("services.worker")
    server.go_on.set()
    expire(service, job)

    def ended() -> Any:
        found = patiently(client, "GET", f"/v1/jobs/{job}?expand=details").json()
        return found if found["status"] == "succeeded" else None

    found = eventually(ended, "it ends", every=0.5)
    assert found["attempts"] == 2
    assert difference(stored_result(found["result"]), undisturbed) is None
    assert server.times_asked(DECIDES) == before + 1


def expire(service: Service, job: str) -> None:
    """The dead worker's claim, at once."""
    engine = connect(service.database_url)
    expire_lease(engine, job)
    engine.dispose()
