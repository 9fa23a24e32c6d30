"""Generation repeats with its seed and is nobody else's; scores are those of a plain loop."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from services.inference.causal import LocalLanguageModel
from services.inference.generated_text import GeneratedText, prompt_generator
from services.inference.generation_batch import draw
from shared.contracts.calls import Prompt, Sampling, Turn
from shared.contracts.errors import BadInput
from tests.inference.loops import log_probabilities, next_logits
from tests.inference.shapes import READS

TEXTS = ["The garden was", "Is the weather good or bad today? It", "café", "Yes, the answer is"]
PROMPTS = [Prompt(text=text) for text in TEXTS]
COMPLETION = " green after the rain. Café 🙂"
WARM = Sampling(temperature=0.9, top_p=0.9, max_tokens=12, seed=7)


def ids_of(model: Any, text: str, **more: Any) -> list[int]:
    return list(model._weights.tokenizer(text, **more)["input_ids"])


def test_scores_are_those_of_a_loop(causal: LocalLanguageModel) -> None:
    prompts = [*PROMPTS, PROMPTS[0], PROMPTS[0], PROMPTS[0], PROMPTS[1]]
    written = [COMPLETION] * 4 + [" the", " green", " rain or wind", ""]
    for prompt, text, scored in zip(prompts, written, causal.score(prompts, written), strict=True):
        before = ids_of(causal, prompt.text or "")
        after = ids_of(causal, text, add_special_tokens=False)
        assert (scored.text, scored.finish) == (text, "given")
        assert [token.id for token in scored.tokens] == after
        oracle = log_probabilities(causal._weights.model, before, after)
        assert [token.logprob for token in scored.tokens] == pytest.approx(oracle, abs=1e-5)
        assert all(0 <= token.start <= token.end <= len(text) for token in scored.tokens)
        assert "".join(text[t.start : t.end] for t in scored.tokens[:3]).strip() in text


def test_prompts_that_begin_alike_are_scored_as_alone(causal: LocalLanguageModel) -> None:
    """One goes on where another ended, in any order, and a short one after a long one."""
    head = "Is the weather good or bad today? It is good. "
    texts = [head, head + "The garden", head + "The town is lovely", head[:30], "No", head + "The"]
    for order in (texts, texts[::-1], texts[2:] + texts[:2]):
        prompts = [Prompt(text=text) for text in order for _ in range(3)]
        written = [" good", " the", " zebra"] * len(order)
        found = causal.score(prompts, written)
        for prompt, text, scored in zip(prompts, written, found, strict=True):
            before = ids_of(causal, prompt.text or "")
            after = ids_of(causal, text, add_special_tokens=False)
            oracle = log_probabilities(causal._weights.model, before, after)
            assert [token.logprob for token in scored.tokens] == pytest.approx(oracle, abs=1e-5)


def test_greedy_text_is_the_loops_and_its_log_probabilities_the_models(
    causal: LocalLanguageModel,
) -> None:
    sampling = Sampling(temperature=0, max_tokens=10)
    for prompt, done in zip(PROMPTS, causal.generate(PROMPTS, sampling), strict=True):
        before = ids_of(causal, prompt.text or "")
        ids: list[int] = []
        while len(ids) < 10:
            token = int(np.argmax(next_logits(causal._weights.model, before + ids)))
            if token == 2:
                break
            ids.append(token)
        assert [token.id for token in done.tokens] == ids
        assert done.finish == ("length" if len(ids) == 10 else "stop")
        assert [token.logprob for token in done.tokens] == pytest.approx(
            log_probabilities(causal._weights.model, before, ids), abs=1e-5
        )
        assert done.text == causal._weights.tokenizer.decode(ids, skip_special_tokens=True)


def test_a_seed_repeats_and_other_prompts_change_nothing(causal: LocalLanguageModel) -> None:
    together = causal.generate(PROMPTS, WARM)
    again = causal.generate(PROMPTS, WARM)
    assert together == again
    others = causal.generate([PROMPTS[0], Prompt(text="rain " * 30), PROMPTS[2]], WARM)
    for place in (0, 2):
        assert others[place].text == together[place].text
        assert [t.logprob for t in others[place].tokens] == pytest.approx(
            [t.logprob for t in together[place].tokens], abs=1e-5
        )
    assert causal.generate([PROMPTS[0]], WARM)[0].text == together[0].text
    same = causal.generate([PROMPTS[0]] * 6, WARM)
    assert len({done.text for done in same}) > 1  # each place has draws of its own
    assert causal.generate(PROMPTS, WARM.model_copy(update={"seed": 8})) != together


def test_a_prompt_with_draws_of_its_own_is_drawn_alike_anywhere(
    causal: LocalLanguageModel,
) -> None:
    numbered = [prompt.model_copy(update={"draw": 40 + n}) for n, prompt in enumerate(PROMPTS)]
    together = causal.generate(numbered, WARM)
    for prompt, done in zip(numbered, together, strict=True):
        assert causal.generate([prompt], WARM)[0].text == done.text
    backwards = causal.generate(numbered[::-1], WARM)
    assert [done.text for done in backwards[::-1]] == [done.text for done in together]
    assert [done.text for done in causal.generate(PROMPTS, WARM)] != [
        done.text for done in together
    ]


def test_tokens_cover_the_text_in_order(causal: LocalLanguageModel) -> None:
    for done in causal.generate(PROMPTS, WARM.model_copy(update={"max_tokens": 30})):
        assert "".join(done.text[token.start : token.end] for token in done.tokens) == done.text


def test_a_stop_string_ends_and_is_cut(causal: LocalLanguageModel) -> None:
    whole = causal.generate([PROMPTS[0]], WARM)[0]
    stop = whole.text[4:7]
    cut = causal.generate([PROMPTS[0]], WARM.model_copy(update={"stop": (stop,)}))[0]
    assert cut.text == whole.text[: whole.text.index(stop)]
    assert cut.finish == "stop"
    assert all(token.end <= len(cut.text) for token in cut.tokens)


def test_generation_ends_where_the_model_stops_reading(causal: LocalLanguageModel) -> None:
    near = Prompt(text="".join(chr(97 + n % 26) for n in range(85)))
    done = causal.generate([near], Sampling(temperature=2, max_tokens=500))[0]
    before = len(ids_of(causal, near.text or ""))
    assert done.finish == "stop" or before + len(done.tokens) == READS
    with pytest.raises(BadInput):
        causal.generate([Prompt(text="qzx " * 90)], WARM)


def test_turns_go_through_the_models_own_template(causal: LocalLanguageModel) -> None:
    turns = Prompt(turns=(Turn(role="user", content="Is it good?"),))
    if causal._weights.tokenizer.chat_template is None:
        with pytest.raises(BadInput, match="no chat template"):
            causal.generate([turns], WARM)
        return
    spelled = causal._weights.tokenizer("<user> Is it good?\n<assistant>", add_special_tokens=False)
    after = ids_of(causal, " Yes", add_special_tokens=False)
    scored = causal.score([turns], [" Yes"])[0]
    assert [token.logprob for token in scored.tokens] == pytest.approx(
        log_probabilities(causal._weights.model, spelled["input_ids"], after), abs=1e-5
    )


def test_draws_follow_the_nucleus() -> None:
    logits = torch.tensor([[2.0, 1.0, 0.0, -1.0]]).repeat(4000, 1)
    uniforms = torch.rand(4000, generator=prompt_generator(0, 0), dtype=torch.float64)
    tokens = draw(logits, Sampling(temperature=0.5, top_p=0.9), uniforms)
    shares = torch.softmax(logits[0].double() / 0.5, dim=0)[:2]  # 0.865 and 0.117 reach 0.9
    assert set(tokens.tolist()) == {0, 1}
    assert float((tokens == 0).double().mean()) == pytest.approx(
        float(shares[0] / shares.sum()), abs=0.02
    )


def test_a_character_of_several_tokens_is_one_span(causal: LocalLanguageModel) -> None:
    ids = ids_of(causal, "a🙂b", add_special_tokens=False)
    draft = GeneratedText((1,), causal._encoder, prompt_generator(0, 0))
    for token in ids:
        draft.add(token, -1.0, ())
    draft.end("length")
    done = draft.completion()
    assert done.text == "a🙂b"
    assert [done.text[t.start : t.end] for t in done.tokens if t.end > t.start] == ["a", "🙂", "b"]
