"""A file as it comes in: multipart, spooled to disk, then into the file store; never whole in
memory.

Source: RFC 7578; the parser is Starlette's on python-multipart.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator

from fastapi import Request
from starlette.datastructures import FormData, UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser

from services.gateway.refusals import BodyTooLarge, InvalidBody, UnsupportedMediaType
from shared.files import PIECE_BYTES, FileStore
from shared.problems import invalid

FORM_BYTES = 16_384  # of boundaries, headers and fields beside the file


async def form_of(request: Request, *, limit: int) -> FormData:
    """The form, its file spooled to disk; close it. Raises for what is not one, or too large."""
    if not request.headers.get("content-type", "").lower().startswith("multipart/form-data"):
        raise UnsupportedMediaType("send the file as multipart/form-data")
    length = request.headers.get("content-length", "")
    if length.isdigit() and int(length) > limit + FORM_BYTES:
        raise BodyTooLarge(f"the file may have {limit} bytes")
    parser = MultiPartParser(
        request.headers, _bounded(request, limit), max_files=1, max_fields=8, max_part_size=1_024
    )
    try:
        return await parser.parse()
    except MultiPartException as error:
        raise InvalidBody.at_root(error.message) from None
    except (KeyError, UnicodeDecodeError, ValueError):
        raise InvalidBody.at_root("the body is not multipart/form-data") from None


async def _bounded(request: Request, limit: int) -> AsyncGenerator[bytes, None]:
    size = 0
    async for chunk in request.stream():
        size += len(chunk)
        if size > limit + FORM_BYTES:
            raise BodyTooLarge(f"the file may have {limit} bytes")
        yield chunk


def file_in(form: FormData) -> UploadFile:
    """The form's file. Raises InvalidBody where there is none."""
    file = form.get("file")
    if not isinstance(file, UploadFile):
        raise missing("file")
    return file


def missing(field: str, detail: str = "Field required") -> InvalidBody:
    """A field of the form that is absent or wrong."""
    return InvalidBody(invalid([{"loc": (field,), "type": "missing", "msg": detail}], None))


def stored(file: UploadFile, store: FileStore, file_id: str, *, limit: int) -> int:
    """Copy the spooled file into the store, a piece at a time; its bytes. Blocks."""
    size = 0
    file.file.seek(0, 2)
    if file.file.tell() > limit:
        raise BodyTooLarge(f"the file may have {limit} bytes")
    file.file.seek(0)
    with store.writing(file_id) as target:
        while piece := file.file.read(PIECE_BYTES):
            target.write(piece)
            size += len(piece)
    return size
