"""A request's own `prompt`: the options are labels of the judge port, whatever judge it is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from services.hlv import prompts
from services.hlv.metric import SERVICE
from services.registry import contracts
from shared.contracts.errors import BadInput
from tests.hlv.judges import NLI, OPTIONS, StubJudge, bound, request
from tests.judges import TinyJudges, tiny_judges

QUESTION = "Is a sleeping dog at rest?"
WHY = [{"explanation": "Who sleeps is at rest.", "label": "A"}]
USER = "{text} I say:"
PAIR = "{premise} {hypothesis} I say:"
LABELS = ("entailment", "neutral", "contradiction")
HEAD = 'task = "free"\nlabels = { a = ["yes"], b = ["no"], c = ["perhaps"] }'


def whole(asked: Any, *, explained: bool = False) -> str:
    lettered = prompts.rotate_options(asked.options, 0)
    block = prompts.rationale(asked, lettered) if explained else ""
    return USER.replace("{text}", prompts.choice_prompt(asked, lettered, block))


PLAIN, EXPLAINED = request(question=QUESTION), request(question=QUESTION, explanations=WHY)
ONE_PAIR = PAIR.replace("{premise}", NLI["premise"]).replace("{hypothesis}", NLI["hypothesis"])


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TinyJudges]:
    texts = [whole(PLAIN), whole(EXPLAINED, explained=True), ONE_PAIR]
    folder = tmp_path_factory.mktemp("judges")
    with tiny_judges(folder, "nli", PAIR, texts, LABELS, HEAD) as made:
        yield made


@pytest.fixture
def judges(tiny: TinyJudges) -> Iterator[TinyJudges]:
    with tiny.bound() as made:
        yield made


def own(judges: TinyJudges, **more: Any) -> dict[str, Any]:
    return {"style": "raw", "user": USER, "verbalizers": judges.prompt.verbalizers, **more}


@pytest.mark.parametrize("model", ["causal", "scored"])
def test_p_of_the_options_is_the_judges_with_and_without_explanations(
    judges: TinyJudges, model: str
) -> None:
    asked = request(question=QUESTION, explanations=WHY, model=model, prompt=own(judges))
    report = SERVICE.score(asked)
    [method] = report.components.methods
    assert method.method == "logits"
    for side, text in (
        (method.baseline, whole(PLAIN)),
        (method.explained, whole(EXPLAINED, explained=True)),
    ):
        assert side is not None
        assert side.values is not None
        assert list(side.values.values()) == pytest.approx(judges.shares(text), abs=1e-4)
        assert side.label_mass is not None
        assert 0.01 < side.label_mass < 1
    assert report.score_of == "gain"
    assert report.provenance.parameters["prompt"]["user"] == USER
    [use] = report.provenance.models
    assert use.prompt_sha256 != judges.models.judge(model).use.prompt_sha256


@pytest.mark.parametrize("model", ["causal", "scored"])
def test_a_prompt_may_show_premise_and_hypothesis(judges: TinyJudges, model: str) -> None:
    report = SERVICE.score(request(model=model, prompt={"user": PAIR}))
    assert {one.code for one in report.reasons} == {"answer-unread"}  # letters are not its words
    named = SERVICE.score(request(model=model, prompt=own(judges, user=PAIR)))
    found = named.components.methods[0].baseline
    assert found is not None
    assert found.values is not None
    assert list(found.values.values()) == pytest.approx(judges.shares(ONE_PAIR), abs=1e-4)


def test_an_answer_that_is_not_read_is_null_with_its_reason(judges: TinyJudges) -> None:
    asked = {"question": QUESTION, "explanations": WHY, "prompt": own(judges)}
    report = SERVICE.score(request(model="silent", **asked))
    assert report.score is None
    assert {one.code for one in report.reasons} == {"no-logprobs"}
    rare = own(judges, verbalizers={key: [f"{key} wug blicket"] for key in "ABC"})
    report = SERVICE.score(request(model="causal", question=QUESTION, prompt=rare))
    assert {one.code for one in report.reasons} == {"answer-unread"}


def test_what_the_judge_is_asked_and_by_which_words() -> None:
    """Absent parts are ours: the prompt of Table 6, and the letters; each rotation is asked."""
    asked = request(
        prompt={"system": "Be brief."}, judge={"methods": ["logits"], "order": "rotated"}
    )
    with bound(StubJudge(labels=("a", "B", "c"))) as judge:
        SERVICE.score(asked)
    [examples] = judge.judged
    assert len(examples) == len(OPTIONS)
    shown = [
        prompts.choice_prompt(asked, prompts.rotate_options(asked.options, by), "")
        for by in range(3)
    ]
    assert [one.text for one in examples] == shown
    first = examples[0].prompt
    assert first is not None
    assert (first.system, first.user) == ("Be brief.", "{text}")
    assert first.verbalizers == {key: (key, f" {key}") for key in "ABC"}


def test_options_keep_their_p_whichever_letter_they_stand_under() -> None:
    class Likes(StubJudge):
        """P follows the option's text, not its letter."""

        def judgements(self, examples: Any) -> Any:
            from shared.contracts.judgement import Judgement

            share = {"Entailment": 0.6, "Neutral": 0.3, "Contradiction": 0.1}
            made = []
            for one in examples:
                listed = [line[3:] for line in one.text.splitlines() if line[1:3] == ". "]
                row = tuple(share[text] for text in listed)
                made.append(Judgement(labels=("A", "B", "C"), probabilities=row, reading="head"))
            return made

    judge = {"methods": ["logits"], "order": "rotated"}
    with bound(Likes()):
        report = SERVICE.score(request(prompt={}, judge=judge))
    side = report.components.methods[0].baseline
    assert side is not None
    assert side.values == pytest.approx({"A": 0.6, "B": 0.3, "C": 0.1})
    assert side.runs == len(OPTIONS)


@pytest.mark.parametrize(
    ("fields", "pointer"),
    [
        ({"judge": {"methods": ["rank", "logits"]}}, "/judge/methods"),
        ({"prompt": {"user": PAIR}, "explanations": WHY}, "/explanations"),
        ({"prompt": {"user": PAIR}, "question": "Why?"}, "/question"),
        ({"prompt": {"verbalizers": {"up": ["u"], "down": ["d"]}}}, "/prompt/verbalizers"),
    ],
)
def test_what_a_prompt_cannot_ask(fields: dict[str, Any], pointer: str) -> None:
    labels = tuple(fields.get("prompt", {}).get("verbalizers", {})) or LABELS
    with bound(StubJudge(labels=labels)), pytest.raises(BadInput) as caught:
        SERVICE.score(request(**({"prompt": {}} | fields)))
    assert caught.value.pointer == pointer


def test_a_model_that_takes_no_prompt_is_refused_when_posted(judges: TinyJudges) -> None:
    contract = contracts()["hlv"]
    catalogue = judges.models._catalogue
    asked = request(model="encoder", prompt={"user": "{text}"})
    with pytest.raises(BadInput, match="takes no prompt") as caught:
        catalogue.check_request(contract, asked.model, asked)
    assert caught.value.pointer == "/prompt"
    with pytest.raises(ValueError, match="`prompt` sets how"):
        request(prompt={}, predictions={"baseline": {"rankings": [{"A": 1}]}})
