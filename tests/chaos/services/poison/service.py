"""The service: on the poison the process dies as the OOM killer would have it die."""

import os
import re
import signal
import time

from services.poison.contract import (  # type: ignore[import-not-found]  # see tests/chaos/startup
    ASKS,
    CONTRACT,
    ENDLESS,
    LATE,
    LOOPS,
    POISON,
    SLEEPS,
)

from services.hatexscore.contract import HatexscoreRequest
from services.hatexscore.metric import SERVICE as HATEXSCORE
from services.hatexscore.report import HatexscoreResult
from shared.contracts.service import Service
from shared.queue import job_context

LATE_SECONDS = 3.0


def _dies() -> None:
    """Takes the process, and all that runs in it, along."""
    os.kill(os.getpid(), signal.SIGKILL)


def _backtracks() -> None:
    """Holds the interpreter's lock, and so stops all that runs in the process."""
    re.match("(a+)+$", "a" * 64 + "b")


def _asks() -> None:
    while True:
        time.sleep(0.01)
        job_context.check()


def _loops() -> None:
    while True:
        pass


def _sleeps() -> None:
    time.sleep(3_600)


WAYS = {POISON: _dies, ENDLESS: _backtracks, ASKS: _asks, LOOPS: _loops, SLEEPS: _sleeps}


class Poison(Service):
    """HateXScore with a text that kills."""

    contract = CONTRACT

    def score(self, request: HatexscoreRequest) -> HatexscoreResult:
        """As HateXScore scores, where the text is none of ours."""
        if request.text in WAYS:
            WAYS[request.text]()
        report = HATEXSCORE.score(request)
        if request.metadata == LATE:
            time.sleep(LATE_SECONDS)
        return report


SERVICE = Poison()
