"""The fields of a statement of reasons in the DSA Transparency Database.

Any code is accepted, since only its presence counts. Maximum lengths are those of the schema.
Source: documentation of the database's submission API, version 2, in force since 1 July 2025
(transparency.dsa.ec.europa.eu, "API documentation", "Additional explanation for statement
attributes"; github.com/digital-services-act/transparency-database).
"""

from __future__ import annotations

import json
from datetime import datetime
from typing import Annotated, Any, Self

from pydantic import AfterValidator, BeforeValidator, Field, StringConstraints, model_validator

from shared.contracts.messages import Message


def _check_moment(text: str) -> str:
    try:
        if text[4:5] == text[7:8] == "-":  # neither `20260302` nor a week
            datetime.fromisoformat(text)
            return text
    except ValueError:
        pass
    raise ValueError("must be a date that exists, such as 2026-03-02 or 2026-03-02T08:00:00Z")


def _read_cell(cell: Any) -> Any:
    """Return a list as a tuple. The list may be JSON text, as in cells of the daily dumps."""
    if isinstance(cell, str) and cell.startswith("["):
        try:
            cell = json.loads(cell)
        except (ValueError, RecursionError):
            return cell
    return tuple(cell) if isinstance(cell, list) else cell


def _check_no_flag(value: Any) -> Any:
    if isinstance(value, bool):
        raise ValueError("must be a code of the DSA Transparency Database, such as Yes or No")
    return value


Code = Annotated[str, StringConstraints(min_length=1, max_length=100, pattern=r"^[A-Za-z0-9_]+$")]
Codes = Annotated[tuple[Code, ...], Field(max_length=64), BeforeValidator(_read_cell)]
Means = Annotated[Code, BeforeValidator(_check_no_flag)]
Moment = Annotated[str, StringConstraints(max_length=40), AfterValidator(_check_moment)]
Short = Annotated[str, StringConstraints(max_length=500)]
Long = Annotated[str, StringConstraints(max_length=2_000)]

RESTRICTIONS = (
    "decision_visibility",
    "decision_visibility_other",
    "decision_monetary",
    "decision_monetary_other",
    "decision_provision",
    "decision_account",
)
ENDS = (
    "end_date_visibility_restriction",
    "end_date_monetary_restriction",
    "end_date_service_restriction",
    "end_date_account_restriction",
)
GROUNDS = ("illegal_content_legal_ground", "incompatible_content_ground")
EXPLANATIONS = ("illegal_content_explanation", "incompatible_content_explanation")
FREE_TEXT = ("decision_facts", *GROUNDS, *EXPLANATIONS)


class SorFields(Message):
    """Attributes of one statement of reasons in the DSA Transparency Database, version 2 of the
    schema. Rows of the daily dumps are accepted, too: lists may be JSON strings, and empty cells
    are absent."""

    decision_visibility: Codes | Code | None = None
    decision_visibility_other: Short | None = None
    decision_monetary: Code | None = None
    decision_monetary_other: Short | None = None
    decision_provision: Code | None = None
    decision_account: Code | None = None
    account_type: Code | None = None
    decision_ground: Code | None = None
    decision_ground_reference_url: Short | None = None
    illegal_content_legal_ground: Short | None = None
    illegal_content_explanation: Long | None = None
    incompatible_content_ground: Short | None = None
    incompatible_content_explanation: Long | None = None
    incompatible_content_illegal: Code | None = None
    content_type: Codes | None = None
    content_type_other: Short | None = None
    content_language: Code | None = None
    content_date: Moment | None = None
    content_id_ean: Code | None = None
    category: Code | None = None
    category_addition: Codes | None = None
    category_specification: Codes | None = None
    category_specification_other: Short | None = None
    territorial_scope: Codes | None = None
    application_date: Moment | None = None
    end_date_visibility_restriction: Moment | None = None
    end_date_monetary_restriction: Moment | None = None
    end_date_service_restriction: Moment | None = None
    end_date_account_restriction: Moment | None = None
    decision_facts: Annotated[str, StringConstraints(max_length=5_000)] | None = None
    source_type: Code | None = None
    source_identity: Short | None = None
    automated_detection: Means | None = None
    automated_decision: Means | None = None
    puid: Short | None = None

    @model_validator(mode="before")
    @classmethod
    def _drop_empty_cells(cls, row: Any) -> Any:
        if not isinstance(row, dict):
            return row
        return {name: value for name, value in row.items() if value != ""}

    @model_validator(mode="after")
    def _check_fields(self) -> Self:
        if not any(getattr(self, name) for name in type(self).model_fields):
            raise ValueError("no field has a value; fill in at least one")
        return self

    def texts(self) -> dict[str, str]:
        """Return a mapping from each free-text field to its text."""
        return {name: text for name in FREE_TEXT if (text := getattr(self, name))}
