"""ICE over a classification server, through the whole service: words, and refusals at posting."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import httpx
import numpy as np
import pytest

from services.ice.contract import IceRequest
from tests.end_to_end.load import finished
from tests.end_to_end.service import serving
from tests.flat_requests import nested
from tests.patience import SECONDS
from tests.shared.models.openai.computing import ClassifierDouble, Floats
from tests.shared.models.openai.stub import listening

pytestmark = pytest.mark.end_to_end

TEXT = "Those immigrants are ruining our lovely town"
WEIGHTS = {"immigrants": 1.5, "ruining": 2.0, "lovely": -1.0, "[MASK]": 0.1}
ENTRY = """
schema = 2
[[models]]
name = "served"
kind = "classifier"
source = "classify:{url}"
served_name = "m"
outputs = ["no", "perhaps", "yes"]
labels = {{ hateful = ["yes", "perhaps"], non-hateful = ["no"] }}
languages = ["en"]
"""


def logits(texts: Sequence[str]) -> Floats:
    """(N, 3): a sum over the words of a text."""
    sums = [sum(WEIGHTS.get(word, 0.0) for word in text.split()) - 1 for text in texts]
    return np.array([[0.0, one / 2, one] for one in sums])


def hateful(text: str) -> float:
    [row] = np.exp(logits([text]))
    return float(row[1:].sum() / row.sum())


BODY: dict[str, Any] = {"text": TEXT, "model": "served", "decision": "hateful"}
BODY |= {"aspects": ["sufficiency"], "draws": 50}


@dataclass(frozen=True)
class Place:
    """The service, and the server that it asks."""

    client: httpx.Client
    double: ClassifierDouble

    def result(self, **fields: Any) -> dict[str, Any]:
        body = nested(IceRequest, BODY | fields)
        found: dict[str, Any] = finished(self.client, "/v1/scores/ice", body)["result"]
        return found


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    folder = tmp_path_factory.mktemp("words")
    double = ClassifierDouble("vllm", logits, ("no", "perhaps", "yes"))
    with listening(double) as url:
        file = folder / "models.toml"
        file.write_text(ENTRY.format(url=url.removesuffix("/v1")), "utf-8")
        options = ("--models", str(file), "--services", "ice", "inference")
        with (
            serving(folder / "var", *options) as service,
            httpx.Client(base_url=service.url, timeout=SECONDS) as client,
        ):
            yield Place(client, double)


def test_a_quotation_is_tested_in_words(place: Place) -> None:
    result = place.result(rationale=["ruining our"], operators=["delete", "mask"])
    words = TEXT.split()
    assert (result["rows"], result["eligible_tokens"]) == ("words", 7)
    [span] = result["evidence"]
    assert span["text"] == "ruining our"
    deleted, masked = result["components"]["tests"]
    others = [" ".join(words[n : n + 2]) for n in range(6) if n != 3]
    null = np.array([hateful(one) for one in others])
    assert deleted["scores"]["full"] == pytest.approx(hateful(TEXT), abs=1e-6)
    assert deleted["scores"]["rationale"] == pytest.approx(hateful("ruining our"), abs=1e-6)
    assert deleted["null"]["mean"] == pytest.approx(null.mean(), abs=1e-6)
    ties = np.isclose(null, hateful("ruining our"))  # "are ruining", too
    beaten = (null < hateful("ruining our")) & ~ties
    assert deleted["win_rate"] == pytest.approx(beaten.mean() + ties.mean() / 2)
    kept = " ".join(w if n in (3, 4) else "[MASK]" for n, w in enumerate(words))
    assert masked["scores"]["rationale"] == pytest.approx(hateful(kept), abs=1e-6)
    assert result["provenance"]["parameters"]["draws"] == 50
    assert result["provenance"]["parameters"]["rows"] == "words"
    assert result["provenance"]["parameters"]["mask_text"] == "[MASK]"


def test_rows_of_words_are_an_operation_of_their_own(place: Place) -> None:
    ask = {
        "operation": "judge_words",
        "asked": [
            {
                "example": {"text": "ruining it"},
                "words": [{"start": 0, "end": 7}, {"start": 8, "end": 10}],
                "rows": [{"kept": [0]}, {"masked": [1]}],
            }
        ],
    }
    body = {"model": "served", "ask": ask}
    answer = place.client.post("/v1/inference", json=body, headers={"Prefer": "wait=30"}).json()
    rows = answer["result"]["answer"][0]["probabilities"]
    assert rows[0][0] == pytest.approx(hateful("ruining"), abs=1e-6)
    assert rows[1][0] == pytest.approx(hateful("ruining [MASK]"), abs=1e-6)
