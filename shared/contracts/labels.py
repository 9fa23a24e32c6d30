"""Maps a model's outputs to canonical labels. Several outputs may form one label's probability.

Metrics use canonical labels (`hateful`), whereas models have outputs (`LABEL_1`, `toxic`). Names
are compared without case, `_`, `-` and blanks. Probabilities are computed by
`shared.models.label_readout`.

If all outputs of a model are canonical labels of `nli` or `sentiment`, in any spelling, this task
is the model's default. Otherwise a request could not use labels such as `ENTAILMENT`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal, Self

from pydantic import Field, StringConstraints, model_validator

from shared.contracts.messages import Message, Share
from shared.contracts.validation_messages import format_count

Task = Literal["hate", "nli", "sentiment", "free"]
Activation = Literal["softmax", "sigmoid", "one-output"]
Combine = Literal["sum", "max", "any"]
Label = Annotated[str, StringConstraints(min_length=1, max_length=64)]
Output = Annotated[str, StringConstraints(min_length=1, max_length=200)]

CANONICAL: dict[Task, tuple[str, ...]] = {
    "hate": ("hateful", "non-hateful"),
    "nli": ("entailment", "neutral", "contradiction"),
    "sentiment": ("positive", "negative", "neutral"),
    "free": (),
}
OPTIONAL = {"sentiment": frozenset({"neutral"})}
SAME_MEANING: dict[Task, dict[str, str]] = {  # folded
    "hate": {
        **dict.fromkeys(("hate", "hatespeech", "hatefulspeech"), "hateful"),
        **dict.fromkeys(
            (
                *("nothate", "nohate", "nonhate", "nothatespeech", "nonhatespeech", "nothateful"),
                *("normal", "none", "acceptable"),
            ),
            "non-hateful",
        ),
    },
    "nli": {"entail": "entailment", "contradict": "contradiction"},
    "sentiment": {},
    "free": {},
}
WIDER = {  # folded; of task `hate`
    **dict.fromkeys(
        ("toxic", "toxicity", "unsafe", "harmful", "violation", "identityhate", "identityattack"),
        "hateful",
    ),
    "hap": "hateful",  # hate, abuse and profanity
    **dict.fromkeys(("neutral", "nontoxic", "safe", "unharmful"), "non-hateful"),
}
OF_A_POLICY = {"yes": "hateful", "no": "non-hateful"}  # where the task is stated
REST = "*"  # of `ignore`
PROBLEM_TYPES = ("regression", "single_label_classification", "multi_label_classification")
SHOWN = 24  # of a head's outputs, in a message
SHOWN_CHARACTERS = 80  # of such an output
EXCLUSIVE_NOWHERE = frozenset({"obscene", "insult", "threat"})  # the Jigsaw columns, together


class LabelKeys(Message):
    """The keys of a model entry that define its labels."""

    task: Task | None = Field(default=None, description="the task, which sets the canonical labels")
    outputs: tuple[Output, ...] | None = Field(
        default=None,
        min_length=1,
        description="names of the model's outputs in order; absent: the model's `id2label`",
    )
    labels: dict[Label, tuple[Output, ...]] | None = Field(
        default=None, min_length=1, description="canonical label → the model's outputs that mean it"
    )
    ignore: tuple[Output, ...] = Field(
        default=(), description="outputs that belong to no canonical label; `*`: all other outputs"
    )
    activation: Literal["auto"] | Activation = "auto"
    combine: Combine | None = Field(
        default=None,
        description="how several outputs of one label are combined; absent: `sum` "
        "for softmax, else `max`",
    )
    temperature: float | None = Field(
        default=None, gt=0, description="temperature by which logits are divided"
    )
    threshold: Share | dict[Label, Share] | None = Field(
        default=None,
        description="probability from which on a label is the decision; it never "
        "changes probabilities",
    )

    @model_validator(mode="after")
    def _names_are_clear(self) -> Self:
        if self.outputs and len(set(self.outputs)) < len(self.outputs):
            raise ValueError("`outputs` lists an output twice; list each output once")
        canonical = CANONICAL[self.task] if self.task else ()
        if canonical and (unknown := set(self.labels or ()) - set(canonical)):
            raise ValueError(
                f"`labels` names {', '.join(sorted(unknown))}, but the labels of task "
                f"{self.task} are {', '.join(canonical)}"
            )
        outputs_listed = [output for outputs in (self.labels or {}).values() for output in outputs]
        if twice := sorted({name for name in outputs_listed if outputs_listed.count(name) > 1}):
            raise ValueError(
                f"`labels` lists {', '.join(twice)} twice; give each output to one label only"
            )
        if both := sorted(set(outputs_listed) & set(self.ignore)):
            raise ValueError(
                f"{', '.join(both)} is listed under both `labels` and `ignore`; keep only one"
            )
        return self


@dataclass(frozen=True)
class Head:
    """A classifier's outputs, from its configuration."""

    outputs: tuple[str, ...]  # (K,) names, in order
    problem_type: str | None = None


