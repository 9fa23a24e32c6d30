"""Collects a judge's answers to a batch of requests: written rankings and ratings, probabilities of
first tokens, and labels.

A batch makes several calls per model: one per sampling setting, one for first tokens, and one for
options that are labels of the judge. A `prompt` may show a premise and a hypothesis, as for a
classifier. It may also show the question of Table 6 as `{text}`. Source: Chen et al., EMNLP 2025,
section 5.1 and Appendix D."""

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

RATED = (1.0, 5.0)  # the scale in the prompt


@dataclass(frozen=True, slots=True, kw_only=True)
class HlvCollected(Collected):
    """A judge's answers by method, with and without explanations. A field is None if the judge was
    not asked."""

    methods: tuple[Method, ...]
    explained: MethodRuns | None
    baseline: MethodRuns | None


def run_judges(requests: Sequence[HlvRequest]) -> list[HlvCollected]:
    """Collect all answers that the requests need, in order. Answers come from models, or from a
    request's `predictions`."""
    conditions = [
        condition
        for position, request in enumerate(requests)
        for condition in _conditions(position, request)
    ]
    options = predict_options(conditions)
    runs = generated_runs(conditions) | letter_runs(conditions) | options.runs
    uses = {name: _model(name).use for name in dict.fromkeys(row.model for row in conditions)}
    results = [_from_request(request) for request in requests]
    for baseline in conditions:
        if baseline.explained:
            continue
        position, methods = baseline.position, baseline.judge.methods
        sides = {
            condition.explained: {
                method: runs[position, condition.explained, method] for method in methods
            }
            for condition in conditions
            if condition.position == position
        }
        use, sha256 = uses[baseline.model], options.sha256.get(position)
        if sha256 is not None:
            use = use.model_copy(update={"prompt_sha256": sha256})
        obstacle = options.obstacles.get(position)
        results[position] = HlvCollected(
            methods=methods,
            explained=sides.get(True),
            baseline=sides[False],
            models=(use,),
            warnings=options.warnings.get(position, ()),
            obstacles=(obstacle,) if obstacle else (),
        )
    return results


def _conditions(position: int, request: HlvRequest) -> Iterator[Condition]:
    if request.model is None:
        return
    kind = models().kind(request.model)
    settings = request.judge or HlvJudge()
    if kind == "classifier" or request.prompt is not None:
        if request.judge is not None and settings.methods != ("logits",):
            judge = "a classifier" if kind == "classifier" else "a judge with a `prompt`"
            raise BadInput(f"{judge} supports only the method `logits`", pointer="/judge/methods")
        settings = settings.model_copy(update={"methods": ("logits",)})
    if "logits" in settings.methods and normalisation(request) != "softmax":
        raise BadInput(
            "`normalisation` must be softmax, because a judge returns log-probabilities; change "
            "it, or send `predictions` with `logits`",
            pointer="/normalisation",
        )
    yield Condition(position, False, request.model, kind, request, settings)
    if request.explanations or request.rationale:
        yield Condition(position, True, request.model, kind, request, settings)


def _from_request(request: HlvRequest) -> HlvCollected:
    sides = request.predictions
    explained = runs_from_request(sides.explained, request) if sides and sides.explained else None
    baseline = runs_from_request(sides.baseline, request) if sides and sides.baseline else None
    methods = dict.fromkeys([*(explained or {}), *(baseline or {})])
    return HlvCollected(methods=tuple(methods), explained=explained, baseline=baseline)


def model_languages(name: str) -> ModelLanguages:
    return ModelLanguages(name, _model(name).languages)


def _model(name: str) -> Writer | Judge:
    return models().writer(name) if models().kind(name) == "causal" else models().judge(name)


@dataclass(frozen=True)
class JudgePrompt:
    """One prompt, with the parser of its answer."""

    condition: Condition
    run: int
    prompt: PromptOfRequest
    parse: Callable[[str], Any]  # returns None for an unreadable answer
    option: int | None = None  # index of the option to rate; None for a ranking


def generated_runs(conditions: Sequence[Condition]) -> RunsOfConditions:
    """Generate the rankings and ratings of all conditions. An unreadable answer that was sampled
    (temperature above 0) is generated once more, with another seed."""
    lines = [line for condition in conditions for line in _judge_prompts(condition)]
    values = _parse(lines, generate([line.prompt for line in lines]))
    unread = [
        index
        for index, value in enumerate(values)
        if value is None and lines[index].prompt.sampling.temperature > 0
    ]
    retried = generate([_with_next_seed(lines[index].prompt) for index in unread])
    for index, value in zip(unread, _parse([lines[i] for i in unread], retried), strict=True):
        values[index] = value
    return _runs(lines, values)


