"""Parsing of requests: bodies, headers, pages of lists, and uploaded files.

Bodies are UTF-8 JSON of limited size. Files are sent as multipart forms (RFC 7578) and written to
disk first, so they are never completely in memory. `Prefer: wait=N` is RFC 7240. The
Idempotency-Key header follows draft-ietf-httpapi-idempotency-key-header-07; a key without quotes is
accepted too. Lists have the same shape as OpenAI's: `{object, data, first_id, last_id, has_more}`.
"""

from __future__ import annotations

import codecs
import hashlib
import json
import re
import sys
from collections import Counter
from collections.abc import AsyncGenerator, Callable
from datetime import UTC, datetime
from typing import Annotated, Any, BinaryIO, NoReturn, TypeVar, get_args, get_origin

from fastapi import Depends, Header, Query, Request
from fastapi.dependencies.utils import get_flat_params
from pydantic import BeforeValidator, ValidationError
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData, UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser

from services.gateway.refusals import BadRequest, BodyTooLarge, InvalidBody, UnsupportedMediaType
from services.gateway.spool import FORM_BYTES, Upload
from shared.contracts.errors import BadInput
from shared.contracts.messages import Message
from shared.contracts.problems import (
    RepeatedKey,
    invalid,
    parse_strict,
    unique_members,
    validation_problem,
)
from shared.contracts.validation_messages import METADATA_KEY
from shared.ledger.engine import Order, Slice
from shared.ledger.file_store import PIECE_BYTES, FileStore, store_error

M = TypeVar("M", bound=Message)
WAIT = re.compile(r"(?:^|[,;\s])wait\s*=\s*\"?(\d{1,18})\"?(?=$|[,;\s])", re.IGNORECASE)
MAX_WAIT_SECONDS = 30  # of `Prefer: wait=N`
MOST_KEY_CHARACTERS = 255
OWN_KEY = "\u00b6"  # prefix of internal keys: keys of callers are ASCII
SMALL_BYTES = 50_000  # larger bodies are parsed in a thread, so that other requests go on

# Printable ASCII, in quotes or bare; a quote inside would need escapes.
KEY_FORM = re.compile(r'"[ !#-~]{1,255}"|[!#-~]([ !#-~]{0,253}[!#-~])?')
MOST_ON_A_PAGE = 100
AFTER = "the `last_id` of the page before"
MOST_SECONDS = 253_402_300_799  # 9999-12-31
METADATA = re.compile(rf"metadata\[({METADATA_KEY})\]")
CHARSET = re.compile(r"""(?:^|[;\s])charset\s*=\s*["']?([^"';\s]*)""")
METADATA_PARAMETER = {
    "name": "metadata",
    "in": "query",
    "description": "only jobs with these keys and values in their metadata, as in "
    "`metadata[user]=u17`",
    "style": "deepObject",
    "explode": True,
    "schema": {
        "type": "object",
        "propertyNames": {"pattern": f"^{METADATA_KEY}$"},
        "additionalProperties": {"type": "string"},
    },
}
MOST_DIGITS = sys.get_int_max_str_digits()  # of an integer


def _in_digits(sent: Any) -> Any:
    """Raise ValueError unless a text has only digits. Python would also read "1_0" as ten."""
    if isinstance(sent, str) and not WHOLE.fullmatch(sent):
        raise ValueError("write a whole number in digits")
    return sent


WHOLE = re.compile(r"[+-]?[0-9]{1,18}")
InDigits = BeforeValidator(_in_digits)
Limit = Annotated[int, Query(ge=1, le=MOST_ON_A_PAGE), InDigits]


async def parse(request: Request, message: type[M] | Callable[[Any], type[M]], *, limit: int) -> M:
    """Read and check the request body. `message` is the expected type, or a function that chooses
    the type from the decoded body. Raises InvalidBody, BodyTooLarge, UnsupportedMediaType."""
    raw = await read(request, limit=limit)
    if len(raw) <= SMALL_BYTES:
        return parse_body(raw, message)
    return await run_in_threadpool(parse_body, raw, message)


def parse_body(raw: bytes, message: type[M] | Callable[[Any], type[M]]) -> M:
    """Decode a raw body and check its type. Raises InvalidBody."""
    body = decode(raw)
    if not isinstance(message, type):
        message = message(body)
    try:
        return parse_strict(message, raw, body)
    except ValidationError as error:
        raise InvalidBody(validation_problem(_with_location(error, message, body), body)) from None


def _with_location(error: ValidationError, message: type[Message], body: Any) -> ValidationError:
    """Return the error with its field. pydantic rejects a lone surrogate as invalid JSON, without a
    field. Validating the decoded body finds the field."""
    if error.error_count() == 1 and error.errors()[0]["type"] == "json_invalid":
        try:
            message.model_validate(body)
        except ValidationError as placed:
            return placed
    return error


