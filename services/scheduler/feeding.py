"""A round of the batches: settle what has ended, give up what is late, feed what waits.

Source: design.md §3. Every step is a transaction of its own, and the ledger is the truth: killed
at any point, the next round (or another scheduler's) goes on.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta

from sqlalchemy import Engine

from services.gateway.rooms import rooms
from services.scheduler.fairness import by_metric, shares
from services.scheduler.lines import InvalidLine, Reader
from shared import log, metrics, queue
from shared.catalogue import Catalogue
from shared.errors import Unavailable, UnknownFile
from shared.files import FileStore
from shared.ledger import ending, feeding, jobs
from shared.ledger.engine import transaction
from shared.ledger.feeding import Hungry, NewJob
from shared.settings import Settings

CANCEL_PATIENCE = timedelta(minutes=10)  # for jobs that run when their batch is cancelled

logger = log.logger(__name__)


class Feeder:
    """What one scheduler needs to feed batches."""

    def __init__(self, engine: Engine, chosen: Settings, catalogue: Catalogue) -> None:
        self._engine = engine
        self._chosen = chosen
        self._catalogue = catalogue
        self._store = FileStore(chosen.files_url)

    def round(self) -> int:
        """One round; how many jobs were made. Raises Unavailable where a store is away."""
        with transaction(self._engine) as connection:
            feeding.settle(connection)
        with transaction(self._engine) as connection:
            ending.finish_answered(connection)
            ending.expire(connection)
            ending.wind_up(connection, CANCEL_PATIENCE)
        with transaction(self._engine) as connection:
            hungry = feeding.hungry(connection)
            counts = feeding.open_jobs(connection) if hungry else {}
        return sum(self._feed_metric(group, counts) for group in _grouped(hungry))

    def _feed_metric(self, hungry: list[Hungry], counts: Mapping[tuple[str, str], int]) -> int:
        metric = hungry[0].metric
        given = shares(
            {batch.id: batch.left for batch in hungry},
            by_metric(counts, [metric])[metric],
            self._chosen.batch_window,
        )
        return sum(self._feed(batch, given[batch.id]) for batch in hungry if given[batch.id])

    def _feed(self, batch: Hungry, count: int) -> int:
        """Make jobs of the batch's next lines, at most so many, and send them."""
        with transaction(self._engine) as connection:
            waiting = feeding.take(connection, batch.id, count)
            if not waiting:
                return 0
            try:
                made = self._jobs(batch, waiting)
            except (UnknownFile, InvalidLine):  # gone, or written for another version
                logger.error("batch.input_lost", batch=batch.id, file=batch.input_file_id)
                feeding.lose_input(connection, batch.id)
                return 0
            again = timedelta(seconds=self._chosen.resend_seconds)
            feeding.feed(connection, batch, made, again)
        metrics.JOBS_ACCEPTED.labels(batch.metric).inc(len(made))
        self._send(batch, made)
        return len(made)

    def _jobs(self, batch: Hungry, waiting: list[feeding.Waiting]) -> list[NewJob]:
        reader = reader_for(batch.metric, self._chosen, self._catalogue)
        made = []
        with self._store.reading(batch.input_file_id) as stream:
            for line in waiting:
                stream.seek(line.start)
                _, asked = reader.read(stream.read(line.length))
                request = asked.model_dump(mode="json")
                made.append(NewJob(jobs.new_id(), line.fingerprint, request))
        return made

    def _send(self, batch: Hungry, made: list[NewJob]) -> None:
        """Hint to the queue; where it is away the commit stands and the promises send later."""
        try:
            for new in made:
                queue.send(batch.metric, new.id, batch=True)
        except Unavailable as error:
            logger.warning("batch.not_sent", batch=batch.id, detail=error.detail)


def reader_for(metric: str, chosen: Settings, catalogue: Catalogue) -> Reader:
    """What lines of a batch of this metric are measured against. Raises InvalidLine."""
    room = rooms().get(metric)
    if room is None:
        raise InvalidLine(f"there is no metric {metric!r}", slug="unknown_metric", pointer="#/url")
    return Reader(
        room,
        room.path,
        catalogue,
        most_lines=chosen.max_batch_lines,
        most_body_bytes=chosen.max_body_bytes,
        work_limit=chosen.work_limit,
    )


def _grouped(hungry: list[Hungry]) -> list[list[Hungry]]:
    groups: dict[str, list[Hungry]] = {}
    for batch in hungry:
        groups.setdefault(batch.metric, []).append(batch)
    return list(groups.values())
