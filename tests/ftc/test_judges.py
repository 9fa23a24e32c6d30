"""Any judge of entailment, neutral and contradiction gives a score; what it does not say, none."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from services.ftc.contract import CONTRACT, FtcRequest
from services.ftc.metric import SERVICE
from services.ftc.report import LABELS
from shared.contracts.calls import Example
from shared.contracts.errors import BadInput, DegenerateInput
from shared.contracts.judgement import Judgement, from_counts, unread, with_mass
from shared.models.catalogue.catalogue import Catalogue
from shared.models.catalogue.entry import ModelEntry
from tests.ftc.fake import FakeJudge, bound
from tests.judges import TinyJudges, tiny_judges

PREMISE = "Four friends play cards"
HYPOTHESIS = "Four friends are playing chess"
OTHER = "Four friends are playing cards"
USER = "{premise}. So: {hypothesis}? This is"
HEAD = """task = "nli"
labels = { entailment = ["yes"], neutral = ["perhaps"], contradiction = ["no"] }"""


def asking(model: str = "embedded-nli", **more: object) -> FtcRequest:
    return FtcRequest.model_validate(
        {
            "premise": PREMISE,
            "hypothesis": HYPOTHESIS,
            "explanation": "The friends cannot be playing chess and playing cards.",
            "decision": "contradiction",
            "counterfactuals": [{"kind": "substituted", "text": OTHER}],
            "draws": 0,
            "model": model,
            **more,
        }
    )


def prompt(premise: str, hypothesis: str) -> str:
    return USER.replace("{premise}", premise).replace("{hypothesis}", hypothesis)


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TinyJudges]:
    folder = tmp_path_factory.mktemp("judges")
    texts = [prompt(one, two) for one in (PREMISE, "") for two in (HYPOTHESIS, OTHER)]
    with tiny_judges(folder, "nli", USER, texts, LABELS, HEAD) as made:
        yield made


@pytest.fixture
def judges(tiny: TinyJudges) -> Iterator[TinyJudges]:
    with tiny.bound() as made:
        yield made


def of_verbalizers(judges: TinyJudges, hypothesis: str) -> list[float]:
    """(3,) in the order of the labels."""
    return judges.shares(prompt(PREMISE, hypothesis))


def of_head(judges: TinyJudges, hypothesis: str) -> list[float]:
    """(3,) by the judge alone, one pair, in the order of the labels."""
    model = judges.models.local_classifier("encoder")
    [row] = model.judge([Example(text=PREMISE, text_pair=hypothesis)])
    return [float(row[model.labels.index(label)]) for label in LABELS]


@pytest.mark.parametrize(
    ("model", "oracle"),
    [
        ("encoder", of_head),
        ("causal", of_verbalizers),
        ("scored", of_verbalizers),
    ],
)
def test_the_same_request_by_every_kind_of_judge(
    judges: TinyJudges, model: str, oracle: Callable[[TinyJudges, str], list[float]]
) -> None:
    report = SERVICE.score(asking(model))
    assert report.original is not None
    [made] = report.counterfactuals
    for found, text in ((report.original, HYPOTHESIS), (made.answer, OTHER)):
        row = [getattr(found, label) for label in LABELS]
        assert row == pytest.approx(oracle(judges, text), abs=1e-5)
    assert report.score is not None
    assert made.blank_premise is not None
    own = SERVICE.score(asking(model, decision=None, counterfactuals=None))
    assert own.decision == LABELS[int(np.argmax(oracle(judges, HYPOTHESIS)))]


def test_a_server_without_log_probabilities_abstains(judges: TinyJudges) -> None:
    report = SERVICE.score(asking("silent"))
    assert (report.score, report.original, report.counterfactuals) == (None, None, ())
    assert report.abstained is not None
    assert "no-logprobs" in report.abstained
    with pytest.raises(DegenerateInput, match="no-logprobs"):
        SERVICE.score(asking("silent", decision=None, counterfactuals=None))


@dataclass
class Saying(FakeJudge):
    """Unread where a function says so."""

    silent: Callable[[str, str], bool] = lambda premise, hypothesis: False
    mass: float = 1.0

    def judgements(self, examples: Sequence[Example]) -> list[Judgement]:
        return [
            unread(self.labels, "answer-unread", "it would say something else")
            if self.silent(one.text, one.text_pair or "")
            else with_mass(self.labels, (0.2, 0.7, 0.1), self.mass, "verbalizers")
            for one in examples
        ]


def test_an_unread_counterfactual_is_abstained_from() -> None:
    with bound(Saying(silent=lambda _, hypothesis: hypothesis == OTHER)):
        report = SERVICE.score(asking())
    assert (report.score, report.components.delta) == (None, None)
    assert report.original is not None
    assert report.abstained is not None
    assert report.abstained.startswith(
        "the model's probabilities could not be read: answer-unread: "
    )


def test_an_unread_blank_premise_is_no_baseline() -> None:
    with bound(Saying(silent=lambda premise, _: premise == "")):
        report = SERVICE.score(asking())
    assert report.score is not None
    assert report.counterfactuals[0].blank_premise is None
    assert report.control is not None
    assert report.control.blank_premise is None


def test_unread_random_phrases_leave_no_null() -> None:
    phrases = ["playing tennis", "playing golf", "playing darts", "riding bikes", "baking bread"]
    plain = asking(
        premise=f"{PREMISE} in the kitchen.",
        hypothesis=f"{HYPOTHESIS} in the kitchen.",
        explanation="The friends cannot be playing chess and playing cards at the same time.",
        counterfactuals=None,
        draws=5,
        substitutes=phrases,
    )
    with bound(Saying()):
        whole = SERVICE.score(plain)
    assert whole.counterfactuals[0].null is not None
    kept = {plain.hypothesis, whole.counterfactuals[0].text}
    with bound(Saying(silent=lambda premise, text: premise != "" and text not in kept)):
        report = SERVICE.score(plain)
    assert report.score == whole.score
    assert report.counterfactuals[0].null is None
    assert any(one.startswith("no null for substituted: answer-unread") for one in report.warnings)


def test_little_mass_is_told() -> None:
    with bound(Saying(mass=0.25)):
        report = SERVICE.score(asking())
    assert any(one.startswith("low-mass: embedded-nli gives") for one in report.warnings)


@pytest.mark.parametrize("draws", [40, 400])
def test_few_votes_tell_the_label_and_no_score(draws: int, monkeypatch: pytest.MonkeyPatch) -> None:
    counts = {"entailment": draws // 10, "neutral": draws // 10, "contradiction": draws * 8 // 10}
    with bound(FakeJudge()) as model:
        said = from_counts({label: counts[label] for label in model.labels}, draws)
        monkeypatch.setattr(FakeJudge, "judgements", lambda _, asked: [said] * len(asked))
        report = SERVICE.score(asking(decision=None, counterfactuals=None))
    assert (report.decision, report.decision_source) == ("contradiction", "model")
    assert (report.score is None) == (draws < 200)
    assert (report.abstained or "votes-too-coarse").count("votes-too-coarse") == 1


def test_what_tells_other_labels_is_refused_when_it_is_posted() -> None:
    hate = ModelEntry(name="hate", kind="classifier", source="embedded:hate")
    found = Catalogue((hate,), Path())
    with pytest.raises(BadInput, match="ftc needs a model with the labels entailment"):
        found.check_request(CONTRACT, "hate", asking("hate"))
