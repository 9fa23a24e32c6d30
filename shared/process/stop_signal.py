"""A signal handler that sets an event, however many signals come.

`Event.set` takes a lock. A second signal interrupts the handler of the first inside that lock, and
its own `set` would wait for the lock that the same thread holds: the process could only be killed.
"""

from __future__ import annotations

import threading
from collections.abc import Callable


def setting(event: threading.Event) -> Callable[..., None]:
    """The handler. It sets the event once; later calls, also from within the first, do nothing."""
    is_asked = False

    def handler(*_: object, **__: object) -> None:
        nonlocal is_asked
        if not is_asked:
            is_asked = True
            event.set()

    return handler
