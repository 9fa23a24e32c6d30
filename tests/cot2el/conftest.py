"""Every test has a model of inference: `nli` is the default of `robust`."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.cot2el.writers import bound


@pytest.fixture(autouse=True)
def models_that_read() -> Iterator[None]:
    """Bound while a test binds none of its own."""
    with bound():
        yield
