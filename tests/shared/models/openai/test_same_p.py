"""Row 13 of the acceptance: the same tiny weights, the same P, however a label is read."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest

from services.inference.local_models import LocalModels
from shared.contracts.calls import Example, Template
from shared.contracts.errors import BadInput
from shared.contracts.prompt_table import PromptKeys, PromptTable, Shot
from shared.models.catalogue.catalogue import load_catalogue
from shared.models.catalogue.entry import ModelEntry
from shared.models.openai.labels import match_labels
from shared.models.openai.model import ServedLanguageModel
from tests.inference.shapes import save_gpt2, save_llama
from tests.shared.models.openai.computing import LanguageModelDouble, Style
from tests.shared.models.openai.stub import listening

TEXTS = ("The garden was", "Is the weather good", "Yes, the answer", "We lost", "A small café by")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_llama(tmp_path_factory.mktemp("weights") / "llama")


@pytest.fixture(scope="module")
def examples(folder: Path) -> list[Example]:
    """Texts with two of their own likeliest next tokens as verbalizers, which no other listed
    token begins: there the listed tokens are the verbalizers' own."""
    import torch

    double = LanguageModelDouble(folder, "chat")
    found = []
    for text in TEXTS:
        tops = torch.topk(double.logprobs(double.ids(text))[-1], 20).indices.tolist()
        listed = {double.words.decode([token]): token for token in tops}
        pairs = itertools.combinations(listed, 2)
        one, other = next(pair for pair in pairs if _are_alone(double, text, listed, pair))
        verbalizers = {"hateful": one, "non-hateful": other}
        found.append(Example(text=text, template=Template(verbalizers=verbalizers)))
    return found


def _are_alone(
    double: LanguageModelDouble, text: str, listed: dict[str, int], pair: tuple[str, str]
) -> bool:
    words = {token: (token,) for token in pair}
    begun = {token for token in listed if match_labels(token, words)}
    ids = double.ids(text)
    return begun == set(pair) and all(
        token.strip() and double.ids(text + token) == [*ids, listed[token]] for token in pair
    )


@pytest.fixture(scope="module")
def own(folder: Path) -> LocalModels:
    (folder.parent / "models.toml").write_text(
        'schema = 2\n[[models]]\nname = "own"\nkind = "causal"\nsource = "path:llama"\n'
        'device = "cpu"\ndtype = "float32"\n', "utf-8"
    )  # fmt: skip
    return LocalModels(load_catalogue(folder.parent / "models.toml"))


@pytest.fixture
def double(folder: Path, style: Style) -> LanguageModelDouble:
    return LanguageModelDouble(folder, style)


@pytest.fixture
def model(double: LanguageModelDouble) -> Iterator[ServedLanguageModel]:
    with listening(double) as url:
        yield ServedLanguageModel(ModelEntry(name="m", kind="causal", source=f"openai:{url}"))


@pytest.mark.parametrize(
    ("style", "reading"),
    [
        ("vllm", "label-endpoint"),
        ("sglang", "label-endpoint"),
        ("vllm-prompt", "scored"),
        ("tgi", "scored"),
        ("llama-cpp-python", "scored"),
        ("chat", "top-logprobs"),
    ],
)
def test_every_reading_finds_the_same_p(
    model: ServedLanguageModel, own: LocalModels, examples: list[Example], reading: str
) -> None:
    here = own.language_model("own").judgements(examples)
    there = model.judgements(examples)
    for one, other in zip(there, here, strict=True):
        assert one.reading == reading
        assert other.reading == "verbalizers"
        assert one.probabilities == pytest.approx(other.probabilities, abs=1e-4)
        assert 0.01 <= (one.mass or 0) <= 1
        assert one.uncertainty == 0


def test_an_echo_that_is_a_place_off_is_not_used(tmp_path: Path) -> None:
    """llama-cpp-python's, of a model that puts no token before a text."""
    double = LanguageModelDouble(save_gpt2(tmp_path / "gpt2"), "llama-cpp-python")
    with listening(double) as url:
        served = ServedLanguageModel(ModelEntry(name="m", kind="causal", source=f"openai:{url}"))
        assert served.server.scoring_method is None
    assert any(body.get("echo") for _, body, _ in double.asked)


