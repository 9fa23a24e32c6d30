"""What Prometheus may know of us. Base units, no ids or free text in labels."""

from __future__ import annotations

from prometheus_client import Counter, Histogram

SECONDS = (0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 30, 60, 300)

JOBS_ACCEPTED = Counter("touchstone_jobs_accepted_total", "Jobs committed", ["metric"])
JOBS_FINISHED = Counter(
    "touchstone_jobs_finished_total", "Jobs that reached a final state", ["metric", "status"]
)
JOBS_FENCED = Counter(
    "touchstone_jobs_fenced_total", "Results that came too late and were dropped", ["metric"]
)
JOBS_RESENT = Counter("touchstone_jobs_resent_total", "Messages sent again", ["metric"])
SCORE_SECONDS = Histogram(
    "touchstone_score_seconds", "From claim to result", ["metric"], buckets=SECONDS
)
QUEUE_SECONDS = Histogram(
    "touchstone_queue_seconds", "From acceptance to claim", ["metric"], buckets=SECONDS
)
BATCH_ERRORS = Counter(
    "touchstone_batch_errors_total",
    "Unexpected errors that were kept to one batch, by what was being done",
    ["step"],
)
BATCHES_FAILED = Counter(
    "touchstone_batches_failed_total", "Batches that unexpected errors ended", ["step"]
)
WEBHOOK_ATTEMPTS = Counter(
    "touchstone_webhook_attempts_total",
    "Attempts to deliver a webhook, by what followed: arrived, again, failed, disabled, fenced",
    ["outcome"],
)
WEBHOOK_SECONDS = Histogram(
    "touchstone_webhook_attempt_seconds", "One attempt to deliver a webhook", buckets=SECONDS
)
REQUEST_SECONDS = Histogram(
    "touchstone_http_request_seconds",
    "HTTP requests",
    ["method", "route", "status"],
    buckets=SECONDS,
)
HTTP_REFUSED = Counter(
    "touchstone_http_refused_total",
    "Given up early: connections beyond the limit (connections), heads and bodies that did not "
    "come in time (head, body), what is no HTTP (syntax), too many requests at a time (busy), "
    "another site's (site)",
    ["reason"],
)
