"""P of the options, read by the judge port: a classifier's labels, or those of the request's own
`prompt`.

A classifier reads a premise and a hypothesis. A causal model or a chat server that a `prompt` asks
reads these too where it shows them, else the question as Table 6 has it, in the place of `{text}`;
its labels are the options' letters unless the prompt names others. Source: specs "models" §1.3,
§4.1; Chen et al., EMNLP 2025, Table 6.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from services.hlv import prompts
from services.hlv.judge_runs import Condition, JudgeRun, RunsOfConditions, group_runs
from services.hlv.kernel import fractional_ranks
from services.hlv.prompts import OptionLetters
from shared.contracts.calls import Example
from shared.contracts.errors import BadInput, pointing_to
from shared.contracts.judgement import Judgement, text_cut
from shared.contracts.prompt_table import PromptKeys, placeholders
from shared.contracts.questions import NliQuestion
from shared.models.ports import models
from shared.text.language import Obstacle

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
    runs = group_runs((one.condition, "logits", _run(one, judged)) for one, judged in told)
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
        yield OptionExample(condition, lettered, Example(text=text, prompt=_prompt(condition)))


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
        prompt=_prompt(condition),
    )


def _prompt(condition: Condition) -> PromptKeys | None:
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


def _run(asked: OptionExample, judged: Judgement) -> JudgeRun:
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
