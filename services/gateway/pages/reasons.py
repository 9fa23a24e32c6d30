"""Why something is null, doubtful or failed: shown plainly, unless it may repeat the caller's text.

A reason whose type says that it is ours is plain; so is one that repeats nothing of the request.
Where the request is gone, a reason is plain if the worker has screened it (`do_not_store_text`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from services.gateway.pages.metrics.viewing import asked
from services.registry import every_contract
from shared.ledger.jobs import Job
from shared.whose_words import are_ours, repeats, sent

SHORTEST = 4  # characters of a text that is looked for: shorter ones stand in every sentence


@dataclass(frozen=True, slots=True)
class Reason:
    """A sentence of a result or a problem. where: a JSON pointer into the request, or empty."""

    text: str
    plain: bool  # else blurred
    where: str = ""


@dataclass(frozen=True, slots=True)
class Failed:
    """Why a job failed, and what was wrong with which field."""

    detail: Reason
    errors: tuple[Reason, ...]


def warnings(job: Job) -> tuple[Reason, ...]:
    """Of a result, in its order."""
    found: list[str] = (job.result or {}).get("warnings") or []
    ours = _are_ours(job)
    texts = None if ours or not found else _texts(job)
    return tuple(Reason(said, ours or _is_plain(said, texts)) for said in found)


def failed(job: Job) -> Failed | None:
    """None for a job that did not."""
    if job.error is None:
        return None
    texts = _texts(job)
    errors: list[dict[str, Any]] = job.error.get("errors") or []
    detail = job.error.get("detail", "")
    return Failed(
        Reason(detail, _is_plain(detail, texts)),
        tuple(_error(one.get("detail", ""), one.get("pointer", ""), texts) for one in errors),
    )


def _error(said: str, where: str, texts: Sequence[str] | None) -> Reason:
    return Reason(said, _is_plain(said, texts) and _is_plain(where, texts), where)


def _are_ours(job: Job) -> bool:
    """Whether the room says that its warnings never hold text."""
    room = every_contract().get(job.metric)
    own = None if room is None else room.report.model_fields.get("warnings")
    return own is not None and are_ours(own.annotation)


def _texts(job: Job) -> Sequence[str] | None:
    """What the caller wrote, names included; None where nobody can tell any more."""
    if job.request.get("do_not_store_text"):
        return ()
    request = asked(job)
    if request is None:
        return None
    return [text for text in set(sent(request, names=False)) if len(text) >= SHORTEST]


def _is_plain(said: str, texts: Sequence[str] | None) -> bool:
    return texts is not None and not repeats(said, texts)
