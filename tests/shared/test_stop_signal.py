"""Signals that come on top of each other end a process all the same."""

from __future__ import annotations

import subprocess
import sys
import threading

from shared.process.stop_signal import setting
from tests.patience import SECONDS, busy

FLOOD = """
import os, signal, threading
from shared.process.stop_signal import setting

class Interrupted(threading.Condition):
    def __enter__(self):
        found = super().__enter__()
        for _ in range(3):  # while the lock is held
            os.kill(os.getpid(), signal.SIGTERM)
        return found

stop = threading.Event()
stop._cond = Interrupted(threading.Lock())
signal.signal(signal.SIGTERM, setting(stop))
os.kill(os.getpid(), signal.SIGTERM)
print("ended", stop.is_set())
"""


def test_a_signal_within_the_handler_does_not_wait_for_itself() -> None:
    ended = subprocess.run(
        [sys.executable, "-c", FLOOD],
        capture_output=True,
        text=True,
        timeout=SECONDS * busy(),
        check=True,
    )
    assert ended.stdout == "ended True\n"


def test_the_event_is_set_once() -> None:
    class Counted(threading.Event):
        times = 0

        def set(self) -> None:
            self.times += 1
            super().set()

    event = Counted()
    handler = setting(event)
    handler(15, None)
    handler(sender="a signal of Celery's", sig="SIGTERM")
    assert (event.times, event.is_set()) == (1, True)
