"""The queue's door: on the poison the process dies as the OOM killer would have it die."""

import os
import re
import signal

from services.poison.contract import (  # type: ignore[import-not-found]  # see tests/chaos/startup
    ENDLESS,
    POISON,
    ROOM,
)

from services.hatexscore import score as hatexscore
from services.hatexscore.contract import HatexscoreRequest
from services.hatexscore.report import HatexscoreReport
from shared.worker import door


def score(request: HatexscoreRequest) -> HatexscoreReport:
    """As HateXScore scores; the poison takes the process, and all that runs in it, along. The
    endless one holds the interpreter's lock, and so stops all that runs in it."""
    if request.text == POISON:
        os.kill(os.getpid(), signal.SIGKILL)
    if request.text == ENDLESS:
        re.match("(a+)+$", "a" * 64 + "b")
    return hatexscore.score(request)


task = door(ROOM, score)
