"""Batches from end to end without a worker: a real gateway, the scheduler's own duties called by
hand, and a hand that ends jobs as their text says."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
from sqlalchemy import Engine, select

from services.scheduler.attempts import PAUSE, Attempts
from services.scheduler.batch_feed import Feeder
from services.scheduler.batch_files import BatchFileWorker
from services.scheduler.failure_isolation import FailureIsolation
from shared.ledger import leases
from shared.ledger.tables import jobs
from shared.models.catalogue.catalogue import load_catalogue
from shared.process.settings import Settings
from shared.worker import registered
from shared.worker.job import MessageDelivery, run_job
from tests.ledger import MINUTE as MINUTE
from tests.ledger import must_claim

Json = dict[str, Any]

URL = "/v1/scores/hatexscore"
FINAL = {"completed", "failed", "expired", "cancelled"}
OWN = {"probabilities": {"original": 0.5, "masked": 0.5}, "explanation": "hateful"}
PATIENCE_SECONDS = 60.0  # a round of a test ends with its last step


def line(custom_id: str, text: str, **more: Any) -> Json:
    """A line of a batch."""
    body = OWN | {"text": text} | more
    return {"custom_id": custom_id, "method": "POST", "url": URL, "body": body}


def packed(lines: Iterable[Json | str | bytes]) -> bytes:
    """JSON Lines; what is no object stands as it is."""
    return b"\n".join(
        item
        if isinstance(item, bytes)
        else item.encode()
        if isinstance(item, str)
        else json.dumps(item).encode()
        for item in lines
    )


def upload(client: httpx.Client, content: bytes, **form: str) -> Json:
    """A new file."""
    answer = client.post(
        "/v1/files", data={"purpose": "batch"} | form, files={"file": ("in.jsonl", content)}
    )
    assert answer.status_code == 200, answer.text
    made: Json = answer.json()
    return made


@dataclass
class Scene:
    """A gateway, and everything that happens behind it."""

    client: httpx.Client
    engine: Engine
    chosen: Settings
    pause: timedelta = PAUSE  # after an attempt that did not come back

    def isolation(self) -> FailureIsolation:
        """A new scheduler's."""
        attempts = Attempts(self.engine, self.pause)
        return FailureIsolation(self.engine, rest_seconds=0, attempts=attempts)

    def feeder(self, **changed: Any) -> Feeder:
        """A scheduler's feeding."""
        chosen = self.chosen.model_copy(update=changed)
        return Feeder(self.engine, chosen, isolation=self.isolation())

    def filing(self, **changed: Any) -> BatchFileWorker:
        """A scheduler's filing."""
        chosen = self.chosen.model_copy(update=changed)
        return BatchFileWorker(
            self.engine,
            chosen,
            load_catalogue(chosen.models_file),
            isolation=self.isolation(),
            patience=PATIENCE_SECONDS,
        )

    def make(self, lines: Iterable[Json | str | bytes], **more: Any) -> Json:
        """A batch over a new file."""
        file = upload(self.client, packed(lines))
        answer = self.client.post(
            "/v1/batches", json={"input_file_id": file["id"], "endpoint": URL} | more
        )
        assert answer.status_code == 200, answer.text
        made: Json = answer.json()
        return made

    def batch(self, batch: Json) -> Json:
        """As it is now."""
        found: Json = self.client.get(f"/v1/batches/{batch['id']}").json()
        return found

    def read(self, batch: Json) -> Json:
        """Validate until nothing is left to validate."""
        while self.batch(batch)["status"] == "validating":
            self.filing().round()
        return self.batch(batch)

    def work(self, most: int = 1_000_000) -> int:
        """End the queued jobs, as their text says: `bad` fails, anything else succeeds."""
        with self.engine.begin() as connection:
            queued = connection.execute(
                select(jobs.c.id).where(jobs.c.status == "queued").order_by(jobs.c.id).limit(most)
            ).all()
            for row in queued:
                claim = must_claim(connection, row.id)
                text = claim.request["text"]
                if text.startswith("bad"):
                    error = {"type": "x/invalid-request", "status": 422, "detail": "too bad"}
                    assert leases.fail(connection, claim, error)
                else:
                    assert leases.succeed(connection, claim, {"score": 1, "echo": text})
        return len(queued)

    def finish(self, batch: Json, **changed: Any) -> Json:
        """Everybody does their duty until the batch is final."""
        feeder, filing = self.feeder(**changed), self.filing(**changed)
        for _ in range(10_000):
            filing.round()
            feeder.round()
            self.work()
            now = self.batch(batch)
            if now["status"] in FINAL:
                return now
        raise AssertionError(now)

    def file(self, file_id: str | None) -> list[Json]:
        """The lines of a file; none of no file."""
        if file_id is None:
            return []
        answer = self.client.get(f"/v1/files/{file_id}/content")
        assert answer.status_code == 200
        assert len(answer.content) == int(answer.headers["content-length"])
        return [json.loads(raw) for raw in answer.text.splitlines()]

    def job_count(self) -> Counter[str]:
        """status → jobs."""
        with self.engine.connect() as connection:
            return Counter(row.status for row in connection.execute(select(jobs.c.status)))


class WorkedScene(Scene):
    """Jobs are ended by the worker's own code, of the services that are registered here."""

    def work(self, most: int = 1_000_000) -> int:
        """Carry the queued jobs."""
        with self.engine.connect() as connection:
            query = select(jobs.c.id, jobs.c.metric, jobs.c.batch_id)
            queued = connection.execute(query.where(jobs.c.status == "queued").limit(most)).all()
        for job_id, name, batch_id in queued:
            task = registered[name]
            run_job(job_id, task.contract, task.score, MessageDelivery(batch=batch_id is not None))
        return len(queued)


def store_folder(chosen: Settings) -> Path:
    """Where the blobs lie."""
    return Path(chosen.files_url)
