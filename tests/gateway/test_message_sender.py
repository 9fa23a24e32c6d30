"""Hints reach the queue in order, and a broker that is away holds nobody up."""

from __future__ import annotations

import threading
import time

import pytest

from services.gateway import state as hints_module
from services.gateway.state import MessageSender
from shared.contracts.errors import Unavailable
from shared.queue import broker
from shared.queue.broker import JobMessage
from tests.patience import SECONDS


def test_what_waits_is_sent_before_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[JobMessage] = []
    monkeypatch.setattr(broker, "send_all", sent.extend)
    hints = MessageSender()
    with hints.run():
        for number in range(100):
            hints.add("echo", str(number))
    assert [(hint.metric, hint.job_id) for hint in sent] == [("echo", str(n)) for n in range(100)]


def test_a_stuck_broker_blocks_nobody_and_what_waited_is_left_to_the_scheduler(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stuck, tried = threading.Event(), []

    def send_all(hints: list[JobMessage]) -> None:
        assert all(hint.trace == {} for hint in hints)  # nothing is traced here
        tried.append(hints[0].job_id)
        stuck.wait(5 * SECONDS)
        raise Unavailable("away")

    monkeypatch.setattr(broker, "send_all", send_all)
    monkeypatch.setattr(hints_module, "MOST_MESSAGES", 5)
    hints = MessageSender()
    with hints.run():
        started = time.monotonic()
        for number in range(20):
            hints.add("echo", str(number))
        assert time.monotonic() - started < SECONDS  # nobody waited for the broker
        stuck.set()
    assert tried == ["0"]
