"""`python -m bench.hops`: how many files and functions of ours one HateXScore job runs through.

Three legs, watched by `sys.setprofile` in all threads: the request that is accepted (POST), the job
in its worker, the answer that shows it (GET). A file counts once however many of its functions run.
What is imported, built or loaded once in a process does not count: the second job is watched. The
last line is JSON.
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

from starlette.testclient import TestClient

from bench.environment import environment
from cli.stack.servers import Child, Postgres, free_port, redis_child, redis_url
from services import worker
from services.gateway.app import create_app
from services.hatexscore.contract import CONTRACT
from services.worker import models_for
from shared.ledger.engine import ledger
from shared.ledger.migrate import migrate
from shared.models import ports
from shared.models.catalogue.catalogue import load_catalogue
from shared.process.settings import settings
from shared.worker import registered
from shared.worker.job import run_job

ROOT = Path(__file__).parents[1]
PRODUCT = (ROOT / "services", ROOT / "shared")


Functions = set[tuple[str, str]]  # (file, qualified name)


class Witness:
    """What of ours runs in any thread, under the name of the leg that is open."""

    def __init__(self) -> None:
        self._seen: dict[str, set[CodeType]] = {}
        self._open: set[CodeType] | None = None

    def install(self) -> None:
        """Watch this thread and all that start from now on."""
        threading.setprofile(self._note)
        sys.setprofile(self._note)

    def remove(self) -> None:
        """Watch no longer."""
        sys.setprofile(None)
        threading.setprofile(None)

    def _note(self, frame: FrameType, event: str, _argument: Any) -> None:
        if event == "call" and self._open is not None:
            self._open.add(frame.f_code)

    @contextmanager
    def leg(self, name: str) -> Iterator[None]:
        """What runs in this block belongs to this leg; another block of its name starts anew."""
        self._open = self._seen[name] = set()
        try:
            yield
        finally:
            self._open = None

    @property
    def functions(self) -> dict[str, Functions]:
        """leg → functions of the product; the bodies of modules and classes apart."""
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


def watched(body: dict[str, Any]) -> dict[str, Functions]:
    """leg → what ran through it, of the second of two jobs."""
    witness = Witness()
    witness.install()
    try:
        with TestClient(create_app(settings()), base_url="http://127.0.0.1") as client:
            for seed in (0, 1):
                with witness.leg("post"):
                    job = client.post(CONTRACT.path, json=body | {"seed": seed}).json()
                with witness.leg("worker"):
                    run_job(job["id"], CONTRACT, registered[CONTRACT.name].score)
                with witness.leg("get"):
                    answer = client.get(f"/v1/jobs/{job['id']}").json()
                if answer["status"] != "succeeded":
                    raise RuntimeError(f"the job has no score: {answer['error']}")
    finally:
        witness.remove()
    return witness.functions


@contextmanager
def _service() -> Iterator[None]:
    """A real Redis and PostgreSQL, and HateXScore's models in this process."""
    with ExitStack() as held:
        folder = Path(held.enter_context(tempfile.TemporaryDirectory()))
        postgres = Postgres(folder / "postgres")
        held.callback(postgres.stop)
        port = free_port()
        redis: Child = redis_child(folder / "redis", port, "hops")
        redis.start(folder)
        held.callback(redis.stop)
        os.environ |= {"DATABASE_URL": postgres.url, "REDIS_URL": redis_url(port, "hops")}
        settings.cache_clear()
        migrate(ledger())
        held.callback(ledger().dispose)
        ports.bind(models_for([CONTRACT.name], load_catalogue(settings().models_file), settings()))
        worker.register_all([CONTRACT.name])
        yield


def main() -> int:
    """Print the figures."""
    body = next(iter(CONTRACT.examples.values()))
    with _service():
        found = watched(body)
    files = {name: sorted({file for file, _ in ran}) for name, ran in found.items()}
    everything = set().union(*found.values())
    figures = {
        "files": len({file for file, _ in everything}),
        "functions": len(everything),
        "files_a_leg": {name: len(names) for name, names in files.items()},
        "names": files,
    }
    print(json.dumps({"bench": "hops", "figures": figures, "environment": environment()}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