async def read(request: Request, *, limit: int) -> bytes:
    """Return the raw JSON body, at most `limit` bytes, without a byte order mark."""
    kind, _, parameters = request.headers.get("content-type", "").lower().partition(";")
    kind = kind.strip()
    if kind != "application/json" and not kind.endswith("+json"):
        raise UnsupportedMediaType("send the body as Content-Type: application/json")
    charset = CHARSET.search(parameters)
    if charset is not None and charset[1] not in ("utf-8", "utf8", "us-ascii"):
        raise UnsupportedMediaType(f"the charset {charset[1]!r} is not supported; send UTF-8")
    if request.headers.get("content-encoding", "identity").lower() != "identity":
        raise UnsupportedMediaType("send the body without Content-Encoding")
    return (await read_body(request, limit=limit)).removeprefix(codecs.BOM_UTF8)


async def read_body(request: Request, *, limit: int) -> bytes:
    """Return the raw body. Raises BodyTooLarge if it is longer than `limit` bytes."""
    length = request.headers.get("content-length", "")
    if length.isdecimal() and int(length) > limit:
        raise BodyTooLarge(f"the body may have at most {limit} bytes")
    chunks: list[bytes] = []
    size = 0
    async for chunk in request.stream():
        size += len(chunk)
        if size > limit:
            raise BodyTooLarge(f"the body may have at most {limit} bytes")
        chunks.append(chunk)
    return b"".join(chunks)


def decode(raw: bytes) -> Any:
    """Return the decoded JSON value. Raises InvalidBody, also for NaN, Infinity, invalid UTF-8 and
    repeated keys."""
    try:
        return json.loads(
            raw.decode("utf-8"), parse_constant=_invalid_constant, object_pairs_hook=unique_members
        )
    except UnicodeDecodeError as error:
        raise InvalidBody.at_root(f"the body is not UTF-8 at byte {error.start}") from None
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise InvalidBody.at_root(f"the body is not valid JSON; the error is at {where}") from None
    except (RepeatedKey, InvalidConstant) as error:
        raise InvalidBody.at_root(f"the body cannot be read: {error}") from None
    except RecursionError:
        raise InvalidBody.at_root("the body cannot be read: it is nested too deeply") from None
    except ValueError:
        detail = f"the body cannot be read: an integer has over {MOST_DIGITS:,} digits"
        raise InvalidBody.at_root(detail) from None


class InvalidConstant(ValueError):
    """Raised for NaN and Infinity, which Python's decoder accepts but JSON does not have."""


def _invalid_constant(name: str) -> NoReturn:
    raise InvalidConstant(f"{name} is not JSON")


def parse_wait(prefer: str | None) -> int:
    """Return how many seconds the client wants to wait for the result, at most MAX_WAIT_SECONDS.
    Return 0 if the `Prefer` header has no valid `wait`."""
    match = WAIT.search(prefer or "")
    return min(int(match[1]), MAX_WAIT_SECONDS) if match else 0


class InvalidKey(BadInput):
    """The Idempotency-Key header does not contain a valid key."""

    slug = "idempotency-key-invalid"
    title = "The Idempotency-Key is not valid"
    cure = "Send 1 to 255 printable ASCII characters; a UUID is a good key."


def key_of(header: str | None) -> str | None:
    """Return the key in an Idempotency-Key header, or None without the header. Raises
    InvalidKey."""
    if header is None:
        return None
    key = header.strip()
    if not KEY_FORM.fullmatch(key):
        raise InvalidKey(
            f"the Idempotency-Key must have 1 to {MOST_KEY_CHARACTERS} ASCII characters"
        )
    return key.strip('"')


def key_header(effect: str) -> Any:
    """Return the declaration of the Idempotency-Key header for a route. `effect` describes what
    happens when a key is sent again."""
    return Header(description=effect, json_schema_extra={"pattern": f"^({KEY_FORM.pattern})$"})


IdempotencyKey = Annotated[
    str | None, key_header("repeating the same key and content returns the first answer")
]


def page_after(shape: re.Pattern[str]) -> Any:
    """Return the declaration of the query parameter `after` of a list. `shape` is the pattern of
    the list's ids."""
    return Query(description=AFTER, pattern=f"^{shape.pattern}$")


SINGLE_HEADERS = ("Authorization", "Content-Length", "Content-Type", "Idempotency-Key")


async def check_headers(request: Request) -> None:
    """Raise BadRequest if the request repeats a header that has one value."""
    for name in SINGLE_HEADERS:
        if (count := len(request.headers.getlist(name))) > 1:
            raise BadRequest(f"the header {name} occurs {count} times; send it once")


async def check_query(request: Request) -> None:
    """Raise BadInput for a query parameter with U+0000, and for a parameter of the API that occurs
    twice but is not a list. HTML pages list the filters that they ignore."""
    sent = request.query_params.multi_items()
    for name, value in sent:
        if "\0" in name or "\0" in value:
            detail = f"the query parameter {name!r} contains U+0000, which is not allowed"
            raise BadInput(detail, pointer=f"/{name}")
    route = request.scope["route"]
    if not route.include_in_schema:
        return
    _check_names(request)
    lists = {
        field.alias
        for field in route.dependant.query_params
        if any(get_origin(part) is list for part in get_args(field.field_info.annotation))
    }
    counts = Counter(name for name, _ in sent)
    for name, count in counts.items():
        if count > 1 and name not in lists:
            raise BadInput(f"{name!r} occurs {count} times; send it once", pointer=f"/{name}")


