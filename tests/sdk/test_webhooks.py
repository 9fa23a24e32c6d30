"""Signatures agree with the reference library's, and nothing that is not theirs passes."""

from __future__ import annotations

import base64
import json
import time
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from standardwebhooks import Webhook

from touchstone_client import InvalidSignature, models, webhooks

SECRET = "whsec_" + base64.b64encode(b"a secret of thirty-two bytes, ..").decode()
OTHER = "whsec_" + base64.b64encode(b"another secret").decode()
EVENT = {
    "type": "job.succeeded",
    "timestamp": "2026-09-21T14:13:20.000Z",
    "data": {
        "id": "job_1", "object": "job", "metric": "ice", "status": "succeeded", "batch_id": None,
        "score": 0.5, "error_type": None, "a new field": 1,
    },
}  # fmt: skip
BODY = json.dumps(EVENT).encode()


def signed(body: bytes, secret: str = SECRET, seconds: float | None = None) -> dict[str, str]:
    """Headers as the reference library makes them."""
    moment = time.time() if seconds is None else seconds
    at = datetime.fromtimestamp(int(moment), UTC)
    signature = Webhook(secret).sign("msg_1", at, body.decode())
    return {
        "Webhook-Id": "msg_1",
        "webhook-timestamp": str(int(moment)),
        "WEBHOOK-SIGNATURE": signature,
    }


def test_an_event_is_typed() -> None:
    event = webhooks.verify(BODY, signed(BODY), SECRET)
    assert isinstance(event, models.JobWebhook)
    assert event.data.score == 0.5


@given(st.text(), st.text(alphabet="abcdefghijklmnop0123456789_", min_size=1))
def test_it_signs_as_the_reference_does(text: str, id: str) -> None:
    body = json.dumps(text)
    moment = datetime.fromtimestamp(1_790_000_000, UTC)
    assert webhooks.sign(body.encode(), id, "1790000000", SECRET) == Webhook(SECRET).sign(
        id, moment, body
    )


def test_svix_agrees() -> None:
    svix = pytest.importorskip("svix.webhooks")
    other, now = svix.Webhook(SECRET), datetime.fromtimestamp(int(time.time()), UTC)
    moment = str(int(now.timestamp()))
    theirs = other.sign("msg_1", now, BODY.decode())
    headers = {"webhook-id": "msg_1", "webhook-timestamp": moment, "webhook-signature": theirs}
    assert isinstance(webhooks.verify(BODY, headers, SECRET), models.JobWebhook)
    ours = headers | {"webhook-signature": webhooks.sign(BODY, "msg_1", moment, SECRET)}
    other.verify(BODY, ours)
    with pytest.raises(svix.WebhookVerificationError):
        other.verify(BODY + b" ", ours)


def test_a_rotated_secret_passes_beside_the_former() -> None:
    headers = signed(BODY)
    former = signed(BODY, OTHER)["WEBHOOK-SIGNATURE"]
    headers["WEBHOOK-SIGNATURE"] = f"v2,unknown {former} {headers['WEBHOOK-SIGNATURE']}"
    assert webhooks.verify(BODY, headers, SECRET)
    assert webhooks.verify(BODY, headers, OTHER)


def test_a_type_that_is_new_is_an_event_as_well() -> None:
    body = json.dumps(EVENT | {"type": "job.paused"}).encode()
    event = webhooks.verify(body, signed(body), SECRET)
    assert isinstance(event, webhooks.OtherEvent)
    assert event.type == "job.paused"


@pytest.mark.parametrize("name", ["Webhook-Id", "webhook-timestamp", "WEBHOOK-SIGNATURE"])
def test_a_missing_header(name: str) -> None:
    headers = {key: value for key, value in signed(BODY).items() if key != name}
    with pytest.raises(InvalidSignature, match=name.lower()):
        webhooks.verify(BODY, headers, SECRET)


@pytest.mark.parametrize("late", [-400, 400])
def test_old_and_future_ones(late: int) -> None:
    headers = signed(BODY, seconds=time.time() + late)
    with pytest.raises(InvalidSignature, match="clock"):
        webhooks.verify(BODY, headers, SECRET)
    assert webhooks.verify(BODY, headers, SECRET, tolerance=500)


def test_what_was_changed_on_the_way() -> None:
    for body, headers, secret in (
        (BODY + b" ", signed(BODY), SECRET),
        (BODY, signed(BODY), OTHER),
        (BODY, signed(BODY) | {"Webhook-Id": "msg_2"}, SECRET),
        (BODY, signed(BODY) | {"WEBHOOK-SIGNATURE": ""}, SECRET),
        (BODY, signed(BODY) | {"WEBHOOK-SIGNATURE": "v1,é"}, SECRET),
        (BODY, signed(BODY), "whsec_%"),
        (b"[]", signed(b"[]"), SECRET),
    ):
        with pytest.raises(InvalidSignature):
            webhooks.verify(body, headers, secret)
