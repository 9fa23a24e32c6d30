"""Any result at all: what is nested becomes tables, what is long becomes text."""

from __future__ import annotations

from dataclasses import dataclass

from shared.contracts import JobRequest, Message

TEMPLATE = "metrics/general.html"


@dataclass(frozen=True)
class GeneralView:
    """The report as JSON, without what the job's page shows itself."""

    fields: dict[str, object]


ELSEWHERE = {"metric", "score", "range", "direction", "warnings", "provenance"}


def view(_request: JobRequest | None, report: Message) -> GeneralView:
    """What there is to show."""
    return GeneralView(report.model_dump(mode="json", exclude=ELSEWHERE))
