"""The result page of a model's answer, with one row per text."""

from __future__ import annotations

from collections.abc import Sequence

from services.inference.contract import InferenceRequest, InferenceResult
from shared.contracts.calls import Example, Prompt
from shared.reports.pages.page_text import ResponseTable

BY_LABEL = {"judge", "probabilities"}  # operations that answer a row of label probabilities each


def answer(request: InferenceRequest | None, report: InferenceResult) -> ResponseTable:
    """Return the answer as a table. For a classifier, the columns of probabilities are named by its
    labels."""
    return ResponseTable(
        lead=f"Answers of {report.model.name} to the operation {report.operation}.",
        field="answer",
        subjects=() if request is None else _subjects(request),
        columns=report.labels if report.operation in BY_LABEL else (),
    )


def _subjects(request: InferenceRequest) -> tuple[str, ...]:
    for name in ("examples", "texts", "prompts"):
        if (subjects := getattr(request.ask, name, None)) is not None:
            return tuple(map(_text, subjects)) if isinstance(subjects, Sequence) else ()
    return ()


def _text(subject: object) -> str:
    match subject:
        case Example(text=text, text_pair=None):
            return text
        case Example(text=text, text_pair=pair):
            return f"{text} · {pair}"
        case Prompt(text=str(text)):
            return text
        case Prompt(turns=turns):
            return " · ".join(turn.content for turn in turns or ())
    return str(subject)
