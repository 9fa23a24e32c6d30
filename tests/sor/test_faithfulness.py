"""Do the facts carry the decision? A planted model that goes by known words of a post."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from services.sor.contract import SorRequest
from services.sor.faithfulness import without_words, words_of_facts
from services.sor.metric import SERVICE
from services.sor.parsing import parse_statements
from services.sor.post_facts import PostWords
from services.sor.report import SorResult
from shared.contracts.calls import Example
from shared.contracts.errors import BadInput
from shared.contracts.judgement import Judgement
from shared.models.label_readout import of_head
from tests.haf.fake import use
from tests.sor.fake import reading_words

POST = (
    "Two tickets for the final on Saturday, 180 euros each instead of 60. I stand in front of the "
    "stadium from noon with a yellow umbrella and my dog. First come, first served, cash only!"
)
BEARS = ("180", "euros", "each")  # the words that the planted model goes by
REST = (
    "Section 4.2 of our Marketplace Rules (resale of tickets) forbids prices above face value. A "
    "member of staff took the decision and our filter found the listing. It is removed in all "
    "countries of the Union for good. You may complain to us, turn to a settlement body, or go to "
    "court."
)
FAITHFUL = f"We removed your listing. It says “180 euros each”. {REST}"
UNFAITHFUL = f"We removed your listing. It says “with a yellow umbrella”. {REST}"
NOTHING = "Your content was removed because it violates our Community Guidelines. Thank you."


class Planted:
    """P(touting) grows with each word of `BEARS` that stands in the text."""

    mask_text = "[MASK]"
    labels = ("touting", "harmless")

    def __init__(self, languages: tuple[str, ...] = ("en",)) -> None:
        self.languages = languages
        self.asked: list[str] = []

    @property
    def use(self) -> Any:
        return use("planted")

    def labels_of(self, _: Example) -> tuple[str, ...]:
        return self.labels

    def judgements(self, examples: Sequence[Example]) -> list[Judgement]:
        self.asked += [one.text for one in examples]
        p = np.array([0.1 + 0.27 * sum(word in one.text for word in BEARS) for one in examples])
        return of_head(np.stack([p, 1 - p], axis=1), None, self.labels)


@contextmanager
def planted(*languages: str) -> Iterator[Planted]:
    model = Planted(languages or ("en",))
    with reading_words(model):
        yield model


def scored(statement: str, **more: Any) -> SorResult:
    body = {"text": POST, "statement": statement, "model": "planted", **more}
    with planted():
        return SERVICE.score(SorRequest.model_validate(body))


def test_facts_that_carry_the_decision_beat_all_other_words() -> None:
    report = scored(FAITHFUL)
    found = report.faithfulness
    assert found is not None
    assert found.decision == "touting"
    assert found.p == pytest.approx(0.91)
    assert found.drop > 0.5
    assert found.null.win_rate is not None
    assert found.null.win_rate >= 0.9
    assert report.components.faithfulness == found.null.win_rate
    assert (found.null.p_value or 1) <= 0.1
    assert [one.name for one in report.provenance.models] == ["embedded-reader", "planted"]


def test_facts_that_carry_nothing_beat_nobody() -> None:
    found = scored(UNFAITHFUL).faithfulness
    assert found is not None
    assert found.drop < 0.3  # words of both, as of the rule
    assert found.null.win_rate is not None
    assert found.null.win_rate <= 0.75
    assert (found.null.p_value or 1) > 0.1


def test_without_a_model_nothing_is_asked_and_nothing_changes() -> None:
    with planted() as model:
        with_it, without = (
            SERVICE.score(SorRequest(text=POST, statement=FAITHFUL, model=name))
            for name in ("planted", None)
        )
    assert len(model.asked) > 2
    assert without.faithfulness is None
    assert "faithfulness" not in without.model_dump()["components"]
    assert (with_it.score, with_it.missing, with_it.control) == (
        without.score,
        without.missing,
        without.control,
    )


def test_what_is_taken_away_is_what_the_statement_names() -> None:
    post = PostWords.of(POST)
    request = SorRequest(text=POST, statement=FAITHFUL)
    with planted():
        named = words_of_facts(post, parse_statements([request], [post])[0])
    words = [post.words[number].folded for number in named]
    assert set(BEARS) <= set(words)
    left = without_words(post, named)
    assert all(word not in left for word in BEARS)
    assert "yellow umbrella" in left
    assert without_words(post, ()) == " ".join(POST.split())


def test_every_other_text_lacks_as_many_words() -> None:
    with planted() as model:
        SERVICE.score(SorRequest(text=POST, statement=FAITHFUL, model="planted"))
    first, facts, *others = model.asked
    lost = len(PostWords.of(first).words) - len(PostWords.of(facts).words)
    assert first == POST
    assert lost > 0
    assert {len(PostWords.of(first).words) - len(PostWords.of(one).words) for one in others} == {
        lost
    }
    assert facts not in others
    assert len(set(others)) == len(others)


def test_together_as_alone_and_again() -> None:
    bodies = [FAITHFUL, UNFAITHFUL, NOTHING]
    requests = [SorRequest(text=POST, statement=one, model="planted", seed=3) for one in bodies]
    with planted():
        together = SERVICE.score_batch(requests)
        assert together == [SERVICE.score(one) for one in requests]


def test_a_statement_that_names_nothing_is_null_with_its_reason() -> None:
    report = scored(NOTHING)
    assert report.faithfulness is None
    assert [(one.component, one.code) for one in report.reasons] == [
        ("faithfulness", "quote-not-found")
    ]
    assert report.score is not None


def test_a_language_that_the_model_did_not_learn_is_no_number() -> None:
    with planted("de"):
        report = SERVICE.score(SorRequest(text=POST, statement=FAITHFUL, model="planted"))
        accepted = SERVICE.score(
            SorRequest(
                text=POST, statement=FAITHFUL, model="planted", accept_untrained_languages=True
            )
        )
    assert [one.code for one in report.reasons] == ["untrained-language"]
    assert report.faithfulness is None
    assert accepted.faithfulness is not None


def test_a_label_of_the_decision_is_asked_about() -> None:
    found = scored(FAITHFUL, decision="harmless").faithfulness
    assert found is not None
    assert found.drop < 0  # without the facts it is more harmless
    with pytest.raises(BadInput):
        scored(FAITHFUL, decision="spam")
    with pytest.raises(ValidationError):
        SorRequest(text=POST, statement=FAITHFUL, decision="touting")
