"""A worker's process: `python -m services.worker [hatexscore ...]`; no name means every room.

The place where rooms and models meet: it binds the model port to the models of this process and
opens the rooms' doors to the queue.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import pkgutil

from prometheus_client import start_http_server

import services
from services.inference.local import LocalModels
from shared import log, models, queue
from shared.catalogue import load_catalogue
from shared.errors import Unavailable
from shared.settings import Settings, settings
from shared.worker import rooms

logger = log.logger(__name__)


def rooms_with_a_door() -> list[str]:
    """Every `services/*/task.py`, by name of its folder."""
    return sorted(
        folder.name
        for folder in pkgutil.iter_modules(services.__path__)
        if folder.ispkg and importlib.util.find_spec(f"services.{folder.name}.task")
    )


def open_doors(names: list[str]) -> None:
    """Register the rooms' Celery tasks, and load what they need before the first job comes."""
    for name in names:
        importlib.import_module(f"services.{name}.task")
    for room in rooms.values():
        try:
            room.warm_up()
        except Unavailable as error:  # the model may be back when a job comes
            logger.warning("room.cold", metric=room.metric.name, detail=error.detail)


def parse(arguments: list[str] | None) -> list[str]:
    """The rooms that this worker serves."""
    known = rooms_with_a_door()
    parser = argparse.ArgumentParser(prog="python -m services.worker", description=__doc__)
    parser.add_argument("rooms", nargs="*", metavar="ROOM", help=f"of {', '.join(known)}")
    chosen: list[str] = parser.parse_args(arguments).rooms
    unknown = sorted(set(chosen) - set(known))
    if unknown:
        parser.error(f"no such room: {', '.join(unknown)}; there are: {', '.join(known)}")
    return chosen or known


def serve(names: list[str], chosen: Settings) -> None:
    """Take jobs from the rooms' lanes, interactive before batch, until SIGTERM."""
    lanes = ",".join(lane.name for lane in queue.lanes(names))
    quiet = ("--without-gossip", "--without-mingle", "--without-heartbeat")
    threads = ("--pool", "threads", "--concurrency", str(chosen.worker_threads))
    queue.app.worker_main(
        ["worker", *threads, *quiet, "--queues", lanes, "--loglevel", chosen.log_level.upper()]
    )


def main(arguments: list[str] | None = None) -> None:
    """The command."""
    names = parse(arguments)
    chosen = settings()
    log.configure(chosen.log_level, chosen.log_format)
    if chosen.metrics_port is not None:
        start_http_server(chosen.metrics_port)
    models.bind(LocalModels(load_catalogue(chosen.models_file)))
    open_doors(names)
    logger.info("worker.started", rooms=names, threads=chosen.worker_threads)
    serve(names, chosen)


if __name__ == "__main__":
    main()
