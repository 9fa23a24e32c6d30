"""Recorded chats: Ollama's own log-probabilities, reasoning that is kept, a guard's categories."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from math import exp
from pathlib import Path
from typing import Any

import pytest

from shared.contracts.calls import Example, Prompt, Sampling, Turn
from shared.contracts.judgement import Judgement
from shared.contracts.prompt_table import PromptTable
from shared.models.catalogue.catalogue import load_catalogue
from shared.models.guard_categories import with_only_category
from shared.models.openai.model import ServedLanguageModel
from tests.shared.models.openai.recorded import Recorded
from tests.shared.models.openai.stub import listening

GUARD = """
[models.prompt]
user = "{text}"
verbalizers = { hateful = ["unsafe"], "non-hateful" = ["safe"] }
"""
PRESET = 'preset = "llama-guard-3"'
PROMPT = Prompt(turns=(Turn(role="user", content="What a lovely town"),))
TEXT = Example(text="What a lovely town")
CHAT, NATIVE = "/v1/chat/completions", "/api/chat"
Opens = Callable[..., tuple[Recorded, ServedLanguageModel]]


@pytest.fixture
def opens(tmp_path: Path) -> Iterator[Opens]:
    """A double of a recording, and the model behind it."""
    with ExitStack() as stack:

        def make(name: str, more: str = GUARD) -> tuple[Recorded, ServedLanguageModel]:
            double = Recorded(name)
            url = stack.enter_context(listening(double))
            file = tmp_path / "models.toml"
            entry = f'[[models]]\nname = "m"\nsource = "openai:{url}"\n{more}'
            file.write_text(f"schema = 2\n{entry}\n", "utf-8")
            return double, ServedLanguageModel(load_catalogue(file).entry("m"))

        yield make


def test_ollamas_own_chat_tells_what_its_other_one_keeps(opens: Opens) -> None:
    double, model = opens("ollama/0.12.11/native")
    [judged] = model.judgements([TEXT])
    shares = exp(-1.203973), exp(-0.356675)
    assert judged.probabilities == pytest.approx([one / sum(shares) for one in shares])
    assert judged.reading == "top-logprobs"
    assert judged.mass == pytest.approx(sum(shares))
    sent: dict[str, Any] = double.bodies(NATIVE)[0]
    assert (sent["stream"], sent["logprobs"], sent["top_logprobs"]) == (False, True, 20)
    assert sent["options"]["temperature"] == 0
    assert sent["options"]["num_predict"] == 9
    before = len(double.bodies(CHAT))
    model.judgements([TEXT])
    assert len(double.bodies(CHAT)) == before  # it is known where to ask


def test_a_raw_prompt_is_continued_by_ollamas_own_way_too(opens: Opens) -> None:
    double, model = opens("ollama/0.12.11/native", f'{GUARD}style = "raw"')
    [judged] = model.judgements([TEXT])
    assert judged.probabilities is not None
    assert judged.probabilities[0] == pytest.approx(exp(-1.203973), abs=0.01)
    [sent] = double.bodies("/api/generate")
    assert (sent["raw"], sent["prompt"]) == (True, TEXT.text)


def test_an_older_ollama_has_none_anywhere(opens: Opens) -> None:
    double, model = opens("ollama/0.11/silent")
    [judged] = model.judgements([TEXT])
    assert judged.unread is not None
    assert judged.unread.code == "no-logprobs"
    assert len(double.bodies(NATIVE)) == 1
    model.judgements([TEXT])
    assert len(double.bodies(NATIVE)) == 1


@pytest.mark.parametrize("kept", [False, True])
def test_reasoning_is_kept_where_the_entry_says_so(opens: Opens, kept: bool) -> None:
    _, model = opens("vllm/0.33/reasoning", f"keep_reasoning = {str(kept).lower()}")
    [done] = model.generate([PROMPT], Sampling(temperature=0))
    assert bool(done.reasoning) is kept
    assert (done.reasoning or "?") not in done.text
    assert ("reasoning" in done.model_dump()) is kept


def test_a_guard_names_categories_and_they_are_no_part_of_p(opens: Opens) -> None:
    double, model = opens("vllm/0.33/guard", PRESET)
    asked = Example(text="What a town", categories=True)
    plain, named = model.judgements([TEXT, asked])
    assert named.categories == {"S1": "Violent Crimes", "S10": "Hate"}
    assert plain.categories == {}
    assert named.probabilities == plain.probabilities
    whole = [body for body in double.bodies(CHAT) if body.get("max_completion_tokens") == 48]
    assert len(whole) == 1
    assert all(turn["role"] != "system" for turn in whole[0]["messages"])


def test_the_only_category_is_what_the_guard_was_asked_about(opens: Opens) -> None:
    _, model = opens("vllm/0.33/guard", f'{GUARD}categories = {{ social_bias = "Social bias" }}')
    [judged] = model.judgements([Example(text="What a town", categories=True)])
    assert judged.categories == {"social_bias": "Social bias"}


@pytest.mark.parametrize(
    ("least", "named"),
    [
        ({}, True),
        ({"hateful": 0.9}, False),
        ({"hateful": 0.5}, True),
        ({"non-hateful": 0.4}, False),
    ],
)
def test_the_only_category_is_named_where_the_entry_decides_for_it(
    least: dict[str, float], named: bool
) -> None:
    table = PromptTable(
        user="{text}",
        verbalizers={"hateful": ["yes"], "non-hateful": ["no"]},
        categories={"social_bias": "Social bias"},
    )
    judged = Judgement(
        labels=("hateful", "non-hateful"), probabilities=(0.55, 0.45), reading="verbalizers"
    )
    assert bool(with_only_category(judged, table, least).categories) is named


def test_tgi_lists_five_tokens_and_calls_them_otherwise(opens: Opens) -> None:
    double, model = opens("tgi/3.3/five_tokens")
    [judged] = model.judgements([TEXT])
    assert judged.probabilities == pytest.approx((exp(-2.525729), exp(-0.105361)), abs=0.03)
    assert judged.mass == pytest.approx(exp(-2.525729) + exp(-0.105361))
    model.judgements([TEXT])
    asked = [body.get("top_logprobs") for body in double.bodies(CHAT) if "logprobs" in body]
    assert asked.count(20) == 1  # then it is known