@pytest.mark.parametrize("style", ["silent"])
def test_a_server_that_lists_nothing_has_no_p(
    model: ServedLanguageModel, examples: list[Example]
) -> None:
    found = model.judgements(examples)
    assert [one.probabilities for one in found] == [None] * len(examples)
    assert {one.unread.code for one in found if one.unread} == {"no-logprobs"}
    with pytest.raises(BadInput):
        model.judge(examples)


@pytest.mark.parametrize("style", ["silent"])
def test_votes_are_drawn_where_the_entry_asks_for_them(
    double: LanguageModelDouble, examples: list[Example]
) -> None:
    with listening(double) as url:
        entry = ModelEntry(name="m", kind="causal", source=f"openai:{url}", votes=20)
        [found] = ServedLanguageModel(entry).judgements(examples[:1])
    assert found.reading == "votes"
    drawn = [body for path, body, _ in double.asked if path.endswith("chat/completions")][-20:]
    assert len({body["seed"] for body in drawn}) == 20
    assert {body["temperature"] for body in drawn} == {1}
    if found.probabilities is not None:
        assert found.uncertainty > 0.05


@pytest.mark.parametrize("style", ["vllm"])
def test_a_requests_prompt_is_asked_alike_here_and_behind_a_server(
    model: ServedLanguageModel, own: LocalModels, examples: list[Example]
) -> None:
    asked = []
    for one in examples:
        assert one.template is not None
        words = {label: (word,) for label, word in one.template.verbalizers.items()}
        keys = PromptKeys(style="raw", user="{text}", verbalizers=words)
        asked.append(Example(text=one.text, prompt=keys))
    here, there = own.language_model("own").judgements(asked), model.judgements(asked)
    templates = model.judgements(examples)
    for served, local, usual in zip(there, here, templates, strict=True):
        assert served.probabilities == pytest.approx(local.probabilities, abs=1e-4)
        assert served.probabilities == pytest.approx(usual.probabilities, abs=1e-6)
        assert served.prompt_sha256
        assert local.prompt_sha256
        assert usual.prompt_sha256 is None


@pytest.mark.parametrize("style", ["chat"])
def test_shots_are_turns_of_a_chat(double: LanguageModelDouble) -> None:
    table = PromptTable(
        user="Post: {text}",
        verbalizers={"hateful": (" yes",), "non-hateful": (" no",)},
        shots=(Shot(text="Go.", label="hateful"), Shot(text="Hm.", label="non-hateful")),
    )
    with listening(double) as url:
        entry = ModelEntry(name="m", kind="causal", source=f"openai:{url}", prompt=table)
        served = ServedLanguageModel(entry)
        served.judgements([Example(text="We lost")])
        keys = PromptKeys(user="Now: {text}", draws=2, thinking="before", reasoning_tokens=3)
        before = len(double.asked)
        [own] = served.judgements([Example(text="We lost", prompt=keys)])
        assert own.prompt_sha256 not in (None, served.use.prompt_sha256)
        kwargs = PromptKeys(template_kwargs={"enable_thinking": True})
        with pytest.raises(BadInput, match="because the model runs on a server") as caught:
            served.judgements([Example(text="We lost", prompt=kwargs)])
    assert caught.value.pointer == "/prompt"
    [*_, asked] = [body for _, body, _ in double.asked[:before] if "messages" in body]
    said = [(turn["role"], turn["content"]) for turn in asked["messages"]]
    assert said[1:] == [
        ("user", "Post: Go."),
        ("assistant", " yes"),
        ("user", "Post: Hm."),
        ("assistant", " no"),
        ("user", "Post: We lost"),
    ]
    drawn = [body for _, body, _ in double.asked[before:] if body.get("temperature") == 1]
    assert len(drawn) == 2  # the request's own draws
    assert drawn[0]["messages"][-1]["content"] == "Now: We lost"
