"""A request's body: bounded, UTF-8, JSON, and then exactly what the contract asks for."""

from __future__ import annotations

import json
from typing import Any, NoReturn, TypeVar

from fastapi import Request
from pydantic import ValidationError

from services.gateway.refusals import BodyTooLarge, InvalidBody, UnsupportedMediaType
from shared.contracts import Message
from shared.problems import validation_problem
from shared.strictness import read_strictly

M = TypeVar("M", bound=Message)


async def parse(request: Request, message: type[M], *, limit: int) -> M:
    """The body as this message. Raises InvalidBody, BodyTooLarge, UnsupportedMediaType."""
    raw = await read(request, limit=limit)
    body = decode(raw)
    try:
        return read_strictly(message, raw, body)
    except ValidationError as error:
        raise InvalidBody(validation_problem(_placed(error, message, body), body)) from None


def _placed(error: ValidationError, message: type[Message], body: Any) -> ValidationError:
    """The complaint with its place: a lone surrogate is a str to Python, but not to pydantic."""
    if error.errors()[0]["type"] == "json_invalid":
        try:
            message.model_validate(body)
        except ValidationError as placed:
            return placed
    return error


async def read(request: Request, *, limit: int) -> bytes:
    """The raw body, given up as soon as it exceeds the limit in bytes."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json" and not kind.endswith("+json"):
        raise UnsupportedMediaType("send the body as Content-Type: application/json")
    if request.headers.get("content-encoding", "identity").lower() != "identity":
        raise UnsupportedMediaType("send the body without Content-Encoding")
    return await read_bounded(request, limit=limit)


async def read_bounded(request: Request, *, limit: int) -> bytes:
    """The raw body; one that says that it is longer is not read at all. Raises BodyTooLarge."""
    length = request.headers.get("content-length", "")
    if length.isdecimal() and int(length) > limit:
        raise BodyTooLarge(f"the body may have {limit} bytes")
    chunks: list[bytes] = []
    size = 0
    async for chunk in request.stream():
        size += len(chunk)
        if size > limit:
            raise BodyTooLarge(f"the body may have {limit} bytes")
        chunks.append(chunk)
    return b"".join(chunks)


def decode(raw: bytes) -> Any:
    """The JSON value; NaN, Infinity and broken UTF-8 are refused. Raises InvalidBody."""
    try:
        return json.loads(raw.decode("utf-8"), parse_constant=_refuse_constant)
    except UnicodeDecodeError as error:
        raise InvalidBody.at_root(f"the body is not UTF-8 at byte {error.start}") from None
    except json.JSONDecodeError as error:
        raise InvalidBody.at_root(f"the body is not JSON: {error}") from None
    except (ValueError, RecursionError) as error:
        raise InvalidBody.at_root(f"the body cannot be read: {error}") from None


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")
