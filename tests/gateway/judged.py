"""A batch whose every line has a result, and a hand that does what the worker of reports does."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from sqlalchemy import Engine, func, insert, select

from services.registry import metrics, service
from shared.ledger.tables import DEFAULT_TENANT, batch_lines, batches, jobs
from shared.worker import tasks
from shared.worker.job import MessageDelivery, run_job
from tests.gateway.results import a_result

METRIC = "hatexscore"
FAR = timedelta(hours=1)


def make_batch(
    engine: Engine,
    scores: Sequence[float | None],
    *,
    tenant: str = DEFAULT_TENANT,
    model: str = "embedded-hate",
    **request: Any,
) -> tuple[str, list[str]]:
    """(the batch, its jobs): line n, custom id `line-n`, text `post number n`, of these scores."""
    batch_id = f"batch_{secrets.token_hex(16)}"
    ids = [f"job_{number:012x}{secrets.token_hex(10)}" for number in range(1, len(scores) + 1)]
    with engine.begin() as connection:
        connection.execute(
            insert(batches).values(
                id=batch_id, tenant=tenant, metric=METRIC, endpoint=f"/v1/scores/{METRIC}",
                input_file_id="f", metadata={}, status="completed", ending="completed",
                total=len(scores), completed=len(scores), failed=0,
                **dict.fromkeys(("expires_at", "completed_at"), _now(connection)),
            )
        )  # fmt: skip
        rows = list(enumerate(zip(ids, scores, strict=True), 1))
        connection.execute(
            insert(jobs),
            [
                {
                    "id": job_id, "metric": METRIC, "tenant": tenant, "status": "succeeded",
                    "request": _request(number, **request), "result": _result(score, model),
                    "batch_id": batch_id, "resend_at": _now(connection),
                    "finished_at": _now(connection),
                }
                for number, (job_id, score) in rows
            ],
        )  # fmt: skip
        connection.execute(
            insert(batch_lines),
            [
                {
                    "batch_id": batch_id, "number": number, "custom_id": f"line-{number}",
                    "fingerprint": str(number), "status": "succeeded",
                    "job_id": job_id,
                }
                for number, (job_id, _) in rows
            ],
        )  # fmt: skip
    return batch_id, ids


def _now(connection: Any) -> Any:
    return connection.execute(select(func.now())).scalar_one()


def _request(number: int, **more: Any) -> dict[str, Any]:
    said = {
        "text": f"post number {number} is quite friendly",
        "explanation": f"Post {number} greets its readers. Conclusion: the text is non-hateful.",
        "decision": "non-hateful",
    }
    return metrics()[METRIC].request.model_validate(said | more).model_dump(mode="json")


def _result(score: float | None, model: str) -> dict[str, Any]:
    found = a_result(0.0) | {"score": score, "verdict": _verdict(score)}
    found["provenance"] = dict(found["provenance"])
    found["provenance"]["models"] = [
        one | {"name": model} for one in found["provenance"]["models"][:1]
    ]
    found["provenance"]["text_key"] = None
    if score is None:
        found["reasons"] = [
            {"component": "score", "code": "no-words", "detail": "The text has no words."}
        ]
    return found


def _verdict(score: float | None) -> str:
    if score is None:
        return "not_tested"
    return "holds_up" if score >= 0.7 else "problem_found" if score < 0.4 else "not_tested"


def make_batch_of(engine: Engine, metric: str, scores: Sequence[float | None]) -> str:
    """A batch of this metric's first example, whose recorded result has these scores."""
    contract = metrics()[metric]
    body = next(iter(contract.examples.values()))
    asked = contract.request.model_validate(body).model_dump(mode="json")
    batch_id, ids = make_batch(engine, scores)
    with engine.begin() as connection:
        own = {"metric": metric, "endpoint": f"/v1/scores/{metric}"}
        connection.execute(batches.update().where(batches.c.id == batch_id).values(own))
        for job_id, score in zip(ids, scores, strict=True):
            result = a_result(0.0, metric) | {"score": score}
            values = {"metric": metric, "request": asked, "result": result}
            connection.execute(jobs.update().where(jobs.c.id == job_id).values(values))
    return batch_id


def run_reports(engine: Engine, metric: str = METRIC) -> list[str]:
    """Carry out every queued report of this metric; their ids."""
    tasks.register(service(metric))
    own = tasks.registered[f"{metric}-report"]
    with engine.connect() as connection:
        queued = select(jobs.c.id).where(
            jobs.c.metric == own.contract.name, jobs.c.status == "queued"
        )
        ids = list(connection.execute(queued).scalars())
    for job_id in ids:
        run_job(job_id, own.contract, own.score, MessageDelivery(batch=False, again=False))
    return ids


def quote_found(engine: Engine) -> None:
    """Let the result of the only job have a quotation, "quite friendly", that is in its post."""
    start = len("post number 1 is ")
    quote = {
        "kind": "quote", "offsets_into": "text", "start": start, "end": start + 14,
        "text": "quite friendly", "quoted_as": "quite friendly", "match": "exact", "value": 1.0,
    }  # fmt: skip
    with engine.begin() as connection:
        result = connection.execute(select(jobs.c.result)).scalar_one() | {"evidence": [quote]}
        connection.execute(jobs.update().values(result=result))
