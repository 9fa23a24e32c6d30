"""Model servers that cannot be reached are `away`, and their jobs wait: nobody's attempt is lost.

A worker asks each server of its catalogue now and then; whatever it answers, it is there. One that
is away is asked again after 10 s, then ever later, up to 5 min. Source: specs "models" §2.4.
"""

from __future__ import annotations

import threading
from time import monotonic

import httpx

from shared import telemetry
from shared.models.availability import ModelStates
from shared.models.catalogue import Catalogue
from shared.models.entry import ModelEntry

LOOK_SECONDS = 1.0
AGAIN_SECONDS, LONGEST_SECONDS = 10.0, 300.0  # while it is away: it doubles
WELL_SECONDS = 30.0  # between two looks at one that answers
CONNECT_SECONDS = 5.0

logger = telemetry.logger(__name__)


class ServerWatch:
    """The servers of one process's catalogue."""

    def __init__(self, catalogue: Catalogue, states: ModelStates) -> None:
        self._catalogue, self._states = catalogue, states
        self._due: dict[str, float] = {}
        self._pause: dict[str, float] = {}

    def start(self) -> None:
        threading.Thread(target=self._run, name="model-servers", daemon=True).start()

    def look(self) -> None:
        """Ask those whose time has come."""
        for entry in self._catalogue.entries:
            if entry.is_served and monotonic() >= self._due.get(entry.name, 0.0):
                self._ask(entry)

    def _ask(self, entry: ModelEntry) -> None:
        reason = unreachable(entry.location)
        if reason is None:
            self._states.set(entry.name, "ready")
            self._pause.pop(entry.name, None)
            pause = WELL_SECONDS
        else:
            detail = f"the server of {entry.name!r} cannot be reached: {reason}"
            self._states.set(entry.name, "away", detail)
            before = self._pause.get(entry.name)
            pause = AGAIN_SECONDS if before is None else min(LONGEST_SECONDS, 2 * before)
            self._pause[entry.name] = pause
        self._due[entry.name] = monotonic() + pause

    def _run(self) -> None:
        stop = threading.Event()
        while True:
            try:
                self.look()
            except Exception:
                logger.exception("servers.look_failed")
            stop.wait(LOOK_SECONDS)


def unreachable(url: str) -> str | None:
    """Why nobody answers there; None: somebody does."""
    try:
        httpx.head(url, timeout=CONNECT_SECONDS)
    except httpx.ConnectError as error:
        return str(error) or "no connection"
    except httpx.ConnectTimeout:
        return f"no connection within {CONNECT_SECONDS:g} s"
    except (httpx.HTTPError, httpx.InvalidURL):  # it is there, whatever it says
        return None
    return None
