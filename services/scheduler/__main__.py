"""The scheduler's process: `python -m services.scheduler`."""

from __future__ import annotations

import argparse
import signal
import threading
import time

from prometheus_client import start_http_server

from services.scheduler import promises
from shared import log
from shared.errors import Unavailable
from shared.ledger.engine import ledger
from shared.settings import Settings, settings

PURGE_EVERY_SECONDS = 600

logger = log.logger(__name__)


def run(stop: threading.Event, chosen: Settings) -> None:
    """Keep the promises until told to stop; what is away is asked again next round."""
    next_purge = time.monotonic()
    while not stop.wait(chosen.tick_seconds):
        try:
            promises.keep(ledger(), chosen)
            if time.monotonic() >= next_purge:
                promises.purge(ledger(), chosen)
                next_purge = time.monotonic() + PURGE_EVERY_SECONDS
        except Unavailable as error:
            logger.warning("scheduler.waits", detail=error.detail)


def main() -> None:
    """Run until SIGTERM or SIGINT."""
    argparse.ArgumentParser(prog="python -m services.scheduler", description=__doc__).parse_args()
    chosen = settings()
    log.configure(chosen.log_level, chosen.log_format)
    if chosen.metrics_port is not None:
        start_http_server(chosen.metrics_port, chosen.metrics_host)
    stop = threading.Event()
    for name in (signal.SIGTERM, signal.SIGINT):
        signal.signal(name, lambda *_: stop.set())
    logger.info("scheduler.started")
    run(stop, chosen)
    logger.info("scheduler.stopped")


if __name__ == "__main__":
    main()
