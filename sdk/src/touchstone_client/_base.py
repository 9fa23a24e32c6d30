"""The base of every message: what an answer of a newer or an older service is read as.

Answers keep no unknown field, and a field that they lack is None, so that no other version of the
service breaks anybody. `models.py` derives from these; results, reports and jobs have a base of
their own for what all of a kind share.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, PrivateAttr

IN_EVERY_VERSION = frozenset({"id", "metric", "status", "score", "scored"})


class Message(BaseModel):
    """Base of everything that is sent or received. Requests forbid unknown fields."""

    model_config = ConfigDict(
        extra="ignore",
        protected_namespaces=(),
        populate_by_name=True,
        defer_build=True,  # few of several hundred messages are used by a process
    )

    def __init_subclass__(cls, **options: Any) -> None:
        """What an older service does not send yet is None, whatever its type. Requests are as they
        are written, and so is what says whose answer it is: without it, it is no such message."""
        super().__init_subclass__(**options)
        if cls.model_config.get("extra") == "forbid":
            return
        for name in inspect.get_annotations(cls):
            is_field = not name.startswith("_") and name not in IN_EVERY_VERSION
            if is_field and name not in cls.__dict__:
                setattr(cls, name, None)


class Shown(Message):
    """A message that a notebook shows as a table; nothing of it runs a script."""

    def _repr_html_(self) -> str:
        from touchstone_client import _notebook

        return _notebook.html(self)

    def _repr_mimebundle_(self, **_options: Any) -> dict[str, str]:
        return {"text/plain": str(self), "text/html": self._repr_html_()}


class Answered(Shown):
    """What a job answered: it knows its job, and what was sent."""

    _job: Any = PrivateAttr(default=None)
    _sent: Mapping[str, Any] = PrivateAttr(default_factory=dict)

    @property
    def job(self) -> Any:
        """The job that this result is of; None of one that a file or `Local` gave."""
        return self._job

    def __eq__(self, other: object) -> bool:
        """Whether they say the same, of whatever job."""
        return type(self) is type(other) and self.__dict__ == other.__dict__

    __hash__ = None  # type: ignore[assignment]

    def __str__(self) -> str:
        from touchstone_client import _notebook

        return _notebook.text(self)


class Result(Answered):
    """A score of an explanation, with its verdict, its parts and what they rest on."""

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


class Report(Shown):
    """What many results of a metric say together."""

    metric: str
    scored: int
    undefined: int
    score: Any
    warnings: list[str]

    def __str__(self) -> str:
        from touchstone_client import _notebook

        return _notebook.text(self)


class JobMessage(Message):
    """A job as the service shows it. error: a `models.Problem`; result: as its metric says."""

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