def _check_names(request: Request) -> None:
    """Raise BadInput for a query parameter that the operation does not have."""
    route = request.scope["route"]
    known = {field.alias for field in get_flat_params(route.dependant)}
    more = (route.openapi_extra or {}).get("parameters", ())
    if any(parameter["name"] == "metadata" for parameter in more):
        known |= {name for name in request.query_params if METADATA.fullmatch(name)}
    if unknown := sorted(request.query_params.keys() - known):
        raise BadInput(f"there is no parameter {unknown[0]!r}; remove it", pointer=f"/{unknown[0]}")


def accepted(request: Request, *kinds: str) -> str:
    """Return the first media type of the Accept header that is in `kinds`, or else the first of
    `kinds`."""
    media_types = [
        part.partition(";")[0].strip() for part in request.headers.get("accept", "").split(",")
    ]
    return next((part for part in media_types if part in kinds), kinds[0])


Moment = Annotated[int | None, Query(ge=0, le=MOST_SECONDS, description="unix seconds"), InDigits]


def instant(seconds: int | None) -> datetime | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC)


def metadata_filter(request: Request) -> dict[str, str]:
    """Return the `metadata[KEY]=VALUE` parameters of the query as a dictionary."""
    params = request.query_params.items()
    return {match[1]: value for name, value in params if (match := METADATA.fullmatch(name))}


async def newest_slice(
    request: Request,
    created_after: Moment = None,
    created_before: Moment = None,
    limit: Limit = 20,
    order: Annotated[Order, Query(description="`desc`: newest first")] = "desc",
) -> Slice:
    """Return the query parameters of a list of files or batches. The caller adds `after` and the
    tenant."""
    created = instant(created_after), instant(created_before)
    return Slice(limit, None, order, None, *created, metadata_filter(request))


ListedSlice = Annotated[Slice, Depends(newest_slice)]


def list_json(data: list[dict[str, Any]], *, has_more: bool) -> dict[str, Any]:
    return {
        "object": "list",
        "data": data,
        "first_id": data[0]["id"] if data else None,
        "last_id": data[-1]["id"] if data else None,
        "has_more": has_more,
    }


def declared_bytes(request: Request, *, limit: int) -> int:
    """Return the declared size of the file, or 0. Raises BodyTooLarge, UnsupportedMediaType."""
    if not request.headers.get("content-type", "").lower().startswith("multipart/form-data"):
        raise UnsupportedMediaType("send the file as multipart/form-data")
    length = request.headers.get("content-length", "")
    declared = int(length) if length.isascii() and length.isdigit() and len(length) < 19 else 0
    if declared > limit + FORM_BYTES:
        raise BodyTooLarge(f"the file may have at most {limit} bytes")
    return max(0, declared - FORM_BYTES)


PART_BYTES = 1_024  # of a field that is no file


async def form_of(
    request: Request,
    upload: Upload,
    *,
    limit: int,
    part_bytes: int = PART_BYTES,
) -> FormData:
    """Return the submitted form. Its file is stored on disk. The caller must close the form. Raises
    InvalidBody, BodyTooLarge."""
    pieces = _read_chunks(request, upload, limit)
    parser = MultiPartParser(
        request.headers, pieces, max_files=1, max_fields=8, max_part_size=part_bytes
    )
    try:
        return await parser.parse()
    except MultiPartException as error:
        raise InvalidBody.at_root(error.message) from None
    except OSError as error:
        raise store_error(error) from error
    except (KeyError, UnicodeDecodeError, ValueError):
        raise InvalidBody.at_root("the body is not multipart/form-data") from None


async def _read_chunks(request: Request, upload: Upload, limit: int) -> AsyncGenerator[bytes, None]:
    size = 0
    async for chunk in request.stream():
        size += len(chunk)
        if size > limit + FORM_BYTES:
            raise BodyTooLarge(f"the file may have at most {limit} bytes")
        upload.receive(len(chunk))
        yield chunk


def file_in(form: FormData) -> UploadFile:
    """Return the form's uploaded file. Raises InvalidBody if there is none."""
    file = form.get("file")
    if not isinstance(file, UploadFile):
        raise missing("file")
    return file


def missing(field: str, detail: str = "Field required") -> InvalidBody:
    return InvalidBody(invalid([{"loc": (field,), "type": "missing", "msg": detail}], None))


def store_file(file: BinaryIO, store: FileStore, file_id: str, *, limit: int) -> tuple[int, str]:
    """Copy an uploaded file into the file store. Return its size in bytes and the SHA-256 of its
    content. This blocks the thread."""
    digest = hashlib.sha256()
    file.seek(0, 2)
    if (size := file.tell()) > limit:
        raise BodyTooLarge(f"the file may have at most {limit} bytes")
    file.seek(0)
    with store.open_write(file_id) as target:
        while piece := file.read(PIECE_BYTES):
            target.write(piece)
            digest.update(piece)
    return size, digest.hexdigest()
