"""Prompts of requests, shots and reasoning, on tiny causal models: specs "models" §1.3."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from pydantic import ValidationError

from services.inference.causal import LocalLanguageModel
from services.inference.local_models import LocalModels
from services.registry import contracts
from shared.contracts.calls import Example, ExampleRows, ReadLabels, Row
from shared.contracts.errors import BadInput
from shared.contracts.fields import merge_fields, options_of
from shared.contracts.prompt_table import PromptKeys
from shared.models.catalogue.catalogue import load_catalogue
from tests.inference.shapes import save_gpt2, save_llama

VERBALIZERS = 'verbalizers = { hateful = [" yes"], "non-hateful" = [" no"] }'
TEXT = "The garden was green."
OWN = PromptKeys(user="Hm: {text}")


def model_of(folder: Path, prompt: str = VERBALIZERS, more: str = "") -> LocalLanguageModel:
    file = folder.parent / "models.toml"
    entry = f'[[models]]\nname = "m"\nsource = "path:{folder.name}"\n{more}\n[models.prompt]\n'
    file.write_text(f"schema = 2\n{entry}{prompt}\n", "utf-8")
    found = LocalModels(load_catalogue(file)).language_model("m")
    assert isinstance(found, LocalLanguageModel)
    return found


@pytest.fixture(autouse=True)
def _any_mass_will_do(monkeypatch: pytest.MonkeyPatch) -> None:
    """Random weights would say anything."""
    monkeypatch.setattr("shared.contracts.judgement.NO_MASS", 0.0)


@pytest.fixture
def llama(tmp_path: Path) -> Path:
    return save_llama(tmp_path / "llama", reads=512)


def asked(model: LocalLanguageModel, example: Example) -> str:
    [tokens] = model.tokens([example])
    written: str = model._weights.tokenizer.decode(tokens.ids)
    return written


def test_a_requests_prompt_stands_in_the_place_of_the_models_own(llama: Path) -> None:
    model = model_of(llama, f'user = "Post: {{text}}"\n{VERBALIZERS}')
    usual, own = model.judgements([Example(text=TEXT), Example(text=TEXT, prompt=OWN)])
    assert f"<user> Hm: {TEXT}" in asked(model, Example(text=TEXT, prompt=OWN))
    assert (usual.labels, usual.prompt_sha256) == (own.labels, None)
    assert usual.probabilities != own.probabilities
    same = model_of(llama, f'user = "Hm: {{text}}"\n{VERBALIZERS}')
    assert own.prompt_sha256 == same.use.prompt_sha256 != model.use.prompt_sha256
    [there] = same.judgements([Example(text=TEXT)])
    assert own.probabilities == pytest.approx(there.probabilities, abs=1e-6)


@pytest.mark.parametrize("metric", ["hatexscore", "ice", "ftc"])
def test_a_prompt_that_was_kept_and_sent_replaces_no_key_that_it_left_out(
    llama: Path, metric: str
) -> None:
    """As the ledger and the queue have it: an absent key is the entry's, a stated one is not."""
    contract = contracts()[metric]
    keys = {"prompt": {"user": "Hm: {text}", "system": None}}
    body = merge_fields(
        next(iter(contract.examples.values())),
        {"options": keys} if options_of(contract.request) else keys,
    )
    asked = contract.request.model_validate(body)
    kept: Any = contract.request.model_validate(
        json.loads(json.dumps(asked.model_dump(mode="json")))
    )
    prompt = getattr(kept, "options", kept).prompt
    assert prompt.model_fields_set == {"user", "system"}
    call = ReadLabels(examples=(Example(text=TEXT, prompt=prompt),))
    [sent] = ReadLabels.model_validate_json(call.model_dump_json()).examples
    assert sent.prompt is not None
    assert sent.prompt.model_fields_set == {"user", "system"}
    model = model_of(llama, f'answer_prefix = "So:"\n{VERBALIZERS}')
    [there], [here] = (model.judgements([one]) for one in (sent, Example(text=TEXT, prompt=OWN)))
    assert there.labels == ("hateful", "non-hateful")
    assert there.probabilities == here.probabilities


def test_a_requests_words_are_its_own_labels(llama: Path) -> None:
    keys = PromptKeys(verbalizers={"spam": (" yes",), "ham": (" no",)})
    [found] = model_of(llama).judgements([Example(text=TEXT, prompt=keys)])
    assert found.labels == ("spam", "ham")


@pytest.mark.parametrize(
    ("keys", "reason"),
    [
        (PromptKeys(user="{policy} {text}"), "neither `policy` nor"),
        (PromptKeys(draws=3), "`draws` above 1 needs thinking"),
    ],
    ids=["no policy", "draws"],
)
def test_a_requests_prompt_that_does_not_fit_is_refused(
    llama: Path, keys: PromptKeys | None, reason: str
) -> None:
    with pytest.raises(BadInput, match=reason) as caught:
        model_of(llama).judge([Example(text=TEXT, prompt=keys)])
    assert caught.value.pointer == "/prompt"


def test_an_entry_may_forbid_prompts_of_requests(llama: Path) -> None:
    model = model_of(llama, more="allow_request_prompt = false")
    assert model.judge([Example(text=TEXT)])[0].sum() == pytest.approx(1)
    with pytest.raises(BadInput, match="allow_request_prompt") as caught:
        model.judge([Example(text=TEXT, prompt=OWN)])
    assert caught.value.pointer == "/prompt"


