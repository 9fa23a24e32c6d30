"""The base classes of all messages that are sent or received. Unknown fields in responses are
ignored, and missing ones are None, so the client works with newer and older services."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, PrivateAttr

IN_EVERY_VERSION = frozenset({"id", "metric", "status", "score", "scored"})


class Message(BaseModel):
    """The base class of all messages that are sent or received. Requests forbid unknown fields."""

    model_config = ConfigDict(
        extra="ignore",
        protected_namespaces=(),
        populate_by_name=True,
        defer_build=True,  # few of several hundred messages are used by a process
    )

    def __init_subclass__(cls, **options: Any) -> None:
        """Make missing fields None, for responses of older services. Requests, and fields that
        identify a message, are not changed."""
        super().__init_subclass__(**options)
        if cls.model_config.get("extra") == "forbid":
            return
        for name in inspect.get_annotations(cls):
            is_field = not name.startswith("_") and name not in IN_EVERY_VERSION
            if is_field and name not in cls.__dict__:
                setattr(cls, name, None)


class Shown(Message):
    """A message that a notebook shows as a table, without scripts."""

    def _repr_html_(self) -> str:
        from touchstone_client import _notebook

        return _notebook.html(self)

    def _repr_mimebundle_(self, **_options: Any) -> dict[str, str]:
        return {"text/plain": str(self), "text/html": self._repr_html_()}


class Answered(Shown):
    """The result of a job. It also holds the job and the request."""

    _job: Any = PrivateAttr(default=None)
    _sent: Mapping[str, Any] = PrivateAttr(default_factory=dict)

    @property
    def job(self) -> Any:
        """Return the job of this result, or None for a result from a file or from `Local`."""
        return self._job

    def __eq__(self, other: object) -> bool:
        """Return True if all fields are equal. The jobs are not compared."""
        return type(self) is type(other) and self.__dict__ == other.__dict__

    __hash__ = None  # type: ignore[assignment]

    def __str__(self) -> str:
        from touchstone_client import _notebook

        return _notebook.text(self)


class Result(Answered):
    """The score of an explanation, with the verdict, the numbers behind it, and evidence."""

    metric: str
    score: float | None
    verdict: str
    reason: str
    checks: Any
    problems: list[str]
    untested: Any
    range: list[float]
    direction: str
    warnings: list[str]
    components: Any
    evidence: Any
    details: dict[str, Any] | None


class Report(Shown):
    """A report on many results of a metric."""

    metric: str
    scored: int
    undefined: int
    score: Any
    warnings: list[str]
    details: dict[str, Any]

    def __str__(self) -> str:
        from touchstone_client import _notebook

        return _notebook.text(self)


class JobMessage(Message):
    """A job. `error` is a `models.Problem`, and `result` is the metric's result."""

    id: str
    metric: str
    status: str
    created_at: int
    started_at: int | None
    finished_at: int | None
    batch_id: str | None
    metadata: dict[str, str]
    error: Any
    result: Any
