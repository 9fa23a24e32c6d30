"""The scheduler's process: `python -m services.scheduler`."""

from __future__ import annotations

import argparse
import os
import signal
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from services.registry import process_settings
from services.scheduler import recovery
from services.scheduler.batch_feed import Feeder
from services.scheduler.batch_files import BatchFileWorker
from services.scheduler.clock import ClockWatch
from services.scheduler.facts import Facts
from services.scheduler.failure_isolation import FailureIsolation
from services.scheduler.health import TaskMonitor, start_server
from services.scheduler.retention import PrivateInputs, Retention
from services.scheduler.wakeups import Wakeups
from services.scheduler.webhooks import delivering
from shared.contracts.errors import Unavailable
from shared.ledger.engine import ledger
from shared.ledger.file_store import FileStore
from shared.models.catalogue.catalogue import load_catalogue
from shared.models.catalogue.reload import CatalogueReload
from shared.process import telemetry
from shared.process.settings import Settings
from shared.process.stop_signal import setting
from shared.queue.priority import NICENESS

DUTY_SECONDS = 3_600.0  # a duty that took longer than this makes the scheduler unhealthy
PURGE_EVERY_SECONDS = 600
CLOCK_EVERY_SECONDS = 2.5  # a quarter of the time for which a note of the clock is recent
STORE_EVERY_SECONDS = 10.0
FACTS_EVERY_SECONDS = 2.0
LOOK_SECONDS = 0.1
STOP_SECONDS = 10.0  # for running tasks at the end; a file store that hangs never returns
PRIVATE_EVERY_SECONDS = 5.0
BUSY_SECONDS = 0.01
FIRST_SECONDS = 1.0  # after the start, so that frequent restarts do not prevent purges

logger = telemetry.logger(__name__)


@dataclass(frozen=True)
class PeriodicTask:
    """A task that repeats in its own thread, so that tasks do not delay each other."""

    name: str
    work: Callable[[], int | None]  # returns the work done; a task with more to do does not rest
    every_seconds: float

    def run_until(self, stop: threading.Event, rounds: TaskMonitor) -> None:
        """Repeat the task until `stop` is set. After a crash, it is tried again in the next
        round."""
        pause = min(self.every_seconds, FIRST_SECONDS)
        rounds.begin(self.name)
        while not stop.wait(pause):
            rounds.begin(self.name)
            pause = self.every_seconds
            try:
                if self.work():
                    pause = min(pause, BUSY_SECONDS)
            except Unavailable as error:
                logger.warning("scheduler.waits", duty=self.name, detail=error.detail)
            except Exception:
                logger.exception("scheduler.crashed", duty=self.name)


def periodic_tasks(settings: Settings, isolation: FailureIsolation) -> list[PeriodicTask]:
    engine, catalogue = ledger(), load_catalogue(settings.models_file)
    reread = CatalogueReload(catalogue, settings.models_file)
    reread.update()
    reread.start()
    feeder = Feeder(engine, settings, isolation=isolation)
    filing = BatchFileWorker(engine, settings, catalogue, isolation=isolation)
    tick = settings.tick_seconds
    return [
        PeriodicTask("clock", ClockWatch(engine, settings).round, min(tick, CLOCK_EVERY_SECONDS)),
        PeriodicTask("recovery", lambda: recovery.recover(engine, settings), tick),
        PeriodicTask("wakeups", Wakeups(engine).round, tick),
        PeriodicTask("feeding", lambda: feeder.round() and None, tick),
        PeriodicTask("filing", filing.round, tick),
        PeriodicTask(
            "file store", FileStore(settings.files_url, engine).check, STORE_EVERY_SECONDS
        ),
        PeriodicTask("facts", Facts(engine).round, FACTS_EVERY_SECONDS),
        PeriodicTask(
            "private inputs", PrivateInputs(engine, settings).round, PRIVATE_EVERY_SECONDS
        ),
        PeriodicTask("purging", Retention(engine, settings).round, PURGE_EVERY_SECONDS),
    ]


def run(stop: threading.Event, settings: Settings, rounds: TaskMonitor) -> None:
    """Run all periodic tasks until `stop` is set. Tasks that take much longer to end are
    abandoned."""
    isolation = FailureIsolation(ledger())
    threads = [
        threading.Thread(target=duty.run_until, args=(stop, rounds), name=duty.name, daemon=True)
        for duty in periodic_tasks(settings, isolation)
    ]
    for thread in threads:
        thread.start()
    while not stop.is_set():  # not `wait`: the signal's handler would need the same lock
        time.sleep(LOOK_SECONDS)
    until = time.monotonic() + STOP_SECONDS
    for thread in threads:
        thread.join(max(0.0, until - time.monotonic()))
    isolation.close()  # a batch is not blamed for a step that hangs


def main() -> None:
    """Run the scheduler until SIGTERM or SIGINT."""
    argparse.ArgumentParser(prog="python -m services.scheduler", description=__doc__).parse_args()
    settings = process_settings()
    telemetry.configure_logging(settings.log_level, settings.log_format)
    telemetry.configure_tracing("scheduler")
    rounds = TaskMonitor(DUTY_SECONDS)
    if settings.metrics_port is not None:
        start_server(rounds, settings.metrics_host, settings.metrics_port)
    os.nice(NICENESS)  # interactive jobs go before reading and writing of batches
    stop = threading.Event()
    end = setting(stop)
    for name in (signal.SIGTERM, signal.SIGINT):
        signal.signal(name, end)
    logger.info("scheduler.started")
    with delivering(ledger(), settings, stop):
        run(stop, settings, rounds)
    logger.info("scheduler.stopped")


if __name__ == "__main__":
    main()
