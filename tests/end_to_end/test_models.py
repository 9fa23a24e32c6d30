"""A model that cannot be loaded is its own jobs' trouble: they wait, and end when it is mended."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import torch
from transformers import AutoTokenizer, BertConfig, BertForSequenceClassification

from services.hatexscore.contract import CONTRACT
from shared.models.catalogue.checkpoint import base_folder
from tests.answers import CheckedClient
from tests.end_to_end.service import serving
from tests.inference.shapes import save_bert
from tests.patience import SECONDS, eventually

pytestmark = pytest.mark.end_to_end

PATIENCE_SECONDS = 240
ASKED = {"operation": "judge", "examples": [{"text": "a lovely day", "text_pair": "rain"}]}


def entry(name: str, kind: str, source: str) -> str:
    return f'[[models]]\nname = "{name}"\nkind = "{kind}"\nsource = "{source}"\n'


def good(folder: Path) -> Path:
    """A tiny classifier of hate."""
    words = AutoTokenizer.from_pretrained(base_folder())
    return save_bert(folder, words, outputs=("non-hateful", "hateful"), scale=1)


def broken(folder: Path, whole: Path) -> Path:
    """The same, but its configuration speaks of other sizes than its weights: a RuntimeError."""
    shutil.copytree(whole, folder)
    config = json.loads((folder / "config.json").read_text("utf-8"))
    (folder / "config.json").write_text(json.dumps(config | {"hidden_size": 16}), "utf-8")
    return folder


@pytest.fixture
def client(tmp_path: Path) -> Iterator[httpx.Client]:
    """A service whose default judge cannot be loaded."""
    broken(tmp_path / "models" / "hate", good(tmp_path / "good"))
    file = tmp_path / "models" / "models.toml"
    hate = entry("embedded-hate", "classifier", "path:hate")
    file.write_text(hate + entry("embedded-nli", "classifier", "embedded:nli"), "utf-8")
    told = {"TOUCHSTONE_MODELS_FILE": str(file)}
    options = ("--services", "hatexscore", "inference")
    with (
        serving(tmp_path / "var", *options, **told) as service,
        CheckedClient(base_url=service.url, timeout=SECONDS) as made,
    ):
        yield made


def deep(folder: Path) -> Path:
    """A classifier of hate that OpenVINO converts for seconds."""
    torch.manual_seed(0)
    labels = {0: "non-hateful", 1: "hateful"}
    config = BertConfig(num_hidden_layers=12, hidden_size=384, num_attention_heads=6)
    config.id2label, config.label2id = labels, {label: place for place, label in labels.items()}
    BertForSequenceClassification(config).save_pretrained(folder)
    AutoTokenizer.from_pretrained(base_folder()).save_pretrained(folder)
    return folder


@pytest.mark.nightly
def test_a_worker_that_is_killed_while_it_converts_a_model_costs_its_job_nothing(
    tmp_path: Path,
) -> None:
    """Nothing of a conversion outlives its process: the next worker converts anew."""
    pytest.importorskip("openvino")
    deep(tmp_path / "models" / "deep")
    file = tmp_path / "models" / "models.toml"
    converted = (
        entry("deep", "classifier", "path:deep") + 'runtime = "openvino"\nload = "first-use"\n'
    )
    shipped = entry("embedded-hate", "classifier", "embedded:hate")
    file.write_text("schema = 2\n" + shipped + converted, "utf-8")
    options = ("--services", "hatexscore", "inference")
    told = {"TOUCHSTONE_MODELS_FILE": str(file)}
    with (
        serving(tmp_path / "var", *options, **told) as service,
        CheckedClient(base_url=service.url, timeout=SECONDS) as client,
    ):

        def state() -> Any:
            return client.get("/v1/models", params={"id": "deep"}).json()["data"][0]["state"]

        body = next(iter(CONTRACT.examples.values())) | {"model": "deep"}
        job = client.post("/v1/scores/hatexscore", json=body).json()["id"]
        seen(lambda: state() == "loading")
        service.kill("services.worker")
        ended = seen(lambda: (one := client.get(f"/v1/jobs/{job}").json())["result"] and one)
        assert ended["status"] == "succeeded"
        assert ended["attempts"] <= 2  # it may have been held by the worker that was lost
        [model] = ended["result"]["provenance"]["models"]
        assert model["runtime"] == "openvino"
        seen(lambda: state() == "ready")


def seen(look: Callable[[], Any]) -> Any:
    """What is seen, once there is something."""
    return eventually(look, "nothing is seen", seconds=PATIENCE_SECONDS, every=0.3)


def accepted_line(client: httpx.Client, body: dict[str, Any]) -> str:
    """The job of a batch's only line: a batch is accepted whatever its models are just now."""
    line = {"custom_id": "1", "method": "POST", "url": "/v1/scores/hatexscore", "body": body}
    sent = {"file": ("lines.jsonl", json.dumps(line).encode(), "application/jsonl")}
    file = client.post("/v1/files", data={"purpose": "batch"}, files=sent).json()["id"]
    asked = {"input_file_id": file, "endpoint": "/v1/scores/hatexscore"}
    batch = client.post("/v1/batches", json=asked).json()["id"]
    found = seen(lambda: client.get("/v1/jobs", params={"batch": batch}).json()["data"])
    job_id: str = found[0]["id"]
    return job_id


def posted(client: httpx.Client, body: dict[str, Any]) -> Any:
    """The refusal of a new job, once the gateway knows of the model."""
    answered = client.post("/v1/scores/hatexscore", json=body)
    return answered.json() if answered.status_code == 422 else None


def test_a_model_that_cannot_be_loaded_stops_nobody_else(
    client: httpx.Client, tmp_path: Path
) -> None:
    body = next(iter(CONTRACT.examples.values()))
    stuck = accepted_line(client, body)
    refused = seen(lambda: posted(client, body))
    assert refused["type"].endswith("#model-unusable")

    def job() -> Any:
        return client.get(f"/v1/jobs/{stuck}").json()

    def other() -> Any:
        asked = {"model": "embedded-nli", "ask": ASKED}
        wait = {"Prefer": "wait=30"}
        return client.post("/v1/inference", json=asked, headers=wait).json()

    waiting = seen(lambda: (found := job())["waiting_for"] and found)
    assert (waiting["status"], waiting["attempts"]) == ("queued", 0)
    assert waiting["waiting_for"]["model"] == "embedded-hate"
    assert seen(lambda: (found := other())["status"] == "succeeded" and found)["result"]

    def cards_once_known() -> Any:
        cards = {card["name"]: card for card in client.get("/v1/models").json()["data"]}
        states = cards["embedded-hate"]["state"], cards["embedded-nli"]["state"]
        return cards if states == ("failed", "ready") else None

    cards = seen(cards_once_known)
    assert cards["embedded-hate"]["error"] == waiting["waiting_for"]["detail"]
    assert "the model 'embedded-hate' cannot be loaded" in cards["embedded-hate"]["error"]
    assert "cannot be loaded" in client.get("/").text
    page = f"/jobs/{stuck}"  # now and then the job runs, and looks whether the model can be loaded
    seen(lambda: "waiting for the model embedded-hate" in client.get(page).text)

    shutil.copy(tmp_path / "good" / "config.json", tmp_path / "models" / "hate" / "config.json")
    ended = seen(lambda: (found := job())["status"] != "queued" and found["result"] and found)
    assert (ended["status"], ended["attempts"], ended["waiting_for"]) == ("succeeded", 1, None)
