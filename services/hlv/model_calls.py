"""Which prompts go to which judge: every request of a batch, with and without its explanations.

Prompts of all requests are one call a model and sampling, first tokens another, classified pairs a
third.

Rank-rank and Rank-score: what the judge writes, read back; an unreadable answer is asked again.

Source: Chen et al., EMNLP 2025, section 5.1 and Appendix D.

Rank-logits: how likely is each option's letter as the first token of the answer?

Source: Chen et al., EMNLP 2025, Appendix D. Over the letters' single-token spellings ("A", " A"),
found by asking the model itself, so that no token id is written down here. Log-probabilities are
logits up to a constant, which softmax ignores. A classifier answers with its labels instead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import logsumexp

from services.hlv import prompts
from services.hlv.contract import HlvJudge, HlvRequest
from services.hlv.judge_runs import (
    Answered,
    Condition,
    JudgeRun,
    Named,
    collected,
    normalisation,
    runs_of,
)
from services.hlv.kernel import Floats, fractional_ranks, softmax
from services.hlv.prompts import Shown
from services.hlv.report import Method
from services.hlv.variants import VARIANTS
from shared.contracts import ModelUse
from shared.errors import BadInput
from shared.metric import Collected
from shared.models.calls import Completion, Example, Prompt, Sampling
from shared.models.ports import PromptOfRequest, models, written
from shared.models.ports import judge as judge_of
from shared.questions import Inference

Side = dict[Method, list[JudgeRun]]


@dataclass(frozen=True, slots=True, kw_only=True)
class HlvCollected(Collected):
    """A judge's runs, by method; None where the condition was not asked."""

    methods: tuple[Method, ...]
    explained: Side | None
    baseline: Side | None


def gather(requests: Sequence[HlvRequest]) -> list[HlvCollected]:
    """The answers to every request, asked or sent."""
    conditions = [one for place, request in enumerate(requests) for one in _sides(place, request)]
    answered = spoken(conditions) | weighed(conditions) | classified(conditions)
    uses = {name: _use(name) for name in dict.fromkeys(one.model for one in conditions)}
    return [
        _sent(request)
        if request.model is None
        else _asked(place, [one for one in conditions if one.place == place], answered, uses)
        for place, request in enumerate(requests)
    ]


def _sides(place: int, request: HlvRequest) -> Iterator[Condition]:
    if request.model is None:
        return
    kind = models().kind(request.model)
    how = request.judge or HlvJudge()
    if kind == "classifier":
        if request.judge is not None and how.methods != ("logits",):
            raise BadInput("a classifier can only be asked for logits", pointer="/judge/methods")
        how = how.model_copy(update={"methods": ("logits",)})
    if "logits" in how.methods and normalisation(request) != "softmax":
        raise BadInput(
            "a judge answers with log-probabilities, of which |logit| / sum is not defined: send "
            "`predictions` with `logits`, or ask for softmax",
            pointer="/normalisation",
        )
    yield Condition(place, False, request.model, kind, request, how)
    if request.explanations or request.rationale:
        yield Condition(place, True, request.model, kind, request, how)


def _asked(
    place: int,
    conditions: Sequence[Condition],
    answered: Answered,
    uses: dict[str, ModelUse],
) -> HlvCollected:
    methods = conditions[0].judge.methods
    sides: dict[bool, Side] = {
        one.explained: {method: answered[place, one.explained, method] for method in methods}
        for one in conditions
    }
    return HlvCollected(
        methods=methods,
        explained=sides.get(True),
        baseline=sides[False],
        models=(uses[conditions[0].model],),
    )


def _sent(request: HlvRequest) -> HlvCollected:
    sent = request.predictions
    explained = runs_of(sent.explained, request) if sent and sent.explained else None
    baseline = runs_of(sent.baseline, request) if sent and sent.baseline else None
    named = dict.fromkeys([*(explained or {}), *(baseline or {})])
    return HlvCollected(methods=tuple(named), explained=explained, baseline=baseline)


def _use(name: str) -> ModelUse:
    if models().kind(name) == "causal":
        return models().writer(name).use
    return judge_of(models(), name).use


RATED = (1.0, 5.0)  # the scale that the prompt names


@dataclass(frozen=True)
class JudgePrompt:
    """One prompt, how its answer is read, and how often it was asked in vain."""

    condition: Condition
    run: int
    asked: PromptOfRequest
    read: Callable[[str], Any]  # None: unreadable
    option: int | None = None  # of Rank-score


def spoken(conditions: Sequence[Condition]) -> Answered:
    """The runs of every condition that wants `rank` or `score`."""
    lines = [line for condition in conditions for line in _lines(condition)]
    values = _read(lines, written([line.asked for line in lines]))
    again = [
        place
        for place, value in enumerate(values)
        if value is None and lines[place].asked.sampling.temperature > 0
    ]
    retried = written([_reseeded(lines[place].asked) for place in again])
    for place, value in zip(again, _read([lines[p] for p in again], retried), strict=True):
        values[place] = value
    return _runs(lines, values)


def _read(lines: Sequence[JudgePrompt], completions: Sequence[Completion]) -> list[Any]:
    return [line.read(one.text) for line, one in zip(lines, completions, strict=True)]


