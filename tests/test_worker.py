"""What a worker loads when it starts, and what it leaves out of its process."""

from __future__ import annotations

import gc
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from services import worker
from services.registry import contracts
from services.worker import models_for
from shared.contracts.errors import ScoringError, Unavailable
from shared.contracts.messages import Message
from shared.models import ports
from shared.models.catalogue.catalogue import Catalogue
from shared.process.settings import Settings, settings
from shared.worker.process import Health
from shared.worker.tasks import RegisteredTask
from tests.patience import SECONDS, busy

COMPUTES = """
import sys
from services.worker import block_torch
block_torch()
import numpy as np, scipy.stats, spacy
scipy.stats.permutation_test((np.arange(5.0),), np.mean, permutation_type="samples")
try:
    import torch
except ModuleNotFoundError as error:
    print(error, "torch" in sys.modules)
"""


def test_a_worker_without_models_computes_without_torch() -> None:
    """SciPy looks for torch among the modules that are loaded, spaCy tries to import it."""
    ran = subprocess.run(
        [sys.executable, "-c", COMPUTES],
        capture_output=True,
        text=True,
        timeout=SECONDS * busy(),
        check=True,
    )
    assert ran.stdout == "this worker loads no models, so torch is not available False\n"


def test_what_stays_is_never_searched_for_garbage() -> None:
    """Neither while it grows nor later."""
    gc.collect()  # or this process keeps what earlier tests left
    before = gc.get_freeze_count()
    with worker.permanent():
        held = [[number] for number in range(1000)]
        assert not gc.isenabled()
    assert gc.isenabled()
    assert gc.get_freeze_count() >= before + len(held)


def test_each_example_is_tried_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """One whose model is away leaves the others their turn: their analysers are loaded by them."""
    contract = contracts()["hatexscore"]
    tried: list[Any] = []

    def score(request: Any) -> Message:
        tried.append(request)
        if len(tried) == 1:
            raise Unavailable("its model is away")
        if len(tried) == 2:
            raise ScoringError("not configured at all")
        return Message()

    monkeypatch.setattr(worker, "registered", {contract.name: RegisteredTask(contract, score)})
    worker.warm_up()
    assert len(tried) == len(contract.examples) > 2


@pytest.mark.parametrize(("said", "times"), [("on", len(contracts()["ice"].examples)), ("off", 0)])
def test_examples_are_scored_where_the_setting_says_so(
    monkeypatch: pytest.MonkeyPatch, said: str, times: int
) -> None:
    contract = contracts()["ice"]
    tried: list[Any] = []

    def score(request: Any) -> Message:
        tried.append(request)
        return Message()

    monkeypatch.setattr(worker, "registered", {contract.name: RegisteredTask(contract, score)})
    monkeypatch.setenv("TOUCHSTONE_WARM_UP", said)
    settings.cache_clear()
    catalogue = Catalogue((), Path())
    ports.bind(models_for([], catalogue, Settings(binding="queue")))  # torch is not needed
    try:
        worker.make_ready([], catalogue, Health())
    finally:
        ports.bind(None)
        settings.cache_clear()
    assert len(tried) == times
