"""Judgements and review queues over HTTP, and the identity of reviewers."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from typing import Annotated, Any, Literal

from fastapi import Request
from pydantic import BaseModel, Field, StringConstraints, ValidationError

from services.gateway.caller import Caller
from services.gateway.results.review_progress import ReviewProgress
from services.gateway.results.review_queues import (
    MOST_LINES,
    QUESTIONS,
    Question,
    QueueOrder,
    ReviewItem,
    ReviewQueue,
)
from services.gateway.views import ALWAYS_SENT, ListPage
from services.registry import metrics
from shared.contracts.errors import BadInput
from shared.contracts.explanation_fields import ExplanationFields
from shared.contracts.messages import Count, Message, Share, Visible
from shared.ledger.job_json import to_timestamp
from shared.ledger.judgements import (
    MOST_NOTE,
    MOST_SPANS,
    SCORE,
    Opinion,
    Origin,
    ReviewerJudgement,
)
from shared.ledger.keys import MOST_REVIEWER
from shared.process.telemetry import request_id

ORIGIN = ("key_id", "address_family", "request_id")
QUEUE_ID = r"rq_[0-9a-f]{32}"
ReviewerName = Annotated[
    str,
    StringConstraints(min_length=1, max_length=MOST_REVIEWER, pattern=r"^[^\x00-\x1f\x7f]+$"),
]
Words = Annotated[
    str, StringConstraints(min_length=1, max_length=200, pattern=r"^[^\x00]*$"), Visible
]


class MarkedSpan(Message):
    """A marked passage of a text."""

    of: Words = Field(default="text", description="the field of the request that contains them")
    start: Count = Field(description="character offset into the text as sent")
    end: int = Field(ge=1, description="character offset, exclusive")


class JudgementFields(Message):
    """An opinion on a score, or on part of it."""

    verdict: Opinion = Field(description="whether the person agrees with the metric")
    reviewer: ReviewerName | None = Field(
        default=None,
        description="the reviewer's name; a key that has a reviewer can only judge under that name",
    )
    about: Words = Field(default=SCORE, description="`score`, or the name of a part")
    human_score: Share | None = Field(
        default=None, description="the score that the person finds correct"
    )
    human_label: Words | None = Field(
        default=None,
        description="the label that the person finds correct; for jobs whose texts are not "
        "stored, only a canonical label such as `hateful` is accepted",
    )
    spans: tuple[MarkedSpan, ...] = Field(
        default=(),
        max_length=MOST_SPANS,
        description="passages on which the decision rests; rejected for jobs whose texts are not "
        "stored",
    )
    note: Annotated[str, StringConstraints(max_length=MOST_NOTE, pattern=r"^[^\x00]*$")] | None = (
        Field(
            default=None,
            description="a free note; rejected for jobs whose texts are not stored, because it "
            "may quote them",
        )
    )
    blind: bool = Field(
        default=False, description="whether the score was hidden while the person judged"
    )
    queue: Annotated[str, StringConstraints(pattern=f"^{QUEUE_ID}$")] | None = Field(
        default=None, description="the review queue that gave out the line"
    )
    seconds: float | None = Field(
        default=None, ge=0, le=86_400, description="seconds that the person took to judge"
    )


class JudgementRequest(JudgementFields):
    """An opinion on a job's score, or on part of it."""

    job_id: Annotated[str, StringConstraints(pattern=r"^job_[0-9a-f]{32}$")]


class ReviewQueueRequest(Message):
    """A queue of batch lines for people to judge."""

    batch: Annotated[str, StringConstraints(pattern=r"^batch_[0-9a-f]{32}$")]
    name: Words
    query: Annotated[str, StringConstraints(max_length=2_000, pattern=r"^[ -~]*$")] = Field(
        default="",
        description="filters of the lines, written as in the address of the batch's table",
    )
    order: QueueOrder = Field(
        default="random",
        description="order of the lines. `uncertain`: lines closest to the verdict's threshold "
        "first. Only results from `random` queues are valid for the whole batch",
    )
    lines: int = Field(default=60, ge=1, le=MOST_LINES, description="maximum number of lines")
    per_line: int = Field(default=1, ge=1, le=5, description="number of people who judge each line")
    blind: bool = Field(
        default=True, description="hide the score and the verdict until the person has judged"
    )
    seed: int = Field(default=0, ge=0, le=2**31 - 1, description="seed of the random order")
    rubric: tuple[Question, ...] = Field(
        default=("agree",),
        min_length=1,
        max_length=len(QUESTIONS),
        description="the questions that reviewers answer",
    )