def _reseeded(asked: PromptOfRequest) -> PromptOfRequest:
    seed = (asked.sampling.seed + 1) % 2**63
    sampling = asked.sampling.model_copy(update={"seed": seed})
    return PromptOfRequest(asked.owner, asked.model, asked.prompt, sampling)


def _lines(condition: Condition) -> Iterator[JudgePrompt]:
    request, how = condition.request, condition.judge
    if condition.kind != "causal":
        return
    several = how.temperature > 0 or how.order == "rotated"
    for run in range(how.runs if several else 1):
        shown = prompts.rotated(request.options, run if how.order == "rotated" else 0)
        block = prompts.rationale(request, shown) if condition.explained else ""
        if "rank" in how.methods:
            text = prompts.rank_prompt(request, shown, block)
            yield JudgePrompt(condition, run, _ask(condition, text), _ranker(request, shown))
        if "score" in how.methods:
            for place, option in enumerate(request.options):
                text = prompts.score_prompt(request, option, block)
                yield JudgePrompt(condition, run, _ask(condition, text), _rater(request), place)


def _ask(condition: Condition, text: str) -> PromptOfRequest:
    how = condition.judge
    sampling = Sampling(
        temperature=how.temperature,
        top_p=how.top_p,
        max_tokens=how.max_tokens,
        seed=condition.request.seed,
    )
    prompt = prompts.as_prompt(text, chat=how.chat)
    return PromptOfRequest(condition.place, condition.model, prompt, sampling)


def _ranker(request: HlvRequest, shown: Shown) -> Callable[[str], list[str] | None]:
    scan = VARIANTS[request.variant].mentioned
    return lambda raw: [shown.meant[letter] for letter in scan(raw, shown.letters)] or None


def _rater(request: HlvRequest) -> Callable[[str], int | None]:
    return VARIANTS[request.variant].rating


def _runs(lines: Sequence[JudgePrompt], values: Sequence[Any]) -> Answered:
    ranked: list[Named] = [
        (line.condition, "rank", _ranking(line.condition.request, value))
        for line, value in zip(lines, values, strict=True)
        if line.option is None
    ]
    rated: dict[tuple[Condition, int], list[float | None]] = {}
    for line, value in zip(lines, values, strict=True):
        if line.option is not None:
            rated.setdefault((line.condition, line.run), []).append(value)
    scored: list[Named] = [
        (condition, "score", _rating(condition.request, row))
        for (condition, _), row in rated.items()
    ]
    return collected([*ranked, *scored])


def _ranking(request: HlvRequest, order: list[str] | None) -> JudgeRun:
    keys = [option.key for option in request.options]
    return JudgeRun(prompts.ranks_of(order or [], keys), valid=order is not None)


def _rating(request: HlvRequest, row: Sequence[float | None]) -> JudgeRun:
    """Ratings 1 to 5, moved onto the scale of the human ratings."""
    low, high = request.human.scale.low, request.human.scale.high
    given = np.array([np.nan if value is None else value for value in row], dtype=np.float64)
    values = low + (given - RATED[0]) / (RATED[1] - RATED[0]) * (high - low)
    whole = not np.isnan(values).any()
    return JudgeRun(fractional_ranks(values) if whole else None, values, valid=bool(whole))


SPELLINGS = ("{}", " {}")


@dataclass(frozen=True)
class LetterChoice:
    """One prompt to choose from the options as shown."""

    condition: Condition
    shown: Shown
    prompt: Prompt


def weighed(conditions: Sequence[Condition]) -> Answered:
    """The runs of every condition that wants `logits` of a language model: one call a model."""
    choices = [choice for condition in conditions for choice in _choices(condition)]
    runs: dict[int, JudgeRun] = {}
    for model in dict.fromkeys(choice.condition.model for choice in choices):
        own = [at for at, choice in enumerate(choices) if choice.condition.model == model]
        answers = _scored(model, [choices[at] for at in own])
        runs.update((at, _run(choices[at], answers[at_own])) for at_own, at in enumerate(own))
    return collected((choice.condition, "logits", runs[at]) for at, choice in enumerate(choices))


def _choices(condition: Condition) -> Iterator[LetterChoice]:
    request, how = condition.request, condition.judge
    if condition.kind != "causal" or "logits" not in how.methods:
        return
    for by in range(len(request.options) if how.order == "rotated" else 1):
        shown = prompts.rotated(request.options, by)
        block = prompts.rationale(request, shown) if condition.explained else ""
        text = prompts.choice_prompt(request, shown, block)
        yield LetterChoice(condition, shown, prompts.as_prompt(text, chat=how.chat))


def _scored(model: str, choices: Sequence[LetterChoice]) -> list[list[list[Completion]]]:
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


def _run(choice: LetterChoice, answers: Sequence[Sequence[Completion]]) -> JudgeRun:
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
    return JudgeRun(fractional_ranks(logs), softmax(logs), mass=mass)


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


def _classified(row: Floats, columns: Sequence[int]) -> JudgeRun:
    share = np.asarray(row, dtype=np.float64)[list(columns)]
    return JudgeRun(fractional_ranks(share), share, mass=1.0)
