"""Runs a worker process: `python -m services.worker [hatexscore ...]`. Without a name it serves
every service. `metrics` and `models` stand for every service of that kind, so deployments need no
list. The worker gives the services access to models and registers their tasks."""

from __future__ import annotations

import argparse
import atexit
import gc
import os
import sys
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from functools import partial
from importlib.abc import MetaPathFinder
from pathlib import Path

from celery import signals

from services.explanations.explained_scores import bind_explainer
from services.inference.server_watch import ServerWatch
from services.registry import contracts, process_settings, service
from shared.contracts.errors import ScoringError
from shared.models import ports
from shared.models.catalogue.availability import ModelStates, StatusSender
from shared.models.catalogue.catalogue import Catalogue, load_catalogue
from shared.models.catalogue.reload import CatalogueReload
from shared.models.ports import Models, describe
from shared.models.remote import QueueModels
from shared.process import telemetry
from shared.process.settings import Settings, disable_download, environment_default, settings
from shared.process.stop_signal import setting
from shared.queue import broker
from shared.queue.job_context import limit_wait
from shared.queue.priority import NICENESS
from shared.queue.worker_board import WorkerSender
from shared.worker import register, registered
from shared.worker.batch_queues import BatchQueues, BatchRateLimiter, stopping
from shared.worker.process import Health, load_in_background, preload
from shared.worker.process import start_server as serve_health
from shared.worker.watchdog import watchdog

AWAY_SECONDS = 15.0  # that a start waits for models that give no answer
SWITCH_SECONDS = 0.0005  # a thread that wakes waits no longer for one that computes
BATCH_SHARE = 0.4  # of one processor, for lines of batches while interactive jobs come
MODEL_SERVICES = frozenset({"inference", "similarity"})
PATIENCE_SECONDS = 2.0  # of a worker's thread, for a model that another thread is loading

logger = telemetry.logger(__name__)


def has_local_models(services: Collection[str], chosen: Settings) -> bool:
    """Return True if a worker for these services holds its models in this process."""
    return chosen.binding != "queue" or bool(MODEL_SERVICES & set(services))


def models_for(
    services: Collection[str],
    catalogue: Catalogue,
    chosen: Settings,
    states: ModelStates | None = None,
) -> Models:
    """Return the models for a worker that serves these services. `states` records the states of
    models in this process."""
    if not has_local_models(services, chosen):
        return QueueModels(catalogue, states)
    return local(catalogue, states, PATIENCE_SECONDS)


def local(
    catalogue: Catalogue, states: ModelStates | None = None, patience: float | None = None
) -> Models:
    """Return models that are loaded in this process."""
    from services.inference.local_models import LocalModels  # torch: only where models are held
    from services.similarity.encoders import LocalSimilarityModels

    similarities = LocalSimilarityModels(catalogue, None, states, patience)
    return LocalModels(catalogue, similarities.similarity, None, states, patience)


def register_all(names: list[str]) -> None:
    bind_explainer()
    for name in names:
        register(service(name))


def needed(names: list[str], catalogue: Catalogue) -> list[str]:
    """Return the models that this worker loads at start: the default models of its services. A
    model service also loads the local models of its kinds that have `load = "start"`."""
    known = {entry.name for entry in catalogue.entries}
    default = [registered[name].contract.default_model for name in names]
    held = [
        entry.name
        for name in MODEL_SERVICES & set(names)
        for entry in catalogue.entries
        if entry.kind in registered[name].contract.model_kinds
        and entry.load == "start"
        and not entry.is_served  # another server's pause must not stop what is held here
    ]
    return list(dict.fromkeys([*(name for name in default if name in known), *held]))


def warm_up() -> None:
    """Score each service's examples before any job arrives, since language analysers take seconds
    to load. Unavailable models are waited for once, not for each example."""
    with limit_wait(AWAY_SECONDS):
        for task in registered.values():
            # Each by itself: an example's model may be away, or not configured at all.
            started, scored = time.perf_counter(), 0
            for name, example in task.contract.examples.items():
                try:
                    task.score(task.contract.request.model_validate(example))
                    scored += 1
                except ScoringError as error:
                    service = task.contract.name
                    logger.warning(
                        "service.cold", service=service, example=name, detail=error.detail
                    )
            seconds = round(time.perf_counter() - started, 2)
            logger.info(
                "service.warm", service=task.contract.name, examples=scored, seconds=seconds
            )


class NoTorch(MetaPathFinder):
    """Makes every import of torch fail, even if torch is installed."""

    def find_spec(self, name: str, *_: object) -> None:
        if name.partition(".")[0] == "torch":
            raise ModuleNotFoundError(
                "this worker loads no models, so torch is not available", name=name
            )


def block_torch() -> None:
    """Prevent imports of torch in a worker without models. Otherwise spaCy would import it, which
    takes seconds at every start and 150 MB."""
    sys.meta_path.insert(0, NoTorch())


