"""Endpoints and deliveries. A delivery's id is its `webhook-id`, its body the very bytes sent."""

from __future__ import annotations

from sqlalchemy import (
    CheckConstraint,
    Column,
    ForeignKey,
    Index,
    Integer,
    String,
    Table,
    func,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY

from shared.ledger.tables import Instant, metadata

endpoints = Table(
    "webhook_endpoints",
    metadata,
    Column("id", String, primary_key=True),
    Column("tenant", String, nullable=False),
    Column("url", String, nullable=False),
    Column("description", String, nullable=False, server_default=""),
    Column("events", ARRAY(String), nullable=False),  # empty: every event
    Column("secret", String, nullable=False),  # sealed, see shared/encryption.py
    Column("earlier_secret", String),  # sealed; signs beside the other while it is valid
    Column("earlier_until", Instant),
    Column("created_at", Instant, nullable=False, server_default=func.now()),
    Column("succeeded_at", Instant),  # the last delivery that arrived
    Column("held_until", Instant),  # the receiver asked to be left alone until then
    Column("disabled_at", Instant),
    Column("disabled_reason", String),
    CheckConstraint("(disabled_at IS NULL) = (disabled_reason IS NULL)", name="disabled"),
    CheckConstraint("(earlier_secret IS NULL) = (earlier_until IS NULL)", name="earlier"),
    Index("ix_webhook_endpoints_tenant", "tenant", "id"),
)

deliveries = Table(
    "webhook_deliveries",
    metadata,
    Column("id", String, primary_key=True),  # the webhook-id, the same for every attempt
    Column("endpoint_id", ForeignKey("webhook_endpoints.id", ondelete="CASCADE"), nullable=False),
    Column("tenant", String, nullable=False),
    Column("event", String, nullable=False),
    Column("body", String, nullable=False),
    Column("status", String, nullable=False, server_default="pending"),
    Column("attempts", Integer, nullable=False, server_default="0"),
    Column("due_at", Instant, nullable=False, server_default=func.now()),
    Column("claimed_until", Instant),  # an attempt is under way until then
    Column("last_status", Integer),  # HTTP
    Column("last_error", String),  # why the last attempt failed, in our words
    Column("created_at", Instant, nullable=False, server_default=func.now()),
    Column("ended_at", Instant),
    CheckConstraint("status IN ('pending', 'succeeded', 'failed')", name="status"),
    CheckConstraint("(status = 'pending') = (ended_at IS NULL)", name="ended"),
    Index("ix_webhook_deliveries_endpoint", "endpoint_id", "created_at", "id"),
    Index(
        "ix_webhook_deliveries_due",
        "endpoint_id",
        "due_at",
        postgresql_where=text("status = 'pending'"),
    ),
    Index(
        "ix_webhook_deliveries_claimed",
        "claimed_until",
        postgresql_where=text("status = 'pending'"),
    ),
    Index("ix_webhook_deliveries_ended", "ended_at", postgresql_where=text("status <> 'pending'")),
)