@dataclass(frozen=True)
class LabelMapping:
    """The mapping of K outputs to L canonical labels."""

    task: Task
    outputs: tuple[str, ...]  # (K,)
    columns: Mapping[str, tuple[int, ...]]  # label → its outputs; none: the complement
    activation: Activation
    combine: Combine
    threshold: float | Mapping[str, float] | None = None

    @property
    def labels(self) -> tuple[str, ...]:
        """Return the labels in the order of an answer's columns."""
        return tuple(self.columns)

    @property
    def first(self) -> str:
        """Return the positive label, `hateful` for the task `hate`. A single output or threshold
        refers to this label."""
        return first_label(self.task, self.labels)

    @property
    def by_label(self) -> dict[str, tuple[str, ...]]:
        """Return the outputs of each label. The tuple is empty for a label that gets the
        probability that the other labels leave."""
        return {
            label: tuple(self.outputs[column] for column in columns)
            for label, columns in self.columns.items()
        }

    @property
    def ignored(self) -> tuple[str, ...]:
        """Return the outputs without a label."""
        used = {column for columns in self.columns.values() for column in columns}
        return tuple(name for column, name in enumerate(self.outputs) if column not in used)

    @property
    def warnings(self) -> tuple[str, ...]:
        """Return warnings about outputs with a wider meaning than their label."""
        if self.task != "hate":
            return ()
        return tuple(
            f"wider-label: P({output}) stands for P({label})"
            for label, outputs in self.by_label.items()
            for output in outputs
            if (WIDER | OF_A_POLICY).get(normalize_name(output)) == label
        )

    @property
    def thresholds(self) -> dict[str, float]:
        """Return each label's decision threshold."""
        return thresholds(self.threshold, self.first)


def thresholds(stated: float | Mapping[str, float] | None, first: str) -> dict[str, float]:
    """Return thresholds by label. A single number applies to `first`."""
    if stated is None:
        return {}
    return dict(stated) if isinstance(stated, Mapping) else {first: stated}


def predict_label(labels: Sequence[str], row: Sequence[float], least: Mapping[str, float]) -> str:
    """Return the most likely label that reaches its threshold. If none does, return the most likely
    label without a threshold. `row` has one probability per label. On a tie the first label wins.
    """
    by_label = dict(zip(labels, row, strict=True))
    over = [label for label in labels if label in least and by_label[label] >= least[label]]
    free = [label for label in labels if label not in least]
    return max(over or free or labels, key=by_label.__getitem__)


def listed(names: Sequence[str]) -> str:
    """Return up to SHOWN names, separated by commas, and the number of further names. Unprintable
    or long names are cut and quoted."""
    shown = [
        name if name.isprintable() and 0 < len(name) < SHOWN_CHARACTERS else f"{name[:20]!r}"
        for name in names[:SHOWN]
    ]
    more = [f"and {len(names) - SHOWN} more"] if len(names) > SHOWN else []
    return ", ".join([*shown, *more])


def normalize_name(name: str) -> str:
    """Return the name in lower case without white space, `_` and `-`, for comparisons."""
    return re.sub(r"[\s_-]+", "", name).casefold()


def first_label(task: Task, labels: Sequence[str]) -> str:
    """Return a task's positive label: `hateful` for `hate`, the first for `free`."""
    return next((label for label in CANONICAL[task] if label in labels), labels[0])


