"""ICE in words over every judge: one text, one quotation, the numbers of a plain loop over raw
weights (acceptance rows 13 and 15)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import numpy as np
import pytest

from services.ice.batch_report import by_configuration
from services.ice.contract import IceRequest
from services.ice.metric import SERVICE
from shared.contracts.calls import Example
from shared.contracts.errors import BadInput
from shared.contracts.messages import Scored
from tests.flat_requests import flat_request
from tests.judges import TinyJudges, tiny_judges

TEXT = "Those immigrants are ruining our town"
WORDS = TEXT.split()
QUOTED = (2, 3)  # words
USER = "Post: {text}\nThis is"
HEAD = 'labels = { hateful = ["yes", "perhaps"], non-hateful = ["no"] }'
OTHERS = [(n, n + 1) for n in range(5) if (n, n + 1) != QUOTED]
KEPT = [" ".join(WORDS[n] for n in pair) for pair in (QUOTED, *OTHERS)]


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TinyJudges]:
    texts = [USER.replace("{text}", text) for text in (TEXT, "", *KEPT)]
    folder = tmp_path_factory.mktemp("judges")
    with tiny_judges(folder, "hate", USER, texts, ("hateful", "non-hateful"), HEAD) as made:
        yield made


@pytest.fixture
def judges(tiny: TinyJudges) -> Iterator[TinyJudges]:
    with tiny.bound() as made:
        yield made


def asked(model: str, **more: Any) -> IceRequest:
    body = {"text": TEXT, "model": model, "rationale": ["are ruining"], "decision": "hateful"}
    one_side = {"language": "en", "aspects": ["sufficiency"]}
    return flat_request(IceRequest, body | one_side | more)


def of_verbalizers(judges: TinyJudges, text: str) -> float:
    return judges.shares(USER.replace("{text}", text))[0]


def of_head(judges: TinyJudges, text: str) -> float:
    [row] = judges.models.local_classifier("encoder").logits([text])
    shares = np.exp(row - row.max())
    return float(shares[1:].sum() / shares.sum())


@pytest.mark.parametrize(
    ("model", "rows", "oracle"),
    [
        ("encoder", "words", of_head),
        ("served-head", None, of_head),
        ("causal", "words", of_verbalizers),
        ("scored", None, of_verbalizers),
    ],
)
def test_the_same_words_by_every_kind_of_judge(
    judges: TinyJudges,
    model: str,
    rows: str | None,
    oracle: Callable[[TinyJudges, str], float],
) -> None:
    report = SERVICE.score(asked(model, rows=rows))
    observed, *null = [oracle(judges, text) for text in KEPT]
    [test] = report.components.tests
    assert test.scores is not None
    assert test.scores.full == pytest.approx(oracle(judges, TEXT), abs=1e-4)
    assert test.scores.rationale == pytest.approx(observed, abs=1e-4)
    assert test.scores.empty == pytest.approx(oracle(judges, ""), abs=1e-4)
    assert test.null.mean == pytest.approx(np.mean(null), abs=1e-4)
    assert (test.null.draws, test.null.exact) == (4, True)
    assert report.rows == "words"
    assert [use.name for use in report.provenance.models] == [model]


OWN = "Text: {text}\nThat is"


@pytest.mark.parametrize(
    ("model", "rows"), [("causal", "words"), ("causal", None), ("scored", None)]
)
def test_a_requests_own_prompt_is_asked_in_the_place_of_the_entrys(
    judges: TinyJudges, model: str, rows: str | None
) -> None:
    alone, beside = SERVICE.score_batch(
        [asked(model, rows=rows, prompt={"user": OWN}), asked(model, rows=rows)]
    )
    full = judges.shares(OWN.replace("{text}", TEXT))[0]
    assert alone.probabilities["hateful"] == pytest.approx(full, abs=1e-4)
    assert beside.probabilities["hateful"] == pytest.approx(of_verbalizers(judges, TEXT), abs=1e-4)
    for report, user in ((alone, OWN), (beside, USER)):
        scores = report.components.tests[0].scores
        assert scores is not None
        if report.rows == "words":
            kept = judges.shares(user.replace("{text}", "are ruining"))[0]
            assert scores.rationale == pytest.approx(kept, abs=1e-4)
    [own], [theirs] = alone.provenance.models, beside.provenance.models
    assert own.prompt_sha256
    assert own.prompt_sha256 != theirs.prompt_sha256
    assert alone.provenance.parameters["prompt"]["user"] == OWN


def test_an_encoder_takes_no_prompt(judges: TinyJudges) -> None:
    with pytest.raises(BadInput, match="takes no prompt") as caught:
        SERVICE.score(asked("encoder", prompt={"user": OWN}))
    assert caught.value.pointer == "/options/prompt"
    template = {"verbalizers": {"hateful": " yes", "non-hateful": " no"}}
    with pytest.raises(ValueError, match="send only one of them"):
        asked("causal", prompt={"user": OWN}, template=template)


def test_labels_that_the_model_would_never_say_have_no_score(judges: TinyJudges) -> None:
    """In tokens as in words, by a prompt or a template; the published variants give their number
    whatever it is worth."""
    rare = {"hateful": "wug blicket", "non-hateful": "zup dax"}
    by_prompt: dict[str, Any] = {
        "prompt": {"verbalizers": {label: [word] for label, word in rare.items()}}
    }
    by_template: dict[str, Any] = {
        "template": {"prefix": "Text: ", "suffix": "\nIt is", "verbalizers": rare}
    }
    for rows, how in product(("tokens", "words"), (by_prompt, by_template)):
        report = SERVICE.score(asked("causal", rows=rows, **how))
        assert report.score is None
        assert [one.code for one in report.reasons] == ["answer-unread"]
    printed = SERVICE.score(asked("causal", rows="tokens", variant="paper", **by_template))
    assert printed.components.tests


@pytest.mark.parametrize("rows", ["tokens", "words"])
def test_a_template_whose_labels_have_little_mass_is_doubted(judges: TinyJudges, rows: str) -> None:
    """As an entry's prompt is: they have more than none, and less than half."""
    likely = {label: words[0] for label, words in judges.prompt.verbalizers.items()}
    template = {"prefix": "Post: ", "suffix": "\nThis is", "verbalizers": likely}
    report = SERVICE.score(asked("causal", rows=rows, template=template))
    assert report.score is not None
    assert any(one.startswith("low-mass: causal") for one in report.warnings)


