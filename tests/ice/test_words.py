"""ICE in words: rows are the strings that one would write by hand, on any judge."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from services.ice.contract import IceRequest
from services.ice.metric import SERVICE
from services.ice.report import IceResult
from shared.contracts.calls import AttributionMethod, Attributions, Example, Tokens
from shared.contracts.errors import BadInput, TooManyRows
from shared.contracts.judgement import Judgement, unread, with_mass
from shared.models.ports import Floats
from shared.statistics import lime
from tests.flat_requests import flat_request, with_options
from tests.ice.planted import USE, PlantedJudge, noise, planted, weighted, word

if TYPE_CHECKING:
    from services.inference.classifier import LocalClassifier


score = SERVICE.score
TEXT = " ".join(map(word, range(8)))
SERVED = frozenset(("judge", "word_rows"))


ONE_SIDE = {"aspects": ["sufficiency"]}


def request(text: str = TEXT, **fields: Any) -> IceRequest:
    body = {"text": text, "decision": "yes", "rows": "words", "draws": 200, **ONE_SIDE, **fields}
    return flat_request(IceRequest, body)


def mention(*words: int) -> list[dict[str, int]]:
    """Spans of these words of TEXT."""
    return [{"start": 3 * place, "end": 3 * place + 2} for place in words]


def by_hand(judge: Any, texts: Sequence[str], column: int = 1) -> Floats:
    return np.array([row[column] for row in judge.judge([Example(text=text) for text in texts])])


def sentence(places: Sequence[int], words: Sequence[str]) -> str:
    return " ".join(words[place] for place in places)


@pytest.mark.parametrize("encoder", ["m"], indirect=True)
def test_words_on_an_encoder_are_the_strings_one_would_write(encoder: LocalClassifier) -> None:
    """All placements of two words, by brute force; an exact test."""
    text = "The old garden was unbelievably green again"
    words = text.split()
    rationale = [{"start": 4, "end": 14}]  # a passage of two words
    asked = request(text, model="m", rationale=rationale, operators=["delete", "mask"],
                    decision="LABEL_1")  # fmt: skip
    report = score(asked)
    assert (report.rows, report.eligible_tokens) == ("words", 7)
    others = [(n, n + 1) for n in range(6) if n != 1]
    writers: list[Callable[[Sequence[int]], str]] = [
        lambda kept: sentence(kept, words),
        lambda kept: " ".join(w if n in kept else "[MASK]" for n, w in enumerate(words)),
    ]
    for test, write in zip(report.components.tests, writers, strict=True):
        observed, *null = by_hand(encoder, [write(kept) for kept in [(1, 2), *others]])
        assert test.scores is not None
        assert test.scores.rationale == pytest.approx(observed, abs=1e-6)
        assert test.scores.full == pytest.approx(by_hand(encoder, [text])[0], abs=1e-6)
        assert test.scores.empty == pytest.approx(by_hand(encoder, [write(())])[0], abs=1e-6)
        assert (test.null.kind, test.null.draws, test.null.exact) == ("spans", 5, True)
        assert test.null.mean == pytest.approx(np.mean(null), abs=1e-6)
        assert test.win_rate == pytest.approx(np.mean(observed > np.array(null)), abs=1e-9)
    assert report.provenance.parameters["rows"] == "words"
    assert report.provenance.parameters["mask_text"] == "[MASK]"


@pytest.mark.parametrize("encoder", ["m"], indirect=True)
def test_values_of_tokens_are_summed_over_words(encoder: LocalClassifier) -> None:
    text = "The unbelievably greenish garden"
    asked = request(text, model="m", attribution="gradient", token_values=True, decision="LABEL_1")
    report = score(asked)
    method = AttributionMethod(name="gradient")
    [values] = encoder.attributions([Example(text=text)], ["LABEL_1"], method)
    [tokens] = encoder.tokens([Example(text=text)])
    spans = [(one.start or 0, one.end or 0) for one in report.tokens]
    assert [text[a:b] for a, b in spans] == text.split()
    sums = [
        sum(
            value
            for start, end, value in zip(tokens.starts, tokens.ends, values.values, strict=True)
            if start is not None and end is not None and a <= start < b
        )
        for a, b in spans
    ]
    assert report.token_values[0].values == pytest.approx(sums, rel=1e-6)


@pytest.mark.parametrize("encoder", ["m"], indirect=True)
def test_what_the_model_does_not_read_is_no_word(encoder: LocalClassifier) -> None:
    text = "garden " * 100
    report = score(request(text, model="m", rationale=mention(0), decision="LABEL_1"))
    assert report.eligible_tokens == 62  # of 64 positions, two special ones
    assert report.characters_read[0] == 62 * 7 - 1
    assert any(one.startswith("text-cut") for one in report.warnings)


def test_the_test_is_that_of_all_sets_of_words() -> None:
    """Scattered words against all sets of as many words."""
    weights = {0: 2.0, 3: 1.5, 5: -1.0}
    with planted(weighted(weights)) as judge:
        report = score(request(rationale=mention(0, 3)))
        words = TEXT.split()
        sets = [pair for pair in combinations(range(8), 2) if pair != (0, 3)]
        null = by_hand(judge, [sentence(pair, words) for pair in sets])
        [observed] = by_hand(judge, [sentence((0, 3), words)])
    [test] = report.components.tests
    assert (test.null.kind, test.null.draws, test.null.exact) == ("words", 27, True)
    assert test.null.mean == pytest.approx(np.mean(null))
    beaten = np.mean(observed > null) + np.mean(observed == null) / 2
    assert test.win_rate == pytest.approx(beaten)
    assert test.p_value == pytest.approx((1 + np.sum(null >= observed)) / 28)


def test_values_are_compared_with_words_anywhere() -> None:
    values = [{"start": 0, "end": 2, "value": 1.0}]
    with planted(noise):
        report = score(request(attributions=values, k=0.25))
    [test] = report.components.tests
    assert (test.null.kind, test.tokens, test.null.draws) == ("words", 2, 27)


def test_words_and_tokens_agree_where_a_token_is_a_word() -> None:
    """The planted judge reads a token a word: the same rows, drawn alike."""
    asked = {"attribution": "attention", "k": [0.2, 0.5], "draws": 20}
    long = " ".join(map(word, range(20)))
    with planted(noise):
        words, tokens = (score(request(long, rows=rows, **asked)) for rows in ("words", "tokens"))
    for one, other in zip(words.components.tests, tokens.components.tests, strict=True):
        assert (one.win_rate, one.effect) == (other.win_rate, other.effect)
        assert one.scores is not None
        assert other.scores is not None
        assert one.scores.rationale == other.scores.rationale


def test_company_in_a_batch_changes_nothing() -> None:
    asked = [
        request(rationale=mention(1, 2), operators=["delete", "mask"]),
        request(rationale=mention(3), rows="tokens"),
        request(attribution=["lime", "attention"], operators=["infill"], infill_pool=["w9 w11"]),
        request("w1 w2 w3", rationale=[{"start": 0, "end": 2}]),
    ]
    with planted(noise):
        alone = [score(one).model_dump_json() for one in asked]
        together = [one.model_dump_json() for one in SERVICE.score_batch(asked)]
    assert together == alone


def test_a_random_rationale_wins_half() -> None:
    rates = []
    with planted(noise):
        for seed in range(150):
            text = " ".join(word(100 * seed + n) for n in range(9))
            start = text.split()[seed % 7]
            at = text.index(start)
            spans = [{"start": at, "end": at + len(start)}]
            report = score(request(text, rationale=spans, seed=seed))
            rates.append(report.components.tests[0].win_rate or 0.0)
    assert np.mean(rates) == pytest.approx(0.5, abs=0.09)  # sd of a rate .32, of their mean .026


def test_lime_over_words_is_the_ridge_of_rows_by_hand() -> None:
    method = {"name": "lime", "samples": 64, "seed": 3}
    with planted(weighted({1: 3.0, 4: -2.0})) as judge:
        report = score(request(attribution=method, token_values=True))
        drawn = lime.draws(64, 8, 3)
        masks = drawn[drawn.any(axis=1)]  # an empty text is not asked about
        words = TEXT.split()
        texts = [sentence(np.flatnonzero(mask).tolist(), words) for mask in masks]
        fitted = lime.coefficients(masks, by_hand(judge, texts))
    assert report.token_values[0].values == pytest.approx(fitted)
    assert int(np.argmax(fitted)) == 1


def test_infill_takes_words_of_the_pool() -> None:
    pool = ["w20 yes, W21 no", TEXT]  # the labels' words and the text itself are left out
    fields: dict[str, Any] = {
        "operators": ["infill"],
        "infill_pool": pool,
        "infills": 3,
        "draws": 5,
    }
    seen: list[str] = []

    def spy(ids: tuple[int, ...]) -> float:
        return noise(ids)

    class Spy(PlantedJudge):
        def judgements(self, examples: Sequence[Example]) -> list[Judgement]:
            seen.extend(one.text for one in examples)
            return super().judgements(examples)

    with planted(spy) as judge:
        judge.__class__ = Spy
        report = score(request(rationale=mention(0, 1), **fields))
    assert report.components.tests[0].win_rate is not None
    filled = [text.split() for text in seen if text not in (TEXT, *pool)]
    assert all(len(words) == 8 for words in filled)
    others = {one for words in filled for one in words} - set(TEXT.split())
    assert others == {"w20", ",", "W21"}


class Server(PlantedJudge):
    """A judge behind a server: it shows no tokens, and refuses what is empty."""

    def tokens(self, examples: Sequence[Example]) -> list[Tokens]:
        raise AssertionError("no server shows tokens")

    def attributions(
        self, examples: Sequence[Example], targets: Sequence[str], method: AttributionMethod
    ) -> list[Attributions]:
        raise AssertionError("nor attributions")

    def judgements(self, examples: Sequence[Example]) -> list[Judgement]:
        if any(not one.text for one in examples):
            raise BadInput("inputs cannot be empty")
        return [self.answered(one.text) for one in examples]

    def answered(self, text: str) -> Judgement:
        if "w7" not in text and self.longest == 1:
            return unread(self.labels, "label-not-listed", "a label is not listed", reading=None)
        yes = self.probability(tuple(map(int, text.replace("w", "").split())))
        found = with_mass(self.labels, [1 - yes, yes], 0.3, "top-logprobs")
        return found.model_copy(update={"uncertainty": 0.004})


def served(*asked: IceRequest, **more: Any) -> list[IceResult]:
    use = USE.model_copy(update={"device": "server"})
    with planted(noise, abilities=SERVED, use=use, **more) as judge:
        judge.__class__ = Server
        return SERVICE.score_batch(asked)


def test_words_are_the_default_where_no_tokens_are_shown() -> None:
    asked = request(rationale=mention(0, 1), rows=None, attribution="lime")
    with planted():
        assert score(asked).rows == "tokens"
    [report] = served(asked)
    assert report.rows == "words"
    assert report.provenance.parameters["rows"] == "words"
    first = report.components.tests[0]
    assert first.scores is not None
    assert first.scores.empty is None  # the server reads no empty text
    assert first.nsr is None
    assert first.win_rate is not None
    assert (
        "low-mass: planted gives all labels together a probability of only 0.3" in report.warnings
    )
    assert any("uncertain by up to 0.004" in one for one in report.warnings)


def test_a_row_that_is_not_read_makes_its_request_null_and_no_other() -> None:
    good, bad = request(rationale=mention(0, 7), draws=5), request(rationale=mention(0), draws=5)
    whole = request("w7", rationale=[{"start": 0, "end": 2}])
    [first, second] = served(bad, whole, longest=1)
    assert first.score is None
    assert {one.code for one in first.reasons} == {"label-not-listed"}
    assert second.reasons == ()
    assert second.components.tests != ()
    [alone] = served(good)
    assert alone.score is not None


def test_rows_of_a_server_have_a_limit() -> None:
    long = " ".join(map(word, range(40)))
    with pytest.raises(TooManyRows, match="requests to the model's server"):
        served(request(long, attribution="lime", draws=3_000))
    [report] = served(request(long, rationale=[{"start": 0, "end": 2}], draws=3_000))
    assert report.forward_rows == 1 + 40  # each of the forty words alone, and the whole text


@pytest.mark.parametrize("text", ["この町が大好きです、本当に", "เรารักเมืองนี้มากจริงๆ"])
def test_languages_without_words(text: str) -> None:
    asked = request(text, rationale=[{"start": 0, "end": 2}], accept_untrained_languages=True)
    with planted():
        report = score(asked)
        tokens = score(with_options(asked, rows=None))
    assert report.score is None
    assert {one.code for one in report.reasons} == {"no-words"}
    assert tokens.rows == "tokens"


def test_chinese_words_are_the_units() -> None:
    text = "我们喜欢这个城市"
    with planted():
        report = score(request(text, rationale=["城市"], token_values=True))
    assert [text[one.start or 0 : one.end] for one in report.tokens] == [
        "我们",
        "喜欢",
        "这个",
        "城市",
    ]
    assert report.components.tests[0].null.draws == 3


def test_what_words_cannot_be_is_said() -> None:
    for fields in ({"operators": ["mask_unk"]}, {"eligible": "all"}, {"variant": "reference"}):
        with pytest.raises(ValueError, match="needs rows of tokens"):
            request(attribution="lime", **fields)
    with planted():
        report = score(request("w1  w2", rationale=[{"start": 2, "end": 4}]))
    assert report.score is None
    assert "no-words" in {reason.code for reason in report.reasons}


def test_a_pair_has_words_too() -> None:
    with planted():
        spans = [{"start": 0, "end": 2, "of": "text_pair"}]
        report = score(request("w1 w2", text_pair="w3 w4 w5", rationale=spans))
    [test] = report.components.tests
    assert (report.eligible_tokens, test.null.draws) == (5, 2)  # a span stays in its text
    assert report.evidence[0].offsets_into == "text_pair"
    assert report.evidence[0].text == "w3"
