"""An operation, performed on the ports: the one place where messages become method calls."""

from __future__ import annotations

from typing import Any

from shared import operations as op
from shared.contracts import Message
from shared.errors import BadInput
from shared.models import Judge, Models


def perform(operation: Any, models: Models, name: str) -> Any:
    """The answer as JSON, of the type that `operation.answer` states.

    Raises BadInput where this kind of model cannot do what is asked.
    """
    return operation.answer.dump_python(_performed(operation, models, name), mode="json")


def _performed(operation: Message, models: Models, name: str) -> Any:
    match operation:
        case op.Describe():
            return describe(models, name)
        case op.Compare():
            return models.similarity(name).similarities(operation.pairs).tolist()
        case op.Generate():
            return tuple(models.writer(name).generate(operation.prompts, operation.sampling))
        case op.Score():
            return tuple(models.writer(name).score(operation.prompts, operation.completions))
        case op.Probabilities():
            return models.classifier(name).probabilities(operation.texts).tolist()
        case op.Truncated():
            return tuple(models.classifier(name).truncated(operation.texts))
    return _judged(operation, judge(models, name))


def _judged(operation: Message, model: Judge) -> Any:
    match operation:
        case op.Tokenize():
            return tuple(model.tokens(operation.examples))
        case op.Judge():
            return [row.tolist() for row in model.judge(operation.examples)]
        case op.JudgeRows():
            return [rows.tolist() for rows in model.judge_rows(operation.asked)]
        case op.Attribute():
            answered = model.attributions(operation.examples, operation.targets, operation.method)
            return tuple(answered)
    raise BadInput(f"there is no operation {type(operation).__name__}", pointer="/ask/operation")


def judge(models: Models, name: str) -> Judge:
    """The model that tells how likely labels are. Raises BadInput for a similarity model."""
    if models.kind(name) == "causal":
        return models.language_model(name)
    return models.classifier(name)


def describe(models: Models, name: str) -> op.Description:
    """Load the model and say what it is."""
    kind = models.kind(name)
    if kind in ("similarity", "cross-encoder"):
        use = models.similarity(name).use
        return op.Description(kind=kind, use=use, labels=(), languages=())
    labels = models.classifier(name).labels if kind == "classifier" else ()
    model = judge(models, name)
    return op.Description(kind=kind, use=model.use, labels=labels, languages=model.languages)
