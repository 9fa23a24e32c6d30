"""A signal handler that sets an event and tolerates repeated signals. `Event.set` takes a lock. A
second signal can interrupt the first handler inside that lock. Its `set` would then wait for a lock
of its own thread, and only a kill would end the process."""

from __future__ import annotations

import threading
from collections.abc import Callable


def setting(event: threading.Event) -> Callable[..., None]:
    """Return a signal handler that sets the event. Repeated signals do no harm."""
    is_asked = False

    def handler(*_: object, **__: object) -> None:
        nonlocal is_asked
        if not is_asked:
            is_asked = True
            event.set()

    return handler