def label_mapping(stated: LabelKeys, head: Head) -> LabelMapping:
    """Map a classifier's outputs to labels. Raises ValueError if this is ambiguous."""
    outputs = stated.outputs or head.outputs
    if len(outputs) != len(head.outputs):
        raise ValueError(
            f"the model has {format_count(len(head.outputs), 'output')}, but `outputs` "
            f"lists {len(outputs)}; list each output once"
        )
    activation = _activation(stated.activation, outputs, head.problem_type)
    task = stated.task or _task(stated, outputs)
    columns = _columns(stated, task, outputs) if stated.labels else _match_labels(task, outputs)
    if activation == "one-output" and not stated.labels:
        # the output speaks of the task's first label, whatever it is called
        if task == "free":
            raise ValueError(
                "the model has 1 output, and its label is not known. Set `task` or "
                "`labels`, as in labels = "
                '{ hateful = ["its name"], "non-hateful" = [] }'
            )
        columns = columns or {CANONICAL[task][0]: (0,)}
    _check_outputs(outputs, columns, stated.ignore)
    columns = _add_complement(task, columns, activation)
    combine = stated.combine or ("sum" if activation == "softmax" else "max")
    if activation == "softmax" and combine != "sum":
        raise ValueError(
            f'combine {combine!r} does not work with softmax; use "sum", or leave `combine` out'
        )
    if activation != "softmax" and combine == "sum":
        raise ValueError(
            "combine 'sum' does not work with sigmoid, because sums can exceed 1; use "
            '"max" or "any"'
        )
    mapping = LabelMapping(task, outputs, columns, activation, combine, stated.threshold)
    stated_thresholds = stated.threshold if isinstance(stated.threshold, Mapping) else {}
    if unknown := sorted(set(stated_thresholds) - set(mapping.labels)):
        raise ValueError(
            f"`threshold` names {', '.join(unknown)}, but the labels are "
            f"{', '.join(mapping.labels)}"
        )
    return mapping


def _activation(
    stated: Literal["auto"] | Activation, outputs: Sequence[str], problem_type: str | None
) -> Activation:
    """Return the stated activation. For `auto`, follow the Transformers pipeline. Source:
    `TextClassificationPipeline`."""
    if stated != "auto":
        if (stated == "softmax" and len(outputs) == 1) or (
            stated == "one-output" and len(outputs) > 1
        ):
            raise ValueError(
                f"activation {stated!r} does not fit a model with "
                f"{format_count(len(outputs), 'output')}; choose another, or leave "
                "`activation` out"
            )
        return stated
    if problem_type not in (None, *PROBLEM_TYPES):
        types = ", ".join(PROBLEM_TYPES)
        raise ValueError(
            f"the model's problem_type {problem_type!r} is not one of {types}; set `activation`"
        )
    if problem_type == "regression":
        raise ValueError(
            "the model is a regression model, so its outputs are not logits; set `activation`"
        )
    if len(outputs) == 1:
        return "one-output"
    if problem_type == "multi_label_classification":
        return "sigmoid"
    if problem_type is None and set(map(normalize_name, outputs)) >= EXCLUSIVE_NOWHERE:
        raise ValueError(
            "insult, obscene and threat can all be true of one text, but softmax "
            'allows only one. Set `activation = "sigmoid"`, or "softmax" if the model '
            "was trained so"
        )
    return "softmax"


def _task(stated: LabelKeys, outputs: Sequence[str]) -> Task:
    """Return `hate` if an output maps to `hateful`, else the task that has these labels."""
    if stated.labels:
        names = set(stated.labels)
        fitting: tuple[Task, ...] = ("hate", "nli", "sentiment")
        return next((task for task in fitting if names <= set(CANONICAL[task])), "free")
    if "hateful" in _match_labels("hate", outputs, policy=False):
        return "hate"
    for task in ("nli", "sentiment"):
        columns = _match_labels(task, outputs)
        if sum(map(len, columns.values())) == len(outputs) and _missing(task, columns) == []:
            return task
    return "free"


