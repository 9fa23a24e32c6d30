"""A label that is not listed: its P is the truth, or there is none; whatever a server does."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from math import log
from pathlib import Path
from typing import Any

import pytest

from shared.contracts.calls import Example
from shared.contracts.judgement import Judgement
from shared.models.catalogue.catalogue import load_catalogue
from shared.models.openai.model import ServedLanguageModel
from tests.shared.models.openai.recorded import Recorded
from tests.shared.models.openai.stub import Reply, listening

ENTRY = """
schema = 2
[[models]]
name = "m"
source = "openai:{url}"
[models.prompt]
user = "{{text}}"
verbalizers = {{ hateful = ["unsafe", "harmful"], "non-hateful" = ["safe", "fine"] }}
"""
FIELDS = ("allowed_token_ids", "logit_bias", "structured_outputs", "regex", "grammar")
SHARES = {"safe": 0.5, "I": 0.2, "The": 0.1, "It": 0.06, "A": 0.05, "unsafe": 0.04, "fine": 0.03}
TEXT = Example(text="What a lovely town")


def entry(folder: Path, url: str) -> ServedLanguageModel:
    file = folder / "models.toml"
    file.write_text(ENTRY.format(url=url), "utf-8")
    return ServedLanguageModel(load_catalogue(file).entry("m"))


@dataclass
class Chat:
    """Lists five tokens of `SHARES`. obeys: what it is held by; raw: whether its log-probabilities
    are from before that; refuses: whether it answers other fields with a 400."""

    obeys: str
    raw: bool = True
    refuses: bool = True
    tokens: bool = True
    asked: list[dict[str, Any]] = field(default_factory=list)
    words: tuple[str, ...] = (*SHARES, "harmful")

    def answer(self, path: str, body: dict[str, Any], headers: dict[str, str]) -> Reply:
        if path == "/v1/models":
            return 200, {}, {"data": [{"id": "m", "owned_by": "m"}]}
        if path == "/tokenize" and self.tokens:
            told = body.get("prompt", "")
            return 200, {}, {"tokens": [self.words.index(told)] if told in self.words else [99]}
        if path != "/v1/chat/completions":
            return 404, {}, {"detail": "Not Found"}
        self.asked.append(body)
        held = [name for name in FIELDS if name in body]
        if self.refuses and set(held) - {self.obeys}:
            return 400, {}, {"error": {"message": f"Unrecognized request argument: {held[0]}"}}
        return 200, {}, {"choices": [self.choice(body)]}

    def choice(self, body: dict[str, Any]) -> dict[str, Any]:
        said = str(body.get(self.obeys, ""))
        named = {self.words[int(one)] for one in re.findall(r"\d+", said) if int(one) < 8}
        named |= set(re.findall(r"\w+", said))
        allowed = {word: share for word, share in SHARES.items() if word in named or not said}
        written = max(allowed, key=allowed.__getitem__)
        total = 1.0 if self.raw else sum(allowed.values())
        seen = SHARES if self.raw else {word: one / total for word, one in allowed.items()}
        tops = [{"token": word, "logprob": log(seen[word])} for word in list(seen)[:5]]
        one = {"token": written, "logprob": log(seen[written]), "top_logprobs": tops}
        message = {"role": "assistant", "content": written}
        return {"message": message, "finish_reason": "length", "logprobs": {"content": [one]}}

    @property
    def constrained(self) -> list[str]:
        """The field of each request that was held."""
        return [name for body in self.asked for name in FIELDS if name in body]


def judged(tmp_path: Path, chat: Chat, times: int = 1) -> Judgement:
    with listening(chat) as url:
        model = entry(tmp_path, url)
        return [model.judgements([TEXT])[0] for _ in range(times)][-1]


@pytest.mark.parametrize("ignores", [False, True])
@pytest.mark.parametrize("obeys", FIELDS)
def test_its_p_is_the_models_own(tmp_path: Path, obeys: str, ignores: bool) -> None:
    """By whichever field the server is held, and whether it refuses the others or ignores them."""
    chat = Chat(obeys, refuses=not ignores)
    found = judged(tmp_path, chat, times=2)
    assert found.probabilities == pytest.approx((0.04 / 0.54, 0.5 / 0.54))
    assert (found.uncertainty, found.reading) == (0, "top-logprobs")
    assert found.mass == pytest.approx(0.54)
    assert chat.constrained[-2:] == [obeys] * 2  # all labels, then the missing alone
    before = len(set(FIELDS[: FIELDS.index(obeys)])) * (2 if ignores else 1)
    assert len(chat.constrained) == before + 4  # what is of no use is not sent again


@pytest.mark.parametrize("obeys", FIELDS)
def test_log_probabilities_of_the_constrained_tell_nothing(tmp_path: Path, obeys: str) -> None:
    chat = Chat(obeys, raw=False)
    found = judged(tmp_path, chat, times=2)
    assert found.probabilities is None
    assert found.unread is not None
    assert found.unread.code == "label-not-listed"
    assert len(chat.constrained) == len(FIELDS)  # each once


def test_without_its_tokens_a_server_is_held_by_words(tmp_path: Path) -> None:
    chat = Chat("structured_outputs", tokens=False)
    assert judged(tmp_path, chat).probabilities == pytest.approx((0.04 / 0.54, 0.5 / 0.54))
    assert set(chat.constrained) == {"structured_outputs"}


@pytest.mark.parametrize(
    ("recording", "field", "p"),
    [
        ("vllm/0.33/not_listed", "allowed_token_ids", 0.04 / 0.54),
        ("sglang/0.5.23/not_listed", "regex", None),
        ("openai/2026-11/not_listed", "grammar", None),
    ],
)
def test_recorded_shapes(tmp_path: Path, recording: str, field: str, p: float | None) -> None:
    """vLLM's log-probabilities are from before; SGLang's after; OpenAI refuses the fields."""
    double = Recorded(recording)
    with listening(double) as url:
        [found] = entry(tmp_path, url).judgements([TEXT])
    assert any(field in body for body in double.bodies("/v1/chat/completions"))
    if p is None:
        assert found.unread is not None
        assert (found.probabilities, found.unread.code) == (None, "label-not-listed")
    else:
        assert found.probabilities == pytest.approx((p, 1 - p), abs=1e-4)