def test_a_chat_server_is_as_good_as_what_it_lists(judges: TinyJudges) -> None:
    judge = judges.models.judge("chat")
    unread = [
        one.unread.code
        for one in judge.judgements([Example(text=text) for text in (TEXT, *KEPT)])
        if one.unread
    ]
    report = SERVICE.score(asked("chat"))
    if unread:
        assert report.score is None
        assert report.reasons[0].code in unread
        return
    assert report.components.tests[0].null.draws == 4


def test_a_server_without_log_probabilities_has_no_score(judges: TinyJudges) -> None:
    report = SERVICE.score(asked("silent"))
    assert report.score is None
    assert {one.code for one in report.reasons} == {"no-logprobs"}
    assert report.components.tests == ()


def test_lime_on_a_server_is_lime_over_words_here(judges: TinyJudges) -> None:
    fields: dict[str, Any] = {
        "attribution": {"name": "lime", "samples": 40},
        "rationale": None,
        "token_values": True,
    }
    served, here = (
        SERVICE.score(asked(model, rows="words", **fields)) for model in ("served-head", "encoder")
    )
    assert served.token_values[0].values == pytest.approx(here.token_values[0].values, abs=1e-4)
    assert served.score == here.score


def test_results_of_words_and_of_tokens_are_not_averaged(judges: TinyJudges) -> None:
    both = [asked("encoder", rows=kind) for kind in ("tokens", "words", "words")]
    rows = [Scored(str(n), None, one, SERVICE.score(one)) for n, one in enumerate(both)]
    table = by_configuration(rows)
    assert [(one.rows, len(tests)) for one, tests in table.items()] == [("tokens", 1), ("words", 2)]
