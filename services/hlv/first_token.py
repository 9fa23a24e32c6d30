"""Rank-logits: how likely is each option's letter as the first token of the answer?

Source: Chen et al., EMNLP 2025, Appendix D. Over the letters' single-token spellings ("A", " A"),
found by asking the model itself, so that no token id is written down here. Log-probabilities are
logits up to a constant, which softmax ignores. A classifier answers with its labels instead.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp

from services.hlv import prompts
from services.hlv.condition import Answered, Condition, collected
from services.hlv.kernel import Floats, fractional_ranks, softmax
from services.hlv.prompts import Shown
from services.hlv.saying import Run
from shared.errors import BadInput
from shared.models.calls import Completion, Example, Prompt
from shared.models.ports import models
from shared.questions import Inference

SPELLINGS = ("{}", " {}")


@dataclass(frozen=True)
class Choice:
    """One prompt to choose from the options as shown."""

    condition: Condition
    shown: Shown
    prompt: Prompt


def weighed(conditions: Sequence[Condition]) -> Answered:
    """The runs of every condition that wants `logits` of a language model: one call a model."""
    choices = [choice for condition in conditions for choice in _choices(condition)]
    runs: dict[int, Run] = {}
    for model in dict.fromkeys(choice.condition.model for choice in choices):
        own = [at for at, choice in enumerate(choices) if choice.condition.model == model]
        answers = _scored(model, [choices[at] for at in own])
        runs.update((at, _run(choices[at], answers[at_own])) for at_own, at in enumerate(own))
    return collected((choice.condition, "logits", runs[at]) for at, choice in enumerate(choices))


def _choices(condition: Condition) -> Iterator[Choice]:
    request, how = condition.request, condition.judge
    if condition.kind != "causal" or "logits" not in how.methods:
        return
    for by in range(len(request.options) if how.order == "rotated" else 1):
        shown = prompts.rotated(request.options, by)
        block = prompts.rationale(request, shown) if condition.explained else ""
        text = prompts.choice_prompt(request, shown, block)
        yield Choice(condition, shown, prompts.as_prompt(text, chat=how.chat))


def _scored(model: str, choices: Sequence[Choice]) -> list[list[list[Completion]]]:
    """Per choice and letter, each spelling's completion with its log-probabilities."""
    asked = [
        (choice.prompt, spelling.format(letter))
        for choice in choices
        for letter in choice.shown.letters
        for spelling in SPELLINGS
    ]
    scored = models().writer(model).score([prompt for prompt, _ in asked], [w for _, w in asked])
    answers = iter(scored)
    return [
        [[next(answers) for _ in SPELLINGS] for _ in choice.shown.letters] for choice in choices
    ]


def _run(choice: Choice, answers: Sequence[Sequence[Completion]]) -> Run:
    shown = dict(zip(choice.shown.letters, map(_log_mass, answers), strict=True))
    if None in shown.values():
        letter = next(letter for letter, value in shown.items() if value is None)
        raise BadInput(
            f"{choice.condition.model!r} writes the letter {letter} with more than one token: "
            "ask it by `rank` or `score`",
            pointer="/judge/methods",
        )
    keys = [option.key for option in choice.condition.request.options]
    logs = np.array([shown[choice.shown.letter(key)] for key in keys], dtype=np.float64)
    mass = min(1.0, float(np.exp(logsumexp(logs))))
    return Run(fractional_ranks(logs), softmax(logs), mass=mass)


def _log_mass(spelled: Sequence[Completion]) -> float | None:
    """Log-probability that the answer begins with this letter; None: no single token is it.

    Two spellings that are one token (as in vocabularies that put a space before every word) count
    once.
    """
    single = {
        (one.tokens[0].id, one.tokens[0].logprob): one.tokens[0].logprob
        for one in spelled
        if len(one.tokens) == 1
    }
    return float(logsumexp(list(single.values()))) if single else None


def classified(conditions: Sequence[Condition]) -> Answered:
    """The runs of every condition that asks a classifier of inference: one call a model."""
    own = [condition for condition in conditions if condition.kind == "classifier"]
    answered: Answered = {}
    for model in dict.fromkeys(condition.model for condition in own):
        asked = [condition for condition in own if condition.model == model]
        judge = models().classifier(model)
        columns = [_columns(judge.labels, condition) for condition in asked]
        rows = judge.judge([_example(condition) for condition in asked])
        runs = [_classified(row, column) for row, column in zip(rows, columns, strict=True)]
        answered |= collected(
            (condition, "logits", run) for condition, run in zip(asked, runs, strict=True)
        )
    return answered


def _columns(labels: Sequence[str], condition: Condition) -> list[int]:
    names = [label.casefold() for label in labels]
    texts = [option.text.casefold() for option in condition.request.options]
    if sorted(names) != sorted(texts):
        raise BadInput(
            f"the options are not the labels of {condition.model!r}: {', '.join(labels)}",
            pointer="/options",
        )
    return [names.index(text) for text in texts]


def _example(condition: Condition) -> Example:
    """Premise and hypothesis. Raises BadInput where there is more to read than these."""
    question = condition.request.question
    if condition.explained:
        raise BadInput(
            "a classifier was not made to read explanations (true ones lead it astray): name a "
            "language model as the judge",
            pointer="/explanations" if condition.request.explanations else "/rationale",
        )
    if not isinstance(question, Inference):
        raise BadInput(
            "a classifier judges a premise and a hypothesis; for other questions name a language "
            "model",
            pointer="/question",
        )
    return Example(text=question.premise, text_pair=question.hypothesis)


def _classified(row: Floats, columns: Sequence[int]) -> Run:
    share = np.asarray(row, dtype=np.float64)[list(columns)]
    return Run(fractional_ranks(share), share, mass=1.0)
