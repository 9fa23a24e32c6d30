"""What the judge is shown, how it is asked, and what is made of its answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from services.hlv import kernel
from services.hlv.metric import SERVICE
from shared.contracts.calls import Example
from shared.contracts.errors import BadInput
from shared.contracts.judgement import Judgement, unread
from tests.hlv.judges import GREEDY, OPTIONS, StubJudge, bound, by_hash, request

score = SERVICE.score
score_batch = SERVICE.score_batch

WHY = [
    {"explanation": "A sleeping dog rests.", "label": "A", "stance": "support"},
    {"explanation": "Being at rest is not stated.", "label": "A", "stance": "oppose"},
    {"explanation": "The dog may only doze.", "label": "B", "stance": "support"},
]


def test_the_baseline_is_the_same_prompt_without_the_explanations() -> None:
    with bound() as judge:
        score(request(explanations=WHY, judge=GREEDY))
    told = [text for text in judge.prompts if "Rationales:" in text]
    untold = [text for text in judge.prompts if "Rationales:" not in text]
    assert len(told) == len(untold) > 0
    assert not any(why["explanation"] in text for text in untold for why in WHY)
    assert all(why["explanation"] in text for text in told for why in WHY)
    without_block = [
        text[: text.index("Rationales:")] + text[text.rindex("\n") + 1 :] for text in told
    ]
    assert sorted(without_block) == sorted(untold)


def test_options_keep_their_order_and_the_question_is_there() -> None:
    with bound() as judge:
        score(request(explanations=WHY, judge=GREEDY))
    ranked = [text for text in judge.prompts if not text.endswith("Rating:")]
    assert all("\nA. Entailment\nB. Neutral\nC. Contradiction\n" in text for text in ranked)
    for text in judge.prompts:
        assert "\nContext: A dog sleeps on a red sofa.\nStatement: An animal is at rest." in text
        assert "\\n" not in text
    rated = [text for text in judge.prompts if text.endswith("Rating:")]
    assert [option["text"] for option in OPTIONS] == [
        next(line for line in text.splitlines() if line.startswith("Answer: "))[8:]
        for text in rated[:3]
    ]


def test_no_gold_field_leaks() -> None:
    humans: list[dict[str, Any]] = [
        {"votes": {"A": 71, "B": 23, "C": 17}},
        {"votes": [{"C": 9}, {"B": 1}]},
        {"ratings": {"A": 1, "B": 2, "C": 4.75}},
        {"ranking": {"C": 1, "A": 2}},
    ]
    seen = []
    for human in humans:
        with bound() as judge:
            score(request(human=human, explanations=WHY, metadata={"gold": "B"}))
        seen.append(judge.prompts)
    assert all(prompts == seen[0] for prompts in seen)
    assert not any(number in text for text in seen[0] for number in ("71", "23", "17", "4.75"))


def test_a_batch_is_as_one_by_one_byte_for_byte() -> None:
    requests = [
        request(explanations=WHY, seed=3),
        request(judge=GREEDY),
        request(explanations=WHY[:1], judge=GREEDY | {"order": "rotated", "runs": 3}),
        request(model="nli"),
        request(human={"ratings": {"A": 5, "B": 3, "C": 1}}, seed=4),
    ]
    with bound():
        together = score_batch(requests)
        alone = [score(one) for one in requests]
    assert [one.model_dump_json() for one in together] == [one.model_dump_json() for one in alone]


def test_drawn_requests_of_one_seed_share_their_calls_and_read_as_if_alone() -> None:
    requests = [request(explanations=WHY[: 1 + place % 3]) for place in range(5)]
    with bound() as judge:
        together = score_batch(requests)
        calls = len(judge.generated)
        alone = [score(one) for one in requests]
    assert calls <= 2  # the second for what could not be read
    assert [one.model_dump_json() for one in together] == [one.model_dump_json() for one in alone]


def test_rotation_shows_every_option_under_every_letter_and_maps_back() -> None:
    """A judge that always names the option "Neutral" first, wherever it stands."""

    def neutral_first(prompt: str, seed: int, place: int) -> str:
        return next(line[0] for line in prompt.splitlines() if line.endswith(". Neutral"))

    judge = StubJudge(answer=neutral_first, logprob=_likes("Neutral"))
    how = {"order": "rotated", "runs": 3, "methods": ["rank", "logits"]}
    with bound(judge):
        report = score(request(judge=how))
    for result in report.components.methods:
        assert result.baseline is not None
        assert result.baseline.ranks["B"] == 1
        assert result.baseline.runs == 3
    shown = {text.split("\nA. ")[1].split("\n")[0] for text in judge.prompts}
    assert shown == {"Entailment", "Neutral", "Contradiction"}


def _likes(text: str) -> Any:
    def logprob(prompt: str, written: str) -> float:
        letter = next(line[0] for line in prompt.splitlines() if line.endswith(f". {text}"))
        return float(np.log(0.4 if written.strip() == letter else 0.05))

    return logprob


def test_a_judge_that_likes_the_first_letter_is_flat_under_rotation() -> None:
    judge = StubJudge(logprob=lambda _, written: float(np.log(0.4 if "A" in written else 0.05)))
    with bound(judge):
        report = score(request(judge={"order": "rotated", "methods": ["logits"]}))
    found = report.components.methods[0].baseline
    assert found is not None
    assert found.values == pytest.approx({"A": 1 / 3, "B": 1 / 3, "C": 1 / 3})
    assert found.tau_b is None
    assert report.score is None
    assert any("ranks all options equally" in warning for warning in report.warnings)


def test_first_tokens_are_the_softmax_over_both_spellings() -> None:
    with bound() as judge:
        report = score(request(judge={"methods": ["logits"]}))
    found = report.components.methods[0].baseline
    assert found is not None
    text = judge.scored[0][0][0]
    mass = np.array([sum(np.exp(judge.logprob(text, s + key)) for s in ("", " ")) for key in "ABC"])
    assert found.values is not None
    assert list(found.values.values()) == pytest.approx(list(mass / mass.sum()))
    assert found.label_mass == pytest.approx(mass.sum())
    assert found.distribution is not None
    model, gold = mass / mass.sum(), np.array([0.7, 0.2, 0.1])
    expected = kernel.kullback_leibler(model, gold, 1e-10)
    assert found.distribution.kl_model_gold == pytest.approx(expected)


def test_little_mass_on_the_letters_is_told() -> None:
    judge = StubJudge(logprob=lambda _, written: float(np.log(0.01 + 0.001 * by_hash(written))))
    with bound(judge):
        report = score(request(judge={"methods": ["logits"]}))
    assert any("first token's probability" in warning for warning in report.warnings)


def test_an_unreadable_ranking_is_asked_once_more_then_counts_as_tied() -> None:
    judge = StubJudge(answer=lambda *_: "I cannot rank these.")
    with bound(judge):
        report = score(request(judge={"methods": ["rank"], "runs": 2}))
    found = report.components.methods[0].baseline
    assert found is not None
    assert [len(call) for call in judge.generated] == [2, 2]
    assert (found.invalid_runs, found.runs, found.tau_b) == (2, 2, None)
    assert report.score is None
    assert any("could not be read" in warning for warning in report.warnings)


def test_a_second_reading_is_taken_where_it_can_be_read() -> None:
    judge = StubJudge(answer=lambda _, seed, place: "A B C" if seed == 8 else "Hm.")
    with bound(judge):
        report = score(request(judge={"methods": ["rank"], "runs": 2}, seed=7))
    found = report.components.methods[0].baseline
    assert found is not None
    assert (found.invalid_runs, found.tau_b) == (0, 1)


def test_a_rating_that_is_missing_is_never_filled_in() -> None:
    def rates_all_but_neutral(prompt: str, seed: int, place: int) -> str:
        return "Hm." if "Answer: Neutral" in prompt else "4"

    with bound(StubJudge(answer=rates_all_but_neutral)):
        report = score(request(judge={"methods": ["score"], "runs": 3}))
    found = report.components.methods[0].baseline
    assert found is not None
    assert (found.runs, found.values, found.ranks, found.tau_a) == (0, None, {}, None)
    assert any("no answer could be read" in warning for warning in report.warnings)


def test_ratings_move_onto_the_human_scale() -> None:
    human = {"ratings": {"A": 100, "B": 50, "C": 0}, "scale": {"low": 0, "high": 100}}
    answers = {"Entailment": "5", "Neutral": "3", "Contradiction": "1"}

    def as_humans(prompt: str, seed: int, place: int) -> str:
        return next(a for text, a in answers.items() if f"Answer: {text}" in prompt)

    with bound(StubJudge(answer=as_humans)):
        report = score(request(human=human, judge={"methods": ["score"]}))
    found = report.components.methods[0].baseline
    assert found is not None
    assert found.scalar is not None
    assert (found.scalar.rmse, found.scalar.mae, found.scalar.r2) == (0, 0, 1)


def test_a_classifier_judges_premise_and_hypothesis() -> None:
    with bound() as judge:
        report = score(request(model="nli"))
    (example,) = judge.judged[0]
    assert (example.text, example.text_pair) == (
        "A dog sleeps on a red sofa.",
        "An animal is at rest.",
    )
    assert report.score_of == "agreement"
    assert [result.method for result in report.components.methods] == ["logits"]


def test_a_judge_that_was_not_read_gives_no_number() -> None:
    class Silent(StubJudge):
        def judgements(self, examples: Sequence[Example]) -> list[Judgement]:
            return [unread(self.labels, "answer-unread", "it says something else")] * len(examples)

    with bound(Silent()):
        report = score(request(model="nli"))
    assert report.score is None
    assert report.components.methods == ()
    assert ("score", "answer-unread") in [(one.component, one.code) for one in report.reasons]


@pytest.mark.parametrize(
    ("fields", "pointer"),
    [
        ({"model": "nli", "question": "Why?"}, "/question"),
        ({"model": "nli", "options": [{"key": k, "text": f"no {k}"} for k in "ABC"]}, "/options"),
        ({"model": "nli", "judge": {"methods": ["rank"]}}, "/judge/methods"),
        ({"model": "nli", "explanations": WHY}, "/explanations"),
        ({"model": "nli", "rationale": "It rests."}, "/rationale"),
        ({"variant": "reference"}, "/normalisation"),
        ({"explanations": [WHY[0] | {"explanation": "x" * 2000}] * 11}, "/explanations"),
    ],
)
def test_what_a_judge_cannot_do_is_pointed_at(fields: dict[str, Any], pointer: str) -> None:
    with bound(), pytest.raises(BadInput) as caught:
        score(request(**fields))
    assert caught.value.pointer == pointer


def test_a_letter_of_several_tokens_cannot_be_weighed() -> None:
    class Bytes(StubJudge):
        def score(self, prompts: Any, completions: Any) -> Any:
            scored = super().score(prompts, completions)
            return [one.model_copy(update={"tokens": one.tokens * 2}) for one in scored]

    with bound(Bytes()), pytest.raises(BadInput) as caught:
        score(request(judge={"methods": ["logits"]}))
    assert caught.value.pointer == "/judge/methods"


def test_a_vocabulary_with_one_spelling_counts_it_once() -> None:
    class Words(StubJudge):
        def score(self, prompts: Any, completions: Any) -> Any:
            return super().score(prompts, [written.strip() for written in completions])

    with bound(Words(logprob=lambda *_: float(np.log(0.3)))):
        report = score(request(judge={"methods": ["logits"]}))
    found = report.components.methods[0].baseline
    assert found is not None
    assert found.label_mass == pytest.approx(0.9)


def test_a_raw_prompt_for_models_without_a_chat_template() -> None:
    class NoTurns(StubJudge):
        def generate(self, prompts: Any, sampling: Any) -> Any:
            assert all(prompt.turns is None for prompt in prompts)
            return super().generate(prompts, sampling)

    with bound(NoTurns()):
        score(request(judge={"chat": False}))


def test_a_rationale_is_shown_as_it_is() -> None:
    thought = "Okay, a dog is an animal.\nSo the statement follows."
    with bound() as judge:
        score(request(rationale=thought, judge=GREEDY))
    assert sum(thought in text for text in judge.prompts) == len(judge.prompts) / 2
