"""Matched nulls: a random rationale is made in the way of the explanation's kind."""

from __future__ import annotations

from itertools import combinations, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from services.ice.contract import IceRequest
from services.ice.experiment import Experiment
from services.ice.metric import SERVICE
from services.ice.model_calls import run_experiments
from services.ice.report import IceTest
from shared.contracts.calls import Example, Tokens
from shared.statistics.placements import runs_of
from tests.flat_requests import flat_request
from tests.ice.planted import FIRST_WORD, PlantedJudge, planted, word
from tests.ice.test_randomization_test import span, text_of

if TYPE_CHECKING:
    from services.inference.classifier import LocalClassifier


FEW, RUNS = 500, 1_500  # by day, by night


def experiment(text: str, places: list[int], **more: Any) -> Experiment:
    request = flat_request(
        IceRequest, text=text, rationale=span(text, places), decision="yes", **more
    )
    [(found, _)] = run_experiments([request])
    assert isinstance(found, Experiment)
    return found


def first_test(text: str, places: list[int], **more: Any) -> IceTest:
    request = flat_request(
        IceRequest, text=text, rationale=span(text, places), decision="yes", **more
    )
    return SERVICE.score(request).components.tests[0]


def lengths(places: tuple[int, ...]) -> list[int]:
    return sorted(end - start for start, end in runs_of(places))


