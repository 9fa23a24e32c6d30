"""A short, seeded run of Schemathesis in the suite; the long one is `make fuzz`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fuzz.running import fuzz, prepared

pytestmark = pytest.mark.end_to_end

LEAST_CASES = 200


def test_the_service_is_what_its_description_says(tmp_path: Path) -> None:
    with prepared(tmp_path) as client:
        found = fuzz(client, examples=4, seed=1, phases="examples,fuzzing,stateful")
    assert not found.failed, found.said
    assert found.cases >= LEAST_CASES
