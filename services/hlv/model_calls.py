"""The judges' answers to a batch: written rankings and scores, first tokens, labels.

Source: Chen et al., EMNLP 2025, section 5.1 and Appendix D. The prompts of all requests, with and
without their explanations, are one call a model and sampling, first tokens another, options that
are a judge's labels (`option_labels`) a third.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from scipy.special import logsumexp

from services.hlv import prompts
from services.hlv.contract import HlvJudge, HlvRequest
from services.hlv.judge_runs import (
    Condition,
    ConditionRun,
    JudgeRun,
    MethodRuns,
    RunsOfConditions,
    group_runs,
    normalisation,
    runs_from_request,
)
from services.hlv.kernel import fractional_ranks, softmax
from services.hlv.option_labels import (
    SPELLINGS,
    OptionPredictions,
    is_classification,
    predict_options,
)
from services.hlv.prompts import OptionLetters
from services.hlv.report import Method
from services.hlv.variants import VARIANTS
from shared.contracts.calls import Completion, Prompt, Sampling
from shared.contracts.errors import BadInput
from shared.contracts.messages import ModelUse
from shared.models.ports import PromptOfRequest, generate, models
from shared.reports.metric import Collected
from shared.text.language import ModelLanguages

RATED = (1.0, 5.0)  # the scale that the prompt names


@dataclass(frozen=True, slots=True, kw_only=True)
class HlvCollected(Collected):
    """A judge's runs, by method; None where there is no such condition."""

    methods: tuple[Method, ...]
    explained: MethodRuns | None
    baseline: MethodRuns | None


def run_judges(requests: Sequence[HlvRequest]) -> list[HlvCollected]:
    """The answers to every request: a model's, or those that the caller brings."""
    conditions = [
        one for place, request in enumerate(requests) for one in _conditions(place, request)
    ]
    judged = predict_options(conditions)
    runs = generated_runs(conditions) | letter_runs(conditions) | judged.runs
    uses = {name: _use(name) for name in dict.fromkeys(one.model for one in conditions)}
    found = [_from_request(request) for request in requests]
    for place in dict.fromkeys(one.place for one in conditions):
        own = [one for one in conditions if one.place == place]
        found[place] = _with_warnings(place, _of_model(own, runs, uses), judged)
    return found


def _with_warnings(place: int, collected: HlvCollected, judged: OptionPredictions) -> HlvCollected:
    """With what the judge port said of this request beside P."""
    if (sha256 := judged.sha256.get(place)) is not None:
        uses = tuple(use.model_copy(update={"prompt_sha256": sha256}) for use in collected.models)
        collected = replace(collected, models=uses)
    obstacle = judged.obstacles.get(place)
    return replace(
        collected,
        warnings=judged.doubts.get(place, ()),
        obstacles=(obstacle,) if obstacle else (),
    )


def _conditions(place: int, request: HlvRequest) -> Iterator[Condition]:
    if request.model is None:
        return
    kind = models().kind(request.model)
    settings = request.judge or HlvJudge()
    if kind == "classifier" or request.prompt is not None:
        if request.judge is not None and settings.methods != ("logits",):
            who = "a classifier" if kind == "classifier" else "a judge that `prompt` asks"
            raise BadInput(f"{who} gives only logits", pointer="/judge/methods")
        settings = settings.model_copy(update={"methods": ("logits",)})
    if "logits" in settings.methods and normalisation(request) != "softmax":
        raise BadInput(
            "a judge answers with log-probabilities, of which |logit| / sum is not defined: send "
            "`predictions` with `logits`, or ask for softmax",
            pointer="/normalisation",
        )
    yield Condition(place, False, request.model, kind, request, settings)
    if request.explanations or request.rationale:
        yield Condition(place, True, request.model, kind, request, settings)


