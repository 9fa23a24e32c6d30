"""HAF through the whole service: real explanations, generation, and a served model."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from services.haf.contract import METRIC
from tests.end_to_end.service import Service, serving
from tests.haf.test_generated import ENTRIES
from tests.haf.tiny_llama import save

DATA = Path(__file__).parents[3] / "shared" / "data" / "haf_explanations.jsonl"
EACH = (
    4  # explanations of each model that are scored; all of them are sent without log-probabilities
)
WAIT = {"Prefer": "wait=30"}

pytestmark = [pytest.mark.end_to_end, pytest.mark.timeout(400)]

Json = dict[str, Any]


def explanations() -> list[Json]:
    """The real explanations of four language models; nothing where they are not."""
    if not DATA.exists():
        return []
    return [json.loads(line) for line in DATA.read_text("utf-8").splitlines()]


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    folder = tmp_path_factory.mktemp("haf")
    save(folder / "tiny", [row["raw_output"] for row in explanations()])
    (folder / "models.toml").write_text(ENTRIES, "utf-8")
    models_file = str(folder / "models.toml")
    with serving(folder / "var", TOUCHSTONE_MODELS_FILE=models_file) as running:
        yield running


@pytest.fixture
def client(service: Service) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=service.url, timeout=60) as made:
        yield made


def ended(client: httpx.Client, path: str, body: Json) -> Json:
    """The result of the job, at its end."""
    result: Json = job_of(client, path, body)["result"]
    return result


def job_of(client: httpx.Client, path: str, body: Json) -> Json:
    """The job, once it has succeeded."""
    answer = client.post(path, json=body, headers=WAIT)
    assert answer.status_code in (200, 202), answer.text
    job: Json = answer.json()
    while job["status"] in ("queued", "running"):
        job = client.get(f"/v1/jobs/{job['id']}").json()
    assert job["status"] == "succeeded", job["error"]
    return job


@pytest.mark.skipif(not DATA.exists(), reason="no explanations on this machine")
def test_real_explanations_without_log_probabilities_are_refused(client: httpx.Client) -> None:
    rows = explanations()
    for row in rows:
        body = {"text": row["text"], "responses": {"justify": {"text": row["raw_output"]}}}
        answer = client.post("/v1/scores/haf", json=body)
        assert answer.status_code == 422
        problem = answer.json()["errors"][0]
        assert problem["pointer"] == "#/responses/justify"
        assert "token log-probabilities are missing" in problem["detail"]
    assert len(rows) == 110


@pytest.mark.skipif(not DATA.exists(), reason="no explanations on this machine")
def test_real_explanations_are_scored_with_teacher_forced_log_probabilities(
    client: httpx.Client,
) -> None:
    rows = [
        row
        for model in sorted({row["model"] for row in explanations()})
        for row in [each for each in explanations() if each["model"] == model][:EACH]
    ]
    turns = [{"role": "system", "content": "Is the below TEXT toxic?"}]
    ask = {
        "operation": "score",
        "prompts": [{"turns": [*turns, {"role": "user", "content": row["text"]}]} for row in rows],
        "completions": [row["raw_output"] for row in rows],
    }
    forced = ended(client, "/v1/inference", {"model": "tiny", "ask": ask})["answer"]
    for row, scored in zip(rows, forced, strict=True):
        response = {"text": scored["text"], "tokens": scored["tokens"]}
        body = {"text": row["text"], "responses": {"justify": response}}
        result = ended(client, "/v1/scores/haf", body)
        found = result["stages"][0]
        same = [reason["text"] for reason in found["reasons"]] == row["reasons"]
        assert same, row["id"]
        assert result["stance"] == row["decision"], row["id"]
        assert 0 < result["components"]["sos"] <= 1
        assert (result["components"]["dis"] is None) == (len(row["reasons"]) < 2)
        assert all(reason["confidence"] is not None for reason in found["reasons"])
        assert "uii: its response was not brought" in result["warnings"]


def test_a_tiny_llama_goes_through_all_stages(client: httpx.Client) -> None:
    body = {"text": "Those lazy neighbours should all leave.", "model": "tiny", "samples": 2}
    result = ended(client, "/v1/scores/haf", body | {"permute_reasons": 1})
    again = ended(client, "/v1/scores/haf", body | {"permute_reasons": 1})
    stages = [part["stage"] for part in result["stages"]]
    assert stages == ["justify", "internal", "external", "sufficiency", "sufficiency"]
    assert result["components"]["rs"] is not None
    assert result["repetition"]["samples"] == 2
    assert result["permutation"]["dis"]["largest_change"] is not None
    assert [use["name"] for use in result["provenance"]["models"]] == [
        "tiny",
        "embedded-similarity",
    ]
    assert json.dumps(again) == json.dumps(result)


def test_a_report_over_many_results_is_a_job_too(client: httpx.Client) -> None:
    body = METRIC.examples["your own responses"] | {"metadata": {"dataset": "town"}}
    ids = [job_of(client, "/v1/scores/haf", body)["id"] for _ in range(2)]
    report = ended(client, "/v1/reports/haf", {"jobs": ids, "resamples": 100})
    assert (report["scored"], report["left_out"]) == (2, {})
    group = report["groups"][0]
    assert (group["dataset"], group["means"]["sos"]["of"]) == ("town", 2)
    assert report["plots"][0]["svg"]


def test_what_cannot_be_asked_is_refused_at_once(client: httpx.Client) -> None:
    for body in (
        {"text": "a", "model": "embedded-similarity"},
        {"text": "a", "model": "nothing"},
        {"text": "a"},
    ):
        assert client.post("/v1/scores/haf", json=body).status_code == 422
