"""Without servers: the same bytes as the service, the same refusals, the same face."""

from __future__ import annotations

import json
from typing import Any

import pandas as pd
import pytest

from bench.agreement import difference
from cli.local import on_device
from services.registry import metrics
from shared.models import ports
from shared.models.catalogue.catalogue import load_catalogue
from tests.end_to_end.service import ROOT
from touchstone_client import BadRequest, Local, Touchstone, TouchstoneError

pytestmark = pytest.mark.end_to_end


@pytest.fixture(scope="module")
def here() -> Any:
    """One for all: its models are loaded once."""
    yield Local()
    ports.bind(None)


def canonical(result: Any) -> str:
    """As the service sends it, but for the key of the text, which each installation has its own."""
    found = result.model_dump(mode="json", by_alias=True)
    found["provenance"].pop("text_key", None)
    return json.dumps(found, sort_keys=True)


@pytest.mark.parametrize("metric", sorted(metrics()))
def test_the_same_bytes_as_the_service(
    here: Local, ts: Touchstone, bodies: dict[str, Any], metric: str
) -> None:
    mine, theirs = here.score(metric, bodies[metric]), ts.score(metric, bodies[metric])
    assert type(mine) is type(theirs)
    assert difference(json.loads(canonical(mine)), json.loads(canonical(theirs))) is None
    uses = mine.provenance.models
    if all(one.numerics == "bytes" for one in uses):
        assert canonical(mine) == canonical(theirs)


@pytest.mark.parametrize(
    ("metric", "fields"),
    [
        ("hatexscore", {"text": "a"}),
        ("hatexscore", {"text": "a", "explanation": "b", "nothing": 1}),
        ("ice", {"text": "a", "rationale": ["a"], "model": "nobody"}),
        ("ice", {"text": "a", "rationale": [{"start": 5, "end": 9}]}),
        ("nothing", {}),
    ],
)
def test_the_same_refusals(
    here: Local, ts: Touchstone, metric: str, fields: dict[str, Any]
) -> None:
    found = []
    for client in (here, ts):
        with pytest.raises(TouchstoneError) as refused:
            client.score(metric, fields)
        found.append(refused.value)
    mine, theirs = found
    assert type(mine) is type(theirs)
    assert (mine.status, mine.errors) == (theirs.status, theirs.errors)  # type: ignore[attr-defined]


def test_rows_and_frames(here: Local) -> None:
    post = {
        "text": "Honestly, those immigrants are ruining our lovely old town.",
        "explanation": 'It says "those immigrants are ruining our lovely old town". Hateful.',
        "decision": "hateful",
    }
    told: list[tuple[int, int | None]] = []
    scores = here.score_many(
        [post, {"text": "a"}, post], "hatexscore", progress=lambda *now: told.append(now)
    )
    assert [isinstance(one, BadRequest) for one in scores] == [False, True, False]
    assert told[-1] == (3, 3)
    frame = here.score_many(pd.DataFrame([post, post]), "hatexscore", progress=False)
    assert frame["score"].notna().all()
    with pytest.raises(BadRequest):
        here.score_many([{}], "hatexscore", on_error="raise", progress=False)


def test_what_needs_a_service_says_so(here: Local) -> None:
    with pytest.raises(TouchstoneError, match="needs a running service"):
        here.batches.get("batch_1")


def test_a_device_is_for_models_whose_entry_leaves_it_open() -> None:
    catalogue = load_catalogue(ROOT / "models.toml")
    moved = on_device(catalogue, "cuda:1")
    asked = {
        before.device: after.device
        for before, after in zip(catalogue.entries, moved.entries, strict=True)
    }
    assert asked["auto"] == "cuda:1"
    assert on_device(catalogue, None) is catalogue
    with pytest.raises(ValueError, match="device"):
        on_device(catalogue, "abacus")