def _of_model(
    conditions: Sequence[Condition], runs: RunsOfConditions, uses: dict[str, ModelUse]
) -> HlvCollected:
    methods = conditions[0].judge.methods
    sides: dict[bool, MethodRuns] = {
        one.explained: {method: runs[one.place, one.explained, method] for method in methods}
        for one in conditions
    }
    return HlvCollected(
        methods=methods,
        explained=sides.get(True),
        baseline=sides[False],
        models=(uses[conditions[0].model],),
    )


def _from_request(request: HlvRequest) -> HlvCollected:
    given = request.predictions
    explained = runs_from_request(given.explained, request) if given and given.explained else None
    baseline = runs_from_request(given.baseline, request) if given and given.baseline else None
    methods = dict.fromkeys([*(explained or {}), *(baseline or {})])
    return HlvCollected(methods=tuple(methods), explained=explained, baseline=baseline)


def model_languages(name: str) -> ModelLanguages:
    if models().kind(name) == "causal":
        return ModelLanguages(name, models().writer(name).languages)
    return ModelLanguages(name, models().judge(name).languages)


def _use(name: str) -> ModelUse:
    if models().kind(name) == "causal":
        return models().writer(name).use
    return models().judge(name).use


@dataclass(frozen=True)
class JudgePrompt:
    """One prompt, and how its answer is parsed."""

    condition: Condition
    run: int
    prompt: PromptOfRequest
    parse: Callable[[str], Any]  # None: unreadable
    option: int | None = None  # of Rank-score


def generated_runs(conditions: Sequence[Condition]) -> RunsOfConditions:
    """Rank-rank and Rank-score: an unreadable answer is drawn once more, with another seed."""
    lines = [line for condition in conditions for line in _judge_prompts(condition)]
    values = _parse(lines, generate([line.prompt for line in lines]))
    again = [
        place
        for place, value in enumerate(values)
        if value is None and lines[place].prompt.sampling.temperature > 0
    ]
    retried = generate([_with_next_seed(lines[place].prompt) for place in again])
    for place, value in zip(again, _parse([lines[p] for p in again], retried), strict=True):
        values[place] = value
    return _runs(lines, values)


def _parse(lines: Sequence[JudgePrompt], completions: Sequence[Completion]) -> list[Any]:
    return [line.parse(one.text) for line, one in zip(lines, completions, strict=True)]


def _with_next_seed(prompt: PromptOfRequest) -> PromptOfRequest:
    seed = (prompt.sampling.seed + 1) % 2**63
    return replace(prompt, sampling=prompt.sampling.model_copy(update={"seed": seed}))


def _judge_prompts(condition: Condition) -> Iterator[JudgePrompt]:
    request, settings = condition.request, condition.judge
    if is_classification(condition):
        return
    variant = VARIANTS[request.variant]
    several = settings.temperature > 0 or settings.order == "rotated"
    for run in range(settings.runs if several else 1):
        lettered = prompts.rotate_options(
            request.options, run if settings.order == "rotated" else 0
        )
        block = prompts.rationale(request, lettered) if condition.explained else ""
        if "rank" in settings.methods:
            prompt = _prompt(condition, prompts.rank_prompt(request, lettered, block))
            parse = partial(_ranking_of, lettered, variant.mentioned)
            yield JudgePrompt(condition, run, prompt, parse)
        if "score" in settings.methods:
            for place, option in enumerate(request.options):
                prompt = _prompt(condition, prompts.score_prompt(request, option, block))
                yield JudgePrompt(condition, run, prompt, variant.rating, place)


def _prompt(condition: Condition, text: str) -> PromptOfRequest:
    settings = condition.judge
    sampling = Sampling(
        temperature=settings.temperature,
        top_p=settings.top_p,
        max_tokens=settings.max_tokens,
        seed=condition.request.seed,
    )
    prompt = prompts.as_prompt(text, chat=settings.chat)
    return PromptOfRequest(condition.place, condition.model, prompt, sampling)


def _ranking_of(
    lettered: OptionLetters, mentioned: Callable[[str, Sequence[str]], list[str]], raw: str
) -> list[str] | None:
    return [lettered.keys[letter] for letter in mentioned(raw, lettered.letters)] or None


