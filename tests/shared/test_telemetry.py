"""Secrets never reach the log."""

from __future__ import annotations

import pytest

from shared.telemetry import without_secrets


@pytest.mark.parametrize(
    ("event", "secret"),
    [
        ({"url": "redis://:hunter2@localhost/0"}, "hunter2"),
        ({"detail": "cannot reach postgresql://me:hunter2@db:5432/x now"}, "hunter2"),
        ({"Authorization": "Bearer hunter2"}, "hunter2"),
        ({"password": "hunter2"}, "hunter2"),
    ],
)
def test_secrets_are_blotted_out(event: dict[str, str], secret: str) -> None:
    assert secret not in str(without_secrets(None, "info", event))


def test_other_text_stays() -> None:
    assert without_secrets(None, "info", {"event": "a@b", "n": 3}) == {"event": "a@b", "n": 3}