def _match_labels(
    task: Task, outputs: Sequence[str], *, policy: bool = True
) -> dict[str, tuple[int, ...]]:
    """Map labels to output columns by name, if the model's entry has no mapping. A name matches a
    label if it is equal, a synonym, or a wider term."""
    if task == "free":
        return {output: (column,) for column, output in enumerate(outputs)}
    same = {normalize_name(label): label for label in CANONICAL[task]} | SAME_MEANING[task]
    wider = {} if task != "hate" else WIDER | (OF_A_POLICY if policy else {})
    certain = {same[name] for name in map(normalize_name, outputs) if name in same}
    columns: dict[str, tuple[int, ...]] = {}
    for column, name in enumerate(map(normalize_name, outputs)):
        label = same.get(name, wider.get(name))
        if label is not None and (name in same or label not in certain):
            columns[label] = (*columns.get(label, ()), column)
    return columns


def _columns(stated: LabelKeys, task: Task, outputs: Sequence[str]) -> dict[str, tuple[int, ...]]:
    """Map each label in `labels` to the columns of the model's outputs that count as this label.
    Raises ValueError if an output is unknown or used twice."""
    places = {normalize_name(output): column for column, output in enumerate(outputs)}
    places |= {output: column for column, output in enumerate(outputs)}
    columns_of: dict[str, tuple[int, ...]] = {}
    for label, names in (stated.labels or {}).items():
        for name in names:
            if name not in places and normalize_name(name) not in places:
                raise ValueError(
                    f"`labels` names the output {name!r}, but the model's outputs are "
                    f"{listed(outputs)}"
                )
        columns_of[label] = tuple(
            places[name] if name in places else places[normalize_name(name)] for name in names
        )
    used = [column for columns in columns_of.values() for column in columns]
    if len(set(used)) < len(used):
        raise ValueError("two labels share an output; give each output to one label only")
    if task == "free" and not used:
        raise ValueError("`labels` lists no output; list at least one")
    return columns_of


def _check_outputs(
    outputs: Sequence[str], columns: Mapping[str, tuple[int, ...]], ignore: Sequence[str]
) -> None:
    """Raise ValueError unless each output of the model either belongs to a label or is listed in
    `ignore`, and `ignore` lists no unknown output."""
    ignored = set(map(normalize_name, ignore))
    if REST in ignored:
        return
    if unknown := sorted(ignored - set(map(normalize_name, outputs))):
        raise ValueError(
            f"`ignore` names {', '.join(unknown)}, but the model's outputs are {listed(outputs)}"
        )
    used = {column for numbers in columns.values() for column in numbers}
    rest = [
        output
        for column, output in enumerate(outputs)
        if column not in used and normalize_name(output) not in ignored
    ]
    if rest:
        raise ValueError(
            f"the outputs {listed(rest)} belong to no label; list them under `labels` "
            'or `ignore`, or set task = "free"'
        )
    if shared := [
        outputs[column] for column in sorted(used) if normalize_name(outputs[column]) in ignored
    ]:
        raise ValueError(
            f"{', '.join(shared)} is used for a label and also listed under `ignore`; "
            "remove one of the two"
        )


def _missing(task: Task, columns: Mapping[str, tuple[int, ...]]) -> list[str]:
    needed = [label for label in CANONICAL[task] if label not in OPTIONAL.get(task, ())]
    return [label for label in needed if not columns.get(label)]


def _add_complement(
    task: Task, columns: Mapping[str, tuple[int, ...]], activation: Activation
) -> dict[str, tuple[int, ...]]:
    """Return `columns` with a label that has no model outputs as the complement of the other label.
    Raises ValueError if the labels or the activation do not allow a complement."""
    completed = dict(columns)
    empty = list(
        dict.fromkeys(
            [*_missing(task, completed), *(label for label in completed if not completed[label])]
        )
    )
    completed |= dict.fromkeys(empty, ())
    if empty and (activation == "softmax" or len(completed) != 2):
        raise ValueError(
            f"no output is assigned to the label {', '.join(empty)}; assign one under `labels`"
        )
    if activation != "softmax" and task == "free" and not empty:
        raise ValueError(
            "several outputs can be true at once (sigmoid). Set `labels` to the label "
            "you need and its complement, as in labels = "
            '{ spam = ["spam"], other = [] }'
        )
    return completed
