"""The judges' answers to a batch: written rankings and scores, first tokens, labels.

Source: Chen et al., EMNLP 2025, section 5.1 and Appendix D. The prompts of all requests, with and
without
their explanations, are one call per model and sampling, first tokens another, options that are the
labels of a judge a third.

P of the options as labels: a classifier reads a premise and a hypothesis. A causal model or a chat
server that a `prompt` asks reads the same where it shows them, else the question as Table 6 has it,
in the place of `{text}`. Its labels are the letters of the options unless the prompt names others.
Source: specs "models" §1.3, §4.1.
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
from services.hlv.kernel import fractional_ranks, softmax
from services.hlv.prompts import OptionLetters
from services.hlv.report import Method
from services.hlv.scoring import (
    Condition,
    ConditionRun,
    JudgeRun,
    MethodRuns,
    RunsOfConditions,
    group_runs,
    normalisation,
    runs_from_request,
)
from services.hlv.variants import VARIANTS
from shared.contracts.calls import Completion, Example, Prompt, Sampling
from shared.contracts.errors import BadInput, pointing_to
from shared.contracts.judgement import Judgement, text_cut
from shared.contracts.prompt_table import PromptKeys, placeholders
from shared.contracts.questions import NliQuestion
from shared.models.ports import Judge, PromptOfRequest, Writer, generate, models
from shared.reports.metric import Collected
from shared.text.language import ModelLanguages, Obstacle

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
    uses = {name: _model(name).use for name in dict.fromkeys(one.model for one in conditions)}
    found = [_from_request(request) for request in requests]
    for place in dict.fromkeys(one.place for one in conditions):
        own = [one for one in conditions if one.place == place]
        methods = own[0].judge.methods
        sides: dict[bool, MethodRuns] = {
            one.explained: {method: runs[one.place, one.explained, method] for method in methods}
            for one in own
        }
        found[place] = _with_warnings(
            place,
            HlvCollected(
                methods=methods,
                explained=sides.get(True),
                baseline=sides[False],
                models=(uses[own[0].model],),
            ),
            judged,
        )
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


def _from_request(request: HlvRequest) -> HlvCollected:
    given = request.predictions
    explained = runs_from_request(given.explained, request) if given and given.explained else None
    baseline = runs_from_request(given.baseline, request) if given and given.baseline else None
    methods = dict.fromkeys([*(explained or {}), *(baseline or {})])
    return HlvCollected(methods=tuple(methods), explained=explained, baseline=baseline)


def model_languages(name: str) -> ModelLanguages:
    return ModelLanguages(name, _model(name).languages)


def _model(name: str) -> Writer | Judge:
    return models().writer(name) if models().kind(name) == "causal" else models().judge(name)


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


OF_THE_PROMPT = ("/template", "/template/verbalizers")  # where models point to for theirs
PAIR = frozenset({"premise", "hypothesis"})
SPELLINGS = ("{}", " {}")  # of an option's letter
WHOLE = "{text}"
EXPLAINED = {
    "classifier": "a classifier was not made to read explanations (true ones lead it astray): name "
    "a language model as the judge",
    "causal": "the prompt shows a premise and a hypothesis, and no explanations: use {text}",
}
NO_PAIR = {
    "classifier": "a classifier judges a premise and a hypothesis; for other questions name a "
    "language model",
    "causal": "the prompt shows {premise} and {hypothesis}, which the question does not have: use "
    "{text}",
}


@dataclass(frozen=True)
class OptionExample:
    """One example whose labels are the options."""

    condition: Condition
    lettered: OptionLetters
    example: Example


@dataclass(frozen=True)
class OptionPredictions:
    """By place of the request: why it has no P at all, what there is to doubt, and the hash of its
    own prompt."""

    runs: RunsOfConditions
    obstacles: dict[int, Obstacle]
    doubts: dict[int, tuple[str, ...]]
    sha256: dict[int, str]


def predict_options(conditions: Sequence[Condition]) -> OptionPredictions:
    """Of the conditions that are read so; one call a model."""
    asked = [one for condition in conditions for one in _expand_condition(condition)]
    told: list[tuple[OptionExample, Judgement]] = []
    for model in dict.fromkeys(one.condition.model for one in asked):
        own = [one for one in asked if one.condition.model == model]
        with pointing_to("/prompt", only=OF_THE_PROMPT):
            judge = models().judge(model)
            found = judge.judgements([one.example for one in own])
        told += zip(own, found, strict=True)
    runs = group_runs((one.condition, "logits", _option_run(one, judged)) for one, judged in told)
    return OptionPredictions(
        runs=runs,
        obstacles=_obstacles(told, runs),
        doubts=_cut_warnings(told),
        sha256={one.condition.place: sha for one, found in told if (sha := found.prompt_sha256)},
    )


def is_classification(condition: Condition) -> bool:
    """Whether the options are labels of the judge, so that nothing is written."""
    return condition.kind == "classifier" or condition.request.prompt is not None


def _expand_condition(condition: Condition) -> Iterator[OptionExample]:
    if not is_classification(condition):
        return
    request = condition.request
    if request.prompt is None or placeholders(request.prompt.user) & PAIR:
        yield OptionExample(condition, prompts.rotate_options(request.options, 0), _pair(condition))
        return
    for by in range(len(request.options) if condition.judge.order == "rotated" else 1):
        lettered = prompts.rotate_options(request.options, by)
        block = prompts.rationale(request, lettered) if condition.explained else ""
        text = prompts.choice_prompt(request, lettered, block)
        prompts.check_length(text)
        yield OptionExample(
            condition, lettered, Example(text=text, prompt=_option_prompt(condition))
        )


def _pair(condition: Condition) -> Example:
    """Premise and hypothesis. Raises BadInput where there is more to read than these."""
    request, kind = condition.request, condition.kind
    if condition.explained:
        pointer = "/explanations" if request.explanations else "/rationale"
        raise BadInput(EXPLAINED[kind], pointer=pointer)
    if not isinstance(request.question, NliQuestion):
        raise BadInput(NO_PAIR[kind], pointer="/question")
    return Example(
        text=request.question.premise,
        text_pair=request.question.hypothesis,
        prompt=_option_prompt(condition),
    )


def _option_prompt(condition: Condition) -> PromptKeys | None:
    """The request's, about these options."""
    asked = condition.request.prompt
    if asked is None:
        return None
    own: dict[str, object] = {}
    if asked.user is None:
        own["user"] = WHOLE
    if asked.style is None and not condition.judge.chat:
        own["style"] = "raw"
    if asked.verbalizers is None:
        keys = [option.key for option in condition.request.options]
        own["verbalizers"] = {key: tuple(one.format(key) for one in SPELLINGS) for key in keys}
    return PromptKeys.model_validate(asked.model_dump(exclude_unset=True) | own)


