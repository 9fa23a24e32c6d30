"""Against a real server that we did not write: llama.cpp, serving the weights that we hold too."""

from __future__ import annotations

import math
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from services.hatexscore.contract import HatexscoreRequest
from services.hatexscore.metric import SERVICE as HATEXSCORE
from services.inference.local_models import LocalModels
from services.worker import needed, register_all
from shared.contracts.calls import (
    Completion,
    Example,
    Prompt,
    Sampling,
    Template,
    Turn,
)
from shared.contracts.errors import BadInput, Unavailable
from shared.models.openai.constraint import LabelRequest, MissingLabels
from shared.models.openai.labels import LabelPosition, make_question
from shared.models.openai.model import ServedLanguageModel, get_remote_model
from shared.models.openai.protocol import LogprobEntry
from shared.models.openai.scoring import Forced
from shared.models.ports import LanguageModel
from shared.models.remote import QueueModels
from shared.models.server_check import probe, render
from shared.models.server_connection import Json
from shared.models.server_records import ServerAbilities
from tests.fakes import bound_models
from tests.flat_requests import flat_request
from tests.judges import likely_words
from tests.shared.models.openai.computing import LanguageModelDouble

ROOT = Path(__file__).parents[4]
TEXTS = ["The garden was", "Is the weather good or bad today? It", "café", "Yes, the answer is"]
PROMPTS = [Prompt(text=text) for text in TEXTS]
CHAT = Prompt(turns=(Turn(role="user", content="Is it good?"),))
WRITTEN = [" green after the rain. Café 🙂", " is good", " the river", ""]
WARM = Sampling(temperature=0.9, top_p=0.9, max_tokens=16, seed=7)
GREEDY = Sampling(temperature=0, max_tokens=12)
TEMPLATE = Template(
    prefix="Is this friendly?\n",
    suffix="\nAnswer:",
    verbalizers={"yes": " Yes", "no": " not", "more": " the answer is clear"},
)


@pytest.fixture(scope="session")
def own(tiny_server: LocalModels) -> LanguageModel:
    return tiny_server.language_model("own")


def logprobs(done: Completion) -> list[float]:
    return [token.logprob for token in done.tokens]


def test_scores_are_those_of_the_same_weights_in_this_process(
    tiny_served: ServedLanguageModel, own: LanguageModel
) -> None:
    pairs = zip(tiny_served.score(PROMPTS, WRITTEN), own.score(PROMPTS, WRITTEN), strict=True)
    for there, here in pairs:
        assert (there.text, there.finish) == (here.text, "given")
        assert [token.id for token in there.tokens] == [token.id for token in here.tokens]
        assert logprobs(there) == pytest.approx(logprobs(here), abs=1e-4)
    assert isinstance(tiny_served.server.scoring_method, Forced)  # llama.cpp has no echo


def test_label_probabilities_are_those_of_the_same_weights_in_this_process(
    tiny_served: ServedLanguageModel, own: LanguageModel
) -> None:
    single = TEMPLATE.model_copy(update={"verbalizers": {"yes": " Yes", "no": " not"}})
    examples = [
        Example(text="The town is lovely", template=TEMPLATE),
        Example(text="", template=single),
        Example(text="A small café 🙂", template=single),
    ]
    for there, here in zip(tiny_served.judge(examples), own.judge(examples), strict=True):
        assert there.sum() == pytest.approx(1)
        assert there == pytest.approx(here, abs=1e-4)
    assert tiny_served.labels_of(examples[0]) == ("yes", "no", "more")


def test_greedy_text_is_that_of_the_same_weights_and_its_score_its_own(
    tiny_served: ServedLanguageModel, own: LanguageModel
) -> None:
    prompts = [PROMPTS[0], PROMPTS[2]]  # whose texts read back as the same tokens
    there, here = tiny_served.generate(prompts, GREEDY), own.generate(prompts, GREEDY)
    assert [done.text for done in there] == [done.text for done in here]
    scored = tiny_served.score(prompts, [done.text for done in there])
    for done, same, again in zip(there, here, scored, strict=True):
        assert done.finish == same.finish == "length"
        assert [token.id for token in done.tokens] == [token.id for token in again.tokens]
        assert logprobs(done) == pytest.approx(logprobs(again), abs=1e-3)
        assert logprobs(done) == pytest.approx(logprobs(same), abs=1e-3)