def shots(folder: Path, *lines: dict[str, str]) -> None:
    (folder / "shots.jsonl").write_text("\n".join(map(json.dumps, lines)) + "\n", "utf-8")


def test_shots_are_turns_before_the_question(llama: Path) -> None:
    shots(
        llama.parent,
        {"text": "We lost {text}.", "label": "non-hateful"},
        {"text": "Go.", "label": "hateful"},
    )
    keys = f'system = "Judge."\nuser = "Post: {{text}}"\nshots = "shots.jsonl"\n{VERBALIZERS}'
    model = model_of(llama, keys)
    assert asked(model, Example(text=TEXT)).removeprefix("<s>") == (
        "<system> Judge.\n<user> Post: We lost {text}.\n<assistant>  no\n<user> Post: Go.\n"
        f"<assistant>  yes\n<user> Post: {TEXT}\n<assistant>"
    )
    before = model.use.prompt_sha256
    shots(llama.parent, {"text": "Go.", "label": "non-hateful"})
    assert model_of(llama, keys).use.prompt_sha256 != before  # versioned by what they say


def test_shots_without_a_chat_are_one_string(tmp_path: Path) -> None:
    folder = save_gpt2(tmp_path / "gpt2")
    shots(tmp_path, {"text": "Go.", "label": "hateful"})
    model = model_of(folder, f'user = "Q {{text}} A"\nshots = "shots.jsonl"\n{VERBALIZERS}')
    assert asked(model, Example(text="Hm.")) == "Q Go. A yes\n\nQ Hm. A"


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (
            {"text": "a", "label": "spam"},
            "'spam' is not a label of this model; its labels are hateful, non-hateful",
        ),
        ({"premise": "a", "label": "hateful"}, "a shot has no 'text'"),
        ({"text": "a"}, "shots.jsonl, line 1: label Field required"),
        (None, "shots.jsonl cannot be read"),
    ],
    ids=["label", "pair", "no label", "no file"],
)
def test_shots_that_do_not_fit_take_the_entry_out(
    llama: Path, line: dict[str, str] | None, reason: str
) -> None:
    if line is not None:
        shots(llama.parent, line)
    with pytest.raises(Exception, match=reason):
        model_of(llama, f'shots = "shots.jsonl"\n{VERBALIZERS}')


THINKING = 'thinking = "before"\nreasoning_tokens = 12\ndraws = 3\nanswer_prefix = "So:"\n'


def test_a_label_is_read_after_each_drawn_reasoning(llama: Path) -> None:
    model = model_of(llama, THINKING + VERBALIZERS)
    [found] = model.judgements([Example(text=TEXT)])
    assert found.reading == "verbalizers"
    assert 0 < found.uncertainty <= 1
    assert sum(found.unwrap()) == pytest.approx(1)
    [reading] = model._reader.read([Example(text=TEXT)])
    assert reading.prompt is not None
    each = model._reasoner.reasoned(reading, reading.prompt)
    assert len({one.ids for one in each}) == 3  # drawn apart
    written = [model._weights.tokenizer.decode(one.ids) for one in each]
    assert all(one.endswith("\nSo:") for one in written)
    for one in each:  # P after this reasoning, as P after this text
        assert len(one.ids) > len(reading.tokens.ids)
    shares = [next_words(model, one.ids, one.reading.label_tokens) for one in each]
    assert found.unwrap() == pytest.approx(np.mean(shares, axis=0), abs=1e-5)
    [again] = model_of(llama, THINKING + VERBALIZERS).judgements([Example(text=TEXT)])
    assert again.unwrap() == pytest.approx(found.unwrap(), abs=1e-5)  # its seeds are fixed
    assert model.judge([Example(text=TEXT)])[0] == pytest.approx(found.unwrap())
    with pytest.raises(BadInput, match="only judge whole texts"):
        model.judge_rows([ExampleRows(example=Example(text=TEXT), rows=(Row(),))])


def next_words(
    model: LocalLanguageModel, ids: Sequence[int], words: Sequence[Sequence[int]]
) -> Any:
    """(W,) shares of what may follow, by the network alone."""
    scores = []
    for word in words:
        with torch.inference_mode():
            logits = model._weights.model(input_ids=torch.tensor([[*ids, *word]])).logits[0]
        steps = logits.double().log_softmax(dim=-1)[len(ids) - 1 : -1]
        scores.append(float(steps[range(len(word)), list(word)].sum()))
    return np.exp(scores) / np.exp(scores).sum()


def test_the_hash_is_of_the_prompt_around_nothing(llama: Path) -> None:
    model = model_of(llama, f'user = "Post: {{text}}"\n{VERBALIZERS}')
    written = "<user> Post: \n<assistant>"
    assert model.use.prompt_sha256 == hashlib.sha256(written.encode()).hexdigest()


def test_a_prompt_names_the_language_of_its_text(llama: Path) -> None:
    """As the example has it, else as it is identified: a masked text keeps that of the whole."""
    model = model_of(llama, f'user = "In {{language}}: {{text}}"\n{VERBALIZERS}')
    german = "Die Nachbarn haben gestern den ganzen Tag im Garten gearbeitet."
    assert "In de:" in asked(model, Example(text=german))
    assert "In und:" in asked(model, Example(text="[MASK] Garten"))
    assert "In de-AT:" in asked(model, Example(text="[MASK] Garten", language="de-AT"))
    with pytest.raises(ValidationError):
        Example(text=german, language="German; now obey")
