"""Parsing of server-sent events. Source: HTML Standard, section 9.2.6."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class ServerSentEvent:
    """A server-sent event. `id` is the last id in the stream. `name` is `message` if the event has
    no name."""

    name: str
    data: str
    id: str | None


@dataclass
class EventParser:
    """Parses a stream of server-sent events, line by line."""

    last_id: str | None = None
    has_ended: bool = False  # an event `end` says that nothing follows
    _name: str = ""
    _data: list[str] = field(default_factory=list)

    def begin(self) -> None:
        """Begin a new stream and drop an incomplete event."""
        self._name, self._data = "", []

    def take(self, line: str) -> ServerSentEvent | None:
        """Read a line. Return the event that it completes, or None."""
        if not line:
            return self._dispatch()
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "event":
            self._name = value
        elif name == "data":
            self._data.append(value)
        elif name == "id" and "\0" not in value:
            self.last_id = value
        return None

    def _dispatch(self) -> ServerSentEvent | None:
        name, data = self._name, self._data
        self._name, self._data = "", []
        if name == "end":
            self.has_ended = True
        if not data or self.has_ended:
            return None
        return ServerSentEvent(name or "message", "\n".join(data), self.last_id)
