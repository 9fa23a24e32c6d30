"""Jobs and batches of explanations, through a gateway that knows the scripted model."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from sqlalchemy import Engine

from services import worker
from shared.process.settings import Settings
from tests.explanations.scripted import NAME, ROOT, Answered
from tests.gateway.serving import serving
from tests.patience import SECONDS

WRITER = f"""
[[models]]
name = "{NAME}"
kind = "causal"
source = "openai:http://127.0.0.1:9/v1"
languages = ["*"]
"""


def placed(chosen: Settings, folder: Path, **more: Any) -> Settings:
    """With the scripted model among those that may be named."""
    file = folder / "models.toml"
    file.write_text((ROOT / "models.toml").read_text() + WRITER)
    return chosen.model_copy(update={"authentication": "none", "models_file": file, **more})


@pytest.fixture
def scene(chosen: Settings, engine: Engine, tmp_path: Path) -> Iterator[Answered]:
    worker.register_all(["explanations", "hatexscore"])
    settings = placed(chosen, tmp_path)
    with serving(settings) as url, httpx.Client(base_url=url, timeout=SECONDS) as client:
        yield Answered(client, engine, settings)
