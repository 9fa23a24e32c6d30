"""`python -m bench.hops`: counts the files and functions that one job runs through.

It follows a HateXScore request (POST, worker, GET) and a line of an ICE batch (upload, create,
validate, feed, worker, settle, write, status, download) with `sys.setprofile` in all threads. A
file counts once, even if several of its functions run. The second job is traced, so imports and
objects that a process builds only once do not count. The last line is JSON.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

from sqlalchemy import select
from starlette.testclient import TestClient

from bench.environment import environment
from cli.stack.servers import Child, Postgres, free_port, redis_child, redis_url
from services import worker
from services.gateway.app import create_app
from services.registry import contracts
from services.scheduler.batch_feed import Feeder
from services.scheduler.batch_files import BatchFileWorker
from services.worker import models_for
from shared.ledger.engine import ledger
from shared.ledger.migrate import migrate
from shared.ledger.tables import jobs
from shared.models import ports
from shared.models.catalogue.catalogue import load_catalogue
from shared.process.settings import settings
from shared.worker import registered
from shared.worker.job import MessageDelivery, run_job

ROOT = Path(__file__).parents[1]
PRODUCT = (ROOT / "services", ROOT / "shared")


Functions = set[tuple[str, str]]  # (file, qualified name)


class Witness:
    """Records which functions of the product run in any thread, for the current part of the job's
    way (leg)."""

    def __init__(self) -> None:
        self._seen: dict[str, set[CodeType]] = {}
        self._open: set[CodeType] | None = None

    def install(self) -> None:
        """Trace this thread and all threads that start later."""
        threading.setprofile(self._note)
        sys.setprofile(self._note)

    def remove(self) -> None:
        """Stop tracing."""
        sys.setprofile(None)
        threading.setprofile(None)

    def _note(self, frame: FrameType, event: str, _argument: Any) -> None:
        if event == "call" and self._open is not None:
            self._open.add(frame.f_code)

    @contextmanager
    def leg(self, name: str) -> Iterator[None]:
        """Record the code that runs in this block under the name of the leg. A later block of the
        same name replaces the record."""
        self._open = self._seen[name] = set()
        try:
            yield
        finally:
            self._open = None

    @property
    def functions(self) -> dict[str, Functions]:
        """Return the product's functions that ran in each leg, without bodies of modules and
        classes."""
        return {
            name: {
                (str(Path(code.co_filename).relative_to(ROOT)), code.co_qualname)
                for code in seen
                if code.co_name != "<module>" and _is_ours(code.co_filename)
            }
            for name, seen in self._seen.items()
        }


def _is_ours(file: str) -> bool:
    return any(top in Path(file).parents for top in PRODUCT)


def follow_request(client: TestClient, witness: Witness) -> None:
    """Send one HateXScore request, run its job and read the answer."""
    contract = contracts()["hatexscore"]
    body = next(iter(contract.examples.values()))
    for seed in (0, 1):
        with witness.leg("post"):
            job = client.post(contract.path, json=body | {"seed": seed}).json()
        with witness.leg("worker"):
            run_job(job["id"], contract, registered[contract.name].score)
        with witness.leg("get"):
            answer = client.get(f"/v1/jobs/{job['id']}").json()
        if answer["status"] != "succeeded":
            raise RuntimeError(f"the job has no score: {answer['error']}")


def follow_line(client: TestClient, witness: Witness) -> None:
    """Upload a file with one ICE line, run its batch and download the output."""
    contract = contracts()["ice"]
    body = next(iter(contract.examples.values()))
    filing = BatchFileWorker(ledger(), settings(), load_catalogue(settings().models_file))
    feeder = Feeder(ledger(), settings())
    for seed in (0, 1):
        line = {"custom_id": "a", "method": "POST", "url": contract.path}
        raw = json.dumps(line | {"body": body | {"seed": seed}}).encode()
        with witness.leg("upload"):
            files = {"file": ("in.jsonl", raw)}
            file = client.post("/v1/files", data={"purpose": "batch"}, files=files).json()
        with witness.leg("create"):
            wanted = {"input_file_id": file["id"], "endpoint": contract.path}
            batch = client.post("/v1/batches", json=wanted).json()
        with witness.leg("validate"):
            filing.round()
        with witness.leg("feed"):
            feeder.round()
        with ledger().connect() as connection:
            query = select(jobs.c.id).where(jobs.c.batch_id == batch["id"])
            job_id = connection.execute(query).scalar_one()
        with witness.leg("worker"):
            delivery = MessageDelivery(batch=True)
            run_job(job_id, contract, registered[contract.name].score, delivery)
        with witness.leg("settle"):
            feeder.round()
        with witness.leg("write"):
            filing.round()
        with witness.leg("status"):
            ended = client.get(f"/v1/batches/{batch['id']}").json()
        with witness.leg("download"):
            output = client.get(f"/v1/files/{ended['output_file_id']}/content")
        if json.loads(output.text)["response"]["status_code"] != 200:
            raise RuntimeError("the line has no score")


WAYS = {"hatexscore_request": follow_request, "ice_batch_line": follow_line}


def watched() -> dict[str, dict[str, Functions]]:
    """Return the functions that ran, by kind of job and leg."""
    found = {}
    for name, follow in WAYS.items():
        witness = Witness()
        witness.install()
        try:
            with TestClient(create_app(settings()), base_url="http://127.0.0.1") as client:
                follow(client, witness)
        finally:
            witness.remove()
        found[name] = witness.functions
    return found


@contextmanager
def _service() -> Iterator[None]:
    """Start a real Redis and PostgreSQL, with the models of both metrics in this process."""
    with ExitStack() as held:
        folder = Path(held.enter_context(tempfile.TemporaryDirectory()))
        postgres = Postgres(folder / "postgres")
        held.callback(postgres.stop)
        port = free_port()
        redis: Child = redis_child(folder / "redis", port, "hops")
        redis.start(folder)
        held.callback(redis.stop)
        os.environ |= {"DATABASE_URL": postgres.url, "REDIS_URL": redis_url(port, "hops")}
        os.environ["TOUCHSTONE_FILES_URL"] = str(folder / "files")
        settings.cache_clear()
        migrate(ledger())
        held.callback(ledger().dispose)
        names = ["hatexscore", "ice"]
        ports.bind(models_for(names, load_catalogue(settings().models_file), settings()))
        worker.register_all(names)
        yield


def main() -> int:
    with _service():
        ways = watched()
    figures = {}
    for way, legs in ways.items():
        everything = set().union(*legs.values())
        files = {leg: sorted({file for file, _ in ran}) for leg, ran in legs.items()}
        figures[way] = {
            "files": len({file for file, _ in everything}),
            "functions": len(everything),
            "files_a_leg": {leg: len(names) for leg, names in files.items()},
            "functions_a_leg": {leg: len(ran) for leg, ran in legs.items()},
            "names": files,
        }
    print(json.dumps({"bench": "hops", "figures": figures, "environment": environment()}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
