"""A minimal system for comparison: it validates a body, inserts a row, pushes a message, and runs a
task.

`python -m bench.minimal gateway` serves HTTP at PORT; `python -m bench.minimal worker` runs a bare
Celery task. It has no recovery, leases, error documents or limits, and does not find lost jobs.
"""

from __future__ import annotations

import os
import secrets
import sys

import uvicorn
from celery import Celery
from fastapi import FastAPI
from redis import Redis
from sqlalchemy import JSON, Column, MetaData, String, Table, create_engine, insert

from bench.services.noop.contract import NoopRequest
from services.hatexscore.contract import HatexscoreRequest
from shared.contracts.messages import JobRequest
from shared.ledger.engine import sqlalchemy_url

ROWS = Table(
    "minimal_rows", MetaData(), Column("id", String, primary_key=True), Column("body", JSON)
)
TASK = "minimal.task"

celery = Celery("minimal", broker=os.environ.get("REDIS_URL"))
celery.conf.update(task_ignore_result=True, worker_prefetch_multiplier=1)


@celery.task(name=TASK)  # type: ignore[untyped-decorator]
def nothing(_row_id: str) -> None:
    """Do nothing."""


def make_app() -> FastAPI:
    """Return an app of two routes: one pushes a bare Redis message, one sends a Celery task."""
    engine = create_engine(sqlalchemy_url(os.environ["DATABASE_URL"]), pool_size=40)
    ROWS.metadata.create_all(engine)
    redis = Redis.from_url(os.environ["REDIS_URL"])
    app = FastAPI()

    def inserted(asked: JobRequest) -> str:
        row_id = f"row_{secrets.token_hex(16)}"
        with engine.begin() as connection:
            connection.execute(insert(ROWS).values(id=row_id, body=asked.model_dump(mode="json")))
        return row_id

    @app.post("/v1/scores/hatexscore", status_code=202)
    def accept(asked: HatexscoreRequest) -> dict[str, str]:
        row_id = inserted(asked)
        redis.lpush("minimal", row_id)
        return {"id": row_id}

    @app.post("/v1/noop", status_code=202)
    def dispatch(asked: NoopRequest) -> dict[str, str]:
        row_id = inserted(asked)
        celery.send_task(TASK, args=(row_id,))
        return {"id": row_id}

    return app


def main() -> None:
    if sys.argv[1] == "gateway":
        port = int(os.environ["PORT"])
        uvicorn.run(make_app(), host="127.0.0.1", port=port, log_config=None, access_log=False)
    else:
        quiet = ["--without-gossip", "--without-mingle", "--without-heartbeat"]
        celery.worker_main(
            ["worker", "--pool", "threads", "--concurrency", "32", *quiet, "--loglevel", "ERROR"]
        )


if __name__ == "__main__":
    main()