def _runs(lines: Sequence[JudgePrompt], values: Sequence[Any]) -> RunsOfConditions:
    runs: list[ConditionRun] = []
    rated: dict[tuple[Condition, int], list[float | None]] = {}
    for line, value in zip(lines, values, strict=True):
        if line.option is None:
            runs.append((line.condition, "rank", _ranking(line.condition.request, value)))
        else:
            rated.setdefault((line.condition, line.run), []).append(value)
    for (condition, _), row in rated.items():
        runs.append((condition, "score", _rating(condition.request, row)))
    return group_runs(runs)


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


@dataclass(frozen=True)
class LetterChoice:
    """One prompt to choose from lettered options."""

    condition: Condition
    lettered: OptionLetters
    prompt: Prompt


def letter_runs(conditions: Sequence[Condition]) -> RunsOfConditions:
    """Rank-logits: the probability of each option's letter as the first token of the answer.

    Over the letters' single-token spellings ("A", " A"), found by the model itself, so that no
    token id is written down here. Log-probabilities are logits up to a constant, which softmax
    ignores.
    """
    choices = [choice for condition in conditions for choice in _choices(condition)]
    runs: dict[int, JudgeRun] = {}
    for model in dict.fromkeys(choice.condition.model for choice in choices):
        own = [at for at, choice in enumerate(choices) if choice.condition.model == model]
        answers = _score_letters(model, [choices[at] for at in own])
        runs |= {at: _letter_run(choices[at], row) for at, row in zip(own, answers, strict=True)}
    return group_runs((choice.condition, "logits", runs[at]) for at, choice in enumerate(choices))


def _choices(condition: Condition) -> Iterator[LetterChoice]:
    request, settings = condition.request, condition.judge
    if is_classification(condition) or "logits" not in settings.methods:
        return
    for by in range(len(request.options) if settings.order == "rotated" else 1):
        lettered = prompts.rotate_options(request.options, by)
        block = prompts.rationale(request, lettered) if condition.explained else ""
        text = prompts.choice_prompt(request, lettered, block)
        yield LetterChoice(condition, lettered, prompts.as_prompt(text, chat=settings.chat))


def _score_letters(model: str, choices: Sequence[LetterChoice]) -> list[list[list[Completion]]]:
    """Per choice and letter, each spelling's completion with its log-probabilities."""
    pairs = [
        (choice.prompt, spelling.format(letter))
        for choice in choices
        for letter in choice.lettered.letters
        for spelling in SPELLINGS
    ]
    writer = models().writer(model)
    answers = iter(writer.score([prompt for prompt, _ in pairs], [answer for _, answer in pairs]))
    return [
        [[next(answers) for _ in SPELLINGS] for _ in choice.lettered.letters] for choice in choices
    ]


def _letter_run(choice: LetterChoice, answers: Sequence[Sequence[Completion]]) -> JudgeRun:
    masses = dict(zip(choice.lettered.letters, map(_log_probability, answers), strict=True))
    if None in masses.values():
        letter = next(letter for letter, value in masses.items() if value is None)
        raise BadInput(
            f"{choice.condition.model!r} writes the letter {letter} with more than one token: "
            "ask it by `rank` or `score`",
            pointer="/judge/methods",
        )
    keys = [option.key for option in choice.condition.request.options]
    logs = np.array([masses[choice.lettered.letter(key)] for key in keys], dtype=np.float64)
    mass = min(1.0, float(np.exp(logsumexp(logs))))
    return JudgeRun(fractional_ranks(logs), softmax(logs), mass=mass)


def _log_probability(spellings: Sequence[Completion]) -> float | None:
    """Log-probability that the answer begins with this letter; None: no single token is it.

    Two spellings that are one token (as in vocabularies that put a space before every word) count
    once.
    """
    single = {
        (one.tokens[0].id, one.tokens[0].logprob): one.tokens[0].logprob
        for one in spellings
        if len(one.tokens) == 1
    }
    return float(logsumexp(list(single.values()))) if single else None
