"""Health of model servers. Jobs for an unreachable server wait, without using up attempts.

A worker polls each server of its catalogue. A server that does not respond, or whose proxy responds
for it (status 502 to 504), is `away` and polled again after 10 s, then at growing intervals up to
5 min. A classification server with unreadable outputs is `failed`, with the error that its jobs
would get.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from time import monotonic

import httpx
from redis.exceptions import RedisError

from shared.models import server_records
from shared.models.bounded_client import HEAD_BYTES, bounded_client, receive
from shared.models.catalogue.availability import ModelStates
from shared.models.catalogue.catalogue import Catalogue
from shared.models.catalogue.entry import ModelEntry
from shared.models.server_records import ServerAbilities
from shared.process import telemetry

LOOK_SECONDS = 1.0
AGAIN_SECONDS, LONGEST_SECONDS = 10.0, 300.0  # while it is away: it doubles
WELL_SECONDS = 30.0  # between two looks at one that answers
CONNECT_SECONDS = 5.0
AWAY = (502, 503, 504)  # what a proxy answers without its server, and a server that is loading
ANSWERING = ("ready", "failed")  # of a server that can be reached

logger = telemetry.logger(__name__)


class ServerWatch:
    """Polls the model servers in the catalogue of one process."""

    def __init__(self, catalogue: Catalogue, states: ModelStates) -> None:
        self._catalogue, self._states = catalogue, states
        self._due: dict[str, float] = {}
        self._record_due: dict[str, float] = {}
        self._pause: dict[str, float] = {}
        self._unusable: dict[str, tuple[str, str]] = {}  # fingerprint of the entry, why

    def start(self) -> None:
        for name, look in (("model-servers", self.check), ("server-records", self.record)):
            threading.Thread(target=_repeat, args=(look,), name=name, daemon=True).start()

    def record(self) -> None:
        """Test reachable servers whose stored abilities have expired, and store the results. All
        processes use the stored abilities, so that they call a model in the same way."""
        for entry in self._catalogue.entries:
            state = self._states.get(entry.name) if entry.is_served else None
            is_due = monotonic() >= self._record_due.get(entry.name, 0.0)
            if state is None or state.state not in ANSWERING or not is_due:
                continue
            self._record_due[entry.name] = monotonic() + WELL_SECONDS
            with suppress(RedisError):  # the next time will do
                server_records.refresh(entry, _abilities)
                self._read_record(entry)

    def _read_record(self, entry: ModelEntry) -> None:
        """Update a model's state from the stored test of its server. A classification server with
        unreadable outputs becomes `failed`."""
        record = server_records.read().get(entry.name)
        self._unusable.pop(entry.name, None)
        if entry.scheme == "classify" and record is not None and record.abilities.error is not None:
            self._unusable[entry.name] = (record.entry, record.abilities.error)
        state = self._states.get(entry.name)
        if state is not None and state.state in ANSWERING:
            self._set_answering(entry)

    def _set_answering(self, entry: ModelEntry) -> None:
        """Set the model's state to `failed` if its server has a known error for the current version
        of the entry, else to `ready`."""
        of, why = self._unusable.get(entry.name, ("", ""))
        if of == server_records.fingerprint(entry):
            self._states.set(entry.name, "failed", why)
        else:
            self._states.set(entry.name, "ready")

    def check(self) -> None:
        """Poll the servers that are due."""
        for entry in self._catalogue.entries:
            if entry.is_served and monotonic() >= self._due.get(entry.name, 0.0):
                reason = connection_error(entry.location)
                if reason is None:
                    self._set_answering(entry)
                    self._pause.pop(entry.name, None)
                    pause = WELL_SECONDS
                else:
                    detail = f"the server of {entry.name!r} cannot be reached: {reason}"
                    self._states.set(entry.name, "away", detail)
                    before = self._pause.get(entry.name)
                    pause = AGAIN_SECONDS if before is None else min(LONGEST_SECONDS, 2 * before)
                    self._pause[entry.name] = pause
                self._due[entry.name] = monotonic() + pause


def _abilities(entry: ModelEntry) -> ServerAbilities:
    from shared.models.server_check import probe  # numpy: where a server is asked, no sooner

    return probe(entry)


def _repeat(look: Callable[[], None]) -> None:
    stop = threading.Event()
    while True:
        try:
            look()
        except Exception:
            logger.exception("servers.look_failed")
        stop.wait(LOOK_SECONDS)


def connection_error(url: str) -> str | None:
    """Return the reason why the server cannot be reached, or None if it responds."""
    try:
        with bounded_client(httpx.Timeout(CONNECT_SECONDS), httpx.Limits()) as client:
            request = client.build_request("HEAD", url)
            answer = receive(client, request, seconds=CONNECT_SECONDS, most_bytes=HEAD_BYTES)
    except httpx.ConnectError as error:
        return str(error) or "no connection"
    except httpx.ConnectTimeout:
        return f"no connection within {CONNECT_SECONDS:g} s"
    except (httpx.HTTPError, httpx.InvalidURL):  # it is there, whatever it says
        return None
    return f"status {answer.status_code}" if answer.status_code in AWAY else None
