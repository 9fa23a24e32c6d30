"""The queue's door to nothing."""

from services.noop.contract import (  # type: ignore[import-not-found]  # see bench.extended
    ROOM,
    NoopReport,
    NoopRequest,
)

from shared.worker import door


def score(_request: NoopRequest) -> NoopReport:
    """Nothing."""
    return NoopReport(done=True)


task = door(ROOM, score)
