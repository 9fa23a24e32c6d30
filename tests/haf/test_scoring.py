"""What a report says of single tokens and of pairs of reasons: enough to compute the metrics."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from services.haf.contract import HafRequest
from services.haf.metric import SERVICE
from services.haf.report import HafDecisionPart, HafReasonPart, HafResult
from shared.contracts.redaction import without_text
from tests.haf.fake import bound, overlap, surprise
from tests.haf.test_metric import WHOLE, ask, bring, requests

score = SERVICE.score

Part = HafReasonPart | HafDecisionPart
Json = dict[str, Any]
VARIANTS = ("robust", "paper", "reference")


def statements(report: HafResult) -> Iterator[tuple[str, Part]]:
    """Each reason and decision, with the response that it stands in."""
    for stage in report.stages:
        yield from ((stage.response, reason) for reason in stage.reasons)
        if stage.decision is not None:
            yield stage.response, stage.decision


def with_tokens(request: HafRequest) -> HafRequest:
    return request.model_copy(update={"token_values": True})


def keys(found: Any) -> set[str]:
    if isinstance(found, dict):
        return set(found).union(*map(keys, found.values()))
    return set().union(*map(keys, found)) if isinstance(found, list) else set()


def stripped(found: Any) -> Any:
    """Without the values of tokens."""
    if isinstance(found, dict):
        return {k: stripped(value) for k, value in found.items() if k != "token_values"}
    return [stripped(each) for each in found] if isinstance(found, list) else found


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(requests())
def test_the_tokens_of_a_statement_give_its_confidence(request: HafRequest) -> None:
    with bound():
        report = score(with_tokens(request))
    for _, part in statements(report):
        values = part.token_values
        relevances = np.array([token.relevance for token in values])
        logprobs = np.array([token.logprob for token in values])
        if relevances.sum() == 0:
            assert part.confidence is None
            continue
        expected = float(np.exp(logprobs @ relevances / relevances.sum()))
        assert part.confidence == pytest.approx(expected, rel=1e-9)
        assert part.confidence_uniform == pytest.approx(float(np.exp(logprobs.mean())))
        assert part.tokens == sum(token.tokens for token in values)


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_tokens_stand_where_they_say(variant: str) -> None:
    with bound():
        report = score(bring(**WHOLE, variant=variant, token_values=True))
    assert all(part.token_values for _, part in statements(report))
    for response, part in statements(report):
        assert part.start is not None
        assert part.end is not None
        words = [response[token.start : token.end] for token in part.token_values]
        joined = "".join(words)
        if variant == "reference":  # tokens that lie wholly inside
            assert joined in part.text
        else:
            assert part.text in joined
        assert all(word.strip() in part.text for word in words)


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("more", [{}, {"model": "lm", "samples": 2, "permute_reasons": 1}])
def test_nothing_else_changes_and_no_more_is_asked(variant: str, more: Json) -> None:
    asked = ask(**more, variant=variant) if more else bring(**WHOLE, variant=variant)
    with bound() as models:
        plain = score(asked).model_dump(mode="json")
        before = [list(models.compared), len(models.generated), len(models.scored)]
        models.compared.clear()
        told = score(with_tokens(asked)).model_dump(mode="json")
    assert [models.compared, len(models.generated) // 2, len(models.scored) // 2] == before
    assert plain["provenance"]["parameters"].pop("token_values") is False
    assert "token_values" not in keys(plain)
    assert told["provenance"]["parameters"].pop("token_values") is True
    assert stripped(told) == plain
    assert json.dumps(stripped(told)) == json.dumps(plain)  # in the same order, too


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_matrix_gives_the_diversity_of_the_reasons(variant: str) -> None:
    with bound():
        report = score(bring(**WHOLE, variant=variant))
    texts = [reason.text for reason in report.stages[0].reasons]
    matrix = np.array(report.similarities)
    assert matrix.tolist() == [[1.0 if a == b else overlap(a, b) for b in texts] for a in texts]
    confidences = np.array([reason.confidence for reason in report.stages[0].reasons])
    apart = (1 - matrix) * confidences[None, :]
    assert report.components.dis == pytest.approx(apart.sum() / (len(texts) * (len(texts) - 1)))


def test_a_pair_is_asked_once_and_mirrored() -> None:
    with bound(alike=lambda a, b: surprise(f"{a}|{b}") / 2) as models:
        report = score(bring())
    first, second = (reason.text for reason in report.stages[0].reasons)
    pairs = [(pair.a, pair.b) for pair in models.compared[0]]
    assert (first, second) in pairs
    assert (second, first) not in pairs
    g = surprise(f"{first}|{second}") / 2
    assert report.similarities == ((1.0, g), (g, 1.0))


@pytest.mark.parametrize(("count", "rows"), [(0, 0), (1, 1), (2, 2), (64, 64), (65, 0)])
def test_as_many_rows_as_reasons_up_to_those_that_are_asked_about(count: int, rows: int) -> None:
    many = "The text is toxic.\n" + "".join(f"{n}. It says {n} so.\n" for n in range(1, count + 1))
    with bound():
        report = score(bring(many))
    assert report.counts.reasons == count
    assert [len(row) for row in report.similarities] == [rows] * rows


def test_without_texts_the_numbers_of_tokens_stay_and_nothing_is_added() -> None:
    asked = bring(**WHOLE)
    with bound():
        plain, told = score(asked), score(with_tokens(asked))
    assert keys(without_text(plain, asked)) == keys(plain.model_dump(mode="json"))
    kept = HafResult.model_validate(without_text(told, asked))
    assert [part.token_values for _, part in statements(kept)] == [
        part.token_values for _, part in statements(told)
    ]
    assert kept.similarities == told.similarities
