"""The service's own jobs: the default model, the order of the pairs, the provenance."""

from __future__ import annotations

import pytest

from services.similarity.contract import CONTRACT, SimilarityRequest
from services.similarity.service import SERVICE
from shared.contracts.errors import BadInput
from shared.models import ports
from shared.models.catalogue.checkpoint import BASE_SHA256
from shared.models.ports import describe

pytestmark = pytest.mark.usefixtures("_embedded_models")
score = SERVICE.score


def test_the_embedded_similarity_knows_a_paraphrase() -> None:
    request = SimilarityRequest.model_validate(CONTRACT.examples["two pairs"])
    report = score(request)
    alike, apart = report.similarities
    assert 0.6 < alike <= 1
    assert 0 <= apart < 0.3
    assert report.model.name == "embedded-similarity"
    assert report.model.sha256 == BASE_SHA256
    backwards = request.model_copy(update={"pairs": request.pairs[::-1]})
    assert score(backwards).similarities == (apart, alike)


def test_a_classifier_does_not_compare() -> None:
    request = SimilarityRequest.model_validate(
        CONTRACT.examples["two pairs"] | {"model": "embedded-hate"}
    )
    with pytest.raises(BadInput, match="of kind classifier"):
        score(request)


def test_it_describes_itself() -> None:
    description = describe(ports.models(), "embedded-similarity")
    assert (description.kind, description.labels) == ("similarity", ())
