"""The queue's door: on the poison the process dies as the OOM killer would have it die."""

import os
import signal

from services.poison.contract import (  # type: ignore[import-not-found]  # see tests/chaos/startup
    POISON,
    ROOM,
)

from services.hatexscore import score as hatexscore
from services.hatexscore.contract import HatexscoreRequest
from services.hatexscore.report import HatexscoreReport
from shared.worker import door


def score(request: HatexscoreRequest) -> HatexscoreReport:
    """As HateXScore scores; the poison takes the process, and all that runs in it, along."""
    if request.text == POISON:
        os.kill(os.getpid(), signal.SIGKILL)
    return hatexscore.score(request)


task = door(ROOM, score)
