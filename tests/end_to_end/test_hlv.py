"""CoT2EL and HLV through the whole service: pairs from one metric are explanations in the other."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from services.cot2el.contract import CONTRACT as COT2EL
from services.hlv.contract import CONTRACT as HLV
from tests.answers import CheckedClient
from tests.end_to_end.load import finished
from tests.end_to_end.service import ROOT, serving
from tests.inference.shapes import save_llama

pytestmark = pytest.mark.end_to_end

CAUSAL = '\n[[models]]\nname = "tiny"\nkind = "causal"\nsource = "path:weights"\ndevice = "cpu"\n'
OPTIONS = ("--services", "hlv", "cot2el", "inference", "similarity")
VOTES = HLV.examples["your own distributions"]


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """A service that knows a small causal model besides its own."""
    folder: Path = tmp_path_factory.mktemp("hlv")
    save_llama(folder / "weights", reads=4_096)
    configured = (ROOT / "models.toml").read_text("utf-8") + CAUSAL
    (folder / "models.toml").write_text(configured, encoding="utf-8")
    with (
        serving(
            folder / "var", *OPTIONS, TOUCHSTONE_MODELS_FILE=str(folder / "models.toml")
        ) as service,
        CheckedClient(base_url=service.url, timeout=90) as made,
    ):
        yield made


def result(client: httpx.Client, metric: str, body: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = finished(client, f"/v1/scores/{metric}", body)["result"]
    return found


@pytest.mark.parametrize("name", COT2EL.examples)
def test_pairs_are_mapped_back_to_the_reasoning(client: httpx.Client, name: str) -> None:
    body = COT2EL.examples[name]
    found = result(client, "cot2el", body)
    assert found["score"] == 0.8
    for one in found["evidence"]:
        assert one["text"] == body["reasoning"][one["start"] : one["end"]]


def test_an_annotator_is_compared_by_meaning(client: httpx.Client) -> None:
    body = COT2EL.examples["against an annotator"] | {"similarity": "embedded-similarity"}
    found = result(client, "cot2el", body)
    assert "semantic" in found["validation"]["metrics_used"]
    used = [one["name"] for one in found["provenance"]["models"]]
    assert "embedded-similarity" in used  # beside the one that reads polarity


@pytest.mark.parametrize("name", HLV.examples)
def test_judges_are_compared_with_humans(client: httpx.Client, name: str) -> None:
    found = result(client, "hlv", HLV.examples[name])
    assert found["score"] is not None
    assert found["control"]["majority"]["tau_a"] > 0


def test_pairs_of_one_room_are_explanations_in_the_other(client: httpx.Client) -> None:
    pairs = result(client, "cot2el", COT2EL.examples["your own pairs"])["sets"]["filtered_sup"]
    body = {name: VOTES[name] for name in ("question", "options", "human")}
    how = {"methods": ["logits", "rank"], "runs": 1, "max_tokens": 4}
    found = result(client, "hlv", body | {"model": "tiny", "explanations": pairs, "judge": how})
    logits, rank = found["components"]["methods"]
    assert logits["gain"]["tvd"] is not None
    assert rank["explained"]["runs"] == 1
    assert found["provenance"]["models"][0]["name"] == "tiny"


@pytest.mark.parametrize(
    ("metric", "examples"), [("hlv", HLV.examples), ("cot2el", COT2EL.examples)]
)
def test_results_are_summed_up(
    client: httpx.Client, metric: str, examples: dict[str, dict[str, Any]]
) -> None:
    scored = [finished(client, f"/v1/scores/{metric}", body) for body in examples.values()]
    job = finished(client, f"/v1/reports/{metric}", {"jobs": [one["id"] for one in scored]})
    assert (job["result"]["scored"], job["result"]["left_out"]) == (len(examples), {})


def test_a_model_that_does_not_reason_is_a_status(client: httpx.Client) -> None:
    example = COT2EL.examples["your own pairs"]
    body = {name: example[name] for name in ("question", "options")}
    how = {"max_tokens": 16}
    found = result(client, "cot2el", body | {"model": "tiny", "writing": how})
    assert (found["status"], found["score"]) == ("no_reasoning", None)


@pytest.mark.parametrize(
    ("metric", "body", "pointer"),
    [
        ("hlv", VOTES | {"human": {"votes": {"Z": 1}}}, "#/human"),
        ("hlv", {name: VOTES[name] for name in ("question", "options", "human")}, "#"),
        ("hlv", VOTES | {"predictions": None, "model": "embedded-similarity"}, "#/model"),
        ("cot2el", COT2EL.examples["your own pairs"] | {"units": [{"start": 0}]}, "#/units/0/end"),
    ],
)
def test_bad_requests_are_refused_where_they_are_bad(
    client: httpx.Client, metric: str, body: dict[str, Any], pointer: str
) -> None:
    answer = client.post(f"/v1/scores/{metric}", json=body)
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["pointer"] == pointer
