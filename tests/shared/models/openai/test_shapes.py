"""vLLM's and OpenAI's shapes, retries, refusals and secrets, against a stub of their answers."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Sequence
from math import exp
from typing import Any

import pytest

from shared.contracts.calls import Completion, Example, Prompt, Sampling, Template, Turn
from shared.contracts.errors import BadInput, ScoringError, Unavailable
from shared.models import server_connection
from shared.models.catalogue.entry import ModelEntry
from shared.models.openai.model import ServedLanguageModel
from shared.models.openai.scoring import PROBE, Echo, PromptLogprobs, find_scoring_method
from shared.models.openai.text import seed_of
from tests.shared.models.openai.stub import Stub, Style, listening

KEY = "sk-very-secret"
PROMPTS = [Prompt(text="The old garden"), Prompt(text="Rain")]
WRITTEN = [" was green", " again"]
SAMPLING = Sampling(seed=3, stop=("\n",))


@pytest.fixture
def stub(style: Style) -> Stub:
    return Stub(style)


@pytest.fixture
def model(stub: Stub, monkeypatch: pytest.MonkeyPatch) -> Iterator[ServedLanguageModel]:
    monkeypatch.setenv("STUB_KEY", KEY)
    with listening(stub) as url:
        made = ServedLanguageModel(
            ModelEntry(name="m", kind="causal", source=f"openai:{url}", api_key_env="STUB_KEY")
        )
        yield made
        made.server.connection._client.close()


every_style = pytest.mark.parametrize("style", ["vllm", "openai"])
of_openai = pytest.mark.parametrize("style", ["openai"])


@every_style
def test_a_given_text_is_scored_in_the_servers_way(
    model: ServedLanguageModel, stub: Stub, style: Style
) -> None:
    done = model.score([*PROMPTS, PROMPTS[0]], [*WRITTEN, ""])
    assert isinstance(model.server.scoring_method, PromptLogprobs if style == "vllm" else Echo)
    for prompt, text, one in zip(PROMPTS, WRITTEN, done[:2], strict=True):
        ids = [0, *stub.ids((prompt.text or "") + text)]
        wanted = [stub.logprob(ids, place) for place in range(1, len(ids))]
        length = len(stub.ids(text))
        assert [token.logprob for token in one.tokens] == pytest.approx(wanted[-length:])
        assert "".join(text[t.start : t.end] for t in one.tokens) == text
    assert (done[2].text, done[2].tokens) == ("", ())


@pytest.mark.parametrize("style", ["vllm", "openai", "newer"])
def test_labels_are_the_softmax_of_their_verbalizers(
    model: ServedLanguageModel, stub: Stub
) -> None:
    template = Template(suffix="\nAnswer:", verbalizers={"yes": " yes", "no": " no"})
    [row] = model.judge([Example(text="A text", template=template)])
    before = stub.ids("A text\nAnswer:")[-1]
    shares = [exp(stub.logprob([before, *stub.ids(word)], 1)) for word in (" yes", " no")]
    assert row == pytest.approx([share / sum(shares) for share in shares])


@every_style
def test_generation_sends_its_sampling_and_a_seed_for_each_place(
    model: ServedLanguageModel, stub: Stub, style: Style
) -> None:
    done = model.generate(PROMPTS, SAMPLING)
    assert [one.text for one in done] == [" it was"] * 2
    assert [(token.start, token.end) for token in done[0].tokens] == [(0, 3), (3, 7)]
    bodies = [body for path, body, _ in stub.asked if path == "/v1/completions"]
    seeds = {body["prompt"]: body["seed"] for body in bodies}
    assert seeds == {prompt.text: seed_of(3, place) for place, prompt in enumerate(PROMPTS)}
    assert all(body["stop"] == ["\n"] and body["top_p"] == 0.8 for body in bodies)
    assert all(("top_k" in body) == (style == "vllm") for body in bodies)


@pytest.mark.parametrize("style", ["newer"])
def test_a_verbalizer_that_is_not_among_the_likely_tokens(model: ServedLanguageModel) -> None:
    template = Template(verbalizers={"yes": " yes", "never": " never"})
    with pytest.raises(
        BadInput, match="5 most likely next tokens, which do not include ' never'"
    ) as caught:
        model.judge([Example(text="A text", template=template)])
    assert caught.value.pointer == "/template/verbalizers"
    with pytest.raises(BadInput, match="no log-probabilities of a given text"):
        model.score(PROMPTS, WRITTEN)


@of_openai
def test_one_token_over_the_border_is_refused(model: ServedLanguageModel) -> None:
    with pytest.raises(BadInput, match="put the space between them"):
        model.score([Prompt(text="The old gar")], ["den was"])


@of_openai
def test_a_conversation_cannot_be_scored_without_a_tokenizer(model: ServedLanguageModel) -> None:
    with pytest.raises(BadInput, match="cannot render a conversation") as caught:
        model.score([Prompt(turns=(Turn(role="user", content="hi"),))], ["a"])
    assert caught.value.pointer == "/prompts"


@of_openai
def test_a_server_without_a_chat(model: ServedLanguageModel) -> None:
    with pytest.raises(BadInput, match=r"status 404.*Not Found") as caught:
        model.generate([Prompt(turns=(Turn(role="user", content="hi"),))], SAMPLING)
    assert caught.value.pointer == "/model"


@pytest.mark.parametrize("style", ["bare"])
def test_a_server_that_tells_no_log_probabilities(model: ServedLanguageModel) -> None:
    with pytest.raises(BadInput, match="no log-probabilities of a given text") as caught:
        model.score(PROMPTS, WRITTEN)
    assert caught.value.pointer == "/model"
    with pytest.raises(BadInput, match="Unsupported fields"):
        model.generate(PROMPTS, SAMPLING)


def choice(**more: Any) -> dict[str, Any]:
    return {"choices": [{"text": " a", "finish_reason": "stop", **more}]}


@of_openai
def test_half_a_surrogate_pair_is_a_part_of_a_character(
    model: ServedLanguageModel, stub: Stub
) -> None:
    """JSON may spell one, and nothing that we keep may hold it."""
    tokens = {"tokens": [" a", "\ud83d", " b"], "token_logprobs": [-1.0, -2.0, -3.0]}
    stub.instead = [(200, {}, choice(text=" a\ud83d b", logprobs=tokens))]
    [done] = model.generate(PROMPTS[:1], SAMPLING)
    assert done.text == " a\ufffd b"
    assert [(token.start, token.end) for token in done.tokens] == [(0, 2), (2, 3), (3, 5)]
    assert Completion.model_validate_json(done.model_dump_json()) == done


@of_openai
def test_nor_may_a_refusal_hold_it(model: ServedLanguageModel, stub: Stub) -> None:
    stub.instead = [(400, {}, {"error": {"message": "no \ud83d here"}})]
    with pytest.raises(BadInput, match=r"no \? here"):
        model.generate(PROMPTS[:1], SAMPLING)


@of_openai
def test_a_probability_above_one_by_rounding_is_one(model: ServedLanguageModel, stub: Stub) -> None:
    rounded = {"tokens": [" a"], "token_logprobs": [1e-7]}
    stub.instead = [(200, {}, choice(logprobs=rounded))]
    [done] = model.generate(PROMPTS[:1], SAMPLING)
    assert [token.logprob for token in done.tokens] == [0.0]


@of_openai
@pytest.mark.parametrize(
    ("answer", "kind", "reason"),
    [
        (choice(finish_reason="content_filter"), BadInput, "content filter"),
        (choice(finish_reason="abort"), Unavailable, "aborted the completion"),
    ],
)
def test_an_answer_that_cannot_be_used(
    model: ServedLanguageModel, stub: Stub, answer: Any, kind: type[ScoringError], reason: str
) -> None:
    stub.instead = [(200, {}, answer)]
    with pytest.raises(kind, match=reason) as caught:
        model.generate(PROMPTS[:1], SAMPLING)
    assert type(caught.value) is kind


@of_openai
@pytest.mark.parametrize("status", [429, 500, 503])
def test_what_may_heal_is_asked_again(model: ServedLanguageModel, stub: Stub, status: int) -> None:
    stub.instead = [(status, {"Retry-After": "0"}, {})] * 2
    assert model.generate(PROMPTS[:1], SAMPLING)[0].text == " it was"
    assert len(stub.asked) == 1 + 3  # the list of models, then three times


@of_openai
def test_retries_stop(model: ServedLanguageModel, stub: Stub) -> None:
    stub.instead = [(503, {"Retry-After": "0"}, {})] * 99
    with pytest.raises(Unavailable, match="status 503"):
        model.generate(PROMPTS[:1], SAMPLING)
    assert len(stub.asked) == 1 + 4


@of_openai
@pytest.mark.parametrize("status", [400, 404, 413, 422])
def test_a_4xx_is_not_asked_again(model: ServedLanguageModel, stub: Stub, status: int) -> None:
    stub.instead = [(status, {}, {"error": {"message": "maximum context length is 5 tokens"}})] * 2
    with pytest.raises(BadInput, match="maximum context length is 5 tokens"):
        model.generate(PROMPTS[:1], SAMPLING)
    assert len(stub.asked) == 1 + 1


@of_openai
def test_the_key_is_sent_and_never_told(
    model: ServedLanguageModel, stub: Stub, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    said = {"error": {"message": f"your key {KEY} may not do that"}}
    for status in (400, 401, 403):
        stub.instead = [(status, {}, said)]
        with pytest.raises(ScoringError) as caught:
            model.generate(PROMPTS[:1], SAMPLING)
        assert KEY not in str(caught.value)
        assert KEY not in repr(caught.value.__cause__)
    assert stub.asked[-1][2]["Authorization"] == f"Bearer {KEY}"
    assert KEY not in caplog.text
    assert KEY not in json.dumps(model.use.model_dump())
    assert KEY not in repr(model._entry)


def test_a_server_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_connection, "_pause", lambda _: 0.0)
    away = ServedLanguageModel(
        ModelEntry(name="away", kind="causal", source="openai:http://127.0.0.1:1/v1")
    )
    with pytest.raises(Unavailable, match=r"'away' failed: no connection \(ConnectError\)"):
        _ = away.use
    with pytest.raises(Unavailable):  # and it is not taken for a server that cannot
        away.score(PROMPTS, WRITTEN)


def test_a_gateway_that_fails_at_an_unknown_path_is_not_away() -> None:
    class Gateway:
        """It refuses the echo, and has no `/generate`."""

        def post(self, path: str, bodies: Sequence[Any]) -> list[Any]:
            raise BadInput("echo is not supported", pointer="/echo")

        def post_at_root(self, path: str, bodies: Sequence[Any]) -> list[Any]:
            raise Unavailable("502 at /generate")

    assert find_scoring_method(Gateway(), "m", PROBE) is None  # type: ignore[arg-type]