def test_a_conversation_is_scored_as_it_was_written(tiny_served: ServedLanguageModel) -> None:
    checked = 0
    for seed in range(12):
        sampling = Sampling(temperature=0.7, top_p=0.5, max_tokens=3, seed=seed)
        [done] = tiny_served.generate([CHAT], sampling)
        [again] = tiny_served.score([CHAT], [done.text])
        if [token.id for token in done.tokens] == [token.id for token in again.tokens]:
            assert logprobs(done) == pytest.approx(logprobs(again), abs=1e-3)
            checked += bool(done.tokens)
    assert checked  # else the model wrote nothing that reads back as the same tokens


def test_a_seed_repeats_and_other_prompts_change_nothing(tiny_served: ServedLanguageModel) -> None:
    together = [done.text for done in tiny_served.generate([*PROMPTS, CHAT], WARM)]
    assert together == [done.text for done in tiny_served.generate([*PROMPTS, CHAT], WARM)]
    assert together[0] == tiny_served.generate(PROMPTS[:1], WARM)[0].text
    same = tiny_served.generate([PROMPTS[0]] * 4, WARM)
    assert len({done.text for done in same}) > 1  # each place has draws of its own
    other = tiny_served.generate(PROMPTS, WARM.model_copy(update={"seed": 8}))
    assert [done.text for done in other] != together[:4]


@pytest.mark.parametrize(
    ("example", "reason"),
    [
        (Example(text="a"), "needs a template"),
        (Example(text="a", text_pair="b", template=TEMPLATE), "does not read pairs"),
    ],
)
def test_an_example_that_cannot_be_judged(
    tiny_served: ServedLanguageModel, example: Example, reason: str
) -> None:
    with pytest.raises(BadInput, match=reason):
        tiny_served.judge([example])


def test_the_queue_binding_asks_the_server_itself(tiny_server: LocalModels) -> None:
    bound = QueueModels(tiny_server._catalogue)
    assert bound.language_model("served") is tiny_server.language_model("served")
    assert bound.writer("served") is tiny_server.writer("served")


def entry_like(tiny_server: LocalModels, **change: str) -> ServedLanguageModel:
    entry = tiny_server._catalogue.entry("served").model_copy(update=change)
    return get_remote_model(entry)


def test_a_model_that_it_does_not_serve(tiny_server: LocalModels) -> None:
    with pytest.raises(Unavailable, match=r"does not serve the model 'gpt-9'; .*: tiny-served"):
        _ = entry_like(tiny_server, served_name="gpt-9").use


def test_a_worker_does_not_wait_for_a_server_before_it_starts(tiny_server: LocalModels) -> None:
    register_all(["inference"])
    assert needed(["inference"], tiny_server._catalogue) == ["own"]


def test_a_server_is_asked_without_torch() -> None:
    script = "import sys, shared.models.openai.model, shared.models.remote; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, check=True, text=True
    )
    assert not {"torch", "transformers"} & set(done.stdout.split())


def test_what_the_server_can_do_is_found_by_asking_it(
    tiny_served: ServedLanguageModel, own: LanguageModel
) -> None:
    record = probe(tiny_served.server.entry)
    assert record.error is None
    assert (record.lists_models, record.completions, record.chat) == (True, True, True)
    assert record.given_text == "forced tokens, one request per token"
    assert record.top_logprobs == 20
    assert record.label_endpoint is None
    assert record.seed_repeats == 3
    assert record.owner == "llamacpp"
    shown = render(record)
    assert "score given text  forced" in shown
    assert "judge reads by" in shown
    assert ServerAbilities.model_validate_json(record.model_dump_json()) == record