def _parse(lines: Sequence[JudgePrompt], completions: Sequence[Completion]) -> list[Any]:
    pairs = zip(lines, completions, strict=True)
    return [line.parse(completion.text) for line, completion in pairs]


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
            for index, option in enumerate(request.options):
                prompt = _prompt(condition, prompts.score_prompt(request, option, block))
                yield JudgePrompt(condition, run, prompt, variant.rating, index)


def _prompt(condition: Condition, text: str) -> PromptOfRequest:
    settings = condition.judge
    sampling = Sampling(
        temperature=settings.temperature,
        top_p=settings.top_p,
        max_tokens=settings.max_tokens,
        seed=condition.request.seed,
    )
    prompt = prompts.as_prompt(text, chat=settings.chat)
    return PromptOfRequest(condition.position, condition.model, prompt, sampling)


def _ranking_of(
    lettered: OptionLetters, mentioned: Callable[[str, Sequence[str]], list[str]], raw: str
) -> list[str] | None:
    return [lettered.keys[letter] for letter in mentioned(raw, lettered.letters)] or None


def _runs(lines: Sequence[JudgePrompt], values: Sequence[Any]) -> RunsOfConditions:
    runs: list[ConditionRun] = []
    ratings: dict[tuple[Condition, int], list[float | None]] = {}
    for line, value in zip(lines, values, strict=True):
        if line.option is None:
            keys = [option.key for option in line.condition.request.options]
            run = JudgeRun(prompts.ranks_of(value or [], keys), valid=value is not None)
            runs.append((line.condition, "rank", run))
        else:
            ratings.setdefault((line.condition, line.run), []).append(value)
    for (condition, _), row in ratings.items():
        runs.append((condition, "score", _rating(condition.request, row)))
    return group_runs(runs)


def _rating(request: HlvRequest, row: Sequence[float | None]) -> JudgeRun:
    low, high = request.human.scale.low, request.human.scale.high
    ratings = np.array([np.nan if value is None else value for value in row], dtype=np.float64)
    values = low + (ratings - RATED[0]) / (RATED[1] - RATED[0]) * (high - low)
    complete = not np.isnan(values).any()
    return JudgeRun(fractional_ranks(values) if complete else None, values, valid=bool(complete))


@dataclass(frozen=True)
class LetterChoice:
    """A prompt to choose from lettered options."""

    condition: Condition
    lettered: OptionLetters
    prompt: Prompt


def letter_runs(conditions: Sequence[Condition]) -> RunsOfConditions:
    """Return runs that score each option by the probability that the answer's first token is its
    letter. All single-token spellings of a letter count ("A", " A"). Raises BadInput if a letter
    has none."""
    choices = [choice for condition in conditions for choice in _choices(condition)]
    runs: dict[int, JudgeRun] = {}
    for model in dict.fromkeys(choice.condition.model for choice in choices):
        indices = [i for i, choice in enumerate(choices) if choice.condition.model == model]
        answers = _score_letters(model, [choices[i] for i in indices])
        runs |= {i: _letter_run(choices[i], row) for i, row in zip(indices, answers, strict=True)}
    return group_runs((choice.condition, "logits", runs[i]) for i, choice in enumerate(choices))


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
    """Return, for each prompt and letter, the completion of each spelling with its
    log-probabilities."""
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
            f"{choice.condition.model!r} needs more than one token for the letter {letter}; use "
            "the method `rank` or `score`",
            pointer="/judge/methods",
        )
    keys = [option.key for option in choice.condition.request.options]
    logs = np.array([masses[choice.lettered.letter(key)] for key in keys], dtype=np.float64)
    mass = min(1.0, float(np.exp(logsumexp(logs))))
    return JudgeRun(fractional_ranks(logs), softmax(logs), mass=mass)


def _log_probability(spellings: Sequence[Completion]) -> float | None:
    """Return the log-probability that the answer begins with a letter, summed over its single-token
    spellings. Equal tokens count once. Return None if no spelling is a single token."""
    single = {
        (completion.tokens[0].id, completion.tokens[0].logprob): completion.tokens[0].logprob
        for completion in spellings
        if len(completion.tokens) == 1
    }
    return float(logsumexp(list(single.values()))) if single else None


