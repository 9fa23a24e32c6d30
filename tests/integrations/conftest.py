"""Examples are imported from where they lie, as who copies them has them."""

from __future__ import annotations

import pytest

from tests.end_to_end.service import ROOT
from tests.sdk.conftest import service, ts

__all__ = ["service", "ts"]
EXAMPLES = ROOT / "examples" / "integrations"


@pytest.fixture
def kafka_bridge(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its modules can be imported."""
    monkeypatch.syspath_prepend(str(EXAMPLES / "kafka_bridge"))
