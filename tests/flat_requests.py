"""Requests whose options a test writes beside the other fields."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from shared.contracts.fields import options_of
from shared.contracts.messages import Message

AnyRequest = TypeVar("AnyRequest", bound=Message)


def nested(kind: type[Message], fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields, those of the request's `options` moved there."""
    names = options_of(kind)
    found = {name: value for name, value in fields.items() if name not in names}
    options = {name: value for name, value in fields.items() if name in names}
    return found | ({"options": {**found.get("options", {}), **options}} if options else {})


def with_options(request: AnyRequest, **options: Any) -> AnyRequest:
    """Return the request with these options in place of its own, unchecked."""
    own: Message = getattr(request, "options")  # noqa: B009
    return request.model_copy(update={"options": own.model_copy(update=options)})


def flat_request(
    kind: type[AnyRequest], fields: Mapping[str, Any] | None = None, **more: Any
) -> AnyRequest:
    """Return the request with these fields, some of which are options. Raises ValidationError."""
    return kind.model_validate(nested(kind, {**(fields or {}), **more}))
