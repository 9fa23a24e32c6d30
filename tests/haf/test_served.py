"""All stages against a real OpenAI-compatible server: llama.cpp, serving the tiny Llama."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from services.haf.contract import HafRequest
from services.haf.metric import SERVICE
from services.worker import local
from shared.models.catalogue.catalogue import load_catalogue
from shared.models.openai import protocol
from shared.models.ports import bind
from tests.haf.test_conversation import ENTRIES, TEXT
from tests.haf.tiny_llama import SPECIAL, STAGES, save
from tests.shared.models.openai import gguf_model
from tests.shared.models.openai.conftest import llama_serving

score = SERVICE.score


@pytest.fixture(scope="module")
def _bound(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    folder = tmp_path_factory.mktemp("served")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gguf_model, "SPECIAL", len(SPECIAL) + len(STAGES))
        file = gguf_model.write_gguf(save(folder / "tiny"), folder / "tiny.gguf")
        with llama_serving(file) as entry:
            (folder / "models.toml").write_text(ENTRIES + entry, "utf-8")
            bind(local(load_catalogue(folder / "models.toml")))
            # its template puts one word in the place of a stage's prompt: fewer tokens than words
            patch.setattr(protocol, "_min_tokens", lambda _: 0)
            yield
            bind(None)


@pytest.mark.usefixtures("_bound")
def test_a_served_model_goes_through_all_stages() -> None:
    generation = {"max_tokens": 80, "temperature": 0.3}
    request = HafRequest(text=TEXT, model="served", language="en", generation=generation)
    report = score(request)
    stages = [part.stage for part in report.stages]
    assert stages[:3] == ["justify", "internal", "external"]
    assert set(stages[3:]) == {"sufficiency"}
    written = {text for answers in STAGES.values() for text in answers}
    assert {part.response for part in report.stages} <= written
    assert report.components.sos is not None
    assert report.components.uii is not None
    assert report.components.rs is not None
    assert report.stance == "toxic"
    assert all(
        reason.confidence is not None and 0.05 < reason.confidence <= 1
        for reason in report.stages[0].reasons
    )
    assert report.provenance.models[0].sha256 is None  # a server does not tell its weights
