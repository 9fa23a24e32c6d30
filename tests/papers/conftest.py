"""A run binds the models of its own service; they end with the test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.fakes import bound_models


@pytest.fixture(autouse=True)
def _unbound() -> Iterator[None]:
    with bound_models(None):
        yield