MODEL_POINTERS = ("/template", "/template/verbalizers")  # pointers in the models' own errors
PAIR = frozenset({"premise", "hypothesis"})
SPELLINGS = ("{}", " {}")  # of an option's letter
EXPLAINED = {
    "classifier": "a classifier was not trained to read explanations, and even true ones mislead "
    "it; choose a language model as the judge",
    "causal": "the prompt shows a premise and a hypothesis but no explanations; use {text} in it",
}
NO_PAIR = {
    "classifier": "a classifier judges a premise and a hypothesis; choose a language model for "
    "other questions",
    "causal": "the prompt shows {premise} and {hypothesis}, which the question does not have; "
    "use {text} in it",
}


@dataclass(frozen=True)
class OptionExample:
    condition: Condition
    lettered: OptionLetters
    example: Example


@dataclass(frozen=True)
class OptionPredictions:
    """The classifiers' choices for each request, with warnings, prompt hashes and reasons for
    missing choices."""

    runs: RunsOfConditions
    obstacles: dict[int, Obstacle]
    warnings: dict[int, tuple[str, ...]]
    sha256: dict[int, str]


def predict_options(conditions: Sequence[Condition]) -> OptionPredictions:
    """Let classifiers choose among the options, with one call per model. Return the choices and the
    reasons for missing choices."""
    examples = [example for condition in conditions for example in _expand_condition(condition)]
    judged: list[tuple[OptionExample, Judgement]] = []
    for model in dict.fromkeys(example.condition.model for example in examples):
        batch = [example for example in examples if example.condition.model == model]
        with pointing_to("/prompt", only=MODEL_POINTERS):
            judgements = models().judge(model).judgements([example.example for example in batch])
        judged += zip(batch, judgements, strict=True)
    runs = group_runs(
        (example.condition, "logits", _option_run(example, judgement))
        for example, judgement in judged
    )
    obstacles: dict[int, Obstacle] = {}
    read_shares: dict[int, float] = {}
    hashes: dict[int, str] = {}
    for example, judgement in judged:
        condition, unread = example.condition, judgement.unread
        position = condition.position
        if unread and not any(run.valid for run in runs[position, condition.explained, "logits"]):
            obstacles.setdefault(position, Obstacle(unread.code, unread.detail))
        read_shares[position] = min(read_shares.get(position, 1.0), judgement.read_share)
        if judgement.prompt_sha256:
            hashes[position] = judgement.prompt_sha256
    names = {condition.position: condition.model for condition in conditions}
    warnings: dict[int, tuple[str, ...]] = {
        position: (text_cut(names[position], share),)
        for position, share in read_shares.items()
        if share < 1
    }
    return OptionPredictions(runs, obstacles, warnings, hashes)


def is_classification(condition: Condition) -> bool:
    """True if the options are labels of the judge, so that no text is generated."""
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
    """Return premise and hypothesis as an example for an NLI classifier. Raises BadInput for a
    request with explanations, or with a question of another type."""
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
    prompt = condition.request.prompt
    if prompt is None:
        return None
    defaults: dict[str, object] = {}
    if prompt.user is None:
        defaults["user"] = "{text}"
    if prompt.style is None and not condition.judge.chat:
        defaults["style"] = "raw"
    if prompt.verbalizers is None:
        keys = [option.key for option in condition.request.options]
        defaults["verbalizers"] = {
            key: tuple(spelling.format(key) for spelling in SPELLINGS) for key in keys
        }
    return PromptKeys.model_validate(prompt.model_dump(exclude_unset=True) | defaults)


def _option_run(example: OptionExample, judgement: Judgement) -> JudgeRun:
    columns = _columns(example, judgement.labels)
    mass = 1.0 if judgement.mass is None else round(judgement.mass, 9)
    if judgement.probabilities is None:
        return JudgeRun(None, valid=False, mass=mass)
    share = np.array(judgement.among_labels(), dtype=np.float64)[columns]
    return JudgeRun(fractional_ranks(share), share, mass=mass)


def _columns(example: OptionExample, labels: Sequence[str]) -> list[int]:
    names, request = [label.casefold() for label in labels], example.condition.request
    texts = [option.text.casefold() for option in request.options]
    if sorted(names) == sorted(texts):
        return [names.index(text) for text in texts]
    letters = [example.lettered.letter(option.key).casefold() for option in request.options]
    if sorted(names) == sorted(letters):
        return [names.index(letter) for letter in letters]
    raise BadInput(
        f"the options must be the labels of {example.condition.model!r}: {', '.join(labels)}",
        pointer="/options" if request.prompt is None else "/prompt/verbalizers",
    )
