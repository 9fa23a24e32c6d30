"""The inference room as a job of its own: one operation on one model.

Pydantic only: the gateway reads it.
"""

from __future__ import annotations

from typing import Any

from pydantic import Field, JsonValue

from services.inference.cost import cost
from shared.contracts import JobRequest, Message, ModelName, ModelUse, ServiceContract
from shared.operations import InferenceOperation


class InferenceRequest(JobRequest):
    """Which model is asked what."""

    model: ModelName = Field(description="a configured classifier or causal model")
    ask: InferenceOperation = Field(
        description="`judge` and `judge_rows` (label probabilities of examples and of variations "
        "of them), `tokens`, `attributions`, `generate`, `score` (token log-probabilities), "
        "`describe`; `probabilities` and `truncated` for plain texts"
    )


class InferenceReport(Message):
    """What the model answered."""

    operation: str
    answer: JsonValue = Field(description="as the operation says; rows in the order of the request")
    labels: tuple[str, ...] = Field(description="of a classifier's columns; else empty")
    model: ModelUse
    service_version: str


_JUDGE: dict[str, Any] = {
    "model": "embedded-hate",
    "ask": {
        "operation": "judge",
        "examples": [{"text": "We lost the match again"}, {"text": "What a lovely old town"}],
    },
}

CONTRACT = ServiceContract(
    name="inference",
    summary="Label probabilities, attributions, log-probabilities and generation of one model",
    request=InferenceRequest,
    report=InferenceReport,
    model_kinds=("classifier", "causal"),
    default_model=None,
    cost=cost,
    examples={"label probabilities": _JUDGE},
)