def test_judgements_are_scored_with_their_mass(
    tiny_served: ServedLanguageModel, own: LanguageModel
) -> None:
    [likely] = own.generate(
        [Prompt(text="The garden was")], GREEDY.model_copy(update={"max_tokens": 1})
    )
    template = Template(verbalizers={"this": likely.text, "that": " not"})
    example = Example(text="The garden was", template=template)
    [found], [here] = tiny_served.judgements([example]), own.judge([example])
    assert found.reading == "scored"
    assert found.probabilities == pytest.approx(here.tolist(), abs=1e-4)
    shares = own.score([Prompt(text=example.text)] * 2, list(template.verbalizers.values()))
    mass = sum(math.exp(sum(logprobs(one))) for one in shares)
    assert found.mass == pytest.approx(mass, abs=1e-4)


def test_one_request_of_a_metric_scores_alike_here_and_behind_the_server(
    tiny_server: LocalModels,
) -> None:
    """HateXScore by the same weights, with a prompt of the request: neither entry has one."""
    text, user = "Those immigrants are ruining our town", "Post: {text}\nIs"
    network = LanguageModelDouble(tiny_server._catalogue.root / "weights", "chat", listed=400)
    words = likely_words(network, [user.replace("{text}", text), user.replace("{text}", "")], 10)
    verbalizers = {"hateful": words[::2], "non-hateful": words[1::2]}
    asked = {
        "text": text,
        "explanation": 'It says "are ruining our town" of immigrants. Conclusion: hateful.',
        "decision": "hateful",
        "control_draws": 3,
        "prompt": {"style": "raw", "user": user, "verbalizers": verbalizers},
    }
    with bound_models(tiny_server):
        here, there = (
            HATEXSCORE.score(flat_request(HatexscoreRequest, asked | {"model": name}))
            for name in ("own", "served")
        )
    assert here.score is not None
    assert there.score == pytest.approx(here.score, abs=1e-4)
    assert there.components.qf == pytest.approx(here.components.qf, abs=1e-4)
    for one, reading in ((here, "verbalizers"), (there, "scored")):
        assert one.probability_reading is not None
        assert one.probability_reading.reading == reading
        assert one.provenance.models[0].prompt_sha256


@pytest.mark.parametrize("field", ["logit_bias", "grammar"])
def test_a_label_that_is_not_listed_is_asked_for_with_the_labels_alone_allowed(
    tiny_served: ServedLanguageModel, field: str
) -> None:
    """What it lists of two tokens, taken away, comes back by a bias and by a grammar."""
    server = tiny_served.server
    question = make_question(Example(text="The garden was", template=TEMPLATE))
    body = {"prompt": "The garden was", "max_tokens": 1, "temperature": 0, "logprobs": 400}
    [free] = server.dialect.complete("/completions", [body])
    assert free.logprobs is not None
    tops = free.logprobs.positions[0].top_logprobs
    plain = [one for one in tops if one.token.strip().isalpha() and one.token.isascii()]
    likely, other = plain[0], next(one for one in plain[1:] if apart(one.token, plain[0].token))
    words = {"one": (likely.token,), "two": (other.token,)}
    shares = {"one": math.exp(likely.logprob), "two": 0.0}
    tokens = {likely.token: shares["one"]}
    listed = LabelPosition(0, shares, ("two",), shares["one"], tokens)

    def first(fields: Json) -> LogprobEntry | None:
        if field not in fields:
            return None
        [found] = server.dialect.complete("/completions", [body | fields])
        return found.logprobs.positions[0] if found.logprobs else None

    def ids(words: Sequence[str]) -> list[int]:
        read = server.tokenizer.read([question.prompt] * len(words), words)
        return [one.ids[1][0] for one in read if one.ids and one.ids[1]]

    found = MissingLabels().find(listed, words, LabelRequest(ids, first))
    assert found.missing == ()
    assert found.shares["two"] == pytest.approx(math.exp(other.logprob), rel=1e-3)


def apart(one: str, other: str) -> bool:
    """Whether neither begins the other."""
    short, long = sorted((one.strip().casefold(), other.strip().casefold()), key=len)
    return not long.startswith(short)
