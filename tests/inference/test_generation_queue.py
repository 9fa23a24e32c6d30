"""Texts of many callers, written together, are those that each gets alone, whoever fails or goes
away beside it."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from unittest import mock

import pytest
import torch

from services.inference.causal import LocalLanguageModel
from services.inference.generation_batch import GenerationBatch
from services.inference.generation_queue import TOGETHER, TextBatch
from shared.contracts.calls import Completion, Prompt, Sampling
from shared.contracts.errors import JobCancelled, JobStopped, Unavailable
from shared.queue.job_context import JobContext, use_context
from tests.patience import SECONDS, eventually

HEAD = "Is the weather good or bad today? It is good. Yes, the answer is clear. "
TEXTS = [HEAD + tail for tail in ("The garden", "We lost", "People walk slowly", "No,", "rain")]
Asked = tuple[list[Prompt], Sampling]
CALLERS: list[Asked] = [
    ([Prompt(text=text)], Sampling(temperature=heat, top_p=0.9, max_tokens=most, seed=seed))
    for seed, (text, heat, most) in enumerate(
        zip(TEXTS * 2, (0.0, 0.9, 1.5, 0.9, 0.0) * 2, (3, 8, 5, 12, 7) * 2, strict=True)
    )
]
CALLERS.append(([Prompt(text=text) for text in TEXTS], CALLERS[1][1]))
Found = list[Completion] | Exception


def assert_same(found: Found, alone: list[Completion]) -> None:
    """Equal texts and tokens; log-probabilities move by rounding."""
    assert isinstance(found, list)
    for own, other in zip(found, alone, strict=True):
        assert (own.text, own.finish) == (other.text, other.finish)
        assert [token.id for token in own.tokens] == [token.id for token in other.tokens]
        assert [token.logprob for token in own.tokens] == pytest.approx(
            [token.logprob for token in other.tokens], abs=1e-5
        )


def together(
    causal: LocalLanguageModel, contexts: list[JobContext], gone: frozenset[int] = frozenset()
) -> list[Found]:
    """The answers to all callers, who ask while the device is busy; those that are gone are
    cancelled before it is free."""

    def ask(place: int) -> Found:
        try:
            with use_context(contexts[place]):
                return causal.generate(*CALLERS[place])
        except (Unavailable, ZeroDivisionError, JobStopped) as error:
            return error

    queue = causal._generation
    asked = sum(len(prompts) for prompts, _ in CALLERS)

    def waiting() -> bool:  # but those of the pass that waits for the device
        return sum(map(len, queue._waiting.values())) >= asked - TOGETHER and len(calls) == asked

    calls: list[Any] = []
    prompt = causal._prompt

    def counted(one: Prompt) -> Any:
        calls.append(one)
        return prompt(one)

    with ThreadPoolExecutor(len(CALLERS)) as threads, mock.patch.object(causal, "_prompt", counted):
        with causal._causal.lock:
            answers = [threads.submit(ask, place) for place in range(len(CALLERS))]
            eventually(waiting)
            for place in gone:
                contexts[place].cancelled.set()
            eventually(lambda: all(answers[place].done() for place in gone))
        return [answer.result(SECONDS) for answer in answers]


def contexts(batch: Callable[[int], bool] = lambda _: False) -> list[JobContext]:
    return [
        JobContext(f"job_{place}", f"tenant {place % 3}", batch(place), float("inf"))
        for place in range(len(CALLERS))
    ]


def test_texts_are_those_that_each_caller_gets_alone(causal: LocalLanguageModel) -> None:
    alone = [causal.generate(*asked) for asked in CALLERS]
    for _ in range(3):
        found = together(causal, contexts(lambda place: place % 2 == 0))
        for own, other in zip(found, alone, strict=True):
            assert_same(own, other)


def test_callers_share_passes(causal: LocalLanguageModel) -> None:
    rows: list[int] = []
    own = causal._causal.readout.states

    def counted(keep: int, **inputs: Any) -> Any:
        rows.append(len(inputs["input_ids"]))
        return own(keep, **inputs)

    with mock.patch.object(causal._causal.readout, "states", counted):
        together(causal, contexts())
    assert max(rows) > len(CALLERS) // 2
    assert len(rows) < sum(sampling.max_tokens for _, sampling in CALLERS) / 2


def test_who_is_cancelled_leaves_and_the_others_stay(causal: LocalLanguageModel) -> None:
    alone = [causal.generate(*asked) for asked in CALLERS]
    gone = frozenset({1, 4, len(CALLERS) - 1})
    for place, found in enumerate(together(causal, contexts(), gone)):
        if place in gone:
            assert isinstance(found, JobCancelled)
        else:
            assert_same(found, alone[place])
    queue = causal._generation
    eventually(lambda: not queue._batches and not queue._waiting)


def test_only_whose_text_raises_gets_the_error(causal: LocalLanguageModel) -> None:
    alone = [causal.generate(*asked) for asked in CALLERS]
    bad = causal._prompt(CALLERS[3][0][0])

    def step(batch: TextBatch) -> Any:
        if any(draft.text.prompt == bad for draft in batch.drafts):
            raise ZeroDivisionError
        return own(batch)

    own = GenerationBatch.step
    with mock.patch.object(GenerationBatch, "step", step):
        found = together(causal, contexts())
    for (prompts, _), one, other in zip(CALLERS, found, alone, strict=True):
        if CALLERS[3][0][0] in prompts:
            assert isinstance(one, ZeroDivisionError)
        else:
            assert_same(one, other)


def test_where_there_is_no_memory_for_all_some_wait(causal: LocalLanguageModel) -> None:
    alone = [causal.generate(*asked) for asked in CALLERS]

    def step(batch: TextBatch) -> Any:
        if len(batch.drafts) > 3:
            raise torch.OutOfMemoryError
        return own(batch)

    own = GenerationBatch.step
    with mock.patch.object(GenerationBatch, "step", step):
        found = together(causal, contexts())
    for one, other in zip(found, alone, strict=True):
        assert_same(one, other)


def test_who_finds_no_memory_alone_gets_the_error(causal: LocalLanguageModel) -> None:
    def full(batch: TextBatch, drafts: Any) -> Any:
        raise torch.OutOfMemoryError

    with mock.patch.object(GenerationBatch, "add", full):
        found = together(causal, contexts())
    assert all(isinstance(one, Unavailable) for one in found)


def test_no_party_fills_the_batch(causal: LocalLanguageModel) -> None:
    most: list[int] = []
    own = causal._causal.readout.states

    def counted(keep: int, **inputs: Any) -> Any:
        most.append(len(inputs["input_ids"]))
        return own(keep, **inputs)

    prompts = [Prompt(text=TEXTS[place % 5]) for place in range(3 * TOGETHER)]
    with mock.patch.object(causal._causal.readout, "states", counted):
        found = causal.generate(prompts, Sampling(temperature=1.0, max_tokens=4))
    assert len(found) == len(prompts)
    assert max(most) == TOGETHER