class LeaseRequest(Message):
    """A request for the next line to review."""

    reviewer: ReviewerName | None = Field(
        default=None, description="name of the person who judges, if the key has no reviewer"
    )
    skip: int | None = Field(
        default=None, ge=1, le=MOST_LINES, description="position of a line to skip"
    )


class ReviewerJudgementSchema(BaseModel):
    """A judgement. A judgement is changed by a new one that supersedes it."""

    model_config = ALWAYS_SENT

    id: str
    object: Literal["judgement"] = "judgement"
    job_id: str
    reviewer: str
    verified: bool = Field(
        description="true if the name is that of the key, false if the caller sent it"
    )
    verdict: Opinion | Literal["withdrawn"]
    about: str = Field(description="`score`, or the name of a part")
    human_score: float | None = Field(description="[0, 1]")
    human_label: str | None
    spans: list[MarkedSpan] = Field(description="passages that the person marked as decisive")
    note: str | None
    blind: bool = Field(description="whether the score was hidden while the person judged")
    queue_id: str | None
    seconds: float | None = Field(description="seconds that the person took to judge")
    supersedes: str | None
    current: bool = Field(description="whether this is the person's latest judgement of the job")
    source: str | None = Field(description="the system that it was imported from")
    created_at: int = Field(description="unix seconds")
    key_id: str | None = Field(
        description="the key that sent the judgement; for keys of scope `admin`"
    )
    address_family: str | None = Field(
        description="IPv4 or IPv6 address of the sender; for keys of scope `admin`"
    )
    request_id: str | None = Field(
        description="id of the request that sent the judgement; for keys of scope `admin`"
    )


class JudgementList(ListPage[ReviewerJudgementSchema]):
    """A page of judgements, newest first."""


class ImportSchema(BaseModel):
    """The outcome of an import of judgements."""

    model_config = ALWAYS_SENT

    object: Literal["judgement_import"] = "judgement_import"
    imported: int
    unchanged: int = Field(description="judgements that already existed")


class QueueProgressSchema(BaseModel):
    """The progress of a review queue."""

    model_config = ALWAYS_SENT

    done: int
    skipped: int
    left: int
    seconds: float | None = Field(description="median time that a judgement of this queue took")


class ReviewQueueSchema(BaseModel):
    """A review queue."""

    model_config = ALWAYS_SENT

    id: str
    object: Literal["review_queue"] = "review_queue"
    name: str
    metric: str
    batch_id: str
    query: list[list[str]] = Field(description="the filters when the queue was created")
    order: QueueOrder
    lines: int
    per_line: int
    blind: bool
    seed: int
    rubric: list[Question]
    state: Literal["open", "closed"]
    created_at: int = Field(description="unix seconds")
    progress: QueueProgressSchema


class ReviewQueueList(ListPage[ReviewQueueSchema]):
    """A page of review queues, newest first."""


class ReviewItemSchema(BaseModel):
    """A line leased to a reviewer for ten minutes."""

    model_config = ALWAYS_SENT

    position: int
    line: int = Field(description="line number in the batch")
    job_id: str
    leased_until: int = Field(description="unix seconds")


class NextReviewSchema(BaseModel):
    """The next line to judge."""

    model_config = ALWAYS_SENT

    object: Literal["next_review"] = "next_review"
    item: ReviewItemSchema | None = Field(
        description="the next line; null if no line is left for this reviewer"
    )
    progress: QueueProgressSchema


def origin_of(request: Request, caller: Caller, reviewer: str | None) -> Origin:
    """Return who made a judgement: the reviewer and the key. Raises BadInput if the reviewer's name
    is invalid, or if the key belongs to another reviewer."""
    of_key = None if caller.key is None else caller.key.reviewer
    if of_key is not None and reviewer is not None and reviewer != of_key:
        raise BadInput(
            "this key can only send judgements by its own reviewer; leave out `reviewer`",
            pointer="/reviewer",
        )
    who = of_key or (reviewer or "").strip()
    if not is_name(who):
        raise BadInput(
            f"a reviewer's name must have at most {MOST_REVIEWER} printable characters",
            pointer="/reviewer",
        )
    if not who:
        raise BadInput(
            "this key has no reviewer; send the name of the person who judges as `reviewer`",
            pointer="/reviewer",
        )
    return Origin(
        tenant=caller.tenant,
        reviewer=who,
        verified=of_key is not None,
        key_id=None if caller.key is None else caller.key.id,
        address_family=_family(request),
        request_id=request_id(),
    )