def _option_run(asked: OptionExample, judged: Judgement) -> JudgeRun:
    columns = _columns(asked, judged.labels)
    mass = 1.0 if judged.mass is None else round(judged.mass, 9)
    if judged.probabilities is None:
        return JudgeRun(None, valid=False, mass=mass)
    share = np.array(judged.among_labels(), dtype=np.float64)[columns]
    return JudgeRun(fractional_ranks(share), share, mass=mass)


def _columns(asked: OptionExample, labels: Sequence[str]) -> list[int]:
    """Columns of the request's options, in their order, among the judge's labels."""
    names, request = [label.casefold() for label in labels], asked.condition.request
    texts = [option.text.casefold() for option in request.options]
    if sorted(names) == sorted(texts):
        return [names.index(text) for text in texts]
    letters = [asked.lettered.letter(option.key).casefold() for option in request.options]
    if sorted(names) == sorted(letters):
        return [names.index(letter) for letter in letters]
    raise BadInput(
        f"the options are not the labels of {asked.condition.model!r}: {', '.join(labels)}",
        pointer="/options" if request.prompt is None else "/prompt/verbalizers",
    )


def _obstacles(
    told: Sequence[tuple[OptionExample, Judgement]], runs: RunsOfConditions
) -> dict[int, Obstacle]:
    """Of requests of which one side has no answer that was read."""
    found: dict[int, Obstacle] = {}
    for one, judged in told:
        own, why = one.condition, judged.unread
        if why and not any(run.valid for run in runs[own.place, own.explained, "logits"]):
            found.setdefault(own.place, Obstacle(why.code, why.detail))
    return found


def _cut_warnings(told: Sequence[tuple[OptionExample, Judgement]]) -> dict[int, tuple[str, ...]]:
    """Of requests whose text was not read to its end."""
    least: dict[int, float] = {}
    models_of: dict[int, str] = {}
    for one, judged in told:
        place = one.condition.place
        least[place] = min(least.get(place, 1.0), judged.read_share)
        models_of[place] = one.condition.model
    return {
        place: (text_cut(models_of[place], share),) for place, share in least.items() if share < 1
    }
