"""HAF through the whole service: real explanations, generation, and a served model."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from shared.contracts.answers import stored_result
from tests.answers import CheckedClient
from tests.batches import FINAL, packed
from tests.browser.conftest import browser  # noqa: F401 (a fixture)
from tests.end_to_end.load import finished as succeeded
from tests.end_to_end.service import Service, serving
from tests.haf import first_layer
from tests.haf.test_conversation import ENTRIES
from tests.haf.tiny_llama import save
from tests.patience import SECONDS

DATA = Path(__file__).parents[3] / "shared" / "data" / "haf_explanations.jsonl"
STEP = 5  # every fifth explanation; nightly all of them
FEW = 28  # every 28th explanation is scored with the embedded similarity too

pytestmark = pytest.mark.end_to_end

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
    first_layer.save(folder / "first-layer")
    (folder / "models.toml").write_text(ENTRIES + first_layer.ENTRY, "utf-8")
    models_file = str(folder / "models.toml")
    with serving(folder / "var", TOUCHSTONE_MODELS_FILE=models_file) as running:
        yield running


@pytest.fixture
def client(service: Service) -> Iterator[httpx.Client]:
    with CheckedClient(base_url=service.url, timeout=SECONDS) as made:
        yield made


def ended(client: httpx.Client, path: str, body: Json) -> Json:
    """The result of the job, at its end."""
    result: Json = job_of(client, path, body)["result"]
    return result


def job_of(client: httpx.Client, path: str, body: Json) -> Json:
    """The job, once it has succeeded."""
    return succeeded(client, path, body)


@pytest.mark.skipif(not DATA.exists(), reason="no explanations on this machine")
@pytest.mark.parametrize("step", [STEP, pytest.param(1, marks=pytest.mark.nightly)])
def test_real_explanations_are_scored_with_teacher_forced_log_probabilities(
    client: httpx.Client, step: int
) -> None:
    rows = explanations()[::step]
    bodies = [body | {"similarity": "first-layer"} for body in forced(client, rows)]
    asked = list(zip(rows, bodies, strict=True))
    asked += [(row, body | {"similarity": "embedded-similarity"}) for row, body in asked[::FEW]]
    batch = finished(client, [body for _, body in asked])
    answers = client.get(f"/v1/files/{batch['output_file_id']}/content").text.splitlines()
    results = {
        int(line["custom_id"]): stored_result(line["response"]["body"]["result"])
        for line in map(json.loads, answers)
    }
    assert sorted(results) == list(range(len(asked)))
    for place, (row, _) in enumerate(asked):
        check(row, results[place])
    same = sum(results[place]["stance"] == row["decision"] for place, (row, _) in enumerate(asked))
    assert same >= SAME_STANCE * len(asked)
    report = ended(client, "/v1/reports", {"metric": "haf", "batch": batch["id"], "resamples": 100})
    assert (report["scored"], report["undefined"]) == (len(asked), 0)
    origins = {(group["model"], group["dataset"]) for group in report["groups"]}
    assert origins == {(row["model"], row["dataset"]) for row in rows}
    assert len(rows) == -(-110 // step)


def forced(client: httpx.Client, rows: list[Json]) -> list[Json]:
    """The explanations as requests, with the log-probabilities that the tiny Llama gives them."""
    turns = [{"role": "system", "content": "Is the below TEXT toxic?"}]
    ask = {
        "operation": "score",
        "prompts": [{"turns": [*turns, {"role": "user", "content": row["text"]}]} for row in rows],
        "completions": [row["raw_output"] for row in rows],
    }
    answer = ended(client, "/v1/inference", {"model": "tiny", "ask": ask})["answer"]
    return [
        {
            "text": row["text"],
            "language": "en",  # one post holds so many words of another that it passes for that
            "responses": {"justify": {"text": scored["text"], "tokens": scored["tokens"]}},
            "metadata": {"model": row["model"], "dataset": row["dataset"]},
        }
        for row, scored in zip(rows, answer, strict=True)
    ]


def finished(client: httpx.Client, bodies: list[Json]) -> Json:
    """The batch of these requests, once every line of it has succeeded."""
    lines = [
        {"custom_id": str(place), "method": "POST", "url": "/v1/scores/haf", "body": body}
        for place, body in enumerate(bodies)
    ]
    form = {"data": {"purpose": "batch"}, "files": {"file": ("in.jsonl", packed(lines))}}
    file = client.post("/v1/files", **form).json()  # type: ignore[arg-type]
    asked = {"input_file_id": file["id"], "endpoint": "/v1/scores/haf"}
    batch: Json = client.post("/v1/batches", json=asked).json()
    while batch["status"] not in FINAL:
        time.sleep(0.2)
        batch = client.get(f"/v1/batches/{batch['id']}").json()
    count = len(bodies)
    assert batch["request_counts"] == {"total": count, "completed": count, "failed": 0}
    return batch


SAME_STANCE = 0.9  # of 23 here the reader calls two "mildly toxic" otherwise; none is turned round


def check(row: Json, result: Json) -> None:
    """What stands in the explanation was found in it, and has numbers."""
    found = result["stages"][0]
    same = [reason["text"] for reason in found["reasons"]] == row["reasons"]
    assert same, row["id"]
    assert {result["stance"], row["decision"]} != {"toxic", "non-toxic"}, row["id"]
    assert 0 < result["components"]["sos"] <= 1
    assert (result["components"]["dis"] is None) == (len(row["reasons"]) < 2)
    assert all(0 < reason["confidence"] <= 1 for reason in found["reasons"])
    assert "uii: the response of its stage was not sent" in result["warnings"]


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
        "embedded-reader",
    ]
    assert json.dumps(again) == json.dumps(result)