def parse(arguments: list[str] | None) -> list[str]:
    """Return the services that this worker serves."""
    known = list(contracts())
    groups = {"models": sorted(MODEL_SERVICES)}
    groups["metrics"] = [name for name in known if name not in MODEL_SERVICES]
    parser = argparse.ArgumentParser(prog="python -m services.worker", description=__doc__)
    choices = ", ".join((*groups, *known))
    parser.add_argument("services", nargs="*", metavar="SERVICE", help=f"of {choices}")
    named: list[str] = parser.parse_args(arguments).services
    chosen = list(dict.fromkeys(one for name in named for one in groups.get(name, [name])))
    unknown = sorted(set(chosen) - set(known))
    if unknown:
        parser.error(f"no such service: {', '.join(unknown)}; choose one of: {', '.join(known)}")
    return chosen or known


def run_worker(names: list[str], chosen: Settings) -> None:
    """Process jobs and model calls until SIGTERM. Batches run in separate threads."""
    calls = [f"model.{name}" for name in names if name in MODEL_SERVICES]
    queues = [*calls, *map(broker.task_name, registered)]
    pace = BatchRateLimiter(BATCH_SHARE)
    threads = chosen.threads_for_batches
    batches = BatchQueues([broker.batch_queue(name) for name in queues], threads, pace)
    signals.task_received.connect(lambda **_: pace.record_interactive(), weak=False)
    signals.worker_shutting_down.connect(setting(stopping), weak=False)
    sys.setswitchinterval(SWITCH_SECONDS)
    batches.start()
    try:
        consume(queues, chosen)
    finally:
        batches.stop()


def update_models(
    names: list[str], catalogue: Catalogue, health: Health, changed: list[str]
) -> None:
    """Unload the models that changed, and reload those that the worker loads at start."""
    for name in changed:
        health.models.remove(name)
    report_errors(catalogue, health.models)
    again = [name for name in needed(names, catalogue) if name in changed]
    load_in_background(partial(describe, ports.models()), again, health)


def report_errors(catalogue: Catalogue, states: ModelStates) -> None:
    """Log the invalid entries of the catalogue and mark their models as `failed`."""
    for fault in catalogue.faults:
        logger.error("model.misconfigured", model=fault.name, detail=fault.reason)
        states.set(fault.name, "failed", fault.reason)


def consume(queues: list[str], chosen: Settings) -> None:
    """Run Celery's consumer until SIGTERM."""
    quiet = ("--without-gossip", "--without-mingle", "--without-heartbeat")
    level = ("--loglevel", chosen.log_level.upper())
    threads = ("--pool", "threads", "--concurrency", str(chosen.worker_threads))
    broker.app.worker_main(["worker", *threads, *quiet, "--queues", ",".join(queues), *level])


def health_of(names: list[str], states: ModelStates, chosen: Settings) -> Health:
    """Return the health of this process. It is sent to the gateway and, if a port is configured,
    served over HTTP."""
    health = Health(states)
    worker = WorkerSender(names, lambda: health.obstacles)
    worker.start()
    atexit.register(worker.stop)
    if chosen.metrics_port is not None:
        serve_health(health, chosen.metrics_host, chosen.metrics_port)
    return health


@contextmanager
def permanent() -> Iterator[None]:
    """Keep all objects created in this block until the process ends. The garbage collector never
    scans them, which saves half a second per collection."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def make_ready(names: list[str], catalogue: Catalogue, health: Health) -> None:
    """Register the services and load the models. If the setting `warm_up` is on, also score the
    examples of each service."""
    with permanent():
        register_all(names)
    preload(partial(describe, ports.models()), needed(names, catalogue), health)
    if settings().warm_up:
        health.obstruct("worker", "is warming up by scoring the examples of its services")
        warm_up()
    gc.freeze()


def main(arguments: list[str] | None = None) -> None:
    names = parse(arguments)
    if MODEL_SERVICES.issuperset(names):
        os.nice(NICENESS)  # rows of models leave the processor to who waits for none
    else:  # several models compute at a time, beside jobs; a thread without a free core spins
        environment_default("OMP_NUM_THREADS", str(max(1, (os.cpu_count() or 1) // 2)))
    disable_download()
    chosen = process_settings()
    try:
        broker.take_from(names)
    except ValueError as error:
        sys.exit(str(error))
    telemetry.configure_logging(chosen.log_level, chosen.log_format)
    telemetry.configure_tracing(f"worker-{'-'.join(names)}")
    states = ModelStates()
    health = health_of(names, states, chosen)
    catalogue = load_catalogue(chosen.models_file)
    ServerWatch(catalogue, states).start()
    report_errors(catalogue, states)
    with permanent():
        ports.bind(models_for(names, catalogue, chosen, states))
    if has_local_models(names, chosen):
        StatusSender(states).start()
    else:
        block_torch()
    make_ready(names, catalogue, health)
    watchdog.start()
    health.ailment = watchdog.health_error
    health.clear("worker")
    watch_file(catalogue, chosen.models_file, partial(update_models, names, catalogue, health))
    logger.info("worker.started", services=names, threads=chosen.worker_threads)
    run_worker(names, chosen)


def watch_file(catalogue: Catalogue, file: Path, changed: Callable[[list[str]], None]) -> None:
    """Keep the catalogue in step with its file from now on. `changed` is called with the names of
    changed models."""
    reread = CatalogueReload(catalogue, file, changed)
    reread.update()
    reread.start()
    # Celery takes the signal for itself when it starts
    signals.worker_ready.connect(lambda **_: reread.on_signal(), weak=False)


if __name__ == "__main__":
    main()
