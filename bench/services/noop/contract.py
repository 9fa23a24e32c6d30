"""The contract of a service that takes a text and returns nothing."""

from __future__ import annotations

from pydantic import Field

from shared.contracts.messages import JobRequest, Message
from shared.contracts.service import ServiceContract


class NoopRequest(JobRequest):
    """A request with a short post."""

    text: str = Field(max_length=20_000)


class NoopReport(Message):
    """An empty result."""

    done: bool


CONTRACT = ServiceContract(
    name="noop",
    summary="Nothing, measured",
    request=NoopRequest,
    report=NoopReport,
    model_kinds=("classifier",),
    default_model="embedded-hate",
)