def is_name(text: str) -> bool:
    """Return True if the text is allowed as a reviewer's name. The caller must reject an empty name
    itself."""
    return len(text) <= MOST_REVIEWER and text.isprintable()


def _family(request: Request) -> str | None:
    try:
        version = ipaddress.ip_address(request.client.host if request.client else "").version
    except ValueError:  # a socket of this machine
        return None
    return f"IPv{version}"


def check_part(metric: str, about: str) -> None:
    """Raise BadInput if the metric has no part with this name that people can judge."""
    contract = metrics().get(metric)
    parts = () if contract is None else tuple(contract.parts)
    if about != SCORE and about not in parts:
        offered = ", ".join((SCORE, *parts))
        raise BadInput(
            f"the metric's score has no part {about!r}; choose one of: {offered}", pointer="/about"
        )


def with_elicited(request: Mapping[str, Any], result: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return a job's request with its explanation as one text. Explanations sent as fields are
    written out. If the request has no explanation, add the model's generated one."""
    elicited = ((result or {}).get("elicitation") or {}).get("explanation")
    field = "statement" if "statement" in request else "explanation"
    explanation = request.get(field) or elicited
    if isinstance(explanation, Mapping):
        with suppress(ValidationError):  # written by another version
            explanation = ExplanationFields.model_validate(explanation).written
    return {**request, field: explanation} if explanation else dict(request)


def field_of(evidence: Mapping[str, Any], judged: str) -> str:
    """Return the name of the request field in which this evidence was found. `judged` is the field
    that the metric judges."""
    return str(evidence.get("offsets_into") or evidence.get("field") or judged)


def check_spans(request: Mapping[str, Any], spans: Sequence[Mapping[str, Any]]) -> None:
    """Raise BadInput if a marked passage lies outside the texts of this request. The request must
    come from `with_elicited`."""
    for index, span in enumerate(spans):
        pointer = f"/spans/{index}"
        if request.get("do_not_store_text"):
            raise BadInput(
                "the job's texts are not stored, so no words can be marked; leave out `spans`",
                pointer="/spans",
            )
        text = request.get(span["of"])
        if not isinstance(text, str):
            detail = f"the request has no text {span['of']!r}"
            raise BadInput(detail, pointer=f"{pointer}/of")
        if not span["start"] < span["end"] <= len(text):
            detail = (
                f"the span is empty or ends outside {span['of']!r}, which has {len(text)} "
                "characters; check its offsets"
            )
            raise BadInput(detail, pointer=pointer)


def judgement_json(judgement: ReviewerJudgement, *, with_origin: bool = False) -> dict[str, Any]:
    """Return the judgement as JSON. `with_origin` adds who made it, which only keys of scope
    `admin` may see."""
    shown = asdict(judgement) | {"created_at": to_timestamp(judgement.created_at)}
    if not with_origin:
        shown |= dict.fromkeys(ORIGIN)
    return {"id": shown.pop("id"), "object": "judgement", **shown}


def queue_json(queue: ReviewQueue, progress: ReviewProgress) -> dict[str, Any]:
    names = ("name", "metric", "batch_id", "query", "order", "lines", "per_line", "blind", "seed")
    return {
        "id": queue.id,
        "object": "review_queue",
        **{name: getattr(queue, name) for name in names},
        "rubric": list(queue.rubric),
        "state": "open" if queue.closed_at is None else "closed",
        "created_at": to_timestamp(queue.created_at),
        "progress": asdict(progress),
    }


def next_item_json(item: ReviewItem | None, progress: ReviewProgress) -> dict[str, Any]:
    shown = (
        None if item is None else asdict(item) | {"leased_until": to_timestamp(item.leased_until)}
    )
    if shown is not None:
        del shown["place"]
    return {"object": "next_review", "item": shown, "progress": asdict(progress)}
