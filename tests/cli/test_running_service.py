"""A side-by-side run before a real gateway: each request ends once, also where a run is cut off."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bench.papers import service_calls
from bench.papers.answers import KeptAnswer, PaperRequest
from bench.papers.service_calls import RunningService
from tests.batches import OWN, Scene
from touchstone_client import Touchstone
from touchstone_client._sync.handles import Batch


def request(text: str, **more: Any) -> PaperRequest:
    return PaperRequest("hatexscore", OWN | {"text": text} | more)


GOOD, BAD, INVALID = request("a"), request("bad b"), request("c", nothing=1)
MANY = [GOOD, INVALID, BAD, *(request(f"text {number}") for number in range(5))]


def nobody(_: int) -> None:
    pass


def answered(service: RunningService, requests: list[PaperRequest]) -> dict[str, KeptAnswer]:
    """Key → answer; each comes once."""
    found = [one for some in service.ask(requests, nobody) for one in some]
    assert len({one.key for one in found}) == len(found) == len(requests)
    return {one.key: one for one in found}


def test_results_failures_and_refusals_are_answers(
    busy: Scene, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service_calls, "LINES_A_BATCH", 3)
    note = tmp_path / "batch.txt"
    told: list[int] = []
    with Touchstone() as client:
        service = RunningService(client, note)
        found = [one for some in service.ask(MANY, told.append) for one in some]
    by_key = {one.key: one for one in found}
    assert by_key.keys() == {one.key for one in MANY}
    assert len(found) == len(MANY)
    good, bad, invalid = (by_key[one.key] for one in (GOOD, BAD, INVALID))
    assert good.result is not None
    assert good.job is not None
    assert busy.client.get(f"/v1/jobs/{good.job}").json()["result"] == good.result
    assert (bad.result, invalid.result, invalid.job) == (None, None, None)
    assert bad.job is not None
    assert bad.error
    assert "nothing" in (invalid.error or "")
    assert not note.exists()
    assert max(told) <= len(MANY)


def test_a_run_that_was_cut_off_gets_its_batch_and_asks_no_other(
    busy: Scene, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    note = tmp_path / "batch.txt"

    def cut(*_: object, **__: object) -> Batch:
        raise KeyboardInterrupt

    with Touchstone() as client:
        with monkeypatch.context() as patched:
            patched.setattr(Batch, "wait", cut)
            asking = RunningService(client, note).ask([GOOD, BAD], nobody)
            with pytest.raises(KeyboardInterrupt):
                next(asking)
        assert note.read_text("utf-8").startswith("batch_")
        found = [one for some in RunningService(client, note).resume() for one in some]
        assert {one.key for one in found} == {GOOD.key, BAD.key}
        assert not note.exists()
        assert list(RunningService(client, note).resume()) == []
    assert len(busy.client.get("/v1/batches").json()["data"]) == 1


def test_a_batch_that_is_gone_is_asked_again(busy: Scene, tmp_path: Path) -> None:
    note = tmp_path / "batch.txt"
    note.write_text("batch_" + "0" * 32, "utf-8")
    with Touchstone() as client:
        service = RunningService(client, note)
        assert list(service.resume()) == []
        assert answered(service, [GOOD])[GOOD.key].result is not None