def test_a_token_that_begins_with_the_space_before_it_begins_a_word(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As those of SentencePiece do; else the whole text would be one word."""
    plain = PlantedJudge._tokens

    def with_spaces(judge: PlantedJudge, example: Example) -> Tokens:
        tokens = plain(judge, example)
        starts = tuple(start and start - 1 for start in tokens.starts)
        return tokens.model_copy(update={"starts": starts})

    with planted():
        expected = experiment(text_of(14), [4, 5, 6]).trials[0].null
        monkeypatch.setattr(PlantedJudge, "_tokens", with_spaces)
        found = experiment(text_of(14), [4, 5, 6]).trials[0].null
    assert (found.split, found.others) == (expected.split, expected.others) == (False, 11)


@pytest.mark.parametrize(
    ("places", "kind"),
    [
        ([4, 5, 6], "spans"),
        ([3], "spans"),
        ([1, 2, 8], "spans"),
        ([1, 5, 9], "words"),
    ],
)
def test_the_null_is_of_the_rationale_s_kind(places: list[int], kind: str) -> None:
    with planted():
        found = experiment(text_of(14), places, draws=400)
    [trial] = found.trials
    drawn = found.null_subsets(trial)
    assert trial.null.kind == kind
    assert tuple(places) not in drawn
    if kind == "spans":
        assert {tuple(lengths(one)) for one in drawn} == {tuple(lengths(tuple(places)))}
        every = [one for one in combinations(range(14), len(places)) if lengths(one) == lengths(
            tuple(places))]  # fmt: skip
        assert len(drawn) == len(every) - 1
    else:
        assert len(drawn) == 363  # C(14, 3) - 1


def test_the_kind_can_be_chosen() -> None:
    with planted():
        for kind, count in (("tokens", 363), ("spans", 131), ("words", 363), ("spans_gaps", 19)):
            found = first_test(text_of(14), [1, 2, 5], null=kind, draws=1_000)
            assert (found.null.kind, found.null.placements) == (
                kind,
                count if kind != "spans" else 131,
            )


def random_spans(text: str, length: int, count: int) -> list[list[int]]:
    random = np.random.default_rng(3)
    size = len(text.split())
    starts = random.integers(0, size - length + 1, size=count)
    return [list(range(start, start + length)) for start in starts.tolist()]


def bigram(ids: tuple[int, ...]) -> float:
    """A judge with a liking for neighbours, whatever they are, and no cause in any of them."""
    words = [one for one in ids if one >= FIRST_WORD]
    touching = sum(after - before == 1 for before, after in pairwise(words))
    noise = np.sin(sum(one * one for one in words)) / 10
    return float(1 / (1 + np.exp(-touching / 3 - noise)))


@pytest.mark.parametrize("kind", ["spans", "tokens"])
def test_a_causeless_passage_is_no_evidence_where_passages_are_its_rivals(kind: str) -> None:
    """Against random tokens a judge that likes neighbours calls every passage faithful."""
    requests = []
    for number in range(200):
        text = text_of(40, number)
        [places] = random_spans(text, 4, 1) if number == 0 else [
            list(range(number % 37, number % 37 + 4))]  # fmt: skip
        requests.append(
            IceRequest(
                text=text,
                rationale=span(text, places),
                decision="yes",
                options={"null": kind, "draws": 39},
            )
        )
    with planted(bigram):
        found = [report.components.tests[0] for report in SERVICE.score_batch(requests)]
    called = np.mean([(test.p_two_sided or 1) <= 0.06 for test in found])
    rates = np.mean([test.win_rate for test in found])
    if kind == "spans":
        assert called <= 0.12
        assert rates == pytest.approx(0.5, abs=0.08)
    else:
        assert called > 0.9
        assert rates > 0.95


@pytest.mark.parametrize(
    ("runs", "slack"), [(FEW, 0.03), pytest.param(RUNS, 0.02, marks=pytest.mark.nightly)]
)
def test_random_passages_win_half_and_their_p_is_uniform(runs: int, slack: float) -> None:
    random = np.random.default_rng(8)
    requests = []
    for number in range(runs):
        text = text_of(40, number)
        start = int(random.integers(0, 35))
        requests.append(
            IceRequest(
                text=text,
                rationale=span(text, list(range(start, start + 6))),
                decision="yes",
                options={"draws": 19},
            )
        )
    with planted():
        found = [report.components.tests[0] for report in SERVICE.score_batch(requests)]
    assert np.mean([test.win_rate for test in found]) == pytest.approx(0.5, abs=0.03)
    p = np.array([test.p_value for test in found])
    assert np.mean(p <= 0.05) == pytest.approx(0.05, abs=slack)
    assert {test.null.attainable_p for test in found} == {0.05}


def test_spans_keep_to_their_text() -> None:
    text, pair = text_of(6), " ".join(word(900 + place) for place in range(8))
    request = IceRequest.model_validate(
        {
            "text": text,
            "text_pair": pair,
            "rationale": [
                *span(text, [1, 2]),
                *(one | {"of": "text_pair"} for one in span(pair, [0])),
            ],
            "options": {"draws": 500},
        }
    )
    with planted():
        [(found, _)] = run_experiments([request])
        assert isinstance(found, Experiment)
    [trial] = found.trials
    drawn = found.null_subsets(trial)
    assert len(drawn) == 5 * 8 - 1
    assert {sum(place < 6 for place in one) for one in drawn} == {2}


def test_words_of_several_tokens_move_whole(encoder: LocalClassifier) -> None:
    text = (
        "the gardeners unquestionably misremembered rainy afternoons and sandcastles, didn't they"
    )
    start = text.index("misremembered")
    spans = [{"start": start, "end": start + len("misremembered rainy")}]
    request = IceRequest(text=text, model="m", rationale=spans, options={"draws": 300})
    [(found, _)] = run_experiments([request])
    assert isinstance(found, Experiment)
    [trial] = found.trials
    words = found._units.words
    assert any(len(one) > 1 for one in words)
    of_token = {token: number for number, one in enumerate(words) for token in one}
    for subset in found.null_subsets(trial):
        touched = {of_token[token] for token in subset}
        assert sum(len(words[number]) for number in touched) == len(subset)
        assert len(touched) == 2
    comma = text.index(",")
    offsets = found.tokenized.tokens
    alone = [n for n, start in enumerate(offsets.starts) if start == comma]
    assert (found.tokenized.eligible.index(alone[0]),) in words


def test_spans_that_cut_words_are_made_of_tokens(encoder: LocalClassifier) -> None:
    text = "unquestionably misremembered afternoons"
    spans = [{"start": 0, "end": 2}]
    report = SERVICE.score(IceRequest(text=text, model="m", rationale=spans))
    assert any("inside a word" in warning for warning in report.warnings)


def test_values_and_published_variants_meet_tokens() -> None:
    text = text_of(14)
    with planted():
        own = SERVICE.score(IceRequest(text=text, attribution="attention"))
        paper = first_test(text, [1, 2, 3], variant="paper")
    assert own.components.tests[0].null.kind == "tokens"
    assert paper.null.kind == "tokens"
    with pytest.raises(ValueError, match="variant `robust`"):
        first_test(text, [1], variant="paper", null="spans")
