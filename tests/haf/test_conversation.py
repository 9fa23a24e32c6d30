"""Real models in this process: a tiny Llama through all stages, the embedded similarity."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from services.haf.contract import HafRequest
from services.haf.metric import SERVICE
from services.haf.report import HafResult
from services.worker import local
from shared.models.catalogue.catalogue import load_catalogue
from tests.fakes import bound_models
from tests.haf.tiny_llama import save

score = SERVICE.score
score_batch = SERVICE.score_batch

TEXT = "Honestly, those lazy neighbours should all move away."
ENTRIES = """
[[models]]
name = "tiny"
kind = "causal"
source = "path:tiny"
device = "cpu"

[[models]]
name = "embedded-similarity"
kind = "similarity"
source = "embedded:base"
device = "cpu"
"""


@pytest.fixture(scope="module")
def models_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("haf")
    save(folder / "tiny")
    (folder / "models.toml").write_text(ENTRIES, "utf-8")
    return folder / "models.toml"


@pytest.fixture(autouse=True)
def _bound(models_file: Path) -> Iterator[None]:
    with bound_models(local(load_catalogue(models_file))):
        yield


def ask(**more: object) -> HafRequest:
    return HafRequest.model_validate({"text": TEXT, "model": "tiny", "language": "en", **more})


def test_all_stages_are_generated_and_scored() -> None:
    report = score(ask(samples=3, permute_reasons=1, extras=True))
    stages = [part.stage for part in report.stages]
    assert stages == ["justify", "internal", "external", "sufficiency", "sufficiency"]
    values = report.components
    assert None not in (values.sos, values.dis, values.uii, values.rs)
    assert values.uei is None  # it says that nothing is missing
    assert report.repetition is not None
    assert report.repetition.sos.of == 3
    assert report.permutation is not None
    assert report.permutation.dis.largest_change is not None
    assert report.extras is not None
    assert report.extras.dis_dpp is not None
    assert [use.name for use in report.provenance.models] == [
        "tiny",
        "embedded-similarity",
        "embedded-reader",
    ]
    for part in report.stages:
        for reason in part.reasons:
            assert reason.confidence is not None
            assert 0 < reason.confidence <= 1
            assert reason.tokens > 3


def test_the_same_request_alone_and_among_others() -> None:
    """The same text, and the same numbers to the rounding of a padded forward pass."""
    asked = [ask(seed=seed, samples=2) for seed in (1, 2)] + [ask(text=f"{TEXT} Now.", samples=1)]
    together = score_batch(asked)
    for request, in_batch in zip(asked, together, strict=True):
        alone = score(request)
        assert said(alone) == said(in_batch)
        for name, value in alone.components.model_dump().items():
            assert getattr(in_batch.components, name) == pytest.approx(value, abs=1e-4)
    assert said(together[0]) != said(together[1]) or together[0].repetition != (
        together[1].repetition
    )


def said(report: HafResult) -> list[str]:
    return [part.response for part in report.stages]


def test_responses_that_end_at_the_most_tokens_are_counted() -> None:
    report = score(ask(generation={"max_tokens": 8}))
    assert any("of the responses were cut off at `max_tokens`" in each for each in report.warnings)
    assert not any("`max_tokens`" in each for each in score(ask()).warnings)
